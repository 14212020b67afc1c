"""Where a difference in cycles went: function by function, out of the profiles that both sides stored.

A profile covers the whole window; it is divided by what was counted in it, or by the samples taken, so that two
windows of different speed can be set against each other. The parts add up to the difference of the whole.
"""

from collections import Counter
from dataclasses import dataclass

from rtoslab.compare.matching import Pair
from rtoslab.results import Measured

EXCEPTIONS = "(exception entry and exit)"
ASLEEP = "(asleep)"
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
    before, after = _profile(pair.before.result), _profile(pair.after.result)
    if before is None or after is None:
        return []
    (cycles_before, calls_before), (cycles_after, calls_after) = before, after
    parts = [
        Part(name, *(each.get(name, 0.0) for each in (cycles_before, cycles_after, calls_before, calls_after)))
        for name in {*cycles_before, *cycles_after}
    ]
    shown = [each for each in parts if abs(each.delta) >= LEAST_CYCLES]
    return sorted(shown, key=lambda each: (-abs(each.delta), each.function))


def unit_of(result: Measured) -> str:
    """What the parts are per."""
    return "sample" if result.is_latency else "count"


def _profile(result: Measured | None) -> tuple[dict[str, float], dict[str, float]] | None:
    """Cycles and entries by function, of all cores, each per count or per sample."""
    if result is None or result.virtual is None:
        return None
    events = _events(result)
    if not events:
        return None
    cycles: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for each in result.virtual.functions:
        cycles[each.name] += each.cycles
        calls[each.name] += each.entries
    for core in result.virtual.cores:
        cycles[EXCEPTIONS] += core.exception_cycles
        cycles[ASLEEP] += core.sleep_cycles
    return (
        {name: value / events for name, value in cycles.items()},
        {name: value / events for name, value in calls.items()},
    )


def _events(result: Measured) -> int:
    if result.is_latency:
        return sum(len(each.cycles) for each in result.series)
    tasks, cores = set(result.metric_tasks), set(result.metric_cores)
    return sum(each.count for each in result.counters if each.index in tasks and each.core in cores)
