"""What a report's page must be without a browser to look at it: its structure, its title, nothing from outside.

`make report-check` opens the same pages in one.
"""

import base64
import hashlib
import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.reports import report_formats
from rtoslab.reports.charts import add_tooltips
from rtoslab.reports.document import make_report_document
from rtoslab.reports.table import ChartData, ReportDocument, ReportSection, TableData
from rtoslab.results.results import NotApplicableMeasurement
from rtoslab.store.stored_point import AnyResult, StoredMeasurementPoint
from tests.fakes import measured_point, point


class _Outline(HTMLParser):
    """Tags in order with their attributes, and the text of the headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def document(*results: AnyResult, suite: str | None = None) -> ReportDocument:
    points = [StoredMeasurementPoint(Path("p"), result, {"window_ms": 250}) for result in results]
    return make_report_document(Catalogue(find_checkout_root()), points, suite)


def page(shown: ReportDocument) -> str:
    return report_formats()["html"](shown)


@cache
def complete_page() -> str:
    return page(document(measured_point(1, 1000), measured_point(2, 400, wait=3_000_000, heap=4800)))


def test_heading_levels_are_in_order() -> None:
    levels = [int(tag[1]) for tag, _ in _Outline(complete_page()).tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(lower - upper <= 1 for upper, lower in pairwise(levels))


def test_tables_are_accessible_and_scrollable_by_keyboard() -> None:
    outline = _Outline(complete_page())
    tables = outline.named("table")
    assert len(tables) == len(outline.named("caption")) > 5
    assert all(item.get("scope") == "col" for item in outline.named("th"))
    boxes = [item for item in outline.named("div") if item.get("class") == "wide"]
    assert len(boxes) == len(tables) + len(outline.named("svg"))
    assert all(box.get("tabindex") == "0" and box.get("aria-label") for box in boxes)


def test_page_has_a_language_and_charts_have_descriptions() -> None:
    outline = _Outline(complete_page())
    assert outline.named("html") == [{"lang": "en"}]
    assert all(item.get("role") == "img" and item.get("aria-label") for item in outline.named("svg"))


def test_content_policy_allows_only_the_pages_script() -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", complete_page(), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (item["content"] for item in _Outline(complete_page()).named("meta") if "http-equiv" in item)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_every_internal_link_has_a_target() -> None:
    outline = _Outline(complete_page())
    ids = [item["id"] for _, item in outline.tags if "id" in item]
    links = {item["href"] for item in outline.named("a")}
    assert links
    assert links <= {f"#{id_}" for id_ in ids}


def test_chart_marks_have_tooltips() -> None:
    assert "<title>T2 test; 1 core: 4,000</title>" in complete_page()
    assert add_tooltips('<path aria-label="a: 1" role="graphics-symbol" aria-roledescription="bar" d="M0"/>') == (
        '<path d="M0"><title>a: 1</title></path>'
    )


def test_axes_are_labelled_with_their_unit() -> None:
    for text in re.findall(r"<svg.*?</svg>", complete_page(), re.DOTALL):
        in_panels = ">counts per second, all cores</text>" in text
        assert 'class="mark-text role-axis-title"' in text or in_panels


@pytest.mark.parametrize("suffix", ["html", "md"])
def test_empty_sections_are_left_out(suffix: str) -> None:
    table = TableData("Hollow table", ("a",), ())
    sections = (
        ReportSection("x", "Hollow section", (), (ChartData("bars", (), "Hollow chart"),), (table,)),
        ReportSection("y", "Full section", ("Words.",), (), (table,)),
    )
    text = report_formats()[suffix](ReportDocument("Title", "", "Summary.", sections))
    assert "Hollow" not in text
    assert "Full section" in text


def _on(board: str, cores: int, name: str, title: str) -> AnyResult:
    result = measured_point(cores, title=title)
    place = result.point.model_copy(update={"board": board, "kernel": "freertos", "benchmark": name})
    return result.model_copy(update={"point": place})


TESTS = ("t1_arithmetic", "T1 basic processing"), ("t2_cooperative", "T2 cooperative scheduling")
MORE = (("t3_preemptive", "T3 preemptive scheduling"), ("t4_interrupt", "T4 interrupt processing"))


def test_report_of_a_suite_has_the_suites_title() -> None:
    results = [_on("pico", cores, *test) for test in TESTS for cores in (1, 2)]
    assert document(*results, suite="vieira2026").title == "Thread-Metric T1-T8 on the Pico, one core and two"


def test_report_title_states_its_contents() -> None:
    one = [_on("nucleo-f446re", 1, *test) for test in (*TESTS, *MORE)]
    absent = NotApplicableMeasurement(run_id="0" * 16, point=point(2), reason="one core")
    shown = document(*one, absent, suite="vieira2026")
    assert shown.title == "T1 to T4: FreeRTOS on the NUCLEO-F446RE"
    assert "<title>T1 to T4: FreeRTOS on the NUCLEO-F446RE - rtoslab</title>" in page(shown)
    pico = [_on("pico", cores, *TESTS[0]) for cores in (1, 2)]
    assert document(*pico).title == "T1 basic processing: FreeRTOS on the Raspberry Pi Pico, 1 core and 2 cores"
    gap = [*one[:3], _on("nucleo-f446re", 1, "t8_allocation", "T8 dynamic memory allocation")]
    assert document(*gap).title == "4 benchmarks: FreeRTOS on the NUCLEO-F446RE"


def test_short_names_of_tests_are_explained() -> None:
    text = report_formats()["md"](document(*(_on("pico", 1, *test) for test in TESTS)))
    assert "| T2 | cooperative scheduling | What does a yield between five tasks of equal priority cost? |" in text
