"""Tutorials run as their pages say: each command of a user's firmware in turn, and the lines that pages quote."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doc_pages import ROOT, run_command

PAGE = ROOT / "docs" / "tutorial-firmware.md"
EXAMPLE = ROOT / "examples" / "firmware"
OMITTED = "..."
"""A line that stands for any number of lines."""


def steps() -> Iterator[tuple[str, list[str]]]:
    """The commands of the page's console blocks, each with the lines that the page quotes."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        command = ""
        quoted: list[str] = []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, quoted
                command, quoted = line[2:], []
            else:
                quoted.append(line)
        yield command, quoted


def has_lines(output: str, quoted: list[str]) -> bool:
    """Whether the output consists of the quoted lines, with anything where lines are omitted."""
    parts = [".*" if line == OMITTED else re.escape(line) + "\n" for line in quoted]
    return re.fullmatch("".join(parts), output, re.DOTALL) is not None


def test_omitted_lines_match_any_output() -> None:
    assert has_lines("a\nb\nc\n", ["a", OMITTED])
    assert not has_lines("a\nb\n", ["b"])


def test_tutorial_commands_print_the_documented_output(tmp_path: Path) -> None:
    folder = tmp_path / "firmware"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("build"))
    for command, quoted in steps():
        words = shlex.split(command)
        if words[0] == "rtoslab":
            done = run_command(words[1:], folder)
        else:
            done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == (3 if any("Regression" in line for line in quoted) else 0), (command, done.stderr)
        output = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
        assert not quoted or has_lines(output, quoted), (command, output)


def documented_outputs() -> Iterator[tuple[str, str, list[str]]]:
    """The page, the command and the quoted first lines of every indented block that begins with `$ rtoslab`."""
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        for command, quoted in re.findall(
            r"^    \$ rtoslab (.*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))+)", page.read_text(), re.MULTILINE
        ):
            yield str(page.relative_to(ROOT)), re.sub(r" \| head -\d+$", "", command), quoted.split()


def test_blocks_with_documented_outputs_are_found() -> None:
    pages = {page for page, _, _ in documented_outputs()}
    assert {"README.md", "docs/response-time.md", "docs/worst-case.md", "docs/placements.md"} <= pages


def quoting_cases() -> list[Any]:
    """One test case for each block with a documented output. The task sets that run on a board take minutes."""
    return [
        pytest.param(*item, id=f"{item[0]}: {item[1]}", marks=[pytest.mark.long] if "--check" in item[1] else [])
        for item in documented_outputs()
    ]


@pytest.mark.parametrize(("page", "command", "quoted"), quoting_cases())
def test_page_quotes_what_its_command_prints(
    page: str, command: str, quoted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures change with the firmware, the virtual board and the reference results. Lines may break elsewhere."""
    monkeypatch.setenv("RTOSLAB_TREES", str(tmp_path / "no-trees"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = run_command(shlex.split(command), tmp_path)
    assert done.returncode in ({0, 3} if command.startswith("rta ") else {0}), done.stderr
    assert len(quoted) > 20
    assert done.stdout.split()[: len(quoted)] == quoted, f"{page}: {command}"
