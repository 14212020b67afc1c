"""Channels as a reader fills them, row by row, within the limits on what is taken from outside."""

import re
from array import array
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError, count_with_noun
from rtoslab.captures.capture import LogicChannel, LogicLevelCapture
from rtoslab.intake import CHANGES, CHANNELS, LAST_TICK, quote_text

_PLACES: Final = re.compile(r"[^.]*(?:\.(\d*))?", re.ASCII)
_MOST_PLACES: Final = 18
"""Attoseconds."""


class LogicChannelLevelBuilder:
    """The levels of one channel while a file is read. A repeated level is not stored. The last of several levels at one
    tick counts."""

    __slots__ = ("levels", "ticks")

    def __init__(self) -> None:
        self.ticks = array("q")
        self.levels = array("b")

    def set_logic_level_from_sample_tick(self, tick: int, level: int) -> int:
        """Sets the level from a tick on, which is not before the last call's. Returns how many stored levels were
        added: -1, 0 or 1."""
        if not self.levels:
            self.ticks.append(tick)
            self.levels.append(level)
            return 1
        if self.levels[-1] == level:
            return 0
        if self.ticks[-1] != tick:
            self.ticks.append(tick)
            self.levels.append(level)
            return 1
        if len(self.levels) > 1 and self.levels[-2] == level:
            self.ticks.pop()
            self.levels.pop()
            return -1
        self.levels[-1] = level
        return 0


class RepeatedCaptureRowCounter:
    """Counts the rows of a file of changes in which no level changes, or before which no time passes."""

    def __init__(self, name: str) -> None:
        """`name` is the file's, for the note."""
        self._name = name
        self._first_line = 0
        self._count = 0
        self._is_last = False
        self._same_time_line = 0
        self._same_times = 0

    def count_csv_row_with_repeated_time(self, line: int) -> None:
        """Counts a row with the time of the row before it."""
        self._same_times += 1
        self._same_time_line = self._same_time_line or line

    def increment_capture_row_count(self, line: int, *, is_repeat: bool) -> None:
        """Counts the next row of the file. `is_repeat` tells that it repeats the levels before."""
        self._is_last = is_repeat
        self._count += is_repeat
        if is_repeat and not self._first_line:
            self._first_line = line

    def capture_damage_sentences(self) -> tuple[str, ...]:
        """Returns sentences about possible damage: one if a row other than the last repeats the levels, one if times
        are repeated."""
        notes: list[str] = []
        if count := self._count - self._is_last:
            where = (
                f"{self._name}: no level changes in {count_with_noun(count, 'row')}, first in line {self._first_line}"
            )
            notes.append(f"{where}; this row or the row before may be damaged.")
        if self._same_times:
            rows = count_with_noun(self._same_times, "row")
            where = f"{self._name}: no time passes before {rows}, first before line {self._same_time_line}"
            notes.append(f"{where}; this row or the row before may be damaged.")
        return tuple(notes)


class LogicChannelBuilderSet:
    """All channels of a file that is being read. `name` is the file's, for messages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._tracks: dict[str, LogicChannelLevelBuilder] = {}
        self._twins: dict[str, int] = {}
        self._rows = 0

    def add_logic_channel(self, label: str) -> LogicChannelLevelBuilder:
        """Adds a channel and returns its levels. Its name gets a number if another one has it. Raises CaptureError if
        there are too many."""
        track = self._tracks[self._unique_channel_name(label)] = LogicChannelLevelBuilder()
        return track

    def _unique_channel_name(self, label: str) -> str:
        """Returns the label as a channel's name, with a number if another channel has it."""
        if len(self._tracks) >= CHANNELS:
            raise CaptureError(f"{self.name} has more than {CHANNELS:,} channels or bits; export fewer.")
        unique = label
        while unique in self._tracks:
            number = self._twins[label] = self._twins.get(label, 1) + 1
            unique = f"{label}~{number}"
        return unique

    def __contains__(self, label: str) -> bool:
        """Whether there is a channel with this name."""
        return label in self._tracks

    @property
    def logic_channel_names(self) -> list[str]:
        """Returns the names of the channels, in order."""
        return list(self._tracks)

    def count_stored_logic_levels(self, rows: int) -> None:
        """Adds to the number of stored levels of all channels. Raises CaptureError if there are too many."""
        self._rows += rows
        if self._rows > CHANGES:
            raise too_many_level_changes_error(self.name)

    def to_capture(self, tick_s: Fraction, end_tick: int, notes: tuple[str, ...] = ()) -> LogicLevelCapture:
        """Returns the capture of all channels. `end_tick` is the first tick that was not recorded."""
        channels = tuple(
            LogicChannel(label, _level_change_ticks_of_channel(track), _channel_level_array(track))
            for label, track in self._tracks.items()
        )
        return LogicLevelCapture(tick_s, channels, end_tick, notes)


def append_numbers_to_repeated_labels(name: str, labels: Iterable[str]) -> list[str]:
    """Returns the labels, with a number after each repeated one. Raises CaptureError for too many."""
    tracks = LogicChannelBuilderSet(name)
    for label in labels:
        tracks.add_logic_channel(label)
    return tracks.logic_channel_names


def too_many_level_changes_error(name: str) -> CaptureError:
    """Returns the error for a file with too many changes of level."""
    return CaptureError(f"{name} contains more than {CHANGES:,} changes of level; export a shorter part.")


def count_decimal_places(time: str, where: str) -> int:
    """Returns how many digits a time has after its decimal point. Raises CaptureError for more than any analyzer
    writes."""
    match = _PLACES.match(time)
    places = len(match[1] or "") if match else 0
    if places > _MOST_PLACES:
        raise CaptureError(
            f"{where}: the time {quote_text(time.strip())} has {places} decimal places, more than an analyzer can "
            "measure; export it again."
        )
    return places


def require_tick_fits_64_bits(tick: int, where: str) -> int:
    """Returns the tick if its differences fit 64 bits, else raises CaptureError."""
    if not -LAST_TICK < tick < LAST_TICK:
        raise CaptureError(f"{where}: the time since the first row does not fit into 64 bits; export it again.")
    return tick


def store_changed_channel_levels(
    tracks: LogicChannelBuilderSet,
    columns: Sequence[LogicChannelLevelBuilder],
    tick: int,
    last_levels: Sequence[int],
    levels: Sequence[int],
) -> None:
    """Sets the level of each channel that changed since the last row. Raises CaptureError for too many changes."""
    tracks.count_stored_logic_levels(
        sum(
            columns[place].set_logic_level_from_sample_tick(tick, to)
            for place, to in enumerate(levels)
            if not last_levels or last_levels[place] != to
        )
    )


def _level_change_ticks_of_channel(track: LogicChannelLevelBuilder) -> NDArray[np.int64]:
    """Returns the ticks of a channel's levels as an array."""
    return np.frombuffer(track.ticks, np.int64) if track.ticks else np.zeros(0, np.int64)


def _channel_level_array(track: LogicChannelLevelBuilder) -> NDArray[np.int8]:
    """Returns the levels of a channel as an array."""
    return np.frombuffer(track.levels, np.int8) if track.levels else np.zeros(0, np.int8)
