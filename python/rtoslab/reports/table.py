"""The parts of a report: a table of texts, a chart, a section, and the whole. No format knowledge, no arithmetic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rtoslab.analyses import Band, Ratio
from rtoslab.results import Measured
from rtoslab.store import StoredPoint

Record = Mapping[str, str | float | int | None]
"""One figure for a program to read. `csv_records` describes the fields."""


def cycles_text(value: float) -> str:
    """A number of cycles: whole, or with one decimal where it is a mean or a part."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 10_000 else f"{value:,.1f}"


def banded(figure: Band | Ratio, form: Callable[[float], str]) -> str:
    """A figure over placements: the median and, where its ends do not read alike, the band."""
    text, least, most = (form(each) for each in (figure.median, figure.least, figure.most))
    return text if least == most else f"{text} ({least} to {most})"


def ends(figure: Band | Ratio, scale: float = 1.0) -> dict[str, float]:
    """Between what a figure's chart draws a line; nothing where it has no band."""
    if figure.least == figure.most:
        return {}
    return {"low": scale * figure.least, "high": scale * figure.most}


@dataclass(frozen=True, slots=True)
class TableData:
    """A titled table. Columns whose name begins with `>` are numbers, set to the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    footnote: str = ""
    """The part of the note that says what the mark on kernels means; empty without a mark."""
    records: Sequence[Record] = ()
    """The same figures for a program; without records the CSV file is read from the texts."""

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """(name, is a number) per column."""
        return [(name.removeprefix(">"), name.startswith(">")) for name in self.columns]


@dataclass(frozen=True, slots=True)
class ChartData:
    """A chart: which one of `charts`, its data, and what it says in words for those who do not see it."""

    kind: str
    rows: Sequence[dict[str, Any]]
    caption: str
    x_title: str = ""
    y_title: str = ""
    log: bool = False
    footnote: str = ""
    """The part of the caption that says what the mark on kernels means; empty without a mark."""
    records: Sequence[Record] = ()
    """The same figures for a program; without records the CSV file contains the rows."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, prose, charts, tables; `folded` sections start closed on screen."""

    id: str
    title: str
    prose: Sequence[str] = field(default=())
    charts: Sequence[ChartData] = field(default=())
    tables: Sequence[TableData] = field(default=())
    folded: bool = False

    def filled(self) -> "Section | None":
        """The section without charts and tables that have no row; None if nothing is left under its heading."""
        charts = tuple(each for each in self.charts if each.rows)
        tables = tuple(each for each in self.tables if each.rows)
        return replace(self, charts=charts, tables=tables) if self.prose or charts or tables else None


@dataclass(frozen=True, slots=True)
class Document:
    """A report before its format: title, summary, and sections. Every format renders this."""

    title: str
    subtitle: str
    summary: str
    sections: tuple[Section, ...]
    points: tuple[StoredPoint, ...] = field(default=())

    @property
    def shown(self) -> tuple[Section, ...]:
        """The sections that have something to show, each without its empty charts and tables."""
        filled = (each.filled() for each in self.sections)
        return tuple(each for each in filled if each is not None)

    @property
    def measured(self) -> list[Measured]:
        """Verified points in the plan's order."""
        return [each.result for each in self.points if isinstance(each.result, Measured)]
