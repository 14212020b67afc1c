"""Saleae's digital CSV: a row where any channel changes, its time in seconds first.

Logic 1 heads it `Time[s], Channel 0, Channel 1`, with blanks and 15 places; Logic 2 `Time [s],Channel 0,Channel 1`,
with 9 places, `X` where a channel was not recorded, or times by the calendar (ISO 8601). Both are read, Logic 2's is
written.
"""

import csv
import io
import re
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

from rtoslab.captures.capture import UNKNOWN, Capture, channel_of, merged
from rtoslab.errors import CaptureError

SUFFIX: Final = ".csv"
ABOUT: Final = "Saleae CSV (Logic 1 and 2)"
PLACES: Final = 12
"""Of what is read: picoseconds. Logic 1's further places are zeros."""
WRITTEN_PLACES: Final = 9
_LEVELS: Final = {"0": 0, "1": 1, "X": UNKNOWN, "": UNKNOWN}


def recognises(head: bytes) -> bool:
    """The head's first column."""
    return re.match(rb"(\xef\xbb\xbf)?\"?Time ?\[s\]\"?\s*,", head) is not None


def read(data: bytes, name: str) -> Capture:
    """Raises CaptureError: a row that cannot be read, or is cut short."""
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig")), skipinitialspace=True))
    except (UnicodeDecodeError, csv.Error) as cause:
        raise CaptureError(f"{name} is no text of comma-separated values ({cause}).") from None
    names = [each.strip() for each in rows[0][1:]]
    times: list[int] = []
    columns: list[list[int]] = [[] for _ in names]
    first: datetime | None = None
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) != len(names) + 1:
            raise CaptureError(
                f"{name}, line {number}: {len(row)} columns instead of {len(names) + 1}; is it cut short?"
            )
        if first is None and "T" in row[0]:
            first = _calendar(row[0], name, number)[0]
        times.append(_picoseconds(row[0], first, name, number))
        if len(times) > 1 and times[-1] < times[-2]:
            raise CaptureError(f"{name}, line {number}: the time goes back; export it again.")
        for column, text in zip(columns, row[1:], strict=True):
            level = _LEVELS.get(text.strip().upper())
            if level is None:
                raise CaptureError(f"{name}, line {number}: {text!r} is no level; export the digital channels only.")
            column.append(level)
    if not times:
        raise CaptureError(f"{name} has a head, but no row; export it again.")
    zero = times[0]
    ticks = [each - zero for each in times]
    channels = tuple(channel_of(label, ticks, levels) for label, levels in zip(names, columns, strict=True))
    return Capture(Fraction(1, 10**PLACES), channels, ticks[-1])


def _picoseconds(text: str, first: datetime | None, name: str, line: int) -> int:
    if first is not None:
        second, fraction = _calendar(text, name, line)
        return (second - first) // timedelta(seconds=1) * 10**PLACES + fraction
    try:
        return int((Decimal(text.strip()) * 10**PLACES).to_integral_value())
    except (InvalidOperation, ValueError, OverflowError):
        raise CaptureError(f"{name}, line {line}: {text!r} is no time in seconds; is it cut short?") from None


def _calendar(text: str, name: str, line: int) -> tuple[datetime, int]:
    """The whole second and the picoseconds in it: Python's own times hold microseconds only."""
    found = re.fullmatch(r"\s*([-\d]+T[\d:]+)(?:\.(\d{1,12}))?(Z|[+-]\d\d:\d\d)?\s*", text)
    try:
        second = datetime.fromisoformat(found[1] + (found[3] or "").replace("Z", "+00:00")) if found else None
    except ValueError:
        second = None
    if found is None or second is None:
        raise CaptureError(f"{name}, line {line}: {text!r} is no time; is it cut short?")
    return second, int((found[2] or "0").ljust(PLACES, "0"))


def write(capture: Capture) -> bytes:
    """As Logic 2, to the nanosecond; a last row tells where the capture ends."""
    ticks, levels = merged(capture)
    rows = [",".join(["Time [s]", *(each.name for each in capture.channels)])]
    last = levels[-1] if len(levels) else []
    ends = [] if len(ticks) and ticks[-1] == capture.end_tick else [(capture.end_tick, last)]
    for tick, row in [*zip(ticks.tolist(), levels, strict=True), *ends]:
        nanoseconds = round(tick * capture.tick_s * 10**WRITTEN_PLACES)
        time = f"{nanoseconds // 10**WRITTEN_PLACES}.{nanoseconds % 10**WRITTEN_PLACES:0{WRITTEN_PLACES}d}"
        rows.append(",".join([time, *("X" if level == UNKNOWN else str(level) for level in row)]))
    return "\n".join(rows).encode() + b"\n"
