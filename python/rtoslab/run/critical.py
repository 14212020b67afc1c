"""Cycles in critical sections of one core, from the probes on the kernel's functions that begin and end them.

A section lasts from the call that begins the outermost one to the call that ends it: the waiting for a lock is inside,
the way out of the last call is not. What the window cuts off at its end is left out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

IDENT_ENTER: Final = 2
IDENT_LEAVE: Final = 3


@dataclass(frozen=True, slots=True)
class CriticalCycles:
    """Critical sections of one core in the window."""

    sections: int
    cycles: int
    longest_cycles: int


class CriticalSections:
    """Feeds on the begin and end events of one core, keeps totals."""

    def __init__(self, opened_cycle: int) -> None:
        """`opened_cycle`: when the window opened; a section that was open then counts from there."""
        self._depth = 0
        self._since = opened_cycle
        self._sections = self._cycles = self._longest = 0

    def feed(self, cycles: NDArray[np.uint64], enters: NDArray[np.bool_]) -> None:
        """The next events in the order of time: when, and whether it begins a section (else it ends one)."""
        if not len(cycles):
            return
        depth = self._depth + np.cumsum(np.where(enters, 1, -1))
        missing = -min(0, int(depth.min()))  # sections that were open before the window was
        depth += missing
        before = np.concatenate(([self._depth + missing], depth[:-1]))
        times = cycles.astype(np.int64)
        starts, ends = times[(before == 0) & (depth == 1)], times[(before == 1) & (depth == 0)]
        if before[0] > 0:
            starts = np.concatenate(([self._since], starts))
        lengths = ends - starts[: len(ends)]
        if len(lengths):
            self._sections += len(lengths)
            self._cycles += int(lengths.sum())
            self._longest = max(self._longest, int(lengths.max()))
        self._depth = int(depth[-1])
        if len(starts) > len(ends):
            self._since = int(starts[-1])

    def total(self) -> CriticalCycles:
        """What was fed so far."""
        return CriticalCycles(self._sections, self._cycles, self._longest)
