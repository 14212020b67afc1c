"""`rtoslab kernel reference`: results of the papers' kernels that come with the checkout, listed and renewed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from rtoslab.base import (
    EXIT_OK,
    EXIT_POINT_FAILED,
    build_folder,
    count_with_noun,
    file_contents_cache,
    find_checkout_root,
)
from rtoslab.catalogue import Catalogue, PaperFolder, find_paper, read_papers
from rtoslab.choose import (
    KernelBoardMatrix,
    changes_since_measurement,
    measurement_coverage_by_board,
    read_kernel_matrices,
)
from rtoslab.cli.choices import dry_run_option, jobs_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.display import print_plan_before_measuring, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points, print_failed_measurements
from rtoslab.cli.names import CatalogueNamesParam, PaperNameParam, split_names
from rtoslab.cli.reference_confirm import confirm_command
from rtoslab.cli.reference_matrix import matrix_command, reference_placements, unused_run_folder_path
from rtoslab.measure import measure_points_of_plan
from rtoslab.papers import add_required_code_placements, measure_minimal_program_sizes, plan_paper_experiments
from rtoslab.plan import MeasurementPlan, PlanOptions
from rtoslab.reference import (
    ReferenceResultsFile,
    add_code_digests,
    changes_since_reference,
    compiled_firmware_files,
    read_reference_files,
    reference_file_path,
    source_tree_changes_since,
    write_reference_file,
)
from rtoslab.results import MeasuredPoint
from rtoslab.store import RunDirectory

_MATRIX = "(choose)"
"""In place of a paper: figures for `rtoslab choose`."""
_SHOWN = 3
"""The number of changed files that are listed."""


@click.group("reference", short_help="Show or renew the included results.")
def kernel_reference_command() -> None:
    """Reference results: figures of the papers' kernels that come with rtoslab, in the folder reference/.

    Reports and papers show them for kernels that a run does not contain, marked as reference.
    """


kernel_reference_command.add_command(confirm_command)
kernel_reference_command.add_command(matrix_command)


@kernel_reference_command.command("list", short_help="Show every paper and kernel that has results.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
def list_reference_results_command(*, as_json: bool) -> int:
    """List the reference results: each paper and kernel with its boards, its number of points, and the files that
    have changed since the measurement.

    `(choose)` marks the figures that `rtoslab choose` compares.

    Also checks the trees and exports of the kernels that you added.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    with file_contents_cache():
        rows = [_reference_summary_as_json(catalogue, reference) for reference in read_reference_files(root)]
        rows += [_kernel_matrix_summary_as_json(root, matrix) for matrix in read_kernel_matrices(root)]
    if as_json:
        print_json_answer(rows, indent=2)
        return EXIT_OK
    table = Table("paper", "kernel", "version", "boards", title="Reference results", title_justify="left")
    for name in ("measured", "n/a"):
        table.add_column(name, justify="right")
    table.add_column("changed since")
    for row in rows:
        changed = row["changed_since"]
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        table.add_row(
            row["paper"], row["kernel"], row["version"], ", ".join(row["boards"]), str(row["measured"]),
            str(row["not_applicable"]),
            ", ".join(changed[:_SHOWN]) + more or "nothing",
        )  # fmt: skip
    PlainConsole().print(table)
    return EXIT_OK


@kernel_reference_command.command("refresh", short_help="Measure the reference results of papers again.")
@click.argument("names", nargs=-1, type=PaperNameParam(), metavar="[PAPER]...")
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    type=CatalogueNamesParam("kernels"),
    help="Measure only these kernels, whose sources users add: one, a,b or all.",
)
@reference_placements
@jobs_option
@dry_run_option
def reference_refresh_command(
    names: tuple[str, ...], kernels: tuple[str, ...], placements: int, jobs: int, *, dry_run: bool
) -> int:
    """Measure the papers' points again with every kernel whose sources are available, and store them in reference/.

    A point is measured in several placements of its code if they can change its figures. The results of a kernel
    without sources stay as they are, and the output says so. A point that fails is left out. Exit code 3 if a point
    fails, or if nothing could be measured.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    chosen = split_names(kernels, catalogue.buildable_kernels) or ()
    requested = names or tuple(read_papers(catalogue))
    codes = [_refresh_paper_reference(catalogue, name, chosen, placements, jobs, dry_run=dry_run) for name in requested]
    for reference in read_reference_files(root):
        changed = [] if reference.kernel in catalogue.buildable_kernels else changes_since_reference(root, reference)
        if changed:
            click.echo(
                f"{reference.kernel} of {reference.paper} is out of date ({changed[0]} has changed), and its "
                "sources were not added; add them with `rtoslab kernel tree add`."
            )
    measured = [code for code in codes if code is not None]
    if not measured:
        click.echo("Nothing was measured, because no paper has points of these kernels.", err=True)
    return max(measured, default=EXIT_POINT_FAILED)


def _refresh_paper_reference(
    catalogue: Catalogue, name: str, chosen: Sequence[str], placements: int, jobs: int, *, dry_run: bool
) -> int | None:
    """Measures the reference results of a paper again, and stores them. Returns the exit code.

    None: the sources of none of its kernels are available. `chosen`: the only kernels to measure, if not empty.
    """
    paper = find_paper(catalogue, name)
    whole = plan_paper_experiments(catalogue, paper, PlanOptions())
    kernels = [
        item for item in _paper_kernels_with_reference_results(paper) if item in (chosen or catalogue.buildable_kernels)
    ]
    points = tuple(point for point in whole.points if point.kernel in kernels)
    if not points:
        named = ", ".join(chosen) or "a kernel whose sources you added"
        click.echo(
            f"{paper.key} needs no reference results of {named}; reference results are for kernels whose "
            "sources users add with `rtoslab kernel tree add`."
        )
        return None
    folder = unused_run_folder_path(build_folder(catalogue.root).with_name("reference") / paper.key)
    plan = add_required_code_placements(catalogue, paper, MeasurementPlan(points, paper.key), placements)
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=False):
        return EXIT_OK
    with show_progress(plan.points, folder, quiet=False) as display:
        outcomes = measure_points_of_plan(
            catalogue.root, plan, folder, jobs=jobs, listener=display.show_measurement_point_progress
        )
    stored = RunDirectory.open_run_directory(folder).read_measured_points()
    failed = [outcome.result for outcome in outcomes if outcome.result.status == "failed"]
    print_failed_measurements(failed)
    weights, unbuilt = measure_minimal_program_sizes(catalogue, paper, kernels)
    for item in unbuilt:
        click.echo(f"failed: footprint {item.point.kernel} {item.point.board}: {item.message}")
    for kernel in dict.fromkeys(stored_point.result.point.kernel for stored_point in stored):
        own = [stored_point for stored_point in stored if stored_point.result.point.kernel == kernel]
        if any(isinstance(stored_point.result, MeasuredPoint) for stored_point in own):
            path = reference_file_path(catalogue.root, paper.key, kernel)
            write_reference_file(path, own, [weight for weight in weights if weight.weight.point.kernel == kernel])
            add_code_digests(
                catalogue.root,
                compiled_firmware_files([*(point.manifest for point in own), *(weight.manifest for weight in weights)]),
            )
            size = f"{path.stat().st_size / 1024:,.0f} kB"
            click.echo(f"{path.relative_to(catalogue.root)}: {count_with_noun(len(own), 'point')}, {size}.")
    return EXIT_POINT_FAILED if unbuilt else exit_code_of_points([outcome.result for outcome in outcomes])


def _paper_kernels_with_reference_results(paper: PaperFolder) -> list[str]:
    """Returns the kernels of a paper whose results are stored as reference results.

    Kernels that come with rtoslab are measured in every run. Their reference results add further placements.
    """
    experiments = [experiment for suite in paper.suites for experiment in suite.experiments]
    named = [name for experiment in experiments for name in (*experiment.bring_your_own, *experiment.kernels)]
    return list(dict.fromkeys([*named, *paper.facts.paper_kernel_by_source_tree]))


def _reference_summary_as_json(catalogue: Catalogue, reference: ReferenceResultsFile) -> dict[str, Any]:
    """Returns a summary of the reference results of one kernel for one paper, as a JSON object."""
    measured = [point for point in reference.points if isinstance(point.result, MeasuredPoint)]
    versions = dict.fromkeys(
        str(_image_build_record_in_manifest(stored_point.manifest).get("kernel_version")) for stored_point in measured
    )
    return {
        "paper": reference.paper,
        "kernel": reference.kernel,
        "version": ", ".join(versions),
        "boards": list(dict.fromkeys(stored_point.result.point.board for stored_point in measured)),
        "measured": len(measured),
        "not_applicable": len(reference.points) - len(measured),
        "changed_since": [
            *source_tree_changes_since(catalogue, reference),
            *changes_since_reference(catalogue.root, reference),
        ],
    }


def _kernel_matrix_summary_as_json(root: Path, matrix: KernelBoardMatrix) -> dict[str, Any]:
    """Returns a summary of the figures of one kernel that `rtoslab choose` compares, as a JSON object."""
    covered = measurement_coverage_by_board(matrix).values()
    return {
        "paper": _MATRIX,
        "kernel": matrix.kernel,
        "version": ", ".join(matrix.kernel_versions),
        "boards": matrix.board_names,
        "measured": sum(cell.measured for cell in covered),
        "not_applicable": sum(cell.requested - cell.measured for cell in covered),
        "changed_since": changes_since_measurement(root, matrix),
    }


def _image_build_record_in_manifest(manifest: dict[str, object]) -> dict[str, Any]:
    """Returns the part of a point's manifest on how its image was built. Empty if there is none."""
    build = manifest.get("build")
    return build if isinstance(build, dict) else {}
