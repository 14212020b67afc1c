"""Commands and recorded sessions in README.md and docs/*.md: what pages claim, as something that can be run.

A session is an indented block whose first line is `$ rtoslab ...`; the rest is what the command prints on a terminal
of 116 columns, byte for byte. `| head -N` behind the command keeps the first N lines. `make docs` writes all anew:

    cd python && python -m tests.doc_pages
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base.paths import find_checkout_root

ROOT = find_checkout_root()
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
COLUMNS = 116
_INDENT = "    "
_COMMAND = re.compile(r"^    (\$ )?(rtoslab [a-z-].*)$")
_INLINE = re.compile(r"`(rtoslab [a-z][^`]*)`", re.DOTALL)
_REMARK = re.compile(r"\s+#\s.*$|\s{3,}\S.*$")
_HEAD = re.compile(r"\s*\| head -(\d+)$")
_MEASURES = ("--kernel", "--board", "--check")
"""What makes a command build firmware and execute it."""
_AT_ONCE = ("list", "rta", "completion", "choose")


def run_command(words: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs rtoslab with these words in a folder, on a terminal of COLUMNS columns."""
    terminal = {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT / "python")}
    program = [sys.executable, "-m", "rtoslab", *words]
    return subprocess.run(
        program, capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, **terminal}
    )


@dataclass(frozen=True, slots=True)
class Command:
    """One command on one page."""

    page: Path
    line: int
    """From 1; of an inline one, where its paragraph's text begins."""
    text: str

    @property
    def words(self) -> list[str]:
        """Without `rtoslab` and without what follows a pipe."""
        return shlex.split(self.text.partition(" | ")[0])[1:]

    @property
    def abridged(self) -> bool:
        """Whether something is left out of it, so that it cannot be parsed."""
        return "..." in self.text or "…" in self.text

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class Session(Command):
    """A command and what the page says it prints."""

    shown: tuple[str, ...]

    @property
    def quick(self) -> bool:
        """Whether it measures nothing, so that `make test` can run it."""
        return self.words[0] in _AT_ONCE and not set(self.words) & set(_MEASURES)

    def run(self) -> tuple[str, ...]:
        """What it prints today."""
        done = run_command(self.words, ROOT)
        if done.returncode not in {0, 3}:
            raise RuntimeError(f"{self} ended with {done.returncode}: {done.stderr.strip()}")
        lines = [part.rstrip() for part in done.stdout.rstrip("\n").split("\n")]
        head = _HEAD.search(self.text)
        stored = lines[: int(head[1])] if head else lines
        while stored and not stored[-1]:
            stored.pop()
        return tuple(stored)


def commands(page: Path) -> list[Command]:
    """Every command of a page: lines of their own without the remark behind them, and those inside sentences."""
    text = page.read_text(encoding="utf-8")
    results = [
        Command(page, number, _REMARK.sub("", shown[2]))
        for number, line in enumerate(text.split("\n"), 1)
        if (shown := _COMMAND.match(line))
    ]
    inside = [
        Command(page, text.count("\n", 0, shown.start()) + 1, " ".join(shown[1].split()))
        for shown in _INLINE.finditer(text)
    ]
    return results + inside


def sessions(page: Path) -> list[Session]:
    """Every recorded session of a page."""
    lines = page.read_text(encoding="utf-8").split("\n")
    results = []
    for number, line in enumerate(lines):
        shown = _COMMAND.match(line)
        if shown and shown[1]:
            results.append(Session(page, number + 1, shown[2], _block(lines, number + 1)))
    return results


def _block(lines: list[str], start: int) -> tuple[str, ...]:
    """The indented lines from `start`; blank ones count if indented ones follow."""
    end = last = start
    while end < len(lines) and (lines[end].startswith(_INDENT) or not lines[end]):
        if lines[end].startswith(f"{_INDENT}$ "):
            break
        end += 1
        last = end if lines[end - 1] else last
    return tuple(line.removeprefix(_INDENT) for line in lines[start:last])


def refresh(page: Path) -> list[Session]:
    """Writes what each session of the page prints today into it; returns those that had drifted."""
    lines = page.read_text(encoding="utf-8").split("\n")
    drifted = []
    for session in reversed(sessions(page)):
        today = session.run()
        if today != session.shown:
            drifted.append(session)
            lines[session.line : session.line + len(session.shown)] = [f"{_INDENT}{line}".rstrip() for line in today]
    if drifted:
        page.write_text("\n".join(lines), encoding="utf-8")
    return drifted


if __name__ == "__main__":
    for one in PAGES:
        for old in refresh(one):
            sys.stdout.write(f"renewed {old}\n")
