"""Finds the reference results to show beside a user's points: those of kernels that were not measured here at all."""

import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from rtoslab.analyses import ValuesByCodePlacement
from rtoslab.base import AlteredFileError, AlteredPointWarning
from rtoslab.reference.reference_file import (
    ReferenceResultsFile,
    StoredProgramSize,
    read_reference_file,
    reference_file_paths,
    with_kernel_name,
)
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import StoredMeasurementPoint

REFERENCE_MARK: Final = "(reference)"
"""The mark after a kernel's name wherever a reference result is shown."""


def read_reference_files(
    root: Path, paper: str = "*", like_points: Collection[PointId] | None = None
) -> Iterator[ReferenceResultsFile]:
    """Yields the content of every reference file of a paper (by default, of all papers).

    For one that cannot be read there is an AlteredPointWarning. `like_points`: see `read_reference_file`.
    """
    for path in reference_file_paths(root, paper):
        try:
            yield read_reference_file(path, like_points)
        except AlteredFileError as cause:
            warnings.warn(str(cause), AlteredPointWarning, stacklevel=2)


def reference_points_for_unmeasured_kernels(
    root: Path, points: Sequence[StoredMeasurementPoint]
) -> list[StoredMeasurementPoint]:
    """Returns reference points to show beside a user's points: of kernels that the user did not measure.

    They equal one of the points but for the kernel: the same benchmark, board, cores, window and configuration. A point
    in two papers comes once.
    """
    missing = {_measurement_identity_without_kernel(item.result.point): place for place, item in enumerate(points)}
    present = {point.result.point.kernel for point in points}
    substitutes: dict[tuple[int, str], StoredMeasurementPoint] = {}
    for reference in read_reference_files(root, like_points=[point.result.point for point in points]) if points else ():
        if reference.kernel in present:
            continue
        for point in reference.points:
            place = missing.get(_measurement_identity_without_kernel(point.result.point))
            if place is not None and isinstance(point.result, MeasuredPoint):
                substitutes.setdefault((place, reference.kernel), point)
    return mark_kernels_as_reference([substitutes[key] for key in sorted(substitutes)])


def reference_results_for_paper_kernels(
    root: Path, paper: str, points: Sequence[StoredMeasurementPoint]
) -> list[StoredMeasurementPoint]:
    """Returns a paper's reference results for the kernels that the user did not measure (in `points`)."""
    present = {stored_point.result.point.kernel for stored_point in points}
    return [
        point
        for reference in read_reference_files(root, paper)
        if reference.kernel not in present
        for point in reference.points
    ]


def reference_values_by_code_placement(root: Path, paper: str) -> dict[str, ValuesByCodePlacement]:
    """Returns the values of a paper's reference points in all placements of the code, by run id.

    A run id is the digest of everything that can change a number, so they also hold for a point of a run that has it.
    """
    return {placed.run_id: placed for reference in read_reference_files(root, paper) for placed in reference.placed}


def program_sizes_of_paper(root: Path, paper: str) -> list[StoredProgramSize]:
    """Returns the sizes of programs with the kernels of a paper, as the reference files have them."""
    return [weight for reference in read_reference_files(root, paper) for weight in reference.weights]


def mark_kernels_as_reference(points: Sequence[StoredMeasurementPoint]) -> list[StoredMeasurementPoint]:
    """Returns the points with a mark after their kernels' names, which says that they are reference results."""
    return [with_kernel_name(point, f"{point.result.point.kernel} {REFERENCE_MARK}") for point in points]


def _measurement_identity_without_kernel(point: PointId) -> str:
    """Returns a point's identity without its kernel, as text."""
    return point.model_copy(update={"kernel": "", "title": ""}).model_dump_json()
