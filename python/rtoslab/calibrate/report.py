"""A calibration as tables."""

from collections.abc import Mapping

import numpy as np

from rtoslab.base import TitledTable, Value
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.calibrate.readings import CalibrationReadings
from rtoslab.calibrate.settings_fit import BoardTimingFitResult, TimingSettingFitResult


def timing_settings_table(fit: BoardTimingFitResult, grades: Mapping[str, str]) -> TitledTable:
    """Returns a table of the timing settings, each with its default, its best fit and the verdict."""
    rows = [
        (
            finding.key,
            grades.get(finding.key, ""),
            finding.default,
            finding.best if finding.has_effect else None,
            f"{finding.low} to {finding.high}" if finding.has_effect else None,
            f"{finding.error_cycles:g}" if finding.has_effect else None,
            _timing_setting_verdict_text(fit, finding),
            ", ".join(_setting_key_without_timing_prefix(key) for key in finding.together),
        )
        for finding in fit.findings
    ]
    columns = (
        "rule",
        "grade so far",
        "default",
        "fits best",
        "fits as well",
        "left, cycles",
        "silicon says",
        "together with",
    )
    return TitledTable("rules", "Timing rules", columns, rows)


def _timing_setting_verdict_text(fit: BoardTimingFitResult, finding: TimingSettingFitResult) -> str:
    """Returns the verdict on one timing setting as text, such as `confirmed` or `refuted`."""
    if not finding.has_effect:
        return "affects no row"
    if finding.unexplained_cycles:
        return f"not explained; {finding.best} is nearest"
    if finding.does_silicon_refute_setting_default:
        return f"it is {finding.best}" if finding.low == finding.high else f"it is {finding.low} to {finding.high}"
    if finding.together:
        refuted = any(group.differs for group in fit.groups if finding.key in group.keys)
        return "refuted together" if refuted else "not refuted"
    return "confirmed" if finding.low == finding.high else "not refuted"


def _setting_key_without_timing_prefix(key: str) -> str:
    """Returns a setting's key without `timing.`."""
    return key.removeprefix("timing.")


def calibration_rows_table(
    table: CalibrationTable, silicon: CalibrationReadings, before: CalibrationReadings, after: CalibrationReadings
) -> TitledTable:
    """Returns a table of the calibration rows: silicon's cycles, and how far the virtual board is off, with defaults
    and with the fit."""
    true, first, last = (
        silicon.most_probable_readings(),
        before.most_probable_readings(),
        after.most_probable_readings(),
    )
    rows: list[tuple[Value, ...]] = []
    for row in table.row:
        if row.id not in true:
            continue
        spread = int(np.max(np.ptp(silicon.rows[row.id], axis=1)))
        worst = [_largest_difference_text(model[row.id] - true[row.id]) for model in (first, last)]
        rows.append((row.group, row.title, f"{np.mean(true[row.id]):.2f}", spread, *worst))
    columns = ("group", "row", "silicon, mean cycles", "spread", "default differs by", "best fit differs by")
    return TitledTable("rows", "Rows", columns, rows)


def _largest_difference_text(difference: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """Returns the difference that is largest without its sign, as text with the sign."""
    return f"{difference[np.argmax(np.abs(difference))]:+g}"
