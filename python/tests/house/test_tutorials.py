"""Tutorials run as their pages say: each command of a user's firmware in turn, and the lines that pages quote."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

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


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial-choose.md"])
def test_choose_prints_the_documented_output(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures come with rtoslab, so they change with the reference results. Lines may break elsewhere."""
    monkeypatch.setenv("RTOSLAB_TREES", str(tmp_path / "no-trees"))
    text = (ROOT / page).read_text()
    ((command, quoted),) = re.findall(r"    \$ rtoslab (choose .*?) \| head -\d+\n((?:    .*\n)+)", text)
    done = run_command(shlex.split(command), tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(quoted.splitlines()) > 8
    assert done.stdout.split()[: len(quoted.split())] == quoted.split()
