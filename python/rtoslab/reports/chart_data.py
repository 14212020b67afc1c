"""The data of a chart before it is drawn, and its division into parts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rtoslab.base import count_with_noun

Record = Mapping[str, str | float | int | None]
"""One figure for a program to read. `csv_records` describes the fields."""
Rows = Sequence[dict[str, Any]]
Division = Callable[[Rows], dict[str, list[dict[str, Any]]]]
"""Divides rows into parts, by name."""
MOST_SERIES: Final = 12
"""A legend with more entries is of no use."""
MOST_SLOTS: Final = 72
"""Of more upright bars side by side none has room for its number."""
MOST_BARS: Final = 50
"""A chart with more lying bars is longer than a screen."""
_HEIGHTS: Final = ("y", "rate", "gain", "bytes", "share", "multiple", "count")
"""The keys under which a row may have the length of its mark."""
_PANELS: Final = frozenset({"histogram", "sweep"})
"""Charts with a panel for each series, one above the other."""
_UPRIGHT: Final = frozenset({"bars", "gain", "heap"})
_LYING: Final = frozenset({"cycles", "losses"})
"""Charts whose bars lie one below the other, by test and row."""


@dataclass(frozen=True, slots=True)
class ChartData:
    """A chart: its kind, one of `charts`, its data, and a caption for those who do not see it.

    Rows may also have `kernel` and `board`: the first decides the colour, the second how a large chart is divided.
    """

    kind: str
    rows: Rows
    caption: str
    x_title: str = ""
    y_title: str = ""
    log: bool = False
    footnote: str = ""
    """The part of the caption that says what the mark on kernels means. Empty without a mark."""
    records: Sequence[Record] = ()
    """The same figures for a program. Without records the CSV file contains the rows."""

    @property
    def sentence_instead_of_chart(self) -> str:
        """Returns a sentence that replaces a drawing with nothing else to show. Empty if the chart is to be drawn."""
        subject = re.split(r"[:;]|\. ", self.caption)[0].rstrip(".")
        heights = [float(row[key]) for row in self.rows for key in _HEIGHTS if row.get(key) is not None]
        if heights and not any(heights):
            return f"{subject}: every value is zero."
        if self.kind == "histogram":
            return self._single_bar_histogram_sentence(subject)
        if len(self.rows) == 1 and len(heights) == 1 and self.kind not in _LYING:
            (row,) = self.rows
            name = ", ".join(str(row[key]) for key in ("x", "test", "series") if row.get(key) is not None)
            value = row.get("text") or f"{heights[0]:,.4g}"
            return f"{subject}: {value} ({name})."
        return ""

    def _single_bar_histogram_sentence(self, subject: str) -> str:
        """Returns the sentence for a histogram in which each series is a single bar. Empty for another."""
        by_series: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            by_series.setdefault(str(row["series"]), []).append(row)
        if not by_series or any(len(rows) > 1 for rows in by_series.values()):
            return ""
        if len(by_series) == 1:
            ((name, (row,)),) = by_series.items()
            whose = f" ({name})" if name.strip("-") else ""
            return (
                f"{subject}: all {count_with_noun(row['count'], 'sample')}{whose} took {_histogram_cycles_text(row)}."
            )
        texts = [f"{_histogram_cycles_text(rows[0])} ({name})" for name, rows in by_series.items()]
        if len(texts) > MOST_SERIES // 2:
            least = min(by_series.values(), key=lambda rows: rows[0]["low"])[0]
            most = max(by_series.values(), key=lambda rows: rows[0]["low"])[0]
            texts = [f"{_histogram_cycles_text(least)} to {_histogram_cycles_text(most)}, by series, as in the table"]
        return f"{subject}: all samples of a series took the same time: {'; '.join(texts)}."

    def split_into_readable_charts(self) -> "list[ChartData]":
        """Returns the chart in parts that a reader can follow: by board, then by family of tests, then by number."""
        return list(_split_large_chart(self, (_group_chart_rows_by_board, _group_chart_rows_by_test_family)))

    @property
    def is_too_large_to_read(self) -> bool:
        """Whether the chart has more series or bars than a reader can follow."""
        if self.kind in _LYING:
            return len({(row["test"], row["row"]) for row in self.rows}) > MOST_BARS
        series = len({row.get("series") for row in self.rows})
        names = len({row.get("x", row.get("test")) for row in self.rows})
        return series > MOST_SERIES or (self.kind in _UPRIGHT and series * names > MOST_SLOTS)


def _split_large_chart(
    chart: ChartData, ways: Sequence[Callable[[Rows], dict[str, list[dict[str, Any]]]]]
) -> Iterator[ChartData]:
    """Yields the parts of a chart. Each of `ways` groups the rows by a name, and the next one is tried only where a
    part is still too large."""
    if not chart.is_too_large_to_read:
        yield chart
    elif ways:
        named = ways[0](chart.rows)
        for name, rows in named.items():
            caption = f"{name}: {chart.caption}" if len(named) > 1 and name else chart.caption
            yield from _split_large_chart(replace(chart, rows=rows, caption=caption), ways[1:])
    else:
        groups = (
            _split_chart_rows_by_bars(chart.rows) if chart.kind in _LYING else _split_chart_rows_by_series(chart.rows)
        )
        for number, rows in enumerate(groups, start=1):
            part = f" (part {number} of {len(groups)})" if len(groups) > 1 else ""
            yield replace(chart, rows=rows, caption=f"{chart.caption}{part}")


def _histogram_cycles_text(row: dict[str, Any]) -> str:
    """Returns the range of cycles that a histogram's bar covers, as text."""
    low, high = float(row["low"]), float(row["high"])
    if high - low <= 1:
        return f"{low:,.0f} cycles"
    return f"{low:,.0f} to {high - 1:,.0f} cycles"


def _group_chart_rows_by_board(rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """Groups a chart's rows by their board."""
    return _group_chart_rows(rows, lambda row: str(row.get("board", "")))


def _group_chart_rows_by_test_family(rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """Groups a chart's rows by the letters that their test's name begins with, such as T for T1 to T8."""

    def test_family_heading(row: dict[str, Any]) -> str:
        """Returns the heading for the letters that a row's test name begins with (`Tests T`). Empty if there are
        none."""
        name = str(row.get("test", row.get("x", "")))
        word = name.split(" ", maxsplit=1)[0]
        letters = word.rstrip("0123456789-abc")
        return f"Tests {letters}" if letters.isupper() and letters != word else ""

    return _group_chart_rows(rows, test_family_heading)


def _group_chart_rows(rows: Rows, name_of: Callable[[dict[str, Any]], str]) -> dict[str, list[dict[str, Any]]]:
    """Groups a chart's rows by the name that `name_of` returns, in the order of the names' first rows."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(name_of(row), []).append(row)
    return groups


def _split_chart_rows_by_series(rows: Rows) -> list[list[dict[str, Any]]]:
    """Splits a chart's rows into parts with nearly equal numbers of series, at most MOST_SERIES each."""
    series = list(dict.fromkeys(row.get("series") for row in rows))
    count = -(-len(series) // MOST_SERIES)
    size = -(-len(series) // count)
    return [
        [row for row in rows if row.get("series") in series[start : start + size]]
        for start in range(0, len(series), size)
    ]


def _split_chart_rows_by_bars(rows: Rows) -> list[list[dict[str, Any]]]:
    """Splits a chart's rows into parts of whole tests, with at most MOST_BARS bars each or one test alone."""
    parts: list[list[dict[str, Any]]] = []
    bars = 0
    for mine in _group_chart_rows(rows, lambda row: str(row["test"])).values():
        count = len({row["row"] for row in mine})
        if not parts or bars + count > MOST_BARS:
            parts.append([])
            bars = 0
        parts[-1] += mine
        bars += count
    return parts
