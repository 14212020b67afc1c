"""Rows, separators and numbers of CSV files as programs of any country write them."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rtoslab.base import CaptureError
from rtoslab.intake import decode_text_lines

SEPARATORS: Final = (";", "\t", ",")
"""In this order: a comma beside one of the others is a decimal comma."""
_NUMBER: Final = re.compile(r"\s*[-+]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][-+]?\d{1,3})?\s*", re.ASCII)


def find_csv_cell_separator(lines: Iterable[str]) -> str:
    """Returns the character that separates cells: that of the last line that has one, or a comma."""
    for line in reversed(list(lines)):
        for separator in SEPARATORS:
            if separator in line.rstrip(separator + " "):
                return separator
    return ","


def with_decimal_point(cell: str) -> str:
    """Returns a cell with a point in place of a decimal comma."""
    return cell.replace(",", ".") if "." not in cell and cell.count(",") == 1 else cell


def is_decimal_number(cell: str) -> bool:
    """Whether a cell is a decimal number, also with a decimal comma."""
    return _NUMBER.fullmatch(cell) is not None or (
        "," in cell and _NUMBER.fullmatch(with_decimal_point(cell)) is not None
    )


def csv_row_reader(data: bytes, name: str, separator: str) -> Any:
    """Returns a csv.reader (whose type has no name) of the lines of a text. No cell of these files contains a line end,
    so iteration raises CaptureError for a quotation mark that is not closed in its line. `name` is the file's."""
    return csv.reader(_split_into_csv_lines(data, name), delimiter=separator, skipinitialspace=True)


def _split_into_csv_lines(data: bytes, name: str) -> Iterator[str]:
    """Yields the lines of a CSV text. Raises CaptureError for a quotation mark that is not closed in its line."""
    for number, line in enumerate(decode_text_lines(data, name, CaptureError), 1):
        if '"' in line and line.count('"') % 2:
            raise CaptureError(f"{name}, line {number}: a quotation mark is not closed; export it again.")
        yield line


def non_empty_rows(rows: Any, name: str) -> Iterator[list[str]]:
    """Yields the rows of a csv.reader (whose type has no name) that have a cell with text. `name` is the file's.

    Raises CaptureError for an empty line before a row."""
    empty = 0
    for row in rows:
        if any(cell.strip() for cell in row):
            if empty:
                raise CaptureError(f"{name}, line {empty}: it is empty, but rows follow; export it again.")
            yield row
        else:
            empty = empty or rows.line_num
