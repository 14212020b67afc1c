"""In 80 columns every table stays within them, and no word of it is cut."""

import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console, ConsoleDimensions
from rich.table import Table

from rtoslab.api import build_image
from rtoslab.base.paths import find_checkout_root
from rtoslab.cli import app
from rtoslab.cli.console import PlainConsole

ROOT = find_checkout_root()
NARROW, WIDE = 80, 400
GLYPHS = re.compile(r"[┏┳┓┃┡╇╩┩│├┼┤└┴┘━─╺╸╷╵]+")
TIME_TAKEN = re.compile(r"[\d.]+ s\b")
"""By the host's clock."""
IN_WIDE, IN_NARROW, IN_BOTH = "\x01", "\x02", "\x03"
"""Before what is printed in one width, and behind it."""
TOO_LONG = NARROW - 8
"""A word of this length has no room in any table."""

COMMANDS = {
    "list": "list",
    "list with reasons": "list kernels",
    "doctor": "doctor",
    "references": "reference list",
    "runs": "runs --in {runs}",
    "points of runs": "runs --points --in {runs}",
    "show": "show {runs}/a --proofs",
    "lint": "lint {runs}/a {runs}/b",
    "compare": "compare {runs}/a {runs}/b",
    "report": "report {runs}/a --format md",
    "conformance": "conformance --board nucleo-f446re",
    "footprint": "footprint --kernel freertos,bare --board nucleo-f446re --program yield",
    "profile": "profile t2 --window 2ms --board nucleo-f446re",
    "profile against": "profile t2 --window 2ms --cores 2 --against-cores 1",
    "masked": "masked t2 --window 2ms --board nucleo-f446re",
    "trace": "trace t3 --window 2ms --board nucleo-f446re",
    "worst case": "worst-case --samples 3 --board nucleo-f446re --out {runs}/w",
    "placement": "placement t2 --placements 2 --board nucleo-f446re --window 2ms --out {runs}/p",
    "bounds": "rta examples/response-time/control.toml",
    "bounds on two cores": "rta examples/response-time/two-cores.toml",
    "bounds of a paper": "rta examples/response-time/miranda2021.toml",
    "capture": "decode {runs}/c.vcd",
    "capture beside": "decode {runs}/c.vcd task_activation --kernel freertos --board nucleo-f446re",
    "calls": "measure xQueueReceive xQueueGenericSend --image {runs}/t6.elf --board nucleo-f446re --for 30ms",
    "any image": "sim {runs}/t6.elf --board nucleo-f446re --max-cycles 2000000 --between main isr_systick",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    run = ["run", "t2", "t6", "--window", "2ms", "--board", "nucleo-f446re", "--json", "--out"]
    for name, opt in (("a", "-O2"), ("b", "-O3")):
        assert app.main([*run, str(folder / name), "--config", f"opt={opt}"], standalone_mode=False) == 0
    capture = ["pins", "record", "task_activation", "--board", "nucleo-f446re", "-o", str(folder / "c.vcd")]
    assert app.main(capture, standalone_mode=False) in {0, None}
    image = build_image("t6", kernel="freertos", board="nucleo-f446re", window_ms=2)
    (folder / "t6.elf").write_bytes(image.read_bytes())
    return folder


def _words(text: str) -> list[str]:
    lines = text.splitlines()
    return [part.rstrip(":;,.") for line in lines for part in GLYPHS.sub(" ", line).split()]


def _terminal_output(words: list[str], columns: int) -> str:
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, words)
    assert done.exit_code in {0, 3}, done.output
    return TIME_TAKEN.sub("", str(done.stdout))


def _output_of_both_widths(words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Of one run of the command, which measures for longer than it prints: all that goes through the console is printed
    in either width, between marks. A command that asks for the width by itself is run in each."""
    printing: list[Console] = []
    request: list[Console] = []

    def twice(self: PlainConsole, *shown: Any, **options: Any) -> None:
        if self.stderr:
            return plain(self, *shown, **options)
        printing.append(self)
        given = self.width
        for mark, columns, item in ((IN_WIDE, WIDE, deepcopy(shown)), (IN_NARROW, NARROW, shown)):
            self.width = columns
            self.file.write(mark)
            plain(self, *item, **options)
            self.file.write(IN_BOTH)
        self.width = given
        printing.pop()
        return None

    def size(self: PlainConsole) -> ConsoleDimensions:
        if self not in printing and not self.stderr:
            request.append(self)
        return Console.size.__get__(self)  # type: ignore[no-any-return]

    plain = PlainConsole.print
    with monkeypatch.context() as patch:
        patch.setattr(PlainConsole, "print", twice)
        patch.setattr(PlainConsole, "size", property(size), raising=False)
        both = _terminal_output(words, WIDE)
    if request:
        return _terminal_output(words, WIDE), _terminal_output(words, NARROW)
    return _without(both, IN_NARROW), _without(both, IN_WIDE)


def _without(both: str, mark: str) -> str:
    left = re.sub(f"{mark}.*?{IN_BOTH}", "", both, flags=re.DOTALL)
    return left.translate(dict.fromkeys(map(ord, IN_WIDE + IN_NARROW + IN_BOTH)))


@pytest.mark.parametrize("name", COMMANDS)
def test_narrow_terminal_shows_every_word(name: str, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = COMMANDS[name].format(runs=runs).split()
    wide, narrow = _output_of_both_widths(words, monkeypatch)
    cut = sorted({word for word in _words(wide) if len(word) < TOO_LONG} - set(_words(narrow)))
    assert not cut
    prose = {line.strip() for line in wide.splitlines() if not GLYPHS.search(line)}
    assert [line for line in narrow.splitlines() if len(line) > NARROW and line.strip() not in prose] == []


def _print_table(
    table: Table, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    PlainConsole().print(table)
    return capsys.readouterr().out


@pytest.fixture
def print_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[Table, int], str]:
    return lambda table, columns: _print_table(table, columns, monkeypatch, capsys)


def _table() -> Table:
    table = Table("function", "cycles", "place")
    table.columns[1].justify = "right"
    table.add_row("xQueueReceive", "1,200", "build/kernel/queue.c:1203")
    table.add_row("memcpy", "7", "-")
    return table


def test_table_narrows_then_loses_its_frame_then_a_column(print_table: Callable[[Table, int], str]) -> None:
    assert print_table(_table(), 60).count("│") == 8
    unframed = print_table(_table(), 50).splitlines()
    assert unframed == [
        "function       cycles  place",
        "━" * 48,
        "xQueueReceive   1,200  build/kernel/queue.c:1203",
        "memcpy              7  -",
    ]
    assert print_table(_table(), 40).splitlines() == [
        "function       cycles",
        "━" * 21,
        "xQueueReceive   1,200",
        "    place: build/kernel/queue.c:1203",
        "memcpy              7",
        "    place: -",
    ]


def test_prose_columns_shrink_before_names(print_table: Callable[[Table, int], str]) -> None:
    table = Table("service", "reason")
    table.add_row("semaphore_count", "no call of this kernel tells how many takes would succeed now")
    lines = print_table(table, 50).splitlines()
    assert all(len(line) <= 50 for line in lines)
    assert "semaphore_count" in lines[3]
    assert {len(line) for line in lines} == {50}
