"""Draws bar charts: upright bars in groups by name, or lying bars in a panel for each test, with numbers that fit.

Rows: `x`, `series`, `y`; also `text` (the label at the bar), `low` and `high` (the range of its runs), `kernel` (whose
colour it has), and `published` (a paper's value: a dark line across the bars instead of a bar).
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from rtoslab.reports.chart_data import ChartData
from rtoslab.reports.palette import (
    PUBLISHED,
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
)

_NUMBER: Final = 10
"""Size of the numbers at bars, in pixels."""
_UPRIGHT: Final = 11
"""Pixels. A bar of this width has room for an upright number."""
_HEIGHT: Final = 280
_BAND: Final = 0.85
"""The part of its room that a bar takes."""
_GROUP: Final = 0.8
"""The part of a name's room that its bars take together, as in the drawing library."""
_FEW_DECADES: Final = 3
_COLUMNS: Final = 4
_GAP: Final = 24
_INK: Final = "#000000"
"""Drawn in the colour of the page's text."""


def uses_log_axis(chart: ChartData) -> bool:
    """Whether the chart's axis is logarithmic.
    The chart must ask for it, and its values be above zero and span a decade.
    """
    values = [float(row["y"]) for row in chart.rows if row.get("y") is not None]
    return chart.log and bool(values) and min(values) > 0 and max(values) >= 10 * min(values)


def make_log_axis(chart: ChartData) -> alt.Axis:
    """Returns a logarithmic axis for the chart's values. If they span many powers of ten, its ticks are these
    powers."""
    values = [float(row["y"]) for row in chart.rows]
    decades = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    if len(decades) > _FEW_DECADES:
        return alt.Axis(values=[10.0**decade for decade in decades], format="~s")
    return alt.Axis(tickCount=6, format="~s")


def make_names_axis(names: Sequence[str], *, pixels: float) -> alt.Axis:
    """Returns a chart axis for names, of which each has room of `pixels`. Names are wrapped within it. All are written
    slantwise if a single word is longer."""
    longest = max((len(word) for name in names for word in name.split()), default=0)
    for size in (12, 11, 10):
        if estimate_text_width("n" * longest, size) <= pixels - 4:
            lines = label_wrap_expression(names, pixels - 4, size)
            return alt.Axis(labelAngle=0, labelLimit=int(pixels), labelExpr=lines, labelFontSize=size)
    return alt.Axis(labelAngle=-35, labelAlign="right", labelLimit=220)


def draw_upright_bars(chart: ChartData, *extra: alt.Chart, least_top: float = 0.0) -> Drawn:
    """Draws a chart with an upright bar for each name and series. Each series has its colour.

    A logarithmic axis has no zero, so it gets marks instead of bars. `extra`: further layers, above the bars. The axis
    reaches to `least_top` at least.
    """
    log = uses_log_axis(chart)
    ours = [row for row in chart.rows if not is_published_value(row)]
    names, series = distinct_row_texts(chart.rows, "x"), distinct_row_texts(ours, "series")
    pixels = WIDTH / max(1, len(names))
    slot = WIDTH / (len(names) + 1 - _GROUP) * _GROUP / max(1, len(series))
    turned = _are_bar_numbers_vertical(ours, slot * _BAND)
    rows = [{**row, "top": _value_at_bar_end(row)} for row in chart.rows]
    tops = [least_top, *(float(row["top"]) for row in rows)]
    base = alt.Chart(make_inline_chart_data([row for row in rows if not is_published_value(row)])).encode(
        x=alt.X("x:N", sort=names, title=chart.x_title or None, axis=make_names_axis(names, pixels=pixels)),
        xOffset=alt.XOffset("series:N", sort=series, scale=alt.Scale(domain=series, paddingInner=1 - _BAND)),
        y=_bar_height_axis(chart, tops, log=log, room=_pixels_for_bar_numbers(ours, turned)),
    )
    paint = series_colour_encoding(rows_with_legend_entry(chart.rows))
    marks = (
        base.mark_point(size=100, filled=True, opacity=1).encode(
            color=paint, shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series), legend=None)
        )
        if log
        else base.mark_bar().encode(color=paint)
    )
    layers = [
        marks,
        *extra,
        *value_range_chart_layers(base, ours),
        *_chart_layers_of_published_values(base, rows, series, slot),
        *_bar_value_label_layers(base, ours, turned, log=log),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=_HEIGHT)


def rows_with_legend_entry(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a chart's rows, and one more for the legend's entry of a paper's values."""
    mine = [{**row, "published": False} if row.get("series") != PUBLISHED else row for row in rows]
    if any(is_published_value(row) and row["series"] != PUBLISHED for row in rows):
        mine.append({"series": "published", "published": True})
    return mine


def _value_at_bar_end(row: dict[str, Any]) -> float:
    """Returns the value where a bar or the line of its runs' range ends, so that its number fits beyond."""
    values = [float(row[key]) for key in ("y", "low", "high") if row.get(key) is not None]
    return max(values) if float(row["y"]) >= 0 else min(values)


def _are_bar_numbers_vertical(rows: Sequence[dict[str, Any]], slot: float) -> bool | None:
    """Whether the numbers at bars are written upright, because a bar is too narrow for them. None if it is too narrow
    for these as well."""
    widest = max((estimate_text_width(str(row.get("text", "")), _NUMBER) for row in rows), default=0)
    return False if widest <= slot else True if slot >= _UPRIGHT else None


def _pixels_for_bar_numbers(rows: Sequence[dict[str, Any]], turned: bool | None) -> float:
    """Returns how many pixels the numbers need above the tallest bar. `turned`: whether they are written upright, or
    None if there are none."""
    if turned is None or not any(row.get("text") for row in rows):
        return 4
    return 10 + max(estimate_text_width(str(row.get("text", "")), _NUMBER) for row in rows) if turned else 18


def _bar_height_axis(chart: ChartData, tops: Sequence[float], *, log: bool, room: float) -> alt.Y:
    """Returns a bar chart's axis of heights, with `room` pixels for numbers beyond the bars. `tops`: the ends of the
    bars."""
    title = f"{chart.y_title} (log scale)" if log else chart.y_title
    if log:
        return alt.Y("y:Q", title=title, scale=alt.Scale(type="log", nice=True), axis=make_log_axis(chart))
    if not any(tops):
        return alt.Y("y:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=6))
    most, least = max(*tops, 0.0), min(*tops, 0.0)
    unit = (most - least) / (_HEIGHT - room * ((most > 0) + (least < 0)))
    scale = alt.Scale(zero=True, nice=False)
    if most > 0:
        scale.domainMax = most + room * unit
    if least < 0:
        scale.domainMin = least - room * unit
    axis = alt.Axis(tickCount=6, format="~s") if max(map(abs, tops)) >= 100_000 else alt.Axis(tickCount=6)
    return alt.Y("y:Q", title=title, scale=scale, axis=axis)


def _bar_value_label_layers(
    base: alt.Chart, rows: Sequence[dict[str, Any]], turned: bool | None, *, log: bool
) -> list[alt.Chart]:
    """Returns the chart layers with the numbers at the bars: one layer above zero, one below. `turned`: whether they
    are written upright, or None for none."""
    if turned is None or not any(row.get("text") for row in rows):
        return []
    away = 12 if log else 5
    layers = []
    for above, holds in ((1, "datum.y >= 0"), (-1, "datum.y < 0")):
        if turned:
            style: dict[str, Any] = {"angle": 270, "align": "left" if above > 0 else "right", "dx": above * away}
            style["baseline"] = "middle"
        else:
            style = {"dy": -above * away, "baseline": "bottom" if above > 0 else "top"}
        if any((float(row["y"]) >= 0) == (above > 0) for row in rows):
            layers.append(
                base.transform_filter(holds)
                .mark_text(fontSize=_NUMBER, color="#333", **style)
                .encode(text="text:N", y=_make_bar_axis_on_same_scale(base, "top:Q"))
            )
    return layers


def _make_bar_axis_on_same_scale(base: alt.Chart, shorthand: str) -> alt.Y:
    """Returns the Y axis of a bar chart for another field, on the same scale as the bars."""
    place: alt.Y = base.encoding["y"].copy()
    place.shorthand = shorthand
    return place


def _chart_layers_of_published_values(
    base: alt.Chart, rows: Sequence[dict[str, Any]], series: Sequence[str], slot: float
) -> list[alt.Chart]:
    """Returns layers with a dark line for each value that a paper published: across the bar of its series, or across
    all bars of its name."""
    printed = []
    for row in filter(is_published_value, rows):
        across = row["series"] not in series
        label = f"{row['x']}: {row['y']:,.6g} (published)"
        for number, item in enumerate(series if across else [row["series"]]):
            band = {} if number == 0 else {"low": None, "high": None}
            printed.append({**row, **band, "series": item, "across": across, "said": label})
    layers = value_range_chart_layers(base.properties(data=make_inline_chart_data(printed)), printed)
    for across, wide in ((False, 1.0), (True, 1.18)):
        mine = [row for row in printed if row["across"] is across]
        if mine:
            layers.append(
                base.properties(data=make_inline_chart_data(mine))
                .mark_point(shape="stroke", color=PUBLISHED_COLOUR, size=(slot * wide) ** 2, strokeWidth=3, opacity=1)
                .encode(description="said:N")
            )
    return layers


def draw_bar_panels(chart: ChartData) -> Drawn:
    """Draws a chart with horizontal bars: a panel for each name, each with a scale of its own from zero. Numbers at the
    bars replace the axis.

    With one series all names are in one panel.
    """
    names, series = distinct_row_texts(chart.rows, "x"), distinct_row_texts(chart.rows, "series")
    is_single = len(series) == 1
    most = {
        name: max(max(_value_at_bar_end(row), 0.0) for row in chart.rows if is_single or str(row["x"]) == name) or 1.0
        for name in names
    }
    rows = [_scale_bar_lengths_to_chart_panel(row, most[str(row["x"])]) for row in chart.rows]
    columns = 1 if is_single else min(_COLUMNS, len(names))
    width = WIDTH / 2 if columns == 1 else (WIDTH - (columns - 1) * _GAP) / columns
    widest = max(estimate_text_width(str(row.get("text", "")), 11) for row in rows) + 8
    scale = alt.Scale(domain=[0, width / max(1.0, width - widest)], nice=False)
    field, sort = ("x:N", names) if is_single else ("series:N", series)
    axis = alt.Axis(labelLimit=320, domain=True, ticks=False, grid=False) if is_single else None
    base = alt.Chart().encode(
        description="said:N",
        y=alt.Y(field, sort=sort, title=None, axis=axis, scale=alt.Scale(paddingInner=0.18, paddingOuter=0.1)),
        x=alt.X("share:Q", scale=scale, axis=None),
    )
    bars = base.mark_bar(stroke=_INK, strokeWidth=0.4).encode(color=series_colour_encoding(chart.rows))
    spread = (
        base.transform_filter("datum.low_share != datum.high_share")
        .mark_rule(color=_INK, strokeWidth=2, opacity=0.6)
        .encode(x=alt.X("low_share:Q", scale=scale, axis=None), x2="high_share:Q")
    )
    numbers = base.mark_text(align="left", baseline="middle", dx=5, fontSize=11, color="#333").encode(
        text="text:N", x=alt.X("top_share:Q", scale=scale, axis=None)
    )
    title = alt.TitleParams(chart.y_title, anchor="start", fontSize=12, fontWeight="normal", offset=6)
    layers = alt.layer(bars, spread, numbers).properties(width=width, height=alt.Step(19))
    if is_single:
        drawn: Drawn = layers.properties(data=make_inline_chart_data(rows), title=title)
        return drawn
    header = alt.Header(
        title=None, labelAnchor="start", labelAlign="left", labelFontSize=12, labelFontWeight="bold", labelLimit=width,
        labelExpr=label_wrap_expression(names, width, 12.5), labelPadding=4,
    )  # fmt: skip
    facet = alt.Facet("x:N", sort=names, title=None, header=header)
    faceted: Drawn = layers.facet(
        facet=facet, columns=columns, spacing=_GAP, data=make_inline_chart_data(rows), title=title
    )
    return faceted


def _scale_bar_lengths_to_chart_panel(row: dict[str, Any], longest: float) -> dict[str, Any]:
    """Returns a chart's row with its lengths as parts of the longest bar in its panel, and a text for its tooltip."""
    low, high = (float(row[key]) if row.get(key) is not None else float(row["y"]) for key in ("low", "high"))
    lengths = {"share": float(row["y"]), "low_share": low, "high_share": high, "top_share": _value_at_bar_end(row)}
    label = f"{row['x']}; {row['series']}: {float(row['y']):,.6g}"
    return {**row, "said": label, **{name: value / longest for name, value in lengths.items()}}
