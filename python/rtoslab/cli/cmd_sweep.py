"""`rtoslab sweep`: one measurement over many configurations, and what each option is worth."""

import json
from collections import Counter
from pathlib import Path

import click

from rtoslab.api import default_out
from rtoslab.catalogue import Catalogue
from rtoslab.cli.display import Display, say_known, short_path
from rtoslab.errors import EXIT_OK, EXIT_POINT_FAILED
from rtoslab.paths import find_root
from rtoslab.pipeline import Manner, Outcome
from rtoslab.pool import run_plan
from rtoslab.sweep.plan import read_sweep, sweep_points


@click.command("sweep")
@click.argument("plan_file", type=click.Path(path_type=Path), metavar="PLAN.toml")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory; an existing one is resumed.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Points at the same time.")
@click.option("--fresh", is_flag=True, help="Measure known points again; they must give the same bytes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
def command(plan_file: Path, out: Path | None, jobs: int, fresh: bool, as_json: bool) -> int:
    """Measure every combination that PLAN.toml names; the same command again resumes.

    Combinations that cannot be are skipped with the reason. What was measured before under the same manifest, in this
    sweep or in any run, is taken from the cache.
    """
    root = find_root()
    sweep = read_sweep(plan_file)
    plan = sweep_points(Catalogue(root), sweep)
    folder = out or default_out(root, plan, [plan_file.stem])
    manner = Manner(again=fresh, skip_refused=True)
    with Display(len(plan.points), quiet=as_json) as display:
        outcomes = run_plan(root, plan, folder, jobs=jobs, listener=display.note, manner=manner)
    counts = Counter(each.result.status for each in outcomes)
    if as_json:
        points = [each.result.model_dump(mode="json") for each in outcomes]
        click.echo(json.dumps({"run": str(folder), "points": points}))
    else:
        say_known(outcomes)
        _tell_absent(outcomes)
        said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        click.echo(f"{len(outcomes)} points: {said}. Stored in {short_path(folder)}.")
    return EXIT_POINT_FAILED if counts["failed"] else EXIT_OK


def _tell_absent(outcomes: list[Outcome]) -> None:
    """Each reason why points were skipped or failed, once, with how many."""
    reasons: Counter[tuple[str, str]] = Counter()
    for each in outcomes:
        if each.result.status == "n/a":
            reasons["skipped", each.result.reason] += 1
        elif each.result.status == "failed":
            reasons["failed", each.result.message] += 1
    for (status, reason), count in reasons.most_common():
        click.echo(f"{status} ({count}): {reason}")
