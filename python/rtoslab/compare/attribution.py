"""Where a difference in cycles went: function by function, out of the profiles that both sides stored.

A profile covers the whole window; it is divided by what was counted in it, or by the samples taken, so that two
windows of different speed can be set against each other. The parts add up to the difference of the whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from rtoslab.analyses import calls_by_function, cycles_by_function
from rtoslab.compare.matching import Pair
from rtoslab.compare.sides import Figures
from rtoslab.results import Measured

LEAST_CYCLES = 0.005
"""Smaller parts are left out of what is shown."""


@dataclass(frozen=True, slots=True)
class Part:
    """One function's share of the difference, in cycles per count or per sample."""

    function: str
    before: float
    after: float
    calls_before: float
    """Entries of the function per count or per sample."""
    calls_after: float

    @property
    def delta(self) -> float:
        """Cycles gained; negative: saved."""
        return self.after - self.before

    @property
    def per_call_delta(self) -> float | None:
        """Cycles of one call gained, where it is called as often as before; None where it is not."""
        if not self.calls_before or abs(self.calls_after / self.calls_before - 1) > 0.01:
            return None
        return self.after / self.calls_after - self.before / self.calls_before


def attribution(pair: Pair) -> list[Part]:
    """Parts that differ, the largest first; empty where a side has no profile."""
    cycles_before, cycles_after = _means(pair.before, cycles_by_function), _means(pair.after, cycles_by_function)
    if not cycles_before or not cycles_after:
        return []
    calls_before, calls_after = _means(pair.before, calls_by_function), _means(pair.after, calls_by_function)
    parts = [
        Part(name, *(each.get(name, 0.0) for each in (cycles_before, cycles_after, calls_before, calls_after)))
        for name in {*cycles_before, *cycles_after}
    ]
    shown = [each for each in parts if abs(each.delta) >= LEAST_CYCLES]
    return sorted(shown, key=lambda each: (-abs(each.delta), each.function))


def _means(figures: Figures, by_function: Callable[[Measured], dict[str, float]]) -> dict[str, float]:
    """Over all placements of the point; empty where one has no profile."""
    results = figures.placed or ([figures.result] if figures.result is not None else [])
    found = [by_function(each) for each in results]
    if not all(found):
        return {}
    return {name: fmean(each.get(name, 0.0) for each in found) for name in dict.fromkeys(n for e in found for n in e)}
