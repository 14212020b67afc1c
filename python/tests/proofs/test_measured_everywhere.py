"""No proof refuses a benchmark that is as it should be: every one with every kernel on every board is measured, or n/a
with a reason."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rtoslab import api
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.measure.pipeline import MeasurementPointOutcome
from rtoslab.results.results import FailedMeasurement
from tests.cli.test_cli import ROOT

BOARDS = sorted(Catalogue(ROOT).boards)
WINDOW_MS = 60
VARIANTS: tuple[Mapping[str, str], ...] = (
    {}, {"opt": "-O0"}, {"opt": "-O1"}, {"opt": "-Os"}, {"opt": "-O3"}, {"lto": "1"},
)  # fmt: skip
VARIED = ("pico", "nucleo-f446re")
"""Boards on which variants are tried, too."""


def failure_messages(outcomes: list[MeasurementPointOutcome]) -> list[str]:
    return [outcome.result.message for outcome in outcomes if isinstance(outcome.result, FailedMeasurement)]


@pytest.mark.parametrize(
    ("percent", "seed"), [("1", "1"), ("70", "2"), pytest.param("10", "2", marks=pytest.mark.long)]
)
def test_stress_is_random_and_may_starve(tmp_path: Path, percent: str, seed: str) -> None:
    config = {"param.stress_percent": percent, "param.seed": seed}
    fixed: dict[str, Any] = {"kernels": ["freertos"], "boards": ["pico"], "cores": [2], "window_ms": 30}
    run = api.run("contention", config=config, out=tmp_path, **fixed)
    assert failure_messages(run) == []


@pytest.mark.parametrize(
    ("name", "kernel", "level", "instrument"),
    [
        ("t7_synchronisation", "bare", "-O0", ""),  # functions of the port are not inlined
        ("release_jitter", "rt", "-O0", "probe"),  # nor those of a task
        ("tm1_arithmetic", "rt", "-Os", ""),  # the condition of a loop in a loop comes first
        ("t1_arithmetic", "rt", "-O3", ""),  # a loop is unrolled
        ("interrupt_activation", "rt", "-O1", "counter"),  # the mark is a function
    ],
)
def test_levels_of_optimisation_change_no_verdict(
    tmp_path: Path, name: str, kernel: str, level: str, instrument: str
) -> None:
    config = {"opt": level, **({"instrument": instrument} if instrument else {})}
    run = api.run(name, kernels=[kernel], boards=["nucleo-f446re"], config=config, out=tmp_path)
    assert run
    assert failure_messages(run) == []


CASES = [(board, variant) for board in BOARDS for variant in VARIANTS if not variant or board in VARIED]


@pytest.mark.long
@pytest.mark.parametrize(("board", "variant"), CASES)
def test_every_count_is_proved(tmp_path: Path, board: str, variant: Mapping[str, str]) -> None:
    counts = [benchmark for benchmark in Catalogue(ROOT).benchmarks.values() if benchmark.facts.kind != "latency"]
    for name, window_ms in ((count.id, max(WINDOW_MS, count.facts.window_ms)) for count in counts):
        run = api.run(name, boards=[board], cores=[1, 2], window_ms=window_ms, config=variant, out=tmp_path / name)
        assert failure_messages(run) == []


@pytest.mark.long
@pytest.mark.parametrize(("board", "variant"), CASES)
def test_every_latency_is_proved(tmp_path: Path, board: str, variant: Mapping[str, str]) -> None:
    run = api.run("latency", boards=[board], config={**variant, "instrument": "probe"}, out=tmp_path)
    assert failure_messages(run) == []


ROUNDS_CHANGED = [("drift", "1", 1), ("pinned", "0", 2)]
"""Parameters with which a round waits in loops of its own, the value, and cores."""


@pytest.mark.long
@pytest.mark.parametrize(("parameter", "value", "cores"), ROUNDS_CHANGED)
def test_every_changed_round_is_proved(tmp_path: Path, parameter: str, value: str, cores: int) -> None:
    """The window is long enough for each of its waits to come about often."""
    changed = [
        benchmark.facts for benchmark in Catalogue(ROOT).benchmarks.values() if parameter in benchmark.facts.params
    ]
    assert changed
    for facts in changed:
        config = {f"param.{parameter}": value, **({"instrument": "probe"} if facts.kind == "latency" else {})}
        window_ms = None if facts.kind == "latency" else 250
        fixed: dict[str, Any] = {"kernels": ["freertos"], "boards": ["pico"], "cores": [cores]}
        run = api.run(facts.id, window_ms=window_ms, config=config, out=tmp_path / facts.id, **fixed)
        assert failure_messages(run) == []
