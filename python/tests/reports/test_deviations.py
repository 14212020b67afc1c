"""A kernel that deviates from the contract, as it declares, is marked in every results table and explained below it."""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from rich.console import Console

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.compare.comparison import compare_runs_or_baselines
from rtoslab.compare.document import comparison_document
from rtoslab.compare.sides import ComparedMeasurementSet, values_of_stored_measurement
from rtoslab.reports import report_formats
from rtoslab.reports.charts import render_svg
from rtoslab.reports.deviations import MARK, add_kernel_deviation_footnotes
from rtoslab.reports.document import make_report_document
from rtoslab.reports.table import ChartData, ReportDocument, ReportSection, TableData
from rtoslab.reports.terminal import print_point_results
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import measured_point

APART = {"Order": "noted 2 1 where 1 2 was due; declared: by design"}
FOOTNOTE = "† deviates from the port contract, as its kernel.toml declares. odd: Order (noted 2 1"


def point_of(kernel: str, deviations: dict[str, str], per_core: int = 1000) -> MeasuredPoint:
    built = measured_point(1, per_core)
    return built.model_copy(
        update={"point": built.point.model_copy(update={"kernel": kernel}), "deviations": deviations}
    )


def document(*results: MeasuredPoint) -> ReportDocument:
    points = [
        StoredMeasurementPoint(Path("p"), result, {"build": {"kernel": result.point.kernel}}) for result in results
    ]
    return make_report_document(Catalogue(find_checkout_root()), points, None)


ODD, EVEN = point_of("odd", APART), point_of("even", {})


def test_table_with_a_deviating_kernel_is_marked_and_explained() -> None:
    built = document(ODD, EVEN)
    throughput = next(section for section in built.sections if section.id == "throughput").tables[0]
    text = str(throughput.rows)
    assert "odd†" in text
    assert "even†" not in text
    assert FOOTNOTE in throughput.note
    assert FOOTNOTE in built.summary
    plain = document(point_of("odd", {}), EVEN)
    assert "†" not in str(plain)


def test_title_is_marked_if_only_a_deviating_kernel_is_shown() -> None:
    throughput = next(section for section in document(ODD).sections if section.id == "throughput").tables[0]
    assert throughput.title.endswith(" †")
    assert FOOTNOTE in throughput.note


def charts(built: ReportDocument) -> list[ChartData]:
    return [chart for section in built.sections for chart in section.charts]


def test_chart_with_a_deviating_kernel_is_marked_and_explained() -> None:
    (throughput,) = (chart for chart in charts(document(ODD, EVEN)) if chart.kind == "panels")
    assert [row["series"] for row in throughput.rows] == ["odd†", "even"]
    assert FOOTNOTE in throughput.caption
    drawn = render_svg(throughput)
    assert ">odd†</text>" in drawn, "in the legend"
    assert ">even</text>" in drawn
    for chart in charts(document(ODD, EVEN)):
        assert (MARK in str(chart.rows)) is ("odd" in str(chart.rows)), chart.kind
    assert MARK not in str(charts(document(point_of("odd", {}), EVEN)))


def test_chart_of_one_deviating_kernel_is_marked_in_its_caption() -> None:
    for chart in charts(document(ODD)):
        assert MARK not in str(chart.rows)
        assert chart.caption.startswith(f"{MARK} ")
        assert FOOTNOTE in chart.caption


def test_fixed_words_of_a_chart_are_not_marked() -> None:
    chart = ChartData("cycles", [{"test": "T1", "row": "execute", "part": "execute", "share": 1.0, "order": 0}], "")
    (marked,) = (
        add_kernel_deviation_footnotes(
            ReportDocument("", "", "", (ReportSection("s", "S", (), (chart,)),)), [point_of("execute", APART)]
        )
        .sections[0]
        .charts
    )
    assert [(row["row"], row["part"]) for row in marked.rows] == [("execute†", "execute")]
    assert render_svg(marked)


@pytest.mark.parametrize("format_", ["md", "html"])
def test_pages_show_mark_and_footnote(format_: str) -> None:
    text = report_formats()[format_](document(ODD, EVEN))
    assert "odd†" in text
    assert "† deviates from the port contract" in text


def test_data_formats_have_a_deviation_field() -> None:
    rows = list(csv.DictReader(io.StringIO(report_formats()["csv"](document(ODD, EVEN)))))
    assert {(row["kernel"], row["deviations"]) for row in rows} == {("odd", "Order"), ("even", "")}
    assert '"deviations"' in json.dumps(json.loads(report_formats()["json"](document(ODD, EVEN))))


def test_terminal_shows_deviations(capsys: pytest.CaptureFixture[str]) -> None:
    print_point_results([ODD, EVEN], Console(width=160))
    output = capsys.readouterr().out
    assert "odd†" in output
    assert "even†" not in output
    assert FOOTNOTE in output
    print_point_results([ODD], Console(width=160))
    output = capsys.readouterr().out
    assert output.index("†") < output.index("1 core"), "in the title"
    assert FOOTNOTE in output


def side(name: str, *results: MeasuredPoint) -> ComparedMeasurementSet:
    stored = [
        StoredMeasurementPoint(Path("p"), result, {"build": {"kernel": result.point.kernel}}) for result in results
    ]
    return ComparedMeasurementSet(name, tuple(values_of_stored_measurement(point) for point in stored))


def text_of(tables: Iterable[TableData]) -> str:
    return "\n".join(str((table.title, table.columns, table.rows)) for table in tables)


def test_comparison_marks_deviations_by_row_or_title() -> None:
    changed = point_of("odd", APART, per_core=2000)
    for before, after in ((side("a", ODD, EVEN), side("b", changed, EVEN)), (side("a", ODD), side("b", changed))):
        built = comparison_document([compare_runs_or_baselines(before, after)])
        tables = [table for section in built.sections for table in section.tables]
        assert tables
        assert "†" in text_of(tables)
        assert "odd††" not in text_of(tables)
        assert FOOTNOTE in built.summary
        assert any(FOOTNOTE in table.note for table in tables)
    assert "†" not in str(comparison_document([compare_runs_or_baselines(side("a", EVEN), side("b", EVEN))]))


def test_document_marked_twice_is_marked_once() -> None:
    built = document(ODD, EVEN)
    again = add_kernel_deviation_footnotes(built, [ODD, EVEN], {"Oddly": "odd"})
    assert text_of(table for section in again.sections for table in section.tables) == text_of(
        table for section in built.sections for table in section.tables
    )
    notes = [table.note for section in again.sections for table in section.tables]
    assert notes
    assert all(note.count("† deviates") <= 1 for note in notes)


def test_title_of_a_deviating_kernel_is_marked() -> None:
    table = TableData("Figures", ("figure", ">Oddly", ">even"), [["T7, Oddly", "1", "2"]])
    page = ReportDocument("t", "s", "All.", (ReportSection("x", "X", tables=(table,)),))
    (result,) = add_kernel_deviation_footnotes(page, [ODD, EVEN], {"Oddly": "odd"}).sections[0].tables
    assert result.columns == ("figure", ">Oddly†", ">even")
    assert result.rows == [["T7, Oddly†", "1", "2"]]
    assert FOOTNOTE in result.note
    assert add_kernel_deviation_footnotes(page, [EVEN], {"Oddly": "odd"}) is page
