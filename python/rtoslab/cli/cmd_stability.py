"""`rtoslab stability`: in how many builds of the same kernels a paper's statements hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from rtoslab.api import default_run_directory
from rtoslab.base import EXIT_OK, PlanError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue, PaperFolder, find_paper, read_papers
from rtoslab.cli.choices import dry_run_option, jobs_option, out_option
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.display import print_plan_before_measuring, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points, print_failed_measurements
from rtoslab.cli.names import (
    CatalogueNamesParam,
    PaperNameParam,
    file_format_by_suffix,
    options_given_on_command_line,
    report_file_option,
    split_names,
)
from rtoslab.cli.sections import print_report_document
from rtoslab.measure import MeasurementPointOutcome, measure_points_of_plan
from rtoslab.papers import require_consistent_paper_folder
from rtoslab.plan import MeasurementPlan
from rtoslab.reference import read_reference_files
from rtoslab.reports import ReportDocument, report_formats
from rtoslab.stability import (
    JudgedPaper,
    JudgedStatement,
    judge_paper_claims_in_builds,
    merge_claim_stability_rows,
    placement_overview_document,
    plan_paper_claim_stability_points,
    read_stability_file,
    stability_file_path,
    statement_stability_report,
    stored_rows_of_run,
    write_stability_file,
)
from rtoslab.store import RunDirectory
from rtoslab.sweep import measure_sweep_on_cluster

_OF_MEASURING: Final = {
    "placements": "--placements", "kernels": "--kernel", "no_switches": "--no-switches", "out": "--out",
    "jobs": "--jobs", "scheduler": "--scheduler",
}  # fmt: skip
"""Options by the names of their parameters that have an effect only if something is measured."""


@click.command("stability")
@click.argument("name", type=PaperNameParam(), metavar="[PAPER]", required=False)
@click.option(
    "--measure",
    "measuring",
    is_flag=True,
    help=("Measure all builds first, and store their values in the file of --values."),
)
@click.option(
    "--values",
    "values_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File of the stored values.  [default: reference/stability/PAPER.ndjson]",
)
@click.option(
    "--placements",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="With --measure: number of placements of each build, if the placement can change its time.",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    type=CatalogueNamesParam("kernels"),
    help=(
        "With --measure: measure only these kernels: one or a,b. The stored values of the others stay.  [default: "
        "every kernel]"
    ),
)
@click.option(
    "--no-switches",
    is_flag=True,
    help=(
        "With --measure: only the combinations of version, optimisation and assertions, without the other switches of "
        "the kernels."
    ),
)
@out_option
@jobs_option
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Measure on the workers of this Dask cluster.")
@dry_run_option
@report_file_option("html", "md")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
@click.pass_context
def stability_command(
    context: click.Context,
    name: str | None,
    measuring: bool,
    values_file: Path | None,
    placements: int,
    kernels: tuple[str, ...],
    no_switches: bool,
    out: Path | None,
    jobs: int,
    scheduler: str | None,
    dry_run: bool,
    outputs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Show in how many builds of its kernels each statement of a PAPER holds, and which changes reverse it.

    Without a PAPER, shows how far the placement of the code alone changes the figures of all papers, and how many pairs
    of kernels change their order.

    A paper measures one build of each kernel. This command uses builds with other optimisation, assertions, versions
    and switches, each in several placements of its code, and judges every statement in all of them. The values of these
    builds come with rtoslab. `--measure` measures them with the trees that you added. The same command again resumes.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    if name is None:
        if measuring or dry_run or values_file or as_json:
            raise PlanError("These options need a paper, as in `rtoslab stability PAPER --measure`.")
        return _write_and_print_report(code_placement_overview_of_papers(catalogue), outputs)
    paper = find_paper(catalogue, name)
    require_consistent_paper_folder(catalogue, paper)
    path = values_file or stability_file_path(root, paper.key)
    code = EXIT_OK
    if measuring or dry_run:
        code = _measure_builds(
            catalogue,
            paper,
            path,
            placements,
            _paper_kernels(paper, split_names(kernels, paper.facts.kernels) or ()),
            out,
            jobs,
            scheduler,
            with_switches=not no_switches,
            dry_run=dry_run,
            as_json=as_json,
        )
        if dry_run:
            return code
    elif ignored := options_given_on_command_line(context, *_OF_MEASURING):
        options = ", ".join(_OF_MEASURING[option] for option in ignored)
        raise PlanError(f"Without --measure the stored values are shown, and {options} has no effect; add --measure.")
    elif not path.is_file():
        raise PlanError(
            f"{path_from_working_directory(path)} does not exist, so there are no values of builds; measure "
            f"them with `rtoslab stability {paper.key} --measure`, or give --values FILE."
        )
    judged = judge_paper_claims_in_builds(catalogue, paper, read_stability_file(path))
    if as_json:
        print_json_answer(_claim_stability_as_json(judged))
    _write_and_print_report(statement_stability_report(judged), outputs, quiet=as_json)
    return code


def _write_and_print_report(document: ReportDocument, outputs: Sequence[Path], *, quiet: bool = False) -> int:
    """Writes the report to files and prints it, unless `quiet`. Returns the exit code."""
    for output in outputs:
        write_report(report_formats()[file_format_by_suffix(output)](document), output)
    if not quiet:
        print_report_document(document, PlainConsole())
    return EXIT_OK


def code_placement_overview_of_papers(catalogue: Catalogue) -> ReportDocument:
    """Returns the report on how far the placement of the code changes the figures and rankings of all papers."""
    folders = {key: find_paper(catalogue, key) for key in read_papers(catalogue)}
    paths = {key: stability_file_path(catalogue.root, key) for key in folders}
    judged = [
        judge_paper_claims_in_builds(catalogue, folders[key], read_stability_file(path))
        for key, path in paths.items()
        if path.is_file()
    ]
    return placement_overview_document(folders, list(read_reference_files(catalogue.root)), judged)


def _paper_kernels(paper: PaperFolder, names: Sequence[str]) -> tuple[str, ...]:
    """Returns the kernels of a paper that kernels or trees are versions of. Raises PlanError for others."""
    roles = {name: paper.facts.paper_kernel_by_source_tree.get(name, name) for name in names}
    for name, role in roles.items():
        if role not in paper.facts.kernels:
            raise PlanError(f"{name} is no kernel of {paper.key}; choose from {', '.join(paper.facts.kernels)}.")
    return tuple(dict.fromkeys(roles.values()))


def _measure_builds(
    catalogue: Catalogue,
    paper: PaperFolder,
    path: Path,
    placements: int,
    kernels: tuple[str, ...],
    out: Path | None,
    jobs: int,
    scheduler: str | None,
    *,
    with_switches: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Measures all builds of a paper's kernels, and stores their values in the file `path`. Returns the exit code."""
    root = catalogue.root
    earlier = read_stability_file(path) if kernels and path.is_file() else None
    whole = plan_paper_claim_stability_points(catalogue, paper, placements, kernels, with_switches=with_switches)
    if not whole.points:
        raise PlanError(
            f"The sources of all kernels of {paper.key} are missing; add a tree or an export of one "
            "with `rtoslab kernel tree add`."
        )
    plan = MeasurementPlan(whole.points, paper.key)
    folder = out or default_run_directory(root, plan, ["stability", paper.key])
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    with show_progress(plan.points, folder, quiet=as_json) as display:
        outcomes = _measure_points_of_plan(root, plan, folder, jobs, scheduler, display.show_measurement_point_progress)
    results = [outcome.result for outcome in outcomes]
    print_failed_measurements([result for result in results if result.status == "failed"])
    stored = RunDirectory.open_run_directory(folder).read_measured_points()
    content = stored_rows_of_run(catalogue, paper, whole, placements, stored, results)
    content = merge_claim_stability_rows(earlier, content, kernels) if earlier else content
    write_stability_file(path, content)
    size = f"{path.stat().st_size / 1024:,.0f} kB"
    click.echo(
        f"{count_with_noun(len(content.rows), 'row')} of values in {path_from_working_directory(path)}, {size}.",
        err=True,
    )
    return exit_code_of_points(results)


def _measure_points_of_plan(
    root: Path, plan: MeasurementPlan, folder: Path, jobs: int, scheduler: str | None, listener: Any
) -> list[MeasurementPointOutcome]:
    """Measures the points of a plan on this machine, or on a cluster if there is a `scheduler`. Returns how each
    ended."""
    if scheduler is None:
        return list(measure_points_of_plan(root, plan, folder, jobs=jobs, listener=listener))
    return list(measure_sweep_on_cluster(root, plan, folder, scheduler, listener=listener))


def _claim_stability_as_json(judged: JudgedPaper) -> dict[str, Any]:
    """Returns in how many builds each of a paper's statements holds, as a JSON object."""
    return {
        "paper": judged.paper.key,
        "placements": judged.stored.placements,
        "deviations": judged.stored.port_contract_deviations_by_kernel,
        "factors": {factor.name: list(factor.levels) for factor in judged.stored.factors},
        "builds": [list(build.levels) for build in judged.builds],
        "statements": [_statement_as_json(statement) for statement in judged.statements],
        "not_judged": [claim.id for claim in judged.not_judged],
    }


def _statement_as_json(statement: JudgedStatement) -> dict[str, Any]:
    """Returns in how many builds one statement holds, as a JSON object."""
    whole = statement.whole.verdict_counts_over_all_builds
    return {
        "id": statement.claim.id,
        "says": statement.claim.says,
        "held": whole.held,
        "turned": whole.turned,
        "tied": whole.tied,
        "verdicts": [
            {"build": list(build.levels), "in_placements": list(outcome)}
            for build, outcome in statement.whole.by_build.items()
        ],
        "turns": [
            {"change": one.change, "turned": one.turned, "pairs": one.pairs}
            for one in statement.whole.verdict_reversals()
        ],
        "fewest_changes": statement.whole.fewest_verdict_reversing_changes(),
        "cases": [
            {
                "case": one.name,
                "held": one.verdict_counts_over_all_builds.held,
                "turned": one.verdict_counts_over_all_builds.turned,
                "tied": one.verdict_counts_over_all_builds.tied,
            }
            for one in statement.cases
        ],
    }
