"""Draws charts as SVG and PDF by Vega-Altair, so that a report needs no script and prints sharp."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import altair as alt
import vl_convert

from rtoslab.analyses import CYCLE_PARTS, VISIBLE_PART
from rtoslab.reports import figures, schedules
from rtoslab.reports.bars import draw_upright_bars
from rtoslab.reports.palette import (
    WIDTH,
    Drawn,
    distinct_row_texts,
    estimate_text_width,
    label_wrap_expression,
    make_inline_chart_data,
    series_colours,
)
from rtoslab.reports.table import ChartData

PART_COLOURS: Final = dict(
    zip(
        CYCLE_PARTS,
        [
            "#009E73",
            "#0072B2",
            "#56B4E9",
            "#bdbdbd",
            "#D55E00",
            "#8C3B00",
            "#E69F00",
            "#F0E442",
            "#CC79A7",
            "#e8e8e8",
            "#000000",
        ],
        strict=True,
    )
)


_EMBEDDED_FONT: Final = "Liberation Sans"


def render_svg(chart: ChartData) -> str:
    """Returns the chart as a standalone SVG element."""
    draw = figures.KINDS.get(chart.kind) or schedules.KINDS.get(chart.kind)
    drawn = draw(chart) if draw else _KINDS[chart.kind](chart)
    styled = (
        drawn.configure(font=f"Arial, {_EMBEDDED_FONT}, sans-serif", background="white", padding=10)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=12,
            gridColor="#e4e4e4",
            domainColor="#555",
            tickColor="#555",
        )
        .configure_legend(
            labelFontSize=12, titleFontSize=12, orient="top", title=None, labelLimit=300, columnPadding=24
        )
        .configure_view(stroke=None)
    )
    text: str = vl_convert.vegalite_to_svg(styled.to_json())
    return add_tooltips(text[text.index("<svg") :])


_RESOURCES: Final = re.compile(rb"(?:^ +/[a-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
"""Names of a PDF page's resources, a line each."""


def convert_to_pdf(drawing: str) -> bytes:
    """Returns a chart's SVG text as a PDF file. The same SVG gives the same bytes.

    The converter writes no date and no random id, but the names of resources in the random order of its hash table.
    They are sorted here. Their lines stay in their object, so no offset in the file moves. The font is the converter's
    own, even where Arial is installed.
    """
    fonts = f"Arial, {_EMBEDDED_FONT}, sans-serif"
    data: bytes = vl_convert.svg_to_pdf(drawing.replace(fonts, _EMBEDDED_FONT))
    return _RESOURCES.sub(lambda match: b"".join(sorted(match[0].splitlines(keepends=True))), data)


def _draw_core_gain_chart(chart: ChartData) -> Drawn:
    """Draws a chart of the gain of more cores: the throughput of several cores, divided by that of one.

    Lines show no gain and a perfect one.
    """
    words = alt.Chart(
        alt.InlineData(values=[{"y": 1, "says": "no gain"}, {"y": 2, "says": "perfect on two cores"}])
    ).encode(y="y:Q")
    rules = words.mark_rule(strokeDash=[5, 4], color="#555")
    named = words.mark_text(align="right", dx=-4, dy=-6, fontSize=11, color="#555").encode(
        text="says:N", x=alt.value(WIDTH)
    )
    return draw_upright_bars(
        _chart_of_bars_by_test(chart, "gain", "throughput with several cores, relative to one"),
        rules,
        named,
        least_top=2.0,
    )


def _draw_heap_peak_chart(chart: ChartData) -> Drawn:
    """Draws a chart of the highest use of the kernel's heap in each test, in bytes."""
    return draw_upright_bars(_chart_of_bars_by_test(chart, "bytes", "peak of the heap, bytes"))


def _chart_of_bars_by_test(chart: ChartData, height: str, title: str) -> ChartData:
    """Returns the chart's data for bars by test: the bars' heights are the rows' values under the key `height`."""
    rows = [{**row, "x": row["test"], "y": row[height]} for row in chart.rows]
    return replace(chart, rows=rows, y_title=title, x_title="")


def _draw_core_cycle_shares_chart(chart: ChartData) -> Drawn:
    """Draws a chart of the cycles of each core, as shares by what they were used for."""
    title = "share of the core's cycles in the window"
    x = alt.X("share:Q", title=title, stack="zero", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))
    return _draw_stacked_cycle_cause_bars(chart.rows, "share", x)


def _draw_cycles_per_loop_pass_chart(chart: ChartData) -> Drawn:
    """Draws a chart of the cycles that one count takes, by what they were used for, in multiples of those on one
    core."""
    title = "cycles of a core per count, relative to one core alone"
    x = alt.X("multiple:Q", title=title, stack="zero", axis=alt.Axis(tickCount=8, format=".1f"))
    return _draw_stacked_cycle_cause_bars(chart.rows, "multiple", x)


_WIDEST_NAME: Final = 340
"""Pixels. A longer name is cut."""


def _draw_stacked_cycle_cause_bars(rows: Sequence[dict[str, Any]], field: str, x: alt.X) -> Drawn:
    """Draws a chart with a horizontal bar for each test and run, divided into what its cycles were used for. `field`:
    the key of the parts' lengths."""
    tests, lines = distinct_row_texts(rows, "test"), distinct_row_texts(rows, "row")
    widest = min(_WIDEST_NAME, 8 + max(estimate_text_width(name, 12) for name in lines))
    used = [part for part in CYCLE_PARTS if any(row["part"] == part and row[field] >= VISIBLE_PART for row in rows)]
    bars = (
        alt.Chart()
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            y=alt.Y(
                "row:N",
                sort=lines,
                title=None,
                axis=alt.Axis(labelLimit=_WIDEST_NAME, domain=False, ticks=False),
                scale=alt.Scale(paddingInner=0.15, paddingOuter=0.1),
            ),
            x=x,
            color=alt.Color(
                "part:N",
                sort=used,
                scale=alt.Scale(domain=used, range=[PART_COLOURS[part] for part in used]),
                legend=alt.Legend(columns=6),
            ),
            order=alt.Order("order:Q"),
        )
        .properties(width=WIDTH - widest, height=alt.Step(19))
    )
    header = alt.Header(
        title=None, labelOrient="top", labelAnchor="start", labelAngle=0, labelFontWeight="bold", labelFontSize=12,
        labelPadding=-8, labelLimit=WIDTH,
    )  # fmt: skip
    drawn: Drawn = bars.facet(
        row=alt.Row("test:N", sort=tests, header=header),
        spacing=14,
        data=make_inline_chart_data([row for row in rows if row["part"] in used]),
    ).resolve_scale(y="independent")
    return drawn


_MOST_TICKED_CYCLES: Final = 12
"""Up to this many whole cycles each get a tick, because the drawing library would set some between them."""


_NAME_OF_PANEL: Final = 220


def _draw_sample_histograms(chart: ChartData) -> Drawn:
    """Draws a small histogram of samples for each series, all on one axis of cycles."""
    rows = chart.rows
    series = distinct_row_texts(rows, "series")
    several = len(series) > 1
    title = "samples"
    few = list(range(min(int(row["low"]) for row in rows), 1 + max(math.ceil(row["high"]) for row in rows)))
    colours = series_colours(rows)
    paint = alt.Scale(domain=list(colours), range=list(colours.values()))
    bars = (
        alt.Chart()
        .mark_rect(strokeWidth=1)
        .encode(
            color=alt.Color("series:N", sort=series, scale=paint, legend=None),
            stroke=alt.Stroke("series:N", sort=series, scale=paint, legend=None),
            x=alt.X(
                "low:Q",
                title="cycles",
                axis=alt.Axis(format=",.0f", values=few)
                if len(few) <= _MOST_TICKED_CYCLES
                else alt.Axis(format=",.0f", tickMinStep=1),
                scale=alt.Scale(zero=False, nice=True),
            ),
            x2="high:Q",
            y=alt.Y(
                "count:Q",
                title=None if several else title,
                axis=alt.Axis(tickCount=2, format="d"),
                scale=alt.Scale(zero=True, nice=True),
            ),
            y2=alt.Y2Datum(0),
        )
        .properties(width=WIDTH - _NAME_OF_PANEL, height=46 if several else 120)
    )
    header = alt.Header(
        title=title if several else None,
        titleFontSize=12,
        titleFontWeight="normal",
        labelAngle=0,
        labelAlign="left",
        labelFontSize=11,
        labelLimit=_NAME_OF_PANEL,
        labelExpr=label_wrap_expression(series, _NAME_OF_PANEL - 10, 11),
        labelPadding=16,
    )
    drawn: Drawn = bars.facet(
        row=alt.Row("series:N", sort=series, header=header), spacing=6, data=make_inline_chart_data(rows)
    ).resolve_scale(y="independent")
    return drawn


_KINDS: Final[dict[str, Callable[[ChartData], Drawn]]] = {
    "gain": _draw_core_gain_chart,
    "heap": _draw_heap_peak_chart,
    "cycles": _draw_core_cycle_shares_chart,
    "histogram": _draw_sample_histograms,
    "losses": _draw_cycles_per_loop_pass_chart,
}


_MARK: Final = re.compile(r'<(path|rect|line) aria-label="([^"]*)" role="graphics-symbol" ([^>]*?)/>')
_SILENT: Final = re.compile(r' (?:aria-label|aria-roledescription|role)="[^"]*"')


def add_tooltips(svg: str) -> str:
    """Returns a chart's SVG with a tooltip on each mark, and without the labels that only a screen reader would
    read."""
    return _SILENT.sub("", _MARK.sub(r"<\1 \3><title>\2</title></\1>", svg))
