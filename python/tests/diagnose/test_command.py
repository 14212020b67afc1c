"""`rtoslab diagnose` on the command line: words, JSON, page, limits of a project, exit codes."""

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from rtoslab.base.errors import EXIT_ERROR, EXIT_OK, EXIT_POINT_FAILED, EXIT_USAGE
from tests.instruments.images import scene

BOARD: Final = "nucleo-f446re"


def run_diagnose(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rtoslab", "diagnose", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def diagnose_scene(
    folder: Path, name: str, *options: str | Path, length: str = "60ms"
) -> subprocess.CompletedProcess[str]:
    return run_diagnose(folder, scene(name, "freertos", BOARD), "--board", BOARD, "--for", length, *options)


def test_findings_fit_80_columns_and_exit_with_3(tmp_path: Path) -> None:
    done = diagnose_scene(tmp_path, "deadlock")
    assert done.returncode == EXIT_POINT_FAILED
    assert "1. DEADLOCK at" in done.stdout
    assert "1 finding." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_healthy_image_exits_with_0(tmp_path: Path) -> None:
    done = diagnose_scene(tmp_path, "lock_order")
    assert done.returncode == EXIT_OK
    assert "Nothing wrong was found." in done.stdout
    assert "Not checked: missed periods" in done.stdout


def test_json_contains_all_findings(tmp_path: Path) -> None:
    result = json.loads(diagnose_scene(tmp_path, "deadlock", "--json").stdout)
    (finding,) = result["findings"]
    assert finding["kind"] == "deadlock"
    assert finding["level"] == "error"
    assert finding["cycle"] > 0
    assert finding["tracks"]
    assert {share["name"] for share in result["load"]} >= {"left", "right", "IDLE"}
    assert {use["task"] for use in result["stacks"]} >= {"left", "right", "(main stack)"}
    assert result["not_looked_for"]


def test_missing_debug_information_lists_unchecked_faults(tmp_path: Path) -> None:
    image = tmp_path / "image.elf"
    source = scene("priority_inversion", "freertos", BOARD)
    subprocess.run(["arm-none-eabi-objcopy", "--strip-debug", source, image], check=True)
    done = run_diagnose(tmp_path, image, "--board", BOARD, "--for", "30ms")
    assert done.returncode == EXIT_OK
    assert "Not checked: priority inversions: the priorities of tasks are not known." in done.stdout
    assert "Not checked: stacks of tasks" in done.stdout


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.labels: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.labels += [value or "" for name, value in attrs if name == "aria-label"]


def test_page_draws_each_finding(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    done = diagnose_scene(tmp_path, "lost_ticks", "-o", target)
    assert done.returncode == EXIT_POINT_FAILED
    page = Page()
    page.feed(target.read_text())
    assert "3 findings." in done.stdout
    assert page.tags.count("svg") == 3
    assert any(label.startswith("interrupt lost: ") for label in page.labels)
    assert page.tags.count("table") == 1


PROJECT: Final = """
[image.app]
elf = "image.elf"
board = "nucleo-f446re"
for_ms = 60

[diagnose]
"""


@pytest.mark.parametrize(
    ("limits", "code"),
    [("masked_us = 50", EXIT_POINT_FAILED), ("masked_us = 65", EXIT_OK), ("", EXIT_OK)],
)
def test_limits_come_from_the_project(tmp_path: Path, limits: str, code: int) -> None:
    """The critical section of the scene takes 60 us."""
    (tmp_path / "image.elf").write_bytes(scene("long_critical_section", "freertos", BOARD).read_bytes())
    (tmp_path / "rtoslab.toml").write_text(PROJECT + limits)
    done = run_diagnose(tmp_path)
    assert done.returncode == code, done.stderr
    assert ("INTERRUPTS MASKED" in done.stdout) == (code == EXIT_POINT_FAILED)


def test_what_a_project_ignores_becomes_a_note(tmp_path: Path) -> None:
    (tmp_path / "rtoslab.toml").write_text(PROJECT + 'ignore = ["deadlock"]')
    done = diagnose_scene(tmp_path, "deadlock")
    assert done.returncode == EXIT_OK
    assert "DEADLOCK (note)" in done.stdout


def test_wrong_use_is_reported(tmp_path: Path) -> None:
    assert run_diagnose(tmp_path).returncode == EXIT_ERROR
    assert run_diagnose(tmp_path, "nothing.elf").returncode == EXIT_ERROR
    assert run_diagnose(tmp_path, "--nothing").returncode == EXIT_USAGE
    (tmp_path / "rtoslab.toml").write_text(PROJECT + 'ignore = ["dead lock"]')
    wrong = diagnose_scene(tmp_path, "deadlock")
    assert wrong.returncode == EXIT_ERROR
    assert "ignore" in wrong.stderr
