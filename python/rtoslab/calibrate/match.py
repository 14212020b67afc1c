"""How well settings match silicon: the virtual board's rows compared with silicon's, value by value.

A row is a witness of the settings that calibration.toml names beside it. Only witnesses count, so that an effect that
no setting explains (a rule without one) does not bend an unrelated setting. Each row weighs as much as any other,
whatever the number of its values. Absolute differences are summed, so that one value that silicon disturbs does not
outweigh the others, and what is within the bounds that silicon's own rounds leave does not count as a difference."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RtoslabError
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.calibrate.readings import CalibrationReadings, RunSettings

TOLERANCE_CYCLES: Final = 1e-9
"""A difference up to this counts as none."""
SettingValues = dict[str, int]
"""The value of each setting that may be fitted."""
Vector = NDArray[np.float64]
"""The witnesses' values one after the other."""


class SiliconTimingComparator:
    """Compares the virtual board under any timing settings with silicon. Each combination of settings runs once."""

    def __init__(
        self, table: CalibrationTable, silicon: CalibrationReadings, runs: RunSettings, defaults: Mapping[str, int]
    ) -> None:
        """`silicon`: the readings of the real board. `runs`: runs the virtual board under settings. `defaults`: the
        value of each setting that may be changed."""
        self.defaults = dict(defaults)
        self._runs = runs
        self._values_by_settings: dict[tuple[int, ...], Vector | None] = {}
        centres, bounds = silicon.most_probable_readings(), silicon.calibration_reading_bounds()
        of = {row.id: tuple(key for key in row.keys if key in defaults) for row in table.row}
        self.rows = [row for row, keys in of.items() if keys and row in centres]
        """Witnesses that silicon sent."""
        self.silicon_values = np.concatenate([centres[row] for row in self.rows] or [np.zeros(0)])
        self.low, self.high = (
            np.concatenate([bounds[row][edge] for row in self.rows] or [np.zeros(0)]) for edge in (0, 1)
        )
        sizes = [len(centres[row]) for row in self.rows]
        self.weights = np.repeat([1.0 / size for size in sizes], sizes)
        """The weight of each value: that of a mean over its row."""
        place = np.repeat(np.arange(len(self.rows)), sizes)
        self.keys = sorted({key for row in self.rows for key in of[row]})
        self.witnessed = {
            key: np.isin(place, [i for i, r in enumerate(self.rows) if key in of[r]]) for key in self.keys
        }
        """Setting -> which values belong to its witnesses."""

    def values_measured_on_virtual_board(self, values: SettingValues) -> Vector | None:
        """Returns the values that the virtual board measures under these timing settings. None if it refuses one of
        them."""
        known = tuple(values[key] for key in self.keys)
        if known not in self._values_by_settings:
            changed = {key: value for key, value in values.items() if value != self.defaults[key]}
            try:
                centres = self._runs(changed).most_probable_readings()
                self._values_by_settings[known] = np.concatenate([centres[row] for row in self.rows] or [np.zeros(0)])
            except RtoslabError:
                self._values_by_settings[known] = None
        return self._values_by_settings[known]

    def total_difference_cycles(self, values: SettingValues) -> float:
        """Returns how far the virtual board's values are from silicon's most probable ones, in cycles, summed over the
        rows' means."""
        simulated = self.values_measured_on_virtual_board(values)
        return float("inf") if simulated is None else float(self.weights @ np.abs(simulated - self.silicon_values))

    def cycles_outside_bounds(self, values: SettingValues) -> float:
        """Returns how far the virtual board's values are outside silicon's bounds, in cycles, summed over the rows'
        means."""
        simulated = self.values_measured_on_virtual_board(values)
        return float("inf") if simulated is None else self._weighted_deviation_from_silicon(simulated)

    def does_linear_estimate_keep_timing_match(self, values: SettingValues, steps: Mapping[str, int]) -> bool:
        """Whether these steps of several settings together, by a linear estimate, bring the values no further outside
        silicon's bounds."""
        simulated = self.values_measured_on_virtual_board(values)
        assert simulated is not None
        for key, by in steps.items():
            slope = self.setting_effect(values, key, int(np.sign(by)))
            simulated = simulated if slope is None else simulated + by * slope
        return self._weighted_deviation_from_silicon(simulated) <= self.cycles_outside_bounds(values) + TOLERANCE_CYCLES

    def _weighted_deviation_from_silicon(self, simulated: Vector) -> float:
        """Returns the weighted sum of how far simulated values are outside silicon's bounds."""
        return float(self.weights @ np.abs(self._cycles_outside_silicon_bounds(simulated)))

    def _cycles_outside_silicon_bounds(self, simulated: Vector) -> Vector:
        """Returns how far each simulated value is above (or, as a negative number, below) silicon's bounds. 0 within
        them."""
        return simulated - np.clip(simulated, self.low, self.high)

    def silicon_mismatch_score(self, values: SettingValues) -> tuple[float, float]:
        """Returns how badly settings match silicon: first the excess, then the total difference. Smaller is better."""
        return round(self.cycles_outside_bounds(values), 6), round(self.total_difference_cycles(values), 6)

    def total_width_of_silicon_cycle_bounds(self) -> float:
        """Returns how wide silicon's bounds are, in cycles, summed over the rows' means."""
        return float(self.weights @ (self.high - self.low))

    def setting_effect(self, values: SettingValues, key: str, by: int) -> Vector | None:
        """Returns how each measured value changes, per unit, if a setting is changed by one step (`by` is 1 or -1).

        None if nothing changes or the setting is refused.
        """
        here, present = (
            self.values_measured_on_virtual_board(values),
            self.values_measured_on_virtual_board(with_changed_setting(values, key, by)),
        )
        if here is None or present is None or not np.any(present != here):
            return None
        return (present - here) * by

    def does_setting_have_effect(self, values: SettingValues, key: str) -> bool:
        """Whether a step of this setting changes any measured value."""
        return any(self.setting_effect(values, key, by) is not None for by in (1, -1))

    def do_settings_affect_same_measured_value(self, one: str, other: str) -> bool:
        """Whether there is a measured value that depends on both settings."""
        return one != other and bool(np.any(self.witnessed[one] & self.witnessed[other]))

    def largest_error_cycles(self, values: SettingValues, key: str) -> float:
        """Returns the largest difference from silicon among the values that depend on a setting, in cycles."""
        simulated = self.values_measured_on_virtual_board(values)
        assert simulated is not None
        return float(np.max(np.abs(simulated - self.silicon_values)[self.witnessed[key]], initial=0.0))

    def unexplained_cycles(self, values: SettingValues, key: str) -> float:
        """Returns the largest distance from silicon's bounds among the values that depend on a setting, in cycles."""
        simulated = self.values_measured_on_virtual_board(values)
        assert simulated is not None
        return float(np.max(np.abs(self._cycles_outside_silicon_bounds(simulated))[self.witnessed[key]], initial=0.0))

    def keys_of_changed_settings(self, values: SettingValues) -> list[str]:
        """Returns the keys of the settings that do not have their default values."""
        return [key for key in self.keys if values[key] != self.defaults[key]]


def with_changed_setting(values: SettingValues, key: str, by: int) -> SettingValues:
    """Returns the settings with one of them changed by `by`."""
    return {**values, key: values[key] + by}
