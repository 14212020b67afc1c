"""What a report begins with: planted figures, and the sentences that they must become."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rtoslab.analyses import CodePlacementLookup, group_points_over_code_placements
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.reports import ChartData, ReportDocument, make_report_document, report_formats
from rtoslab.reports.sections.answer import fastest_kernels_section
from rtoslab.reports.sections.rivals import IN_ONE_PLACEMENT, WITHIN_PLACEMENT
from rtoslab.reports.sections.speed_figures import speed_figures
from rtoslab.reports.sections.wording import join_items_for_sentence
from rtoslab.results.results import MeasuredPoint, NotApplicableMeasurement
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import STEADY, measured_point
from tests.latency_fakes import latency_point

CATALOGUE = Catalogue(find_checkout_root())
NAMES = {"a": "Alpha", "b": "Beta", "c": "Gamma", "x": "X board", "y": "Y board"}
YIELD = "cooperative scheduling (T2)"
PLACEMENTS = "may reverse small ones"


@dataclass(frozen=True)
class Planted:
    """A test of a kernel: its rate over the placements."""

    kernel: str
    rates: tuple[int, ...]
    test: str = "T2 cooperative scheduling"
    cores: int = 1
    board: str = "x"


def points(planted: Iterable[Planted]) -> list[MeasuredPoint]:
    results = []
    for number, item in enumerate(planted):
        for place, rate in enumerate(item.rates):
            config = {"placement": str(place)} if len(item.rates) > 1 else {}
            ident = item.test.split()[0].lower()
            point = measured_point(
                item.cores, rate // item.cores, config=config, benchmark_id=ident, title=item.test, kernel=item.kernel
            )
            axes = point.point.model_copy(update={"board": item.board})
            results.append(point.model_copy(update={"point": axes, "run_id": f"{number:08x}{place:08x}"}))
    return results


def prose(planted: Iterable[Planted], *, matters: bool = False) -> str:
    placed = group_points_over_code_placements(points(planted))
    shown = [point.middle for point in placed]
    bound = {id(item) for item in shown} if matters else set()
    section = fastest_kernels_section(
        speed_figures(shown, CodePlacementLookup(placed), bound, NAMES), CodePlacementLookup(placed)
    )
    assert section is not None
    return "\n".join(section.prose)


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (
            [Planted("a", (2770,)), Planted("b", (1000,))],
            "Alpha is faster than Beta: cooperative scheduling (T2, 2.77 times as fast).",
        ),
        (
            [Planted("a", (1000,)), Planted("b", (1170,))],
            "Beta is faster than Alpha: cooperative scheduling (T2, 17 % faster).",
        ),
        (
            [Planted("a", (10_230,)), Planted("b", (10_000,))],
            "Alpha is faster than Beta: cooperative scheduling (T2, 2.3 % faster).",
        ),
        (
            [Planted("a", (1000,)), Planted("b", (1000,))],
            "At cooperative scheduling (T2), the two are within 0.1 % of each other.",
        ),
        (
            [Planted("a", (1000, 1100, 1050)), Planted("b", (1020, 1060, 1040))],
            f"At cooperative scheduling (T2), the two show {WITHIN_PLACEMENT}.",
        ),
        (
            [Planted("a", (2000, 2200, 2100)), Planted("b", (1000, 1000, 1000))],
            "Alpha is faster than Beta: cooperative scheduling (T2, 2.10 times as fast, 2.00 to 2.20).",
        ),
        (
            [Planted("a", (3000,)), Planted("b", (2000,)), Planted("c", (1000,))],
            f"Alpha is the fastest: {YIELD[:-1]}, 1.50 times as fast as Beta, 3.00 times as fast as Gamma).",
        ),
        (
            [Planted("a", (2000,)), Planted("b", (2000,)), Planted("c", (1000,))],
            "At cooperative scheduling (T2), the fastest, Alpha and Beta, are within 0.1 % of each other.",
        ),
    ],
)
def test_planted_figures_give_their_sentence(planted: list[Planted], said: str) -> None:
    assert prose(planted) == said


def test_larger_lead_comes_first_with_counts() -> None:
    tests = {
        "T1 computing": (1000, 1000),
        "T2 yield": (1200, 1000),
        "T3 preemption": (3000, 1000),
        "T7 take": (100, 200),
    }
    text = prose(
        [Planted(kernel, (rates[side],), test) for test, rates in tests.items() for side, kernel in enumerate("ab")]
    )
    assert (
        "Alpha is faster than Beta in 2 of 4 tests: preemption (T3, 3.00 times as fast) and yield (T2, 20 % faster)."
        in text
    )
    assert "Beta is faster than Alpha in 1 of 4 tests: take (T7, 2.00 times as fast)." in text
    assert text.endswith("At computing (T1), the two are within 0.1 % of each other.")


def test_kernel_without_a_figure_is_named() -> None:
    planted = [Planted("a", (1000,)), Planted("b", (2000,)), Planted("a", (500,), "T8 allocation")]
    assert prose(planted).endswith("Beta has no figure for allocation (T8).")
    assert "of 2 tests" not in prose(planted), "one test alone is compared"


def test_each_board_has_its_own_answer() -> None:
    planted = [Planted(kernel, (rate,), board=board)
               for board, rates in (("x", (1000, 2000)), ("y", (3000, 1000)))
               for kernel, rate in zip("ab", rates, strict=True)]  # fmt: skip
    first, second = prose(planted).split("\n")
    assert first.startswith("On the X board: Beta is faster than Alpha")
    assert second.startswith("On the Y board: Alpha is faster than Beta")


def test_each_number_of_cores_has_its_own_answer() -> None:
    rates = {("a", 1): 1000, ("b", 1): 2000, ("a", 2): 1600, ("b", 2): 1000}
    text = prose([Planted(kernel, (rate,), cores=cores) for (kernel, cores), rate in rates.items()])
    assert "On one core: Beta is faster than Alpha: cooperative scheduling (T2, 2.00 times as fast)." in text
    assert "On two cores: Alpha is faster than Beta: cooperative scheduling (T2, 1.60 times as fast)." in text
    assert "The second core raises the total throughput of Alpha at cooperative scheduling (T2, x 1.60)." in text
    assert "The second core lowers the total throughput of Beta at cooperative scheduling (T2, x 0.50)." in text


def test_sentence_mentions_placement_if_it_matters() -> None:
    planted = [Planted("a", (2000,)), Planted("b", (1000,)), Planted("a", (1000,), cores=2)]
    report = prose(planted, matters=True)
    assert "On one core, in one placement of the code each: Alpha is faster" in report
    assert f"(T2, x 0.50), {IN_ONE_PLACEMENT}." in report
    assert PLACEMENTS in report.splitlines()[-1]
    assert IN_ONE_PLACEMENT not in prose(planted)
    assert PLACEMENTS not in prose(planted)


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({1: (1000, 1100), 2: (1100, 1040)}, "by no more than the placement of the code does"),
        ({1: (1000, 1100), 2: (1060, 1040)}, "by no more than the placement of the code does"),
        ({1: (1000,), 2: (1000,)}, "leaves the total throughput of Alpha as it was"),
    ],
)
def test_second_core_without_effect(rates: dict[int, tuple[int, ...]], said: str) -> None:
    text = prose([Planted("a", item, cores=cores) for cores, item in rates.items()])
    assert said in text
    assert "raises" not in text


def test_causes_of_losses_are_ranges_over_losing_tests() -> None:
    def one(title: str, waits: int) -> list[MeasuredPoint]:
        names: dict[str, Any] = {"benchmark_id": title, "title": title, "kernel": "a"}
        return [measured_point(1, 1000, **names), measured_point(2, 400, wait=waits, **names)]

    shown = [*one("T2 yield", 3_000_000), *one("T3 preemption", 6_000_000)]
    section = fastest_kernels_section(speed_figures(shown, CodePlacementLookup(), (), NAMES), CodePlacementLookup())
    assert section is not None
    (text,) = section.prose
    assert "a count takes additional cycles. Of these, waiting for spinlocks takes 16 to 32 %" in text
    assert "(each a range over the two tests that lose throughput)" in text


def test_single_kernel_on_one_core_is_described_by_its_figures() -> None:
    assert prose([Planted("a", (1000,))]) == "Alpha reaches 4,000 counts/s at cooperative scheduling (T2)."


def test_latencies_are_compared_by_their_medians() -> None:
    slow = latency_point("probe", [200, 210, 220])
    fast = latency_point("probe", [100, 105, 110])
    fast = fast.model_copy(update={"point": fast.point.model_copy(update={"kernel": "b"})})
    section = fastest_kernels_section(
        speed_figures([slow, fast], CodePlacementLookup(), (), {**NAMES, "k": "Kay"}), CodePlacementLookup()
    )
    assert section is not None
    (text,) = section.prose
    assert text.startswith("By the median of each interval: Beta is faster than Kay: ")
    assert "(2.00 times as fast)" in text
    single = fastest_kernels_section(
        speed_figures([slow], CodePlacementLookup(), (), {"k": "Kay"}), CodePlacementLookup()
    )
    assert single is not None
    assert single.prose[0].startswith(
        "By the median of each interval: Kay takes 210 cycles (1.68 \N{MICRO SIGN}s) for "
    )


def test_only_the_plain_variant_is_in_the_answer() -> None:
    configs = [{}, *({"param.bytes": str(size)} for size in (8, 16, 32, 64))]
    results = [measured_point(1, 1000, kernel=kernel, config=config) for config in configs for kernel in "ab"]
    section = fastest_kernels_section(speed_figures(results, CodePlacementLookup(), (), NAMES), CodePlacementLookup())
    assert section is not None
    assert section.prose == ["At test (T2), the two are within 0.1 % of each other."]
    few = fastest_kernels_section(speed_figures(results[:4], CodePlacementLookup(), (), NAMES), CodePlacementLookup())
    assert few is not None
    assert few.prose == ["At test (T2) and test (T2, bytes=8), the two are within 0.1 % of each other."]


def document(*results: MeasuredPoint, manifest: dict[str, Any] = STEADY) -> ReportDocument:
    return make_report_document(
        CATALOGUE, [StoredMeasurementPoint(Path("p"), result, manifest) for result in results], None
    )


def test_titles_are_used_instead_of_ids() -> None:
    built = document(*points([Planted("freertos", (2000,), board="pico"), Planted("rt", (1000,), board="pico")]))
    (answer,) = (section for section in built.shown_sections if section.leads)
    assert built.shown_sections[0] is not None
    assert built.shown_sections[0].id == answer.id
    assert answer.prose[0].startswith("FreeRTOS is faster than rt")
    (chart,) = answer.charts
    assert [row["series"] for row in chart.rows] == ["FreeRTOS", "rt"]
    assert {row["x"] for row in chart.rows} == {"T2 cooperative scheduling"}
    runs = [row[1] for table in built.shown_sections[1].tables for row in table.rows]
    assert runs == ["FreeRTOS, 1 core", "rt, 1 core"]


@pytest.mark.parametrize("form", ["md", "html"])
def test_answer_is_followed_by_chart_and_conditions(form: str) -> None:
    built = document(*points([Planted("a", (2000,)), Planted("b", (1000,))]))
    page = report_formats()[form](built)
    order = [page.index(text) for text in ("a is faster than b", "points of 1 test were measured", "Throughput")]
    assert order == sorted(order)
    if form == "html":
        assert order[0] < page.index("<svg") < order[1] < page.index("<nav")


def test_tables_are_split_by_board_but_reasons_are_not() -> None:
    built = points([Planted(kernel, (rate,), board=board) for kernel in "ab" for board, rate in (("x", 10), ("y", 20))])
    absent: list[MeasuredPoint | NotApplicableMeasurement] = [
        NotApplicableMeasurement(
            point=built[0].point.model_copy(update={"kernel": "c", "board": board, "title": test, "benchmark": test}),
            reason="no yield", run_id=f"{board}{test}",
        )
        for board in "xy"
        for test in ("T2 cooperative scheduling", "T3 preemptive scheduling")
    ]  # fmt: skip
    stored = [StoredMeasurementPoint(Path(), item, STEADY) for item in (*built, *absent)]
    tables = {
        table.title: table
        for section in make_report_document(CATALOGUE, stored, None).shown_sections
        for table in section.tables
    }
    for board in "xy":
        rows = tables[f"Throughput, {board}"].rows
        assert [row[:2] for row in rows] == [["T2 cooperative scheduling", f"{kernel}, 1 core"] for kernel in "ab"]
    assert [[*row] for row in tables["Points without a number"].rows] == [
        ["T2, T3", "c, x, 1 core; c, y, 1 core", "n/a", "no yield"]
    ]


def test_chart_for_each_board() -> None:
    planted = [Planted(kernel, (1000,), board=board) for board in "xy" for kernel in "ab"]
    charts = [data for section in document(*points(planted)).shown_sections if section.leads for data in section.charts]
    assert [{row["board"] for row in chart.rows} for chart in charts] == [{"x"}, {"y"}]
    assert all({row["series"] for row in chart.rows} == {"a", "b"} for chart in charts)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["a"], "a"),
        (["a", "b", "c"], "a, b and c"),
        (["a (1, 2)", "b"], "a (1, 2) and b"),
        (["a, b", "c", "d"], "a, b; c and d"),
        ([str(index) for index in range(13)], "0, 1, 2, 3, 4, 5 and 7 more (see the tables)"),
    ],
)
def test_lists_of_names_are_joined(items: list[str], said: str) -> None:
    assert join_items_for_sentence(items) == said


def test_kernel_that_deviates_is_marked_in_the_answer() -> None:
    odd, even = points([Planted("a", (2000,)), Planted("b", (1000,))])
    odd = odd.model_copy(update={"deviations": {"Order": "noted 2 1"}})
    assert document(odd, even).shown_sections[0].prose[0].startswith("a\N{DAGGER} is faster than b")


def test_chart_row_has_its_kernel_and_its_board() -> None:
    (chart,) = document(*points([Planted("a", (2000,)), Planted("b", (1000,))])).shown_sections[0].charts
    assert isinstance(chart, ChartData)
    assert [(row["kernel"], row["board"]) for row in chart.rows] == [("a", "x"), ("b", "x")]
    assert replace(chart, rows=()).rows == ()
