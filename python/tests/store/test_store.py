"""The run directory: whole points or none, never overwritten, clear about what is wrong."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from rtoslab.base.errors import StoreError
from rtoslab.base.output_files import write_file_atomically
from rtoslab.images import builder as build
from rtoslab.store import store
from rtoslab.store.store import RunDirectory, remove_leftover_temporary_folders
from tests.fakes import measured_point, point


def create_run(path: Path) -> RunDirectory:
    return RunDirectory.create_run_directory(path, "suite", [point(1), point(2)])


def test_points_are_read_in_the_plans_order(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run")
    run.add_measurement_point_to_store("z-1", measured_point(2), {"a": 1}, {"uart.txt": b"x"})
    run.add_measurement_point_to_store("a-1", measured_point(1), {"a": 2}, {})
    back = RunDirectory.open_run_directory(tmp_path / "run").read_measured_points()
    assert [stored_point.result.point.cores for stored_point in back] == [1, 2]
    assert back[1].manifest == {"a": 1}
    assert (back[1].folder / "uart.txt").read_bytes() == b"x"


def test_same_result_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        create_run(tmp_path / name).add_measurement_point_to_store("p-1", measured_point(), {"b": 1, "a": 2}, {})
    files = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in ("one", "two")
    ]
    assert files[0] == files[1]
    for file in files[0]:
        if (tmp_path / "one" / file).is_file():
            assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run")
    run.add_measurement_point_to_store("p-1", measured_point(1, 1000), {}, {})
    with pytest.raises(StoreError, match="never overwritten"):
        run.add_measurement_point_to_store("p-1", measured_point(1, 2000), {}, {})
    (only,) = run.read_measured_points()
    assert only.result == measured_point(1, 1000)


def test_other_points_need_another_directory(tmp_path: Path) -> None:
    create_run(tmp_path / "run")
    with pytest.raises(StoreError, match="choose another --out"):
        RunDirectory.create_run_directory(tmp_path / "run", "suite", [point(1)])


def test_foreign_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(StoreError, match="is not a run directory"):
        create_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_full_disk_loses_only_the_point_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = create_run(tmp_path / "run")
    run.add_measurement_point_to_store("p-1", measured_point(1), {}, {})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"no space left on device.*finished points are not measured again"):
            run.add_measurement_point_to_store("p-2", measured_point(2), {}, {})
    assert [path.name for path in (tmp_path / "run" / "points").iterdir()] == ["p-1"]
    run.add_measurement_point_to_store("p-2", measured_point(2), {}, {})
    assert len(run.read_measured_points()) == 2


def test_interrupted_writer_leaves_nothing_behind(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run")
    half = tmp_path / "run" / "points" / ".unfinished-x"
    half.mkdir()
    (half / "manifest.json").write_text("{")
    assert run.read_measured_points() == []
    (lock := half.with_name(".unfinished-y.lock")).touch()  # its writer was killed once its folder had its name
    remove_leftover_temporary_folders(tmp_path / "run")
    assert not lock.exists()
    assert not half.exists()


def test_files_of_another_writing_process_are_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = create_run(tmp_path / "run")
    write = store._write_and_sync

    def while_another_sweeps(path: Path, content: bytes) -> None:
        write(path, content)
        remove_leftover_temporary_folders(run.path)

    monkeypatch.setattr(store, "_write_and_sync", while_another_sweeps)
    run.add_measurement_point_to_store("p-1", measured_point(), {}, {})
    assert len(run.read_measured_points()) == 1
    assert [item.name for item in (run.path / "points").iterdir()] == ["p-1"]


def test_directory_of_a_killed_process_is_created_again(tmp_path: Path) -> None:
    (tmp_path / "run" / "points").mkdir(parents=True)
    (tmp_path / "run" / store.LOCK).touch()
    (tmp_path / "run" / f".{store.PLAN}.tmp").write_text("{")
    assert create_run(tmp_path / "run").read_stored_plan().points == [point(1), point(2)]


def test_missing_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a run directory"):
        RunDirectory.open_run_directory(tmp_path / "nowhere")


def test_full_disk_is_distinguished_from_a_compile_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    for text, free, full in (
        ("x.c:1: error: no", 1 << 30, False),
        ("cc1: fatal error: out.s: No space left on device", 1 << 30, True),
        ("ar: unable to copy file; reason: Success", 1 << 16, True),
    ):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
        assert build._failed_by_full_disk(text, tmp_path) is full


def test_stored_file_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "costs.toml"
    write_file_atomically(path, "kept\n", "the costs")

    def full(descriptor: int, mode: str) -> None:
        os.write(descriptor, b"ano")
        os.close(descriptor)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", full)
        with pytest.raises(StoreError, match=r"Cannot write the costs .*no space left on device"):
            write_file_atomically(path, "another text\n", "the costs")
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("costs.toml", "kept\n")]
