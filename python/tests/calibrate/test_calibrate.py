"""`rtoslab calibrate` against a virtual board whose settings were changed secretly, which plays silicon."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.base import to_canonical_json
from rtoslab.base.errors import AlteredFileError, CatalogueError
from rtoslab.calibrate import silicon_file
from rtoslab.calibrate.calibration_table import read_calibration_table
from rtoslab.calibrate.readings import build_calibration_firmware, calibration_image_runner
from rtoslab.calibrate.settings_fit import calibrate_timing_settings_to_silicon
from rtoslab.calibrate.silicon_file import (
    make_silicon_calibration_file,
    read_silicon_calibration_file,
    timing_setting_confidence_grades,
    write_silicon_calibration_file,
)
from rtoslab.cli import app
from tests.calibrate.test_calibrate_fit import DEFAULTS, LINEAR, linear
from tests.cli.test_cli import command_error, rtoslab
from tests.hardware.desk import CATALOGUE, Desk
from tests.hardware.disguise import add_jitter

BOARD = "nucleo-f446re"
SMALL_BOARD = "nucleo-l073rz"
SECRET = {
    "timing.exception_entry_cycles": 14,
    "timing.late_arrival_cycles": 9,
    "timing.apb_bridge_extra_cycles": 3,
    "timing.special_register_cycles": 1,
}


def write_silicon_example(tmp_path: Path) -> Path:
    silicon = linear({})
    result = calibrate_timing_settings_to_silicon(LINEAR, silicon, lambda values: linear(dict(values)), DEFAULTS)
    path = tmp_path / "silicon.json"
    write_silicon_calibration_file(
        path, make_silicon_calibration_file(CATALOGUE, BOARD, 84_000_000, "0" * 64, "mine", silicon, result)
    )
    return path


def test_silicon_file_is_sealed_and_strict(tmp_path: Path) -> None:
    path = write_silicon_example(tmp_path)
    assert read_silicon_calibration_file(path).rules["timing.a"].best == 5
    text = path.read_text()
    path.write_text(re.sub(r'"best": ?5', '"best":6', text, count=1))
    assert path.read_text() != text
    with pytest.raises(AlteredFileError, match="was changed after it was written"):
        read_silicon_calibration_file(path)
    path.write_text(text.replace('"about"', '"abut"'))
    with pytest.raises(CatalogueError, match=r"silicon\.json, about: Field required"):
        read_silicon_calibration_file(path)


def test_confirmed_rule_gets_the_grade_silicon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = timing_setting_confidence_grades(CATALOGUE, BOARD)
    assert "silicon" not in before.values()
    path = write_silicon_example(tmp_path)
    body = json.loads(path.read_text())
    exact = {"error_cycles": 0.0, "unexplained_cycles": 0.0, "together": []}
    confirmed = {"default": 12, "best": 12, "low": 12, "high": 12, **exact}
    refuted = {**confirmed, "default": 6, "best": 8, "low": 8, "high": 8}
    sum_alone = {**confirmed, "default": 10, "best": 10, "low": 8, "together": ["timing.other"]}
    wide = {**confirmed, "default": 1, "best": 1, "low": 0, "high": 3}
    bent = {**confirmed, "default": 7, "best": 7, "low": 7, "high": 7, "error_cycles": 1.0, "unexplained_cycles": 1.0}
    body["rules"] = {
        "timing.exception_entry_cycles": confirmed,
        "timing.tail_chain_cycles": refuted,
        "timing.exception_exit_cycles": sum_alone,
        "timing.late_arrival_cycles": bent,
        "timing.bit_band_extra_cycles": wide,
    }
    del body["sha256"]
    silicon = silicon_file.SiliconCalibrationFile.model_validate({**body, "sha256": silicon_file._content_digest(body)})
    write_silicon_calibration_file(path, silicon)
    monkeypatch.setattr(silicon_file, "SILICON_FILE", str(path))
    after = timing_setting_confidence_grades(CATALOGUE, BOARD)
    assert after["timing.exception_entry_cycles"] == "silicon"
    assert {key: after[key] for key in after if after[key] != before[key]} == {
        "timing.exception_entry_cycles": "silicon"
    }
    monkeypatch.undo()
    mine = tmp_path / "boards" / "mine"
    shutil.copytree(CATALOGUE.find_board(BOARD).folder, mine)
    path.rename(mine / "silicon.json")
    facts = mine / "board.toml"
    facts.write_text(facts.read_text().replace(f'id = "{BOARD}"', 'id = "mine"'))
    monkeypatch.setenv("RTOSLAB_BOARDS", str(mine.parent))
    listed = CliRunner().invoke(app, ["list", "boards", "--json"], standalone_mode=False)
    assert listed.exception is None, listed.exception
    assert {load["id"]: load["grades"] for load in json.loads(listed.stdout)["boards"]}["mine"] == after


def test_list_of_boards_counts_the_settings_of_each_grade() -> None:
    text = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["list", "boards"], standalone_mode=False).stdout
    head, rows = text.partition("timing settings by grade")[2].splitlines()[1:3], text.splitlines()
    counted = Counter(timing_setting_confidence_grades(CATALOGUE, BOARD).values())
    names = re.findall(r"[a-z]+", " ".join(head))
    (row,) = [re.findall(r"\d+", item.replace(BOARD, "")) for item in rows[-20:] if item.split()[1:2] == [BOARD]]
    assert dict(zip(names[1:], map(int, row), strict=True)) == {
        "silicon": 0,
        **counted,
        **{name: 0 for name in names[1:] if name not in counted},
    }


BAD_READINGS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "without_rows": (lambda rows: {name: rows[name] for name in list(rows)[:-2]}, "lack 2 of 28 rows"),
    "no_rows": (lambda rows: {}, "lack 28 of 28 rows"),
    "unknown_row": (lambda rows: {**rows, "other": [[1] * 9]}, "have the unknown row other"),
    "one_round": (lambda rows: {**rows, "alu": [[18]]}, "row alu of the real board has 1 value in 1 round,"),
    "two_rounds": (lambda rows: {**rows, "alu": [[18, 21]]}, "has 1 value in 2 rounds, but"),
    "more_values": (lambda rows: {**rows, "load": [[18] * 9] * 4}, "has 4 values in 9 rounds, but"),
    "one_cycle_more": (
        lambda rows: {name: [[cycles + 1 for cycles in value] for value in row] for name, row in rows.items()},
        "The cycle counters of the two boards differ by 1",
    ),
    "twice_the_cycles": (
        lambda rows: {name: [[2 * cycles for cycles in value] for value in row] for name, row in rows.items()},
        "The cycle counters of the two boards differ by 2",
    ),
}


@pytest.fixture(scope="module")
def true_calibration() -> dict[str, Any]:
    """The content of a calibration that a virtual board measured as if it were a real one."""
    table = read_calibration_table(CATALOGUE)
    built = build_calibration_firmware(CATALOGUE, table, SMALL_BOARD, None)
    runs, facts = (
        calibration_image_runner(CATALOGUE, table, built, SMALL_BOARD),
        CATALOGUE.find_board(SMALL_BOARD).facts,
    )
    result = calibrate_timing_settings_to_silicon(table, runs({}), runs, {})
    return make_silicon_calibration_file(
        CATALOGUE, SMALL_BOARD, facts.clock.sys_hz, built.elf_sha256, "rev C", runs({}), result
    ).model_dump(mode="json")


def write_changed_calibration(path: Path, content: dict[str, Any], **changes: object) -> Path:
    body = {key: value for key, value in {**content, **changes}.items() if key != "sha256"}
    path.write_text(to_canonical_json({**body, "sha256": silicon_file._content_digest(body)}))
    return path


@pytest.mark.parametrize("name", BAD_READINGS)
def test_readings_that_are_not_those_of_the_rows_confirm_no_rule(
    name: str, true_calibration: dict[str, Any], tmp_path: Path
) -> None:
    change, sentence = BAD_READINGS[name]
    path = write_changed_calibration(tmp_path / "s.json", true_calibration, rows=change(true_calibration["rows"]))
    done = rtoslab("calibrate", "--from", path)
    assert sentence in command_error(done, 3)
    assert not re.search(r"confirmed|it is \d|To run the virtual board", done.stdout)


def test_calibration_of_another_board_or_clock_is_refused(true_calibration: dict[str, Any], tmp_path: Path) -> None:
    stored = write_changed_calibration(tmp_path / "s.json", true_calibration)
    done = rtoslab("calibrate", "--from", stored, "--board", BOARD)
    assert f"with the board {SMALL_BOARD}, not {BOARD};" in command_error(done, 1)
    for key, value in {"chip": "stm32f446", "clock_hz": 16_000_000}.items():
        path = write_changed_calibration(tmp_path / "other.json", true_calibration, **{key: value})
        assert f"{value}, not " in command_error(rtoslab("calibrate", "--from", path), 1)
    for option in ("--target", "--port"):
        done = rtoslab("calibrate", "--from", stored, option, "auto")
        assert f"it excludes {option};" in command_error(done, 1)


def test_second_fit_keeps_the_words_on_the_board(true_calibration: dict[str, Any], tmp_path: Path) -> None:
    stored, again = write_changed_calibration(tmp_path / "s.json", true_calibration), tmp_path / "again.json"
    done = rtoslab("calibrate", "--from", stored, "-o", again)
    assert done.returncode == 0, done.stderr
    assert read_silicon_calibration_file(again).about == "rev C"


@pytest.mark.long
def test_changed_settings_are_found_despite_jitter_and_lost_bytes(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, settings=SECRET, spoil=add_jitter) as desk:
        done = rtoslab("calibrate", "--board", BOARD, "--target", "auto", "--port", desk.port, "--json",
                       "-o", tmp_path / "silicon.json", **desk.environment)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(desk.orders) == 2
    result = json.loads(done.stdout)
    assert result["settings"] == SECRET
    assert sorted(result["differs"]) == sorted(SECRET)
    assert read_silicon_calibration_file(tmp_path / "silicon.json").rules["timing.late_arrival_cycles"].best == 9


def test_unnamed_board_and_dry_run_flash_nothing(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD) as desk:
        words = ("calibrate", "--target", "auto", "--port", desk.port)
        assert "A real board is only flashed if its type is given" in command_error(
            rtoslab(*words, **desk.environment), 1
        )
        done = rtoslab(*words, "--board", BOARD, "--dry-run", **desk.environment)
        assert done.stdout.startswith("openocd -f interface/stlink.cfg")
        assert not desk.orders
    assert "name the real board with --target" in command_error(rtoslab("calibrate", "--board", BOARD), 1)
