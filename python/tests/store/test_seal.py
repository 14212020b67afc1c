"""What is stored cannot be altered unnoticed: random damage to every kept file, and commands over damaged runs."""

import json
import random
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtoslab.archive.index import StoredPointFilters, find_stored_points
from rtoslab.base.errors import AlteredFileError, AlteredPointWarning, StoreError
from rtoslab.records import seal
from rtoslab.results.results import FailedMeasurement, MeasuredPoint, SeriesSamples
from rtoslab.store.journal import (
    JOURNAL_FILE,
    RunJournalSession,
    append_session_to_run_journal,
    git_revision,
    newest_measurement_session,
    read_journal_sessions,
    run_session_as_journal_line,
)
from rtoslab.store.store import RunDirectory
from rtoslab.store.stored_point import point_folder_name, read_point_folder
from tests.cli.test_cli import command_error, rtoslab
from tests.fakes import measured_point, point

Damage = Callable[[random.Random, bytes], bytes]


def flip(dice: random.Random, content: bytes) -> bytes:
    place = dice.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :]


def cut(dice: random.Random, content: bytes) -> bytes:
    return content[: dice.randrange(len(content))]


def insert(dice: random.Random, content: bytes) -> bytes:
    place = dice.randrange(len(content) + 1)
    return content[:place] + dice.randbytes(dice.randrange(1, 9)) + content[place:]


def drop(dice: random.Random, content: bytes) -> bytes:
    place = dice.randrange(len(content))
    return content[:place] + content[place + dice.randrange(1, 9) :]


def swap(dice: random.Random, content: bytes) -> bytes:
    """Two different neighbouring bytes change places: digits of one number."""
    places = [index for index in range(len(content) - 1) if content[index] != content[index + 1]]
    place = dice.choice(places)
    return content[:place] + content[place + 1 : place + 2] + content[place : place + 1] + content[place + 2 :]


def change_spaces(_: random.Random, content: bytes) -> bytes:
    """The same JSON in other bytes."""
    return content.replace(b": ", b":  ", 1) if b": " in content else content + b" "


DAMAGES: tuple[Damage, ...] = (flip, cut, insert, drop, swap, change_spaces)


def with_samples() -> MeasuredPoint:
    series = SeriesSamples(
        id="s", title="S", instrument="probe", comparable=True, cycles=(5, 6, 7), mark_cycles=(5, 6, 7)
    )
    return measured_point().model_copy(update={"series": (series,)})


def run_with_two_points(folder: Path) -> tuple[RunDirectory, Path]:
    """A run directory with two points; the first has samples and further files."""
    run = RunDirectory.create_run_directory(folder / "run", "suite", [point(1), point(2)])
    one = with_samples()
    place = run.add_measurement_point_to_store(
        point_folder_name(one.point, one.run_id), one, {"a": 1}, {"uart.txt": b"@0 begin\n" * 40}
    )
    two = measured_point(2)
    run.add_measurement_point_to_store(point_folder_name(two.point, two.run_id), two, {"b": 1}, {})
    return run, place


def test_damaged_file_is_never_read(tmp_path: Path) -> None:
    _, place = run_with_two_points(tmp_path)
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    assert set(whole) == {"result.json", "manifest.json", "samples.parquet", "uart.txt", seal.SEAL_FILE}
    dice, tried = random.Random(1), 0
    for name, content in whole.items():
        for _ in range(200):
            damaged = dice.choice(DAMAGES)(dice, content)
            if damaged == content:
                continue
            (place / name).write_bytes(damaged)
            with pytest.raises(AlteredFileError, match=name.replace(".", r"\.")):
                read_point_folder(place)
            tried += 1
        (place / name).write_bytes(content)
    assert tried > 900
    assert read_point_folder(place).result == with_samples()


@pytest.mark.parametrize("name", ["result.json", "manifest.json", "samples.parquet", "uart.txt", seal.SEAL_FILE])
def test_missing_file_is_named(tmp_path: Path, name: str) -> None:
    _, place = run_with_two_points(tmp_path)
    (place / name).unlink()
    with pytest.raises(AlteredFileError, match=f"{name} (was stored but )?is missing"):
        read_point_folder(place)


def test_files_of_another_point_are_named(tmp_path: Path) -> None:
    run, place = run_with_two_points(tmp_path)
    (other,) = (folder for folder in run.measurement_point_folders() if folder != place)
    shutil.copy(other / "result.json", place / "result.json")
    with pytest.raises(AlteredFileError, match=r"result\.json was changed"):
        read_point_folder(place)
    shutil.rmtree(place)
    other.rename(place)
    with pytest.raises(AlteredFileError, match="was renamed and was stored as"):
        read_point_folder(place)


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    _, place = run_with_two_points(tmp_path)
    (place / "uart.txt").unlink()
    (place / "uart.txt").mkdir()
    with pytest.raises(AlteredFileError, match=r"Cannot read the stored file .*uart\.txt \(is a directory\)"):
        read_point_folder(place)


def test_invalid_seal_is_reported(tmp_path: Path) -> None:
    _, place = run_with_two_points(tmp_path)
    for text in ("{}", "[]", "7", "", "[" * 100_000, '{"files": {"../../x": "0"}, "folder": "f", "format": 1}', "\xff"):
        (place / seal.SEAL_FILE).write_text(text, encoding="latin-1")
        with pytest.raises(AlteredFileError, match=r"seal\.json was changed"):
            read_point_folder(place)


def test_other_files_in_the_folder_are_ignored(tmp_path: Path) -> None:
    _, place = run_with_two_points(tmp_path)
    (place / "notes.txt").write_text("mine")
    assert read_point_folder(place).result == with_samples()
    assert seal.find_unexpected_files(place, seal.read_and_verify_sealed_folder(place)) == ["notes.txt"]


def test_altered_point_counts_as_failed_and_the_others_are_read(tmp_path: Path) -> None:
    run, place = run_with_two_points(tmp_path)
    (place / "uart.txt").write_bytes(b"x")
    with pytest.warns(AlteredPointWarning, match=r"uart\.txt was changed"):
        one, two = run.read_measured_points()
    assert isinstance(one.result, FailedMeasurement)
    assert (one.result.point, one.result.stage) == (point(1), "store")
    assert two.result == measured_point(2)
    with pytest.warns(AlteredPointWarning, match=r"uart\.txt was changed"):
        (only,) = find_stored_points([tmp_path], StoredPointFilters())
    assert only.result == measured_point(2)


def test_changed_plan_is_reported_and_points_are_read(tmp_path: Path) -> None:
    run, _ = run_with_two_points(tmp_path)
    text = (run.path / "plan.json").read_text()
    (run.path / "plan.json").write_text(text.replace('"suite": "suite"', '"suite": "sweet"'))
    with pytest.raises(AlteredFileError, match=r"plan\.json was changed"):
        run.read_stored_plan()
    with pytest.warns(AlteredPointWarning, match=r"plan\.json was changed"):
        assert len(run.read_measured_points()) == 2


def test_changed_line_of_the_journal_is_reported(tmp_path: Path) -> None:
    run, _ = run_with_two_points(tmp_path)
    lines = [run_session_as_journal_line(RunJournalSession(f"2026-01-0{day}T00:00:00Z", "abc")) for day in (1, 2)]
    (run.path / JOURNAL_FILE).write_text(lines[0] + lines[1].replace("01-02", "01-03") + '{"date": "cut')
    with pytest.warns(AlteredPointWarning, match=r"Line 2 of .*journal\.jsonl was changed"):
        assert newest_measurement_session(run.path).date == "2026-01-01T00:00:00Z"


def _write_journal(run: RunDirectory) -> tuple[list[RunJournalSession], bytes]:
    sessions = [RunJournalSession(f"2026-01-0{day}T00:00:00Z", "0123456789ab") for day in (1, 2, 3)]
    content = "".join(run_session_as_journal_line(session) for session in sessions).encode()
    (run.path / JOURNAL_FILE).write_bytes(content)
    return sessions, content


def test_every_changed_byte_of_the_journal_is_detected(tmp_path: Path) -> None:
    run, _ = run_with_two_points(tmp_path)
    sessions, content = _write_journal(run)
    assert read_journal_sessions(run.path) == sessions
    dice = random.Random(3)
    for place in range(len(content)):
        others = {content[place] ^ 1 << dice.randrange(8), dice.randrange(256), *b"\n{}"} - {content[place]}
        for other in others:
            (run.path / JOURNAL_FILE).write_bytes(content[:place] + bytes([other]) + content[place + 1 :])
            with pytest.raises(AlteredFileError, match=r"Line \d of .*journal\.jsonl was changed"):
                read_journal_sessions(run.path)


def test_truncated_journal_is_read_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtoslab.store.journal.git_revision", lambda _: "abc")
    run, _ = run_with_two_points(tmp_path)
    sessions, content = _write_journal(run)
    for length in range(len(content)):
        (run.path / JOURNAL_FILE).write_bytes(content[:length])
        whole = content[:length].count(b"}")
        assert read_journal_sessions(run.path) == sessions[:whole]
        append_session_to_run_journal(run.path, tmp_path)
        assert read_journal_sessions(run.path)[:-1] == sessions[:whole]
        assert (run.path / JOURNAL_FILE).read_bytes().endswith(b"}\n")


def _read_everything(run: RunDirectory) -> tuple[list[Any], list[Any], Any, list[RunJournalSession]]:
    """What report, runs, compare and lint go by; None for a plan that is refused."""
    stored = [
        (stored_point.folder.name, stored_point.result, stored_point.manifest)
        for stored_point in run.read_measured_points()
    ]
    results = [
        (item.stored.folder.name, item.result, item.stored.manifest)
        for item in find_stored_points([run.path], StoredPointFilters())
    ]
    try:
        plan = run.read_stored_plan()
    except StoreError:
        plan = None
    try:
        sessions = read_journal_sessions(run.path)
    except AlteredFileError:
        sessions = []
    return stored, results, plan, sessions


def test_no_changed_byte_of_a_run_gives_another_value(tmp_path: Path) -> None:
    """Over every file of it, by all ways to read it: each point is the one that was stored or counts as failed."""
    run, _ = run_with_two_points(tmp_path)
    sessions, _ = _write_journal(run)
    points, _, plan, _ = _read_everything(run)
    whole = {name: (result, manifest) for name, result, manifest in points}
    dice, report = random.Random(11), 0
    files = [item for item in sorted(run.path.rglob("*")) if item.is_file() and item.stat().st_size]
    assert {file.name for file in files} >= {
        "plan.json",
        JOURNAL_FILE,
        "result.json",
        "samples.parquet",
        seal.SEAL_FILE,
    }
    for path in [dice.choice(files) for _ in range(300)]:
        content = path.read_bytes()
        path.write_bytes(flip(dice, content))
        with warnings.catch_warnings(record=True) as output:
            warnings.simplefilter("always")
            now = _read_everything(run)
        path.write_bytes(content)
        assert {str(message.category.__name__) for message in output} <= {AlteredPointWarning.__name__}
        differs = now != (points, points, plan, sessions)
        report += differs
        for name, result, manifest in now[0]:
            assert (result, manifest) == whole[name] or (
                isinstance(result, FailedMeasurement) and result.stage == "store"
            ), path
        assert all((result, manifest) == whole[name] for name, result, manifest in now[1]), path
        assert now[2] is None or now[2] == plan, path
        assert now[3] in ([], sessions), path
        if "points" in path.parts:
            assert differs, path
            assert any(path.parent.name in str(message.message) for message in output), path
    assert report > 200


@pytest.mark.parametrize(
    "command",
    [["show"], ["report", "--format", "md"], ["runs", "--points", "--in"], ["runs", "export", "--in"], ["lint"]],
)
def test_every_command_reports_damage_and_reads_the_rest(tmp_path: Path, command: list[str]) -> None:
    run, place = run_with_two_points(tmp_path)
    result = json.loads((place / "result.json").read_text())
    result["counters"][0]["count"] *= 2
    (place / "result.json").write_text(json.dumps(result))
    done = rtoslab(*command, run.path)
    output = command_error(done, 1)
    assert output.count("result.json was changed after it was stored") == 1
    assert "delete the folder" in output
    assert done.stdout.strip(), "the other point is told"


def test_commit_of_a_surrounding_project_is_not_recorded(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "site").mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "theirs"]):
        subprocess.run([*git, *words], check=True)
    assert re.fullmatch("[0-9a-f]{12}", git_revision(tmp_path))
    assert git_revision(tmp_path / "site") == ""
