"""`rtoslab baseline`: figures kept as a small text file for `rtoslab gate`."""

from pathlib import Path

import click

from rtoslab.api import default_out
from rtoslab.base import PlanError, counted, find_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.display import displayed, short_path
from rtoslab.compare import (
    Baseline,
    Side,
    baseline_path,
    baseline_points,
    known_baseline,
    make_baseline,
    read_baseline,
    read_side,
    write_baseline,
)
from rtoslab.measure import run_plan


@click.command("baseline")
@click.argument("name")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
def command(name: str, runs: tuple[Path, ...]) -> None:
    """Write the figures of RUNs as the baseline NAME (baselines/NAME.toml here), keeping its rules.

    Without a RUN the points that the baseline has are measured again and their figures replaced.
    """
    root = find_root()
    path, old = baseline_path(Path.cwd(), name), known_baseline(root, name)
    known = read_baseline(old) if old.is_file() else None
    if not runs and known is None:
        raise PlanError(f"{path} does not exist; name the run directories whose figures it shall hold.")
    side = read_side(runs) if known is None or runs else measure_again(root, known, name)
    made = make_baseline(side, known.rules if known else {})
    write_baseline(made, path)
    figures = counted(sum(len(each.metrics) for each in made.point), "figure")
    click.echo(f"{counted(len(made.point), 'point')} with {figures}: {short_path(path)}.")


def measure_again(root: Path, baseline: Baseline, name: str, out: Path | None = None, *, quiet: bool = False) -> Side:
    """The baseline's points as this checkout measures them."""
    plan = baseline_points(Catalogue(root), baseline)
    folder = out or default_out(root, plan, [f"gate-{Path(name).stem}"])
    with displayed(plan.points, folder, quiet=quiet) as display:
        outcomes = run_plan(root, plan, folder, listener=display.note)
    for each in outcomes:
        if each.result.status == "failed":
            raise PlanError(
                f"{each.result.point.benchmark} gave no number, so nothing can be gated: {each.result.message}"
            )
    return read_side([folder])
