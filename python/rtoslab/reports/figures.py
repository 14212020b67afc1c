"""Draws bars, points and lines of rows with x, y and series.

A row may have `text`, the label at its mark, and `low` and `high`, the range of its runs. A row whose series is
`paper`, or that has `published`, is a paper's value: a dark line across the bars, or a hollow diamond above all.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import altair as alt

from rtoslab.reports.bars import (
    draw_bar_panels,
    draw_upright_bars,
    make_log_axis,
    make_names_axis,
    rows_with_legend_entry,
    uses_log_axis,
)
from rtoslab.reports.chart_data import ChartData
from rtoslab.reports.palette import (
    PUBLISHED_COLOUR,
    WIDTH,
    Drawn,
    distinct_row_texts,
    estimate_text_width,
    is_published_value,
    label_wrap_expression,
    make_inline_chart_data,
    series_colour_encoding,
    value_range_chart_layers,
    wrapped_line_count,
)

LABEL_LIMIT_PX: Final = 300
MOST_TICKS: Final = 12
"""Up to this many values on a line's axis, each has a tick. Otherwise the drawing library chooses."""
_LINES_HEIGHT: Final = 300
_SHAPES: Final = ("circle", "square", "triangle-up", "cross", "triangle-down", "triangle-right", "triangle-left")
_NUMBER: Final = 10
_NEAR: Final = 14
"""Pixels. A number would run into another line's mark that is nearer."""


def _chart_vertical_axis(chart: ChartData) -> alt.Y:
    """Returns a chart's axis of heights. It is logarithmic or starts at zero."""
    flat = not any(row["y"] for row in chart.rows)
    log = uses_log_axis(chart)
    linear = alt.Scale(domain=[0, 1]) if flat else alt.Scale(zero=True, nice=True)
    scale = alt.Scale(type="log", nice=True) if log else linear
    title = f"{chart.y_title} (log scale)" if log else chart.y_title
    axis = make_log_axis(chart) if log else alt.Axis(tickCount=6)
    return alt.Y("y:Q", title=title, scale=scale, axis=axis)


def _draw_upright_bar_chart(chart: ChartData) -> Drawn:
    """Draws a chart of upright bars by name, in a colour for each series.
    A logarithmic axis gets marks, because it has no zero.
    """
    return draw_upright_bars(chart)


def _draw_line_chart(chart: ChartData) -> Drawn:
    """Draws a chart with a number on its x axis and a line for each series.

    A paper's values are hollow diamonds, not joined.
    """
    series = distinct_row_texts(chart.rows, "series")
    places = sorted({float(row["x"]) for row in chart.rows})
    axis = alt.Axis(values=places) if len(places) <= MOST_TICKS else alt.Axis()
    base = alt.Chart(make_inline_chart_data(_add_value_label_positions_to_rows(chart, places))).encode(
        x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False, padding=12), axis=axis),
        y=_chart_vertical_axis(chart),
        color=series_colour_encoding(rows_with_legend_entry(chart.rows)),
    )
    own = base.transform_filter("!datum.is_published")
    marks = own.mark_point(size=80, filled=True, opacity=1).encode(
        shape=alt.Shape("series:N", sort=series, scale=_chart_symbol_shape_scale(chart.rows), legend=None)
    )
    labels = [
        own.transform_filter(f"datum.up == {up}").mark_text(dy=-up, fontSize=_NUMBER).encode(text="text:N")
        for up in (13, -14)
    ]
    spread = base.mark_rule(strokeWidth=2, opacity=0.5).encode(y="low:Q", y2="high:Q")
    return alt.layer(
        spread,
        own.mark_line(strokeWidth=2),
        marks,
        *labels,
        *_paper_value_diamond_layers(base, chart.rows, fixed=False),
    ).properties(width=WIDTH, height=_LINES_HEIGHT)


def _add_value_label_positions_to_rows(chart: ChartData, places: Sequence[float]) -> list[dict[str, Any]]:
    """Returns a line chart's rows, each with `up`: by how many pixels its number is above its mark (below it if
    negative).

    Numbers are above the highest line and below the lowest. 0: another line or number is too near for one. `places`:
    all values on the x axis.
    """
    span = max(places) - min(places) or 1.0
    heights = [float(row["y"]) for row in chart.rows]
    tall = (max(*heights, 0.0) - min(*heights, 0.0)) or 1.0
    widest = max((estimate_text_width(str(row.get("text", "")), _NUMBER) for row in chart.rows), default=0) + 6
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
        has_room = float(row["x"]) in numbered and not is_published_value(row) and not chart.log
        above = not any(side >= 0 for side in beside)
        below = not any(side <= 0 for side in beside)
        apart = all(abs(side) >= _NEAR for side in beside)
        up = 13 if above else -14 if below and apart else 0
        sides.append({**row, "up": up if has_room else 0, "is_published": is_published_value(row)})
    return sides


def _chart_symbol_shape_scale(rows: Sequence[dict[str, Any]], *, has_own_scale: bool = True) -> alt.Scale:
    """Returns the shape of the marks of each series: a diamond for a paper's, else a shape of its own (or a circle for
    all without `has_own_scale`)."""
    series = distinct_row_texts(rows_with_legend_entry(rows), "series")
    printed = set(series) - {str(row["series"]) for row in rows if not is_published_value(row)}
    others = [item for item in series if item not in printed]
    shape = {item: _SHAPES[number % len(_SHAPES) if has_own_scale else 0] for number, item in enumerate(others)}
    return alt.Scale(domain=series, range=[shape.get(item, "diamond") for item in series])


def _paper_value_diamond_layers(base: alt.Chart, rows: Sequence[dict[str, Any]], *, fixed: bool) -> list[alt.Chart]:
    """Returns the chart layer with hollow diamonds at a paper's values, dark (`fixed`) or in the colour of their
    series. Empty if there are none."""
    if not any(map(is_published_value, rows)):
        return []
    style: dict[str, Any] = {"color": PUBLISHED_COLOUR} if fixed else {}
    points = base.transform_filter("datum.is_published").mark_point(
        shape="diamond", filled=False, size=170, strokeWidth=2.2, opacity=1, **style
    )
    return [points]


def _draw_pair_chart(chart: ChartData) -> Drawn:
    """Draws a chart with two marks for each name, such as a published figure and ours, joined by a line."""
    names, series = distinct_row_texts(chart.rows, "x"), distinct_row_texts(chart.rows, "series")
    log = uses_log_axis(chart)
    title = f"{chart.y_title} (log scale)" if log else chart.y_title
    scale = alt.Scale(type="log", nice=True) if log else alt.Scale(zero=True, nice=True)
    label = alt.Axis(labelLimit=LABEL_LIMIT_PX, grid=True, labelExpr=label_wrap_expression(names, LABEL_LIMIT_PX))
    rows = [{**row, "is_published": is_published_value(row)} for row in chart.rows]
    base = alt.Chart(make_inline_chart_data(rows)).encode(
        y=alt.Y("x:N", sort=names, title=chart.x_title or None, axis=label),
        x=alt.X("y:Q", title=title, scale=scale, axis=alt.Axis(tickCount=8, format="~s" if log else ",~f")),
    )
    joints = base.mark_line(color="#b0b7bf", strokeWidth=2).encode(detail="x:N")
    marks = (
        base.transform_filter("!datum.is_published")
        .mark_point(size=110, filled=True, opacity=1)
        .encode(
            color=series_colour_encoding(chart.rows),
            shape=alt.Shape(
                "series:N",
                sort=series,
                scale=_chart_symbol_shape_scale(chart.rows, has_own_scale=False),
                legend=alt.Undefined if len(series) > 1 else None,
            ),
        )
    )
    return alt.layer(
        joints,
        *value_range_chart_layers(base, chart.rows, "x"),
        marks,
        *_paper_value_diamond_layers(base, chart.rows, fixed=True),
    ).properties(
        width=WIDTH - LABEL_LIMIT_PX // 2, height=alt.Step(max(30, 8 + 14 * wrapped_line_count(names, LABEL_LIMIT_PX)))
    )


def _draw_range_panels(chart: ChartData) -> Drawn:
    """Draws a chart with a thin upright line from `low` to `high` at each number of the x axis, in a panel for each
    series."""
    series = distinct_row_texts(chart.rows, "series")
    strokes = (
        alt.Chart()
        .mark_rule(strokeWidth=1, strokeCap="square")
        .encode(
            x=alt.X("x:Q", title=chart.x_title, scale=alt.Scale(nice=False, padding=4)),
            y=alt.Y("low:Q", title=chart.y_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=5)),
            y2="high:Q",
            color=series_colour_encoding(chart.rows, legend=False),
        )
    )
    points = strokes.mark_point(size=9, filled=True, opacity=1).encode(y2=alt.Undefined, y="high:Q")
    layers = alt.layer(strokes, points).properties(width=WIDTH - 60, height=170)
    header = alt.Header(
        title=None, labelOrient="top", labelAnchor="start", labelAngle=0, labelFontWeight="bold", labelLimit=WIDTH
    )
    drawn: Drawn = layers.facet(
        row=alt.Row("series:N", sort=series, header=header), spacing=12, data=make_inline_chart_data(chart.rows)
    ).resolve_scale(y="independent")
    return drawn


def _draw_chart_for_each_facet(chart: ChartData) -> Drawn:
    """Draws a small chart for each value of `facet`: marks by name, with lines from `low` to `high`."""
    facets, names, series = (distinct_row_texts(chart.rows, key) for key in ("facet", "x", "series"))
    width = WIDTH // 4 - 60
    offset = alt.XOffset("series:N", sort=series)
    axis = make_names_axis(names, pixels=width / len(names))
    base = alt.Chart().encode(x=alt.X("x:N", sort=names, title=chart.x_title, axis=axis), xOffset=offset)
    title = chart.y_title
    spread = base.mark_rule(strokeWidth=2, opacity=0.5).encode(
        y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=4)),
        y2="high:Q",
        color=series_colour_encoding(chart.rows),
    )
    marks = base.mark_point(size=60, filled=True, opacity=1).encode(
        y=alt.Y("y:Q", title=title),
        color=series_colour_encoding(chart.rows),
        shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series), legend=None),
    )
    header = alt.Header(
        labelFontSize=11, labelLimit=width + 50, labelExpr=label_wrap_expression(facets, width + 40, 11)
    )
    drawn: Drawn = (
        alt.layer(spread, marks)
        .properties(width=width, height=130)
        .facet(
            facet=alt.Facet("facet:N", sort=facets, title=None, header=header),
            columns=4,
            data=make_inline_chart_data(chart.rows),
        )
        .resolve_scale(y="independent")
    )
    return drawn


def _draw_value_ticks_on_series_lines(chart: ChartData) -> Drawn:
    """Draws a chart with a horizontal line for each series and a tick on it for each of its values.

    Series whose ticks overlap have no order.
    """
    series = distinct_row_texts(chart.rows, "series")
    values = alt.X("value:Q", title=chart.x_title, scale=alt.Scale(zero=False, nice=True, padding=12))
    lines = alt.Y("series:N", title=None, sort=series, axis=alt.Axis(labelLimit=LABEL_LIMIT_PX))
    ticks = alt.Chart(make_inline_chart_data(chart.rows)).mark_tick(thickness=2, size=22, opacity=0.45)
    drawn = ticks.encode(x=values, y=lines, color=series_colour_encoding(chart.rows, legend=False))
    return alt.layer(drawn).properties(width=WIDTH, height=34 * len(series))


KINDS: Final[dict[str, Callable[[ChartData], Drawn]]] = {
    "bars": _draw_upright_bar_chart,
    "lines": _draw_line_chart,
    "multiples": _draw_chart_for_each_facet,
    "pairs": _draw_pair_chart,
    "panels": draw_bar_panels,
    "strip": _draw_value_ticks_on_series_lines,
    "sweep": _draw_range_panels,
}
