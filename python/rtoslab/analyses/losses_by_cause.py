"""Divides the cost of more cores by cause: the cycles of one count with several cores less those with one.

The parts are those of `cycles`, taken over all cores that count, so that they add up to the loss exactly. The lock that
is held most is the bound: while one core holds it, no other gets past it."""

from collections.abc import Iterable
from dataclasses import dataclass

from rtoslab.analyses.counts_per_second import MulticoreGain, multicore_throughput_gains
from rtoslab.analyses.cycles import CYCLE_PARTS, cycle_use_of_cores
from rtoslab.results import MeasuredPoint


@dataclass(frozen=True, slots=True)
class BenchmarkIterationCycleBreakdown:
    """The cycles of one core for one count of a benchmark, by cause."""

    parts: dict[str, float]
    """Keyed by cause, in the order of PARTS."""
    critical_cycles: float | None
    """Cycles inside critical sections, without the wait for their locks. None if not observed."""
    section_count: float | None
    """Critical sections per count."""

    @property
    def total_cycles(self) -> float:
        """Returns the cycles that one count takes, over all causes."""
        return sum(self.parts.values())


def cycles_per_benchmark_count_by_cause(point: MeasuredPoint) -> BenchmarkIterationCycleBreakdown | None:
    """Returns the cycles for one count of a measured point, by cause. None on a real board, which cannot report them,
    and if nothing was counted."""
    counting = [share for share in cycle_use_of_cores(point) if share.core in point.metric_cores]
    counts = sum(core_share.counts for core_share in counting)
    if not counts or point.virtual is None:
        return None
    parts = {part: sum(core_share.parts[part] for core_share in counting) / counts for part in CYCLE_PARTS}
    sections = [use for use in point.virtual.critical if use.core in point.metric_cores]
    if not sections:
        return BenchmarkIterationCycleBreakdown(parts, None, None)
    inside = sum(section.cycles for section in sections) / counts
    return BenchmarkIterationCycleBreakdown(parts, inside, sum(section.sections for section in sections) / counts)


@dataclass(frozen=True, slots=True)
class LongestHeldSpinlock:
    """The hardware spinlock that is held longest in a measured point, with shares of time and waits."""

    name: str
    held_part: float
    """Share of the window in which some core held it: 1 means that it bounds the throughput."""
    contended_part: float
    """Share of its acquisitions that found it taken first."""
    wait_cycles_mean: float
    """Per acquisition, free or not."""
    per_count: float
    """Acquisitions per count of the whole system."""


def longest_held_spinlock(point: MeasuredPoint) -> LongestHeldSpinlock | None:
    """Returns the spinlock that is held longest in a measured point. None if no lock was taken."""
    if point.virtual is None:
        return None
    candidates = []
    counts = sum(counter.count for counter in point.counters if counter.core in point.metric_cores)
    for lock in {lock_use.lock for lock_use in point.virtual.locks}:
        uses = [lock_use for lock_use in point.virtual.locks if lock_use.lock == lock]
        taken = sum(use.acquisitions for use in uses)
        if taken:
            candidates.append(
                LongestHeldSpinlock(
                    uses[0].name,
                    sum(use.hold_cycles for use in uses) / point.virtual.cores[0].cycles,
                    sum(use.contended for use in uses) / taken,
                    sum(use.wait_cycles for use in uses) / taken,
                    taken / counts if counts else 0.0,
                )
            )
    return max(candidates, key=lambda item: item.held_part, default=None)


@dataclass(frozen=True, slots=True)
class MulticorePerformanceLoss:
    """The loss of a benchmark on several cores against the same benchmark on one core."""

    gain: MulticoreGain
    one_core: BenchmarkIterationCycleBreakdown
    many_cores: BenchmarkIterationCycleBreakdown
    lock: LongestHeldSpinlock | None

    @property
    def multicore_extra_cycles_by_cause(self) -> dict[str, float]:
        """Returns the additional cycles of a count on several cores, by cause. Negative if it costs less."""
        return {part: self.many_cores.parts[part] - self.one_core.parts[part] for part in CYCLE_PARTS}


def multicore_performance_losses(points: Iterable[MeasuredPoint]) -> list[MulticorePerformanceLoss]:
    """Returns the loss of each benchmark that was measured on one core and on several, if the causes of its cycles are
    known."""
    result = []
    for pair in multicore_throughput_gains(points):
        one, many = (
            cycles_per_benchmark_count_by_cause(pair.one_core.point),
            cycles_per_benchmark_count_by_cause(pair.many_cores.point),
        )
        if one is not None and many is not None:
            result.append(MulticorePerformanceLoss(pair, one, many, longest_held_spinlock(pair.many_cores.point)))
    return result
