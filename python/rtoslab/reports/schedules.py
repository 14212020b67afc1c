"""Draws charts of schedules: responses with their bounds, timelines, and the cost of each tick."""

from collections.abc import Callable
from typing import Final

import altair as alt

from rtoslab.reports.palette import SERIES_COLOURS, WIDTH, Drawn, distinct_row_texts, make_inline_chart_data
from rtoslab.reports.table import ChartData

_LINES: Final = [
    "longest observed",
    "bound, no overhead",
    "bound, split tick",
    "bound, worst tick",
    "deadline",
]
_LINE_COLOURS: Final = ["#000000", "#999999", SERIES_COLOURS[2], SERIES_COLOURS[1], SERIES_COLOURS[3]]
_ROW_HEADER: Final = alt.Header(
    title=None,
    labelAngle=0,
    labelAlign="left",
    labelFontSize=12,
    labelFontWeight="bold",
    labelLimit=150,
    labelPadding=18,
)


def _draw_response_time_histograms(chart: ChartData) -> Drawn:
    """Draws, for each task, a histogram of its response times with lines at its bounds. Each task has an axis of its
    own.

    Rows: `task`, and either `low`, `high`, `count`, or `line`, `at`.
    """
    tasks = distinct_row_texts(chart.rows, "task")
    lines = [name for name in _LINES if any(row.get("line") == name for row in chart.rows)]
    paint = alt.Scale(domain=lines, range=[_LINE_COLOURS[_LINES.index(name)] for name in lines])
    scale = alt.Scale(zero=False, nice=False, padding=12)
    x = alt.X("low:Q", title=chart.x_title, scale=scale, axis=alt.Axis(tickCount=6))
    bars = (
        alt.Chart()
        .transform_filter("isValid(datum.count)")
        .mark_rect(color=SERIES_COLOURS[0], stroke=SERIES_COLOURS[0])
        .encode(
            x=x, x2="high:Q", y=alt.Y("count:Q", title=None, axis=alt.Axis(tickCount=2, format="d")), y2=alt.Y2Datum(0)
        )
    )
    rules = (
        alt.Chart()
        .transform_filter("isValid(datum.line)")
        .mark_rule(strokeWidth=2)
        .encode(
            x=alt.X("at:Q"),
            color=alt.Color("line:N", sort=lines, scale=paint),
        )
    )
    drawn: Drawn = (
        alt.layer(bars, rules)
        .properties(width=WIDTH - 190, height=64)
        .facet(
            row=alt.Row("task:N", sort=tasks, header=_ROW_HEADER), spacing=26, data=make_inline_chart_data(chart.rows)
        )
        .resolve_scale(x="independent", y="independent")
    )
    return drawn


def _draw_timeline_bars(chart: ChartData) -> Drawn:
    """Draws a timeline of the tasks and handlers that ran, as horizontal bars. Rows: `row`, and either `from`,
    `to` with `what`, or `release`."""
    names = distinct_row_texts(chart.rows, "row")
    kinds = [
        name
        for name in ("work", "kernel for it", "tick", "switch", "interrupt")
        if any(row.get("what") == name for row in chart.rows)
    ]
    palette = {
        "work": SERIES_COLOURS[0],
        "kernel for it": SERIES_COLOURS[4],
        "tick": SERIES_COLOURS[1],
        "switch": SERIES_COLOURS[3],
        "interrupt": SERIES_COLOURS[2],
    }
    paint = alt.Scale(domain=kinds, range=[palette[name] for name in kinds])
    y = alt.Y("row:N", sort=names, title=None, axis=alt.Axis(labelLimit=150, grid=True))
    base = alt.Chart(make_inline_chart_data(chart.rows))
    bars = (
        base.transform_filter("isValid(datum.what)")
        .mark_bar(height={"band": 0.7}, strokeWidth=0.4)
        .encode(
            x=alt.X("from:Q", title=chart.x_title, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=10)),
            x2="to:Q",
            y=y,
            color=alt.Color("what:N", sort=kinds, scale=paint),
            stroke=alt.Stroke("what:N", sort=kinds, scale=paint),
        )
    )  # fmt: skip
    releases = (
        base.transform_filter("isValid(datum.release)")
        .mark_tick(thickness=2, color="#000", height={"band": 0.95}, orient="vertical")
        .encode(x="release:Q", y=y)
    )
    return alt.layer(bars, releases).properties(width=WIDTH - 110, height=alt.Step(26))


def _draw_tick_costs(chart: ChartData) -> Drawn:
    """Draws the cost of each tick as dots (the first series), and what models charge for it as lines.

    Rows: `x`, `y`, `series`.
    """
    series = distinct_row_texts(chart.rows, "series")
    colours = alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=SERIES_COLOURS[: len(series)]))
    base = alt.Chart(make_inline_chart_data(chart.rows)).encode(
        x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False)),
        y=alt.Y("y:Q", title=chart.y_title, scale=alt.Scale(zero=True)),
        color=colours,
    )
    dots = base.transform_filter(alt.datum.series == series[0]).mark_point(filled=True, size=18, opacity=0.8)
    lines = base.transform_filter(alt.datum.series != series[0]).mark_line(interpolate="step-after", strokeWidth=1.2)
    return alt.layer(lines, dots).properties(width=WIDTH - 40, height=220)


KINDS: Final[dict[str, Callable[[ChartData], Drawn]]] = {
    "responses": _draw_response_time_histograms,
    "timeline": _draw_timeline_bars,
    "ticks": _draw_tick_costs,
}
"""Keyed by the name in `ChartData.kind`."""
