"""Every family's rows and the fit, on virtual boards whose settings were changed secretly: which shows where, and that
each change is found with its value, or named with what makes up for it, and nothing else is accused."""

import functools
import json
import os
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rtoslab.base.errors import RtoslabError
from rtoslab.calibrate.calibration_table import read_calibration_table
from rtoslab.calibrate.match import SiliconTimingComparator
from rtoslab.calibrate.readings import CalibrationReadings, build_calibration_firmware, calibration_image_runner
from rtoslab.calibrate.settings_fit import BoardTimingFitResult, calibrate_timing_settings_to_silicon
from rtoslab.targets.board import timing_settings
from tests.cli.test_cli import rtoslab
from tests.hardware.desk import CATALOGUE, Desk
from tests.hardware.disguise import add_jitter

TABLE = read_calibration_table(CATALOGUE)
QUICK = {
    "pico": {"timing.xip_frames_per_fill": 2, "timing.tail_chain_cycles": 10},
    "nucleo-l073rz": {"timing.apb_transfer_clocks": 3, "timing.late_arrival_cycles": 8},
    "nucleo-f767zi": {"timing.f7_flash_axi_extra_cycles": 9, "timing.store_to_load_cycles": 6},
    "nucleo-h743zi": {"timing.h7_core_cycles_per_flash_clock": 3, "timing.decoded_branch_cycles": 5},
}
"""Of each family two changes that together are found within seconds."""
_BUSES = {"bit_band_extra_cycles", "h7_domain_extra_cycles", "m7_ahbp_extra_cycles", "m7_axi_ram_extra_cycles"}
_H7 = {"h7_core_cycles_per_flash_clock", "h7_domain_extra_cycles", "h7_flash_axi_extra_cycles"}
UNSEEN = {
    "pico": set(),
    "nucleo-l053r8": _BUSES,
    "nucleo-l073rz": _BUSES,
    "nucleo-f767zi": {"bit_band_extra_cycles"} | _H7,
    "nucleo-h743zi": {"bit_band_extra_cycles", "f7_flash_axi_extra_cycles"},
}
"""Settings of other chips: what shows in no row."""
Runs = Callable[[Mapping[str, int]], CalibrationReadings]


@functools.cache
def board(name: str) -> tuple[Runs, dict[str, int]]:
    """Its runs, each made once, and its settings."""
    runs = calibration_image_runner(CATALOGUE, TABLE, build_calibration_firmware(CATALOGUE, TABLE, name, None), name)
    settings = timing_settings(CATALOGUE.find_board(name).facts.chip)
    return runs, {key: default for key, default, *_ in settings if key.startswith("timing.")}


def readings_of_changed_board(name: str, secret: Mapping[str, int], seed: int) -> CalibrationReadings:
    """What such a board says, with one round in five longer than it should be."""
    random = np.random.default_rng(seed)
    rows = board(name)[0](secret).rows
    return CalibrationReadings(
        {row: item + random.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, 3), item.shape) for row, item in rows.items()}
    )


def assert_settings_are_found(name: str, secret: Mapping[str, int], seed: int) -> BoardTimingFitResult:
    """The fit, whose every word about a disguised board must be true."""
    runs, defaults = board(name)
    result = calibrate_timing_settings_to_silicon(TABLE, readings_of_changed_board(name, secret, seed), runs, defaults)
    by_key = {finding.key: finding for finding in result.findings}
    for key, value in secret.items():
        assert by_key[key].low <= value <= by_key[key].high, (secret, by_key[key])
    accused = {key for key, item in by_key.items() if item.does_silicon_refute_setting_default}
    together = {key for group in result.groups if group.differs for key in group.keys}
    assert accused <= set(secret), (secret, accused)
    assert set(secret) <= accused | together, (secret, accused, together)
    assert all(set(group.keys) & set(secret) for group in result.groups if group.differs), (secret, result.groups)
    return result


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name != "nucleo-l073rz")) for name in QUICK]
)
def test_two_changed_settings_are_found(name: str) -> None:
    assert assert_settings_are_found(name, QUICK[name], 1).settings == QUICK[name]


@pytest.mark.parametrize("name", UNSEEN)
def test_every_setting_of_a_chip_affects_its_rows_and_no_other_does(name: str) -> None:
    runs, defaults = board(name)
    match = SiliconTimingComparator(TABLE, runs({}), runs, defaults)
    unseen = {key for key in defaults if not match.does_setting_have_effect(match.defaults, key)}
    assert {key.removeprefix("timing.") for key in unseen} == UNSEEN[name]


# Of each core one board; how the rows of the others move with their settings, the test above says of all.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name in {"nucleo-l053r8", "nucleo-h743zi"})) for name in UNSEEN],
)
def test_setting_that_affects_no_row_is_reported(name: str) -> None:
    runs, defaults = board(name)
    result = calibrate_timing_settings_to_silicon(TABLE, runs({}), runs, defaults)
    assert not result.settings
    assert not any(finding.does_silicon_refute_setting_default for finding in result.findings)
    assert {finding.key.removeprefix("timing.") for finding in result.findings if not finding.has_effect} == UNSEEN[
        name
    ]


def test_bridge_and_transfer_are_inseparable_if_bus_and_core_share_a_clock() -> None:
    """Without the row that divides the clock; with it, they are told apart."""
    runs, defaults = board("nucleo-l073rz")
    blind = TABLE.model_copy(update={"row": tuple(row for row in TABLE.row if row.id != "apb2_divided")})
    secret = {"timing.apb_bridge_extra_cycles": 3}
    result = calibrate_timing_settings_to_silicon(blind, runs(secret), runs, defaults)
    (group,) = result.groups
    assert set(group.keys) == {"timing.apb_bridge_extra_cycles", "timing.apb_transfer_clocks"}
    assert group.differs
    assert not any(finding.does_silicon_refute_setting_default for finding in result.findings)
    sighted = calibrate_timing_settings_to_silicon(TABLE, runs(secret), runs, defaults)
    assert sighted.settings == secret
    assert not sighted.groups


def test_rows_without_a_setting_still_show_their_subject() -> None:
    rows = board("pico")[0]({}).most_probable_readings()
    single, together = rows["two_cores"]
    assert single + 16 < together < 2 * single, "two cores that read one bank wait for each other"
    flushed, held = rows["xip_code"]
    assert held == 98, "96 additions between two readings of two cycles"
    assert flushed > 20 * held


@pytest.mark.long
def test_m7_peripheral_bus_and_its_bridge_are_measured_together() -> None:
    result = assert_settings_are_found("nucleo-f767zi", {"timing.m7_ahbp_extra_cycles": 8}, 1)
    assert result.settings == {"timing.m7_ahbp_extra_cycles": 8}
    (group,) = result.groups
    assert set(group.keys) == {
        f"timing.{key}"
        for key in (
            "ahb_read_extra_cycles",
            "apb_bridge_extra_cycles",
            "m7_ahbp_extra_cycles",
        )
    }


def changes(name: str, steps: tuple[int, ...]) -> list[dict[str, int]]:
    """Each setting that shows, changed alone; not what the board refuses, nor what changes nothing in its place."""
    runs, defaults = board(name)
    usual, result = runs({}).most_probable_readings(), []
    for key, default in defaults.items():
        for step in steps:
            if default + step < 0:
                continue
            try:
                output = runs({key: default + step}).most_probable_readings()
            except RtoslabError:
                continue
            if any(np.any(output[row] != usual[row]) for row in output):
                result.append({key: default + step})
    return result


@pytest.mark.long
@pytest.mark.parametrize("name", [*UNSEEN, "nucleo-f446re", "nucleo-f103rb"])
def test_each_single_changed_setting_is_found(name: str) -> None:
    for seed, secret in enumerate(changes(name, (1, -1, 3, -2, 6))):
        assert_settings_are_found(name, secret, seed)


@pytest.mark.long
@pytest.mark.parametrize("name", [*QUICK, "nucleo-f446re"])
def test_each_pair_of_changed_settings_is_found(name: str) -> None:
    """40 of them; RTOSLAB_PAIRS is another number, 0 all."""
    most = int(os.environ.get("RTOSLAB_PAIRS", "40"))
    pairs = [
        {**one, **other}
        for one, other in combinations(changes(name, (1, 2, -1)), 2)
        if set(one) != set(other)
    ]  # fmt: skip
    Random(1).shuffle(pairs)  # noqa: S311
    for seed, secret in enumerate(pairs[: most or None]):
        assert_settings_are_found(name, secret, seed)


@pytest.mark.parametrize(
    ("name", "tool", "usb"),
    [
        ("pico", "picotool", "2e8a:0003"),
        pytest.param("nucleo-l073rz", "openocd", "0483:374b", marks=pytest.mark.long),
        pytest.param("nucleo-f767zi", "openocd", "0483:374b", marks=pytest.mark.long),
        pytest.param("nucleo-h743zi", "openocd", "0483:374b", marks=pytest.mark.long),
    ],
)
def test_changed_settings_are_found_over_a_lossy_serial_port(name: str, tool: str, usb: str, tmp_path: Path) -> None:
    with Desk(tmp_path, name, (tool,), usb=usb, settings=QUICK[name], spoil=add_jitter) as desk:
        done = rtoslab("calibrate", "--board", name, "--target", "auto", "--port", desk.port, "--json",
                       **desk.environment)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(desk.orders) == 2, "the start whose bytes were lost, and another one"
    result = json.loads(done.stdout)
    assert result["settings"] == QUICK[name]
    assert set(result["differs"]) <= set(QUICK[name])
