"""`rtoslab placement`: the same code in other places, and which functions' place it is that costs."""

from pathlib import Path

import click

from rtoslab.api import default_run_directory
from rtoslab.base import EXIT_OK, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option, config_option, dry_run_option, jobs_option, kernel_option, out_option
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.display import (
    path_from_working_directory,
    print_plan_before_measuring,
    print_reused_points,
    show_progress,
)
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points
from rtoslab.cli.names import CatalogueNameParam, DurationParam, file_format_by_suffix, report_file_option
from rtoslab.cli.sections import print_report_document
from rtoslab.measure import run_plan
from rtoslab.placements import make_placement_studies, placement_study_report, placements_as_json
from rtoslab.plan import PlanOptions, expand_placements, make_plan
from rtoslab.reports import mark_deviations, report_formats
from rtoslab.results import MeasuredPoint


@click.command("placement")
@click.argument("benchmark", type=CatalogueNameParam("benchmarks"))
@kernel_option
@board_option
@click.option("--cores", type=click.IntRange(1, 8), default=1, show_default=True, help="Cores in use.")
@click.option(
    "--placements",
    "count",
    type=click.IntRange(2, 1000),
    default=8,
    show_default=True,
    help="Number of placements.",
)
@click.option("--for", "--window", "window_ms", type=DurationParam(), help="Length of the measured window.")
@config_option
@out_option
@jobs_option
@dry_run_option
@report_file_option("html", "md")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
def placement_command(
    benchmark: str,
    kernel: str,
    board: str,
    cores: int,
    count: int,
    window_ms: int | None,
    config: tuple[tuple[str, str], ...],
    out: Path | None,
    jobs: int,
    dry_run: bool,
    outputs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Measure a BENCHMARK in many placements: the same code, linked in other orders.

    Placement 0 is the linker's own order. Each other number is another fixed order. Each placement is a point with all
    its proofs. Shows the median of each figure, its range over the placements, and the functions whose own cycles
    changed. For these it shows how much of the change their address within a line of flash or cache explains, and which
    address is best and worst.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    options = PlanOptions((kernel,), (board,), (cores,), window_ms, dict(config))
    plan = expand_placements(catalogue, make_plan(catalogue, [benchmark], options), count)
    folder = out or default_run_directory(root, plan, ["placement", benchmark])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    with show_progress(plan.points, folder, quiet=as_json) as display:
        outcomes = run_plan(root, plan, folder, jobs=jobs, listener=display.show_progress_of)
    failed = [outcome.result for outcome in outcomes if outcome.result.status == "failed"]
    studies = make_placement_studies(catalogue, plan, outcomes)
    measured = [outcome.result for outcome in outcomes if isinstance(outcome.result, MeasuredPoint)]
    document = mark_deviations(placement_study_report(studies), measured)
    for output in outputs:
        write_report(report_formats()[file_format_by_suffix(output)](document), output)
    if as_json:
        print_json_answer({"run": str(folder), "failed": len(failed), **placements_as_json(studies)})
    else:
        print_reused_points(outcomes)
        print_report_document(document, PlainConsole())
        click.echo(f"Stored in {path_from_working_directory(folder)}.")
    return exit_code_of_points([outcome.result for outcome in outcomes])
