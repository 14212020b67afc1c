"""Oscilloscopes' CSV: voltages of one or several channels, a row for each sample.

    x-axis,1,2                      InfiniiVision: names, units, then time and voltages
    second,Volt,Volt
    -1.0000E-06,+3.21E+00,+1.0E-02

    Record Length,Analog:14000      Siglent, Tektronix, LeCroy: settings, then the heads of the columns
    Second,Volt
    -0.00007000000,-0.19400

    X,CH1,Start,Increment,          Rigol: rows are numbered, the interval is in the head
    Sequence,Volt,-6.0e-03,1.0e-06
    0,3.20e+00,

    Record Length,2.500000e+03,,-0.00025,0.02     TDS: the settings are left of the first rows

Also read are Saleae's analog CSV, PicoScope's and WaveForms', and files that a spreadsheet saved again with other
separators and decimal commas.
"""

import csv
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError, count_with_noun
from rtoslab.captures.capture import LogicLevelCapture, merge_logic_channel_level_changes, require_known_logic_levels
from rtoslab.captures.csv_cells import (
    csv_row_reader,
    find_csv_cell_separator,
    is_decimal_number,
    non_empty_rows,
    with_decimal_point,
)
from rtoslab.captures.forms import saleae
from rtoslab.captures.sample_times import SampleInterval, find_sample_interval
from rtoslab.captures.tracks import append_numbers_to_repeated_labels
from rtoslab.captures.voltages import (
    LEAST_SWING_V,
    STEPS,
    VoltageThreshold,
    channel_from_voltages,
    channel_level_threshold,
)
from rtoslab.intake import CAPTURE_ROWS, CHANGES, CHANNELS, quote_text, to_exact_fraction

SUFFIX: Final = ".csv"
ABOUT: Final = "oscilloscope CSV (Keysight, Rigol, Siglent, Tektronix and others)"
WRITTEN_HIGH_V: Final = 3.3
MOST_VOLTS: Final = 10_000.0
_HEAD_ROWS: Final = 100
_TIME_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), Fraction(1, 10**3)),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), Fraction(1, 10**6)),
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), Fraction(1, 10**9)),
    **dict.fromkeys(("ps", "picosecond", "picoseconds"), Fraction(1, 10**12)),
}
_INDEX_UNITS: Final = {"sequence", "sample", "samples", "point", "points", "index"}
_TIME_WORD: Final = "(?:time|zeit|temps|tempo|tiempo|czas|tijd)"
"""The column's name in the languages in which programs of oscilloscopes come."""
_IN_BRACKETS: Final = re.compile(r"[(\[]\s*([^)\]]{1,20}?)\s*[)\]]\s*$|\bin (\w{1,12})$")
_TIME_HEAD: Final = re.compile(
    rf"(x-axis|x|{_TIME_WORD}\b.*|time_.*|in \w{{1,2}}|source|second|sequence|sample|index)\s*", re.IGNORECASE
)
_FIRST_CELL: Final = re.compile(
    rf"\s*\"?(x-axis|x|{_TIME_WORD} ?([(\[][^)\]]{{1,12}}[)\]])?|in \w{{1,2}}|source|second|record length"
    r"|sample interval)\"?\s*[,;\t]",
    re.IGNORECASE,
)
_VOLTS_AFTER_NUMBER: Final = re.compile(r"(?<=CH\d)V$")
_START: Final = re.compile(r"\s*t0\s*=", re.IGNORECASE)
_INCREMENT: Final = re.compile(r"\s*tinc\s*=\s*([-+.,\deE]{1,40}?)\s*s?\s*$", re.IGNORECASE)
_LENGTH: Final = re.compile(r"(?:analog:)?\s*(\d{1,9}(?:\.\d{0,9})?(?:e\+?\d{1,2})?)\s*", re.IGNORECASE)


def recognises_format(head: bytes) -> bool:
    """Whether the first bytes of a file are those of an oscilloscope's CSV: a line names a time column as oscilloscopes
    do."""
    if b"\0" in head or head.lstrip()[:1] in {b"$", b";"} or saleae.recognises_format(head):
        return False
    lines = head.decode("utf-8", "replace").splitlines()[:_HEAD_ROWS]
    return any(_FIRST_CELL.match(line) or "tInc =" in line for line in lines)


@dataclass(frozen=True, slots=True)
class _ColumnLayout:
    """The columns of an oscilloscope's CSV, by the rows before its samples."""

    skipped: int
    """Cells at the left of each row that are settings."""
    names: tuple[str, ...]
    factors: tuple[float, ...]
    """Volts of one unit of each channel."""
    time_unit: Fraction | None
    """Seconds of one unit of the first column. None: it contains the number of the row, or there is none."""
    has_time_column: bool
    """Whether the first column is a time or a number of the row."""
    increment_s: Fraction | None
    row_count: int | None
    """How many samples the settings declare."""

    @property
    def column_count(self) -> int:
        """Returns the number of cells in a row of samples."""
        return len(self.names) + self.has_time_column


def decode_capture(data: bytes, name: str, threshold: VoltageThreshold = VoltageThreshold()) -> LogicLevelCapture:  # noqa: B008 (it is frozen)
    """Returns the capture in the CSV of an oscilloscope. `name` is the file's. Raises CaptureError for an unreadable or
    incomplete row, rows that are missing or go back in time, or too many rows."""
    separator = find_csv_cell_separator(data[: 1 << 12].decode("utf-8", "replace").splitlines()[:-1][-8:])
    rows = csv_row_reader(data, name, separator)
    try:
        return _capture_from_rows(rows, name, threshold)
    except csv.Error as cause:
        raise CaptureError(
            f"{name}, line {rows.line_num}: it is not a row of separated values ({cause}); export it again."
        ) from None


def _capture_from_rows(rows: Any, name: str, threshold: VoltageThreshold) -> LogicLevelCapture:
    """Returns the capture in the rows of an oscilloscope's CSV. `rows` is a csv.reader, whose type has no name."""
    head, first = _split_head_and_first_row(rows, name)
    layout = _find_column_layout(head, first, name)
    samples = _OscilloscopeVoltageSamples(layout, name)
    samples.add_row(first[layout.skipped :], rows.line_num)
    for row in non_empty_rows(rows, name):
        samples.add_row(_without_trailing_empty_cells(row)[layout.skipped :], rows.line_num)
    return samples.to_capture(threshold)


def _split_head_and_first_row(rows: Any, name: str) -> tuple[list[list[str]], list[str]]:
    """Returns the rows before the samples, and the first row of samples."""
    head: list[list[str]] = []
    for row in rows:
        cells = _without_trailing_empty_cells(row)
        if _first_sample_index(cells) is not None:
            return head, cells
        if len(head) >= _HEAD_ROWS:
            break
        head.append(cells)
    raise CaptureError(f"{name} has no row of numbers in its first {rows.line_num} lines; export the samples as CSV.")


def _first_sample_index(cells: Sequence[str]) -> int | None:
    """Returns the index of the first sample in a row that has samples: 0, or 3 if settings are to the left. Else
    None."""
    if cells and all(is_decimal_number(cell) for cell in cells):
        return 0
    has_settings = len(cells) >= 5 and not cells[2].strip() and cells[0].strip().lower() == "record length"
    return 3 if has_settings and all(is_decimal_number(cell) for cell in cells[3:]) else None


def _without_trailing_empty_cells(row: Sequence[str]) -> list[str]:
    """Returns a row without the empty cells after its last separator."""
    cells = list(row)
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _find_column_layout(head: Sequence[list[str]], first: Sequence[str], name: str) -> _ColumnLayout:
    """Returns the columns of the file, by its head and first row of samples. Raises CaptureError for an unknown unit of
    time."""
    skipped = _first_sample_index(first) or 0
    titles, units = _column_title_and_unit_rows(head)
    increment_s = _sample_interval_from_file_header(titles, units, name)
    titles = [cell for cell in titles if not _START.match(cell) and not _INCREMENT.match(cell)]
    has_time_head = not titles or _TIME_HEAD.fullmatch(titles[0]) is not None
    labels = titles[has_time_head:]
    cells = len(first) - skipped
    has_time_column = increment_s is None or (has_time_head and cells != len(labels))
    channels = cells - has_time_column
    if not 0 < channels <= CHANNELS:
        raise CaptureError(f"{name} has {count_with_noun(channels, 'column')} of voltages; export 1 to {CHANNELS:,}.")
    labels = [labels[place] if place < len(labels) else "" for place in range(channels)]
    volt_units = [units[1 + place] if 1 + place < len(units) else labels[place] for place in range(channels)]
    settings = {row[0].strip().lower(): row[1] for row in (*head, first) if len(row) > 1}
    return _ColumnLayout(
        skipped,
        tuple(
            append_numbers_to_repeated_labels(
                name, [_channel_name(label, place) for place, label in enumerate(labels, 1)]
            )
        ),
        tuple(1e-3 if _unit_in_column_title(cell) == "mv" else 1.0 for cell in volt_units),
        _seconds_per_time_unit(titles[:has_time_head], units, increment_s, name) if has_time_column else None,
        has_time_column,
        increment_s,
        _parse_oscilloscope_record_length(settings.get("record length", "")),
    )


def _column_title_and_unit_rows(head: Sequence[list[str]]) -> tuple[list[str], list[str]]:
    """Returns the row with the names of the columns, and the row with their units. Either may be empty."""
    rows = [[cell.strip() for cell in row] for row in head if row]
    heads = [row for row in rows if _TIME_HEAD.fullmatch(row[0]) or any(_INCREMENT.match(cell) for cell in row)]
    if not heads:
        return [], []
    titles = heads[-1]
    after = rows[rows.index(titles) + 1 :]
    if after and _IN_BRACKETS.match(after[0][0]):
        return titles, after[0]
    if _unit_in_column_title(titles[0]) in {*_TIME_UNITS, *_INDEX_UNITS} and not _IN_BRACKETS.search(titles[0]):
        return heads[-2] if len(heads) > 1 else [], titles
    return titles, []


def _seconds_per_time_unit(
    title: Sequence[str], units: Sequence[str], increment_s: Fraction | None, name: str
) -> Fraction | None:
    """Returns the seconds of one unit of the first column. None if that column numbers the rows. Raises
    CaptureError."""
    cell = units[0] if units else next(iter(title), "s")
    unit = _unit_in_column_title(cell)
    if unit in _INDEX_UNITS:
        if increment_s is None:
            raise CaptureError(f"{name}: its head does not state the time from row to row; export the times, too.")
        return None
    if unit in _TIME_UNITS:
        return _TIME_UNITS[unit]
    if units or _IN_BRACKETS.search(cell):
        raise CaptureError(f"{name}: the unit of the times, {quote_text(unit)}, is not known; export them in seconds.")
    return Fraction(1)


def _unit_in_column_title(cell: str) -> str:
    """Returns the unit in a column's title (in brackets or after `in`), or else the whole cell, in lower case."""
    match = _IN_BRACKETS.search(cell)
    return (match[1] or match[2] if match else cell).strip().lower()


def _channel_name(label: str, number: int) -> str:
    """Returns a column's title without its unit as the channel's name. If it is empty, returns `CH` and the number."""
    return _IN_BRACKETS.sub("", _VOLTS_AFTER_NUMBER.sub("", label)).strip() or f"CH{number}"


def _sample_interval_from_file_header(heads: Sequence[str], units: Sequence[str], name: str) -> Fraction | None:
    """Returns the seconds from sample to sample that the head states (`tInc = 1e-9`, or below `Increment`). None if it
    states none."""
    texts = [match[1] for cell in heads if (match := _INCREMENT.match(cell))]
    texts += [units[place] for place, cell in enumerate(heads) if cell.lower() == "increment" and place < len(units)]
    if not texts:
        return None
    try:
        interval = to_exact_fraction(with_decimal_point(texts[0].strip()))
    except ValueError as cause:
        raise CaptureError(f"{name}: the time from row to row in its head {cause}; export it again.") from None
    if interval <= 0:
        raise CaptureError(f"{name}: the time from row to row in its head is {texts[0].strip()}; export it again.")
    return interval


def _parse_oscilloscope_record_length(text: str) -> int | None:
    """Returns how many samples an oscilloscope's CSV declares to have, from the text of its setting `Record Length`.
    None if it declares none."""
    match = _LENGTH.fullmatch(text)
    return int(float(match[1])) if match else None


class _OscilloscopeVoltageSamples:
    """The voltages of all channels and the times of the rows of an oscilloscope's CSV, as they are read."""

    def __init__(self, layout: _ColumnLayout, name: str) -> None:
        self._layout, self._name = layout, name
        self._times, self._lines = array("d"), array("q")
        self._time_texts: list[str] = []
        self._volts = [array("d") for _ in layout.names]

    def add_row(self, row: Sequence[str], line: int) -> None:
        """Adds a row of samples. Raises CaptureError for a wrong number of cells, a cell that is no number, or too many
        rows."""
        layout = self._layout
        if len(row) != layout.column_count:
            raise CaptureError(
                f"{self._name}, line {line}: {count_with_noun(len(row), 'column')} instead of "
                f"{layout.column_count}; the file may be truncated, so export it again."
            )
        if len(self._lines) >= CAPTURE_ROWS or len(self._lines) * len(layout.names) >= 2 * CHANGES:
            raise CaptureError(f"{self._name} has more than {len(self._lines):,} rows; export a shorter part.")
        self._lines.append(line)
        if layout.has_time_column:
            self._times.append(self._parse_cell(row[0], line))
            self._time_texts.append(row[0])
        for volts, cell, factor in zip(self._volts, row[layout.has_time_column :], layout.factors, strict=True):
            value = self._parse_cell(cell, line) * factor
            if not -MOST_VOLTS <= value <= MOST_VOLTS:
                raise CaptureError(
                    f"{self._name}, line {line}: {quote_text(cell)} is more than {MOST_VOLTS:,.0f} volts; a digit is "
                    "wrong, so export it again."
                )
            volts.append(value)

    def _parse_cell(self, cell: str, line: int) -> float:
        """Returns the number in a cell. Raises CaptureError naming the line if it is none."""
        if not is_decimal_number(cell):
            raise CaptureError(
                f"{self._name}, line {line}: {quote_text(cell)} is not a number; the file may be truncated, so "
                "export it "
                "again."
            )
        return float(with_decimal_point(cell))

    def to_capture(self, threshold: VoltageThreshold) -> LogicLevelCapture:
        """Returns the logic levels of all channels as a capture. Raises CaptureError for rows that are missing or out
        of order."""
        count = len(self._lines)
        if count < 2:
            raise CaptureError(f"{self._name} has a single row of samples; export all of them.")
        interval = self._sample_interval_seconds()
        channels, notes = [], []
        for label, values in zip(self._layout.names, self._volts, strict=True):
            volts: NDArray[np.float64] = np.frombuffer(values, np.float64)
            border = channel_level_threshold(volts, threshold)
            if border is None:
                notes.append(
                    f"{self._name}: {label} changes by less than {LEAST_SWING_V:g} V, so it has no levels; if it is a "
                    "signal, add --threshold."
                )
            channels.append(channel_from_voltages(label, volts, border))
        declared = self._layout.row_count
        if declared is not None and declared > count:
            notes.append(
                f"{self._name} has {count_with_noun(count, 'row')} of samples, but its head declares "
                f"{declared:,}; the file may be truncated."
            )
        return LogicLevelCapture(interval / STEPS, tuple(channels), count * STEPS, tuple(notes), interval)

    def _sample_interval_seconds(self) -> Fraction:
        """Returns the time from sample to sample in seconds. Raises CaptureError if the times are irregular."""
        layout = self._layout
        if not layout.has_time_column:
            assert layout.increment_s is not None
            return layout.increment_s
        interval = find_sample_interval(
            self._time_texts, np.frombuffer(self._times, np.float64), is_exact=layout.time_unit is None
        )
        if isinstance(interval, SampleInterval):
            if layout.time_unit is not None:
                return interval.length * layout.time_unit
            assert layout.increment_s is not None
            return layout.increment_s * interval.length
        raise CaptureError(f"{self._name}, line {self._lines[interval.row]}: {interval.reason}; export it again.")


def encode_capture(capture: LogicLevelCapture) -> bytes:
    """Returns a CSV as of an InfiniiVision oscilloscope, with a sample for each tick: 0 V and 3.3 V. Unknown levels at
    the ends become 0."""
    require_known_logic_levels(capture, ABOUT)
    if capture.end_tick > CAPTURE_ROWS:
        raise CaptureError(
            f"The capture has {capture.end_tick:,} samples, but a CSV of an oscilloscope at most {CAPTURE_ROWS:,}; "
            "choose a lower --sample-rate."
        )
    ticks, levels = merge_logic_channel_level_changes(capture)
    count = len(capture.channels)
    texts = [",".join(f"{WRITTEN_HIGH_V if level == 1 else 0.0:+.2E}" for level in row) for row in levels.tolist()]
    texts.insert(0, ",".join(["+0.00E+00"] * count))
    place = np.searchsorted(ticks, np.arange(capture.end_tick), side="right")
    rows = [
        ",".join(["x-axis", *(channel.name for channel in capture.channels)]),
        ",".join(["second", *["Volt"] * count]),
        *(f"{float(tick * capture.tick_s):.12E},{texts[at]}" for tick, at in enumerate(place.tolist())),
    ]
    return "\n".join(rows).encode() + b"\n"
