"""Cycles in critical sections of one core, from the writes of the kernel's word that counts how deep they are nested.

A section lasts from the write that makes the depth 1 to the one that makes it 0 again. The kernel counts once it has
its locks, so the waiting for them is outside. What the window cuts off at its end is left out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

"""Plus the core whose nesting depth the word is."""


@dataclass(frozen=True, slots=True)
class CriticalCycles:
    """Critical sections of one core in the window."""

    sections: int
    cycles: int
    longest_cycles: int


class CriticalSections:
    """Feeds on the writes of one core's nesting depth, keeps totals."""

    def __init__(self, opened_cycle: int, depth: int) -> None:
        """`depth` as the window opens; a section that is open then counts from `opened_cycle`."""
        self._since = opened_cycle
        self._depth = depth
        self._sections = self._cycles = self._longest = 0

    def feed(self, cycles: NDArray[np.uint64], depths: NDArray[np.uint32]) -> None:
        """The next writes in the order of time: when, and the depth from then on."""
        if not len(depths):
            return
        inside = np.concatenate(([self._depth > 0], depths > 0))
        turns = np.flatnonzero(inside[1:] != inside[:-1])
        times = cycles[turns].view(np.int64)
        if self._depth:
            times = np.concatenate(([self._since], times))
        starts, ends = times[::2], times[1::2]  # in turn: a section is over before the next one begins
        lengths = ends - starts[: len(ends)]
        if len(lengths):
            self._sections += len(lengths)
            self._cycles += int(lengths.sum())
            self._longest = max(self._longest, int(lengths.max()))
        self._depth = int(depths[-1])
        if len(starts) > len(ends):
            self._since = int(starts[-1])

    def total(self) -> CriticalCycles:
        """What was fed so far."""
        return CriticalCycles(self._sections, self._cycles, self._longest)
