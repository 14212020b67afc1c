"""A command of the tests' own server is the command as a shell starts it, and calls know nothing of each other."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_cli import ROOT, from_nothing, rtoslab
from tests.command_server import is_served, run_served

ASKED = [
    ("--help",),
    ("list", "--json"),
    ("list", "boards"),
    ("nonsense",),
    ("show", "nowhere"),
    ("run", "t1", "--kernel", "bare", "--window", "20ms", "--dry-run", "--json", "--out", "nowhere"),
]


def without_estimate(output: str) -> str:
    """The output of a dry run without its seconds, which depend on what was measured here meanwhile."""
    return re.sub(r'"seconds": \d+', '"seconds": N', output)


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_command_server_and_shell_give_the_same_result(words: tuple[str, ...]) -> None:
    served_one, single = rtoslab(*words), from_nothing(*words)
    assert (served_one.returncode, without_estimate(served_one.stdout), served_one.stderr) == (
        single.returncode,
        without_estimate(single.stdout),
        single.stderr,
    )
    assert served_one.stdout + served_one.stderr


def test_each_call_has_its_own_environment_and_process() -> None:
    narrow, wide = (rtoslab("list", "kernels", COLUMNS=columns).stdout for columns in ("60", "200"))
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    assert rtoslab("list", "kernels", COLUMNS="60").stdout == narrow


def test_call_that_depends_on_module_loading_is_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_served({"PATH": "/nowhere"})
    assert not is_served({"PYTHONUTF8": "1"})
    assert not is_served({"RTOSLAB_ROOT": str(tmp_path)})
    monkeypatch.setenv("RTOSLAB_ROOT", str(tmp_path))
    assert not is_served({})


def test_hanging_call_is_killed_and_the_next_is_served(tmp_path: Path) -> None:
    words = ["run", "t1", "--kernel", "bare", "--out", str(tmp_path / "run")]
    with pytest.raises(subprocess.TimeoutExpired):
        run_served(words, os.environ, ROOT, 0.01)
    assert rtoslab("nonsense").returncode == 2
