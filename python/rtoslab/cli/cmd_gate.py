"""`rtoslab gate`: new figures against a baseline, with an exit code that a continuous integration understands."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.api import default_run_directory
from rtoslab.base import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_REGRESSION,
    PROJECT_FILE,
    PlanError,
    count_with_noun,
    find_checkout_root,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import dry_run_option, jobs_option, out_option
from rtoslab.cli.cmd_compare import FORMS
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.display import print_plan_before_measuring, show_progress
from rtoslab.cli.names import file_format_by_suffix, options_given_on_command_line, report_file_option
from rtoslab.cli.own_project import (
    compare_project_with_baseline,
    nearest_project_folder,
    require_options_not_in_project,
    require_project_folder,
    store_project_baseline,
)
from rtoslab.cli.sections import print_report_document
from rtoslab.compare import (
    Baseline,
    ComparedMeasurementSet,
    FigureChange,
    MeasuredValueLimits,
    RegressionGateResult,
    baseline_path,
    compare_run_with_baseline,
    comparisons_as_json,
    comparisons_as_junit,
    find_regression_baseline_file,
    gate_verdict_text,
    make_regression_baseline,
    measurement_plan_for_baseline,
    read_baseline_without_seal_check,
    read_regression_baseline_file,
    read_runs_for_comparison,
    regression_gate_document,
    without_moved_code_regressions,
    write_baseline,
)
from rtoslab.measure import measure_points_of_plan
from rtoslab.reports import report_formats


@click.command("gate")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
@click.option("--baseline", "name", help="A baseline of points: a name in baselines/, or a file.")
@click.option(
    "--fail-on",
    "arguments",
    multiple=True,
    metavar="[PATTERN=]LIMITS",
    help=(
        "Limit above which a figure is a regression: for all figures (`+0 cycles|+2 %`), or for those that match "
        "PATTERN (`stack.*=+64 bytes`). Replaces the rules of the baseline."
    ),
)
@click.option(
    "--other-compiler",
    type=click.Choice(("refuse", "skip", "compare")),
    help="What to do if the baseline was measured with another compiler: exit with 1, exit with 0 and a note, or "
    "compare anyway.  [default: as in rtoslab.toml, else refuse]",
)
@click.option(
    "--moved",
    type=click.Choice(("fail", "pass")),
    help=(
        "What to do if cycles changed only because the code moved to other addresses.  [default: as in "
        "rtoslab.toml, else fail]"
    ),
)
@click.option(
    "--store",
    is_flag=True,
    help="Store the figures as the baseline, instead of comparing them with it. Its rules stay.",
)
@out_option
@jobs_option
@dry_run_option
@report_file_option(*FORMS, xml="JUnit")
@click.option(
    "--json", "as_json", is_flag=True, help=("Print the result of a project's gate as one JSON object on stdout.")
)
@click.pass_context
def gate_command(
    context: click.Context,
    runs: tuple[Path, ...],
    name: str | None,
    arguments: tuple[str, ...],
    other_compiler: str | None,
    moved: str | None,
    store: bool,
    out: Path | None,
    jobs: int,
    dry_run: bool,
    outputs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Build and measure the project of rtoslab.toml. Compare it with its budgets and the baseline in its repository.

    The nearest rtoslab.toml is used, in this folder or above it. With --baseline, compares the figures of RUNs with a
    baseline of points. Without a RUN, it measures the baseline's own points now and compares them.

    With --store, writes the baseline: that of the project, or with --baseline NAME baselines/NAME.toml in this folder.

    \b
    Exit codes: 0 same or better; 1 an error, no answer; 3 a regression.
    """
    if store:
        return _write_regression_baseline(context, name, runs, jobs, dry_run=dry_run)
    if name is None:
        if runs:
            raise PlanError("The figures of a RUN need a baseline to be compared with; add --baseline NAME.")
        folder = require_project_folder()
        require_options_not_in_project(context, "out", "jobs")
        return compare_project_with_baseline(
            folder, arguments, other_compiler, moved, outputs, as_json=as_json, dry_run=dry_run
        )
    if as_json:
        raise PlanError(
            "--json is only for a project's gate; for a baseline of points, `-o FILE.json` writes the comparison."
        )
    root = find_checkout_root()
    path = find_regression_baseline_file(root, name)
    baseline = read_regression_baseline_file(path)
    rules = MeasuredValueLimits.merge_baseline_and_requested_limits(baseline.rules, arguments)
    require_something_to_measure(runs, dry_run=dry_run)
    side = (
        read_runs_for_comparison(runs)
        if runs
        else measure_baseline_again(root, baseline, name, out, jobs, dry_run=dry_run)
    )
    if side is None:
        return EXIT_OK
    judgement = compare_run_with_baseline(baseline, path.stem, side, rules)
    if moved == "pass":
        judgement = without_moved_code_regressions(judgement)
    for output in outputs:
        write_report(_render_gate_report(judgement, rules, output), output)
    if judgement.differing_compilers is not None and other_compiler != "compare":
        return _print_that_compilers_differ(judgement.differing_compilers, skip=other_compiler == "skip")
    return _print_gate_result(judgement, name)


def _write_regression_baseline(
    context: click.Context, name: str | None, runs: tuple[Path, ...], jobs: int, *, dry_run: bool
) -> int:
    """Writes the baseline of points `name`, or without a name that of the project. Returns the exit code."""
    unused = options_given_on_command_line(context, "arguments", "other_compiler", "moved", "out", "outputs", "as_json")
    if unused:
        option = {"arguments": "--fail-on", "outputs": "--output", "as_json": "--json"}.get(
            unused[0], f"--{unused[0].replace('_', '-')}"
        )
        raise PlanError(f"--store compares nothing, so {option} has no meaning with it; leave it out.")
    if name is not None:
        store_point_baseline(name, runs, jobs, dry_run=dry_run)
        return EXIT_OK
    folder = nearest_project_folder()
    if folder is None or runs:
        raise PlanError(
            f"The baseline has no name; add --baseline NAME, or run the command in the folder of {PROJECT_FILE} or "
            "below it, without a RUN."
        )
    require_options_not_in_project(context, "jobs")
    return store_project_baseline(folder, dry_run=dry_run)


def _print_gate_result(judgement: RegressionGateResult, name: str) -> int:
    """Prints which figures are regressions, and the verdict. Returns the exit code. `name`: the baseline's."""
    console = PlainConsole()
    if judgement.regressions or judgement.unmatched:
        print_report_document(regression_gate_document(judgement), console)
    console.print(gate_verdict_text(judgement), soft_wrap=True, markup=False)
    if judgement.unmatched:
        return EXIT_ERROR
    if judgement.regressions:
        console.print(
            f"If the change is intended, run `rtoslab gate --baseline {name} --store` to store the new figures.",
            markup=False,
        )
        return EXIT_REGRESSION
    return EXIT_OK


def _print_that_compilers_differ(compilers: tuple[str, str], *, skip: bool) -> int:
    """Says that the baseline was measured with another compiler than the new figures. Returns the exit code.

    Raises PlanError unless the comparison may be skipped.
    """
    sentence_ = (
        f"The baseline was measured with {compilers[0]}, the new figures with {compilers[1]}, so the compiler "
        "alone can change the cycles"
    )
    if skip:
        click.echo(f"The gate gives no verdict. {sentence_}.")
        return EXIT_OK
    raise PlanError(f"{sentence_}; use the same compiler, write your own baseline, or add --other-compiler compare.")


def _render_gate_report(judgement: RegressionGateResult, rules: MeasuredValueLimits, output: Path) -> str:
    """Returns the report in the format that the output's suffix names. `rules`: the limits of figures."""
    kind = file_format_by_suffix(output)
    if kind == "json":
        return comparisons_as_json([judgement.comparison])

    def exceeded_limit_clause(change: FigureChange) -> str | None:
        """Returns the limit that a change broke, as a clause. None if it broke none."""
        limit = rules.first_exceeded_limit(change)
        return None if limit is None else f"exceeded its limit {limit}"

    return (
        comparisons_as_junit([judgement.comparison], exceeded_limit_clause)
        if kind == "xml"
        else report_formats()[kind](regression_gate_document(judgement))
    )


def store_point_baseline(name: str, runs: Sequence[Path], jobs: int, *, dry_run: bool) -> None:
    """Stores the figures of runs as the baseline `name` (baselines/NAME.toml in this folder). Its rules stay.

    Without a run, the baseline's own points are measured again.
    """
    root = find_checkout_root()
    path, old = baseline_path(Path.cwd(), name), find_regression_baseline_file(root, name)
    known = read_baseline_without_seal_check(old) if old.is_file() else None
    if not runs and known is None:
        raise PlanError(f"{path} does not exist; name the run directories whose figures it should contain.")
    require_something_to_measure(runs, dry_run=dry_run)
    side = (
        read_runs_for_comparison(runs)
        if known is None or runs
        else measure_baseline_again(root, known, name, None, jobs, dry_run=dry_run)
    )
    if side is None:
        return
    baseline = make_regression_baseline(side, known.rules if known else {})
    write_baseline(baseline, path)
    figures = count_with_noun(sum(len(point.metrics) for point in baseline.point), "figure")
    click.echo(f"{count_with_noun(len(baseline.point), 'point')} with {figures}: {path_from_working_directory(path)}.")


def require_something_to_measure(runs: Sequence[Path], *, dry_run: bool) -> None:
    """Raises PlanError if a command is to measure nothing (`--dry-run`), although with these stored runs it measures
    nothing anyway."""
    if runs and dry_run:
        raise PlanError(
            "--dry-run shows what would be measured, but a RUN is already measured; leave --dry-run or RUN out."
        )


def measure_baseline_again(
    root: Path, baseline: Baseline, name: str, out: Path | None, jobs: int, *, dry_run: bool
) -> ComparedMeasurementSet | None:
    """Measures the baseline's points with this checkout. Returns the new figures, or None if only the plan was shown
    (`dry_run`)."""
    catalogue = Catalogue(root)
    plan = measurement_plan_for_baseline(catalogue, baseline)
    folder = out or default_run_directory(root, plan, [f"gate-{Path(name).stem}"])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=False):
        return None
    with show_progress(plan.points, folder, quiet=False) as display:
        outcomes = measure_points_of_plan(
            root, plan, folder, jobs=jobs, listener=display.show_measurement_point_progress
        )
    for outcome in outcomes:
        if outcome.result.status == "failed":
            raise PlanError(
                f"{outcome.result.point.benchmark} has no figure, so the gate has nothing to compare: "
                f"{outcome.result.message}"
            )
    return read_runs_for_comparison([folder])
