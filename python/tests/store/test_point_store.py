"""Every store of points keeps one contract: what was given comes back whole, and nothing else ever takes its place."""

import shutil
from pathlib import Path

import pytest

from rtoslab.base.errors import AlteredFileError, StoreError
from rtoslab.images import LOG
from rtoslab.store import (
    MANIFEST,
    RESULT,
    ResultCache,
    RunDirectory,
    add_digests_to_point_files,
    parse_measurement_point_files,
    store_point_files,
)
from rtoslab.store.point_store import MeasuredPointStore
from tests.fakes import measured_point, point

NAME = "ab" + 62 * "0"
FILES = add_digests_to_point_files(NAME, measured_point(1), {"a": 1}, {LOG: b"compiled in this order\n"})
SAME = add_digests_to_point_files(NAME, measured_point(1), {"a": 1}, {LOG: b"compiled in another order\n"})
OTHER = add_digests_to_point_files(NAME, measured_point(1, 2000), {"a": 1}, {LOG: b"compiled in this order\n"})


@pytest.fixture(
    params=[lambda path: RunDirectory.create_run_directory(path, "suite", [point(1)]), ResultCache],
    ids=["run", "cache"],
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> MeasuredPointStore:
    built: MeasuredPointStore = request.param(tmp_path / "store")
    return built


def test_stored_point_is_read_back(store: MeasuredPointStore) -> None:
    assert not store.contains_point(NAME)
    assert store.read_point_files(NAME) is None
    store.store_point_files(NAME, FILES)
    assert store.contains_point(NAME)
    assert store.point_path(NAME).exists()
    assert store.read_point_files(NAME) == FILES
    assert parse_measurement_point_files(store.read_point_files(NAME) or {}) == (measured_point(1), {"a": 1})


def test_changed_point_is_refused(store: MeasuredPointStore) -> None:
    store.store_point_files(NAME, FILES)
    place = store.point_path(NAME)
    file = place / RESULT if place.is_dir() else place
    content = file.read_bytes()
    file.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    assert store.contains_point(NAME)
    with pytest.raises(AlteredFileError, match=file.name):
        store.read_point_files(NAME)
    with pytest.raises(AlteredFileError, match=file.name):
        store_point_files(store, NAME, FILES)


def test_equal_point_is_stored_once_and_a_different_one_refused(store: MeasuredPointStore) -> None:
    assert store_point_files(store, NAME, FILES)
    assert not store_point_files(store, NAME, FILES)
    assert not store_point_files(store, NAME, SAME), "a compiler's processes end in any order"
    with pytest.raises(StoreError, match=rf"gave another {RESULT};"):
        store_point_files(store, NAME, OTHER)
    with pytest.raises(StoreError, match=rf"gave another {MANIFEST};"):
        store_point_files(store, NAME, {name: item for name, item in FILES.items() if name != MANIFEST})
    assert store.read_point_files(NAME) == FILES


def test_point_can_be_copied_between_stores(tmp_path: Path) -> None:
    run, cache = (
        RunDirectory.create_run_directory(tmp_path / "run", "suite", [point(1)]),
        ResultCache(tmp_path / "cache"),
    )
    run.store_point_files(NAME, FILES)
    assert store_point_files(cache, NAME, run.read_point_files(NAME) or {})
    shutil.rmtree(run.point_path(NAME))
    assert store_point_files(run, NAME, cache.read_point_files(NAME) or {})
    assert run.read_measured_point(NAME).result == measured_point(1)


def test_dropped_entry_is_forgotten(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.remove_point(NAME)
    cache.store_point_files(NAME, FILES)
    cache.remove_point(NAME)
    assert not cache.contains_point(NAME)
    assert cache.read_point_files(NAME) is None
