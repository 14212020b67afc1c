"""Turns the points of a run into rows of the matrix, and replaces old rows by new ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rtoslab.catalogue import Catalogue
from rtoslab.choose.board_comparison import NOT_MEASURED
from rtoslab.choose.matrix_file import KernelBoardMatrix
from rtoslab.choose.matrix_points import ComparedMeasurement
from rtoslab.choose.measured_code import digest_of_measured_firmware
from rtoslab.measure import identity_of_point
from rtoslab.reference import StoredPointValues, make_stored_row_of_code_placements
from rtoslab.results import FailedMeasurement, MeasuredPoint
from rtoslab.store import AnyResult, StoredMeasurementPoint
from rtoslab.targets import timing_version

_BUILD_KEYS = (
    "calls", "clock", "clock_hz", "code", "compiler", "cores", "data", "features", "flags", "kernel", "kernel_version",
)  # fmt: skip
"""The keys of a manifest's build that the parity lint and readers need."""


def kernel_board_matrix_rows(
    catalogue: Catalogue,
    points_needed: Sequence[ComparedMeasurement],
    stored: Sequence[StoredMeasurementPoint],
    results: Sequence[AnyResult],
) -> list[StoredPointValues]:
    """Returns the figures of a run as rows of a kernel's matrix file, one for each measurement."""
    by_point = {stored_point.result.point.model_dump_json(): stored_point for stored_point in stored}
    failures = {result.point.model_dump_json(): result for result in results if isinstance(result, FailedMeasurement)}
    return [_kernel_board_matrix_row(catalogue, point, by_point, failures) for point in points_needed]


def _kernel_board_matrix_row(
    catalogue: Catalogue,
    needed: ComparedMeasurement,
    by_point: Mapping[str, StoredMeasurementPoint],
    failures: Mapping[str, FailedMeasurement],
) -> StoredPointValues:
    """Returns the figures of one measurement as a row of a matrix file. `by_point` and `failures` are by identity."""
    names = [identity_of_point(catalogue, point).model_dump_json() for point in needed.points]
    stored = [by_point[name] for name in names if name in by_point]
    failed = next((failures[name] for name in names if name in failures), None)
    reason = needed.reason or (f"{failed.stage} failed: {failed.message}" if failed else NOT_MEASURED)
    whole = make_stored_row_of_code_placements(needed.stands_for, needed.stands_for.kernel, stored, reason)
    count = sum(isinstance(stored_point.result, MeasuredPoint) for stored_point in stored)
    return replace(whole, single_placement=needed.place_matters and count == 1)


def abridged_manifest_by_board(
    catalogue: Catalogue, stored: Sequence[StoredMeasurementPoint]
) -> dict[str, dict[str, Any]]:
    """Returns, for each board, a short manifest of its first measured point on one core.

    The macros of the kernel's parity table are stored from its configuration. An export has hundreds of others.
    """
    by_board: dict[str, dict[str, Any]] = {}
    for stored_point in stored:
        point = stored_point.result.point
        if isinstance(stored_point.result, MeasuredPoint) and point.cores == 1 and point.board not in by_board:
            build: Any = stored_point.manifest.get("build", {})
            target: Any = stored_point.manifest.get("target", {})
            selected = {key: build[key] for key in _BUILD_KEYS if key in build}
            kernel = catalogue.find_kernel(point.kernel)
            parity, port = set(kernel.facts.parity.values()), kernel.folder.name
            macros = build.get("kernel_config", {})
            selected["kernel_config"] = {name: value for name, value in macros.items() if name in parity}
            by_board[point.board] = {
                "build": selected,
                "firmware": digest_of_measured_firmware(catalogue.root, port, point.board),
                "port": port,
                "target": {"chip": target.get("chip"), "timing_version": target.get("timing_version")},
            }
    return by_board


def replace_boards_in_kernel_board_matrix(
    old: KernelBoardMatrix | None, new: KernelBoardMatrix, boards: Collection[str]
) -> KernelBoardMatrix:
    """Returns a kernel's new figures for these boards, and the old ones for all others."""
    if old is None:
        return new
    unchanged = tuple(row for row in old.rows if row.stands_for.board not in boards)
    manifests = {board: manifest for board, manifest in old.manifests.items() if board not in boards}
    return replace(new, rows=(*unchanged, *new.rows), manifests={**manifests, **new.manifests})


def changes_since_measurement(root: Path, matrix: KernelBoardMatrix) -> list[str]:
    """Returns what has changed since a kernel's figures were measured, each with its boards. Empty if nothing has."""
    retimed = [
        board
        for board, manifest in matrix.manifests.items()
        if manifest["target"].get("timing_version") != timing_version(_chip_of_board(root, board, manifest))
    ]
    rebuilt = [
        board
        for board, manifest in matrix.manifests.items()
        if manifest.get("firmware") != digest_of_measured_firmware(root, str(manifest.get("port")), board)
    ]
    changed = (("the virtual board", retimed), ("the firmware", rebuilt))
    return [f"{what} ({', '.join(boards)})" for what, boards in changed if boards]


def _chip_of_board(root: Path, board: str, manifest: Mapping[str, Any]) -> str:
    """Returns the chip of a board with figures. Manifests before timing versions of chips do not name it."""
    return str(manifest["target"].get("chip") or Catalogue(root).boards[board].facts.chip)
