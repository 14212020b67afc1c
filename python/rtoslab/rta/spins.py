"""How long a core waited for the kernel's locks: from a read that finds one taken to the one that gets it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

BUSY = 9
"""Kinds of events of the virtual board, see `_sim.pyi`. Here they are the observer's, not in order with the others."""
TAKEN = 10


@dataclass(frozen=True)
class Spins:
    """The spins of one core in the order of time. None of them overlaps another."""

    begins: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    _sums: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lengths = (end - begin for begin, end in zip(self.begins, self.ends, strict=True))
        object.__setattr__(self, "_sums", (0, *accumulate(lengths)))

    def within(self, since: int, until: int) -> int:
        """Cycles of waiting between two cycles."""
        met = self.meeting(since, until)
        if not met:
            return 0
        whole = self._sums[met.stop] - self._sums[met.start]
        return whole - max(0, since - self.begins[met.start]) - max(0, self.ends[met.stop - 1] - until)

    def meeting(self, since: int, until: int) -> range:
        """Which of them are in between, in part or whole."""
        return range(bisect_right(self.ends, since), bisect_left(self.begins, until))


def spins_of(events: Iterable[tuple[int, int, int]]) -> Spins:
    """Collects the spins of one core from (cycle, kind, lock) in the order of time. A wait at the run's end is left
    out."""
    waiting: dict[int, int] = {}
    spins: list[tuple[int, int]] = []
    for cycle, kind, lock in events:
        if kind == BUSY:
            waiting.setdefault(lock, cycle)
        elif kind == TAKEN and lock in waiting:
            spins.append((waiting.pop(lock), cycle))
    spins.sort()
    return Spins(tuple(begin for begin, _ in spins), tuple(end for _, end in spins))
