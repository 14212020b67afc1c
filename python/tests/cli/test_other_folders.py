"""Started from a folder of the user's own, the command keeps what it makes there and leaves the checkout as it is."""

import os
from pathlib import Path

import pytest

from rtoslab.base import paths
from rtoslab.cli import app
from rtoslab.compare.baseline import find_regression_baseline_file
from rtoslab.parity.costs import read_configuration_change_costs

PLAN = """
title = "Tail chains"
benchmarks = ["t2"]
kernels = ["freertos"]
boards = ["pico"]
window_ms = 5
[grid]
"timing.tail_chain_cycles" = [6, 9]
"""
"""Of one image, whatever the virtual board is told."""


def _run_command(*words: str) -> None:
    assert app.main(list(words), standalone_mode=False) in {0, None}


def test_results_and_baselines_go_to_the_working_directory(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(checkout.rglob("*"))
    here = tmp_path / "elsewhere"
    here.mkdir()
    monkeypatch.chdir(here)
    _run_command("run", "t2", "--window", "5ms", "--report")
    (run,) = (here / "runs").iterdir()
    assert (run / "report.html").is_file()
    assert f"Stored in runs/{run.name}" in capsys.readouterr().out
    _run_command("runs")
    assert run.name in capsys.readouterr().out
    _run_command("gate", "--store", "--baseline", "mine", str(run))
    assert (here / "baselines" / "mine.toml").is_file()
    _run_command("gate", "--baseline", "mine", str(run))
    plan = here / "plan.toml"
    plan.write_text(PLAN)
    _run_command("sweep", "plan.toml", "--costs")
    assert [cost.key for cost in read_configuration_change_costs(checkout)] == ["timing.tail_chain_cycles"]
    assert (here / "baselines" / "costs.toml").is_file()
    _run_command("worst-case", "--samples", "3")
    assert len(list((here / "runs").glob("worst-case-*"))) == 1
    assert sorted(checkout.rglob("*")) == before


def test_baseline_of_the_checkout_is_found_from_other_folders(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_regression_baseline_file(checkout, "main") == checkout / "baselines" / "main.toml"
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "main.toml").touch()
    assert find_regression_baseline_file(checkout, "main") == tmp_path / "baselines" / "main.toml"


def test_read_only_checkout_stores_results_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RTOSLAB_BUILD", "RTOSLAB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    assert paths.build_folder(tmp_path) == tmp_path / "build" / "firmware"
    assert paths.cached_results_folder(tmp_path) == tmp_path / "build" / "results"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert paths.build_folder(tmp_path) == tmp_path / "cache" / "rtoslab" / "firmware"
    assert paths.cached_results_folder(tmp_path) == tmp_path / "cache" / "rtoslab" / "results"
