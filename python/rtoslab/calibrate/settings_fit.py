"""Finds the settings under which the virtual board's rows equal silicon's, and others that fit as well.

`search` finds the best ones. Other fits are followed from there: each setting alone as far as nothing gets worse, and
settings that compensate each other together. Their slopes show which ones do: those that are sums of others. Such a
group is judged as one: silicon refutes it if it does not fit with all its settings at their defaults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Final

import numpy as np

from rtoslab.base import count_with_noun
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.calibrate.match import TOLERANCE_CYCLES, SettingValues, SiliconTimingComparator, Vector
from rtoslab.calibrate.readings import CalibrationReadings, RunSettings, require_same_rows
from rtoslab.calibrate.search import search_best_settings

_NEAR: Final = 8
"""So many steps of a range are tested one by one. Then their size doubles."""
_FAR: Final = 1 << 10
"""More than the largest value of any setting."""
_ROUNDED: Final = (1, 2, 3, 4, 8)
_MULTIPLES: Final = range(1, 7)
EMPTY_ROW: Final = "ruler"
"""The calibration row that measures nothing."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TimingSettingFitResult:
    """The result of the fit for one timing setting: its best value and range."""

    key: str
    default: int
    best: int
    low: int
    high: int
    """The values from low to high fit no worse within the bounds of silicon's rounds."""
    has_effect: bool
    """Whether any row changes with it."""
    error_cycles: float
    """The largest remaining difference in a value of its witnesses."""
    unexplained_cycles: float
    """The largest remaining difference beyond silicon's bounds. If it is not 0, no value of the setting explains it."""
    together: tuple[str, ...] = ()
    """Settings that compensate it: the rows show only their common effect."""

    @property
    def does_silicon_refute_setting_default(self) -> bool:
        """Whether silicon refutes the setting's default."""
        return self.has_effect and not self.low <= self.default <= self.high


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """Timing settings that compensate each other, so that only their common effect can be measured."""

    keys: tuple[str, ...]
    differs: bool
    """Whether silicon refutes that all of them have their defaults."""


@dataclass(frozen=True, slots=True)
class BoardTimingFitResult:
    """The result of a fit of all timing settings to silicon."""

    findings: tuple[TimingSettingFitResult, ...]
    groups: tuple[SettingGroup, ...]
    settings: Mapping[str, int]
    """The fitted settings that differ from the defaults."""
    before_cycles: float
    after_cycles: float
    """Cost under the defaults, and under `settings`."""
    slack_cycles: float
    """The width of the bounds of silicon's rounds."""


def calibrate_timing_settings_to_silicon(
    table: CalibrationTable,
    silicon: CalibrationReadings,
    runs: RunSettings,
    defaults: Mapping[str, int],
    say: Say = lambda _: None,
) -> BoardTimingFitResult:
    """Returns the timing settings under which the virtual board matches silicon best, and the range of each.
    `defaults`: keys begin with `timing.`.

    `runs`: runs the virtual board. Raises the errors of the runs, and RunError if silicon's readings lack rows, values
    or rounds.
    """
    require_same_rows(silicon, runs({}))
    match = SiliconTimingComparator(table, silicon, runs, defaults)
    start = dict(match.defaults)
    seen = [key for key in match.keys if match.does_setting_have_effect(start, key)]
    say(f"{count_with_noun(len(seen), 'setting', 'affects', 'affect')} the rows; the search begins.")
    best = search_best_settings(match, seen, say)
    ranges = {key: _setting_range_with_others_fixed(match, best, key) for key in seen}
    groups: list[SettingGroup] = []
    for trade in [
        *_mutually_cancelling_setting_steps(match, best, seen),
        *_cancelling_setting_pairs_by_runs(match, best, seen),
    ]:
        points = _equivalent_settings(match, best, trade)
        if len(points) > 1 and not any(set(group.keys) == set(trade) for group in groups):
            best = min(
                points,
                key=lambda point: (
                    len(match.keys_of_changed_settings(point)),
                    _settings_distance_from_defaults(match, point),
                ),
            )
            differs = not any(all(point[key] == match.defaults[key] for key in trade) for point in points)
            groups.append(SettingGroup(tuple(trade), differs))
            for key in trade:
                ranges[key] = _extend_range_to_contain(ranges[key], [point[key] for point in points])
    return BoardTimingFitResult(
        tuple(_make_finding(match, best, key, ranges.get(key), groups) for key in sorted(defaults)),
        tuple(groups),
        {key: best[key] for key in match.keys_of_changed_settings(best)},
        match.total_difference_cycles(start),
        match.total_difference_cycles(best),
        match.total_width_of_silicon_cycle_bounds(),
    )


def _setting_range_with_others_fixed(match: SiliconTimingComparator, best: SettingValues, key: str) -> tuple[int, int]:
    """Returns the lowest and the highest value of a setting that match as well, while all others keep their values."""
    return best[key] - _count_harmless_setting_steps(match, best, {key: -1}), best[key] + _count_harmless_setting_steps(
        match, best, {key: 1}
    )


def _count_harmless_setting_steps(match: SiliconTimingComparator, best: SettingValues, steps: Mapping[str, int]) -> int:
    """Returns how often the changes `steps` can be made together before the match gets worse."""

    def is_silicon_match_as_good(times: int) -> bool:
        """Whether the match is as good after the changes are made this many times."""
        return _is_silicon_match_not_worse(match, best, {key: times * by for key, by in steps.items()})

    for times in range(_NEAR):
        if not is_silicon_match_as_good(times + 1):
            return times
    low, high = _NEAR, 2 * _NEAR
    while high < _FAR and is_silicon_match_as_good(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_silicon_match_as_good(middle) else (low, middle)
    return low


def _mutually_cancelling_setting_steps(
    match: SiliconTimingComparator, best: SettingValues, keys: Sequence[str]
) -> list[dict[str, int]]:
    """Returns changes of several settings whose effects cancel each other, by their slopes. Each is a mapping of
    setting -> steps."""
    independent: dict[str, Vector] = {}
    trades = []
    for key in keys:
        slope = next((item for by in (1, -1) if (item := match.setting_effect(best, key, by)) is not None), None)
        if slope is None:
            continue
        if independent:
            columns = np.column_stack(list(independent.values()))
            parts = np.linalg.lstsq(columns, slope, rcond=None)[0]
            if np.allclose(columns @ parts, slope, atol=1e-6):
                trade = _scale_setting_steps_to_integers([*zip(independent, -parts, strict=True), (key, 1.0)])
                trades += [trade] if trade else []
                continue
        independent[key] = slope
    return trades


def _scale_setting_steps_to_integers(parts: list[tuple[str, float]]) -> dict[str, int] | None:
    """Returns the steps of settings as whole numbers with the same ratios. None if no small multiple is whole."""
    for multiple in _MULTIPLES:
        steps = {key: multiple * part for key, part in parts if abs(part) > TOLERANCE_CYCLES**0.5}
        if all(abs(step - round(step)) < 1e-3 for step in steps.values()):
            return {key: round(step) for key, step in steps.items()}
    return None


def _cancelling_setting_pairs_by_runs(
    match: SiliconTimingComparator, best: SettingValues, keys: Sequence[str]
) -> list[dict[str, int]]:
    """Returns pairs of changes, where one setting cancels the change of another, which are found by runs.

    Slopes do not show them if values are rounded, as to the clock of a slower bus, or if the rounds differ.
    """
    result = []
    for one, other in permutations(keys, 2):
        if not match.do_settings_affect_same_measured_value(one, other):
            continue
        alike = np.array_equal(match.witnessed[one], match.witnessed[other])
        for steps, sign in product(_ROUNDED, (1, -1)):
            trade = {one: -sign * steps, other: sign}
            if (
                alike or match.does_linear_estimate_keep_timing_match(best, trade)
            ) and _do_timing_setting_changes_cancel_out(match, best, trade):
                result.append(trade)
                break
    return result


def _do_timing_setting_changes_cancel_out(
    match: SiliconTimingComparator, best: SettingValues, trade: Mapping[str, int]
) -> bool:
    """Whether the changes together leave the match as good, while each of them alone makes it worse."""
    return _is_silicon_match_not_worse(match, best, trade) and not any(
        _is_silicon_match_not_worse(match, best, {key: by}) for key, by in trade.items()
    )


def _is_silicon_match_not_worse(match: SiliconTimingComparator, best: SettingValues, steps: Mapping[str, int]) -> bool:
    """Whether the match is as good after these changes of settings."""
    tried = {**best, **{key: best[key] + by for key, by in steps.items()}}
    return (
        min(tried.values()) >= 0
        and match.cycles_outside_bounds(tried) <= match.cycles_outside_bounds(best) + TOLERANCE_CYCLES
    )


def _equivalent_settings(
    match: SiliconTimingComparator, best: SettingValues, trade: Mapping[str, int]
) -> list[SettingValues]:
    """Returns the settings that are reached by making the changes `trade` again and again, in both directions, while
    the match stays as good."""
    back, on = (
        _count_harmless_setting_steps(match, best, {key: sign * step for key, step in trade.items()})
        for sign in (-1, 1)
    )
    places = range(-back, on + 1)
    return [{**best, **{key: best[key] + times * step for key, step in trade.items()}} for times in places]


def _settings_distance_from_defaults(match: SiliconTimingComparator, values: SettingValues) -> int:
    """Returns by how much all settings together differ from their defaults."""
    return sum(abs(value - match.defaults[key]) for key, value in values.items())


def _extend_range_to_contain(edges: tuple[int, int], values: Sequence[int]) -> tuple[int, int]:
    """Returns the range (lowest, highest), extended so that it contains the values."""
    return min(edges[0], *values), max(edges[1], *values)


def _make_finding(
    match: SiliconTimingComparator,
    best: SettingValues,
    key: str,
    edges: tuple[int, int] | None,
    groups: Sequence[SettingGroup],
) -> TimingSettingFitResult:
    """Returns the result of the fit for one setting. `edges`: its lowest and highest value, or None if it affects no
    row."""
    default = match.defaults[key]
    if edges is None:
        return TimingSettingFitResult(
            key, default, default, default, default, has_effect=False, error_cycles=0.0, unexplained_cycles=0.0
        )
    together = sorted({other for group in groups if key in group.keys for other in group.keys} - {key})
    error, left = match.largest_error_cycles(best, key), match.unexplained_cycles(best, key)
    return TimingSettingFitResult(
        key, default, best[key], *edges, True, error, left if left > TOLERANCE_CYCLES else 0.0, tuple(together)
    )


def counter_difference_cycles(silicon: CalibrationReadings, model: CalibrationReadings) -> float:
    """Returns by how many cycles the virtual board's empty row is outside silicon's bounds. 0 without such a row.

    The empty row is two readings of the cycle counter with nothing between them. If it differs, the two counters do
    not measure alike, and the same difference is in every other row.
    """
    empty = CalibrationReadings({row: readings for row, readings in silicon.rows.items() if row == EMPTY_ROW})
    return calibration_rows_outside_bounds(empty, model).get(EMPTY_ROW, 0.0)


def calibration_rows_outside_bounds(silicon: CalibrationReadings, model: CalibrationReadings) -> dict[str, float]:
    """Returns the calibration rows in which the virtual board's values are outside silicon's bounds, each with the
    largest distance.

    Distances are in cycles.
    """
    simulated, bounds, result = model.most_probable_readings(), silicon.calibration_reading_bounds(), {}
    for row, (low, high) in bounds.items():
        worst = float(np.max(np.maximum(low - simulated[row], 0) + np.maximum(simulated[row] - high, 0)))
        if worst > 0:
            result[row] = worst
    return result
