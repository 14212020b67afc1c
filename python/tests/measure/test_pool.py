"""The processes that measure: one that dies costs its point and is replaced."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from rtoslab import _sim, api, cli
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.measure import pool
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.pipeline import MeasurementPointOutcome, MeasureOptions
from rtoslab.measure.pool import MeasurementPointProgress
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from rtoslab.store.store import RunDirectory
from tests.checkouts import build_apart


def test_dead_process_loses_one_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTOSLAB_CACHE", str(tmp_path / "cache"))  # a known point would be over before the kill
    killed: list[int] = []

    def kill_once(note: MeasurementPointProgress) -> None:
        if note.index == 1 and note.outcome is None and not killed:
            (process,) = multiprocessing.active_children()
            process.kill()
            killed.append(process.pid or 0)

    first, second, third = api.run(
        "t1", "t2", "t7", kernels=["freertos"], boards=["pico"], cores=[1], window_ms=10, jobs=1, listener=kill_once,
        out=tmp_path / "run",
    )  # fmt: skip
    assert killed
    assert isinstance(first.result, MeasuredPoint)
    assert isinstance(second.result, FailedMeasurement)
    assert second.result.message.endswith("ended unexpectedly (exit code -9); run the same command again to retry it.")
    assert isinstance(third.result, MeasuredPoint)
    assert len(list((tmp_path / "run" / "points").iterdir())) == 2, "what died left nothing"


def test_first_progress_message_of_each_point_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that measures a point within `PROGRESS_INTERVAL_S` once hid from the listener that it had begun."""
    points = iter(["first", "second", "third"])
    sent: list[Any] = []

    class Pipe:
        def recv(self) -> str:
            try:
                return next(points)
            except StopIteration:
                raise EOFError from None

        def send(self, message: object) -> None:
            sent.append(message)

    def measure(
        _root: Path, _out: Path, point: str, progress: Callable[[str, float], None], _manner: MeasureOptions
    ) -> str:
        progress(f"build {point}", 0.0)
        progress(f"run {point}", 0.5)
        return point

    monkeypatch.setattr(pool, "_measure_point", measure)
    monkeypatch.setattr(pool, "PROGRESS_INTERVAL_S", 60.0)
    for name in ("interrupts.ignore_signals", "gc.freeze"):
        monkeypatch.setattr(f"rtoslab.measure.pool.{name}", lambda: None)
    pool._run_measurement_worker_process(tmp_path, tmp_path, dict(os.environ), Pipe(), MeasureOptions())  # type: ignore[arg-type]
    starts = [("build first", 0.0), ("build second", 0.0), ("build third", 0.0)]
    assert sent == [item for pair in zip(starts, ["first", "second", "third"], strict=True) for item in pair]


def test_each_call_uses_its_own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fork server keeps what was set as it started; what is taken away later is away in its processes, too."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined] # the next call starts another one
    ask: dict[str, Any] = {"kernels": ["bare"], "boards": ["pico"], "cores": [1], "window_ms": 10}
    monkeypatch.setenv("RTOSLAB_BUILD", str(build_apart(tmp_path / "first")))
    api.run("t4", **ask, out=tmp_path / "one")
    built = sorted((tmp_path / "first").glob("t*"))
    assert built
    monkeypatch.delenv("RTOSLAB_BUILD")
    monkeypatch.setenv("RTOSLAB_CACHE", str(tmp_path / "cache"))
    api.run("t7", **ask, out=tmp_path / "two")
    assert sorted((tmp_path / "first").glob("t*")) == built


def test_simulator_failure_loses_one_point_and_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panic is no `Exception`: what catches only those would let it end the process."""
    catalogue = Catalogue(find_checkout_root())
    plan = make_measurement_plan(
        catalogue, ["t2"], PlanOptions(boards=["pico"], kernels=["freertos"], cores=[1], window_ms=10)
    )
    run = RunDirectory.create_run_directory(
        tmp_path / "run", None, [identity_of_point(catalogue, point) for point in plan.points]
    )

    def panics(*_: object, **__: object) -> None:
        raise _sim.PanicException("index out of bounds")

    monkeypatch.setattr(pool, "measure_and_store_point", panics)
    outcome = pool._measure_point(find_checkout_root(), run.path, plan.points[0], lambda *_: None, MeasureOptions())
    assert isinstance(outcome, MeasurementPointOutcome)
    assert isinstance(outcome.result, FailedMeasurement)
    assert outcome.result.message.startswith(
        f"The simulator failed while it measured {plan.points[0].label}: index out of"
    )


def test_command_reports_a_simulator_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def panics(*_: object, **__: object) -> None:
        raise _sim.PanicException("index out of bounds")

    monkeypatch.setattr(cli.app, "main", panics)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert "The simulator failed (index out of bounds)" in capsys.readouterr().err
