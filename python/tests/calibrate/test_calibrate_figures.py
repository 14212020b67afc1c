"""Kernel figures of a board beside those of the virtual one."""

import json
from pathlib import Path

import pytest

from rtoslab.analyses import NamedMetricValue
from rtoslab.base.errors import PlanError
from rtoslab.calibrate import silicon_file
from rtoslab.calibrate.silicon_figures import (
    BoardMeasuredValues,
    MeasuredValueWithErrorBar,
    kernel_value_with_error_bar,
    pair_silicon_and_virtual_measurements,
    silicon_comparison_table,
)
from rtoslab.calibrate.silicon_file import (
    SiliconCalibrationFile,
    read_silicon_calibration_file,
    write_silicon_calibration_file,
)
from tests.cli.test_cli import command_error, rtoslab
from tests.hardware.desk import Desk

BOARD = "nucleo-f446re"
SECRET = {"timing.mask_change_cycles": 2, "timing.exception_entry_cycles": 15}


def metric(value: float, resolution: float = 0.0, samples: tuple[float, ...] = ()) -> NamedMetricValue:
    return NamedMetricValue("counts", "cycles", value, samples, resolution)


def test_error_bar_contains_repeats_noise_and_clock_resolution() -> None:
    assert kernel_value_with_error_bar([metric(100)]).error_cycles == 0
    assert kernel_value_with_error_bar([metric(100), metric(103), metric(101)]).error_cycles == 1.5
    assert kernel_value_with_error_bar([metric(100), metric(103), metric(101)]).median_cycles == 101
    assert kernel_value_with_error_bar([metric(100, resolution=4.0), metric(101)]).error_cycles == 4
    noisy = kernel_value_with_error_bar([metric(10, samples=(8, 9, 10, 11, 12) * 5)])
    assert noisy.error_cycles == pytest.approx(1.4826 * 1.2533 / 5)


def figures(**values: float) -> BoardMeasuredValues:
    return BoardMeasuredValues(
        {name: MeasuredValueWithErrorBar((value,), 0.5) for name, value in values.items()}, {}, {"t1": "0" * 64}
    )


def test_differences_in_cycles_and_percent_with_both_models() -> None:
    one, two = pair_silicon_and_virtual_measurements(
        figures(a=200, b=50, lost=1), figures(a=210, b=50.25), figures(a=200, b=50.5)
    )
    assert (
        one.name,
        one.virtual_minus_silicon_cycles(),
        one.percent_difference_from_silicon(),
        one.is_virtual_value_within_silicon_error(),
    ) == (
        "a",
        10,
        5,
        False,
    )
    assert (one.virtual_minus_silicon_cycles(fitted=True), one.is_virtual_value_within_silicon_error(fitted=True)) == (
        0,
        True,
    )
    assert two.is_virtual_value_within_silicon_error()
    assert two.is_virtual_value_within_silicon_error(fitted=True)
    table = silicon_comparison_table([one, two])
    assert table.rows[0][:6] == ("a", "200.00", "0.50", "210.00", "+10.00", "+5.00")
    (single,) = pair_silicon_and_virtual_measurements(figures(a=200), figures(a=210), None)
    assert single.fitted_cycles is None
    assert silicon_comparison_table([single]).rows[0][6:] == (None, None)


def test_figures_of_another_image_are_refused() -> None:
    other = BoardMeasuredValues(figures(a=1).figures, {}, {"t1": "1" * 64})
    with pytest.raises(PlanError, match="t1 was measured with another image than the current one"):
        pair_silicon_and_virtual_measurements(other, figures(a=1), None)


@pytest.mark.long
def test_kernel_figures_of_a_board_with_changed_settings(tmp_path: Path) -> None:
    file, out = tmp_path / "silicon.json", tmp_path / "figures"
    words = ("--figures", "t4,call_times,p5_signal_wait", "--window", "20ms", "--repeats", "2")
    with Desk(tmp_path, BOARD, settings=SECRET) as desk:
        done = rtoslab("calibrate", "--board", BOARD, "--target", "auto", "--port", desk.port, *words, "--out", out,
                       "-o", file, "--json", **desk.environment)  # fmt: skip
        assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["settings"] == SECRET
    compared = result["kernel_figures"]
    assert result["kernel_figures_missing"].keys() == {"p5_signal_wait"}
    moved = compared["t4_interrupt.cycles_per_count"]
    assert moved["silicon_cycles"] - moved["default_cycles"] >= 3, "an entry of 15 instead of 12 cycles"
    assert not moved["agrees_with_default"]
    assert moved["default_differs_by_percent"] < 0
    assert len(moved["repeats"]) == 2
    assert sum(name.startswith("call_times.") for name in compared) > 3
    assert all(item["agrees_with_fit"] for item in compared.values()), compared
    stored = read_silicon_calibration_file(file)
    assert stored.kernel_figures is not None
    assert stored.kernel_figures.figures["t4_interrupt.cycles_per_count"].repeats == tuple(moved["repeats"])
    again = rtoslab("calibrate", "--from", file, "--figures", "all", "--out", tmp_path / "again", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["kernel_figures"] == compared
    body = json.loads(file.read_text())
    body["kernel_figures"] = None
    del body["sha256"]
    write_silicon_calibration_file(
        file, SiliconCalibrationFile.model_validate({**body, "sha256": silicon_file._content_digest(body)})
    )
    assert "This calibration has no kernel figures" in command_error(
        rtoslab("calibrate", "--from", file, "--figures", "all"), 1
    )
