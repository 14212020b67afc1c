"""`rtoslab calibrate` against a virtual board whose settings were changed secretly, which plays silicon."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from rtoslab.base.errors import AlteredFileError, CatalogueError
from rtoslab.calibrate import silicon_file
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
    bent = {**confirmed, "default": 7, "best": 7, "low": 7, "high": 7, "error_cycles": 1.0, "unexplained_cycles": 1.0}
    body["rules"] = {
        "timing.exception_entry_cycles": confirmed,
        "timing.tail_chain_cycles": refuted,
        "timing.exception_exit_cycles": sum_alone,
        "timing.late_arrival_cycles": bent,
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
