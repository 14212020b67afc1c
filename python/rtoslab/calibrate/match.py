"""How well settings match silicon: the virtual board's rows beside what silicon showed, value by value.

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
from rtoslab.calibrate.readings import Readings, Runs

SAME: Final = 1e-9
"""Cycles that are none."""
Values = dict[str, int]
"""Settings by their keys, all that may be fitted."""
Vector = NDArray[np.float64]
"""The witnesses' values one after the other."""


class Match:
    """Runs of the virtual board under settings, each made once, and how far they are from silicon."""

    def __init__(self, table: CalibrationTable, silicon: Readings, runs: Runs, defaults: Mapping[str, int]) -> None:
        self.defaults = dict(defaults)
        self._runs = runs
        self._known: dict[tuple[int, ...], Vector | None] = {}
        centres, bounds = silicon.centres(), silicon.bounds()
        of = {row.id: tuple(key for key in row.keys if key in defaults) for row in table.row}
        self.rows = [row for row, keys in of.items() if keys and row in centres]
        """Witnesses that silicon sent."""
        self.true = np.concatenate([centres[row] for row in self.rows] or [np.zeros(0)])
        self.low, self.high = (
            np.concatenate([bounds[row][edge] for row in self.rows] or [np.zeros(0)]) for edge in (0, 1)
        )
        sizes = [len(centres[row]) for row in self.rows]
        self.weight = np.repeat([1.0 / size for size in sizes], sizes)
        """The weight of each value: that of a mean over its row."""
        place = np.repeat(np.arange(len(self.rows)), sizes)
        self.keys = sorted({key for row in self.rows for key in of[row]})
        self.witnessed = {
            key: np.isin(place, [i for i, r in enumerate(self.rows) if key in of[r]]) for key in self.keys
        }
        """Key -> which values are of its witnesses."""

    def simulated(self, values: Values) -> Vector | None:
        """Returns what the virtual board says. None where it takes no such value."""
        known = tuple(values[key] for key in self.keys)
        if known not in self._known:
            changed = {key: value for key, value in values.items() if value != self.defaults[key]}
            try:
                centres = self._runs(changed).centres()
                self._known[known] = np.concatenate([centres[row] for row in self.rows])
            except RtoslabError:
                self._known[known] = None
        return self._known[known]

    def cost(self, values: Values) -> float:
        """Difference from what silicon usually said, in cycles, summed over the rows' means."""
        simulated = self.simulated(values)
        return float("inf") if simulated is None else float(self.weight @ np.abs(simulated - self.true))

    def excess(self, values: Values) -> float:
        """Returns the same from the nearest bound of silicon's readings."""
        simulated = self.simulated(values)
        return float("inf") if simulated is None else self._beyond(simulated)

    def promises(self, values: Values, steps: Mapping[str, int]) -> bool:
        """Whether, by the slopes, `steps` at once leave no more than `values` do."""
        simulated = self.simulated(values)
        assert simulated is not None
        for key, by in steps.items():
            slope = self.slope(values, key, int(np.sign(by)))
            simulated = simulated if slope is None else simulated + by * slope
        return self._beyond(simulated) <= self.excess(values) + SAME

    def _beyond(self, simulated: Vector) -> float:
        return float(self.weight @ np.abs(self._outside(simulated)))

    def _outside(self, simulated: Vector) -> Vector:
        return simulated - np.clip(simulated, self.low, self.high)

    def score(self, values: Values) -> tuple[float, float]:
        """The smaller, the better."""
        return round(self.excess(values), 6), round(self.cost(values), 6)

    def slack(self) -> float:
        """Difference between the bounds: what silicon itself leaves open."""
        return float(self.weight @ (self.high - self.low))

    def slope(self, values: Values, key: str, by: int) -> Vector | None:
        """Returns what a step up (`by` 1) or down (-1) of a setting does, per unit. None if it does nothing or is
        refused."""
        here, present = self.simulated(values), self.simulated(with_moved(values, key, by))
        if here is None or present is None or not np.any(present != here):
            return None
        return (present - here) * by

    def shows(self, values: Values, key: str) -> bool:
        """Whether any witness changes with a setting."""
        return any(self.slope(values, key, by) is not None for by in (1, -1))

    def shares(self, one: str, other: str) -> bool:
        """Whether two settings have a witness in common."""
        return one != other and bool(np.any(self.witnessed[one] & self.witnessed[other]))

    def error(self, values: Values, key: str) -> float:
        """The largest difference left in a value of a setting's witnesses."""
        simulated = self.simulated(values)
        assert simulated is not None
        return float(np.max(np.abs(simulated - self.true)[self.witnessed[key]], initial=0.0))

    def unexplained_cycles(self, values: Values, key: str) -> float:
        """Returns the same from the nearest bound of silicon's readings."""
        simulated = self.simulated(values)
        assert simulated is not None
        return float(np.max(np.abs(self._outside(simulated))[self.witnessed[key]], initial=0.0))

    def changed_settings(self, values: Values) -> list[str]:
        """Settings that are not at their defaults."""
        return [key for key in self.keys if values[key] != self.defaults[key]]


def with_moved(values: Values, key: str, by: int) -> Values:
    """One setting elsewhere."""
    return {**values, key: values[key] + by}
