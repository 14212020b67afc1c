"""The rules that judge a claim's values in one case. Each returns a verdict and the numbers that it saw.

A rule must not answer `same` if the figures contradict the sentence. So a bound has two sides if the sentence has two.
Times that the paper's instrument cannot distinguish are a tie.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import median
from typing import Final, Literal

from rtoslab.analyses.axis_values import TIME_S, MeasuredValue
from rtoslab.analyses.claim_values import ClaimOperandInCodePlacements, NoSingleValueError, PaperClaimOperandValues
from rtoslab.base import count_with_noun
from rtoslab.catalogue import PaperClaim

StatementResult = Literal["same", "different", "tie"]
Names = Mapping[str, str]
"""A place on an axis -> its name for readers."""
ResultText = tuple[StatementResult, str]
Judge = Callable[[PaperClaim, Sequence[PaperClaimOperandValues], float, Names], ResultText]
"""(claim, values of the case, resolution of the paper's instrument in seconds, names)"""
Rule = Callable[[PaperClaim, Sequence[float], float], StatementResult]
"""(claim, the values in one unit, the resolution in that unit)"""


def combine_paper_statement_results(outcomes: Sequence[StatementResult]) -> StatementResult:
    """Returns the result of several comparisons that must all hold: `different` if one is, else `tie` if one is, else
    `same`."""
    return "different" if "different" in outcomes else "tie" if "tie" in outcomes else "same"


def judge_stated_order(high: float, low: float, resolution: float) -> StatementResult:
    """Returns `same` if `high` is larger than `low` as a paper says, `tie` within the resolution, else `different`."""
    if abs(high - low) <= resolution:
        return "tie"
    return "same" if high > low else "different"


def paper_claim_result_from_truth_value(holds: bool) -> StatementResult:
    """Returns `same` if a paper's statement holds, else `different`."""
    return "same" if holds else "different"


def _is_number_within_paper_claim_bounds(claim: PaperClaim, number: float) -> bool:
    """Whether a number is between the statement's bounds `at_least` and `at_most`."""
    low = claim.at_least is None or number >= claim.at_least
    return low and (claim.at_most is None or number <= claim.at_most)


def instrument_resolution_in_unit(unit: str, clock_hz: float, resolution_s: float) -> float:
    """Returns the resolution of the paper's instrument in a unit, with cycles of this clock. 0 if it is no unit of
    time."""
    if unit == "cycles":
        return resolution_s * clock_hz
    return resolution_s / TIME_S[unit] if unit in TIME_S else 0.0


def axis_values_text(picked: PaperClaimOperandValues, names: Names) -> str:
    """Returns the coordinates of a compared value as text: `FreeRTOS, 2 cores`. `names` are titles for readers."""
    return ", ".join(
        experiment_axis_value_text(axis, place, names) for axis, place in picked.where.items() if axis != "pinning"
    )


def experiment_axis_value_text(axis: str, place: str | int, names: Names) -> str:
    """Returns one coordinate of a value as text: `2 cores`, `bytes 64` for a parameter, or the title in `names`."""
    if axis == "cores":
        return count_with_noun(int(place), "core")
    if axis.startswith("param."):
        return f"{axis.removeprefix('param.').replace('_', ' ')} {place}"
    return names.get(str(place), str(place))


def format_verdict_number(value: float) -> str:
    """Returns a number as reports of verdicts show it: without decimals from 1000 on, else with four digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.4g}"


def _number_or_percent_text(value: float, unit: str) -> str:
    """Returns a number as text, in percent if it has no unit (`1`)."""
    return f"{value:.1%}" if unit == "1" else format_verdict_number(value)


def _make_paper_claim_judge_for_rule(rule: Rule) -> Judge:
    """Returns a function that judges a paper's statement by a rule, with exactly one value for each of its members."""

    def judge_paper_claim(
        claim: PaperClaim, picked: Sequence[PaperClaimOperandValues], resolution_s: float, names: Names
    ) -> ResultText:
        """Judges a paper's statement by its values. Returns the result and the numbers as text."""
        first = picked[0].first_value_of_claim_operand
        unit = claim.unit or first.unit
        numbers = [value.first_value_of_claim_operand.axis_value_in_unit(unit) for value in picked]
        known = [number for number in numbers if number is not None]
        if len(known) != len(numbers):
            units = sorted({value.first_value_of_claim_operand.unit for value in picked})
            raise NoSingleValueError(f"values in {' and '.join(units)} cannot be compared in {unit}")
        parts = [
            f"{axis_values_text(value, names)} "
            f"{_number_or_percent_text(number, unit)}"
            f"{_note_on_substitute_operation(value.first_value_of_claim_operand)}".strip()
            for value, number in zip(picked, known, strict=True)
        ]
        outcome = rule(claim, known, instrument_resolution_in_unit(unit, first.clock_hz, resolution_s))
        return (
            outcome,
            f"{', '.join(parts)}{'' if unit == '1' else f' {unit}'}{_paper_statement_ratio_text(claim, known)}",
        )

    return judge_paper_claim


def _note_on_substitute_operation(value: MeasuredValue) -> str:
    """Returns a note in brackets if another operation was measured in place of one that the kernel lacks. Else
    empty."""
    return f" ({value.substitute_text})" if value.substitute_text else ""


def _paper_statement_ratio_text(claim: PaperClaim, numbers: Sequence[float]) -> str:
    """Returns the ratio of the numbers as text, if the statement's rule is about a ratio. Else empty."""
    if claim.kind == "ratio":
        return f": {numbers[0] / numbers[1]:.2f} times" if numbers[1] else ""
    if claim.kind in {"alike", "varies"}:
        return f": at most {max(numbers) / min(numbers) - 1:.1%} apart" if min(numbers) else ""
    if claim.kind == "near_others":
        return f": {numbers[0] / median(numbers[1:]):.2f} times the others' median"
    return ""


def _judge_values_ascending(claim: PaperClaim, numbers: Sequence[float], resolution: float) -> StatementResult:
    """Judges the rule `ascending` of paper statements: each value is larger than the one before, by a factor within the
    bounds."""
    outcomes = [judge_stated_order(high, low, resolution) for low, high in pairwise(numbers)]
    if combine_paper_statement_results(outcomes) == "same" and (
        claim.at_least is not None or claim.at_most is not None
    ):
        outcomes += [
            paper_claim_result_from_truth_value(_is_number_within_paper_claim_bounds(claim, high / low))
            for low, high in pairwise(numbers)
        ]
    if claim.first_below is not None:
        outcomes.append(paper_claim_result_from_truth_value(numbers[0] < claim.first_below))
    if claim.last_above is not None:
        outcomes.append(paper_claim_result_from_truth_value(numbers[-1] > claim.last_above))
    return combine_paper_statement_results(outcomes)


def _judge_claim_first_values_smallest(
    claim: PaperClaim, numbers: Sequence[float], resolution: float
) -> StatementResult:
    """Judges the rule `least` of paper statements: the first `leaders` values are smaller than all others."""
    leaders, others = numbers[: claim.leaders], numbers[claim.leaders :]
    return judge_stated_order(min(others), max(leaders), resolution)


def _judge_claim_first_values_largest(
    claim: PaperClaim, numbers: Sequence[float], resolution: float
) -> StatementResult:
    """Judges the rule `most` of paper statements: the first `leaders` values are larger than all others."""
    leaders, others = numbers[: claim.leaders], numbers[claim.leaders :]
    return judge_stated_order(min(leaders), max(others), resolution)


def _judge_rank_of_first_value(claim: PaperClaim, numbers: Sequence[float], resolution: float) -> StatementResult:
    """Judges the rule `rank` of paper statements: the first value has rank `place` among all, the smallest first."""
    first, others = numbers[0], numbers[1:]
    below = sum(other < first - resolution for other in others)
    level = sum(abs(other - first) <= resolution for other in others)
    if not below < claim.place <= below + level + 1:
        return "different"
    if level:
        return "tie"
    before = max((other for other in others if other < first), default=None)
    return paper_claim_result_from_truth_value(
        before is None or _is_number_within_paper_claim_bounds(claim, first / before)
    )


def _judge_ratio_of_two_values(claim: PaperClaim, numbers: Sequence[float], resolution: float) -> StatementResult:
    """Judges the rule `ratio` of paper statements: the first value is between `at_least` and `at_most` times the
    second. Equal values are a tie if 1 is a bound."""
    first, second = numbers
    if 1.0 in {claim.at_least, claim.at_most} and abs(first - second) <= resolution:
        return "tie"
    low = claim.at_least is None or first + resolution >= claim.at_least * second
    high = claim.at_most is None or first - resolution <= claim.at_most * second
    return paper_claim_result_from_truth_value(low and high)


def _judge_statement_values_between_bounds(
    claim: PaperClaim, numbers: Sequence[float], resolution: float
) -> StatementResult:
    """Judges the rule `between` of paper statements: every value is between the bounds."""
    low = claim.at_least is None or min(numbers) + resolution >= claim.at_least
    high = claim.at_most is None or max(numbers) - resolution <= claim.at_most
    return paper_claim_result_from_truth_value(low and high)


def _judge_first_value_near_median(claim: PaperClaim, numbers: Sequence[float], _: float) -> StatementResult:
    """Judges the rule `near_others` of paper statements: the first value, divided by the others' median, is between the
    bounds."""
    return paper_claim_result_from_truth_value(
        _is_number_within_paper_claim_bounds(claim, numbers[0] / median(numbers[1:]))
    )


def _judge_claim_first_value_not_smallest(
    _: PaperClaim, numbers: Sequence[float], resolution: float
) -> StatementResult:
    """Judges the rule `beaten` of paper statements: the first value is larger than the smallest of the others."""
    return judge_stated_order(numbers[0], min(numbers[1:]), resolution)


def _judge_values_alike(claim: PaperClaim, numbers: Sequence[float], resolution: float) -> StatementResult:
    """Judges the rule `alike` of paper statements: the largest value is at most `at_most` times the smallest."""
    return paper_claim_result_from_truth_value(max(numbers) <= min(numbers) * (claim.at_most or 1.0) + resolution)


def _judge_paper_claim_that_values_vary(
    claim: PaperClaim, numbers: Sequence[float], resolution: float
) -> StatementResult:
    """Judges the rule `varies` of paper statements: the largest value is at least `at_least` times the smallest."""
    if max(numbers) - min(numbers) <= resolution:
        return "tie" if resolution else "different"
    return paper_claim_result_from_truth_value(max(numbers) >= min(numbers) * (claim.at_least or 1.0))


def _judge_values_distinct(_: PaperClaim, numbers: Sequence[float], resolution: float) -> StatementResult:
    """Judges the rule `distinct` of paper statements: no two values are equal. Values within the resolution are a
    tie."""
    steps = [high - low for low, high in pairwise(sorted(numbers))]
    if any(step == 0 for step in steps):
        return "different"
    return "same" if all(step > resolution for step in steps) else "tie"


def _sample_value_ranges(
    picked: Sequence[PaperClaimOperandValues], resolution_s: float, names: Names
) -> tuple[list[tuple[float, float]], str]:
    """Returns, for each compared value, its largest less its smallest sample and the instrument's resolution. Also
    returns the numbers as text."""
    spreads, words = [], []
    for group in picked:
        by_stat = {value.stat: value for value in group.values}
        if not {"min", "max"} <= by_stat.keys():
            raise NoSingleValueError("the shortest and longest sample are not known")
        low, high = by_stat["min"], by_stat["max"]
        spreads.append((high.value - low.value, instrument_resolution_in_unit(low.unit, low.clock_hz, resolution_s)))
        span = f"{format_verdict_number(low.value)} to {format_verdict_number(high.value)} {low.unit}"
        words.append(f"{axis_values_text(group, names)} {span}".strip())
    return spreads, "; ".join(words)


def _judge_paper_claim_of_constant_samples(
    _: PaperClaim, picked: Sequence[PaperClaimOperandValues], resolution_s: float, names: Names
) -> ResultText:
    """Judges the rule `no_spread` of paper statements: no value's samples differ by more than the paper's instrument
    resolves."""
    spreads, seen = _sample_value_ranges(picked, resolution_s, names)
    return paper_claim_result_from_truth_value(all(spread <= least for spread, least in spreads)), seen


def _judge_claim_samples_vary(
    _: PaperClaim, picked: Sequence[PaperClaimOperandValues], resolution_s: float, names: Names
) -> ResultText:
    """Judges the rule `spread` of paper statements: every value's samples differ by more than the paper's instrument
    resolves."""
    spreads, seen = _sample_value_ranges(picked, resolution_s, names)
    return paper_claim_result_from_truth_value(all(spread > least for spread, least in spreads)), seen


def _order_of_numbers(one: float, other: float) -> int:
    """Returns 1 if the first number is larger, -1 if it is smaller, 0 if both are equal."""
    return (one > other) - (one < other)


def _order_text(number_by_place: Mapping[str, float], names: Names) -> str:
    """Returns places in the order of their numbers as text: `a < b = c`."""
    ordered = sorted(number_by_place, key=number_by_place.__getitem__)
    signs = [" = " if number_by_place[one] == number_by_place[other] else " < " for one, other in pairwise(ordered)]
    words = [names.get(place, place) for place in ordered]
    return "".join(word + sign for word, sign in zip(words, [*signs, ""], strict=True))


def _judge_paper_claim_of_equal_rankings(
    claim: PaperClaim, picked: Sequence[PaperClaimOperandValues], _: float, names: Names
) -> ResultText:
    """Judges the rule `same_ranking` of paper statements: two sequences along an axis have the same order, up to a
    share of pairs."""
    first, second = ({value.coordinate_on_axis(claim.along): value.value for value in side.values} for side in picked)
    shared = [place for place in first if place in second]
    if len(shared) < 3:
        raise NoSingleValueError(f"fewer than three values along {claim.along} at both places")
    pairs = list(combinations(shared, 2))
    agree = sum(_order_of_numbers(first[a], first[b]) == _order_of_numbers(second[a], second[b]) for a, b in pairs)
    orders = [
        f"{axis_values_text(side, names)}: {_order_text({place: number_by_place[place] for place in shared}, names)}"
        for side, number_by_place in zip(picked, (first, second), strict=True)
    ]
    return paper_claim_result_from_truth_value(
        _is_number_within_paper_claim_bounds(claim, agree / len(pairs))
    ), f"{agree} of {count_with_noun(len(pairs), 'pair')} agree; {'; '.join(orders)}"


def judge_claim_stable_in_code_placements(
    claim: PaperClaim, gathered: Sequence[ClaimOperandInCodePlacements], names: Names
) -> ResultText:
    """Judges the rule `same_in_all_placements` of paper statements: the range over placements of the code is at most
    `at_most` of the median."""
    words, outcomes = [], []
    for group in gathered:
        for value, _ in group.members:
            if value.band is None:
                raise NoSingleValueError("measured in only one placement of the code")
            where = axis_values_text(PaperClaimOperandValues(group.where, [value]), names)
            count = len(value.band.values)
            apart = f"{value.band.range_width_percent:.1f} % apart"
            words.append(f"{where} {apart} over {count_with_noun(count, 'placement')}".strip())
            outcomes.append(
                paper_claim_result_from_truth_value(value.band.range_width_percent <= 100 * (claim.at_most or 0.0))
            )
    return combine_paper_statement_results(outcomes), "; ".join(words)


def _relative_decreases_of_value_sequence(
    claim: PaperClaim, picked: Sequence[PaperClaimOperandValues]
) -> tuple[list[float], str]:
    """Returns how much a sequence falls from step to step, as parts of its first value. Also returns the numbers as
    text."""
    places = sorted((float(item.coordinate_on_axis(claim.along) or 0), item.value) for item in picked[0].values)
    if len(places) < 3:
        raise NoSingleValueError(f"fewer than three steps along {claim.along}")
    parts = [(place, value / places[0][1]) for place, value in places]
    seen = ", ".join(f"{place:g}: {part:.1%}" for place, part in parts)
    return [low - high for (_, low), (_, high) in pairwise(parts)], seen


def _judge_claim_first_decrease_largest(
    claim: PaperClaim, picked: Sequence[PaperClaimOperandValues], _: float, __: Names
) -> ResultText:
    """Judges the rule `first_step_largest` of paper statements: the first decrease is at least `at_least` times any
    later one."""
    steps, seen = _relative_decreases_of_value_sequence(claim, picked)
    return paper_claim_result_from_truth_value(
        steps[0] > 0 and steps[0] >= (claim.at_least or 1.0) * max(steps[1:])
    ), seen


def _judge_claim_decreases_get_smaller(
    claim: PaperClaim, picked: Sequence[PaperClaimOperandValues], _: float, __: Names
) -> ResultText:
    """Judges the rule `steps_shrink` of paper statements: after the first step, the later half of the decreases is not
    larger than the earlier half.

    `at_most` is the accepted excess, in parts of the first value, so that noise is not a growing step. A sequence that
    falls by no more than that in all contradicts the statement.
    """
    steps, seen = _relative_decreases_of_value_sequence(claim, picked)
    later, allowed = [abs(step) for step in steps[1:]], claim.at_most or 0.0
    half = len(later) // 2
    if not half:
        raise NoSingleValueError(f"too few steps along {claim.along}")
    if sum(steps) <= allowed:
        return "different", f"it does not decrease: {seen}"
    return paper_claim_result_from_truth_value(sum(later[-half:]) <= sum(later[:half]) + allowed), seen


def _judge_paper_claim_of_gradual_decrease(
    claim: PaperClaim, picked: Sequence[PaperClaimOperandValues], _: float, __: Names
) -> ResultText:
    """Judges the rule `gradual` of paper statements: the sequence falls, and no step takes more than `at_most` of the
    whole loss."""
    steps, seen = _relative_decreases_of_value_sequence(claim, picked)
    return paper_claim_result_from_truth_value(
        sum(steps) > 0 and max(steps) <= (claim.at_most or 1.0) * sum(steps)
    ), seen


RULES: Final[dict[str, Judge]] = {
    "ascending": _make_paper_claim_judge_for_rule(_judge_values_ascending),
    "least": _make_paper_claim_judge_for_rule(_judge_claim_first_values_smallest),
    "most": _make_paper_claim_judge_for_rule(_judge_claim_first_values_largest),
    "rank": _make_paper_claim_judge_for_rule(_judge_rank_of_first_value),
    "ratio": _make_paper_claim_judge_for_rule(_judge_ratio_of_two_values),
    "between": _make_paper_claim_judge_for_rule(_judge_statement_values_between_bounds),
    "near_others": _make_paper_claim_judge_for_rule(_judge_first_value_near_median),
    "beaten": _make_paper_claim_judge_for_rule(_judge_claim_first_value_not_smallest),
    "alike": _make_paper_claim_judge_for_rule(_judge_values_alike),
    "distinct": _make_paper_claim_judge_for_rule(_judge_values_distinct),
    "varies": _make_paper_claim_judge_for_rule(_judge_paper_claim_that_values_vary),
    "no_spread": _judge_paper_claim_of_constant_samples,
    "spread": _judge_claim_samples_vary,
    "same_ranking": _judge_paper_claim_of_equal_rankings,
    "first_step_largest": _judge_claim_first_decrease_largest,
    "steps_shrink": _judge_claim_decreases_get_smaller,
    "gradual": _judge_paper_claim_of_gradual_decrease,
}
