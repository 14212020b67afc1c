"""Rules for claims on values picked by their axes. Each gives a verdict (None: cannot be told) and the numbers seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rtoslab.analyses.series import core_words
from rtoslab.analyses.values import Value
from rtoslab.suites import Claim

Verdict = tuple[bool | None, str]


@dataclass(frozen=True, slots=True)
class Picked:
    """The values that lie at one place of a claim's `of`."""

    where: Mapping[str, str | int]
    values: Sequence[Value]

    @property
    def name(self) -> str:
        """The place in words."""
        words = (core_words(int(place)) if axis == "cores" else str(place) for axis, place in self.where.items())
        return ", ".join(words) or "all"


def _one_each(rule: Callable[[Claim, list[float]], bool]) -> Callable[[Claim, Sequence[Picked]], Verdict]:
    """A rule on exactly one value at each place."""

    def judge(claim: Claim, picked: Sequence[Picked]) -> Verdict:
        for each in picked:
            if len(each.values) != 1:
                return None, f"{each.name}: {'not yet measured' if not each.values else 'several values'}"
        unit = picked[0].values[0].unit
        numbers = [each.values[0].in_unit(unit) for each in picked]
        told = [number for number in numbers if number is not None]
        if len(told) != len(numbers):
            return None, "the values are of different quantities"
        seen = ", ".join(f"{each.name} {_number(number)}" for each, number in zip(picked, told, strict=True))
        return rule(claim, told), f"{seen} {unit}"

    return judge


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.4g}"


def _ascending(claim: Claim, numbers: list[float]) -> bool:
    """Each value is larger than the one before, by more than `bound` of it."""
    return all(high > low * (1 + claim.bound) for low, high in pairwise(numbers))


def _ratio(claim: Claim, numbers: list[float]) -> bool:
    """The first value is at least `bound` times the second."""
    return numbers[0] >= claim.bound * numbers[1]


def _alike(claim: Claim, numbers: list[float]) -> bool:
    """The largest value is at most `bound` of the smallest above it."""
    return max(numbers) <= min(numbers) * (1 + claim.bound)


def _spreads(picked: Sequence[Picked]) -> tuple[list[float], str]:
    """Largest minus smallest sample at each place, in the samples' unit; the claim picks both by `stat`."""
    spreads, words = [], []
    for each in picked:
        low = [value.value for value in each.values if value.stat == "min"]
        high = [value.value for value in each.values if value.stat == "max"]
        if len(low) != 1 or len(high) != 1:
            return [], f"{each.name}: {'not yet measured' if not low and not high else 'several values'}"
        spreads.append(high[0] - low[0])
        words.append(f"{each.name} {_number(low[0])} to {_number(high[0])} {each.values[0].unit}")
    return spreads, "; ".join(words)


def _no_spread(claim: Claim, picked: Sequence[Picked]) -> Verdict:
    """No value spreads by more than `bound`."""
    spreads, seen = _spreads(picked)
    return (max(spreads) <= claim.bound if spreads else None), seen


def _spread(claim: Claim, picked: Sequence[Picked]) -> Verdict:
    """Every value spreads by more than `bound`."""
    spreads, seen = _spreads(picked)
    return (min(spreads) > claim.bound if spreads else None), seen


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


def _first_step_largest(claim: Claim, picked: Sequence[Picked]) -> Verdict:
    """The first step down is at least `bound` times as large as any later one."""
    steps, seen = _steps(claim, picked)
    return (steps[0] > 0 and steps[0] >= claim.bound * max(steps[1:]) if steps else None), seen


def _steps_shrink(claim: Claim, picked: Sequence[Picked]) -> Verdict:
    """After the first step, the later half of the steps, up or down, is in sum at most `bound` above the earlier half.

    `bound` is in parts of the first value: what runs at one place differ by, so that noise is not a growing step.
    """
    steps, seen = _steps(claim, picked)
    later = [abs(each) for each in steps[1:]]
    half = len(later) // 2
    if not half:
        return None, seen
    return sum(later[-half:]) <= sum(later[:half]) + claim.bound, seen


RULES: dict[str, Callable[[Claim, Sequence[Picked]], Verdict]] = {
    "ascending": _one_each(_ascending),
    "ratio": _one_each(_ratio),
    "alike": _one_each(_alike),
    "no_spread": _no_spread,
    "spread": _spread,
    "first_step_largest": _first_step_largest,
    "steps_shrink": _steps_shrink,
}
