"""Whole sweeps give the same bytes after kill -9 in the middle, and on a cluster that loses a worker."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED
from rtoslab.store.store import RunDirectory
from tests.cli.test_cli import ROOT
from tests.processes import start_process

EIGHT = """
title = "Eight points"
benchmarks = ["t2", "t7"]
kernels = ["freertos"]
boards = ["pico"]
window_ms = 10
[grid]
opt = ["-O2", "-Os", "-O1", "-O3"]
"""
WHOLE = ROOT / "docs" / "sweeps" / "f446re.toml"
HANG_S = 3600
"""After this a sweep hangs: all images may have to be built, on a busy machine."""
CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, *(worker.pid for worker in cluster.workers.values()), flush=True)
        sys.stdin.read()
"""


@dataclass
class Local:
    """A sweep that nothing disturbed."""

    plan: Path
    points: int
    files: dict[str, bytes]


def point_files_of(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in (run / "points").rglob("*") if path.is_file()}


def stored_times(run: Path) -> dict[str, int]:
    """Points that are stored, and when they were."""
    return {path.parent.name: path.stat().st_mtime_ns for path in (run / "points").glob("[!.]*/result.json")}


@contextmanager
def running_sweep(plan: Path, out: Path, cache: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A sweep that knows the images that are built and no result but those in `cache`."""
    command = [sys.executable, "-m", "rtoslab", "sweep", str(plan), "--out", str(out), "-o", f"{out}.md", *words]
    environment = {**os.environ, "RTOSLAB_CACHE": str(cache)}
    with start_process(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE) as running:
        yield running


def output_at_end(running: subprocess.Popen[str], plan: Path) -> str:
    """What it said, once it ended well: of the whole plan with T1 at -O3 refused, which its proof does."""
    _, output = running.communicate(timeout=HANG_S)
    assert running.returncode == (EXIT_POINT_FAILED if plan == WHOLE else EXIT_OK), output
    return output


def wait_for(running: subprocess.Popen[str], run: Path, points: int) -> None:
    deadline = time.monotonic() + HANG_S
    while running.poll() is None and len(stored_times(run)) < points and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.fixture(scope="module", params=["eight", "whole"])
def local(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Local:
    folder = tmp_path_factory.mktemp("local")
    plan = WHOLE
    if request.param == "eight":
        plan = folder / "plan.toml"
        plan.write_text(EIGHT)
    with running_sweep(plan, folder / "run", folder / "cache") as running:
        output_at_end(running, plan)
    points = len(RunDirectory.open_run_directory(folder / "run").read_stored_plan().points)
    assert points == (8 if request.param == "eight" else 536)
    return Local(plan, points, point_files_of(folder / "run"))


@pytest.mark.long
def test_killed_sweep_resumes_without_repeating_points(local: Local, tmp_path: Path) -> None:
    with running_sweep(local.plan, tmp_path / "run", tmp_path / "cache") as running:
        wait_for(running, tmp_path / "run", local.points // 3)
        running.kill()
    stored = stored_times(tmp_path / "run")
    assert local.points // 3 <= len(stored) < local.points
    with running_sweep(local.plan, tmp_path / "run", tmp_path / "cache") as running:
        cached = re.search(
            r"(\d+) of \d+ points? (?:was|were) already in the folder", output_at_end(running, local.plan)
        )
    assert cached is not None
    assert int(cached[1]) >= len(stored)
    assert stored.items() <= stored_times(tmp_path / "run").items()
    assert point_files_of(tmp_path / "run") == local.files


@pytest.mark.long
def test_cluster_that_loses_a_worker_gives_the_same_bytes(local: Local, tmp_path: Path) -> None:
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    environment = {**os.environ, "RTOSLAB_CACHE": str(tmp_path / "cache"), "RTOSLAB_ROOT": str(ROOT)}
    command = [sys.executable, str(script)]
    with start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as cluster:
        assert cluster.stdout is not None
        address, victim, _ = cluster.stdout.readline().split()
        with running_sweep(local.plan, tmp_path / "far", tmp_path / "unused", "--scheduler", address) as running:
            wait_for(running, tmp_path / "far", local.points // 3)
            os.kill(int(victim), signal.SIGKILL)
            assert len(stored_times(tmp_path / "far")) < local.points
            output_at_end(running, local.plan)
        cluster.communicate("", timeout=60)
    assert not [*(tmp_path / "unused").glob("*")], "the workers measured, not the process that asked"
    assert point_files_of(tmp_path / "far") == local.files
