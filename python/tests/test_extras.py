"""Without the extra `report` all commands start and work, but for charts and statistics, which say what to do."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

from rtoslab.base import find_root
from rtoslab.base.extras import EXTRAS, missing_package
from rtoslab.cli.overview import SECTIONS
from tests.instruments.small_program import small_program

BLOCKED: Final = """
import runpy, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"altair", "vl_convert", "scipy", "narwhals", "jsonschema"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
runpy.run_module("rtoslab", run_name="__main__")
"""


def without_report(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *words], capture_output=True, text=True, check=False, timeout=300, cwd=cwd
    )


def test_every_command_starts() -> None:
    script = (
        BLOCKED.replace('runpy.run_module("rtoslab", run_name="__main__")', "")
        + """
import importlib, rtoslab.cli, pkgutil
for each in pkgutil.iter_modules(rtoslab.cli.__path__):
    importlib.import_module(f"rtoslab.cli.{each.name}")
"""
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert len([name for many in SECTIONS.values() for name in many]) > 30


def test_measuring_needs_no_extra_and_a_page_with_charts_says_which(tmp_path: Path) -> None:
    image = str(small_program("pico"))
    done = without_report("measure", "outer", "--image", image, "--board", "pico", "--cores", "1", "--for", "1ms")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "run"
    done = without_report("run", "t2", "--window", "5ms", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert without_report("report", str(out), "-o", str(tmp_path / "report.md")).returncode == 0
    page = without_report("report", str(out), "-o", str(tmp_path / "report.html"))
    assert page.returncode == 1
    assert page.stderr == (
        "rtoslab: altair is not installed, which a report with charts needs; `pipx inject rtoslab altair scipy "
        "vl-convert-python` (or pip, in rtoslab's environment) installs the extra `report`.\n"
    )
    early = without_report("run", "t2", "--window", "5ms", "--report", "--out", str(tmp_path / "early"))
    assert (early.returncode, early.stderr.splitlines()[-1]) == (1, page.stderr.strip())
    assert not (tmp_path / "early").exists(), "a run that cannot end well has begun"


def test_the_packages_that_are_named_are_those_of_pyproject() -> None:
    declared = tomllib.loads((find_root() / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name, packages in EXTRAS.items():
        assert [each.partition(">=")[0] for each in declared[name]] == list(packages)
        assert missing_package(name) == ""


def test_the_demo_without_charts_ends_well_and_says_how_to_get_them(tmp_path: Path) -> None:
    script = BLOCKED.replace(
        "runpy.run_module",
        "from rtoslab.cli import cmd_demo, cmd_run\n"
        "cmd_run.command.callback = lambda **told: print(told['report']) or 0\n"
        "runpy.run_module",
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "demo"], capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "False"
    assert "`pipx inject rtoslab altair scipy vl-convert-python`" in done.stdout.splitlines()[1]
