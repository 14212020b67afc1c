"""Reads a task set from CSV: one line a task, with the keys of the TOML form as columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from rtoslab.base import TaskSetError
from rtoslab.intake import ROWS, quote_text


def parse_task_set_csv(text: str, source: str) -> dict[str, Any]:
    """Parses a task set in CSV into the table that the same set in TOML gives. Empty cells are left out.
    `sections` holds `resource:length_us` parts separated by spaces. Raises TaskSetError.
    """
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    head: list[str] | None = None
    tasks: list[dict[str, Any]] = []
    try:
        for row in rows:
            where = f"{source}, line {rows.line_num}"
            if head is None:
                head = [cell.strip() for cell in row]
                if len(set(head)) != len(head):
                    raise TaskSetError(f"{where}: two columns have the same name; rename one.")
            elif row:
                if len(row) != len(head):
                    raise TaskSetError(
                        f"{where}: the row has another number of cells than the header; correct that line."
                    )
                if len(tasks) >= ROWS:
                    raise TaskSetError(f"{source} contains more than {ROWS:,} tasks; split it.")
                tasks.append(_csv_task_table(zip(head, (cell.strip() for cell in row), strict=True), where))
    except csv.Error as cause:
        raise TaskSetError(f"{source}, line {rows.line_num}: {cause}; correct that line.") from None
    return {"task": [task for task in tasks if task]}


def _csv_task_table(row: Iterable[tuple[str, str]], where: str) -> dict[str, Any]:
    """Returns a task's table from the cells of a row."""
    cells: dict[str, Any] = {key: value for key, value in row if value}
    if "sections" in cells:
        cells["section"] = [_parse_csv_critical_section(part, where) for part in cells.pop("sections").split()]
    return cells


def _parse_csv_critical_section(text: str, where: str) -> dict[str, str]:
    """Returns a critical section's table from `resource:length_us`."""
    resource, colon, length_us = text.partition(":")
    if not colon:
        raise TaskSetError(
            f"{where}: the section {quote_text(text)} is not resource:length_us; write one such as bus:20."
        )
    return {"resource": resource, "length_us": length_us}
