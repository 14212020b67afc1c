"""`rtoslab kernel reference matrix`: the figures of `rtoslab choose`, measured for every kernel and board."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from rtoslab.base import (
    EXIT_OK,
    EXIT_POINT_FAILED,
    CatalogueError,
    PlanError,
    build_folder,
    count_with_noun,
    find_checkout_root,
)
from rtoslab.catalogue import Catalogue
from rtoslab.choose import (
    KernelBoardMatrix,
    abridged_manifest_by_board,
    boards_to_compare,
    kernel_board_matrix_path,
    kernel_board_matrix_rows,
    kernels_to_compare,
    measurements_to_compare,
    plan_of_compared_points,
    read_kernel_board_matrix,
    replace_boards_in_kernel_board_matrix,
    value_rows_from_observed_runs,
    write_kernel_board_matrix,
)
from rtoslab.cli.choices import dry_run_option, jobs_option
from rtoslab.cli.display import print_plan_before_measuring, show_progress
from rtoslab.cli.failures import print_failed_measurements
from rtoslab.cli.names import CatalogueNamesParam, split_names
from rtoslab.measure import measure_points_of_plan
from rtoslab.store import RunDirectory

_OBSERVED_PLACEMENTS: Final = 4
"""Placements for masked interrupts and the worst case over all phases, which take seconds in each."""


_PLACEMENTS: Final = 8

reference_placements = click.option(
    "--placements",
    type=click.IntRange(1, 64),
    default=_PLACEMENTS,
    show_default=True,
    help="Number of placements of the code in which a point is measured, if the placement can change its time.",
)


def unused_run_folder_path(folder: Path) -> Path:
    """Returns a path for a new run directory: that of `folder` with the first free number.

    Earlier measurements come from the cache if they are still valid.
    """
    for number in range(10_000):
        path = folder.with_name(f"{folder.name}-{number}")
        if not path.exists():
            return path
    raise CatalogueError(f"The folder {folder.parent} contains too many runs; delete it.")


@click.command("matrix", short_help="Measure the figures that `rtoslab choose` compares.")
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    type=CatalogueNamesParam("kernels"),
    help="Kernels: one, a,b or all.  [default: all]",
)
@click.option(
    "--board",
    "boards",
    multiple=True,
    type=CatalogueNamesParam("boards"),
    help="Boards: one, a,b or all.  [default: all]",
)
@reference_placements
@jobs_option
@dry_run_option
def matrix_command(
    kernels: tuple[str, ...], boards: tuple[str, ...], placements: int, jobs: int, *, dry_run: bool
) -> int:
    """Measure every kernel whose sources are available on every board, and store the figures in reference/matrix/.

    A kernel's file is written as soon as its points are measured. If the command was interrupted, give it again: it
    takes finished measurements from the cache. Figures of other kernels and boards stay as they are. A point that fails
    is stored with the reason. Exit code 3 if a point fails.
    """
    catalogue = Catalogue(find_checkout_root())
    known = kernels_to_compare(catalogue)
    chosen = split_names(kernels, known) or tuple(known)
    on = split_names(boards, boards_to_compare(catalogue.root)) or tuple(boards_to_compare(catalogue.root))
    for board in on:
        catalogue.find_board(board)
    codes = [
        _measure_kernel_matrix(catalogue, catalogue.find_kernel(name).id, on, placements, jobs, dry_run=dry_run)
        for name in chosen
    ]
    return max(codes, default=EXIT_OK)


def _measure_kernel_matrix(
    catalogue: Catalogue, kernel: str, boards: Sequence[str], placements: int, jobs: int, *, dry_run: bool
) -> int:
    """Measures those figures of a kernel that `rtoslab choose` compares, and stores them. Returns the exit code."""
    points = measurements_to_compare(catalogue, kernel, boards, placements)
    plan = plan_of_compared_points(points)
    if not plan.points:
        reasons = dict.fromkeys(point.reason for point in points)
        raise PlanError(f"{kernel} cannot be measured on any of these boards: {next(iter(reasons), 'none is given')}")
    folder = unused_run_folder_path(build_folder(catalogue.root).with_name("matrix") / kernel)
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=False):
        return EXIT_OK
    with show_progress(plan.points, folder, quiet=False) as display:
        outcomes = measure_points_of_plan(
            catalogue.root, plan, folder, jobs=jobs, listener=display.show_measurement_point_progress
        )
    results = [outcome.result for outcome in outcomes]
    failed = [result for result in results if result.status == "failed"]
    print_failed_measurements(failed)
    stored = RunDirectory.open_run_directory(folder).read_measured_points()
    rows = kernel_board_matrix_rows(catalogue, points, stored, results)
    matters = {point.stands_for.board for point in points if point.place_matters}
    version = next((row.version for row in rows if row.version), "")
    for board in dict.fromkeys(row.stands_for.board for row in rows if row.values):
        count = min(placements, _OBSERVED_PLACEMENTS)
        rows += value_rows_from_observed_runs(
            catalogue, kernel, board, version, placements=count, place_matters=board in matters, say=_print_on_stderr
        )
    path = kernel_board_matrix_path(catalogue.root, kernel)
    old = read_kernel_board_matrix(path) if path.is_file() else None
    new = KernelBoardMatrix(
        kernel, datetime.now(UTC).date().isoformat(), abridged_manifest_by_board(catalogue, stored), tuple(rows)
    )
    write_kernel_board_matrix(path, replace_boards_in_kernel_board_matrix(old, new, boards))
    size = f"{path.stat().st_size / 1024:,.0f} kB"
    click.echo(f"{path.relative_to(catalogue.root)}: {count_with_noun(len(rows), 'row')} measured, {size}.")
    return EXIT_POINT_FAILED if failed else EXIT_OK


def _print_on_stderr(what: str) -> None:
    """Prints a line on stderr."""
    click.echo(what, err=True)
