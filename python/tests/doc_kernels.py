"""Figures in tables of docs/kernels: how each is measured, and what a run gives today.

A table of figures follows a line that ends in "`rtoslab run t2 t4 --kernel rtthread --board pico` with these options:".
Its columns are the benchmarks, in order. A row's options are in its first cell. `default` has none. Other rows without
options are not measured, because they show what no run gives today. With the kernel's tree
named (`rtoslab kernel tree add`),

    cd python && python -m tests.doc_kernels rtthread

measures them, writes the cells anew and keeps what was measured in `docs/kernels/figures.json`, together with the same
benchmarks of FreeRTOS, which everybody has. A test compares the pages with that file, and FreeRTOS with a run: if rules
of timing move FreeRTOS's figures, those of the other kernels are out of date, too.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtoslab.base.paths import find_checkout_root

ROOT: Final = find_checkout_root()
PAGES: Final = sorted((ROOT / "docs" / "kernels").glob("*.md"))
KEPT: Final = ROOT / "docs" / "kernels" / "figures.json"
CANARY: Final = "freertos"
_COMMAND: Final = re.compile(r"`rtoslab run ((?:\w+ )+)--kernel (\S+) --board (\S+)` with these options:$")
_OPTION: Final = re.compile(r"`(--[^`]+)`")
_PLAIN: Final = "default"


@dataclass(frozen=True, slots=True)
class Row:
    """One row that a run gives."""

    page: Path
    line: int
    """From 0."""
    kernel: str
    board: str
    benchmarks: tuple[str, ...]
    options: str
    cells: tuple[str, ...]
    """As the page has them; empty ones are not measured."""

    @property
    def key(self) -> str:
        """By which it is kept."""
        return f"{self.kernel} {self.board} {self.options}".strip()

    @property
    def wanted(self) -> dict[str, str]:
        """Benchmark -> cell."""
        return {name: cell for name, cell in zip(self.benchmarks, self.cells, strict=True) if cell}


def rows(page: Path) -> Iterator[Row]:
    """The rows of a page's tables that can be measured."""
    lines = page.read_text(encoding="utf-8").split("\n")
    command = None
    for number, line in enumerate(lines):
        match = _COMMAND.search(line)
        command = match or (command if not line or line.startswith("|") else None)
        if command is None or not line.startswith("|"):
            continue
        first, *cells = (part.strip() for part in line.strip("|").split("|"))
        options = " ".join(_OPTION.findall(first))
        if options or first.startswith(_PLAIN):
            benchmarks = tuple(command[1].split())
            yield Row(page, number, command[2], command[3], benchmarks, options, tuple(cells))


def measure(kernel: str, board: str, benchmarks: tuple[str, ...], options: str) -> dict[str, str]:
    """Benchmark -> counts a second as pages print them; of several placements from the least to the most."""
    command = [sys.executable, "-m", "rtoslab", "run", *benchmarks, "--kernel", kernel, "--board", board]
    done = subprocess.run([*command, *options.split(), "--json"], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode not in {0, 3}:
        raise RuntimeError(f"{kernel} {board} {options} cannot be measured: {done.stderr.strip()}")
    result: dict[str, list[int]] = {}
    for point in json.loads(done.stdout)["points"]:
        if point["status"] == "measured":
            name = point["point"]["benchmark"].partition("_")[0]
            result.setdefault(name, []).append(per_second(point))
    return {name: figure_text(values) for name, values in result.items()}


def per_second(point: dict[str, Any]) -> int:
    """Counts of the whole window in a second of the board's timer."""
    count: int = sum(item["count"] for item in point["counters"] if item["index"] in point["metric_tasks"])
    window_s: float = point["window_ticks"] / point["timer_hz"]
    return round(count / window_s)


def figure_text(values: list[int]) -> str:
    """One figure, or a band."""
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def stored_figures() -> dict[str, dict[str, str]]:
    """What was measured last: row -> benchmark -> figure."""
    result: dict[str, dict[str, str]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return result


def renew(page: Path) -> None:
    """Measures a page's rows, keeps them, and writes the cells anew."""
    figures = stored_figures() if KEPT.is_file() else {}
    lines = page.read_text(encoding="utf-8").split("\n")
    for row in rows(page):
        canary = f"{CANARY} {row.board}"
        for key, kernel, options in ((row.key, row.kernel, row.options), (canary, CANARY, "")):
            figures.setdefault(key, {}).update(measure(kernel, row.board, row.benchmarks, options))
        cells = [figures[row.key][name] if cell else "" for name, cell in zip(row.benchmarks, row.cells, strict=True)]
        first = lines[row.line].split("|")[1]
        lines[row.line] = f"|{first}| {' | '.join(cells)} |"
        KEPT.write_text(json.dumps(dict(sorted(figures.items())), indent=1) + "\n", encoding="utf-8")
        page.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        renew(ROOT / "docs" / "kernels" / f"{name}.md")
