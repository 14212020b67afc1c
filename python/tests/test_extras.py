"""Without the extra `report` all commands start and work, but for charts and statistics, which say what to do."""

import subprocess
import sys
from pathlib import Path
from typing import Final

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
        "rtoslab: altair is not installed, which a report with charts needs; install rtoslab[report].\n"
    )
