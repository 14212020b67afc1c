"""Finds intervals between edges: how long a channel was high, each time. The one decoder of virtual and real
captures."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import count_with_noun
from rtoslab.captures.capture import LogicChannel


@dataclass(frozen=True, slots=True)
class PulseTrain:
    """The pulses of a channel in the order of time, without those that the begin or end of the capture cuts."""

    tick_s: Fraction
    start_ticks: NDArray[np.int64]
    width_ticks: NDArray[np.int64]
    """How long each pulse was high."""
    unsure_ticks: NDArray[np.int64]
    """Ticks where a level was unknown, so that a pulse of unknown width may be there."""
    sample_s: Fraction | None = None
    """Interval between the samples, if a tick is shorter."""

    @property
    def resolution_s(self) -> Fraction:
        """Returns the largest error of a pulse's width in seconds: a sample, else a tick."""
        return self.tick_s if self.sample_s is None else self.sample_s

    def pulse_widths_in_cycles(self, clock_hz: int) -> NDArray[np.float64]:
        """Returns the width of each pulse in cycles of a clock of this frequency."""
        return self.width_ticks.astype(np.float64) * float(self.tick_s * clock_hz)

    def pulse_widths_in_seconds(self) -> NDArray[np.float64]:
        """Returns the width of each pulse in seconds."""
        return self.width_ticks.astype(np.float64) * float(self.tick_s)

    def last_pulses(self, count: int) -> "PulseTrain":
        """Returns only the last `count` of the pulses."""
        first = max(0, len(self.width_ticks) - count)
        return self.select_pulses(np.arange(first, len(self.width_ticks)))

    def select_pulses(self, places: NDArray[np.int64]) -> "PulseTrain":
        """Returns the pulses at these indices, with all unsure ticks."""
        return PulseTrain(
            self.tick_s, self.start_ticks[places], self.width_ticks[places], self.unsure_ticks, self.sample_s
        )


def find_pulses(channel: LogicChannel, tick_s: Fraction, sample_s: Fraction | None = None) -> PulseTrain:
    """Returns the pulses of a channel: the times in which it is high between two known low levels."""
    lows = np.flatnonzero(channel.levels == 0)
    befores, afters = lows[:-1], lows[1:]
    # Levels alternate unless one is unknown, so between two lows stands one high, or something unknown.
    highs = befores[(afters - befores == 2) & (channel.levels[befores + 1] == 1)] + 1
    rises, falls = channel.ticks[highs], channel.ticks[highs + 1]
    return PulseTrain(tick_s, rises, falls - rises, _first_unknown_tick_between_low_levels(channel, lows), sample_s)


def _first_unknown_tick_between_low_levels(channel: LogicChannel, lows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the first tick with an unknown level between each two low levels. `lows` are the indices of the low
    levels."""
    unknown = channel.ticks_where_level_becomes_unknown()
    intervals = np.searchsorted(channel.ticks[lows], unknown)
    return unknown[np.unique(intervals, return_index=True)[1]]


def unknown_pulse_width_sentence(channel: LogicChannel, tick_s: Fraction) -> str | None:
    """Returns a sentence about a channel's pulses of unknown width. None if there are none."""
    unsure = find_pulses(channel, tick_s).unsure_ticks
    if not len(unsure):
        return None
    return (
        f"The level of {channel.name} is unknown (x or z) in {count_with_noun(len(unsure), 'place')}, first at "
        f"{float(unsure[0] * tick_s) * 1e6:,.3f} us; pulses there are not counted, because their width is not "
        "certain."
    )
