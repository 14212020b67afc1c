"""`rtoslab baseline`: figures kept as a small text file for `rtoslab gate`."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.api import default_run_directory
from rtoslab.base import PROJECT_FILE, PlanError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import dry_run_option, jobs_option
from rtoslab.cli.display import path_from_working_directory, print_plan_before_measuring, show_progress
from rtoslab.cli.own_project import nearest_project_folder, require_options_not_in_project, store_project_baseline
from rtoslab.compare import (
    Baseline,
    ComparisonSide,
    baseline_path,
    find_baseline,
    make_baseline,
    plan_of_baseline_points,
    read_baseline_without_seal_check,
    read_comparison_side,
    write_baseline,
)
from rtoslab.measure import run_plan


@click.command("baseline")
@click.argument("name", required=False)
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
@jobs_option
@dry_run_option
@click.pass_context
def baseline_command(
    context: click.Context, name: str | None, runs: tuple[Path, ...], jobs: int, *, dry_run: bool
) -> int | None:
    """Store the figures of RUNs as the baseline NAME (baselines/NAME.toml in this folder). Its rules stay.

    Without a RUN, the baseline's own points are measured again. Without NAME, in a folder with rtoslab.toml or below
    it, that project is built and measured, and the baseline is stored in its repository.
    """
    if name is None:
        folder = nearest_project_folder()
        if folder is None:
            raise PlanError(
                f"The baseline has no name; give a NAME, or run the command in the folder of {PROJECT_FILE} or "
                "below it."
            )
        require_options_not_in_project(context, "jobs")
        return store_project_baseline(folder, dry_run=dry_run)
    root = find_checkout_root()
    path, old = baseline_path(Path.cwd(), name), find_baseline(root, name)
    known = read_baseline_without_seal_check(old) if old.is_file() else None
    if not runs and known is None:
        raise PlanError(f"{path} does not exist; name the run directories whose figures it should contain.")
    require_something_to_measure(runs, dry_run=dry_run)
    side = (
        read_comparison_side(runs)
        if known is None or runs
        else measure_baseline_again(root, known, name, None, jobs, dry_run=dry_run)
    )
    if side is None:
        return None
    baseline = make_baseline(side, known.rules if known else {})
    write_baseline(baseline, path)
    figures = count_with_noun(sum(len(point.metrics) for point in baseline.point), "figure")
    click.echo(f"{count_with_noun(len(baseline.point), 'point')} with {figures}: {path_from_working_directory(path)}.")
    return None


def require_something_to_measure(runs: Sequence[Path], *, dry_run: bool) -> None:
    """Raises PlanError if a command is to measure nothing (`--dry-run`), although with these stored runs it measures
    nothing anyway."""
    if runs and dry_run:
        raise PlanError(
            "--dry-run shows what would be measured, but a RUN is already measured; leave --dry-run or RUN out."
        )


def measure_baseline_again(
    root: Path, baseline: Baseline, name: str, out: Path | None, jobs: int, *, dry_run: bool
) -> ComparisonSide | None:
    """Measures the baseline's points with this checkout. Returns the new figures, or None if only the plan was shown
    (`dry_run`)."""
    catalogue = Catalogue(root)
    plan = plan_of_baseline_points(catalogue, baseline)
    folder = out or default_run_directory(root, plan, [f"gate-{Path(name).stem}"])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=False):
        return None
    with show_progress(plan.points, folder, quiet=False) as display:
        outcomes = run_plan(root, plan, folder, jobs=jobs, listener=display.show_progress_of)
    for outcome in outcomes:
        if outcome.result.status == "failed":
            raise PlanError(
                f"{outcome.result.point.benchmark} has no figure, so the gate has nothing to compare: "
                f"{outcome.result.message}"
            )
    return read_comparison_side([folder])
