"""Edges of digital channels over time: what every file form is read into and written from."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError

UNKNOWN: Final = -1
"""The level before the first one that is known."""


@dataclass(frozen=True, slots=True)
class LogicChannel:
    """One wire: a row of tick and level for each change. A level lasts until the next row."""

    name: str
    ticks: NDArray[np.int64]
    """The tick at which each level of `levels` begins, ascending."""
    levels: NDArray[np.int8]
    """0, 1, or `UNKNOWN` (an analyzer's x or z)."""

    def logic_level_changes(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Returns the ticks and the new levels of all changes between 0 and 1. A level after an unknown one is no
        edge."""
        changed = (self.levels[1:] != self.levels[:-1]) & (self.levels[1:] != UNKNOWN) & (self.levels[:-1] != UNKNOWN)
        return self.ticks[1:][changed], self.levels[1:][changed]

    def ticks_where_level_becomes_unknown(self) -> NDArray[np.int64]:
        """Returns the ticks at which the channel's level becomes unknown between two known levels."""
        known = np.flatnonzero(self.levels != UNKNOWN)
        if not len(known):
            return self.ticks[:0]
        ticks, levels = self.ticks[known[0] : known[-1]], self.levels[known[0] : known[-1]]
        unknown: NDArray[np.int64] = ticks[levels == UNKNOWN]
        return unknown


@dataclass(frozen=True, slots=True)
class LogicLevelCapture:
    """Logic levels of several channels, recorded together. `end_tick` is the first tick that was not recorded any
    more."""

    tick_s: Fraction
    """Length of a tick in seconds: the form's resolution, or an analyzer's sample."""
    channels: tuple[LogicChannel, ...]
    end_tick: int
    notes: tuple[str, ...] = ()
    """Sentences about possible damage that the reader noticed."""
    sample_s: Fraction | None = None
    """Interval between the samples, where the times of edges are interpolated or stored more finely than that."""

    def find_logic_channel(self, name: str | None) -> LogicChannel:
        """Returns the channel with this name. Without a name, returns the only channel that has an edge. Raises
        CaptureError."""
        if name is not None:
            match = next((channel for channel in self.channels if channel.name == name), None)
            if match is None:
                raise CaptureError(f"There is no channel {name!r}; the capture has {_channel_names(self.channels)}.")
            return match
        lively = [channel for channel in self.channels if len(channel.logic_level_changes()[0])]
        if len(lively) != 1:
            which = (
                f"{_channel_names(lively)} have edges"
                if lively
                else f"none of {_channel_names(self.channels)} has an edge"
            )
            raise CaptureError(f"The capture has several channels, and {which}; choose one with --channel.")
        return lively[0]


def _channel_names(channels: Sequence[LogicChannel]) -> str:
    """Returns the names of channels as text for messages."""
    return ", ".join(channel.name for channel in channels) or "no channel"


def build_channel_from_levels(name: str, ticks: Sequence[int], levels: Sequence[int]) -> LogicChannel:
    """Returns a channel with these levels, each from its tick on. Repetitions of the level are left out."""
    at, to = np.asarray(ticks, np.int64), np.asarray(levels, np.int8)
    fresh = np.concatenate(([True], to[1:] != to[:-1])) if len(to) else np.zeros(0, bool)
    return LogicChannel(name, at[fresh], to[fresh])


def require_known_logic_levels(capture: LogicLevelCapture, form: str) -> None:
    """Raises CaptureError if a level between two known ones is unknown, for file formats that would store it as 0.
    `form` names the format."""
    for channel in capture.channels:
        unknown = channel.ticks_where_level_becomes_unknown()
        if len(unknown):
            raise CaptureError(
                f"{form} cannot store that the level of {channel.name} is unknown at tick {unknown[0]}; write VCD "
                "or Saleae CSV of Logic 2."
            )


def merge_logic_channel_level_changes(capture: LogicLevelCapture) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Returns the ticks at which any channel changes, and the levels of all channels at each of them (rows by
    channels)."""
    ticks = np.unique(np.concatenate([channel.ticks for channel in capture.channels] or [np.zeros(0, np.int64)]))
    levels = np.full((len(ticks), len(capture.channels)), UNKNOWN, np.int8)
    for column, item in enumerate(capture.channels):
        place = np.searchsorted(item.ticks, ticks, side="right") - 1
        levels[place >= 0, column] = item.levels[place[place >= 0]]
    return ticks, levels
