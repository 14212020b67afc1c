"""The values of one point in all its placements, without their samples: what a reference keeps of the further ones."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtoslab.analyses.axis_values import MeasuredValue, values_of_points
from rtoslab.analyses.bands import CodePlacementValueRange
from rtoslab.analyses.middle_placement import MeasuredPointInCodePlacements
from rtoslab.results import MeasuredPoint

ValueName = tuple[str, str, str, int]
"""(metric, statistic, unit, which of several such values of the point)"""


@dataclass(frozen=True)
class ValuesByCodePlacement:
    """The numbers of a measured point in each placement of its code, by name. The linker's own order is first."""

    run_id: str
    """The run id of the point in the linker's own order."""
    by_name: Mapping[ValueName, Sequence[float]] = field(default_factory=dict)

    def value_in_each_code_placement(self, value: MeasuredValue, occurrence: int = 0) -> Sequence[float]:
        """Returns the numbers of a value in all placements of the code. Empty if they are not stored. `occurrence`
        tells several values of one name apart."""
        return self.by_name.get((value.metric, value.stat, value.unit, occurrence), ())


def median_values_over_code_placements(points: Iterable[MeasuredPointInCodePlacements]) -> list[MeasuredValue]:
    """Returns the values of every measured point. A value is the median over all placements of the code, with its
    range."""
    result = []
    for point in points:
        known = point_values_by_code_placement(point.placements)
        times: Counter[tuple[str, str, str]] = Counter()
        for value in values_of_points([point.middle]):
            key = (value.metric, value.stat, value.unit)
            numbers = known.value_in_each_code_placement(value, times[key])
            times[key] += 1
            band = CodePlacementValueRange(numbers) if len(numbers) > 1 else None
            result.append(replace(value, value=band.median, band=band) if band is not None else value)
    return result


def point_values_by_code_placement(points: Sequence[MeasuredPoint]) -> ValuesByCodePlacement:
    """Returns the numbers of one measured point in all placements of its code. A number that one placement lacks is
    left out."""
    by_placement: list[dict[ValueName, float]] = []
    for point in points:
        times: Counter[tuple[str, str, str]] = Counter()
        mine: dict[ValueName, float] = {}
        for value in values_of_points([point]):
            key = (value.metric, value.stat, value.unit)
            mine[(*key, times[key])] = value.value
            times[key] += 1
        by_placement.append(mine)
    shared = [name for name in by_placement[0] if all(name in values_of for values_of in by_placement)]
    return ValuesByCodePlacement(
        points[0].run_id, {name: [values_of[name] for values_of in by_placement] for name in shared}
    )
