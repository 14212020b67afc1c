"""Published figures beside ours: docs/accuracy.csv, and the parts of docs/accuracy.md that are made of it.

    cd python && python -m tests.doc_accuracy              # writes the tables of the page anew
    cd python && python -m tests.doc_accuracy wide_loop    # measures the rows that name it

A row's `measured_by` is what measures "ours": one of the loops in tests/accuracy/loops.S, which a test runs again,
tests of the virtual board in Rust, or `outside` where the image comes of public sources that are not part of this
repository.
"""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.targets.board import make_board_at_reset
from rtoslab.targets.events import EVENT
from tests.doc_parts import replace_part

ROOT: Final = find_checkout_root()
FIGURES: Final = ROOT / "docs" / "accuracy.csv"
PAGE: Final = ROOT / "docs" / "accuracy.md"
LOOPS: Final = Path(__file__).parent / "accuracy" / "loops.S"
OUTSIDE: Final = "outside"
RUST: Final = "cargo test -p rtoslab-machine "
"""Before the name of a module of `sim/machine/src/tests` whose tests assert "ours"."""
_MODULE: Final = "tests.doc_accuracy "
_RUN_CYCLES: Final = 20_000
_BOUNDS: Final = (0.1, 1.5, 3.0)
"""Percent of a published figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: a published figure and ours."""

    board: str
    chip: str
    """The one that was measured."""
    setup: str
    source: str
    routine: str
    published: str
    published_to: str
    """The upper end, where a range was published."""
    ours: str
    unit: str
    comparable: str
    """`yes`, or `no:` and why the difference tells nothing of the board."""
    rule: str
    """What was chosen or fitted by this figure, so that it is no independent check of it. Empty: nothing."""
    measured_by: str

    @property
    def loop(self) -> str:
        """Which of the loops of this repository measures it; empty: none."""
        return self.measured_by.removeprefix(_MODULE) if self.measured_by.startswith(_MODULE) else ""

    @property
    def is_comparable(self) -> bool:
        """Whether it counts in the board's budget."""
        return self.comparable == "yes"

    @property
    def error_percent(self) -> float:
        """How far ours is from what was published, or from the nearer end of a published range."""
        least, ours = float(self.published), float(self.ours)
        most = float(self.published_to or self.published)
        nearest = min(max(ours, least), most)
        return 100 * (ours - nearest) / nearest

    @property
    def cells(self) -> list[str]:
        """The row as the page has it."""
        published = " to ".join(_number(item) for item in (self.published, self.published_to) if item)
        unit = "" if self.unit == "cycles" else f" {self.unit}"
        what = f"{self.source}: {self.routine}"
        by = f"`{self.loop}`" if self.loop else OUTSIDE
        error = _format_signed(self.error_percent) + ("" if self.is_comparable else f" ({self.comparable})")
        return [
            self.board,
            self.chip,
            self.setup,
            what,
            published + unit,
            _number(self.ours),
            error,
            self.rule or "none",
            by,
        ]


def _number(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text


def _format_signed(percent: float) -> str:
    return f"{round(percent, 1) + 0.0:+.1f}"


def read_figures() -> list[Figure]:
    """The rows of the file, by board and then by error, the largest first."""
    with FIGURES.open(encoding="utf-8", newline="") as file:
        results = [Figure(**row) for row in csv.DictReader(file)]
    return sorted(
        results,
        key=lambda figure: (figure.board, -abs(figure.error_percent), figure.source, figure.routine, figure.setup),
    )


def budget(figures: Sequence[Figure]) -> Iterator[str]:
    """A line for each board: how many figures, the share that is met within each bound, the worst."""
    yield "| board | figures | error at most 0.1 % | at most 1.5 % | at most 3 % | largest error |"
    yield "|---|---|---|---|---|---|"
    for board in sorted({figure.board for figure in figures}):
        errors = [figure.error_percent for figure in figures if figure.board == board and figure.is_comparable]
        shares = [f"{100 * sum(abs(error) <= bound for error in errors) / len(errors):.0f} %" for bound in _BOUNDS]
        yield f"| {board} | {len(errors)} | {' | '.join(shares)} | {_format_signed(max(errors, key=abs))} % |"


def table(figures: Sequence[Figure]) -> Iterator[str]:
    """All figures."""
    columns = (
        "board", "chip", "set-up", "source and routine", "published", "virtual board", "error, %", "rule fitted to it",
        "measured by",
    )  # fmt: skip
    yield f"| {' | '.join(columns)} |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for figure in figures:
        yield f"| {' | '.join(figure.cells)} |"


def page(text: str) -> str:
    """The page with its two tables written anew."""
    figures = read_figures()
    for name, lines in (("budget", budget(figures)), ("figures", table(figures))):
        text = replace_part(text, name, "tests.doc_accuracy", lines)
    return text


def measure(loop: str, board: str) -> float:
    """Cycles of a loop on a board: of an iteration, or of what lies between its two labels."""
    machine = make_board_at_reset(Catalogue(ROOT).find_board(board).facts, cores=1)
    machine.load(_assemble(loop), f"{loop}.elf")
    for ident, label in enumerate(("begin", "end"), 1):
        address = machine.symbol(label)
        if address is not None:
            machine.watch_exec(address & ~1, ident)
    machine.run(_RUN_CYCLES)
    events = np.frombuffer(machine.take_events(), dtype=EVENT)
    begins, ends = (events["cycle"][events["id"] == ident].astype(np.int64) for ident in (1, 2))
    taken = np.diff(begins) if not ends.size else ends - begins[: ends.size]
    return float(np.median(taken[taken.size // 2 :]))


def _assemble(loop: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "loop.elf"
        addresses = ["-Wl,--section-start=.vectors=0x08000000", "-Wl,-Ttext=0x08000100", "-Wl,-e,reset"]
        subprocess.run(
            ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-nostdlib", f"-D{loop}", *addresses, LOOPS, "-o", out],
            check=True,
        )
        return out.read_bytes()


def main(words: Sequence[str]) -> None:
    """Writes the page, or measures the loops that are named."""
    if not words:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for figure in read_figures():
        if figure.loop in words:
            taken = measure(figure.loop, figure.board)
            sys.stdout.write(f"{figure.loop} on {figure.board}: {taken:g} cycles, published {figure.published}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
