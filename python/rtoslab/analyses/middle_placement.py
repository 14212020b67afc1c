"""Points in several placements for a reader: the one in the middle stands for all, beside what the others gave."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rtoslab.analyses.bands import CodePlacementValueRange
from rtoslab.analyses.named_figures import NamedMetricValue, placement_band, primary_speed_values_of_point
from rtoslab.analyses.placed_times import (
    code_placement_number_text,
    group_measurements_over_code_placements,
    measurement_id_without_code_placement,
)
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement, PointId


@dataclass(frozen=True, slots=True)
class MeasuredPointInCodePlacements:
    """A measured point in one or several placements (addresses) of its code, represented by the one with the median
    figure."""

    middle: MeasuredPoint
    """The placement whose first leading figure is the median, the lower one of two. Its axes without the placement."""
    placements: Sequence[MeasuredPoint]
    number: str = "0"
    """The number of the placement in the middle."""

    @property
    def primary_speed_value_ranges(self) -> list[tuple[NamedMetricValue, CodePlacementValueRange]]:
        """Returns each leading figure (cycles per count, median of a series) with its range over the placements of the
        code. Empty for one placement."""
        if len(self.placements) == 1:
            return []
        figures = [{metric.id: metric for metric in primary_speed_values_of_point(point)} for point in self.placements]
        shared = [figure for figure in figures[0].values() if all(figure.id in other for other in figures)]
        alike = [(metric, [other[metric.id] for other in figures]) for metric in shared]
        return [(item, placement_band(row)) for item, row in alike]


def group_points_over_code_placements(points: Iterable[MeasuredPoint]) -> list[MeasuredPointInCodePlacements]:
    """Groups measured points that differ only in the placement of their code, in the order of the points."""
    return [_join_code_placements_of_point(group) for group in group_measurements_over_code_placements(points)]


def group_measurement_points_without_values(
    absent: Iterable[FailedMeasurement | NotApplicableMeasurement], measured: Iterable[MeasuredPoint]
) -> list[tuple[Sequence[FailedMeasurement | NotApplicableMeasurement], PointId]]:
    """Groups failed and not applicable points by identity. Placements are one group if all of them lack a figure for
    the same reason."""
    alike: dict[tuple[str, str], list[FailedMeasurement | NotApplicableMeasurement]] = {}
    count = Counter(measurement_id_without_code_placement(item.point).model_dump_json() for item in measured)
    for item in absent:
        axes = measurement_id_without_code_placement(item.point).model_dump_json()
        count[axes] += 1
        alike.setdefault((axes, item.message if isinstance(item, FailedMeasurement) else item.reason), []).append(item)
    groups: list[tuple[Sequence[FailedMeasurement | NotApplicableMeasurement], PointId]] = []
    for (axes, _), group in alike.items():
        together = len(group) == count[axes]
        groups += (
            [(group, measurement_id_without_code_placement(group[0].point))]
            if together
            else [([item], item.point) for item in group]
        )
    return groups


def _join_code_placements_of_point(group: Sequence[MeasuredPoint]) -> MeasuredPointInCodePlacements:
    """Returns the placements of one measured point as one `MeasuredPointInCodePlacements`."""
    if len(group) == 1:
        return MeasuredPointInCodePlacements(group[0], group)
    ordered = sorted(group, key=_first_main_speed_value_of_point)
    middle = ordered[(len(ordered) - 1) // 2]
    return MeasuredPointInCodePlacements(
        middle.model_copy(update={"point": measurement_id_without_code_placement(middle.point)}),
        group,
        code_placement_number_text(middle.point),
    )


def _first_main_speed_value_of_point(point: MeasuredPoint) -> float:
    """Returns the value of a point's first leading figure, or 0 if it has none."""
    return next((metric.value for metric in primary_speed_values_of_point(point)), 0.0)
