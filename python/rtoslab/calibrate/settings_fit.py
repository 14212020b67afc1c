"""Settings under which the virtual board's rows say what silicon's say, and which others would do as well.

A row is a witness of the settings that calibration.toml names beside it; only witnesses are fitted, so that what no
setting explains (a rule without one) does not bend a setting that has nothing to do with it. The cost is the mean
difference of each witness's values in cycles, summed: sums of absolute values, so that one value that silicon disturbs
does not outweigh the others. Settings are whole numbers, so the search goes by steps: by the rows' own slopes first,
then setting by setting, then in pairs that share a witness.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RtoslabError
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.calibrate.readings import Readings, Runs

REACH: Final = 12
"""How far from where it stands a setting is searched."""
WIDEST: Final = 8
"""How far a setting's range is followed to each side."""
_SAME: Final = 1e-9
_SLOPE_ROUNDS: Final = 3
Say = Callable[[str], None]
Values = dict[str, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """One setting."""

    key: str
    default: int
    best: int
    low: int
    high: int
    """What fits no worse than the noise, the others fitted anew: low to high."""
    seen: bool
    """Whether any row changes with it."""
    error_cycles: float
    """The largest difference that stays in a value of its witnesses."""

    @property
    def differs(self) -> bool:
        """Whether silicon refutes the default."""
        return self.seen and not self.low <= self.default <= self.high


@dataclass(frozen=True, slots=True)
class Fit:
    """All of it."""

    findings: tuple[Finding, ...]
    settings: Mapping[str, int]
    """Those that are not the defaults."""
    before_cycles: float
    after_cycles: float
    """Cost under the defaults, and under `settings`."""
    slack_cycles: float
    """Cost that noise alone makes."""


class _Search:
    """The cost of settings, and steps through them."""

    def __init__(self, table: CalibrationTable, silicon: Readings, runs: Runs, defaults: Mapping[str, int]) -> None:
        self.defaults = dict(defaults)
        self.runs = runs
        self.true = silicon.medians()
        keys = set(defaults)
        self.witnesses = {row.id: tuple(each for each in row.keys if each in keys) for row in table.row}
        self.rows = [row for row, of in self.witnesses.items() if of and row in self.true]
        self.keys = sorted({key for row in self.rows for key in self.witnesses[row]})
        errors = silicon.errors()
        self.slack = float(sum(np.mean(errors[row]) for row in self.rows))

    def readings(self, values: Mapping[str, int]) -> Readings | None:
        """None where the virtual board takes no such value."""
        changed = {key: value for key, value in values.items() if value != self.defaults[key]}
        try:
            return self.runs(changed)
        except RtoslabError:
            return None

    def cost(self, values: Mapping[str, int]) -> float:
        """In cycles."""
        found = self.readings(values)
        if found is None:
            return float("inf")
        said = found.medians()
        return float(sum(np.mean(np.abs(said[row] - self.true[row])) for row in self.rows))

    def residual(self, values: Mapping[str, int], rows: Sequence[str]) -> NDArray[np.float64]:
        """Silicon less the model, value by value."""
        found = self.readings(values)
        assert found is not None
        said = found.medians()
        return np.concatenate([self.true[row] - said[row] for row in rows])

    def moved(self, values: Values, key: str, by: int) -> Values:
        """One setting elsewhere."""
        return {**values, key: values[key] + by}

    def partners(self, key: str) -> list[str]:
        """Settings that share a witness with one."""
        shared = {other for row in self.rows if key in self.witnesses[row] for other in self.witnesses[row]}
        return sorted(shared - {key})


def fit(
    table: CalibrationTable, silicon: Readings, runs: Runs, defaults: Mapping[str, int], say: Say = lambda _: None
) -> Fit:
    """`defaults`: the settings that may be fitted, by their keys with `timing.`. Raises RtoslabError of the runs."""
    runs({})  # what is wrong with the image itself is said here
    search = _Search(table, silicon, runs, defaults)
    start = dict(search.defaults)
    seen = {key: _slope(search, start, key) is not None for key in search.keys}
    say(f"{sum(seen.values())} settings show in the rows; the search begins.")
    keys = [key for key in search.keys if seen[key]]
    best = _refined(search, _by_slopes(search, start, keys), keys, say)
    found = tuple(_finding(search, best, key, seen[key], keys) for key in search.keys)
    return Fit(
        found,
        {key: value for key, value in best.items() if value != search.defaults[key]},
        search.cost(start),
        search.cost(best),
        search.slack,
    )


def _slope(search: _Search, values: Values, key: str) -> NDArray[np.float64] | None:
    """What one more of a setting does to the rows; None if nothing."""
    rows = sorted(search.true)
    here = search.residual(values, rows)
    for by in (1, -1):
        if search.readings(search.moved(values, key, by)) is None:
            continue
        slope = (here - search.residual(search.moved(values, key, by), rows)) * by
        return slope if np.any(slope) else None
    return None


def _by_slopes(search: _Search, values: Values, keys: Sequence[str]) -> Values:
    """Whole steps to where the rows would agree if they were straight lines."""
    for _ in range(_SLOPE_ROUNDS):
        here = search.cost(values)
        if here <= search.slack + _SAME:
            break
        columns = []
        for key in keys:
            by = 1 if search.readings(search.moved(values, key, 1)) is not None else -1
            moved = search.residual(search.moved(values, key, by), search.rows)
            columns.append((search.residual(values, search.rows) - moved) * by)
        steps = np.linalg.lstsq(np.column_stack(columns), search.residual(values, search.rows), rcond=None)[0]
        tried = {**values, **{key: max(0, values[key] + round(step)) for key, step in zip(keys, steps, strict=True)}}
        if search.cost(tried) >= here:
            break
        values = tried
    return values


def _refined(search: _Search, values: Values, keys: Sequence[str], say: Say) -> Values:
    """Setting by setting, then in pairs, until nothing is better."""
    while search.cost(values) > search.slack + _SAME:
        here = search.cost(values)
        say(f"{here:.3f} cycles of difference are left; steps from here.")
        for key in keys:
            if _blamed(search, values, key):
                values = _line(search, values, key)
        if search.cost(values) >= here - _SAME:
            paired = min(_pairs(search, values, keys), key=search.cost, default=values)
            if search.cost(paired) >= here - _SAME:
                break
            values = paired
    return _home(search, values, keys)


def _home(search: _Search, values: Values, keys: Sequence[str]) -> Values:
    """The defaults where they do as well: nothing is accused without need."""
    for key in keys:
        tried = {**values, key: search.defaults[key]}
        if search.cost(tried) <= search.cost(values) + _SAME:
            values = tried
    return values


def _blamed(search: _Search, values: Values, key: str) -> bool:
    rows = [row for row in search.rows if key in search.witnesses[row]]
    return bool(np.any(search.residual(values, rows)))


def _line(search: _Search, values: Values, key: str) -> Values:
    """The best value of one setting within reach, the nearest of equals."""
    steps = sorted(range(-REACH, REACH + 1), key=abs)
    return min((search.moved(values, key, by) for by in steps if values[key] + by >= 0), key=search.cost)


def _pairs(search: _Search, values: Values, keys: Sequence[str]) -> Iterator[Values]:
    for key in keys:
        for other in search.partners(key):
            if other in keys and key < other and (_blamed(search, values, key) or _blamed(search, values, other)):
                for one, two in product(range(-3, 4), repeat=2):
                    if values[key] + one >= 0 and values[other] + two >= 0:
                        yield {**values, key: values[key] + one, other: values[other] + two}


def _finding(search: _Search, best: Values, key: str, seen: bool, keys: Sequence[str]) -> Finding:
    if not seen:
        return Finding(key, search.defaults[key], best[key], best[key], best[key], seen=False, error_cycles=0.0)
    most = search.cost(best) + search.slack + _SAME
    edges = []
    for sign in (-1, 1):
        at = best[key]
        while abs(at - best[key]) < WIDEST and at + sign >= 0 and _fits(search, best, key, at + sign, most, keys):
            at += sign
        edges.append(at)
    rows = [row for row in search.rows if key in search.witnesses[row]]
    error = float(np.max(np.abs(search.residual(best, rows))))
    return Finding(key, search.defaults[key], best[key], edges[0], edges[1], seen=True, error_cycles=error)


def _fits(search: _Search, best: Values, key: str, at: int, most: float, keys: Sequence[str]) -> bool:
    """Whether a value does as well, if those that share its witnesses give way by one."""
    moved = {**best, key: at}
    if search.cost(moved) <= most:
        return True
    return any(
        search.cost(search.moved(moved, other, by)) <= most
        for other in search.partners(key)
        if other in keys
        for by in (-1, 1)
        if moved[other] + by >= 0
    )


def unexplained(silicon: Readings, model: Readings) -> dict[str, float]:
    """Row -> its largest difference in cycles, of the rows that do not agree within three standard errors."""
    said, errors = model.medians(), silicon.errors()
    found = {}
    for row, true in silicon.medians().items():
        difference = np.abs(true - said[row])
        if np.any(difference > 3 * errors[row]):
            found[row] = float(np.max(difference))
    return found
