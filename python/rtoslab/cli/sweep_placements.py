"""`rtoslab sweep BENCHMARK --placements N`: the same code at other addresses, and what that changes."""

from pathlib import Path

import click

from rtoslab.api import default_run_directory
from rtoslab.base import EXIT_OK, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.display import print_plan_before_measuring, print_reused_points, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points
from rtoslab.cli.names import file_format_by_suffix
from rtoslab.cli.sections import print_report_document
from rtoslab.measure import measure_points_of_plan
from rtoslab.placements import code_placement_studies_as_json, code_placement_study_report, make_code_placement_studies
from rtoslab.plan import PlanOptions, make_measurement_plan, repeat_plan_in_code_placements
from rtoslab.reports import add_kernel_deviation_footnotes, report_formats
from rtoslab.results import MeasuredPoint


def measure_benchmark_in_code_placements(
    benchmark: str, options: PlanOptions, count: int, out: Path | None, jobs: int, outputs: tuple[Path, ...], *,
    dry_run: bool, as_json: bool,
) -> int:  # fmt: skip
    """Measures a benchmark in `count` placements of its code, and prints or writes a report. Returns the exit code.

    Placement 0 is the linker's own order. Each other number is another fixed order. Each placement is a point with all
    its proofs. The report shows the median of each figure, its range over the placements, and the functions whose own
    cycles changed. For these it shows how much of the change their address within a line of flash or cache explains,
    and which address is best and worst.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    plan = repeat_plan_in_code_placements(catalogue, make_measurement_plan(catalogue, [benchmark], options), count)
    folder = out or default_run_directory(root, plan, ["placement", benchmark])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    with show_progress(plan.points, folder, quiet=as_json) as display:
        outcomes = measure_points_of_plan(
            root, plan, folder, jobs=jobs, listener=display.show_measurement_point_progress
        )
    failed = [outcome.result for outcome in outcomes if outcome.result.status == "failed"]
    studies = make_code_placement_studies(catalogue, plan, outcomes)
    measured = [outcome.result for outcome in outcomes if isinstance(outcome.result, MeasuredPoint)]
    document = add_kernel_deviation_footnotes(code_placement_study_report(studies), measured)
    for output in outputs:
        write_report(report_formats()[file_format_by_suffix(output)](document), output)
    if as_json:
        print_json_answer({"run": str(folder), "failed": len(failed), **code_placement_studies_as_json(studies)})
    else:
        print_reused_points(outcomes)
        print_report_document(document, PlainConsole())
        click.echo(f"Stored in {path_from_working_directory(folder)}.")
    return exit_code_of_points([outcome.result for outcome in outcomes])
