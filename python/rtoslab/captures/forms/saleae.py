"""Saleae's digital CSV: a row where any channel changes, its time in seconds first.

Logic 1 heads it `Time[s], Channel 0, Channel 1`, with blanks and 15 places. Logic 2 `Time [s],Channel 0,Channel 1`,
with 9 places, `X` where a channel was not recorded, or times by the calendar (ISO 8601). Both are read, Logic 2's is
written.
"""

import csv
import re
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from rtoslab.base import CaptureError, count_with_noun
from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture, merge_logic_channel_level_changes
from rtoslab.captures.csv_cells import csv_row_reader, is_decimal_number, non_empty_rows, with_decimal_point
from rtoslab.captures.tracks import (
    LogicChannelBuilderSet,
    RepeatedCaptureRowCounter,
    count_decimal_places,
    require_tick_fits_64_bits,
)
from rtoslab.intake import CAPTURE_ROWS, parse_seconds_as_ticks, quote_text

SUFFIX: Final = ".csv"
ABOUT: Final = "Saleae CSV (Logic 1 and 2)"
PLACES: Final = 12
"""Decimal places that are read: picoseconds. Further places of Logic 1 are zeros."""
WRITTEN_PLACES: Final = 9
_RATE: Final = Fraction(10**PLACES)
_HEAD: Final = re.compile(rb"(\xef\xbb\xbf)?\"?Time ?\[s\]\"?[ ]*([,;\t])")
_CALENDAR: Final = re.compile(r"([-\d]{1,10}T[\d:]{1,8})(?:\.(\d{1,12}))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_LEVELS: Final = {"0": 0, "1": 1, "X": UNKNOWN, "": UNKNOWN}


def recognises_format(head: bytes) -> bool:
    """Whether the first bytes of a file are those of Saleae's digital CSV: a time column, then levels and not
    voltages."""
    return _HEAD.match(head) is not None and not _has_voltages(head)


def _has_voltages(head: bytes) -> bool:
    """Whether a third of the complete rows at the begin of a CSV have a cell that is a number with decimal places."""
    lines = head.decode("utf-8", "replace").splitlines()[:-1]
    rows = list(csv.reader(lines[1:], delimiter=_column_separator(head), skipinitialspace=True))
    voltages = [
        any(is_decimal_number(cell) and not cell.strip().isdecimal() for cell in row[1:]) for row in rows if row
    ]
    return bool(voltages) and 3 * sum(voltages) >= len(voltages)


def _column_separator(head: bytes) -> str:
    """Returns the separator of the columns in Saleae's head line, or a comma."""
    match = _HEAD.match(head)
    return match[2].decode() if match else ","


def decode_capture(data: bytes, name: str) -> LogicLevelCapture:
    """Returns the capture in a CSV of Saleae's Logic 1 or 2. Raises CaptureError for an unreadable or incomplete row,
    or too many."""
    rows = csv_row_reader(data, name, _column_separator(data[:64]))
    try:
        return _capture_from_rows(rows, name)
    except csv.Error as cause:
        raise CaptureError(
            f"{name}, line {rows.line_num}: it is not a row of comma-separated values ({cause}); export it again."
        ) from None


def _capture_from_rows(rows: Any, name: str) -> LogicLevelCapture:
    """Returns the capture in the rows of Saleae's CSV. `rows` is a csv.reader, whose type has no name."""
    tracks = LogicChannelBuilderSet(name)
    columns = [tracks.add_logic_channel(item.strip()) for item in next(rows)[1:]]
    clock: _SaleaeRowTimeConverter | None = None
    before: list[str] = []
    last, repeats, places = 0, RepeatedCaptureRowCounter(name), _TimestampDecimalPlacesChecker()
    for number, row in enumerate(non_empty_rows(rows, name)):
        where = f"{name}, line {rows.line_num}"
        if len(row) != len(columns) + 1:
            raise CaptureError(
                f"{where}: {len(row)} columns instead of {len(columns) + 1}; the file may be "
                "truncated, so export it again."
            )
        if number >= CAPTURE_ROWS:
            raise CaptureError(f"{name} has more than {CAPTURE_ROWS:,} rows; export a shorter part.")
        time = with_decimal_point(row[0])
        clock = clock or _SaleaeRowTimeConverter(time, where)
        tick = clock.parse_time(time, where)
        places.require_same_decimal_places(time, where)
        if tick < last:
            raise CaptureError(f"{where}: the time is earlier than in the row before; export it again.")
        if number and tick == last:
            repeats.count_csv_row_with_repeated_time(rows.line_num)
        last, cells = tick, row[1:]
        repeats.increment_capture_row_count(rows.line_num, is_repeat=cells == before)
        if cells != before:
            tracks.count_stored_logic_levels(
                sum(
                    columns[place].set_logic_level_from_sample_tick(tick, _parse_logic_level(cell, where))
                    for place, cell in enumerate(cells)
                    if not before or cell != before[place]
                )
            )
            before = cells
    if clock is None:
        raise CaptureError(f"{name} has a header but no row; export it again.")
    return tracks.to_capture(Fraction(1, 10**PLACES), last, repeats.capture_damage_sentences())


class _TimestampDecimalPlacesChecker:
    """Checks that all times of a file have the same number of decimal places, as both versions write them."""

    def __init__(self) -> None:
        self._usual: int | None = None

    def require_same_decimal_places(self, text: str, where: str) -> None:
        """Raises CaptureError for a time with another number of places than the first row's."""
        places = count_decimal_places(text, where)
        if self._usual is None:
            self._usual = places
        if places != self._usual:
            raise CaptureError(
                f"{where}: the time {quote_text(text)} has {count_with_noun(places, 'decimal place')}, the times "
                f"before have {self._usual}; a digit was lost or added, so export it again."
            )


def _parse_logic_level(cell: str, where: str) -> int:
    """Returns the level in a cell: 0, 1 or `UNKNOWN`. Raises CaptureError with the place `where` for other text."""
    level = _LEVELS.get(cell.strip().upper())
    if level is None:
        raise CaptureError(f"{where}: {quote_text(cell)} is not a logic level; export only the digital channels.")
    return level


class _SaleaeRowTimeConverter:
    """Converts the times of Saleae's CSV to ticks since its first row. All are in seconds, or all are dates in one time
    zone."""

    def __init__(self, text: str, where: str) -> None:
        self._is_calendar = "T" in text
        self._first_second, self._first_tick = datetime(1970, 1, 1), 0
        if self._is_calendar:
            self._first_second = self._parse_date(text, where)[0]
        self._first_tick = self._timestamp_in_picoseconds(text, where)

    def parse_time(self, text: str, where: str) -> int:
        """Returns a time as picoseconds since the first row. Raises CaptureError."""
        return require_tick_fits_64_bits(self._timestamp_in_picoseconds(text, where) - self._first_tick, where)

    def _timestamp_in_picoseconds(self, text: str, where: str) -> int:
        """Returns a time in picoseconds. A date counts from the first second of the file."""
        if not self._is_calendar:
            return _parse_picoseconds(text, where)
        second, fraction = self._parse_date(text, where)
        if (second.tzinfo is None) != (self._first_second.tzinfo is None):
            raise CaptureError(f"{where}: some times have a time zone and some do not; export it again.")
        return (second - self._first_second) // timedelta(seconds=1) * 10**PLACES + fraction

    @staticmethod
    def _parse_date(text: str, where: str) -> tuple[datetime, int]:
        """Returns a date as its whole second and the picoseconds in it, because Python's times have microseconds
        only."""
        match = _CALENDAR.fullmatch(text.strip())
        try:
            second = datetime.fromisoformat(match[1] + (match[3] or "").replace("Z", "+00:00")) if match else None
        except ValueError:
            second = None
        if match is None or second is None:
            raise CaptureError(
                f"{where}: {quote_text(text)} is not a time; the file may be truncated, so export it again."
            )
        return second, int((match[2] or "0").ljust(PLACES, "0"))


def _parse_picoseconds(text: str, where: str) -> int:
    """Returns a time in seconds as picoseconds. Raises CaptureError with the place `where` if it is no time."""
    try:
        return parse_seconds_as_ticks(text.strip(), _RATE)
    except ValueError as cause:
        raise CaptureError(
            f"{where}: {quote_text(text)} is not a time in seconds ({cause}); the file may be truncated, so export "
            "it again."
        ) from None


def encode_capture(capture: LogicLevelCapture) -> bytes:
    """Returns a CSV as Saleae's Logic 2 writes it, with times in nanoseconds. A last row marks the end of the
    capture."""
    ticks, levels = merge_logic_channel_level_changes(capture)
    rows = [",".join(["Time [s]", *(channel.name for channel in capture.channels)])]
    last = levels[-1] if len(levels) else []
    ends = [] if len(ticks) and ticks[-1] == capture.end_tick else [(capture.end_tick, last)]
    for tick, row in [*zip(ticks.tolist(), levels, strict=True), *ends]:
        nanoseconds = round(tick * capture.tick_s * 10**WRITTEN_PLACES)
        time = f"{nanoseconds // 10**WRITTEN_PLACES}.{nanoseconds % 10**WRITTEN_PLACES:0{WRITTEN_PLACES}d}"
        rows.append(",".join([time, *("X" if level == UNKNOWN else str(level) for level in row)]))
    return "\n".join(rows).encode() + b"\n"
