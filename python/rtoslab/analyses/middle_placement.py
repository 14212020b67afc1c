"""Points in several placements for a reader: the one in the middle stands for all, beside what the others gave."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rtoslab.analyses.bands import Band
from rtoslab.analyses.named_figures import Metric, band_of, leading
from rtoslab.analyses.placed_times import by_placement, unplaced
from rtoslab.results import Measured


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    """One point, in one placement or in several."""

    middle: Measured
    """The placement whose first leading figure is the median, the lower one of two; its axes without the placement."""
    all: Sequence[Measured]

    @property
    def bands(self) -> list[tuple[Metric, Band]]:
        """Each leading figure with its values by placement; none of a point in one placement."""
        if len(self.all) == 1:
            return []
        figures = [{each.id: each for each in leading(point)} for point in self.all]
        shared = [each for each in figures[0].values() if all(each.id in other for other in figures)]
        alike = [(each, [other[each.id] for other in figures]) for each in shared]
        return [(each, band_of(row)) for each, row in alike]


def placed_points(points: Iterable[Measured]) -> list[PlacedPoint]:
    """In the order of the points; those in one placement as they are."""
    return [_placed(group) for group in by_placement(points)]


def _placed(group: Sequence[Measured]) -> PlacedPoint:
    if len(group) == 1:
        return PlacedPoint(group[0], group)
    ordered = sorted(group, key=_first)
    middle = ordered[(len(ordered) - 1) // 2]
    return PlacedPoint(middle.model_copy(update={"point": unplaced(middle.point)}), group)


def _first(point: Measured) -> float:
    return next((each.value for each in leading(point)), 0.0)
