"""`rtoslab runs verify`: whoever alters a result and seals it again is found by computing it anew."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from rtoslab import api
from rtoslab.base.canonical_json import to_canonical_json
from rtoslab.base.errors import AlteredFileError, BuildError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.measure.pipeline import _find_cached_measurement_files
from rtoslab.records.seal import SEAL_FILE, add_file_listing_digests, read_and_verify_sealed_folder
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.cache import ResultCache
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import RESULT
from rtoslab.verify import verify_run_or_sweep_folder
from rtoslab.verify.point import _differences_from_recomputed_result, verify_stored_point
from tests.cli.test_cli import command_error, rtoslab
from tests.fakes import measured_point

CATALOGUE = Catalogue(find_checkout_root())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A count on two cores, latencies by every instrument, the kernel's handlers."""
    out = tmp_path_factory.mktemp("verify") / "run"
    plain: dict[str, Any] = {"kernels": ["freertos"], "boards": ["pico"], "window_ms": 20}
    api.run("t7", **plain, cores=[2], out=out)
    for number, name in enumerate(("mutex", "tick_handler"), 1):
        other = out.with_name(f"other-{number}")
        api.run(name, **plain, out=other, config={"samples": "5"} if name == "mutex" else {})
        for path in (other / "points").iterdir():
            path.rename(out / "points" / path.name)
    return RunDirectory.open_run_directory(out)


def forge_file(folder: Path, name: str, content: bytes) -> None:
    """Puts another content in place of a file and seals the folder again."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != SEAL_FILE}
    for item, built in add_file_listing_digests(folder.name, {**files, name: content}).items():
        (folder / item).write_bytes(built)


def leaf_paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each number, text and truth in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    return [path] if inner is None else [leaf for key, part in inner for leaf in leaf_paths(part, (*path, key))]


def altered_copy(value: Any, path: tuple[Any, ...]) -> Any:
    """A copy with one leaf changed to another value of its kind."""
    if not path:
        if isinstance(value, bool):
            return not value
        return value + 1 if isinstance(value, int) else "" if value is None else f"{value} "
    copy = value.copy()
    copy[path[0]] = altered_copy(value[path[0]], path[1:])
    return copy


def test_measured_run_is_verified(run: RunDirectory) -> None:
    result = list(verify_run_or_sweep_folder(CATALOGUE, run.path))
    assert len(result) == len(run.measurement_point_folders()) == 5
    assert [point.differences for point in result] == [()] * 5
    assert [point.remarks for point in result] == [()] * 5


def test_every_value_of_a_result_is_computed_again(run: RunDirectory) -> None:
    dice = random.Random(2)
    for folder in run.measurement_point_folders():
        content = (folder / RESULT).read_bytes()
        value = json.loads(content)
        places = leaf_paths(value)
        for path in dice.sample(places, min(len(places), 24)):
            forge_file(folder, RESULT, to_canonical_json(altered_copy(value, path)).encode())
            result = verify_stored_point(CATALOGUE, folder)
            assert result.differences, f"{folder.name}: {path} was altered and nothing was said"
        forge_file(folder, RESULT, content)
        assert not verify_stored_point(CATALOGUE, folder).differences


@pytest.mark.parametrize("name", ["manifest.json", "conformance.json", "uart.txt"])
def test_raw_data_is_checked_against_the_result(run: RunDirectory, name: str) -> None:
    folder = run.measurement_point_folders()[0]
    content = (folder / name).read_bytes()
    forged = {
        "manifest.json": b"{}\n",
        "conformance.json": content.replace(b'"holds"', b'"fails"', 1),
        "uart.txt": content.replace(b"value=1", b"value=2", 1),
    }[name]
    assert forged != content
    forge_file(folder, name, forged)
    assert verify_stored_point(CATALOGUE, folder).differences
    forge_file(folder, name, content)
    assert not verify_stored_point(CATALOGUE, folder).differences


def test_point_without_its_evidence_is_not_verified(run: RunDirectory) -> None:
    folder = run.measurement_point_folders()[0]
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "evidence.json.zst").unlink()
    forge_file(folder, RESULT, files[RESULT])
    assert "evidence.json.zst is missing" in verify_stored_point(CATALOGUE, folder).differences[0]
    for name, content in files.items():
        (folder / name).write_bytes(content)


def test_command_names_what_differs(tmp_path: Path) -> None:
    out, cache = tmp_path / "run", {"RTOSLAB_CACHE": str(tmp_path / "cache")}
    ask = ("run", "t1", "--kernel", "freertos", "--board", "pico", "--window", "10ms", "--cores", "1", "--out", out)
    assert rtoslab(*ask, **cache).returncode == 0
    assert "1 point verified: all results agree with their raw data." in rtoslab("runs", "verify", out).stdout
    (folder,) = RunDirectory.open_run_directory(out).measurement_point_folders()
    result = json.loads((folder / RESULT).read_text())
    count = result["counters"][0]["count"]
    result["counters"][0]["count"] = 2 * count
    forge_file(folder, RESULT, to_canonical_json(result).encode())
    done = rtoslab("runs", "verify", out)
    assert done.returncode == 3
    assert f"counters.0.count is stored as {2 * count}, computed {count}." in done.stdout
    assert "gave another result.json" in command_error(rtoslab(*ask, "--fresh", **cache), 1)
    assert "is not a run directory" in command_error(rtoslab("runs", "verify", tmp_path), 1)


def test_damaged_entry_of_the_cache_is_measured_again(tmp_path: Path) -> None:
    cache = {"RTOSLAB_CACHE": str(tmp_path / "cache")}
    ask = ("run", "t1", "--kernel", "freertos", "--board", "pico", "--window", "10ms", "--cores", "1", "--out")
    assert rtoslab(*ask, tmp_path / "one", **cache).returncode == 0
    (entry,) = (tmp_path / "cache").rglob("*.point")
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-7])
    done = rtoslab(*ask, tmp_path / "two", **cache)
    assert done.returncode == 0, done.stderr
    assert "was changed after it was stored: the point was measured again" in done.stderr
    assert entry.read_bytes() == whole
    (two,) = RunDirectory.open_run_directory(tmp_path / "two").read_measured_points()
    assert isinstance(two.result, MeasuredPoint)


@pytest.mark.parametrize("content", [None, b"", b"7", b"{}", b"[" * 100_000, b'{"series": [1]}', b'{"series": [{}]}'])
def test_no_entry_without_a_result_is_taken(tmp_path: Path, run: RunDirectory, content: bytes | None) -> None:
    folder, cache, key = run.measurement_point_folders()[0], ResultCache(tmp_path), "ab" * 32
    files = {name: item for name, item in read_and_verify_sealed_folder(folder).items() if name != SEAL_FILE}
    cache.store_point_files(key, add_file_listing_digests(folder.name, files))
    assert _find_cached_measurement_files(cache, key, folder.name)[0] is not None
    del files[RESULT]
    cache.store_point_files(
        key, add_file_listing_digests(folder.name, files if content is None else {**files, RESULT: content})
    )
    taken, note = _find_cached_measurement_files(cache, key, folder.name)
    assert taken is None
    assert "is damaged: the point was measured again." in note
    cache.store_point_files(key, {})
    assert _find_cached_measurement_files(cache, key, folder.name)[0] is None


def test_altered_point_fails_alone_when_a_run_is_resumed(tmp_path: Path) -> None:
    out, cache = tmp_path / "run", {"RTOSLAB_CACHE": str(tmp_path / "cache")}
    ask = ("run", "t1", "t2", "--kernel", "freertos", "--board", "pico", "--window", "10ms", "--cores", "1")
    assert rtoslab(*ask, "--out", out, **cache).returncode == 0
    folder = RunDirectory.open_run_directory(out).measurement_point_folders()[0]
    (folder / RESULT).unlink()
    done = rtoslab(*ask, "--out", out, "--json", **cache)
    assert done.returncode == 3, done.stderr
    one, two = json.loads(done.stdout)["points"]
    assert (one["status"], one["stage"], two["status"]) == ("failed", "store", "measured")
    assert "result.json was stored but is missing now" in one["message"]


def test_image_that_changed_since_it_was_built_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path))
    image = api.build_image("t1", kernel="bare", board="pico")
    content = image.read_bytes()
    for name in ("image.elf", "build-info.json", "image.map"):
        whole = image.with_name(name).read_bytes()
        image.with_name(name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(BuildError, match=f"{name} was changed after it was stored"):
            api.build_image("t1", kernel="bare", board="pico")
        image.with_name(name).write_bytes(whole)
    image.with_name(SEAL_FILE).unlink()  # as a build that was killed, or of a version without seals, leaves it
    assert api.build_image("t1", kernel="bare", board="pico").read_bytes() == content
    assert image.with_name(SEAL_FILE).exists()


def test_seal_is_checked_when_a_point_is_put_into_a_run(tmp_path: Path, run: RunDirectory) -> None:
    folder = run.measurement_point_folders()[0]
    other = RunDirectory.create_run_directory(tmp_path / "run", None, run.read_stored_plan().points)
    files = read_and_verify_sealed_folder(folder)
    with pytest.raises(AlteredFileError, match=r"uart\.txt was changed"):
        other.store_point_files(folder.name, {**files, "uart.txt": b""})
    with pytest.raises(AlteredFileError, match="was renamed and was stored as"):
        other.store_point_files("elsewhere", files)
    assert not other.measurement_point_folders()


def test_missing_instruction_counts_of_old_runs_are_not_a_difference() -> None:
    """Points from before functions' instructions were stored; a number that is another one still is."""
    plain = measured_point()

    def with_instructions(number: int | None) -> MeasuredPoint:
        assert plain.virtual is not None
        uses = tuple(function.model_copy(update={"instructions": number}) for function in plain.virtual.functions)
        return plain.model_copy(update={"virtual": plain.virtual.model_copy(update={"functions": uses})})

    assert not _differences_from_recomputed_result(with_instructions(None), with_instructions(5))
    assert _differences_from_recomputed_result(with_instructions(4), with_instructions(5))
    assert _differences_from_recomputed_result(with_instructions(5), with_instructions(None))
