"""The search for the settings that match silicon best, in whole steps from the defaults.

Each step changes one setting, the one that explains most: how far it must go is read off its slope (the weighted median
of the differences in units of the slope, which makes their absolute sum least), and runs of the virtual board decide.
If no single setting helps, two that share a witness are moved together. At the end each change is taken back that is
not needed: of settings that do as well, those with the fewest changes are the answer."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Final

import numpy as np

from rtoslab.calibrate.match import SAME, Match, Values, Vector, with_moved

REACH: Final = 12
"""How far a setting is searched where its slope does not tell."""
_STEPS: Final = 24
_PAIRS: Final = 12
"""Pairs that are run, of those that promise most."""
_NEAR: Final = range(-4, 5)
Say = Callable[[str], None]
Slopes = dict[str, dict[int, Vector]]
"""Setting -> 1 or -1 -> what a step that way does, a unit of it."""


def search(match: Match, keys: Sequence[str], say: Say) -> Values:
    """Searches from the defaults to the best values of `keys`."""
    best = _steps(match, keys, say)
    if match.excess(best) > SAME:
        # A first step may have led astray: once more without each setting that was changed.
        for wrong in match.changed_settings(best):
            say(f"Another way, with {wrong} as it is.")
            best = min(best, _steps(match, [key for key in keys if key != wrong], say), key=match.score)
    return _nearest(match, _home(match, best, keys))


def _steps(match: Match, keys: Sequence[str], say: Say) -> Values:
    values = dict(match.defaults)
    for _ in range(_STEPS):
        if match.excess(values) <= SAME:
            break
        say(f"{match.excess(values):.3f} cycles of difference are left; the next step.")
        better = _step(match, values, keys)
        if better is None:
            break
        values = better
    return values


def _step(match: Match, values: Values, keys: Sequence[str]) -> Values | None:
    slopes = _slopes(match, values, keys)
    for candidates in (_singles(match, values, slopes), _pairs(match, values, slopes), _lines(values, slopes)):
        best = min(candidates, key=match.score, default=values)
        if match.score(best) < match.score(values):
            return _further(match, values, best)
    return None


def _slopes(match: Match, values: Values, keys: Sequence[str]) -> Slopes:
    """Returns the slopes of the settings that could explain a remaining difference."""
    left = _residual(match, values)
    slopes = {}
    for key in keys:
        open_values = (left != 0) & match.witnessed[key]
        if not np.any(open_values):
            continue
        ways = {by: slope for by in (1, -1) if (slope := match.slope(values, key, by)) is not None}
        if any(np.any((slope != 0) & open_values) for slope in ways.values()):
            slopes[key] = ways
    return slopes


def _residual(match: Match, values: Values) -> Vector:
    simulated = match.simulated(values)
    assert simulated is not None
    return match.true - simulated


def _singles(match: Match, values: Values, slopes: Slopes) -> Iterator[Values]:
    left = _residual(match, values)
    for key, ways in slopes.items():
        both = [(ways[1] + ways[-1]) / 2] if len(ways) == 2 else []
        targets = {_weighted_median(left, slope, match.weight) for slope in [*ways.values(), *both]}
        for by in sorted(targets | {1, -1}):
            if by and abs(by) <= 10 * REACH and values[key] + by >= 0:
                yield with_moved(values, key, by)


def _weighted_median(left: Vector, slope: Vector, weight: Vector) -> int:
    """The step that makes the sum of weight · |left - step · slope| least."""
    where = np.flatnonzero(slope)
    steps, weights = left[where] / slope[where], (weight * np.abs(slope))[where]
    order = np.argsort(steps)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return round(float(steps[order][min(int(half), len(order) - 1)]))


def _pairs(match: Match, values: Values, slopes: Slopes) -> Iterator[Values]:
    """Two settings together: of the steps that promise most by the slopes, the best few."""
    left, promised = _residual(match, values), []
    for one, other in combinations(slopes, 2):
        if not match.shares(one, other):
            continue
        for a, b in product(_NEAR, repeat=2):
            first, second = slopes[one].get(int(np.sign(a))), slopes[other].get(int(np.sign(b)))
            if first is not None and second is not None and values[one] + a >= 0 and values[other] + b >= 0:
                cost = float(match.weight @ np.abs(left - a * first - b * second))
                promised.append((cost, abs(a) + abs(b), one, a, other, b))
    for _, _, one, a, other, b in sorted(promised)[:_PAIRS]:
        yield with_moved(with_moved(values, one, a), other, b)


def _lines(values: Values, slopes: Slopes) -> Iterator[Values]:
    """Every value of one setting within reach, where what it does is no straight line."""
    for key in slopes:
        for by in range(-REACH, REACH + 1):
            if by and values[key] + by >= 0:
                yield with_moved(values, key, by)


def _further(match: Match, before: Values, values: Values) -> Values:
    """Continues in the same direction as long as that helps."""
    direction = {key: int(np.sign(values[key] - before[key])) for key in values}
    while True:
        on = {key: value + direction[key] for key, value in values.items()}
        if min(on.values()) < 0 or match.score(on) >= match.score(values):
            return values
        values = on


def _home(match: Match, values: Values, keys: Sequence[str]) -> Values:
    """Without the changes that are not needed, and without those that one other setting makes up for."""
    again = True
    while again:
        again = False
        for key in match.changed_settings(values):
            tried = {**values, key: match.defaults[key]}
            if match.excess(tried) > match.excess(values) + SAME:
                tried = _combine(match, values, tried, [other for other in keys if match.shares(key, other)])
            fewer = len(match.changed_settings(tried)) < len(match.changed_settings(values))
            if fewer and match.excess(tried) <= match.excess(values) + SAME:
                values, again = tried, True
                break
    return values


def _combine(match: Match, values: Values, tried: Values, keys: Sequence[str]) -> Values:
    """`tried`, if need be with one setting of `keys` moved so that it is as good as `values`."""
    slopes = _slopes(match, tried, keys)
    for candidates in (_singles(match, tried, slopes), _lines(tried, slopes)):
        best = min(candidates, key=match.score, default=tried)
        if match.excess(best) <= match.excess(values) + SAME:
            return best
    return tried


def _nearest(match: Match, values: Values) -> Values:
    """Returns the values nearest to the defaults, among those that fit as well."""
    for key in match.changed_settings(values):
        towards = 1 if values[key] < match.defaults[key] else -1
        while match.excess(with_moved(values, key, towards)) <= match.excess(values) + SAME:
            values = with_moved(values, key, towards)
            if values[key] == match.defaults[key]:
                break
    return values
