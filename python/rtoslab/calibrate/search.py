"""The search for the settings that match silicon best, in whole steps from the defaults.

Each step changes one setting, the one that explains most: how far it must go is read off its slope (the weighted median
of the differences in units of the slope, which makes their absolute sum least), and runs of the virtual board decide.
If no single setting helps, two that share a witness are moved together. At the end each change is taken back that is
not needed: of settings that do as well, those with the fewest changes are the answer."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Final

import numpy as np

from rtoslab.calibrate.match import (
    TOLERANCE_CYCLES,
    SettingValues,
    SiliconTimingComparator,
    Vector,
    with_changed_setting,
)

REACH: Final = 12
"""The range of the search for a setting without a usable slope."""
_STEPS: Final = 24
_PAIRS: Final = 12
"""The number of most promising pairs that are run."""
_NEAR: Final = range(-4, 5)
Say = Callable[[str], None]
Slopes = dict[str, dict[int, Vector]]
"""Setting -> 1 or -1 -> the change of each value by a step in this direction."""


def search_best_settings(match: SiliconTimingComparator, keys: Sequence[str], say: Say) -> SettingValues:
    """Returns the values of all settings that match silicon best. Only those named in `keys` are changed. `say`: is
    told the progress."""
    best = _search_settings_step_by_step(match, keys, say)
    if match.cycles_outside_bounds(best) > TOLERANCE_CYCLES:
        # A first step may have been wrong, so the search runs again without each changed setting.
        for wrong in match.keys_of_changed_settings(best):
            say(f"Searching again, with the default of {wrong}.")
            best = min(
                best,
                _search_settings_step_by_step(match, [key for key in keys if key != wrong], say),
                key=match.silicon_mismatch_score,
            )
    return _move_settings_towards_defaults(match, _drop_unneeded_setting_changes(match, best, keys))


def _search_settings_step_by_step(match: SiliconTimingComparator, keys: Sequence[str], say: Say) -> SettingValues:
    """Returns settings that are improved from the defaults, step by step, until no change gives a better match."""
    values = dict(match.defaults)
    for _ in range(_STEPS):
        if match.cycles_outside_bounds(values) <= TOLERANCE_CYCLES:
            break
        say(f"Remaining difference: {match.cycles_outside_bounds(values):.3f} cycles.")
        better = _find_better_settings(match, values, keys)
        if better is None:
            break
        values = better
    return values


def _find_better_settings(
    match: SiliconTimingComparator, values: SettingValues, keys: Sequence[str]
) -> SettingValues | None:
    """Returns settings that match silicon better after one change. None if no change helps."""
    slopes = _timing_effects_of_setting_steps(match, values, keys)
    for candidates in (
        _timing_settings_with_one_change(match, values, slopes),
        _pairs_of_setting_changes(match, values, slopes),
        _setting_changes_within_step_limit(values, slopes),
    ):
        best = min(candidates, key=match.silicon_mismatch_score, default=values)
        if match.silicon_mismatch_score(best) < match.silicon_mismatch_score(values):
            return _repeat_setting_change_while_fit_improves(match, values, best)
    return None


def _timing_effects_of_setting_steps(
    match: SiliconTimingComparator, values: SettingValues, keys: Sequence[str]
) -> Slopes:
    """Returns, for each setting that could explain a remaining difference, how a step up and a step down changes the
    values."""
    left = _silicon_minus_virtual_board_values(match, values)
    slopes = {}
    for key in keys:
        open_values = (left != 0) & match.witnessed[key]
        if not np.any(open_values):
            continue
        ways = {by: slope for by in (1, -1) if (slope := match.setting_effect(values, key, by)) is not None}
        if any(np.any((slope != 0) & open_values) for slope in ways.values()):
            slopes[key] = ways
    return slopes


def _silicon_minus_virtual_board_values(match: SiliconTimingComparator, values: SettingValues) -> Vector:
    """Returns silicon's values minus those of the virtual board under these settings."""
    simulated = match.values_measured_on_virtual_board(values)
    assert simulated is not None
    return match.silicon_values - simulated


def _timing_settings_with_one_change(
    match: SiliconTimingComparator, values: SettingValues, slopes: Slopes
) -> Iterator[SettingValues]:
    """Yields the settings with one of them changed, as far as its slope suggests."""
    left = _silicon_minus_virtual_board_values(match, values)
    for key, ways in slopes.items():
        both = [(ways[1] + ways[-1]) / 2] if len(ways) == 2 else []
        targets = {_best_step_count_by_weighted_median(left, slope, match.weights) for slope in [*ways.values(), *both]}
        for by in sorted(targets | {1, -1}):
            if by and abs(by) <= 10 * REACH and values[key] + by >= 0:
                yield with_changed_setting(values, key, by)


def _best_step_count_by_weighted_median(left: Vector, slope: Vector, weight: Vector) -> int:
    """Returns the whole number of steps that makes the sum of weight times |left - steps times slope| least."""
    where = np.flatnonzero(slope)
    steps, weights = left[where] / slope[where], (weight * np.abs(slope))[where]
    order = np.argsort(steps)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return round(float(steps[order][min(int(half), len(order) - 1)]))


def _pairs_of_setting_changes(
    match: SiliconTimingComparator, values: SettingValues, slopes: Slopes
) -> Iterator[SettingValues]:
    """Yields the settings with two of them changed together, where a linear estimate promises most first."""
    left, promised = _silicon_minus_virtual_board_values(match, values), []
    for one, other in combinations(slopes, 2):
        if not match.do_settings_affect_same_measured_value(one, other):
            continue
        for a, b in product(_NEAR, repeat=2):
            first, second = slopes[one].get(int(np.sign(a))), slopes[other].get(int(np.sign(b)))
            if first is not None and second is not None and values[one] + a >= 0 and values[other] + b >= 0:
                cost = float(match.weights @ np.abs(left - a * first - b * second))
                promised.append((cost, abs(a) + abs(b), one, a, other, b))
    for _, _, one, a, other, b in sorted(promised)[:_PAIRS]:
        yield with_changed_setting(with_changed_setting(values, one, a), other, b)


def _setting_changes_within_step_limit(values: SettingValues, slopes: Slopes) -> Iterator[SettingValues]:
    """Yields the settings with one of them changed by each number of steps up to REACH, since effects may not be
    linear."""
    for key in slopes:
        for by in range(-REACH, REACH + 1):
            if by and values[key] + by >= 0:
                yield with_changed_setting(values, key, by)


def _repeat_setting_change_while_fit_improves(
    match: SiliconTimingComparator, before: SettingValues, values: SettingValues
) -> SettingValues:
    """Repeats the change from `before` to `values` as long as it helps. Returns the best settings."""
    direction = {key: int(np.sign(values[key] - before[key])) for key in values}
    while True:
        on = {key: value + direction[key] for key, value in values.items()}
        if min(on.values()) < 0 or match.silicon_mismatch_score(on) >= match.silicon_mismatch_score(values):
            return values
        values = on


def _drop_unneeded_setting_changes(
    match: SiliconTimingComparator, values: SettingValues, keys: Sequence[str]
) -> SettingValues:
    """Returns the settings with fewer changes from the defaults, if the match stays as good. One other setting may
    replace a change."""
    again = True
    while again:
        again = False
        for key in match.keys_of_changed_settings(values):
            tried = {**values, key: match.defaults[key]}
            if match.cycles_outside_bounds(tried) > match.cycles_outside_bounds(values) + TOLERANCE_CYCLES:
                tried = _compensate_timing_setting_change(
                    match,
                    values,
                    tried,
                    [other for other in keys if match.do_settings_affect_same_measured_value(key, other)],
                )
            fewer = len(match.keys_of_changed_settings(tried)) < len(match.keys_of_changed_settings(values))
            if fewer and match.cycles_outside_bounds(tried) <= match.cycles_outside_bounds(values) + TOLERANCE_CYCLES:
                values, again = tried, True
                break
    return values


def _compensate_timing_setting_change(
    match: SiliconTimingComparator, values: SettingValues, tried: SettingValues, keys: Sequence[str]
) -> SettingValues:
    """Returns the settings `tried`, with one of `keys` changed if the match then is as good as with `values`."""
    slopes = _timing_effects_of_setting_steps(match, tried, keys)
    for candidates in (
        _timing_settings_with_one_change(match, tried, slopes),
        _setting_changes_within_step_limit(tried, slopes),
    ):
        best = min(candidates, key=match.silicon_mismatch_score, default=tried)
        if match.cycles_outside_bounds(best) <= match.cycles_outside_bounds(values) + TOLERANCE_CYCLES:
            return best
    return tried


def _move_settings_towards_defaults(match: SiliconTimingComparator, values: SettingValues) -> SettingValues:
    """Returns the settings, each changed one moved towards its default as far as the match stays as good."""
    for key in match.keys_of_changed_settings(values):
        towards = 1 if values[key] < match.defaults[key] else -1
        while (
            match.cycles_outside_bounds(with_changed_setting(values, key, towards))
            <= match.cycles_outside_bounds(values) + TOLERANCE_CYCLES
        ):
            values = with_changed_setting(values, key, towards)
            if values[key] == match.defaults[key]:
                break
    return values
