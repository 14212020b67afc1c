"""A table of plain values, for the terminal, CSV and JSON alike."""

from collections.abc import Sequence
from dataclasses import dataclass

Value = str | int | None


@dataclass(frozen=True, slots=True)
class TitledTable:
    """A titled table of texts, numbers and truth values. None is an empty cell."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]

    def as_json(self) -> list[dict[str, Value]]:
        """Returns the rows as JSON objects, whose keys are the columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
