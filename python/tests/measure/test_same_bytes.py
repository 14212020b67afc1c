"""The same manifest gives the same bytes, whatever order a process's sets of names happen to have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli import HANG_S, ROOT

MAY_DIFFER = {"build.log", "seal.json", "journal.jsonl"}
"""What a compiler prints bears the order of its processes, and the seal has a digest of it; the journal has dates."""


def stored_files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in MAY_DIFFER
    }


@pytest.mark.parametrize(("benchmark", "seeds"), [("t7", 2), pytest.param("mutex", 4, marks=pytest.mark.long)])
def test_stored_bytes_do_not_depend_on_hash_order(benchmark: str, seeds: int, tmp_path: Path) -> None:
    runs = []
    for seed in range(seeds):
        out = tmp_path / str(seed)
        command = [
            sys.executable,
            "-m",
            "rtoslab",
            "run",
            benchmark,
            "--kernel",
            "freertos",
            "--board",
            "pico",
            "--fresh",
        ]
        only = ["--cores", "2", "--window", "20ms"] if benchmark == "t7" else []
        done = subprocess.run(
            [*command, *only, "--jobs", "1", "--out", str(out)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True, text=True, check=False, timeout=HANG_S, cwd=ROOT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        runs.append(stored_files(out))
    assert any("evidence" in name for name in runs[0])
    for other in runs[1:]:
        assert other.keys() == runs[0].keys()
        assert not [name for name, content in runs[0].items() if other[name] != content]
