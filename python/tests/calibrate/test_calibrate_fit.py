"""The search for settings, on models whose rows are straight lines, steps and sums, without a board."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from rtoslab.base.errors import RtoslabError
from rtoslab.calibrate.calibration_table import CalibrationTable, read_calibration_table
from rtoslab.calibrate.match import SiliconTimingComparator
from rtoslab.calibrate.readings import CalibrationReadings
from rtoslab.calibrate.report import timing_settings_table
from rtoslab.calibrate.search import _drop_unneeded_setting_changes
from rtoslab.calibrate.settings_fit import (
    BoardTimingFitResult,
    calibrate_timing_settings_to_silicon,
    calibration_rows_outside_bounds,
)
from rtoslab.targets.board import timing_settings
from tests.hardware.desk import CATALOGUE


def table(*rows: tuple[str, list[str]]) -> CalibrationTable:
    whole = read_calibration_table(CATALOGUE)
    row = [{"id": name, "title": name, "group": "g", "values": 2, "keys": keys} for name, keys in rows]
    return CalibrationTable.model_validate({**whole.model_dump(), "row": row})


def linear(settings: dict[str, int]) -> CalibrationReadings:
    """Two rows of the setting a, one of them of b as well, one of nothing."""
    a, b = settings.get("timing.a", 5), settings.get("timing.b", 2)
    rows = {"one": [a, 2 * a], "two": [a + b, b], "none": [7, 7]}
    return CalibrationReadings({name: np.repeat(np.array(row)[:, None], 9, axis=1) for name, row in rows.items()})


LINEAR = table(("one", ["timing.a"]), ("two", ["timing.a", "timing.b"]), ("none", ["timing.c"]))
DEFAULTS = {"timing.a": 5, "timing.b": 2, "timing.c": 1}


def test_only_changed_settings_are_found() -> None:
    result = calibrate_timing_settings_to_silicon(
        LINEAR, linear({"timing.a": 8}), lambda values: linear(dict(values)), DEFAULTS
    )
    assert result.settings == {"timing.a": 8}
    assert {
        finding.key: (finding.does_silicon_refute_setting_default, finding.has_effect) for finding in result.findings
    } == {
        "timing.a": (True, True), "timing.b": (False, True), "timing.c": (False, False),
    }  # fmt: skip
    assert [(finding.low, finding.high) for finding in result.findings][:2] == [(8, 8), (2, 2)]


def test_noise_widens_ranges_and_refutes_no_setting() -> None:
    silicon = linear({})
    noise = np.random.default_rng(1).integers(0, 4, (2, 9))
    noisy = CalibrationReadings({**silicon.rows, "one": silicon.rows["one"] + noise})
    result = calibrate_timing_settings_to_silicon(LINEAR, noisy, lambda values: linear(dict(values)), DEFAULTS)
    a = next(finding for finding in result.findings if finding.key == "timing.a")
    assert result.slack_cycles > 0
    assert a.low < a.high or a.error_cycles > 0


def test_unexplained_difference_changes_no_setting_and_is_reported() -> None:
    silicon = CalibrationReadings({**linear({}).rows, "none": linear({}).rows["none"] + 3})
    result = calibrate_timing_settings_to_silicon(LINEAR, silicon, lambda values: linear(dict(values)), DEFAULTS)
    assert not result.settings
    assert calibration_rows_outside_bounds(silicon, linear({})) == {"none": 3}


def rounds(*values: int) -> CalibrationReadings:
    return CalibrationReadings({"row": np.array([values])})


def test_most_frequent_value_counts_and_frequent_ones_bound_it() -> None:
    assert rounds(5, 5, 5, 5, 6, 8, 6, 8, 9).most_probable_readings()["row"] == [5]
    assert [edge[0] for edge in rounds(5, 5, 5, 5, 6, 8, 6, 8, 9).calibration_reading_bounds()["row"]] == [5, 5]
    assert [edge[0] for edge in rounds(5, 5, 5, 5, 8, 6, 6, 6, 9).calibration_reading_bounds()["row"]] == [5, 6]
    assert [edge[0] for edge in rounds(5, 6, 6, 6, 6, 6, 5, 9, 8).calibration_reading_bounds()["row"]] == [5, 6]
    spread = rounds(1, 2, 3, 4, 5, 6, 7, 8, 9)
    low, high = spread.calibration_reading_bounds()["row"]
    assert spread.most_probable_readings()["row"] == [5]
    assert 3 < low[0] < 5 < high[0] < 7


SUM = table(("one", ["timing.a", "timing.b"]), ("two", ["timing.c"]))


def sum_readings(settings: dict[str, int]) -> CalibrationReadings:
    """Rows that see a + 2b and c, and refuse c above 4."""
    a, b, c = settings.get("timing.a", 5), settings.get("timing.b", 2), settings.get("timing.c", 1)
    if c > 4:
        raise RtoslabError("too large")
    rows = {"one": [a + 2 * b, 3 * a + 6 * b], "two": [c, c]}
    return CalibrationReadings({name: np.repeat(np.array(row)[:, None], 9, axis=1) for name, row in rows.items()})


def fit_model(model: Callable[[dict[str, int]], CalibrationReadings], secret: dict[str, int]) -> BoardTimingFitResult:
    return calibrate_timing_settings_to_silicon(SUM, model(secret), lambda values: model(dict(values)), DEFAULTS)


def test_settings_that_compensate_each_other_are_reported_as_a_group() -> None:
    result = fit_model(sum_readings, {"timing.a": 9})
    (group,) = result.groups
    assert set(group.keys) == {"timing.a", "timing.b"}
    assert group.differs
    by_key = {finding.key: finding for finding in result.findings}
    assert by_key["timing.a"].together == ("timing.b",)
    assert not any(finding.does_silicon_refute_setting_default for finding in result.findings), (
        "either may be what it was"
    )
    assert by_key["timing.a"].low <= 9 <= by_key["timing.a"].high
    assert by_key["timing.b"].low <= 4 <= by_key["timing.b"].high
    assert len(result.settings) == 1


def test_group_that_fits_at_its_defaults_is_not_refuted() -> None:
    result = fit_model(sum_readings, {"timing.c": 3})
    (group,) = result.groups
    assert not group.differs
    assert result.settings == {"timing.c": 3}
    assert [finding.key for finding in result.findings if finding.does_silicon_refute_setting_default] == ["timing.c"]


def bus_of_four_cycles(settings: dict[str, int]) -> CalibrationReadings:
    """b is of a bus whose clock lasts four cycles of a: what a does is seen at its edges only."""
    a, b = settings.get("timing.a", 5), settings.get("timing.b", 2)
    rows = {"one": [4 * b + -4 * (-(a + phase) // 4) for phase in range(2)], "two": [1, 1]}
    return CalibrationReadings({name: np.repeat(np.array(row)[:, None], 9, axis=1) for name, row in rows.items()})


def test_steps_compensated_by_several_steps_of_another_are_a_group() -> None:
    result = fit_model(bus_of_four_cycles, {"timing.b": 3})
    assert {frozenset(group.keys) for group in result.groups} == {frozenset({"timing.a", "timing.b"})}
    assert result.after_cycles == 0
    assert len(result.settings) == 1


def half_speed_bus(settings: dict[str, int]) -> CalibrationReadings:
    """One bus at the clock of a, one at half of it, in eight phases each."""
    a, b = settings.get("timing.a", 5), settings.get("timing.b", 2)
    phases = np.arange(8)
    rows = {"one": [np.full(8, a + b), -(-(a + phases) // 2) * 2 + 2 * b - phases], "two": [np.full(8, 1)]}
    return CalibrationReadings({name: np.repeat(np.concatenate(row)[:, None], 9, axis=1) for name, row in rows.items()})


def test_two_steps_that_only_help_together_are_found() -> None:
    result = fit_model(half_speed_bus, {"timing.a": 7, "timing.b": 4})
    assert result.settings == {"timing.a": 7, "timing.b": 4}
    assert result.after_cycles == 0


def almost_equal_settings(settings: dict[str, int]) -> CalibrationReadings:
    """a and b do the same in all values but one."""
    a, b = settings.get("timing.a", 5), settings.get("timing.b", 2)
    rows = {"one": [a + b, a + b + max(b - 2, 0)], "two": [1, 1]}
    return CalibrationReadings({name: np.repeat(np.array(row)[:, None], 9, axis=1) for name, row in rows.items()})


def test_settings_distinguished_only_by_disturbed_rounds_are_a_group() -> None:
    secret = {"timing.b": 3}
    silicon = almost_equal_settings(secret)
    silicon.rows["one"][1] = (8, 8, 8, 8, 8, 9, 9, 9, 9)
    result = calibrate_timing_settings_to_silicon(
        SUM, silicon, lambda values: almost_equal_settings(dict(values)), DEFAULTS
    )
    by_key = {finding.key: finding for finding in result.findings}
    assert not any(item.does_silicon_refute_setting_default for item in by_key.values())
    assert by_key["timing.b"].low <= 3 <= by_key["timing.b"].high
    assert [(set(group.keys), group.differs) for group in result.groups] == [({"timing.a", "timing.b"}, True)]


def on_one_way(settings: dict[str, int]) -> CalibrationReadings:
    """c is on the way to both a and b."""
    a, b, c = settings.get("timing.a", 5), settings.get("timing.b", 2), settings.get("timing.c", 1)
    return CalibrationReadings({name: np.full((2, 9), item) for name, item in {"one": a + c, "two": b + c}.items()})


def test_one_setting_equal_to_two_others_is_a_group_of_three() -> None:
    way = table(("one", ["timing.a", "timing.c"]), ("two", ["timing.b", "timing.c"]))
    result = calibrate_timing_settings_to_silicon(
        way, on_one_way({"timing.c": 4}), lambda values: on_one_way(dict(values)), DEFAULTS
    )
    assert result.settings == {"timing.c": 4}
    assert [set(group.keys) for group in result.groups] == [set(DEFAULTS)]
    assert not any(finding.does_silicon_refute_setting_default for finding in result.findings)


def test_compensating_settings_are_followed_to_their_limits() -> None:
    way = table(("one", ["timing.a", "timing.c"]), ("two", ["timing.b", "timing.c"]))
    secret = {"timing.a": 26, "timing.b": 23}
    result = calibrate_timing_settings_to_silicon(
        way, on_one_way(secret), lambda values: on_one_way(dict(values)), DEFAULTS
    )
    assert result.settings == {"timing.c": 22}, "one change does what two do"
    assert not any(finding.does_silicon_refute_setting_default for finding in result.findings)
    by_key = {finding.key: finding for finding in result.findings}
    assert all(by_key[key].low <= value <= by_key[key].high for key, value in {**DEFAULTS, **secret}.items())


def convex(settings: dict[str, int]) -> CalibrationReadings:
    """What a does is far more from 7 on, and always the same."""
    a = settings.get("timing.a", 5)
    rows = {"one": 10 if a >= 7 else max(a - 5, 0), "two": settings.get("timing.b", 2)}
    return CalibrationReadings({name: np.full((2, 9), row) for name, row in rows.items()})


def test_step_that_went_too_far_is_reversed() -> None:
    model = table(("one", ["timing.a"]), ("two", ["timing.b"]))
    result = calibrate_timing_settings_to_silicon(
        model, convex({"timing.a": 8}), lambda values: convex(dict(values)), DEFAULTS
    )
    assert result.settings == {"timing.a": 7}


def test_compensating_changes_are_reversed() -> None:
    match = SiliconTimingComparator(SUM, sum_readings({}), lambda values: sum_readings(dict(values)), DEFAULTS)
    detour = {**DEFAULTS, "timing.a": 7, "timing.b": 1}
    assert match.cycles_outside_bounds(detour) == 0
    assert _drop_unneeded_setting_changes(match, detour, match.keys) == DEFAULTS


def test_row_without_a_setting_is_ignored() -> None:
    model = table(("one", ["timing.a"]), ("two", ["timing.a", "timing.b"]), ("none", []))
    silicon = CalibrationReadings({**linear({}).rows, "none": linear({}).rows["none"] + 3})
    result = calibrate_timing_settings_to_silicon(model, silicon, lambda values: linear(dict(values)), DEFAULTS)
    assert result.before_cycles == result.after_cycles == 0


def limited_setting(settings: dict[str, int]) -> CalibrationReadings:
    """a counts up to 7 only, and may be 64."""
    if settings.get("timing.a", 5) > 64:
        raise RtoslabError("too large")
    a = min(settings.get("timing.a", 5), 7)
    return linear({**settings, "timing.a": a})


@pytest.mark.parametrize("secret", [7, 9, 31, 64])
def test_equivalent_values_are_a_range_with_its_nearest_value(secret: int) -> None:
    result = calibrate_timing_settings_to_silicon(
        LINEAR, limited_setting({"timing.a": secret}), lambda values: limited_setting(dict(values)), DEFAULTS
    )
    assert result.settings == {"timing.a": 7}
    a = next(finding for finding in result.findings if finding.key == "timing.a")
    assert (a.low, a.high) == (7, 64)


def test_rules_without_a_row_are_in_the_result() -> None:
    result = calibrate_timing_settings_to_silicon(
        LINEAR, linear({}), lambda values: linear(dict(values)), {**DEFAULTS, "timing.far": 4}
    )
    assert [(finding.key, finding.has_effect) for finding in result.findings if not finding.has_effect] == [
        ("timing.c", False),
        ("timing.far", False),
    ]


OF_OTHER_CHIPS = {
    "rp2040": r"^$",
    "stm32l073": r"m7|h7|bit_band",
    "stm32f103": r"m7|h7",
    "stm32f446": r"m7|h7",
    "stm32f767": r"h7|bit_band",
    "stm32h743": r"f7|bit_band",
}


def test_every_setting_of_a_board_has_a_row() -> None:
    rows = {key for row in read_calibration_table(CATALOGUE).row for key in row.keys}
    for chip, others in OF_OTHER_CHIPS.items():
        known = {key for key, *_ in timing_settings(chip) if key.startswith("timing.")}
        assert {key for key in known - rows if not re.search(others, key)} == set(), chip
    every = {key for chip in OF_OTHER_CHIPS for key, *_ in timing_settings(chip)}
    assert rows <= every, "a row names a setting that no chip has"


def test_every_chip_of_the_catalogue_has_registers() -> None:
    assert {board.facts.chip for board in CATALOGUE.boards.values()} == set(read_calibration_table(CATALOGUE).registers)


def test_findings_table_shows_the_results_of_the_fit() -> None:
    together = fit_model(sum_readings, {"timing.a": 9, "timing.c": 3})
    rows = {str(row[0]): row for row in timing_settings_table(together, {"timing.a": "assumed"}).rows}
    assert rows["timing.a"][1] == "assumed"
    assert rows["timing.a"][-2:] == ("refuted together", "b")
    assert rows["timing.c"][-2:] == ("it is 3", "")
    silicon = linear({"timing.a": 8})
    silicon.rows["one"][1] += 1
    bent = calibrate_timing_settings_to_silicon(LINEAR, silicon, lambda values: linear(dict(values)), DEFAULTS)
    assert [finding.unexplained_cycles for finding in bent.findings] == [1, 0, 0]
    assert [row[-2] for row in timing_settings_table(bent, {}).rows] == [
        "not explained; 8 is nearest",
        "confirmed",
        "affects no row",
    ]
    plain = calibrate_timing_settings_to_silicon(
        LINEAR, limited_setting({"timing.a": 9}), lambda values: limited_setting(dict(values)), DEFAULTS
    )
    assert [row[-2] for row in timing_settings_table(plain, {}).rows] == [
        "it is 7 to 64",
        "confirmed",
        "affects no row",
    ]
