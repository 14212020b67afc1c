"""Rules for claims on values picked by their axes. Each gives an outcome (None: cannot be told) and the numbers seen.

Values of time that differ by no more than the paper's instrument could tell are equal: a statement that one is larger
is then a tie, neither confirmed nor contradicted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, Literal

from rtoslab.analyses.axis_values import TIME_S, Value
from rtoslab.base import counted
from rtoslab.catalogue import Claim

Told = Literal["same", "different", "tie"]
Judged = tuple[Told | None, str]


@dataclass(frozen=True, slots=True)
class Picked:
    """The values that lie at one place of a claim's `of`."""

    where: Mapping[str, str | int]
    values: Sequence[Value]

    @property
    def name(self) -> str:
        """The place in words."""
        words = (counted(int(place), "core") if axis == "cores" else str(place) for axis, place in self.where.items())
        return ", ".join(words) or "all"


def worst(told: Sequence[Told]) -> Told:
    """Of several that must all hold: one contradiction contradicts, one tie leaves it open."""
    return "different" if "different" in told else "tie" if "tie" in told else "same"


def larger(high: float, low: float, resolution: float) -> Told:
    """Whether `high` is the larger one."""
    if abs(high - low) <= resolution:
        return "tie"
    return "same" if high > low else "different"


def _yes(holds: bool) -> Told:
    return "same" if holds else "different"


def _resolution(value: Value, resolution_s: float) -> float:
    """The paper's resolution in the value's unit; 0 for what is no time."""
    if value.unit == "cycles":
        return resolution_s * value.clock_hz
    return resolution_s / TIME_S[value.unit] if value.unit in TIME_S else 0.0


Rule = Callable[[Claim, Sequence[float], float], Told]
"""(claim, the values in one unit, the resolution in that unit)"""
Judge = Callable[[Claim, Sequence[Picked], float], Judged]
"""(claim, the values, the resolution of the paper's instrument in seconds)"""


def _one_each(rule: Rule) -> Judge:
    """A rule on exactly one value at each place."""

    def judge(claim: Claim, picked: Sequence[Picked], resolution_s: float) -> Judged:
        for each in picked:
            if len(each.values) != 1:
                return None, f"{each.name}: {'not yet measured' if not each.values else 'several values'}"
        first = picked[0].values[0]
        numbers = [each.values[0].in_unit(first.unit) for each in picked]
        told = [number for number in numbers if number is not None]
        if len(told) != len(numbers):
            return None, "the values are of different quantities"
        seen = ", ".join(f"{each.name} {_number(number)}" for each, number in zip(picked, told, strict=True))
        return rule(claim, told, _resolution(first, resolution_s)), f"{seen} {first.unit}"

    return judge


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.4g}"


def _ascending(claim: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """Each value is larger than the one before; with `bound`, by more than that part of it."""
    told = [larger(high, low, resolution) for low, high in pairwise(numbers)]
    return worst(
        [*told, _yes(all(high > low * (1 + claim.bound) for low, high in pairwise(numbers)))] if claim.bound else told
    )


def _not_longer(_: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """Each value is at most the next one."""
    return worst([_yes(low <= high + resolution) for low, high in pairwise(numbers)])


def _least(claim: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """The first `leaders` values are smaller than all others."""
    leaders, others = numbers[: claim.leaders], numbers[claim.leaders :]
    return larger(min(others), max(leaders), resolution)


def _most(claim: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """The first `leaders` values are larger than all others."""
    leaders, others = numbers[: claim.leaders], numbers[claim.leaders :]
    return larger(min(leaders), max(others), resolution)


def _ratio(claim: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """The first value is at least `bound` times the second; of bound 1, it is the larger one."""
    if claim.bound == 1:
        return larger(numbers[0], numbers[1], resolution)
    return _yes(numbers[0] + resolution >= claim.bound * numbers[1])


def _ratio_less(_: Claim, numbers: Sequence[float], __: float) -> Told:
    """The first value is a smaller part of the second than the third is of the fourth."""
    first, second = numbers[0] / numbers[1], numbers[2] / numbers[3]
    return larger(second, first, 0)


def _alike(claim: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """The largest value is at most `bound` of the smallest above it."""
    return _yes(max(numbers) <= min(numbers) * (1 + claim.bound) + resolution)


def _distinct(_: Claim, numbers: Sequence[float], resolution: float) -> Told:
    """No two values are equal; which is the larger one is not said."""
    return "same" if all(high - low > resolution for low, high in pairwise(sorted(numbers))) else "tie"


def _spreads(picked: Sequence[Picked], resolution_s: float) -> tuple[list[tuple[float, float]], str]:
    """Largest minus smallest sample at each place, with the resolution in its unit; the claim picks both by `stat`."""
    spreads, words = [], []
    for each in picked:
        low = [value for value in each.values if value.stat == "min"]
        high = [value for value in each.values if value.stat == "max"]
        if len(low) != 1 or len(high) != 1:
            return [], f"{each.name}: {'not yet measured' if not low and not high else 'several values'}"
        spreads.append((high[0].value - low[0].value, _resolution(low[0], resolution_s)))
        words.append(f"{each.name} {_number(low[0].value)} to {_number(high[0].value)} {low[0].unit}")
    return spreads, "; ".join(words)


def _no_spread(_: Claim, picked: Sequence[Picked], resolution_s: float) -> Judged:
    """No value spreads by more than the paper's instrument shows."""
    spreads, seen = _spreads(picked, resolution_s)
    return (_yes(all(spread <= least for spread, least in spreads)) if spreads else None), seen


def _spread(_: Claim, picked: Sequence[Picked], resolution_s: float) -> Judged:
    """Every value spreads by more than the paper's instrument shows."""
    spreads, seen = _spreads(picked, resolution_s)
    return (_yes(all(spread > least for spread, least in spreads)) if spreads else None), seen


def _steps(claim: Claim, picked: Sequence[Picked]) -> tuple[list[float], str]:
    """By how much a sequence along `along` falls from step to step, in parts of its first value; the median where
    several runs lie at one place."""
    places: dict[float, list[float]] = {}
    for each in picked[0].values:
        places.setdefault(float(each.axis(claim.along) or 0), []).append(each.value)
    if len(places) < 3:
        return [], f"not yet measured along {claim.along}"
    middle = [median(places[place]) for place in sorted(places)]
    parts = [value / middle[0] for value in middle]
    seen = ", ".join(f"{place:g}: {part:.1%}" for place, part in zip(sorted(places), parts, strict=True))
    return [low - high for low, high in pairwise(parts)], seen


def _first_step_largest(claim: Claim, picked: Sequence[Picked], _: float) -> Judged:
    """The first step down is at least `bound` times as large as any later one."""
    steps, seen = _steps(claim, picked)
    return (_yes(steps[0] > 0 and steps[0] >= claim.bound * max(steps[1:])) if steps else None), seen


def _steps_shrink(claim: Claim, picked: Sequence[Picked], _: float) -> Judged:
    """After the first step, the later half of the steps, up or down, is in sum at most `bound` above the earlier half.

    `bound` is in parts of the first value: what runs at one place differ by, so that noise is not a growing step. A
    sequence that falls by no more than that in all has no step that could shrink, and contradicts.
    """
    steps, seen = _steps(claim, picked)
    later = [abs(each) for each in steps[1:]]
    half = len(later) // 2
    if not half:
        return None, seen
    if sum(steps) <= claim.bound:
        return "different", f"does not fall along {claim.along}: {seen}"
    return _yes(sum(later[-half:]) <= sum(later[:half]) + claim.bound), seen


def _gradual(claim: Claim, picked: Sequence[Picked], _: float) -> Judged:
    """The sequence falls, and no single step takes more than `bound` of all that is lost."""
    steps, seen = _steps(claim, picked)
    return (_yes(sum(steps) > 0 and max(steps) <= claim.bound * sum(steps)) if steps else None), seen


RULES: Final[dict[str, Judge]] = {
    "ascending": _one_each(_ascending),
    "not_longer": _one_each(_not_longer),
    "least": _one_each(_least),
    "most": _one_each(_most),
    "ratio": _one_each(_ratio),
    "ratio_less": _one_each(_ratio_less),
    "alike": _one_each(_alike),
    "distinct": _one_each(_distinct),
    "no_spread": _no_spread,
    "spread": _spread,
    "first_step_largest": _first_step_largest,
    "steps_shrink": _steps_shrink,
    "gradual": _gradual,
}
