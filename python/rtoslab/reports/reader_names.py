"""Replaces ids of kernels and boards in a document by their titles."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from rtoslab.catalogue import Catalogue
from rtoslab.reference import REFERENCE_MARK
from rtoslab.reports.chart_data import ChartData
from rtoslab.reports.table import ReportDocument, ReportSection, TableData
from rtoslab.results import PointId

_SHOWN: Final = frozenset({"series", "row", "x", "facet", "kernel", "board"})
"""Keys of a chart's rows that a reader sees, or that name its parts."""
_COLUMNS: Final = frozenset({"run with", "kernel", "board", "port", "ports", "who has what", "of"})
"""Columns of tables that name kernels and boards."""
_PINNED: Final = " (pinned)"
_SHOWN_ONCE: Final = re.compile(r"1 core|[0-9]+ ms")
"""Parts of a series' name that a chart need not repeat."""


def kernel_and_board_titles(catalogue: Catalogue, points: Iterable[PointId]) -> dict[str, str]:
    """Returns the titles of the points' kernels and boards, by id. The kernel of a reference result keeps the mark
    after its name."""
    titles = {name: item.facts.title for name, item in catalogue.kernels.items()}
    titles |= {name: item.facts.title for name, item in catalogue.boards.items()}
    names = {}
    for point in points:
        plain = point.kernel.removesuffix(f" {REFERENCE_MARK}")
        names[plain] = titles.get(plain) or _title_with_version(plain, titles)
        names[point.kernel] = point.kernel.replace(plain, names[plain])
        names[point.board] = titles.get(point.board, point.board)
    return names


def _title_with_version(name: str, titles: Mapping[str, str]) -> str:
    """Returns a readable name such as `FreeRTOS 10.2.1` for `freertos-10.2.1`. The name itself if no kernel of this id
    is known."""
    family, _, version = name.rpartition("-")
    return f"{titles[family]} {version}" if family in titles and version else name


def replace_ids_by_titles(document: ReportDocument, names: Mapping[str, str]) -> ReportDocument:
    """Returns the report with titles in place of the ids of kernels and boards.

    A chart in which all tasks on several cores are pinned omits the word, because a sentence says it for all.
    """
    ids = sorted((name for name, title in names.items() if name != title), key=len, reverse=True)
    either = "|".join(map(re.escape, ids)) or "(?!)"
    pattern = re.compile(rf"(?<![\w.-])({either})(?![\w-]|\.\w)")

    def with_titles_for_ids(text: str) -> str:
        """Returns the text with titles in place of ids."""
        return pattern.sub(lambda match: names[match[1]], text)

    def titles_for_ids_in_chart(chart: ChartData) -> ChartData:
        """Returns the chart with titles in place of ids."""
        rows = [
            {
                key: with_titles_for_ids(cell) if _is_text_visible_in_chart(key, cell) else cell
                for key, cell in row.items()
            }
            for row in chart.rows
        ]
        return replace(chart, rows=rows)

    def titles_for_ids_in_table(table: TableData) -> TableData:
        """Returns the table with titles in place of ids."""
        columns = [name in _COLUMNS for name, _ in table.column_heads]
        rows = [
            [with_titles_for_ids(cell) if so else cell for cell, so in zip(row, columns, strict=True)]
            for row in table.rows
        ]
        title, comma, board = table.title.rpartition(", ")
        return replace(table, rows=rows, title=f"{title}{comma}{names.get(board, board)}")

    def replace_ids_in_report_section(section: ReportSection) -> ReportSection:
        """Returns the section with titles in place of ids."""
        charts = _shorten_series_names([titles_for_ids_in_chart(data) for data in section.charts])
        return replace(section, charts=charts, tables=tuple(map(titles_for_ids_in_table, section.tables)))

    return replace(document, sections=tuple(map(replace_ids_in_report_section, document.sections)))


def _is_text_visible_in_chart(key: str, cell: Any) -> bool:
    """Whether a chart's row shows the text under this key to readers."""
    return key in _SHOWN and isinstance(cell, str)


def _shorten_series_names(charts: Iterable[ChartData]) -> tuple[ChartData, ...]:
    """Returns the charts with shorter names of series: without parts that all of them share."""
    return tuple(_without_shared_name_parts(_remove_word_pinned_from_series_names(chart)) for chart in charts)


def _remove_word_pinned_from_series_names(chart: ChartData) -> ChartData:
    """Returns the chart without the word `pinned` in its names, unless the tasks of some series are not pinned."""
    texts = [cell for row in chart.rows for key, cell in row.items() if _is_text_visible_in_chart(key, cell)]
    if any("not pinned" in text for text in texts):
        return chart
    rows = [
        {key: cell.replace(_PINNED, "") if _is_text_visible_in_chart(key, cell) else cell for key, cell in row.items()}
        for row in chart.rows
    ]
    return replace(chart, rows=rows)


def _without_shared_name_parts(chart: ChartData) -> ChartData:
    """Returns the chart without `1 core` and the measurement window in its series' names, if all series have the
    same."""
    for key in ("series", "row", *(("x",) if chart.kind == "pairs" else ())):
        names = {row[key] for row in chart.rows if isinstance(row.get(key), str)}
        parts = [name.split(", ") for name in names]
        shared = {
            part
            for part in (parts[0] if parts else [])
            if _SHOWN_ONCE.fullmatch(part) and all(part in other for other in parts)
        }
        left = {name: ", ".join(part for part in name.split(", ") if part not in shared) for name in names}
        if shared and all(left.values()):
            rows = [{**row, key: left[row[key]]} if row.get(key) in left else row for row in chart.rows]
            chart = replace(chart, rows=rows)
    return chart
