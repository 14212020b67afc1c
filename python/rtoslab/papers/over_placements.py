"""Joins the values of points in several placements of the code to one value with its band.

A figure may be close to the paper's only because of the addresses that the linker happened to choose. So the median
over the placements counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rtoslab.analyses import (
    CodePlacementValueRange,
    MeasuredValue,
    ValuesByCodePlacement,
    code_placement_number_text,
    measurement_id_without_code_placement,
    select_values_by_coordinates,
)
from rtoslab.catalogue import PaperFolder

_ONE_PLACEMENT_NOTE = (
    "Each figure was measured in one placement of the code. If two kernels are close, or two cores share a cache, "
    "another placement may reverse their order. With --placements 8, each figure is a median, and a statement "
    "is a tie if its result differs between placements."
)


def single_code_placement_note(values: Sequence[MeasuredValue]) -> str:
    """Returns a note that figures were measured in one placement of the code only. Empty if some were measured in
    several."""
    return "" if not values or any(value.band is not None for value in values) else _ONE_PLACEMENT_NOTE


def join_values_over_code_placements(
    values: Iterable[MeasuredValue], reference_placements: Mapping[str, ValuesByCodePlacement] | None = None
) -> list[MeasuredValue]:
    """Joins values that differ only in the placement of the code into one value: the median, with its range."""
    groups: dict[tuple[object, ...], dict[int, MeasuredValue]] = {}
    times: Counter[tuple[object, ...]] = Counter()
    names: dict[int, tuple[str, int]] = {}
    for value in values:
        if id(value.point) not in names:
            names[id(value.point)] = (
                measurement_id_without_code_placement(value.point).model_dump_json(),
                int(code_placement_number_text(value.point)),
            )
        axes, number = names[id(value.point)]
        key = (axes, value.benchmark_metric, value.metric, value.stat, value.unit)
        place = (key, number, value.run_id)
        groups.setdefault((key, times[place]), {})[number] = value
        times[place] += 1
    return [
        _median_value_over_code_placements(by_number, occurrence, reference_placements or {})
        for (_, occurrence), by_number in groups.items()
    ]


def add_values_for_missing_operations(paper: PaperFolder, values: Sequence[MeasuredValue]) -> list[MeasuredValue]:
    """Returns the values, followed by copies that replace operations which a kernel does not offer."""
    added = []
    for substitute in paper.facts.substitute:
        for value in select_values_by_coordinates(values, {"kernel": substitute.kernel, **substitute.by}):
            config = dict(sorted({**value.point.config, **substitute.config}.items()))
            point = value.point.model_copy(update={"config": config})
            added.append(replace(value, point=point, metric=substitute.metric, substitute_text=substitute.says))
    return [*values, *added]


def _median_value_over_code_placements(
    by_number: Mapping[int, MeasuredValue],
    occurrence: object,
    reference_placements: Mapping[str, ValuesByCodePlacement],
) -> MeasuredValue:
    """Returns one value for a figure's values by placement number: their median, with its range."""
    first = by_number[min(by_number)]
    plain = replace(first, point=measurement_id_without_code_placement(first.point))
    numbers = [by_number[number].value for number in sorted(by_number)]
    if len(numbers) == 1 and first.run_id in reference_placements:
        known = reference_placements[first.run_id].value_in_each_code_placement(first, int(str(occurrence)))
        # The first of them is this very value, or it was another measurement.
        numbers = list(known) if known and known[0] == first.value else numbers
    if len(numbers) == 1:
        return plain
    band = CodePlacementValueRange(numbers)
    return replace(plain, value=band.median, band=band)
