"""From edges to intervals: how long a channel was high, each time. The one decoder of virtual and real captures."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rtoslab.captures.capture import Channel


@dataclass(frozen=True, slots=True)
class Pulses:
    """In the order of time; only whole ones: a pulse that began before the capture, or did not end in it, is none."""

    tick_s: Fraction
    start_ticks: NDArray[np.int64]
    ticks: NDArray[np.int64]
    """How long each was high."""

    def cycles(self, clock_hz: int) -> NDArray[np.float64]:
        """Lengths in cycles of a clock."""
        return self.ticks.astype(np.float64) * float(self.tick_s * clock_hz)

    def seconds(self) -> NDArray[np.float64]:
        """Lengths."""
        return self.ticks.astype(np.float64) * float(self.tick_s)

    def last(self, count: int) -> "Pulses":
        """The last ones."""
        first = max(0, len(self.ticks) - count)
        return Pulses(self.tick_s, self.start_ticks[first:], self.ticks[first:])


def find_pulses(channel: Channel, tick_s: Fraction) -> Pulses:
    """The pulses of a channel."""
    ticks, levels = channel.edges()
    if len(levels) and levels[0] == 0:
        ticks, levels = ticks[1:], levels[1:]
    whole = len(ticks) // 2 * 2
    rises, falls = ticks[0:whole:2], ticks[1:whole:2]
    # Where the level was unknown in between, two edges in a row may go the same way: such a pair is no pulse.
    proper = (levels[0:whole:2] == 1) & (levels[1:whole:2] == 0)
    return Pulses(tick_s, rises[proper], (falls - rises)[proper])
