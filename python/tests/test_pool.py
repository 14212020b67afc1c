"""The processes that measure: one that dies costs its point and is replaced."""

import multiprocessing
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.pool import Note
from rtoslab.results import Failed, Measured


def test_a_process_that_dies_costs_one_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTOSLAB_CACHE", str(tmp_path / "cache"))  # a known point would be over before the kill
    killed: list[int] = []

    def kill_once(note: Note) -> None:
        if note.index == 1 and note.outcome is None and not killed:
            (process,) = multiprocessing.active_children()
            process.kill()
            killed.append(process.pid or 0)

    first, second, third = api.run(
        "t1", "t2", "t7", kernels=["freertos"], boards=["pico"], cores=[1], window_ms=10, jobs=1, listener=kill_once,
        out=tmp_path / "run",
    )  # fmt: skip
    assert killed
    assert isinstance(first.result, Measured)
    assert isinstance(second.result, Failed)
    assert second.result.message.endswith("died (exit code -9); run again to retry it.")
    assert isinstance(third.result, Measured)
    assert len(list((tmp_path / "run" / "points").iterdir())) == 2, "what died left nothing"
