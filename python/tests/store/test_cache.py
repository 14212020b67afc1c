"""The result cache: whole entries or none, safe for several processes, kills and a full disk."""

import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rtoslab.base import package_digest
from rtoslab.base.contents import PACKAGE, sources_digest
from rtoslab.base.errors import AlteredFileError, StoreError
from rtoslab.store import cache as store_cache
from rtoslab.store.cache import ResultCache, measurement_result_cache_key
from tests.fakes import point

KEY = "ab" + 62 * "0"
FILES = {"result.json": b"{}\n", "uart.txt": bytes(range(256)) * 40}


def test_cache_entry_survives(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    assert cache.read_point_files(KEY) is None
    cache.store_point_files(KEY, FILES)
    assert cache.read_point_files(KEY) == FILES
    assert [path.name for path in (tmp_path / "ab").iterdir()] == [f"{KEY}.point"]


def test_entry_with_any_byte_altered_is_refused(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.store_point_files(KEY, FILES)
    path = cache.point_path(KEY)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(AlteredFileError, match="was changed after it was stored"):
            cache.read_point_files(KEY)
    cache.store_point_files(KEY, FILES)
    assert cache.read_point_files(KEY) == FILES


@pytest.mark.parametrize("length", [0, 10, 64, 200, -30, -1])
def test_truncated_entry_is_refused(tmp_path: Path, length: int) -> None:
    cache = ResultCache(tmp_path)
    cache.store_point_files(KEY, FILES)
    path = cache.point_path(KEY)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(AlteredFileError):
        cache.read_point_files(KEY)


def test_entry_under_another_key_is_refused(tmp_path: Path) -> None:
    cache, other = ResultCache(tmp_path), "ac" + KEY[2:]
    cache.store_point_files(KEY, FILES)
    cache.point_path(other).parent.mkdir()
    cache.point_path(KEY).rename(cache.point_path(other))
    assert cache.read_point_files(KEY) is None
    with pytest.raises(AlteredFileError):
        cache.read_point_files(other)


def test_full_disk_keeps_existing_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ResultCache(tmp_path)
    cache.store_point_files(KEY, FILES)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"no space left on device.*finished points are not measured again"):
            cache.store_point_files(KEY, {"result.json": b"other"})
    assert cache.read_point_files(KEY) == FILES
    assert len(list((tmp_path / "ab").iterdir())) == 1, "nothing half-written stays"


def test_cache_key_depends_on_every_input(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = {"elf_sha256": "1", "target": {"sources_sha256": "2"}}
    keys = {
        measurement_result_cache_key(manifest, point(1)),
        measurement_result_cache_key(manifest, point(2)),
        measurement_result_cache_key({**manifest, "elf_sha256": "3"}, point(1)),
        measurement_result_cache_key({**manifest, "target": {"sources_sha256": "4"}}, point(1)),
    }
    assert len(keys) == 4
    for name in ("package_digest", "simulator_fingerprint"):
        with monkeypatch.context() as patch:
            patch.setattr(store_cache, name, lambda: "another")
            keys.add(measurement_result_cache_key(manifest, point(1)))
    assert len(keys) == 6
    assert measurement_result_cache_key(dict(reversed(manifest.items())), point(1)) in keys


def test_every_source_of_the_package_changes_its_digest(tmp_path: Path) -> None:
    """One in nine is changed by a byte, each by itself. A wheel's firmware and what Python writes do not count."""
    package = tmp_path / "rtoslab"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.so", "lab"))
    before = sources_digest(package)
    assert before == package_digest()
    sources = sorted(path for path in package.rglob("*") if path.suffix in {".py", ".toml"})
    assert len(sources) > 400
    toml = [path for path in sources if path.suffix == ".toml"]
    for path in [*sources[::9], *toml]:
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert sources_digest(package) != before, path
        path.write_bytes(content)
    (package / "lab").mkdir()
    (package / "lab" / "kernel.toml").touch()
    (package / "run.pyc").touch()
    assert sources_digest(package) == before
    (package / "new.py").touch()
    assert sources_digest(package) != before


def test_moved_module_changes_the_digest(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1\n")
    before = sources_digest(tmp_path)
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    assert sources_digest(tmp_path) != before


def _measure_once(folder: Path, log: Path, hang: bool) -> None:
    cache = ResultCache(folder)
    with cache.exclusive_lock(KEY):
        if cache.read_point_files(KEY) is None:
            with log.open("a") as file:
                file.write(f"{os.getpid()}\n")
            time.sleep(60 if hang else 0.05)
            cache.store_point_files(KEY, FILES)


def assert_one_process_measures(folder: Path, log: Path) -> None:
    """One that is killed as it measures, and four that wait for it: forked of a process with one thread and all that
    they need."""
    context = multiprocessing.get_context("fork")
    first = context.Process(target=_measure_once, args=(folder, log, True))
    first.start()
    deadline = time.monotonic() + 30
    while not log.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    others = [context.Process(target=_measure_once, args=(folder, log, False)) for _ in range(4)]
    for other in others:
        other.start()
    time.sleep(0.3)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    for other in (first, *others):
        other.join(30)
    assert [other.exitcode for other in others] == [0, 0, 0, 0]


def test_parallel_processes_measure_once_and_a_killed_one_does_not_block(tmp_path: Path) -> None:
    folder, log = tmp_path / "cache", tmp_path / "log"
    modules = "from pathlib import Path; from tests.store.test_cache import assert_one_process_measures as go"
    code = f"{modules}; go(Path({{!r}}), Path({{!r}}))"
    done = subprocess.run(
        [sys.executable, "-c", code.format(str(folder), str(log))],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(log.read_text().splitlines()) == 2, "the killed one, then one of the others"
    assert ResultCache(folder).read_point_files(KEY) == FILES
