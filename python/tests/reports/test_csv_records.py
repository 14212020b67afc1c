"""CSV of tables and charts: numbers as numbers, and no mark and no reason lost on the way."""

import math
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.reports.csv_records import FIELDS, Cell, chart_as_csv_rows, records_as_csv_rows, table_as_csv_rows
from rtoslab.reports.deviations import MARK, add_deviation_footnotes_to_section
from rtoslab.reports.document import make_report_document
from rtoslab.reports.table import ChartData, Record, ReportSection, TableData
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.fakes import measured_point
from tests.latency_fakes import latency_point


def split(*cells: str, head: str = ">here") -> dict[str, list[Cell]]:
    """The columns of a table of one column and these cells."""
    heads, *rows = table_as_csv_rows(TableData("Title", (head,), [[cell] for cell in cells]))
    return {str(name): [row[at] for row in rows] for at, name in enumerate(heads)}


@pytest.mark.parametrize(
    ("cell", "value", "low", "high"),
    [
        ("1,234 (1,200 to 1,300)", "1234", "1200", "1300"),
        ("38.1% (30.0% to 40.0%)", "38.1", "30.0", "40.0"),
        ("x 1.85 (x 1.80 to x 1.90)", "1.85", "1.80", "1.90"),
        ("+1.0 (-0.5 to +2.0)", "1.0", "-0.5", "2.0"),
        ("\N{MINUS SIGN}12 [-20, -5]", "-12", "-20", "-5"),
        ("1.5e-05 (1e-5 to 2e-5)", "1.5e-05", "1e-5", "2e-5"),
    ],
)
def test_band_has_three_columns(cell: str, value: str, low: str, high: str) -> None:
    columns = split(cell)
    assert [columns[name] for name in ("here", "here low", "here high")] == [[value], [low], [high]]


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [("25.2%", "25.2", "%"), ("+3.5 %", "3.5", "%"), ("1,625 us", "1625", "us"), ("x 0.52", "0.52", "x"),
     ("12 \N{MICRO SIGN}s", "12", "\N{MICRO SIGN}s"), ("7 counts/s", "7", "counts/s")],
)  # fmt: skip
def test_unit_has_its_column(cell: str, value: str, unit: str) -> None:
    columns = split(cell, "5")
    assert columns["here"] == [value, "5"]
    assert columns["here unit"] == [unit, ""]


def test_plain_numbers_have_only_flags_and_note() -> None:
    assert split("1,234", "-", "") == {"here": ["1234", "", ""], "flags": [""] * 3, "note": [""] * 3}


@pytest.mark.parametrize(
    ("cell", "flags"),
    [
        ("0.97\N{DOUBLE DAGGER}", "here: reference"),
        ("1,234 (1,200 to 1,300)\N{DOUBLE DAGGER}\N{DAGGER}", "here: reference; here: deviates"),
        ("5* (4 to 6)", "here: *"),
        ("\N{ALMOST EQUAL TO} 3", "here: \N{ALMOST EQUAL TO}"),
        ("n/a\N{DAGGER}", "here: deviates"),
    ],
)
def test_mark_at_a_figure_becomes_a_flag(cell: str, flags: str) -> None:
    columns = split(cell, "1")
    assert columns["flags"] == [flags, ""]
    assert not any(mark in str(columns["here"][0]) for mark in "\N{DAGGER}\N{DOUBLE DAGGER}*\N{ALMOST EQUAL TO}")


def test_mark_at_a_name_or_title_becomes_a_flag_of_the_row() -> None:
    table = TableData("Title", ("kernel", ">here"), [[f"k{MARK}", "1"], ["l", "2"]])
    assert [row[-2] for row in table_as_csv_rows(table)] == ["flags", "deviates", ""]
    table = TableData(f"Title {MARK}", ("kernel", "verdict"), [["k", "holds"]])
    assert table_as_csv_rows(table) == [["kernel", "verdict", "flags", "note"], ["k", "holds", "deviates", ""]]


def test_non_number_becomes_a_note() -> None:
    columns = split("n/a: bring your own", "1500 (repeat 0)", "3 of 5", "4 to 6")
    assert columns["here"] == ["", "1500", "", ""]
    assert columns["note"] == ["here: n/a: bring your own", "here: repeat 0", "here: 3 of 5", "here: 4 to 6"]


def test_list_has_a_column_for_each_member() -> None:
    columns = split("1,600, 1,700 (1,650 to 1,750)", "4,000")
    assert columns["here, 1"] == ["1600", "4000"]
    assert columns["here, 2"] == ["1700", ""]
    assert columns["here, 2 low"] == ["1650", ""]


def test_table_of_texts_is_unchanged() -> None:
    rows = [["1,234 (1 to 2)", "holds"], ["b", "none"]]
    assert table_as_csv_rows(TableData("Title", ("what", ">verdict"), rows)) == [["what", "verdict"], *rows]
    assert table_as_csv_rows(TableData("Title", ("what", ">n"), [])) == [["what", "n"]]


def test_column_called_flags_keeps_its_name() -> None:
    heads = table_as_csv_rows(TableData("Title", ("flags", ">n"), [["-O2", "1"]]))[0]
    assert heads == ["flags", "n", "flags_", "note"]


RECORDS: list[Record] = [
    {"metric": "give", "kernel": "k", "value": 1234.5678901234567, "low": 1200, "unit": "cycles"},
    {"metric": "take", "stat": "max", "value": None, "note": "n/a: no service", "n": 3},
]


def test_records_are_written_with_every_field() -> None:
    heads, first, second = records_as_csv_rows(RECORDS)
    assert heads == ["metric", "stat", *FIELDS]
    assert first == ["give", None, 1234.5678901234567, 1200, None, None, "cycles", "k", None, None, None]
    assert second == ["take", "max", None, None, None, 3, None, None, None, None, "n/a: no service"]
    assert FIELDS == ("value", "low", "high", "n", "unit", "kernel", "version", "flags", "note")


@pytest.mark.parametrize("field", ["value", "low", "high", "n"])
def test_record_whose_number_is_a_text_is_refused(field: str) -> None:
    with pytest.raises(TypeError, match=f"{field} of a record is a number"):
        records_as_csv_rows([{"metric": "give", field: "1,234"}])


def test_figure_that_is_not_finite_is_an_empty_cell() -> None:
    assert records_as_csv_rows([{"value": math.inf}, {"value": math.nan}])[1:] == [[None] * 9] * 2


def test_records_replace_texts() -> None:
    table = TableData("Title", ("what", ">n"), [["give", "1,235"]], records=RECORDS)
    chart = ChartData("pairs", [{"x": "give", "y": 1}], "A chart", records=RECORDS)
    assert table_as_csv_rows(table) == chart_as_csv_rows(chart) == records_as_csv_rows(RECORDS)


def test_chart_without_records_has_its_rows() -> None:
    rows = [{"x": f"give{MARK}", "y": 1.5, "text": "2"}, {"x": "take", "y": 2.0, "low": 1.0}]
    assert chart_as_csv_rows(ChartData("pairs", rows, "A chart")) == [
        ["x", "y", "low", "flags"], [f"give{MARK}", 1.5, None, "deviates"], ["take", 2.0, 1.0, ""]
    ]  # fmt: skip
    assert chart_as_csv_rows(ChartData("pairs", [{"x": 1}], f"{MARK} A chart")) == [["x", "flags"], [1, "deviates"]]


def test_records_of_a_deviating_kernel_are_flagged() -> None:
    records: list[Record] = [
        {"kernel": "odd", "value": 1, "flags": "reference"},
        {"kernel": "odd", "value": 1, "source": "paper"},
        {"kernel": "odd-2", "value": 1},
        {"kernel": "odd", "value": 1, "flags": "deviates"},
    ]
    section = ReportSection(
        "a", "A", (), (ChartData("pairs", [], "c", records=records),), (TableData("t", ("k",), [], records=records),)
    )
    done = add_deviation_footnotes_to_section(section, {"odd": {"check": "saw"}}, all_deviate=False)
    for marked in (done.charts[0].records, done.tables[0].records):
        assert [record.get("flags") for record in marked] == ["reference; deviates", None, None, "deviates"]
    everything = (
        add_deviation_footnotes_to_section(section, {"odd": {"check": "saw"}}, all_deviate=True).tables[0].records
    )
    assert everything[2].get("flags") is None


def test_report_of_counts_and_latencies_has_records() -> None:
    manifest: dict[str, object] = {"build": {"kernel": "k", "kernel_version": "1.2"}}
    points = [measured_point(1, 1000), measured_point(2, 900), latency_point("counter", [107, 127, 107], empty=7)]
    document = make_report_document(
        Catalogue(find_checkout_root()), [StoredMeasurementPoint(Path("p"), point, manifest) for point in points], None
    )
    rows = {
        name: [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]
        for section in document.sections
        for name, cells in (
            *((f"{section.id} table", table_as_csv_rows(table)) for table in section.tables[:1]),
            *((f"{section.id} chart", chart_as_csv_rows(chart)) for chart in section.charts[:1]),
        )
    }
    table = rows["throughput table"]
    assert [(item["metric"], item["core"], item["value"], item["unit"]) for item in table[:4]] == [
        ("throughput", "", 4000.0, "counts/s"),
        ("throughput", "0", 4000.0, "counts/s"),
        ("cycles_per_count", "", 31250.0, "cycles"),
        ("fairness", "", 1.0, ""),
    ]
    assert {float(str(item["y"])) for item in rows["answer chart"]} >= {4000.0, 7200.0}
    assert {(item["kernel"], item["version"], item["n"]) for item in table} == {("k", "1.2", 1)}
    latencies = rows["latency table"]
    assert {"minimum", "median", "mean", "p99", "maximum", "jitter"} == {latency["stat"] for latency in latencies}
    assert {latency["unit"] for latency in latencies} == {"cycles", "us"}
    assert all(isinstance(latency["value"], float) for latency in latencies)
