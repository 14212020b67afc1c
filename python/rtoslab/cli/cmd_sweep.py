"""`rtoslab sweep`: one measurement over many configurations, and what each option is worth."""

from collections import Counter
from pathlib import Path

import click

from rtoslab.analyses import results_depending_on_addresses
from rtoslab.api import default_run_directory
from rtoslab.base import EXIT_OK, PlanError, ReportError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option, config_option, dry_run_option, jobs_option, kernel_option, out_option
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.display import measurement_run_as_json, print_plan_before_measuring, print_reused_points, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points
from rtoslab.cli.names import (
    DurationParam,
    PlanOrBenchmarkParam,
    file_format_by_suffix,
    options_given_on_command_line,
    report_file_option,
)
from rtoslab.cli.sections import print_report_document
from rtoslab.cli.sweep_placements import measure_benchmark_in_code_placements
from rtoslab.measure import MeasurementPointOutcome, MeasureOptions, measure_points_of_plan
from rtoslab.parity import COSTS_FILE, configuration_costs_from_points, read_cost_file, update_configuration_cost_file
from rtoslab.plan import PlanOptions
from rtoslab.reports import report_formats
from rtoslab.results import MeasuredPoint
from rtoslab.store import RunDirectory
from rtoslab.sweep import make_sweep_report, measure_sweep_on_cluster, plan_sweep_points, read_sweep_plan


@click.command("sweep")
@click.argument("subject", type=PlanOrBenchmarkParam("benchmarks"), metavar="PLAN.toml|BENCHMARK")
@click.option(
    "--placements",
    "count",
    type=click.IntRange(2, 1000),
    help="Measure a BENCHMARK in this number of placements: the same code, linked in other orders.",
)
@kernel_option
@board_option
@click.option("--cores", type=click.IntRange(1, 8), default=1, show_default=True, help="Cores in use.")
@click.option("--for", "--window", "window_ms", type=DurationParam(), help="Length of the measured window.")
@config_option
@out_option
@jobs_option
@dry_run_option
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Measure on the workers of this Dask cluster.")
@click.option(
    "--fresh", is_flag=True, help=("Measure points again that were measured before. The results must be the same.")
)
@report_file_option("html", "md")
@click.option(
    "--costs", is_flag=True, help=("Store the cost of each option in baselines/costs.toml, which `lint` reads.")
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
@click.pass_context
def sweep_command(
    context: click.Context,
    subject: str,
    count: int | None,
    kernel: str,
    board: str,
    cores: int,
    window_ms: int | None,
    config: tuple[tuple[str, str], ...],
    out: Path | None,
    jobs: int,
    dry_run: bool,
    scheduler: str | None,
    fresh: bool,
    outputs: tuple[Path, ...],
    costs: bool,
    as_json: bool,
) -> int:
    """Measure every combination of options in PLAN.toml. If you run the same command again, it resumes.

    Impossible combinations are skipped, with the reason. Earlier measurements with the same manifest, in this sweep or
    in any run, are taken from the cache.

    With --placements, measure a BENCHMARK in many placements of its code. Shows the median of each figure, its range
    over the placements, and the functions whose own cycles changed with their addresses. --kernel, --board, --cores,
    --for and --config apply only then. A plan contains these settings itself.
    """
    if count is not None:
        _require_options_unused(context, "a benchmark's placements", "scheduler", "fresh", "costs")
        point_options = PlanOptions((kernel,), (board,), (cores,), window_ms, dict(config))
        return measure_benchmark_in_code_placements(
            subject, point_options, count, out, jobs, outputs, dry_run=dry_run, as_json=as_json
        )
    _require_options_unused(context, "a plan", "kernel", "board", "cores", "window_ms", "config")
    return _sweep_options_of_plan(
        Path(subject), out, jobs, scheduler, outputs, again=fresh, costs=costs, dry_run=dry_run, as_json=as_json
    )


def _sweep_options_of_plan(
    plan_file: Path, out: Path | None, jobs: int, scheduler: str | None, outputs: tuple[Path, ...], *,
    again: bool, costs: bool, dry_run: bool, as_json: bool,
) -> int:  # fmt: skip
    """Measures every combination of options in a plan, and prints or writes a report. Returns the exit code.

    `again`: also those measured before. `costs`: stores the cost of each option.
    """
    root = find_checkout_root()
    sweep = read_sweep_plan(plan_file)
    catalogue = Catalogue(root)
    plan = plan_sweep_points(catalogue, sweep)
    folder = out or default_run_directory(root, plan, [plan_file.stem])
    if costs:
        read_cost_file(Path.cwd() / COSTS_FILE)  # hours of measuring must not end in a file that is refused
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    options = MeasureOptions(again=again, skip_refused=True)
    with show_progress(plan.points, folder, quiet=as_json) as display:
        if scheduler is None:
            outcomes = measure_points_of_plan(
                root, plan, folder, jobs=jobs, listener=display.show_measurement_point_progress, options=options
            )
        else:
            outcomes = measure_sweep_on_cluster(
                root, plan, folder, scheduler, listener=display.show_measurement_point_progress, options=options
            )
    stored = RunDirectory.open_run_directory(folder).read_measured_points()
    for output in outputs:
        write_report(report_formats()[file_format_by_suffix(output)](make_sweep_report(sweep.title, stored)), output)
    if costs:
        update_configuration_cost_file(
            configuration_costs_from_points(
                [point.result for point in stored if isinstance(point.result, MeasuredPoint)],
                results_depending_on_addresses(stored),
            ),
            Path.cwd() / COSTS_FILE,
        )
    counts = Counter(outcome.result.status for outcome in outcomes)
    if as_json:
        print_json_answer(measurement_run_as_json(folder, outcomes))
    else:
        print_reused_points(outcomes)
        _print_missing_points(outcomes)
        if not outputs and counts["measured"] > 1:
            try:
                print_report_document(make_sweep_report(sweep.title, stored), PlainConsole())
            except ReportError as cause:  # nobody asked for a report
                click.echo(str(cause))
        counts_text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        click.echo(
            f"{count_with_noun(len(outcomes), 'point')}: {counts_text}. Stored in "
            f"{path_from_working_directory(folder)}."
        )
    return exit_code_of_points([outcome.result for outcome in outcomes])


def _require_options_unused(context: click.Context, subject: str, *options: str) -> None:
    """Raises PlanError if the user gave one of these options, which a sweep of this subject does not have."""
    given = options_given_on_command_line(context, *options)
    if given:
        option = {"window_ms": "--for"}.get(given[0], f"--{given[0]}")
        raise PlanError(
            f"{option} has no effect on a sweep over {subject}; leave it out, or see `rtoslab sweep --help`."
        )


def _print_missing_points(outcomes: list[MeasurementPointOutcome]) -> None:
    """Prints each reason why points were skipped or failed once, with the number of points."""
    reasons: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        if outcome.result.status == "n/a":
            reasons["skipped", outcome.result.reason] += 1
        elif outcome.result.status == "failed":
            reasons["failed", outcome.result.message] += 1
    for (status, reason), count in reasons.most_common():
        click.echo(f"{status} ({count}): {reason}")
