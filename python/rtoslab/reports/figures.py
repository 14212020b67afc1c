"""Charts whose axes are named by what they show: bars, points and lines of rows with x, y and series.

A row may have `text`, what stands at its mark, and `low` and `high`, between which its runs lie.
"""

from collections.abc import Callable
from typing import Final

import altair as alt

from rtoslab.reports.palette import WIDTH, Drawn, bands, colour, data, order
from rtoslab.reports.table import ChartData

LABEL_LIMIT_PX: Final = 300
MOST_TICKS: Final = 12
"""Up to so many places on a line's axis, each has its tick; more are left to the drawing library."""
_NAMES: Final = alt.Axis(labelAngle=0, labelLimit=140, labelExpr="split(datum.label, ', ')")
"""Names below an axis, broken at their commas."""


def _y(chart: ChartData, *, from_zero: bool) -> alt.Y:
    flat = not any(row["y"] for row in chart.rows)
    linear = alt.Scale(domain=[0, 1]) if flat else alt.Scale(zero=from_zero, nice=True)
    scale = alt.Scale(type="log", nice=True) if chart.log else linear
    title = f"{chart.y_title} (log scale)" if chart.log else chart.y_title
    axis = alt.Axis(tickCount=6, format="~s") if chart.log else alt.Axis(tickCount=6)
    return alt.Y("y:Q", title=title, scale=scale, axis=axis)


def _bars(chart: ChartData) -> Drawn:
    """Upright bars by name, one per series; marks instead of bars on a logarithmic axis, which has no zero."""
    names, series = order(chart.rows, "x"), order(chart.rows, "series")
    base = alt.Chart(data(chart.rows)).encode(
        x=alt.X("x:N", sort=names, title=chart.x_title or None, axis=_NAMES),
        xOffset=alt.XOffset("series:N", sort=series),
        y=_y(chart, from_zero=True),
    )
    paint = colour(series)
    marks = (
        base.mark_point(size=100, filled=True, opacity=1).encode(
            color=paint, shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series))
        )
        if chart.log
        else base.mark_bar(width={"band": 0.85}).encode(color=paint)
    )
    labels = base.mark_text(dy=-12 if chart.log else -7, fontSize=10, color="#333").encode(text="text:N")
    return alt.layer(marks, *bands(base, chart.rows), labels).properties(width=WIDTH, height=280)


def _lines(chart: ChartData) -> Drawn:
    """A value along a number, one line per series."""
    series = order(chart.rows, "series")
    places = sorted({float(row["x"]) for row in chart.rows})
    axis = alt.Axis(values=places) if len(places) <= MOST_TICKS else alt.Axis()
    base = alt.Chart(data(chart.rows)).encode(
        x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False, padding=12), axis=axis),
        y=_y(chart, from_zero=True),
        color=colour(series),
    )
    marks = base.mark_point(size=80, filled=True, opacity=1).encode(
        shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series))
    )
    labels = base.mark_text(dy=-13, fontSize=10).encode(text="text:N")
    spread = base.mark_rule(strokeWidth=2, opacity=0.5).encode(y="low:Q", y2="high:Q")
    return alt.layer(spread, base.mark_line(strokeWidth=2), marks, labels).properties(width=WIDTH, height=300)


def _pairs(chart: ChartData) -> Drawn:
    """Lying marks by name, joined by a line where there are two: a published figure and ours."""
    names, series = order(chart.rows, "x"), order(chart.rows, "series")
    title = f"{chart.y_title} (log scale)" if chart.log else chart.y_title
    scale = alt.Scale(type="log", nice=True) if chart.log else alt.Scale(zero=True, nice=True)
    base = alt.Chart(data(chart.rows)).encode(
        y=alt.Y("x:N", sort=names, title=chart.x_title or None, axis=alt.Axis(labelLimit=LABEL_LIMIT_PX, grid=True)),
        x=alt.X("y:Q", title=title, scale=scale, axis=alt.Axis(tickCount=8, format="~s" if chart.log else ",f")),
    )
    joints = base.mark_line(color="#b0b7bf", strokeWidth=2).encode(detail="x:N")
    marks = base.mark_point(size=110, filled=True, opacity=1).encode(
        color=colour(series), shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series))
    )
    return alt.layer(joints, *bands(base, chart.rows, "x"), marks).properties(
        width=WIDTH - LABEL_LIMIT_PX // 2, height=alt.Step(30)
    )


def _sweep(chart: ChartData) -> Drawn:
    """A thin stroke at each place of a number, from `low` to `high`; one panel per series, each with its own axis."""
    series = order(chart.rows, "series")
    strokes = (
        alt.Chart()
        .mark_rule(strokeWidth=1, strokeCap="square")
        .encode(
            x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False, padding=4)),
            y=alt.Y("low:Q", title=chart.y_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=5)),
            y2="high:Q",
            color=colour(series).legend(None),
        )
    )
    points = strokes.mark_point(size=9, filled=True, opacity=1).encode(y2=alt.Undefined, y="high:Q")
    layers = alt.layer(strokes, points).properties(width=WIDTH - 60, height=170)
    drawn: Drawn = layers.facet(
        row=alt.Row("series:N", sort=series, header=alt.Header(title=None, labelAngle=0, labelFontWeight="bold")),
        spacing=12,
        data=data(chart.rows),
    ).resolve_scale(y="independent")
    return drawn


def _multiples(chart: ChartData) -> Drawn:
    """Small charts side by side, one a facet: marks by name with bars between `low` and `high`, one colour a series."""
    facets, names, series = (order(chart.rows, key) for key in ("facet", "x", "series"))
    offset = alt.XOffset("series:N", sort=series)
    base = alt.Chart().encode(x=alt.X("x:N", sort=names, title=chart.x_title, axis=_NAMES), xOffset=offset)
    title = chart.y_title
    spread = base.mark_rule(strokeWidth=2, opacity=0.5).encode(
        y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=4)),
        y2="high:Q",
        color=colour(series),
    )
    marks = base.mark_point(size=60, filled=True, opacity=1).encode(
        y=alt.Y("y:Q", title=title),
        color=colour(series),
        shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series)),
    )
    drawn: Drawn = (
        alt.layer(spread, marks)
        .properties(width=WIDTH // 4 - 60, height=130)
        .facet(
            facet=alt.Facet("facet:N", sort=facets, title=None, header=alt.Header(labelFontSize=11, labelLimit=200)),
            columns=4,
            data=data(chart.rows),
        )
        .resolve_scale(y="independent")
    )
    return drawn


KINDS: Final[dict[str, Callable[[ChartData], Drawn]]] = {
    "bars": _bars,
    "lines": _lines,
    "multiples": _multiples,
    "pairs": _pairs,
    "sweep": _sweep,
}
