"""Saleae's binary export of Logic 2, one file for each digital channel: the times of its changes.

Little-endian, after `<SALEAE>`, version and type as int32 (type 0 is digital). Version 0: the first level (uint32),
begin and end in seconds (doubles), the number of changes (uint64), their times (doubles). Version 1: the number of
parts (uint64), and for each part the same fields, with the sample rate (double) after the level. Nothing was recorded
between two parts.
"""

import re
import struct
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePath
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError, count_with_noun
from rtoslab.captures.capture import (
    UNKNOWN,
    LogicChannel,
    LogicLevelCapture,
    build_channel_from_levels,
    require_known_logic_levels,
)
from rtoslab.captures.tracks import require_tick_fits_64_bits, too_many_level_changes_error
from rtoslab.intake import CHANGES

SUFFIX: Final = ".bin"
ABOUT: Final = "Saleae binary export (digital)"
_MAGIC: Final = b"<SALEAE>"
_KIND: Final = struct.Struct("<ii")
_PART: Final = struct.Struct("<IddQ")
_RATED_PART: Final = struct.Struct("<IdddQ")
_COUNT: Final = struct.Struct("<Q")
_PICOSECONDS: Final = 10**12
_LATEST_S: Final = 2.0**62 / _PICOSECONDS
_MOST_PARTS: Final = 100_000
_NUMBERED: Final = re.compile(r"digital_(\d{1,4})", re.ASCII)


def recognises_format(head: bytes) -> bool:
    """Whether a file begins with the mark of Saleae's binary export."""
    return head.startswith(_MAGIC)


@dataclass(frozen=True, slots=True)
class _GaplessRecordingPart:
    """A part of a recording without a gap. Times are in picoseconds."""

    level: int
    begin: int
    end: int
    times: NDArray[np.int64]
    sample_s: Fraction | None


def decode_capture(data: bytes, name: str) -> LogicLevelCapture:
    """Returns the capture in Saleae's binary export of a digital channel. Raises CaptureError for another version or
    type, a wrong length, times out of order, or too many changes."""
    reader = _BinaryCaptureFieldReader(data, name)
    version, kind = reader.read_binary_struct_fields(_KIND)
    if kind != 0:
        raise CaptureError(f"{name} contains an analog channel (type {kind}); export digital channels, or CSV.")
    if version not in {0, 1}:
        raise CaptureError(f"{name} is a binary export of version {version}; versions 0 and 1 can be read.")
    count = int(reader.read_binary_struct_fields(_COUNT)[0]) if version == 1 else 1
    if count > _MOST_PARTS:
        raise CaptureError(f"{name} declares {count:,} parts, more than {_MOST_PARTS:,}; export a shorter time.")
    parts: list[_GaplessRecordingPart] = []
    while len(parts) < count:
        parts.append(
            _read_recording_part(reader, int(version), parts[-1].end if parts else None, f"part {len(parts) + 1}")
        )
    reader.require_end_of_file()
    if not parts:
        raise CaptureError(f"{name} contains no recorded part; export it again.")
    first = parts[0].begin
    samples = [part.sample_s for part in parts if part.sample_s is not None]
    return LogicLevelCapture(
        Fraction(1, _PICOSECONDS),
        (_join_gapless_recording_parts(parts, first, name),),
        require_tick_fits_64_bits(parts[-1].end - first, name),
        (),
        max(samples, default=None),
    )


class _BinaryCaptureFieldReader:
    """Reads the fields of Saleae's binary export one after the other."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._data, self._place = data, len(_MAGIC)

    def read_binary_struct_fields(self, fields: struct.Struct) -> tuple[int | float, ...]:
        """Returns the next fields of the file. Raises CaptureError if the file ends before."""
        self._require_remaining_bytes(fields.size)
        values = fields.unpack_from(self._data, self._place)
        self._place += fields.size
        return values

    def read_next_edge_times(self, count: int) -> NDArray[np.float64]:
        """Returns the next `count` doubles of the file. Raises CaptureError if the file ends before."""
        self._require_remaining_bytes(8 * count)
        values: NDArray[np.float64] = np.frombuffer(self._data, "<f8", count, self._place)
        self._place += 8 * count
        return values

    def _require_remaining_bytes(self, size: int) -> None:
        """Raises CaptureError if fewer than `size` bytes are left."""
        if len(self._data) - self._place < size:
            raise CaptureError(
                f"{self.name} ends after {len(self._data):,} bytes, but {self._place + size:,} are declared; copy or "
                "export it again."
            )

    def require_end_of_file(self) -> None:
        """Raises CaptureError if bytes are left in the file."""
        if (rest := len(self._data) - self._place) > 0:
            raise CaptureError(
                f"{self.name} has {count_with_noun(rest, 'byte')} after its last change; export it again."
            )


def _read_recording_part(
    reader: _BinaryCaptureFieldReader, version: int, after: int | None, which: str
) -> _GaplessRecordingPart:
    """Returns the next part of a recording, which must begin at or after the time `after`. `which` names it in
    messages."""
    name, sample_s = reader.name, None
    if version == 1:
        level, rate, begin, end, count = reader.read_binary_struct_fields(_RATED_PART)
        if not 0 < rate < float("inf"):
            raise CaptureError(f"{name}, {which}: its sample rate is {rate:g} Hz; export it again.")
        sample_s = 1 / Fraction(rate)
    else:
        level, begin, end, count = reader.read_binary_struct_fields(_PART)
    if level not in {0, 1}:
        raise CaptureError(f"{name}, {which}: its first level is {level}, not 0 or 1; export it again.")
    if count > CHANGES:
        raise too_many_level_changes_error(name)
    bounds = _to_picoseconds(np.array([begin, end]), f"{name}, {which}, its begin or end")
    if bounds[1] < bounds[0] or (after is not None and bounds[0] < after):
        raise CaptureError(
            f"{name}, {which}: it ends before it begins, or before the part before ends; export it again."
        )
    times = _to_picoseconds(reader.read_next_edge_times(int(count)), f"{name}, {which}, change")
    around = np.concatenate((bounds[:1], times, bounds[1:]))
    back = np.flatnonzero(around[1:] < around[:-1])
    if len(back):
        raise CaptureError(
            f"{name}, {which}, change {min(int(back[0]) + 1, len(times))}: the time is earlier than the change or the "
            "begin before it, or later than the end; export it again."
        )
    return _GaplessRecordingPart(int(level), int(bounds[0]), int(bounds[1]), times, sample_s)


def _to_picoseconds(seconds: NDArray[np.float64], where: str) -> NDArray[np.int64]:
    """Returns times in seconds as whole picoseconds. Raises CaptureError for the first one that is no time."""
    wrong = np.flatnonzero(~(np.abs(seconds) < _LATEST_S))
    if len(wrong):
        raise CaptureError(
            f"{where} {int(wrong[0]) + 1}: {seconds[wrong[0]]:g} is not a time in seconds; export it again."
        )
    return np.rint(seconds * float(_PICOSECONDS)).astype(np.int64)


def _join_gapless_recording_parts(parts: list[_GaplessRecordingPart], first: int, name: str) -> LogicChannel:
    """Returns the channel made of all parts of a recording, with unknown levels between them. `first` is the time of
    tick 0."""
    ticks: list[int] = []
    levels: list[int] = []
    for place, part in enumerate(parts):
        ticks += [part.begin - first, *(part.times - first).tolist()]
        levels += [part.level ^ (change & 1) for change in range(len(part.times) + 1)]
        if place + 1 < len(parts) and parts[place + 1].begin > part.end:
            ticks.append(part.end - first)
            levels.append(UNKNOWN)
    if len(ticks) > CHANGES:
        raise too_many_level_changes_error(name)
    stem = PurePath(name).stem
    match = _NUMBERED.fullmatch(stem)
    return build_channel_from_levels(f"Channel {match[1]}" if match else stem, ticks, levels)


def encode_capture(capture: LogicLevelCapture) -> bytes:
    """Returns Saleae's binary export, version 0. Raises CaptureError unless there is one channel, whose levels are
    known."""
    require_known_logic_levels(capture, ABOUT)
    if len(capture.channels) != 1:
        raise CaptureError(
            f"A binary export of Saleae contains one channel, but the capture has {len(capture.channels)}; choose "
            "another --form."
        )
    (channel,) = capture.channels
    known = channel.levels != UNKNOWN
    ticks, levels = channel.ticks[known], channel.levels[known]
    is_changed = np.concatenate(([False], levels[1:] != levels[:-1])) if len(levels) else np.zeros(0, bool)
    times = ticks[is_changed] * float(capture.tick_s)
    first = int(levels[0]) if len(levels) else 0
    begin, end = (float(tick * capture.tick_s) for tick in (int(ticks[0]) if len(ticks) else 0, capture.end_tick))
    head = _MAGIC + _KIND.pack(0, 0) + _PART.pack(first, begin, end, len(times))
    body: bytes = times.astype("<f8").tobytes()
    return head + body
