"""What goes out: pipes, devices and links are written to and stay what they are; no text becomes code of a format."""

import os
import stat
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.base.errors import StoreError
from rtoslab.base.output_files import write_file_atomically
from rtoslab.base.paths import find_checkout_root
from rtoslab.captures.capture import LogicLevelCapture, build_channel_from_levels
from rtoslab.captures.forms import capture_format_modules, parse_capture, with_portable_channel_names
from rtoslab.cli.console import PlainConsole
from rtoslab.intake.escapes import escape_csv_cell, escape_markdown, escape_paragraph, escape_xml_characters
from rtoslab.reports.export_files import escape_latex, write_report_charts_and_tables
from rtoslab.reports.formats import html
from rtoslab.reports.formats.md import render_report
from rtoslab.reports.table import ReportDocument, ReportSection, TableData

EVIL = "<script>alert(1)</script> | `x` [a](b) *c* \\ & \x1b[2J\n# d"


def test_fifo_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_file_atomically(pipe, "text", "the thing")
    reader.join(10)
    assert heard == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_device_is_not_replaced(tmp_path: Path) -> None:
    write_file_atomically(Path("/dev/null"), b"x", "the thing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    (tmp_path / "link").symlink_to("/dev/null")
    write_file_atomically(tmp_path / "link", b"x", "the thing")
    assert (tmp_path / "link").is_symlink()


def test_target_of_a_link_is_replaced_and_the_link_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("made")
    write_file_atomically(tmp_path / "link", "new", "the thing")
    write_file_atomically(tmp_path / "dangling", "new", "the thing")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == (tmp_path / "made").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "link", "made", "real"]


@pytest.mark.parametrize("name", [".", "no/such/folder/x", "x" * 300, "a\0b", "ring"])
def test_unwritable_output_is_reported(name: str, tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to("ring")
    with pytest.raises(StoreError, match="Cannot write the thing"):
        write_file_atomically(tmp_path / name, "x", "the thing")


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_written_to_in_order(name: str, tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from rtoslab.base import write_file_atomically; print('before'); "
        f"write_file_atomically(Path({name!r}), 'text\\n', 'the thing'); print('after')"
    )
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=tmp_path)
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


TABLE = TableData(EVIL, (EVIL,), [[EVIL]], EVIL)
DOCUMENT = ReportDocument(
    EVIL, EVIL, EVIL, (ReportSection("a", EVIL, (EVIL, "# not a heading", "- no list"), (), [TABLE]),)
)


def test_html_shows_commands_in_the_font_of_code() -> None:
    text = "`rtoslab show A<b>` shows it; `x` marks nothing, a ` alone stays."
    section = ReportSection("a", "A", (text,), (), [TableData("T", ("n",), [["1"]], text)])
    page = html.render_report(ReportDocument("R", "", text, (section,)))
    shown = "<code>rtoslab show A&lt;b&gt;</code> shows it; <code>x</code> marks nothing, a ` alone stays."
    assert page.count(shown) == 3


def test_text_cannot_inject_markdown() -> None:
    text = render_report(DOCUMENT)
    assert "<script" not in text
    assert "\x1b" not in text
    assert "[a](b)" not in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        f"# {escape_markdown(EVIL)}", f"## {escape_markdown(EVIL)}", f"### {escape_markdown(EVIL)}", "## Cite this"
    ]  # fmt: skip
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert [line.replace("\\|", "").count("|") for line in table] == [2, 2, 2]


@given(st.text())
def test_text_cannot_inject_markdown_or_xml(text: str) -> None:
    shown = escape_paragraph(text)
    assert shown.isprintable()
    assert "<" not in shown
    assert not shown.lstrip().startswith(("#", "- ", "+ ", "1. ", "`", ">"))
    ET.fromstring(f"<a>{escape_xml_characters(text).replace('&', '').replace('<', '')}</a>")  # noqa: S314 (our own text)


@pytest.mark.parametrize("cell", ["=1+1", "@x", "+cmd|'/c'!A1", "-2+3", "\t=1", "=HYPERLINK(1)"])
def test_no_cell_is_a_formula(cell: str) -> None:
    assert escape_csv_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-12", "+3.5 %", "-1,234", "-", "x=1", "1e-5", "-1.5e-05", "", 5, -3.5])
def test_other_cells_are_unchanged(cell: object) -> None:
    assert escape_csv_cell(cell) == cell


def test_export_removes_only_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / "a-table1-old.tex").write_text("an earlier export's")
    write_report_charts_and_tables(DOCUMENT, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    assert not (tmp_path / "a-table1-old.tex").exists()
    assert "\x1b" not in escape_latex(EVIL)


@pytest.mark.parametrize("form", ["vcd", "sigrok", "pulseview", "saleae", "saleae1"])
def test_channel_names_survive_every_format(form: str) -> None:
    names = ("$end", "a,b", "a\nb", 'q"', "", "a b", "[/x]", "probe1=x", "a b")
    channels = tuple(build_channel_from_levels(name, [0, 3, 7], [0, 1, 0]) for name in names)
    capture = with_portable_channel_names(LogicLevelCapture(Fraction(1, 1_000_000), channels, 9))
    assert len({channel.name for channel in capture.channels}) == len(names)
    again = parse_capture(capture_format_modules()[form].encode_capture(capture), "x")
    assert [channel.name for channel in again.channels] == [channel.name for channel in capture.channels]
    assert all(channel.levels.tolist() == [0, 1, 0] for channel in again.channels)


def test_terminal_shows_names_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    PlainConsole().print("[/x] [red]a :bug: \x1b[2J \udcff", soft_wrap=True)
    assert capsys.readouterr().out == "[/x] [red]a :bug: \\x1b[2J \\udcff\n"


def test_child_processes_have_no_standard_input() -> None:
    code = "from rtoslab.base import program_output as run; print(repr(run(['cat'])), repr(run(['cat'], 'typed')))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="secret",
        capture_output=True,
        text=True,
        check=True,
        cwd=find_checkout_root(),
    )
    assert done.stdout == "'' 'typed'\n"
