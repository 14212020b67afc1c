"""Charts as SVG text and PDF: drawn by Vega-Altair at report time, so the report needs no script and prints sharp."""

import math
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import altair as alt
import vl_convert

from rtoslab.analyses import PARTS, VISIBLE_PART
from rtoslab.reports import figures, schedules
from rtoslab.reports.palette import SERIES_COLOURS, WIDTH, Drawn, bands, colour, data, order
from rtoslab.reports.table import ChartData
from rtoslab.reports.tooltips import with_tooltips

PART_COLOURS: Final = dict(
    zip(
        PARTS,
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


def svg(chart: ChartData) -> str:
    """The chart as a standalone SVG element."""
    draw = figures.KINDS.get(chart.kind) or schedules.KINDS.get(chart.kind)
    drawn = draw(chart) if draw else _KINDS[chart.kind](chart.rows)
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
    return with_tooltips(text[text.index("<svg") :])


_RESOURCES: Final = re.compile(rb"(?:^ +/[a-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
"""Names of a PDF page's resources, a line each."""


def pdf(drawing: str) -> bytes:
    """Returns an SVG as PDF; the same SVG gives the same bytes.

    The converter writes no date and no random id, but the names of resources in the random order of its hash table.
    They are sorted here. Their lines stay in their object, so no offset in the file moves. The font is the one that the
    converter brings, even where Arial is installed.
    """
    fonts = f"Arial, {_EMBEDDED_FONT}, sans-serif"
    data: bytes = vl_convert.svg_to_pdf(drawing.replace(fonts, _EMBEDDED_FONT))
    return _RESOURCES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), data)


_HEIGHT: Final = 300
_SIDES: Final = (13, -14)
"""How far a number's middle is above its mark's, in pixels; the first is the usual one."""
_ROOM: Final = 14
"""More than that between a number and what stands beside it makes no difference."""
_WEIGHED: Final = 8
"""Of more marks beside each other the sides are not weighed."""


def _throughput(rows: Sequence[dict[str, Any]]) -> Drawn:
    tests, series = order(rows, "test"), order(rows, "series")
    base = alt.Chart(data(_with_sides(rows, tests, series))).encode(
        x=alt.X("test:N", sort=tests, title="test", axis=alt.Axis(labelAngle=0, labelFontWeight="bold", grid=True)),
        xOffset=alt.XOffset("series:N", sort=series),
        y=alt.Y(
            "rate:Q",
            title="counts per second, all cores (log scale)",
            scale=alt.Scale(type="log", nice=True),
            axis=alt.Axis(format="~s", tickCount=6),
        ),
    )
    marks = base.mark_point(size=110, filled=True, opacity=1).encode(
        color=colour(series), shape=alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series))
    )
    labels = [
        base.mark_text(dy=-up, fontSize=10, color="#333")
        .encode(text=alt.Text("rate:Q", format=".3~s"))
        .transform_filter(alt.FieldEqualPredicate(field="up", equal=up))
        for up in _SIDES
    ]
    return alt.layer(*bands(base, rows), marks, *labels).properties(width=WIDTH, height=_HEIGHT)


def _with_sides(rows: Sequence[dict[str, Any]], tests: Sequence[str], series: Sequence[str]) -> list[dict[str, Any]]:
    """With the side of its mark that each number goes to, so that it is far from what stands beside it: marks of a test
    stand closer to each other than a number is wide."""
    logs = [math.log10(max(1, each["rate"])) for each in rows]
    pixels = _HEIGHT / max(1, math.ceil(max(logs, default=1)) - math.floor(min(logs, default=0)))
    placed = []
    for test in tests:
        mine = sorted((each for each in rows if each["test"] == test), key=lambda each: series.index(each["series"]))
        heights = [pixels * math.log10(max(1, each["rate"])) for each in mine]
        sides = product(_SIDES, repeat=len(mine)) if len(mine) <= _WEIGHED else [_SIDES[:1] * len(mine)]
        best = max(sides, key=lambda ups: _room(heights, ups))
        placed += [{**each, "up": up} for each, up in zip(mine, best, strict=True)]
    return placed


def _room(heights: Sequence[float], ups: Sequence[int]) -> tuple[float, float]:
    """The least distance between a number and what stands beside it, and the sum of each one's least; in pixels."""
    numbers = [height + up for height, up in zip(heights, ups, strict=True)]
    room = [_ROOM * 1.0] * len(numbers)
    for left in range(len(numbers) - 1):
        right = left + 1
        between = abs(numbers[left] - numbers[right])
        room[left] = min(room[left], between, abs(numbers[left] - heights[right]))
        room[right] = min(room[right], between, abs(numbers[right] - heights[left]))
    return min(room, default=0), sum(room)


def _gain(rows: Sequence[dict[str, Any]]) -> Drawn:
    tests, series = order(rows, "test"), order(rows, "series")
    base = alt.Chart(data(rows)).encode(
        x=alt.X("test:N", sort=tests, title="test", axis=alt.Axis(labelAngle=0, labelFontWeight="bold")),
        xOffset=alt.XOffset("series:N", sort=series),
        y=alt.Y("gain:Q", title="throughput, two cores over one", scale=alt.Scale(domainMin=0, nice=True)),
    )
    bars = base.mark_bar(width={"band": 0.6}).encode(
        color=alt.Color(
            "series:N",
            sort=series,
            legend=None if len(series) == 1 else alt.Legend(),
            scale=alt.Scale(domain=series, range=SERIES_COLOURS[: len(series)]),
        )
    )
    labels = base.mark_text(dy=-7, fontSize=11, color="#333").encode(text=alt.Text("gain:Q", format=".2f"))
    lines = alt.Chart(
        alt.InlineData(values=[{"gain": 1, "says": "no gain"}, {"gain": 2, "says": "perfect on two cores"}])
    ).encode(y="gain:Q")
    rules = lines.mark_rule(strokeDash=[5, 4], color="#555")
    words = lines.mark_text(align="right", dx=-4, dy=-6, fontSize=11, color="#555").encode(
        text="says:N", x=alt.value(WIDTH)
    )
    return alt.layer(bars, *bands(base, rows), labels, rules, words).properties(width=WIDTH, height=260)


def _heap(rows: Sequence[dict[str, Any]]) -> Drawn:
    tests, series = order(rows, "test"), order(rows, "series")
    base = alt.Chart(data(rows)).encode(
        x=alt.X("test:N", sort=tests, title="test", axis=alt.Axis(labelAngle=0, labelFontWeight="bold")),
        xOffset=alt.XOffset("series:N", sort=series),
        y=alt.Y("bytes:Q", title="peak of the heap, bytes", axis=alt.Axis(format=",.0f")),
    )
    bars = base.mark_bar(width={"band": 0.9}).encode(color=colour(series))
    labels = base.mark_text(dy=-7, fontSize=9, color="#333").encode(text=alt.Text("bytes:Q", format=","))
    return alt.layer(bars, *bands(base, rows), labels).properties(width=WIDTH, height=260)


def _cycles(rows: Sequence[dict[str, Any]]) -> Drawn:
    title = "share of the core's cycles in the window"
    x = alt.X("share:Q", title=title, stack="zero", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))
    return _by_cause(rows, "share", x)


def _losses(rows: Sequence[dict[str, Any]]) -> Drawn:
    title = "cycles of a core per count, in multiples of the lone core's"
    x = alt.X("multiple:Q", title=title, stack="zero", axis=alt.Axis(tickCount=8, format=".1f"))
    return _by_cause(rows, "multiple", x)


def _by_cause(rows: Sequence[dict[str, Any]], field: str, x: alt.X) -> Drawn:
    """Lying bars by test and run, stacked by cause."""
    tests, lines = order(rows, "test"), order(rows, "row")
    used = [part for part in PARTS if any(row["part"] == part and row[field] >= VISIBLE_PART for row in rows)]
    bars = (
        alt.Chart()
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            y=alt.Y(
                "row:N",
                sort=lines,
                title=None,
                axis=alt.Axis(labelLimit=240, domain=False, ticks=False),
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
        .properties(width=WIDTH - 190, height=alt.Step(19))
    )
    header = alt.Header(
        title=None, labelAngle=0, labelAlign="left", labelFontWeight="bold", labelFontSize=12, labelPadding=28
    )
    drawn: Drawn = bars.facet(
        row=alt.Row("test:N", sort=tests, header=header),
        spacing=8,
        data=data([row for row in rows if row["part"] in used]),
    ).resolve_scale(y="independent")
    return drawn


_FEW: Final = 12
"""Up to so many whole cycles each have their tick: the drawing library would set some between them."""


def _histogram(rows: Sequence[dict[str, Any]]) -> Drawn:
    """One small histogram for each series, all on one axis of cycles."""
    series = order(rows, "series")
    several = len(series) > 1
    title = "samples"
    few = list(range(min(int(row["low"]) for row in rows), 1 + max(math.ceil(row["high"]) for row in rows)))
    bars = (
        alt.Chart()
        .mark_rect(color=SERIES_COLOURS[0], stroke=SERIES_COLOURS[0], strokeWidth=1)
        .encode(
            x=alt.X(
                "low:Q",
                title="cycles",
                axis=alt.Axis(format=",.0f", values=few)
                if len(few) <= _FEW
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
        .properties(width=WIDTH - 220, height=46 if several else 120)
    )
    header = alt.Header(
        title=title if several else None,
        titleFontSize=12,
        titleFontWeight="normal",
        labelAngle=0,
        labelAlign="left",
        labelFontSize=11,
        labelLimit=220,
        labelPadding=16,
    )
    drawn: Drawn = bars.facet(
        row=alt.Row("series:N", sort=series, header=header), spacing=6, data=data(rows)
    ).resolve_scale(y="independent")
    return drawn


_KINDS: Final[dict[str, Callable[[Sequence[dict[str, Any]]], Drawn]]] = {
    "throughput": _throughput,
    "gain": _gain,
    "heap": _heap,
    "cycles": _cycles,
    "histogram": _histogram,
    "losses": _losses,
}
