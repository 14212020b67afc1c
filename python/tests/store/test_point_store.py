"""Every store of points keeps one contract: what was given comes back whole, and nothing else ever takes its place."""

import shutil
from pathlib import Path

import pytest

from rtoslab.base.errors import AlteredError, StoreError
from rtoslab.images import LOG
from rtoslab.store import MANIFEST, RESULT, ResultCache, RunDirectory, parse_point_files, point_files, store_point_files
from rtoslab.store.point_store import PointStore
from tests.fakes import measured_point, point

NAME = "ab" + 62 * "0"
FILES = point_files(NAME, measured_point(1), {"a": 1}, {LOG: b"compiled in this order\n"})
SAME = point_files(NAME, measured_point(1), {"a": 1}, {LOG: b"compiled in another order\n"})
OTHER = point_files(NAME, measured_point(1, 2000), {"a": 1}, {LOG: b"compiled in this order\n"})


@pytest.fixture(params=[lambda path: RunDirectory.create(path, "suite", [point(1)]), ResultCache], ids=["run", "cache"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> PointStore:
    built: PointStore = request.param(tmp_path / "store")
    return built


def test_stored_point_is_read_back(store: PointStore) -> None:
    assert not store.has(NAME)
    assert store.get(NAME) is None
    store.put(NAME, FILES)
    assert store.has(NAME)
    assert store.point_path(NAME).exists()
    assert store.get(NAME) == FILES
    assert parse_point_files(store.get(NAME) or {}) == (measured_point(1), {"a": 1})


def test_changed_point_is_refused(store: PointStore) -> None:
    store.put(NAME, FILES)
    place = store.point_path(NAME)
    file = place / RESULT if place.is_dir() else place
    content = file.read_bytes()
    file.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    assert store.has(NAME)
    with pytest.raises(AlteredError, match=file.name):
        store.get(NAME)
    with pytest.raises(AlteredError, match=file.name):
        store_point_files(store, NAME, FILES)


def test_equal_point_is_stored_once_and_a_different_one_refused(store: PointStore) -> None:
    assert store_point_files(store, NAME, FILES)
    assert not store_point_files(store, NAME, FILES)
    assert not store_point_files(store, NAME, SAME), "a compiler's processes end in any order"
    with pytest.raises(StoreError, match=rf"gave another {RESULT};"):
        store_point_files(store, NAME, OTHER)
    with pytest.raises(StoreError, match=rf"gave another {MANIFEST};"):
        store_point_files(store, NAME, {name: item for name, item in FILES.items() if name != MANIFEST})
    assert store.get(NAME) == FILES


def test_point_can_be_copied_between_stores(tmp_path: Path) -> None:
    run, cache = RunDirectory.create(tmp_path / "run", "suite", [point(1)]), ResultCache(tmp_path / "cache")
    run.put(NAME, FILES)
    assert store_point_files(cache, NAME, run.get(NAME) or {})
    shutil.rmtree(run.point_path(NAME))
    assert store_point_files(run, NAME, cache.get(NAME) or {})
    assert run.read_point(NAME).result == measured_point(1)


def test_dropped_entry_is_forgotten(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.remove(NAME)
    cache.put(NAME, FILES)
    cache.remove(NAME)
    assert not cache.has(NAME)
    assert cache.get(NAME) is None
