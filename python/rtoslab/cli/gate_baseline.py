"""Baselines of points: figures in a small text file, with which `rtoslab gate` compares new ones."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.api import default_run_directory
from rtoslab.base import PlanError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import path_from_working_directory
from rtoslab.cli.display import print_plan_before_measuring, show_progress
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
from rtoslab.measure import measure_points_of_plan


def store_point_baseline(name: str, runs: Sequence[Path], jobs: int, *, dry_run: bool) -> None:
    """Stores the figures of runs as the baseline `name` (baselines/NAME.toml in this folder). Its rules stay.

    Without a run, the baseline's own points are measured again.
    """
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
        return
    baseline = make_baseline(side, known.rules if known else {})
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
) -> ComparisonSide | None:
    """Measures the baseline's points with this checkout. Returns the new figures, or None if only the plan was shown
    (`dry_run`)."""
    catalogue = Catalogue(root)
    plan = plan_of_baseline_points(catalogue, baseline)
    folder = out or default_run_directory(root, plan, [f"gate-{Path(name).stem}"])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=False):
        return None
    with show_progress(plan.points, folder, quiet=False) as display:
        outcomes = measure_points_of_plan(root, plan, folder, jobs=jobs, listener=display.show_progress_of)
    for outcome in outcomes:
        if outcome.result.status == "failed":
            raise PlanError(
                f"{outcome.result.point.benchmark} has no figure, so the gate has nothing to compare: "
                f"{outcome.result.message}"
            )
    return read_comparison_side([folder])
