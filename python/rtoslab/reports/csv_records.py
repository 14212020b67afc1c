"""Tables and charts as the rows of a CSV file in which a number is a number.

**The record form.** A table or chart may have `records`, one mapping for each figure. Its keys are

- first the axes: whatever names the figure, such as `benchmark`, `metric`, `stat`, `board`, `cores`. Their names are
  free, each a plain word in lower case. All records of a table should have the same axes. The axis `source` is `paper`
  for a figure that somebody published, `here` for one of ours.
- then the fields of `FIELDS`, each of which may be left out or None:

| field | type | meaning |
|---|---|---|
| `value` | number | the figure, unrounded; None where there is none |
| `low`, `high` | number | the ends of its band, such as the least and the most over placements |
| `n` | integer | how many samples, runs or placements the value is of |
| `unit` | text | the unit of `value`, `low` and `high`: `us`, `cycles`, `bytes`, `%`; empty for a ratio |
| `kernel` | text | the kernel's id, without a mark; empty where the figure is of no kernel |
| `version` | text | the kernel's version, as its manifest has it |
| `flags` | text | words separated by `; `: `reference` (a reference result), `deviates` (the kernel deviates from \
the port contract), and any other |
| `note` | text | why `value` is missing, or what a reader must know of it |

`add_deviation_footnotes_to_section` adds the flag `deviates` to records of a kernel that deviates, except those whose
`source` is `paper`. The maker of records need not add it.

**Without records.** A column of numbers is split: the column itself has plain numbers, `<column> low` and
`<column> high` have the band, `<column> unit` the unit that the cells show, and a list has a column for each member.
Each of these columns exists only where a cell needs it. Marks go to the column `flags`, as `<column>: <flag>`. The flag
of a mark in a text cell or in the title has no column. A cell without a number goes to the column `note`.
A chart without records has the rows that it draws.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.reports.deviations import DEVIATES, MARK
from rtoslab.reports.table import ChartData, Record, TableData

FIELDS: Final = ("value", "low", "high", "n", "unit", "kernel", "version", "flags", "note")
REFERENCE_MARK: Final = "\N{DOUBLE DAGGER}"
_NUMERIC_FIELDS: Final = ("value", "low", "high", "n")
_FLAGS: Final = {MARK: DEVIATES, REFERENCE_MARK: "reference"}
"""Other marks are their own flags."""
_NO_FIGURE: Final = {"", "-", "\N{EN DASH}", "\N{EM DASH}"}
"""Cells that say that there is no figure, and nothing more."""
_LABEL: Final = "text"
"""What a chart writes at a mark: its height once more, rounded."""
_MARKS: Final = f"[{MARK}{REFERENCE_MARK}*\N{SECTION SIGN}\N{PILCROW SIGN}]*"
_DIGITS: Final = r"[+\-\N{MINUS SIGN}]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_TIMES: Final = r"[x\N{MULTIPLICATION SIGN}] "
_UNIT: Final = r"%|[A-Za-z\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}/]+"
_END: Final = rf"(?:{_TIMES})?(?P<NAME>{_DIGITS})(?: ?(?:{_UNIT}))?"
"""One end of a band, which repeats the unit."""
_NUMBER: Final = re.compile(
    r"(?P<about>[~<>\N{ALMOST EQUAL TO}\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}]?) ?"
    rf"(?P<times>{_TIMES})?(?P<value>{_DIGITS})(?: ?(?P<unit>{_UNIT}))?(?P<marks>{_MARKS})"
    rf"(?: [(\[]{_END.replace('NAME', 'low')}(?: to |, ){_END.replace('NAME', 'high')}[)\]])?"
    rf"(?P<more_marks>{_MARKS})(?P<rest> \([^()]*\))?"
)
_BETWEEN: Final = re.compile(r", (?![^(\[]*[)\]])")
"""A comma between the numbers of a list, but not inside a band."""

Cell = str | float | int | None


def table_as_csv_rows(table: TableData) -> list[list[Cell]]:
    """Returns a table as the rows of a CSV file. The first row has the names of the columns."""
    return records_as_csv_rows(table.records) if table.records else _split_table_into_csv_rows(table)


def chart_as_csv_rows(chart: ChartData) -> list[list[Cell]]:
    """Returns a chart's data as the rows of a CSV file. The first row has the names of the columns."""
    if chart.records:
        return records_as_csv_rows(chart.records)
    heads = list(dict.fromkeys(key for row in chart.rows for key in row if key != _LABEL or "y" not in row))
    rows = [[_finite_or_none(row.get(name)) for name in heads] for row in chart.rows]
    all_flags = _decode_flag_symbols_in_table_cell(chart.caption[:1])
    flags = [
        _join_csv_record_flags(
            [*all_flags, *(flag for cell in row for flag in _decode_flag_symbols_in_table_cell(cell))]
        )
        for row in rows
    ]
    if not any(flags):
        return [list(heads), *rows]
    return [
        [*heads, _name_unused_by_columns("flags", heads)],
        *([*row, flag] for row, flag in zip(rows, flags, strict=True)),
    ]


def records_as_csv_rows(records: Sequence[Record]) -> list[list[Cell]]:
    """Returns records as the rows of a CSV file, the first with the names of the columns. Raises TypeError where a
    number is a text."""
    axes = [name for name in dict.fromkeys(key for record in records for key in record) if name not in FIELDS]
    for record in records:
        for name in _NUMERIC_FIELDS:
            if isinstance(record.get(name), str):
                raise TypeError(f"the field {name} of a record is a number, not the text {record[name]!r}")
    heads = [*axes, *FIELDS]
    return [list(heads), *([_finite_or_none(record.get(name)) for name in heads] for record in records)]


@dataclass(frozen=True, slots=True)
class _TableCellNumber:
    """A number in a table's cell, with its range, unit, flags and note."""

    value: str
    low: str = ""
    high: str = ""
    unit: str = ""
    flags: Sequence[str] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class _CsvTableColumn:
    """A column of a table, with the numbers that its cells contain."""

    name: str
    texts: Sequence[str]
    numbers: Sequence[Sequence[_TableCellNumber]]
    """The numbers in each cell. Empty where it has none. All are empty in a column of texts."""

    @property
    def longest_cell_list_length(self) -> int:
        """Returns how many numbers the longest list in a cell has. 0 for a column of texts."""
        return max(map(len, self.numbers), default=0)


def _split_table_into_csv_rows(table: TableData) -> list[list[Cell]]:
    """Returns a table of texts as CSV rows. Each number is split from its range, unit and marks, which have columns of
    their own."""
    columns = [
        _CsvTableColumn(name, texts, [_parse_table_cell_numbers(text) if is_number else [] for text in texts])
        for (name, is_number), texts in zip(
            table.column_heads, zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns), strict=True
        )
    ]
    heads: list[Cell] = []
    cells: list[Sequence[Cell]] = []
    for column in columns:
        for name, values in _split_column_into_csv_columns(column):
            heads.append(name)
            cells.append(values)
    count = len(table.rows)
    everywhere = _decode_flag_symbols_in_table_cell(table.title)
    flags = [
        _join_csv_record_flags(
            [*everywhere, *(flag for item in columns for flag in _record_flags_of_table_row(item, at))]
        )
        for at in range(count)
    ]
    if any(flags) or any(item.longest_cell_list_length for item in columns):
        notes = [
            _join_csv_record_flags(note for item in columns for note in _csv_notes_of_table_cell(item, at))
            for at in range(count)
        ]
        heads += [_name_unused_by_columns("flags", heads), _name_unused_by_columns("note", heads)]
        cells += [flags, notes]
    return [heads, *(list(row) for row in zip(*cells, strict=True))]


def _split_column_into_csv_columns(column: _CsvTableColumn) -> Iterable[tuple[str, Sequence[Cell]]]:
    """Yields the name and the cells of each CSV column into which a table's column is split."""
    if not column.longest_cell_list_length:
        yield column.name, column.texts
        return
    for member in range(column.longest_cell_list_length):
        name = column.name if column.longest_cell_list_length == 1 else f"{column.name}, {member + 1}"
        parts = [cell[member] if member < len(cell) else _TableCellNumber("") for cell in column.numbers]
        yield name, [item.value for item in parts]
        for part in ("low", "high", "unit"):
            values = [getattr(item, part) for item in parts]
            if any(values):
                yield f"{name} {part}", values


def _parse_table_cell_numbers(text: str) -> list[_TableCellNumber]:
    """Returns the numbers in a table's cell. Empty if any part of the cell is something else."""
    numbers = [_NUMBER.fullmatch(part) for part in _BETWEEN.split(text.strip())]
    return [_parse_number(match) for match in numbers if match is not None] if all(numbers) else []


def _parse_number(match: re.Match[str]) -> _TableCellNumber:
    """Returns the number that a match of `_NUMBER` found, with its range, unit, flags and note."""
    parts = {name: text or "" for name, text in match.groupdict().items()}
    marks = f"{parts['about']}{parts['marks']}{parts['more_marks']}"
    return _TableCellNumber(
        _ascii_digits_without_commas(parts["value"]),
        _ascii_digits_without_commas(parts["low"]),
        _ascii_digits_without_commas(parts["high"]),
        parts["unit"] or ("x" if parts["times"] else ""),
        [_FLAGS.get(mark, mark) for mark in marks],
        parts["rest"].strip(" ()"),
    )


def _ascii_digits_without_commas(digits: str) -> str:
    """Returns digits without commas, and with an ASCII minus sign."""
    return digits.replace(",", "").replace("\N{MINUS SIGN}", "-").removeprefix("+")


def _record_flags_of_table_row(column: _CsvTableColumn, at: int) -> list[str]:
    """Returns the flags that the marks in row `at` of a table's column stand for, such as `reference`."""
    if column.longest_cell_list_length:
        numbers = [f"{column.name}: {flag}" for number in column.numbers[at] for flag in number.flags]
        return numbers or [f"{column.name}: {flag}" for flag in _decode_flag_symbols_in_table_cell(column.texts[at])]
    return _decode_flag_symbols_in_table_cell(column.texts[at])


def _csv_notes_of_table_cell(column: _CsvTableColumn, at: int) -> list[str]:
    """Returns the notes in row `at` of a table's column of numbers: text in brackets, or the whole text of a cell
    without a number."""
    text, numbers = column.texts[at].strip(), column.numbers[at]
    if not column.longest_cell_list_length or text in _NO_FIGURE:
        return []
    notes = [number.note for number in numbers if number.note] if numbers else [text]
    return [f"{column.name}: {note}" for note in notes]


def _decode_flag_symbols_in_table_cell(cell: object) -> list[str]:
    """Returns the flags that the marks in a cell's text stand for."""
    return [flag for mark, flag in _FLAGS.items() if mark in cell] if isinstance(cell, str) else []


def _join_csv_record_flags(words: Iterable[str]) -> str:
    """Returns the flags as one text with semicolons, each flag once."""
    return "; ".join(dict.fromkeys(words))


def _name_unused_by_columns(name: str, heads: Iterable[Cell]) -> str:
    """Returns `name`, with underscores at its end if other columns have it already. `heads`: their names."""
    taken = set(heads)
    while name in taken:
        name += "_"
    return name


def _finite_or_none(cell: Cell) -> Cell:
    """Returns the cell unchanged, but None for a number that is infinite or NaN."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
