"""Attributes a difference in cycles function by function, by the profiles that both sides stored.

A profile covers the whole window. It is divided by what was counted in it, or by the samples taken, so that two
windows of different speed can be set against each other. The parts add up to the difference of the whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from rtoslab.analyses import calls_by_function, cycles_by_function
from rtoslab.compare.matching import MeasuredPointPair
from rtoslab.compare.sides import MeasuredPointValues
from rtoslab.results import MeasuredPoint

LEAST_CYCLES = 0.005
"""Smaller differences are not shown."""


@dataclass(frozen=True, slots=True)
class FunctionCycleDifference:
    """One function's share of a difference in cycles between the two sides of a comparison."""

    function: str
    before: float
    after: float
    calls_before: float
    """Entries of the function per count or per sample."""
    calls_after: float
    code: str
    """`same`, `moved` (the same code, in another place) or `changed`. Empty where an image does not tell."""

    @property
    def additional_function_cycles(self) -> float:
        """Returns the function's additional cycles per count (or sample) on the second side. Negative if it needs fewer
        there."""
        return self.after - self.before

    @property
    def additional_cycles_per_call(self) -> float | None:
        """Returns the additional cycles of one call of the function on the second side. None if the number of calls
        changed."""
        if not self.calls_before or abs(self.calls_after / self.calls_before - 1) > 0.01:
            return None
        return self.after / self.calls_after - self.before / self.calls_before


def cycle_differences_by_function(pair: MeasuredPointPair) -> list[FunctionCycleDifference]:
    """Returns the functions in which a benchmark's cycles differ between two sides, the largest difference first. Empty
    if a side has no profile."""
    cycles_before, cycles_after = (
        _means_by_function(pair.before, cycles_by_function),
        _means_by_function(pair.after, cycles_by_function),
    )
    if not cycles_before or not cycles_after:
        return []
    calls_before, calls_after = (
        _means_by_function(pair.before, calls_by_function),
        _means_by_function(pair.after, calls_by_function),
    )
    figures = (cycles_before, cycles_after, calls_before, calls_after)
    parts = []
    for name in {*cycles_before, *cycles_after}:
        before, after, entries, entries_after = (figure.get(name, 0.0) for figure in figures)
        parts.append(
            FunctionCycleDifference(
                name, before, after, entries, entries_after, _classify_function_code_change(name, pair)
            )
        )
    shown = [part for part in parts if abs(part.additional_function_cycles) >= LEAST_CYCLES]
    return sorted(shown, key=lambda part: (-abs(part.additional_function_cycles), part.function))


def _classify_function_code_change(name: str, pair: MeasuredPointPair) -> str:
    """Returns whether a function's code on the second side is the `same`, `moved` (to another address) or `changed`.
    Empty if unknown."""
    sides = [
        [result.code.get(name) for result in _measurement_points_behind_values(figures)]
        for figures in (pair.before, pair.after)
    ]
    if any(place is None for side in sides for place in side):
        return ""
    if len({place.digest for side in sides for place in side if place}) > 1:
        return "changed"
    before, after = ({place.address for place in side if place} for side in sides)
    return "same" if before == after else "moved"


def _measurement_points_behind_values(figures: MeasuredPointValues) -> Sequence[MeasuredPoint]:
    """Returns the measured points of one side behind some figures, one for each placement of the code."""
    return figures.placed_results or ([figures.result] if figures.result is not None else [])


def _means_by_function(
    figures: MeasuredPointValues, by_function: Callable[[MeasuredPoint], dict[str, float]]
) -> dict[str, float]:
    """Returns the mean of a number over the placements of the code, for each function. Empty if a placement has no
    profile."""
    attributions = [by_function(result) for result in _measurement_points_behind_values(figures)]
    if not all(attributions):
        return {}
    return {
        name: fmean(attribution.get(name, 0.0) for attribution in attributions)
        for name in dict.fromkeys(n for e in attributions for n in e)
    }
