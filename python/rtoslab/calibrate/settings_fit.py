"""Settings under which the virtual board's rows say what silicon's say, and which others would do as well.

`search` finds the best ones. Other fits are followed from there: each setting alone as far as nothing gets worse, and
settings that compensate each other together. Their slopes show which ones do: those that are sums of others. Such a
group is judged as one: silicon refutes it if it does not fit with all its settings at their defaults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Final

import numpy as np

from rtoslab.base import count_text
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.calibrate.match import SAME, Match, Values, Vector
from rtoslab.calibrate.readings import Readings, Runs
from rtoslab.calibrate.search import search

_NEAR: Final = 8
"""Steps of a range that are taken one by one. Then they double."""
_FAR: Final = 1 << 10
"""More than any setting takes."""
_ROUNDED: Final = (1, 2, 3, 4, 8)
_MULTIPLES: Final = range(1, 7)
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One setting."""

    key: str
    default: int
    best: int
    low: int
    high: int
    """What fits no worse within the bounds of silicon's rounds: low to high."""
    seen: bool
    """Whether any row changes with it."""
    error_cycles: float
    """The largest difference that stays in a value of its witnesses."""
    unexplained_cycles: float
    """The largest that stays beyond what silicon's rounds leave open: if it is not 0, no value is the true one."""
    together: tuple[str, ...] = ()
    """Settings that make up for it, so that the rows tell them apart only together."""

    @property
    def differs(self) -> bool:
        """Whether silicon refutes the default."""
        return self.seen and not self.low <= self.default <= self.high


@dataclass(frozen=True, slots=True)
class Group:
    """Settings that the rows do not tell apart."""

    keys: tuple[str, ...]
    differs: bool
    """Whether silicon refutes that all of them have their defaults."""


@dataclass(frozen=True, slots=True)
class Fit:
    """All of it."""

    findings: tuple[Finding, ...]
    groups: tuple[Group, ...]
    settings: Mapping[str, int]
    """Those that are not the defaults."""
    before_cycles: float
    after_cycles: float
    """Cost under the defaults, and under `settings`."""
    slack_cycles: float
    """What silicon's rounds themselves leave open."""


def fit(
    table: CalibrationTable, silicon: Readings, runs: Runs, defaults: Mapping[str, int], say: Say = lambda _: None
) -> Fit:
    """`defaults`: the settings that may be fitted, by their keys with `timing.`. Raises RtoslabError of the runs."""
    runs({})  # what is wrong with the image itself is said here
    match = Match(table, silicon, runs, defaults)
    start = dict(match.defaults)
    seen = [key for key in match.keys if match.shows(start, key)]
    say(f"{count_text(len(seen), 'setting', 'shows', 'show')} in the rows; the search begins.")
    best = search(match, seen, say)
    ranges = {key: _range_alone(match, best, key) for key in seen}
    groups: list[Group] = []
    for trade in [*_trades(match, best, seen), *_steps_for_one(match, best, seen)]:
        points = _along(match, best, trade)
        if len(points) > 1 and not any(set(group.keys) == set(trade) for group in groups):
            best = min(points, key=lambda point: (len(match.changed_settings(point)), _distance(match, point)))
            differs = not any(all(point[key] == match.defaults[key] for key in trade) for point in points)
            groups.append(Group(tuple(trade), differs))
            for key in trade:
                ranges[key] = _hull(ranges[key], [point[key] for point in points])
    return Fit(
        tuple(_finding(match, best, key, ranges.get(key), groups) for key in sorted(defaults)),
        tuple(groups),
        {key: best[key] for key in match.changed_settings(best)},
        match.cost(start),
        match.cost(best),
        match.slack(),
    )


def _range_alone(match: Match, best: Values, key: str) -> tuple[int, int]:
    """Lowest and highest value that does as well, nothing else moved."""
    return best[key] - _reach(match, best, {key: -1}), best[key] + _reach(match, best, {key: 1})


def _reach(match: Match, best: Values, steps: Mapping[str, int]) -> int:
    """How often one can go by steps without getting worse."""

    def good(times: int) -> bool:
        return _as_good(match, best, {key: times * by for key, by in steps.items()})

    for times in range(_NEAR):
        if not good(times + 1):
            return times
    low, high = _NEAR, 2 * _NEAR
    while high < _FAR and good(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def _trades(match: Match, best: Values, keys: Sequence[str]) -> list[dict[str, int]]:
    """Steps of several settings at once that cancel, by their slopes."""
    independent: dict[str, Vector] = {}
    trades = []
    for key in keys:
        slope = next((item for by in (1, -1) if (item := match.slope(best, key, by)) is not None), None)
        if slope is None:
            continue
        if independent:
            columns = np.column_stack(list(independent.values()))
            parts = np.linalg.lstsq(columns, slope, rcond=None)[0]
            if np.allclose(columns @ parts, slope, atol=1e-6):
                trade = _whole([*zip(independent, -parts, strict=True), (key, 1.0)])
                trades += [trade] if trade else []
                continue
        independent[key] = slope
    return trades


def _whole(parts: list[tuple[str, float]]) -> dict[str, int] | None:
    """Returns the ratios as integral steps, without those of zero. None if no small multiple is integral."""
    for multiple in _MULTIPLES:
        steps = {key: multiple * part for key, part in parts if abs(part) > SAME**0.5}
        if all(abs(step - round(step)) < 1e-3 for step in steps.values()):
            return {key: round(step) for key, step in steps.items()}
    return None


def _steps_for_one(match: Match, best: Values, keys: Sequence[str]) -> list[dict[str, int]]:
    """Steps of one setting that do what one of another does, as far as silicon's rounds tell: what slopes do not show
    where rounding is between, as to the clock of a slower bus, or where the rounds differ."""
    result = []
    for one, other in permutations(keys, 2):
        if not match.shares(one, other):
            continue
        alike = np.array_equal(match.witnessed[one], match.witnessed[other])
        for steps, sign in product(_ROUNDED, (1, -1)):
            trade = {one: -sign * steps, other: sign}
            if (alike or match.promises(best, trade)) and _is_trade(match, best, trade):
                result.append(trade)
                break
    return result


def _is_trade(match: Match, best: Values, trade: Mapping[str, int]) -> bool:
    """Whether steps are as good together and none of them is alone."""
    return _as_good(match, best, trade) and not any(_as_good(match, best, {key: by}) for key, by in trade.items())


def _as_good(match: Match, best: Values, steps: Mapping[str, int]) -> bool:
    tried = {**best, **{key: best[key] + by for key, by in steps.items()}}
    return min(tried.values()) >= 0 and match.excess(tried) <= match.excess(best) + SAME


def _along(match: Match, best: Values, trade: Mapping[str, int]) -> list[Values]:
    """Returns where a trade leads to both sides without a worse fit."""
    back, on = (_reach(match, best, {key: sign * step for key, step in trade.items()}) for sign in (-1, 1))
    places = range(-back, on + 1)
    return [{**best, **{key: best[key] + times * step for key, step in trade.items()}} for times in places]


def _distance(match: Match, values: Values) -> int:
    return sum(abs(value - match.defaults[key]) for key, value in values.items())


def _hull(edges: tuple[int, int], values: Sequence[int]) -> tuple[int, int]:
    return min(edges[0], *values), max(edges[1], *values)


def _finding(match: Match, best: Values, key: str, edges: tuple[int, int] | None, groups: Sequence[Group]) -> Finding:
    default = match.defaults[key]
    if edges is None:
        return Finding(key, default, default, default, default, seen=False, error_cycles=0.0, unexplained_cycles=0.0)
    together = sorted({other for group in groups if key in group.keys for other in group.keys} - {key})
    error, left = match.error(best, key), match.unexplained_cycles(best, key)
    return Finding(key, default, best[key], *edges, True, error, left if left > SAME else 0.0, tuple(together))


def unexplained_rows(silicon: Readings, model: Readings) -> dict[str, float]:
    """Row -> its largest difference in cycles beyond the bounds of silicon's rounds, of the rows that have one."""
    simulated, bounds, result = model.centres(), silicon.bounds(), {}
    for row, (low, high) in bounds.items():
        worst = float(np.max(np.maximum(low - simulated[row], 0) + np.maximum(simulated[row] - high, 0)))
        if worst > 0:
            result[row] = worst
    return result
