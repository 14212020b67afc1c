"""Tables and charts for other documents: escaped, complete, and the same bytes every time."""

import csv
import io
import re
import shutil
import zlib
from pathlib import Path

import pytest

from rtoslab.base.errors import StoreError
from rtoslab.reports.citation import LICENCE
from rtoslab.reports.csv_records import table_as_csv_rows
from rtoslab.reports.drawing import convert_to_pdf, draw_chart_with_footnote
from rtoslab.reports.export_files import (
    escape_latex,
    export_report_files,
    rows_as_csv_text,
    table_as_latex,
    title_as_file_name_part,
    write_report_charts_and_tables,
)
from rtoslab.reports.table import ChartData, ReportDocument, ReportSection, TableData
from rtoslab.store.stored_point import StoredMeasurementPoint
from tests.reports.test_citation import EARLY, document, stored_point

TABLE = TableData(
    "Cost in \N{MICRO SIGN}s & more",
    ("task_name", ">100 %"),
    [["a & b_c", "1,625"], ["#1 {x}", "~2"]],
    "By 2 % & more.",
)
ROWS = [{"x": "give", "series": "paper", "y": 21.5}, {"x": "give", "series": "here", "y": 20.1}]
CHART = ChartData("pairs", ROWS, "A chart", "", "us")
DOCUMENT = ReportDocument("t", "s", "sum", (ReportSection("one", "One", (), (CHART,), (TABLE,)),))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50 % & more", r"50 \% \& more"),
        ("x_y #1 $2", r"x\_y \#1 \$2"),
        ("{a}", r"\{a\}"),
        ("a\\b", r"a\textbackslash{}b"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("<|>", r"\textless{}\textbar{}\textgreater{}"),
        ("5 \N{MICRO SIGN}s", r"5 \textmu{}s"),
        ("5 \N{GREEK SMALL LETTER MU}s", r"5 \textmu{}s"),
        ("A \N{RIGHTWARDS ARROW} B \N{EN DASH} C", r"A $\rightarrow$ B -- C"),
        ("two\nlines", "two lines"),
    ],
)
def test_special_characters_are_escaped_in_latex(text: str, escaped: str) -> None:
    assert escape_latex(text) == escaped


def test_latex_table_uses_booktabs_and_is_complete() -> None:
    text = table_as_latex(TABLE, "tab:one-cost", "one-table1-cost.tex")
    assert text.splitlines()[1:] == [
        r"% Include this table with \input{one-table1-cost.tex}, refer to it with \ref{tab:one-cost}.",
        r"\begin{table}[htbp]",
        r"\centering",
        r"\caption[{Cost in \textmu{}s \& more}]{Cost in \textmu{}s \& more. By 2 \% \& more.}",
        r"\label{tab:one-cost}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"task\_name & 100 \% \\",
        r"\midrule",
        r"a \& b\_c & 1,625 \\",
        r"\#1 \{x\} & \textasciitilde{}2 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    for package in ("booktabs", "fontenc"):
        assert package in text.splitlines()[0]


EVIL = r"}\end{table} \input{x} 50 % & a_b #1 $ ~ ^ \\ { [x]"
MARKED = TableData(EVIL, (EVIL, f">{EVIL}"), [[EVIL, EVIL]], EVIL, f"\N{DAGGER} {EVIL}")


@pytest.mark.parametrize("table", [TABLE, MARKED])
def test_no_text_breaks_the_structure_of_a_latex_table(table: TableData) -> None:
    text = table_as_latex(table, "tab:a", "a.tex")
    body = re.sub(r"\\[{}%&#$_\\]", "", "\n".join(line for line in text.splitlines() if not line.startswith("%")))
    assert re.findall(r"\\(begin|end)\{(\w+)\}", body) == [
        ("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table")
    ]  # fmt: skip
    depth = 0
    for char in body:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
    rows = [line for line in body.splitlines() if " & " in line]
    assert [line.count("&") for line in rows] == [1] * (1 + len(table.rows))
    assert not set("#$~^%") & set(body)
    assert "input" not in re.findall(r"\\([a-z]+)", body)
    assert escape_latex(table.note) in text
    assert escape_latex(table.footnote) in text


def test_labels_of_a_document_are_unique() -> None:
    document = ReportDocument("t", "s", "sum", (ReportSection("one", "One", (), (), (TABLE, TABLE)),))
    labels = [
        re.findall(r"\\label{(.*)}", str(text)) for name, text in export_report_files(document) if name.endswith(".tex")
    ]
    assert labels == [["tab:one-cost-in-s-more"], ["tab:one-cost-in-s-more-2"]]


def test_exported_csv_is_readable() -> None:
    assert list(csv.reader(io.StringIO(rows_as_csv_text(table_as_csv_rows(TABLE))))) == [
        ["task_name", "100 %", "flags", "note"],
        ["a & b_c", "1625", "", ""],
        ["#1 {x}", "2", "100 %: ~", ""],
    ]


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    assert rows_as_csv_text([["=1+1", -2.5, None, "-3"]]) == "'=1+1,-2.5,,-3\n"


def test_pdf_contains_text_but_no_date_or_id() -> None:
    pdf = dict(export_report_files(DOCUMENT))["one-figure1.pdf"]
    assert isinstance(pdf, bytes)
    assert pdf.startswith(b"%PDF-")
    assert b"LiberationSans" in pdf
    for changing in (b"CreationDate", b"ModDate", b"/ID"):
        assert changing not in pdf
    streams = re.findall(rb"FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    texts = [zlib.decompress(stream) for stream in streams if stream.startswith(b"x")]
    assert any(b" Tf" in text for text in texts), "letters of a font, not outlines"


def test_same_drawing_is_the_same_pdf_each_time() -> None:
    """The converter names a page's resources in the order of a hash table; translucent lines have many."""
    marks = [{"x": x, "series": name, "y": x + 1, "low": x, "high": x + 2} for x in range(6) for name in ("a", "b")]
    drawing = draw_chart_with_footnote(ChartData("lines", marks, "A chart", "bytes", "us"))
    result = {convert_to_pdf(drawing) for _ in range(6)}
    assert all(len(set(re.findall(rb"/gs[0-9]+ ", pdf))) > 5 for pdf in result)
    assert len(result) == 1


def test_everything_is_exported_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in write_report_charts_and_tables(DOCUMENT, tmp_path / "a")}
    second = {path.name: path.read_bytes() for path in write_report_charts_and_tables(DOCUMENT, tmp_path / "b")}
    assert set(first) == {
        "one-figure1.svg",
        "one-figure1.pdf",
        "one-figure1.csv",
        "one-table1-cost-in-s-more.csv",
        "one-table1-cost-in-s-more.tex",
        "CITATION.txt",
        "CITATION.bib",
    }
    assert first == second
    assert b"<svg" in first["one-figure1.svg"]


def test_older_export_is_replaced_and_user_files_are_kept(tmp_path: Path) -> None:
    for suffix in ("svg", "pdf", "csv"):
        (tmp_path / f"gone-figure1.{suffix}").write_text("old")
    (tmp_path / "thesis.tex").write_text("mine")
    write_report_charts_and_tables(DOCUMENT, tmp_path)
    assert not list(tmp_path.glob("gone-figure1.*"))
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot export to"):
        write_report_charts_and_tables(DOCUMENT, tmp_path / "file" / "export")


def test_slugs_are_short_and_plain() -> None:
    assert (
        title_as_file_name_part("Figure 16, throughput (per core) = 100 %, an object per core")
        == "figure-16-throughput-per-core-100-an-obj"
    )


def test_every_export_contains_its_citation(tmp_path: Path) -> None:
    point = stored_point(tmp_path / "run", EARLY)
    first = {path.name: path.read_bytes() for path in write_report_charts_and_tables(document(point), tmp_path / "a")}
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    again = StoredMeasurementPoint(tmp_path / "copy" / "points" / "one", point.result, point.manifest)
    assert first == {
        path.name: path.read_bytes() for path in write_report_charts_and_tables(document(again), tmp_path / "b")
    }
    assert set(first) == {"CITATION.txt", "CITATION.bib"}
    assert b"2024-02-29" in first["CITATION.txt"]
    assert LICENCE.encode() in first["CITATION.txt"]
    assert b"@misc{rtoslab," in first["CITATION.bib"]
