"""Without the extra `report` all commands start and work, but for charts and statistics, which say what to do."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from rtoslab.base import find_checkout_root
from rtoslab.base.extras import EXTRAS, missing_extra_package
from rtoslab.cli.overview import SECTIONS
from tests.command_server import CommandServer
from tests.instruments.small_program import small_program

BLOCKED: Final = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"altair", "vl_convert", "scipy", "narwhals", "jsonschema"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
"""


@pytest.fixture(scope="module")
def without_report() -> Iterator[CommandServer]:
    with CommandServer(BLOCKED) as built:
        yield built


def test_every_command_starts_without_extras(without_report: CommandServer) -> None:
    """All their modules are loaded before the first call."""
    done = without_report.run("--version")
    assert done.returncode == 0, done.stderr
    assert len([name for many in SECTIONS.values() for name in many]) == 29


def test_measuring_needs_no_extra_and_charts_name_theirs(without_report: CommandServer, tmp_path: Path) -> None:
    image = small_program("pico")
    done = without_report.run("measure", "outer", "--image", image, "--board", "pico", "--cores", "1", "--for", "1ms")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "run"
    done = without_report.run("run", "t2", "--window", "5ms", "--out", out)
    assert done.returncode == 0, done.stderr
    assert without_report.run("report", out, "-o", tmp_path / "report.md").returncode == 0
    page = without_report.run("report", out, "-o", tmp_path / "report.html")
    assert page.returncode == 1
    assert page.stderr == (
        "rtoslab: altair is not installed, which a report with charts needs; `pipx inject rtoslab altair scipy "
        "vl-convert-python` (or pip, in rtoslab's environment) installs the extra `report`.\n"
    )
    early = without_report.run("run", "t2", "--window", "5ms", "--report", "--out", tmp_path / "early")
    assert (early.returncode, early.stderr.splitlines()[-1]) == (1, page.stderr.strip())
    assert not (tmp_path / "early").exists(), "a run that cannot end well has begun"


def test_extras_equal_those_of_pyproject() -> None:
    declared = tomllib.loads((find_checkout_root() / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name, packages in EXTRAS.items():
        assert [item.partition(">=")[0] for item in declared[name]] == list(packages)
        assert missing_extra_package(name) == ""


def test_demo_without_charts_succeeds_and_names_the_extra(without_report: CommandServer, tmp_path: Path) -> None:
    first = (
        "from rtoslab.cli import cmd_demo, cmd_run\n"
        "cmd_run.run_command.callback = lambda **told: print(told['report']) or 0\n"
    )
    done = without_report.run("demo", first=first, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "False"
    assert "`pipx inject rtoslab altair scipy vl-convert-python`" in done.stdout.splitlines()[1]
