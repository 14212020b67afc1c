"""`rtoslab show`: a stored run on the terminal."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, StoreError
from rtoslab.cli.cmd_runs import print_list_of_runs
from rtoslab.cli.console import PlainConsole


@click.command("show")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@click.option("--proofs", is_flag=True, help="Also show every proof: what it requires and what was observed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show_command(runs: tuple[Path, ...], proofs: bool, as_json: bool) -> int:
    """Show stored runs: a table of the figures, failed points, and points that are n/a.

    Without a RUN, lists the existing runs.
    """
    if not runs:
        print_list_of_runs(as_json=as_json)
        return EXIT_OK
    from rtoslab.api import load  # noqa: PLC0415 (the list of runs is there at once)
    from rtoslab.cli.cmd_report import read_report_document  # noqa: PLC0415
    from rtoslab.cli.failures import exit_code_of_stored_points  # noqa: PLC0415
    from rtoslab.reports import print_point_results, print_proofs_of_points, report_formats  # noqa: PLC0415

    points = load(*runs)
    if not points:
        raise StoreError(f"{runs[0]} contains no finished point yet; run the same `rtoslab run` again to continue it.")
    if as_json:
        click.echo(report_formats()["json"](read_report_document(runs, points)), nl=False)
        return exit_code_of_stored_points(points)
    console = PlainConsole()
    results = [point.result for point in points]
    print_point_results(results, console)
    if proofs:
        print_proofs_of_points(results, console)
    return exit_code_of_stored_points(points)
