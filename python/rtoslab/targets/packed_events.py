"""The virtual board's packed events without numpy, for commands that start without it. `events` has them for numpy."""

import struct
from collections.abc import Iterator
from typing import Final

from rtoslab.targets.board import simulator_module

_EVENT: Final = struct.Struct("<QIIHBBI")

EventRow = tuple[int, int, int, int, int, int, int]
"""Cycle, value, pc, identity, kind, core and zero. See `_sim.pyi`."""


def unpack_events(events: bytes) -> Iterator[EventRow]:
    """Yields the fields of each packed event of the virtual board: cycle, value, pc, number of the probe, kind, core,
    zero."""
    return _EVENT.iter_unpack(events)


def events_in_time_order(events: bytes, other_than: int | None = None) -> bytes:
    """Returns packed events in the order of time, without those that have the probe number `other_than`."""
    ordered: bytes = simulator_module().order_events(events, other_than)
    return ordered


def latest_event_of_each_probe(events: bytes, other_than: int | None = None) -> bytes:
    """Returns the last event of each kind, core and probe number, in the order of time, without those with the number
    `other_than`."""
    latest: bytes = simulator_module().latest_events(events, other_than)
    return latest
