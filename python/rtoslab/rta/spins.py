"""The spans in which a core waited for the kernel's locks: from a read that finds a lock taken to the one that gets
it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

KIND_LOCK_BUSY = 9
"""The kinds of events of the virtual board, see `_sim.pyi`. The observer reports them, not in order with the others."""
KIND_LOCK_TAKEN = 10


@dataclass(frozen=True)
class DisjointCycleIntervals:
    """Spans of cycles on one core that do not overlap, in the order of time. None overlaps another."""

    begins: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    _sums: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lengths = (end - begin for begin, end in zip(self.begins, self.ends, strict=True))
        object.__setattr__(self, "_sums", (0, *accumulate(lengths)))

    def cycles_covered_by_intervals(self, since: int, until: int) -> int:
        """Returns how many cycles of the spans are between two cycles."""
        indices = self.spin_wait_indices_between_cycles(since, until)
        if not indices:
            return 0
        whole = self._sums[indices.stop] - self._sums[indices.start]
        return whole - max(0, since - self.begins[indices.start]) - max(0, self.ends[indices.stop - 1] - until)

    def spin_wait_indices_between_cycles(self, since: int, until: int) -> range:
        """Returns the indices of the spans between two cycles, wholly or in part."""
        return range(bisect_right(self.ends, since), bisect_left(self.begins, until))


def kernel_lock_wait_spans(events: Iterable[tuple[int, int, int]]) -> DisjointCycleIntervals:
    """Returns the spans in which one core waited for kernel locks, from (cycle, kind, lock) events.
    A wait at the run's end is left out.
    """
    waiting: dict[int, int] = {}
    spans: list[tuple[int, int]] = []
    for cycle, kind, lock in events:
        if kind == KIND_LOCK_BUSY:
            waiting.setdefault(lock, cycle)
        elif kind == KIND_LOCK_TAKEN and lock in waiting:
            spans.append((waiting.pop(lock), cycle))
    spans.sort()
    return DisjointCycleIntervals(tuple(begin for begin, _ in spans), tuple(end for _, end in spans))
