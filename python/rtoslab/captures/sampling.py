"""Simulates a logic analyzer of a given sample rate: edges move to samples, short pulses may vanish."""

import math
from fractions import Fraction

import numpy as np

from rtoslab.captures.capture import LogicChannel, LogicLevelCapture


def resample_as_logic_analyzer(
    capture: LogicLevelCapture, rate_hz: int, phase: Fraction = Fraction(0)
) -> LogicLevelCapture:
    """Returns the capture as a logic analyzer of this sample rate would record it. The first sample is `phase` of a
    sample after tick 0.

    A sample shows the level in force at its instant: an edge is seen in the first sample at or after it.
    """
    ratio = capture.tick_s * rate_hz

    def first_sample_after(tick: int) -> int:
        """Returns the number of the first sample at or after a tick."""
        return math.ceil(tick * ratio - phase)

    channels, end = [], first_sample_after(capture.end_tick)
    for channel in capture.channels:
        numbers = np.array([first_sample_after(int(tick)) for tick in channel.ticks], np.int64)
        last = np.concatenate((numbers[1:] != numbers[:-1], [True])) if len(numbers) else np.zeros(0, bool)
        last &= numbers < end
        numbers, levels = numbers[last], channel.levels[last]
        changed = np.concatenate(([True], levels[1:] != levels[:-1])) if len(levels) else np.zeros(0, bool)
        channels.append(LogicChannel(channel.name, numbers[changed], levels[changed]))
    return LogicLevelCapture(Fraction(1, rate_hz), tuple(channels), end, capture.notes)


def round_times_to_samples(capture: LogicLevelCapture, rate_hz: int) -> LogicLevelCapture:
    """Returns a capture with its times in whole samples, for a file that rounds times to its own unit.

    Exact where the unit is a sample, or less than half of one. The sample of the last edge was recorded, also where the
    file ends with it.
    """
    ratio = float(capture.tick_s * rate_hz)
    channels = tuple(
        LogicChannel(channel.name, np.rint(channel.ticks * ratio).astype(np.int64), channel.levels)
        for channel in capture.channels
    )
    last = max((int(channel.ticks[-1]) for channel in channels if len(channel.ticks)), default=-1)
    return LogicLevelCapture(
        Fraction(1, rate_hz), channels, max(round(capture.end_tick * ratio), last + 1), capture.notes
    )
