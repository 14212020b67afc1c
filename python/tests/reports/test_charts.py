"""What a reader stumbles over in a chart, looked for in its drawing: numbers that overlap, ids, empty axes, crowds."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import pytest

from rtoslab.analyses import CodePlacementLookup
from rtoslab.reports.charts import render_svg
from rtoslab.reports.palette import SERIES_COLOURS, estimate_text_width, series_colours
from rtoslab.reports.sections.latency import latency_section
from rtoslab.reports.sections.memory import memory_use_report_section
from rtoslab.reports.table import ChartData, ReportSection
from rtoslab.results.results import MeasuredPoint
from tests.fakes import measured_point
from tests.latency_fakes import latency_point

FREERTOS, NUTTX = "FreeRTOS", "NuttX (reference)"
TEXT = re.compile(r'<text text-anchor="(\w+)" transform="([^"]*)"[^>]*font-size="([\d.]+)px"[^>]*>(.*?)</text>')
LINE = re.compile(r"<tspan[^>]*>(.*?)</tspan>")
STEP = re.compile(r"(translate|rotate)\(([-\d.]+)(?:,([-\d.]+))?\)")
GROUP = re.compile(r'<g transform="translate\(([-\d.]+),([-\d.]+)\)"|<g\b|</g>')
Row = dict[str, Any]


class Box(NamedTuple):
    text: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 1 and down > 1


def boxes(drawn: str) -> Iterator[Box]:
    """Every text with the room that it takes, in pixels of the whole drawing."""
    at: list[tuple[float, float]] = [(0.0, 0.0)]
    for result in re.finditer(rf"{GROUP.pattern}|{TEXT.pattern}", drawn):
        if result[0].startswith("</g"):
            at.pop()
        elif result[0].startswith("<g"):
            x, y = (float(result[number] or 0) for number in (1, 2))
            at.append((at[-1][0] + x, at[-1][1] + y))
        else:
            anchor, transform, size, text = result.group(3, 4, 5, 6)
            for number, line in enumerate(LINE.findall(text) or [text]):
                yield _box(at[-1][0], at[-1][1] + number * (float(size) + 2), anchor, transform, size, line)


def _box(x: float, y: float, anchor: str, transform: str, size: str, text: str) -> Box:
    turned = False
    for kind, first, second in STEP.findall(transform):
        if kind == "rotate":
            turned = float(first) == 270
        elif turned:
            x, y = x + float(second or 0), y - float(first)
        else:
            x, y = x + float(first), y + float(second or 0)
    wide, high = estimate_text_width(text, float(size)), 0.72 * float(size)
    before = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    if turned:
        return Box(text, x - high, y + before - wide, x, y + before)
    return Box(text, x - before, y - high, x - before + wide, y)


def clashes(chart: ChartData, pattern: str = r".+") -> list[tuple[str, str]]:
    match = [box for box in boxes(render_svg(chart)) if re.fullmatch(pattern, box.text)]
    return [(one.text, other.text) for one, other in combinations(match, 2) if one.overlaps(other)]


def rows(names: Sequence[str], series: Sequence[str], first: float = 1000, step: float = 1.0) -> list[Row]:
    results = []
    for number, (name, item) in enumerate(product(names, series)):
        value = first * step**number + number
        results.append({"x": name, "series": item, "y": value, "text": f"{value:,.0f}"})
    return results


TESTS = [f"T{number} {words}" for number, words in enumerate(
    ("basic processing", "cooperative scheduling", "preemptive scheduling", "interrupt processing",
     "preemption induced by an interrupt", "message processing", "semaphore take and give",
     "dynamic memory allocation"), start=1)]  # fmt: skip
RUNS = [f"{kernel}, {cores}" for kernel in (FREERTOS, NUTTX) for cores in ("1 core", "2 cores")]


@pytest.mark.parametrize("kind", ["bars", "panels"])
@pytest.mark.parametrize("count", [1, 2, 4, 6])
@pytest.mark.parametrize("first", [9, 1000, 123_456])
def test_no_texts_overlap(kind: str, count: int, first: float) -> None:
    series = [f"run {number}" for number in range(count)]
    assert not clashes(ChartData(kind, rows(TESTS, series, first), "c", y_title="y"))


def test_overlapping_texts_are_found() -> None:
    same = [Box("a", 0, 0, 20, 10), Box("b", 10, 5, 30, 15), Box("c", 40, 0, 50, 10)]
    assert [one.overlaps(other) for one, other in combinations(same, 2)] == [True, False, False]


def test_band_moves_its_number_above_its_line() -> None:
    one, other = rows(["a", "b"], ["s"])
    highest = {**other, "y": 3000, "text": "3k"}
    heights = []
    for band in ({}, {"low": 500, "high": 3000}):
        drawn = render_svg(ChartData("bars", [{**one, "y": 1500, "text": "1.5k", **band}, highest], "c"))
        heights.append(next(box.bottom for box in boxes(drawn) if box.text == "1.5k"))
    assert heights[0] - heights[1] > 100


def test_line_labels_do_not_overlap() -> None:
    marks = [
        {"x": place, "series": name, "y": 100 - place * slope, "text": f"{100 - place * slope:.1f}"}
        for place in range(0, 101, 10)
        for name, slope in (("a", 0.7), ("b", 0.72), ("c", 0.2))
    ]
    assert not clashes(ChartData("lines", marks, "c", "x", "y"), r"\d+\.\d")
    dense = [{"x": place, "series": "a", "y": 50, "text": "1,234,567"} for place in range(60)]
    assert not clashes(ChartData("lines", dense, "c", "x", "y"), r"1,234,567")


def test_long_names_are_rotated_or_wrapped_but_not_truncated() -> None:
    for names in (TESTS, [f"{test} of a kernel with many options" for test in TESTS]):
        text = " ".join(box.text for box in boxes(render_svg(ChartData("bars", rows(names, ["a"]), "c"))))
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        assert set(" ".join(names).split()) <= set(text.split())


def test_kernel_has_one_colour_and_its_runs_are_lighter() -> None:
    runs = [
        {"series": f"{kernel}, {cores} cores", "kernel": kernel} for kernel in (FREERTOS, NUTTX) for cores in (1, 2)
    ]
    result = series_colours(runs)
    full = [result[f"{kernel}, 1 cores"] for kernel in (FREERTOS, NUTTX)]
    assert len(set(full)) == 2
    assert set(full) < set(SERIES_COLOURS)
    assert result[f"{NUTTX}, 2 cores"] not in SERIES_COLOURS
    again = series_colours(runs[::-1])
    assert [again[f"{kernel}, 2 cores"] for kernel in (FREERTOS, NUTTX)] == full, "in whichever order"
    named = series_colours([{"series": "1 core", "kernel": NUTTX}, {"series": "2 cores", "kernel": NUTTX}])
    assert named["1 core"] == full[1]
    assert len(set(series_colours([{"series": f"s{number}"} for number in range(7)]).values())) == 7


@pytest.mark.parametrize(
    ("values", "log"), [((100, 999), False), ((100, 1000), True), ((0, 1000), False), ((-1, 1000), False)]
)
@pytest.mark.parametrize("kind", ["bars", "lines", "pairs"])
def test_log_axis_needs_a_decade(kind: str, values: tuple[float, ...], log: bool) -> None:
    marks = [{"x": place, "series": "a", "y": value} for place, value in enumerate(values)]
    assert ("(log scale)" in render_svg(ChartData(kind, marks, "c", "x", "y", log=True))) is log


def sentences(*charts: ChartData) -> Sequence[str]:
    filled = ReportSection("s", "S", (), charts).remove_empty_charts_and_tables()
    assert filled is not None
    assert not filled.charts
    return filled.prose


def test_chart_of_constant_values_is_a_sentence() -> None:
    zeros = ChartData("bars", [{**row, "y": 0} for row in rows(["a", "b"], ["s"])], "Overruns by task. More.")
    assert sentences(zeros) == ("Overruns by task: every value is zero.",)
    single = ChartData("bars", rows(["T2"], ["FreeRTOS"]), "Peak of the heap, bytes.")
    assert sentences(single) == ("Peak of the heap, bytes: 1,000 (T2, FreeRTOS).",)
    same = [{"series": name, "low": low, "high": low + 1, "count": 7} for name, low in (("a", 104), ("b", 90))]
    output = "switch: all samples of a series took the same time: 104 cycles (a); 90 cycles (b)."
    assert sentences(ChartData("histogram", same, "switch: number of samples by cycles.")) == (output,)
    one = ChartData("histogram", same[:1], "switch: number of samples by cycles.")
    assert sentences(one) == ("switch: all 7 samples (a) took 104 cycles.",)


def test_chart_of_different_values_is_drawn() -> None:
    spread = [{"series": "a", "low": low, "high": low + 1, "count": 7} for low in (90, 104)]
    filled = ReportSection(
        "s", "S", (), (ChartData("histogram", spread, "c"), ChartData("bars", rows("ab", "s"), "c"))
    ).remove_empty_charts_and_tables()
    assert filled is not None
    assert [chart.kind for chart in filled.charts] == ["histogram", "bars"]
    assert not filled.prose


def test_crowded_chart_is_split_by_board_family_and_number() -> None:
    series = [f"s{number}" for number in range(8)]
    boards = [
        {**row, "series": f"{row['series']} {board}", "board": board} for board in "xy" for row in rows("ab", series)
    ]
    parts = ChartData("lines", boards, "Rates.").split_into_readable_charts()
    assert [{row["board"] for row in part.rows} for part in parts] == [{"x"}, {"y"}]
    assert [part.caption for part in parts] == ["x: Rates.", "y: Rates."]
    families = [*rows(["T1 a", "T2 b"], series), *rows(["P1 c"], [f"p{number}" for number in range(8)])]
    assert [part.caption for part in ChartData("bars", families, "R.").split_into_readable_charts()] == [
        "Tests T: R.",
        "Tests P: R.",
    ]
    many = ChartData("bars", rows("a", [f"s{number}" for number in range(30)]), "R.").split_into_readable_charts()
    assert [len({row["series"] for row in part.rows}) for part in many] == [10, 10, 10]
    assert many[0].caption == "R. (part 1 of 3)"
    assert ChartData("bars", rows("ab", series), "R.").split_into_readable_charts() == [
        ChartData("bars", rows("ab", series), "R.")
    ]


def test_horizontal_bars_are_split_between_tests() -> None:
    bars = [{"test": f"T{test}", "row": f"run {run}", "part": "kernel", "order": 0, "share": 0.5}
            for test in range(6) for run in range(20)]  # fmt: skip
    parts = ChartData("cycles", bars, "Causes.").split_into_readable_charts()
    assert [sorted({row["test"] for row in part.rows}) for part in parts] == [["T0", "T1"], ["T2", "T3"], ["T4", "T5"]]


PAPER = [{"x": name, "series": "paper", "y": 900, "low": 800, "high": 950} for name in ("a", "b")]


STROKE = re.compile(r'd="M-[\d.]+,0L([\d.]+),0"[^>]*stroke="#000000"')


def test_published_value_is_a_line_across_the_bars() -> None:
    ours = rows(["a", "b"], [FREERTOS, NUTTX])
    drawn = render_svg(ChartData("bars", [*ours, *PAPER], "c"))
    ticks = STROKE.findall(drawn)
    assert len(ticks) == 4
    assert drawn.count("<title>a: 900 (published)</title>") == 2
    bars = re.findall(r'd="M[\d.]+,[\d.]+h([\d.]+)v[\d.]+h[^"]*" fill="#(?:0072B2|D55E00)"><title>', drawn)
    assert len(bars) == 4
    assert 2 * min(map(float, ticks)) > max(map(float, bars)), "across the bars of both kernels, without a gap"
    own = [{**row, "y": 500, "published": True} for row in ours]
    assert len(STROKE.findall(render_svg(ChartData("bars", [*ours, *own], "c")))) == 4
    assert ">published</text>" in render_svg(ChartData("bars", [*ours, *own], "c"))


@pytest.mark.parametrize("kind", ["lines", "pairs"])
def test_published_value_is_a_hollow_diamond(kind: str) -> None:
    places: list[Any] = [1, 2] if kind == "lines" else ["a", "b"]
    ours = [{"x": place, "series": "here", "y": 900} for place in places]
    theirs = [{"x": place, "series": "paper", "y": 900} for place in places]
    marks = re.findall(r"<path [^>]*><title>", render_svg(ChartData(kind, [*theirs, *ours], "c")))
    hollow = [number for number, item in enumerate(marks) if 'stroke="#000000"' in item and 'fill="' not in item]
    filled = [number for number, item in enumerate(marks) if f'fill="{SERIES_COLOURS[0]}"' in item]
    assert len(hollow) == len(filled) == 2
    assert min(hollow) > max(filled)


def test_one_series_has_no_legend() -> None:
    for kind in ("bars", "lines", "pairs"):
        marks = [{"x": place, "series": "alone", "y": place + 1} for place in range(3)]
        assert ">alone</text>" not in render_svg(ChartData(kind, marks, "c", "x", "y"))


def test_latency_under_many_conditions_has_one_line_each() -> None:
    def points(count: int) -> list[MeasuredPoint]:
        results = []
        for number in range(count):
            plain = latency_point("probe", [100 + number, 110, 120])
            config = {**plain.point.config, "opt": f"-O{number}"}
            results.append(plain.model_copy(update={"point": plain.point.model_copy(update={"config": config})}))
        return results

    few, many = (latency_section(points(count), CodePlacementLookup()) for count in (6, 7))
    assert few is not None
    assert many is not None
    assert [data.kind for data in few.charts] == ["histogram"]
    (chart,) = many.charts
    assert chart.kind == "pairs"
    assert [(row["low"], row["y"], row["high"]) for row in chart.rows[:2]] == [(100, 110, 120), (101, 110, 120)]


def test_heap_of_several_variants_is_their_maximum() -> None:
    points = [measured_point(1, heap=heap, config={"param.words": str(heap)}) for heap in (3000, 5000, 4000)]
    section = memory_use_report_section(points, CodePlacementLookup())
    assert section is not None
    assert [(row["test"], row["series"], row["bytes"]) for row in section.charts[0].rows] == [
        ("T2 test", "1 core", 5000)
    ]
    assert len(section.tables[0].rows) == 3
