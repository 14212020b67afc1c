"""`rtoslab calibrate` against a virtual board whose settings were changed secretly, which plays silicon."""

import json
import re
import zlib
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rtoslab.base.errors import AlteredError, CatalogueError
from rtoslab.calibrate import silicon_file
from rtoslab.calibrate.calibration_table import CalibrationTable, read_table_of
from rtoslab.calibrate.readings import Readings
from rtoslab.calibrate.settings_fit import fit, unexplained
from rtoslab.calibrate.silicon_file import grades, of_fit, read_silicon, write_silicon
from rtoslab.targets.board import timing_settings
from tests.hardware.desk import CATALOGUE, Desk
from tests.test_cli import error, rtoslab

BOARD = "nucleo-f446re"
SECRET = {
    "timing.exception_entry_cycles": 14,
    "timing.late_arrival_cycles": 9,
    "timing.apb_bridge_extra_cycles": 3,
    "timing.special_register_cycles": 1,
}


def table(*rows: tuple[str, list[str]]) -> CalibrationTable:
    whole = read_table_of(CATALOGUE)
    row = [{"id": name, "title": name, "group": "g", "values": 2, "keys": keys} for name, keys in rows]
    return CalibrationTable.model_validate({**whole.model_dump(), "row": row})


def linear(settings: dict[str, int]) -> Readings:
    """Two rows of the setting a, one of them of b as well, one of nothing."""
    a, b = settings.get("timing.a", 5), settings.get("timing.b", 2)
    rows = {"one": [a, 2 * a], "two": [a + b, b], "none": [7, 7]}
    return Readings({name: np.repeat(np.array(each)[:, None], 9, axis=1) for name, each in rows.items()})


LINEAR = table(("one", ["timing.a"]), ("two", ["timing.a", "timing.b"]), ("none", ["timing.c"]))
DEFAULTS = {"timing.a": 5, "timing.b": 2, "timing.c": 1}


def test_what_changed_is_found_and_nothing_else() -> None:
    found = fit(LINEAR, linear({"timing.a": 8}), lambda values: linear(dict(values)), DEFAULTS)
    assert found.settings == {"timing.a": 8}
    assert {each.key: (each.differs, each.seen) for each in found.findings} == {
        "timing.a": (True, True), "timing.b": (False, True), "timing.c": (False, False),
    }  # fmt: skip
    assert [(each.low, each.high) for each in found.findings][:2] == [(8, 8), (2, 2)]


def test_noise_widens_and_accuses_nobody() -> None:
    silicon = linear({})
    noise = np.random.default_rng(1).integers(0, 4, (2, 9))
    noisy = Readings({**silicon.rows, "one": silicon.rows["one"] + noise})
    found = fit(LINEAR, noisy, lambda values: linear(dict(values)), DEFAULTS)
    a = next(each for each in found.findings if each.key == "timing.a")
    assert found.slack_cycles > 0
    assert a.low < a.high or a.error_cycles > 0


def test_what_no_setting_explains_bends_none_and_is_named() -> None:
    silicon = Readings({**linear({}).rows, "none": linear({}).rows["none"] + 3})
    found = fit(LINEAR, silicon, lambda values: linear(dict(values)), DEFAULTS)
    assert not found.settings
    assert unexplained(silicon, linear({})) == {"none": 3}


def test_every_setting_of_the_board_has_a_witness() -> None:
    """But for those of other chips, and those that the manual prints."""
    keys = {key for row in read_table_of(CATALOGUE).row for key in row.keys}
    known = {key for key, *_ in timing_settings("stm32f446") if key.startswith("timing.")}
    assert keys <= known
    assert {key for key in known - keys if not re.search(r"m7|h7", key)} == set()


def written(tmp_path: Path) -> Path:
    silicon = linear({})
    found = fit(LINEAR, silicon, lambda values: linear(dict(values)), DEFAULTS)
    path = tmp_path / "silicon.json"
    write_silicon(path, of_fit(CATALOGUE, BOARD, 84_000_000, "0" * 64, "mine", silicon, found))
    return path


def test_a_file_is_sealed_and_strict(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert read_silicon(path).rules["timing.a"].best == 5
    text = path.read_text()
    path.write_text(re.sub(r'"best": ?5', '"best":6', text, count=1))
    assert path.read_text() != text
    with pytest.raises(AlteredError, match="was altered after it was written"):
        read_silicon(path)
    path.write_text(text.replace('"about"', '"abut"'))
    with pytest.raises(CatalogueError, match=r"silicon\.json, about: Field required"):
        read_silicon(path)


def test_a_confirmed_rule_is_of_the_grade_silicon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = grades(CATALOGUE, BOARD)
    assert "silicon" not in before.values()
    path = written(tmp_path)
    body = json.loads(path.read_text())
    confirmed = {"default": 12, "best": 12, "low": 12, "high": 12, "error_cycles": 0.0}
    refuted = {"default": 6, "best": 8, "low": 8, "high": 8, "error_cycles": 0.0}
    body["rules"] = {"timing.exception_entry_cycles": confirmed, "timing.tail_chain_cycles": refuted}
    del body["sha256"]
    silicon = silicon_file.Silicon.model_validate({**body, "sha256": silicon_file._digest(body)})
    write_silicon(path, silicon)
    monkeypatch.setattr(silicon_file, "SILICON_FILE", str(path))
    after = grades(CATALOGUE, BOARD)
    assert after["timing.exception_entry_cycles"] == "silicon"
    assert {key: after[key] for key in after if after[key] != before[key]} == {
        "timing.exception_entry_cycles": "silicon"
    }


def jittered(starts: int, data: bytes) -> bytes:
    """Some rounds of a row take longer; the first start loses bytes as well. Whole lines alone are changed."""
    random = Random(len(data))  # noqa: S311

    def line(found: "re.Match[bytes]") -> bytes:
        runs = [run.partition(b"x") for run in found[2].split(b",")]
        values = [int(value) for value, _, times in runs for _ in range(int(times or 1))]
        if len(values) > 20:
            return found[0]
        noisy = [each + random.choice((0, 0, 0, 0, 0, 0, 1, 3)) for each in values]
        body = found[1] + b",".join(b"%d" % each for each in noisy) + b" n=%d" % len(noisy)
        return body + b" *%08x" % zlib.crc32(body)

    changed = re.sub(
        rb"^(@\d+ sample metric=\w+ values=)([0-9x,]+) n=\d+ \*[0-9a-f]{8}$", line, data, flags=re.MULTILINE
    )
    return changed.replace(b" values=", b" vales=", 1) if starts == 0 else changed


@pytest.mark.long
def test_a_disguised_board_is_seen_through_with_jitter_and_lost_bytes(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, settings=SECRET, spoil=jittered) as desk:
        done = rtoslab("calibrate", "--board", BOARD, "--target", "auto", "--port", desk.port, "--json",
                       "-o", tmp_path / "silicon.json", **desk.environment)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(desk.orders) == 2
    found = json.loads(done.stdout)
    assert found["settings"] == SECRET
    assert sorted(found["differs"]) == sorted(SECRET)
    assert read_silicon(tmp_path / "silicon.json").rules["timing.late_arrival_cycles"].best == 9


def test_nothing_is_flashed_unnamed_and_a_dry_run_flashes_nothing(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD) as desk:
        words = ("calibrate", "--target", "auto", "--port", desk.port)
        assert "Nothing is flashed without the board" in error(rtoslab(*words, **desk.environment), 1)
        done = rtoslab(*words, "--board", BOARD, "--dry-run", **desk.environment)
        assert done.stdout.startswith("openocd -f interface/stlink.cfg")
        assert not desk.orders
    assert "Name the real board with --target" in error(rtoslab("calibrate", "--board", BOARD), 1)
