"""The virtual board's pin edges as a capture: its tick is a cycle of the core's clock."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from rtoslab.captures.capture import LogicChannel, LogicLevelCapture
from rtoslab.targets import EVENT, KIND_PIN


def capture_from_events(raw: bytes, pins: Mapping[int, str], clock_hz: int, start: int, end: int) -> LogicLevelCapture:
    """Returns the pin edges in the virtual board's packed events between two cycles as a capture, with cycles as ticks.

    `pins` maps pin numbers to channel names. All pins are low at `start`.
    """
    events = np.frombuffer(raw, EVENT)
    edges = events[events["kind"] == KIND_PIN]
    channels = []
    for number, name in pins.items():
        mine = edges[edges["id"] == number]
        ticks = np.concatenate(([0], mine["cycle"].astype(np.int64) - start))
        levels = np.concatenate(([0], mine["value"].astype(np.int8))).astype(np.int8)
        fresh = np.concatenate(([True], levels[1:] != levels[:-1]))
        channels.append(LogicChannel(name, ticks[fresh], levels[fresh]))
    return LogicLevelCapture(Fraction(1, clock_hz), tuple(channels), end - start)
