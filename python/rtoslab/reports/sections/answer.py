"""The beginning of a report: the answer in sentences, and under it the chart that shows it."""

from collections.abc import Sequence
from typing import Any, Final

from rtoslab.analyses import CodePlacementLookup
from rtoslab.base import count_with_noun
from rtoslab.reports.sections.rivals import (
    do_speeds_depend_on_code_placement,
    kernel_comparison_paragraphs,
    kernel_speed_sentences,
)
from rtoslab.reports.sections.second_core import second_core_sentences
from rtoslab.reports.sections.speed_figures import KernelSpeed
from rtoslab.reports.table import ChartData, ReportSection, chart_range_ends

_MOST_PANELS: Final = 24
"""A chart of more tests would not end on the first page."""
ID: Final = "answer"
_MOST_VARIANTS: Final = 4
"""Of a benchmark with more variants of its own parameters only the one without a parameter is shown."""

_PLACEMENT: Final = (
    "How fast a board executes code may depend on where the code is in memory. So another placement may change ratios "
    "that were measured in one placement, and may reverse small ones. --placements 8 measures how much."
)


def fastest_kernels_section(figures: Sequence[KernelSpeed], places: CodePlacementLookup) -> ReportSection | None:
    """Returns the report's first section: which kernel is faster at what, and what more cores bring.

    None without a figure.
    """
    variants: dict[str, set[str]] = {}
    for figure in figures:
        variants.setdefault(figure.point.point.benchmark, set()).add(figure.test.parameters)
    figures = [
        figure
        for figure in figures
        if not figure.test.parameters or len(variants[figure.point.point.benchmark]) <= _MOST_VARIANTS
    ]
    if not figures:
        return None
    prose = [*kernel_comparison_paragraphs(figures), *second_core_sentences(figures, places)]
    if prose and do_speeds_depend_on_code_placement(figures):
        prose.append(_PLACEMENT)
    if not prose:
        prose = kernel_speed_sentences(figures)
    return ReportSection(ID, "The answer", prose, _kernel_speed_charts(figures), leads=True)


def _kernel_speed_charts(figures: Sequence[KernelSpeed]) -> list[ChartData]:
    """Returns a chart of the kernels' speeds for each board and kind of figure (rates or cycles). None with a single
    figure."""
    boards = list(dict.fromkeys(figure.board for figure in figures))
    charts = []
    for board in boards:
        for is_rate in (True, False):
            mine = [figure for figure in figures if figure.board == board and figure.is_rate is is_rate]
            if len(mine) > 1:
                charts.append(_kernel_speed_chart(mine, board if len(boards) > 1 else ""))
    return charts


def _kernel_speed_chart(figures: Sequence[KernelSpeed], board: str) -> ChartData:
    """Returns the chart of the kernels' speeds on one board. `board`: the name in its caption, or empty if there is
    only one."""
    tests = list(dict.fromkeys(figure.test for figure in figures))
    rows: list[dict[str, Any]] = [
        {
            "x": figure.test.panel_heading,
            "series": _without_board_name(figure.point.point.board, figure.series) if board else figure.series,
            "y": figure.figure.median,
            "text": _kernel_speed_bar_label_text(figure),
            "kernel": figure.point.point.kernel,
            "board": figure.point.point.board,
            **chart_range_ends(figure.figure),
        }
        for figure in figures
        if figure.test in tests[:_MOST_PANELS]
    ]
    left = (
        f" The first {_MOST_PANELS} of {count_with_noun(len(tests), 'test')}; the tables show all."
        if len(tests) > _MOST_PANELS
        else ""
    )
    where = f" on the {board}" if board else ""
    what = (
        f"Counts per second of all cores together{where}. Longer bars are faster."
        if figures[0].is_rate
        else f"Median of each interval{where}, in cycles of the core's clock. Shorter bars are faster."
    )
    scale_note = " Each test has its own scale, from zero." if len({figure.series for figure in figures}) > 1 else ""
    title = "counts per second, all cores" if figures[0].is_rate else "median, cycles"
    return ChartData("panels", rows, what + scale_note + left, y_title=title)


def _without_board_name(board: str, series: str) -> str:
    """Returns a series' name without the board, which the whole chart shares."""
    return ", ".join(part for part in series.split(", ") if part != board)


def _kernel_speed_bar_label_text(figure: KernelSpeed) -> str:
    """Returns a figure as a short text for its bar: whole cycles, or a rate such as `1.23M`."""
    value = figure.figure.median
    if not figure.is_rate:
        return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
    for power, letter in ((1e6, "M"), (1e3, "k")):
        if value >= power:
            return f"{value / power:.3g}{letter}" if value / power < 1000 else f"{value / power:,.0f}{letter}"
    return f"{value:,.0f}"
