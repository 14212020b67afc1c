"""How long things take in points that differ in the place of their code alone: one band instead of several figures."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from rtoslab.analyses.bands import CodePlacementValueRange, MeasuredValueRatio
from rtoslab.analyses.named_figures import primary_speed_values_of_point
from rtoslab.results import MeasuredPoint, PointId

PLACEMENT = "placement"
"""The key of a point's configuration that says which placement it was measured in."""


@dataclass(frozen=True, slots=True)
class MeasuredTimeInCodePlacements:
    """One leading figure of a measured point as a time, with its range over the placements of the code."""

    point: PointId
    """Without its placement."""
    metric: str
    seconds: CodePlacementValueRange

    def ratio_to(self, other: "MeasuredTimeInCodePlacements") -> MeasuredValueRatio:
        """Returns the ratio of this time to another one, with its range."""
        return self.seconds.ratio_to(other.seconds)


def geometric_mean_ratio(ratios: Sequence[MeasuredValueRatio]) -> MeasuredValueRatio:
    """Returns the geometric mean of some ratios and of the ends of their ranges."""
    return MeasuredValueRatio(
        geometric_mean([ratio.value for ratio in ratios]),
        geometric_mean([ratio.smallest for ratio in ratios]),
        geometric_mean([ratio.largest for ratio in ratios]),
        all(ratio.is_known for ratio in ratios),
    )


def main_point_times_in_code_placements(
    points: Iterable[MeasuredPoint], place_dependent: Collection[int] = ()
) -> Iterator[MeasuredTimeInCodePlacements]:
    """Yields the leading figures of measured points as times with their range over placements, in the order of the
    points. Figures that are 0 are left out, because no ratio can be made of them.

    `place_dependent` has the Python ids of the results whose figures may depend on the addresses of their code
    (`results_depending_on_addresses`).
    """
    for group in group_measurements_over_code_placements(points):
        yield from _main_times_over_code_placements(
            group, is_known=len(group) > 1 or id(group[0]) not in place_dependent
        )


def group_measurements_over_code_placements(points: Iterable[MeasuredPoint]) -> list[list[MeasuredPoint]]:
    """Groups measured points that differ only in the placement of their code, in the order of the points."""
    groups: dict[str, list[MeasuredPoint]] = {}
    for point in points:
        groups.setdefault(measurement_id_without_code_placement(point.point).model_dump_json(), []).append(point)
    return list(groups.values())


def _main_times_over_code_placements(
    group: Sequence[MeasuredPoint], *, is_known: bool
) -> Iterator[MeasuredTimeInCodePlacements]:
    """Yields the leading figures of one point as times. `group` has its placements. `is_known` is false if another
    placement might give other times."""
    figures = [{metric.id: metric for metric in primary_speed_values_of_point(point)} for point in group]
    for name in figures[0]:
        if all(name in figure and figure[name].value > 0 for figure in figures):
            values = [pair[name].value / point.clock_hz for pair, point in zip(figures, group, strict=True)]
            grain = max(pair[name].resolution / point.clock_hz for pair, point in zip(figures, group, strict=True))
            yield MeasuredTimeInCodePlacements(
                measurement_id_without_code_placement(group[0].point),
                name,
                CodePlacementValueRange(values, grain, is_known),
            )


def measurement_id_without_code_placement(point: PointId) -> PointId:
    """Returns the identity of a measured point without the placement of its code."""
    config = {key: value for key, value in point.config.items() if key != PLACEMENT}
    return point.model_copy(update={"config": config})


def code_placement_number_text(point: PointId) -> str:
    """Returns the number of a point's placement as text, `0` for the linker's own order."""
    return point.config.get(PLACEMENT, "0")
