"""`rtoslab paper`: a published paper's experiments, run again, with our figures beside its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rtoslab.analyses import ClaimVerdict
from rtoslab.api import default_run_directory, load
from rtoslab.base import EXIT_OK, PlanError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue, find_paper
from rtoslab.cli.choices import dry_run_option, jobs_option, out_option, placements_option
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.display import print_plan_before_measuring, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.explain_changes import explain_distance_from_paper
from rtoslab.cli.failures import exit_code_of_points, print_failed_measurements
from rtoslab.cli.names import PaperNameParam
from rtoslab.measure import measure_points_of_plan
from rtoslab.papers import (
    ComparedFigure,
    PaperReproduction,
    PaperSetupResults,
    benchmarks_missing_for_paper,
    paper_comparison_report,
    plan_paper_experiments,
    print_paper_reproduction,
    reproduce_paper,
    require_consistent_paper_folder,
)
from rtoslab.plan import PlanOptions, repeat_plan_in_code_placements
from rtoslab.reference import (
    program_sizes_of_paper,
    reference_file_paths,
    reference_results_for_paper_kernels,
    reference_values_by_code_placement,
)
from rtoslab.reports import contract_deviations_by_kernel, report_formats, write_report_charts_and_tables
from rtoslab.stability import build_count_texts_by_paper_claim
from rtoslab.store import AnyResult, StoredMeasurementPoint


@click.command("paper")
@click.argument("name", type=PaperNameParam(), metavar="PAPER")
@click.option("--full", is_flag=True, help="Use the paper's own durations and numbers of samples, which takes longer.")
@click.option(
    "--setup",
    "setups",
    multiple=True,
    metavar="ID",
    help="Besides the suites, measure only these set-ups (other builds or kernel versions), or `none`.  [default: all]",
)
@click.option(
    "--explain",
    "explaining",
    is_flag=True,
    help="Instead of a report: find the single build change that brings our figures closest to the paper's.",
)
@placements_option
@out_option
@jobs_option
@dry_run_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
def paper_command(
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
    """Reproduce a published paper: run its experiments on the virtual boards and compare the results with its figures.

    Writes report.html and the folder export/ (SVG, PDF, CSV, LaTeX, how to cite) into the run directory. Points that
    cannot be measured are listed with the reason. A statement of the paper that our figures contradict is shown as such
    and is not an error.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    paper = find_paper(catalogue, name)
    require_consistent_paper_folder(catalogue, paper)
    if explaining:
        if setups or placements > 1:
            raise PlanError(
                "--explain chooses the set-ups and measures in one placement; leave --setup and --placements out."
            )
        return explain_distance_from_paper(catalogue, paper, out, jobs, full=full, dry_run=dry_run, as_json=as_json)
    chosen = [setup for setup in setups if setup != "none"] if setups else None
    known = [path.stem for path in reference_file_paths(root, paper.key)]
    plan = plan_paper_experiments(catalogue, paper, PlanOptions(full=full), chosen, known)
    if placements > 1:
        plan = repeat_plan_in_code_placements(catalogue, plan, placements)
    folder = out or default_run_directory(root, plan, [paper.key])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    with show_progress(plan.points, folder, quiet=as_json) as display:
        outcomes = measure_points_of_plan(
            root, plan, folder, jobs=jobs, listener=display.show_measurement_point_progress
        )
    missing = benchmarks_missing_for_paper(catalogue, paper)
    _print_slow_step("Comparing the points with the paper ...", quiet=as_json)
    stored = load(folder)
    points = [*stored, *_points_outside_store(folder, stored, [outcome.result for outcome in outcomes])]
    beside, weights = (
        reference_results_for_paper_kernels(root, paper.key, points),
        program_sizes_of_paper(root, paper.key),
    )
    further = reference_values_by_code_placement(root, paper.key)
    done = reproduce_paper(catalogue, paper, points, missing, beside, weights, further)
    document = paper_comparison_report(catalogue, done, build_count_texts_by_paper_claim(catalogue, paper))
    _print_slow_step("Drawing the report ...", quiet=as_json)
    write_report(report_formats()["html"](document), path_from_working_directory(folder) / "report.html")
    written = write_report_charts_and_tables(document, folder / "export")
    click.echo(
        f"{count_with_noun(len(written), 'file')} for other documents in "
        f"{path_from_working_directory(folder / 'export')}.",
        err=True,
    )
    if as_json:
        print_json_answer(_reproduction_as_json(folder, done))
    else:
        print_paper_reproduction(done, PlainConsole())
        print_failed_measurements([outcome.result for outcome in outcomes])
        click.echo(document.summary)
    return exit_code_of_points([outcome.result for outcome in outcomes])


def _print_slow_step(what: str, *, quiet: bool) -> None:
    """Prints which slow step begins, on stderr."""
    if not quiet:
        click.echo(what, err=True)


def _points_outside_store(
    folder: Path, stored: Sequence[StoredMeasurementPoint], results: Sequence[AnyResult]
) -> list[StoredMeasurementPoint]:
    """Returns the points that failed and were not stored, so that the report can say why they are missing.

    They are not stored because the next try may succeed. `folder`: the run directory. `stored`: its points.
    """
    known = {point.result.point.model_dump_json() for point in stored}
    lost = (result for result in results if result.status == "failed" and result.point.model_dump_json() not in known)
    return [StoredMeasurementPoint(folder, item, {}) for item in lost]


def _reproduction_as_json(folder: Path, done: PaperReproduction) -> dict[str, Any]:
    """Returns a paper's figures and statements, with ours, as a JSON object. `folder`: the run directory."""
    return {
        "paper": done.paper.key,
        "run": str(folder),
        "deviations": contract_deviations_by_kernel(done.list_measured_points),
        "figures": [_paper_value_comparison_as_json(compared) for compared in done.compared.values()],
        "claims": [_claim_verdict_as_json(verdict) for verdict in done.verdicts],
        "today": _paper_configuration_results_as_json(done.today) if done.today is not None else None,
        "setups": [_paper_configuration_results_as_json(setup) for setup in done.setups],
    }


def _paper_configuration_results_as_json(setup: PaperSetupResults) -> dict[str, Any]:
    """Returns the figures and statements under one of the paper's other set-ups as a JSON object."""
    return {
        "id": setup.setup.id,
        "title": setup.setup.title,
        "figures": [
            _paper_value_comparison_as_json(one) for one in setup.paper_values_changed_by_configuration().values()
        ],
        "claims": [_claim_verdict_as_json(one) for one in setup.verdicts],
    }


def _paper_value_comparison_as_json(figure: ComparedFigure) -> dict[str, Any]:
    """Returns a published figure, with ours, as a JSON object."""
    return {
        "id": figure.published.id,
        "metric": figure.published.metric,
        "stat": figure.published.stat,
        "kernel": figure.published.kernel,
        "board": figure.published.lab_board,
        "unit": figure.published.unit,
        "paper": figure.published.paper_value_as_number,
        "here": figure.our_value,
        "ratio": figure.ratio_to_paper,
        "no_ratio": figure.no_ratio,
        "ratio_least": figure.ratio_range_over_code_placements[0] if figure.ratio_range_over_code_placements else None,
        "ratio_most": figure.ratio_range_over_code_placements[1] if figure.ratio_range_over_code_placements else None,
        "deviates": figure.deviates,
        "state": figure.state,
        "why": figure.reason,
        "n": figure.value.n if figure.value is not None else None,
        "version": figure.source.version if figure.source is not None else "",
    }


def _claim_verdict_as_json(verdict: ClaimVerdict) -> dict[str, Any]:
    """Returns a statement of the paper, with whether our figures agree, as a JSON object."""
    return {
        "id": verdict.claim.id,
        "section": verdict.claim.section,
        "says": verdict.claim.says,
        "outcome": verdict.outcome_of_all_statement_cases,
        "held": verdict.number_of_confirmed_paper_claim_cases,
        "cases": [
            {"case": one.name, "outcome": one.outcome or "not computed", "seen": one.explanation}
            for one in verdict.cases
        ],
        "seen": verdict.text_of_compared_claim_numbers,
        "threshold": verdict.threshold,
    }
