"""`rtoslab paper`: a published paper's experiments, run again, with our figures beside its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rtoslab.analyses import ClaimVerdict
from rtoslab.api import default_out, load
from rtoslab.base import EXIT_OK, PlanError, counted, find_root
from rtoslab.catalogue import Catalogue, find_paper
from rtoslab.cli.choices import dry_run_option, jobs_option, out_option, placements_option
from rtoslab.cli.cmd_report import write
from rtoslab.cli.display import announce, displayed, short_path
from rtoslab.cli.ended import answer
from rtoslab.cli.explained import explain
from rtoslab.cli.failures import points_exit_code, tell_failures
from rtoslab.cli.names import PaperName
from rtoslab.cli.plain import PlainConsole
from rtoslab.measure import run_plan
from rtoslab.papers import (
    Compared,
    InSetup,
    Reproduction,
    demand_whole,
    missing_benchmarks,
    paper_document,
    paper_plan,
    reproduce,
    show_paper,
)
from rtoslab.plan import Options, placed
from rtoslab.reference import further_placements, of_paper, reference_paths, weights_of_paper
from rtoslab.reports import deviating, export, report_formats
from rtoslab.stability import held_in_builds
from rtoslab.store import AnyResult, StoredPoint


@click.command("paper")
@click.argument("name", type=PaperName(), metavar="PAPER")
@click.option("--full", is_flag=True, help="The paper's own durations and numbers of samples; takes longer.")
@click.option(
    "--setup",
    "setups",
    multiple=True,
    metavar="ID",
    help="Only these of the paper's other set-ups; `none`: only the suites.  [default: all]",
)
@click.option(
    "--explain",
    "explaining",
    is_flag=True,
    help="Instead: which single change of how it was built brings our figures closest to the paper's.",
)
@placements_option
@out_option
@jobs_option
@dry_run_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
def command(
    name: str,
    full: bool,
    setups: tuple[str, ...],
    explaining: bool,
    placements: int,
    out: Path | None,
    jobs: int,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Reproduce a published paper: run its experiments on the virtual boards and set our figures beside its own.

    Writes report.html and the folder export/ (SVG, PDF, CSV, LaTeX, how to cite) into the run directory. What cannot be
    measured here is listed with the reason. A statement of the paper that our numbers contradict is shown as such and
    is no error.
    """
    root = find_root()
    catalogue = Catalogue(root)
    paper = find_paper(catalogue, name)
    demand_whole(catalogue, paper)
    if explaining:
        if setups or placements > 1:
            raise PlanError("--explain tries set-ups of its own, in one placement; leave --setup and --placements out.")
        return explain(catalogue, paper, out, jobs, full=full, dry_run=dry_run, as_json=as_json)
    wanted = [setup for setup in setups if setup != "none"] if setups else None
    known = [path.stem for path in reference_paths(root, paper.key)]
    plan = paper_plan(catalogue, paper, Options(full=full), wanted, known)
    if placements > 1:
        plan = placed(catalogue, plan, placements)
    folder = out or default_out(root, plan, [paper.key])
    if announce(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    with displayed(plan.points, folder, quiet=as_json) as display:
        outcomes = run_plan(root, plan, folder, jobs=jobs, listener=display.note)
    missing = missing_benchmarks(catalogue, paper)
    _say("Reading the points and setting them beside the paper ...", quiet=as_json)
    stored = load(folder)
    points = [*stored, *_unstored(folder, stored, [outcome.result for outcome in outcomes])]
    beside, weights = of_paper(root, paper.key, points), weights_of_paper(root, paper.key)
    further = further_placements(root, paper.key)
    done = reproduce(catalogue, paper, points, missing, beside, weights, further)
    document = paper_document(catalogue, done, held_in_builds(catalogue, paper))
    _say("Drawing the report ...", quiet=as_json)
    write(report_formats()["html"](document), short_path(folder) / "report.html")
    written = export(document, folder / "export")
    click.echo(f"{counted(len(written), 'file')} for other documents in {short_path(folder / 'export')}.", err=True)
    if as_json:
        answer(_as_json(folder, done))
    else:
        show_paper(done, PlainConsole())
        tell_failures([outcome.result for outcome in outcomes])
        click.echo(document.summary)
    return points_exit_code([outcome.result for outcome in outcomes])


def _say(what: str, *, quiet: bool) -> None:
    """On stderr what is done next, where it takes a while."""
    if not quiet:
        click.echo(what, err=True)


def _unstored(folder: Path, stored: Sequence[StoredPoint], results: Sequence[AnyResult]) -> list[StoredPoint]:
    """Failed points of which nothing is stored, so that the next try may have better luck: the report says why."""
    known = {point.result.point.model_dump_json() for point in stored}
    lost = (result for result in results if result.status == "failed" and result.point.model_dump_json() not in known)
    return [StoredPoint(folder, each, {}) for each in lost]


def _as_json(folder: Path, done: Reproduction) -> dict[str, Any]:
    return {
        "paper": done.paper.key,
        "run": str(folder),
        "deviations": deviating(done.measured),
        "figures": [_figure(each) for each in done.compared.values()],
        "claims": [_claim(verdict) for verdict in done.verdicts],
        "today": _setup(done.today) if done.today is not None else None,
        "setups": [_setup(setup) for setup in done.setups],
    }


def _setup(each: InSetup) -> dict[str, Any]:
    return {
        "id": each.setup.id,
        "title": each.setup.title,
        "figures": [_figure(one) for one in each.own().values()],
        "claims": [_claim(one) for one in each.verdicts],
    }


def _figure(each: Compared) -> dict[str, Any]:
    return {
        "id": each.published.id,
        "metric": each.published.metric,
        "stat": each.published.stat,
        "kernel": each.published.kernel,
        "board": each.published.lab_board,
        "unit": each.published.unit,
        "paper": each.published.number,
        "here": each.here,
        "ratio": each.ratio,
        "no_ratio": each.no_ratio,
        "ratio_least": each.ratios[0] if each.ratios else None,
        "ratio_most": each.ratios[1] if each.ratios else None,
        "deviates": each.deviates,
        "state": each.state,
        "why": each.why,
        "n": each.value.n if each.value is not None else None,
        "version": each.source.version if each.source is not None else "",
    }


def _claim(each: ClaimVerdict) -> dict[str, Any]:
    return {
        "id": each.claim.id,
        "section": each.claim.section,
        "says": each.claim.says,
        "outcome": each.outcome,
        "held": each.held,
        "cases": [{"case": one.name, "outcome": one.told or "not computed", "seen": one.seen} for one in each.cases],
        "seen": each.seen,
        "threshold": each.threshold,
    }
