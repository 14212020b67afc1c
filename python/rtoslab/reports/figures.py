"""Charts whose axes are named by what they show: bars, points and lines of rows with x, y and series.

A row may have `text`, what is at its mark, and `low` and `high`, between which its runs lie. A row whose series is
`paper`, or that has `published`, is what a paper prints: a dark line across the bars, or a hollow diamond above all.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import altair as alt

from rtoslab.reports.bars import is_log, legend_rows, log_axis, names_axis, panels, upright
from rtoslab.reports.chart_data import ChartData
from rtoslab.reports.palette import (
    PUBLISHED_COLOUR,
    WIDTH,
    Drawn,
    bands,
    colour,
    data,
    is_published,
    line_count,
    order,
    text_width,
    wrap_expression,
)

LABEL_LIMIT_PX: Final = 300
MOST_TICKS: Final = 12
"""Up to so many places on a line's axis, each has its tick. More are left to the drawing library."""
_LINES_HEIGHT: Final = 300
_SHAPES: Final = ("circle", "square", "triangle-up", "cross", "triangle-down", "triangle-right", "triangle-left")
_NUMBER: Final = 10
_NEAR: Final = 14
"""Pixels from one line's mark to the next within which a number would run into it."""


def _y(chart: ChartData) -> alt.Y:
    flat = not any(row["y"] for row in chart.rows)
    log = is_log(chart)
    linear = alt.Scale(domain=[0, 1]) if flat else alt.Scale(zero=True, nice=True)
    scale = alt.Scale(type="log", nice=True) if log else linear
    title = f"{chart.y_title} (log scale)" if log else chart.y_title
    axis = log_axis(chart) if log else alt.Axis(tickCount=6)
    return alt.Y("y:Q", title=title, scale=scale, axis=axis)


def _bars(chart: ChartData) -> Drawn:
    """Upright bars by name, one per series. Marks instead of bars on a logarithmic axis, which has no zero."""
    return upright(chart)


def _lines(chart: ChartData) -> Drawn:
    """A value along a number, one line per series. A paper's values are hollow diamonds, not joined."""
    series = order(chart.rows, "series")
    places = sorted({float(row["x"]) for row in chart.rows})
    axis = alt.Axis(values=places) if len(places) <= MOST_TICKS else alt.Axis()
    base = alt.Chart(data(_with_sides(chart, places))).encode(
        x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False, padding=12), axis=axis),
        y=_y(chart),
        color=colour(legend_rows(chart.rows)),
    )
    own = base.transform_filter("!datum.is_published")
    marks = own.mark_point(size=80, filled=True, opacity=1).encode(
        shape=alt.Shape("series:N", sort=series, scale=_shapes(chart.rows), legend=None)
    )
    labels = [
        own.transform_filter(f"datum.up == {up}").mark_text(dy=-up, fontSize=_NUMBER).encode(text="text:N")
        for up in (13, -14)
    ]
    spread = base.mark_rule(strokeWidth=2, opacity=0.5).encode(y="low:Q", y2="high:Q")
    return alt.layer(
        spread, own.mark_line(strokeWidth=2), marks, *labels, *_diamonds(base, chart.rows, fixed=False)
    ).properties(width=WIDTH, height=_LINES_HEIGHT)


def _with_sides(chart: ChartData, places: Sequence[float]) -> list[dict[str, Any]]:
    """Each row with the side of its mark where its number has room: above the highest line, below the lowest; 0 for
    no number, where another line or the next number is too near."""
    span = max(places) - min(places) or 1.0
    heights = [float(row["y"]) for row in chart.rows]
    tall = (max(*heights, 0.0) - min(*heights, 0.0)) or 1.0
    widest = max((text_width(str(row.get("text", "")), _NUMBER) for row in chart.rows), default=0) + 6
    numbered: list[float] = []
    for place in places:
        if not numbered or (place - numbered[-1]) * WIDTH / span >= widest:
            numbered.append(place)
    sides = []
    for row in chart.rows:
        beside = [
            (float(other["y"]) - float(row["y"])) * _LINES_HEIGHT / tall
            for other in chart.rows
            if other is not row and float(other["x"]) == float(row["x"])
        ]
        has_room = float(row["x"]) in numbered and not is_published(row) and not chart.log
        above = not any(side >= 0 for side in beside)
        below = not any(side <= 0 for side in beside)
        apart = all(abs(side) >= _NEAR for side in beside)
        up = 13 if above else -14 if below and apart else 0
        sides.append({**row, "up": up if has_room else 0, "is_published": is_published(row)})
    return sides


def _shapes(rows: Sequence[dict[str, Any]], *, has_own_scale: bool = True) -> alt.Scale:
    """A diamond for what a paper prints. Other series have a shape of their own, or a circle."""
    series = order(legend_rows(rows), "series")
    printed = set(series) - {str(row["series"]) for row in rows if not is_published(row)}
    others = [item for item in series if item not in printed]
    shape = {item: _SHAPES[number % len(_SHAPES) if has_own_scale else 0] for number, item in enumerate(others)}
    return alt.Scale(domain=series, range=[shape.get(item, "diamond") for item in series])


def _diamonds(base: alt.Chart, rows: Sequence[dict[str, Any]], *, fixed: bool) -> list[alt.Chart]:
    """Hollow diamonds at what a paper prints, above all else: dark (`fixed`), or in the colour of their series."""
    if not any(map(is_published, rows)):
        return []
    style: dict[str, Any] = {"color": PUBLISHED_COLOUR} if fixed else {}
    points = base.transform_filter("datum.is_published").mark_point(
        shape="diamond", filled=False, size=170, strokeWidth=2.2, opacity=1, **style
    )
    return [points]


def _pairs(chart: ChartData) -> Drawn:
    """Lying marks by name, joined by a line where there are two: a published figure and ours."""
    names, series = order(chart.rows, "x"), order(chart.rows, "series")
    log = is_log(chart)
    title = f"{chart.y_title} (log scale)" if log else chart.y_title
    scale = alt.Scale(type="log", nice=True) if log else alt.Scale(zero=True, nice=True)
    label = alt.Axis(labelLimit=LABEL_LIMIT_PX, grid=True, labelExpr=wrap_expression(names, LABEL_LIMIT_PX))
    rows = [{**row, "is_published": is_published(row)} for row in chart.rows]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("x:N", sort=names, title=chart.x_title or None, axis=label),
        x=alt.X("y:Q", title=title, scale=scale, axis=alt.Axis(tickCount=8, format="~s" if log else ",~f")),
    )
    joints = base.mark_line(color="#b0b7bf", strokeWidth=2).encode(detail="x:N")
    marks = (
        base.transform_filter("!datum.is_published")
        .mark_point(size=110, filled=True, opacity=1)
        .encode(
            color=colour(chart.rows),
            shape=alt.Shape(
                "series:N",
                sort=series,
                scale=_shapes(chart.rows, has_own_scale=False),
                legend=alt.Undefined if len(series) > 1 else None,
            ),
        )
    )
    return alt.layer(joints, *bands(base, chart.rows, "x"), marks, *_diamonds(base, chart.rows, fixed=True)).properties(
        width=WIDTH - LABEL_LIMIT_PX // 2, height=alt.Step(max(30, 8 + 14 * line_count(names, LABEL_LIMIT_PX)))
    )


def _sweep(chart: ChartData) -> Drawn:
    """A thin stroke at each place of a number, from `low` to `high`. One panel per series, each with its own axis."""
    series = order(chart.rows, "series")
    strokes = (
        alt.Chart()
        .mark_rule(strokeWidth=1, strokeCap="square")
        .encode(
            x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False, padding=4)),
            y=alt.Y("low:Q", title=chart.y_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=5)),
            y2="high:Q",
            color=colour(chart.rows, legend=False),
        )
    )
    points = strokes.mark_point(size=9, filled=True, opacity=1).encode(y2=alt.Undefined, y="high:Q")
    layers = alt.layer(strokes, points).properties(width=WIDTH - 60, height=170)
    header = alt.Header(
        title=None, labelOrient="top", labelAnchor="start", labelAngle=0, labelFontWeight="bold", labelLimit=WIDTH
    )
    drawn: Drawn = layers.facet(
        row=alt.Row("series:N", sort=series, header=header), spacing=12, data=data(chart.rows)
    ).resolve_scale(y="independent")
    return drawn


def _multiples(chart: ChartData) -> Drawn:
    """Small charts side by side, one a facet: marks by name with bars between `low` and `high`, one colour a series."""
    facets, names, series = (order(chart.rows, key) for key in ("facet", "x", "series"))
    width = WIDTH // 4 - 60
    offset = alt.XOffset("series:N", sort=series)
    axis = names_axis(names, pixels=width / len(names))
    base = alt.Chart().encode(x=alt.X("x:N", sort=names, title=chart.x_title, axis=axis), xOffset=offset)
    title = chart.y_title
    spread = base.mark_rule(strokeWidth=2, opacity=0.5).encode(
        y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=4)),
        y2="high:Q",
        color=colour(chart.rows),
    )
    marks = base.mark_point(size=60, filled=True, opacity=1).encode(
        y=alt.Y("y:Q", title=title),
        color=colour(chart.rows),
        shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series), legend=None),
    )
    header = alt.Header(labelFontSize=11, labelLimit=width + 50, labelExpr=wrap_expression(facets, width + 40, 11))
    drawn: Drawn = (
        alt.layer(spread, marks)
        .properties(width=width, height=130)
        .facet(facet=alt.Facet("facet:N", sort=facets, title=None, header=header), columns=4, data=data(chart.rows))
        .resolve_scale(y="independent")
    )
    return drawn


def _strip(chart: ChartData) -> Drawn:
    """One line for each series, a tick for each value on it: where lines overlap, the series have no order."""
    series = order(chart.rows, "series")
    values = alt.X("value:Q", title=chart.x_title, scale=alt.Scale(zero=False, nice=True, padding=12))
    lines = alt.Y("series:N", title=None, sort=series, axis=alt.Axis(labelLimit=LABEL_LIMIT_PX))
    ticks = alt.Chart(data(chart.rows)).mark_tick(thickness=2, size=22, opacity=0.45)
    drawn = ticks.encode(x=values, y=lines, color=colour(chart.rows, legend=False))
    return alt.layer(drawn).properties(width=WIDTH, height=34 * len(series))


KINDS: Final[dict[str, Callable[[ChartData], Drawn]]] = {
    "bars": _bars,
    "lines": _lines,
    "multiples": _multiples,
    "pairs": _pairs,
    "panels": panels,
    "strip": _strip,
    "sweep": _sweep,
}
