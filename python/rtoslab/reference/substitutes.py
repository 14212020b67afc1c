"""Which reference results are beside points of one's own: those of kernels that were not measured here at all."""

import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from rtoslab.analyses import PlacedValues
from rtoslab.base import AlteredError, AlteredWarning
from rtoslab.reference.reference_file import Reference, StoredWeight, read_reference, reference_paths, under
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import StoredPoint

WORD: Final = "(reference)"
"""After a kernel's name wherever a reference result is shown."""


def references(root: Path, paper: str = "*", like: Collection[PointId] | None = None) -> Iterator[Reference]:
    """Every reference of a paper, or of all. One that cannot be read is told by an AlteredWarning. `like`: as
    `read_reference` takes it."""
    for path in reference_paths(root, paper):
        try:
            yield read_reference(path, like)
        except AlteredError as cause:
            warnings.warn(str(cause), AlteredWarning, stacklevel=2)


def substitutes(root: Path, points: Sequence[StoredPoint]) -> list[StoredPoint]:
    """Measured points like those given but for the kernel, of kernels that none of them has. Each kernel is marked.

    Like: the same benchmark, board, cores, window and configuration. The same point may be in two papers: once.
    """
    missing = {_axes(item.result.point): place for place, item in enumerate(points)}
    present = {point.result.point.kernel for point in points}
    substitutes: dict[tuple[int, str], StoredPoint] = {}
    for reference in references(root, like=[point.result.point for point in points]) if points else ():
        if reference.kernel in present:
            continue
        for point in reference.points:
            place = missing.get(_axes(point.result.point))
            if place is not None and isinstance(point.result, MeasuredPoint):
                substitutes.setdefault((place, reference.kernel), point)
    return mark_as_reference([substitutes[key] for key in sorted(substitutes)])


def of_paper(root: Path, paper: str, points: Sequence[StoredPoint]) -> list[StoredPoint]:
    """A paper's reference points of kernels that none of the points has, under the kernels' plain names."""
    present = {stored_point.result.point.kernel for stored_point in points}
    return [
        point for reference in references(root, paper) if reference.kernel not in present for point in reference.points
    ]


def further_placements(root: Path, paper: str) -> dict[str, PlacedValues]:
    """Values of the paper's reference points in all placements, by the run id of each point in the first one.

    A run id is the digest of everything that can change a number, so they hold for a point of a run that has it, too.
    """
    return {placed.run_id: placed for reference in references(root, paper) for placed in reference.placed}


def weights_of_paper(root: Path, paper: str) -> list[StoredWeight]:
    """Returns what the paper's reference kernels weigh."""
    return [weight for reference in references(root, paper) for weight in reference.weights]


def mark_as_reference(points: Sequence[StoredPoint]) -> list[StoredPoint]:
    """The points with the mark at their kernels' names."""
    return [under(point, f"{point.result.point.kernel} {WORD}") for point in points]


def _axes(point: PointId) -> str:
    return point.model_copy(update={"kernel": "", "title": ""}).model_dump_json()
