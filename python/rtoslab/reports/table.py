"""The parts of a report: a table of texts, a section, and the whole. No format knowledge, no arithmetic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rtoslab.analyses import CodePlacementValueRange, MeasuredValueRatio
from rtoslab.reports.chart_data import ChartData, Record
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredMeasurementPoint

__all__ = [
    "ChartData",
    "Record",
    "ReportDocument",
    "ReportSection",
    "TableData",
    "chart_range_ends",
    "cycle_count_text",
    "measured_value_with_range_text",
]
"""`ChartData` and `Record` are parts, though they have a module of their own."""


def cycle_count_text(value: float) -> str:
    """Returns a number of cycles as text. It has one decimal if it is not whole and below 10,000."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 10_000 else f"{value:,.1f}"


def measured_value_with_range_text(
    figure: CodePlacementValueRange | MeasuredValueRatio, form: Callable[[float], str]
) -> str:
    """Returns a figure as text: its median over placements, and the range if its ends differ in this form. `form`:
    turns a number into text."""
    text, least, most = (form(value) for value in (figure.median, figure.smallest, figure.largest))
    return text if least == most else f"{text} ({least} to {most})"


def chart_range_ends(figure: CodePlacementValueRange | MeasuredValueRatio, scale: float = 1.0) -> dict[str, float]:
    """Returns the ends of a figure's range over placements as `low` and `high` of a chart's row, times `scale`. Empty
    without a range."""
    if figure.smallest == figure.largest:
        return {}
    return {"low": scale * figure.smallest, "high": scale * figure.largest}


@dataclass(frozen=True, slots=True)
class TableData:
    """A table of texts for a report, with its title. A column whose name begins with `>` has numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    footnote: str = ""
    """The part of the note that says what the mark on kernels means. Empty without a mark."""
    records: Sequence[Record] = ()
    """The same figures for a program. Without records the CSV file is read from the texts."""

    @property
    def column_heads(self) -> list[tuple[str, bool]]:
        """Returns the name of each column, and whether it contains numbers."""
        return [(name.removeprefix(">"), name.startswith(">")) for name in self.columns]


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of a report: heading, prose, charts and tables. `folded` sections start closed on screen."""

    id: str
    title: str
    prose: Sequence[str] = field(default=())
    charts: Sequence[ChartData] = field(default=())
    tables: Sequence[TableData] = field(default=())
    folded: bool = False
    leads: bool = False
    """Whether the section is above all others, without a heading: the answer and its chart."""

    def remove_empty_charts_and_tables(self) -> "ReportSection | None":
        """Returns the section without charts and tables that have no row. None if nothing is left.

        Large charts are split, and a chart with nothing more to show than a sentence becomes that sentence.
        """
        drawn = [chart for chart in self.charts if chart.rows]
        charts = tuple(
            part for data in drawn if not data.sentence_instead_of_chart for part in data.split_into_readable_charts()
        )
        tables = tuple(table for table in self.tables if table.rows)
        prose = (
            *self.prose,
            *dict.fromkeys(data.sentence_instead_of_chart for data in drawn if data.sentence_instead_of_chart),
        )
        return replace(self, prose=prose, charts=charts, tables=tables) if prose or charts or tables else None


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A report before it is written in a format: title, summary and sections. Every format renders this."""

    title: str
    subtitle: str
    summary: str
    sections: tuple[ReportSection, ...]
    points: tuple[StoredMeasurementPoint, ...] = field(default=())

    @property
    def shown_sections(self) -> tuple[ReportSection, ...]:
        """Returns the sections that have something to show, each without its empty charts and tables."""
        filled = (section.remove_empty_charts_and_tables() for section in self.sections)
        return tuple(item for item in filled if item is not None)

    @property
    def list_measured_points(self) -> list[MeasuredPoint]:
        """Returns the measured points in the plan's order."""
        return [point.result for point in self.points if isinstance(point.result, MeasuredPoint)]
