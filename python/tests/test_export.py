"""Tables and charts for other documents: escaped, complete, and the same bytes every time."""

import csv
import io
from pathlib import Path

import pytest

from rtoslab.base.errors import StoreError
from rtoslab.reports.export_files import export, latex, slug, to_csv, to_latex
from rtoslab.reports.table import ChartData, Document, Section, TableData

TABLE = TableData("Cost in \N{MICRO SIGN}s & more", ("task_name", ">100 %"), [["a & b_c", "1,625"], ["#1 {x}", "~2"]])
ROWS = [{"x": "give", "series": "paper", "y": 21.5}, {"x": "give", "series": "here", "y": 20.1}]
CHART = ChartData("pairs", ROWS, "A chart", "", "us")
DOCUMENT = Document("t", "s", "sum", (Section("one", "One", (), (CHART,), (TABLE,)),))


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
def test_latex_escapes_what_it_would_take_for_something_else(text: str, escaped: str) -> None:
    assert latex(text) == escaped


def test_a_latex_table_is_booktabs_and_whole() -> None:
    text = to_latex(TABLE)
    assert text.splitlines()[1:] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"task\_name & 100 \% \\",
        r"\midrule",
        r"a \& b\_c & 1,625 \\",
        r"\#1 \{x\} & \textasciitilde{}2 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_csv_reads_back() -> None:
    assert list(csv.reader(io.StringIO(to_csv(TABLE)))) == [["task_name", "100 %"], *TABLE.rows]


def test_everything_is_exported_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in export(DOCUMENT, tmp_path / "a")}
    second = {path.name: path.read_bytes() for path in export(DOCUMENT, tmp_path / "b")}
    assert set(first) == {
        "one-figure1.svg",
        "one-table1-cost-in-s-more.csv",
        "one-table1-cost-in-s-more.tex",
    }
    assert first == second
    assert b"<svg" in first["one-figure1.svg"]


def test_an_older_export_is_replaced_and_a_users_own_file_stays(tmp_path: Path) -> None:
    (tmp_path / "gone-figure1.svg").write_text("old")
    (tmp_path / "thesis.tex").write_text("mine")
    export(DOCUMENT, tmp_path)
    assert not (tmp_path / "gone-figure1.svg").exists()
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot export to"):
        export(DOCUMENT, tmp_path / "file" / "export")


def test_slugs_are_short_and_plain() -> None:
    assert (
        slug("Figure 16, throughput (per core) = 100 %, an object per core")
        == "figure-16-throughput-per-core-100-an-obj"
    )
