"""What a paper says, judged by its rule in every case of its scope: both bounds, ties, placements, absences."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from rtoslab.analyses import MeasuredValue
from rtoslab.analyses.claim_rules import RULES
from rtoslab.analyses.claims import ClaimVerdict, judge_claims
from rtoslab.catalogue.claim_schemas import BOUNDED, PaperClaim, PaperInstrumentTimeResolution
from tests.planted_values import planted_value

A, B, C = {"kernel": "a"}, {"kernel": "b"}, {"kernel": "c"}


def claim(kind: str, of: Sequence[dict[str, Any]] = (), **more: Any) -> PaperClaim:
    bounded = {"bound_from": "ours"} if {"at_least", "at_most"} & more.keys() else {}
    facts = {"id": "c", "section": "1", "says": "so", "kind": kind, "where": {"metric": "m", "stat": "mean"}}
    return PaperClaim.model_validate({**facts, "of": list(of), **bounded, **more})


def values_of_kernels(numbers: Sequence[float], **axes: Any) -> list[MeasuredValue]:
    """One value for each of the kernels a, b, c …"""
    return [
        planted_value({"metric": "m", "stat": "mean", "kernel": "abcdef"[place], "value": number, **axes})
        for place, number in enumerate(numbers)
    ]


def verdict(one: PaperClaim, values: Sequence[MeasuredValue], resolution_s: float = 0.0, **more: Any) -> ClaimVerdict:
    (result,) = judge_claims(
        [one], values, PaperInstrumentTimeResolution(seconds=resolution_s, source="its sample"), **more
    )
    return result


@pytest.mark.parametrize(
    ("kind", "numbers", "more", "outcome"),
    [
        ("ascending", (1, 2, 3), {}, "same"), ("ascending", (1, 3, 2), {}, "different"),
        ("ascending", (1, 1, 2), {}, "tie"), ("ascending", (1, 1.4), {"at_least": 1.5}, "different"),
        ("ascending", (1, 1.6), {"at_least": 1.5}, "same"), ("ascending", (1, 9), {"at_most": 2}, "different"),
        ("least", (1, 2, 3), {}, "same"), ("least", (2, 1, 3), {}, "different"), ("least", (1, 1, 3), {}, "tie"),
        ("least", (2, 1, 3), {"leaders": 2}, "same"), ("least", (1, 3, 2), {"leaders": 2}, "different"),
        ("most", (3, 2, 1), {}, "same"), ("most", (2, 3, 1), {}, "different"), ("most", (3, 3, 1), {}, "tie"),
        ("rank", (2, 1, 3), {"place": 2}, "same"), ("rank", (1, 2, 3), {"place": 2}, "different"),
        ("rank", (3, 1, 2), {"place": 2}, "different"), ("rank", (2, 2, 3), {"place": 2}, "tie"),
        ("rank", (2, 1, 3), {"place": 2, "at_most": 1.5}, "different"),
        ("rank", (2, 1, 3), {"place": 2, "at_least": 1.5}, "same"),
        ("rank", (3, 1, 2), {"place": 3, "at_least": 2}, "different"),
        ("ratio", (20, 10), {"at_least": 1.75, "at_most": 2.25}, "same"),
        ("ratio", (57, 10), {"at_least": 1.75, "at_most": 2.25}, "different"),
        ("ratio", (11, 10), {"at_least": 1.75, "at_most": 2.25}, "different"),
        ("ratio", (10, 10), {"at_least": 1.0, "at_most": 1.2}, "tie"),
        ("ratio", (9, 10), {"at_least": 1.0, "at_most": 1.2}, "different"),
        ("ratio", (15.5, 10), {"at_least": 1.0, "at_most": 1.2}, "different"),
        ("between", (5, 6), {"at_least": 5, "at_most": 6}, "same"), ("between", (5, 7), {"at_most": 6}, "different"),
        ("between", (4, 6), {"at_least": 5}, "different"),
        ("near_others", (11, 10, 10), {"at_most": 1.25}, "same"),
        ("near_others", (20, 10, 10), {"at_most": 1.25}, "different"),
        ("beaten", (3, 2, 5), {}, "same"), ("beaten", (1, 2, 5), {}, "different"), ("beaten", (2, 2, 5), {}, "tie"),
        ("alike", (100, 104), {"at_most": 1.05}, "same"), ("alike", (100, 106), {"at_most": 1.05}, "different"),
        ("distinct", (1, 2, 3), {}, "same"), ("distinct", (1, 2, 2), {}, "different"),
        ("ascending", (1, 2), {"last_above": 1}, "same"), ("ascending", (0.5, 0.8), {"last_above": 1}, "different"),
        ("ascending", (0.5, 2), {"first_below": 1}, "same"), ("ascending", (1.4, 2), {"first_below": 1}, "different"),
        ("varies", (100, 128), {"at_least": 1.05}, "same"), ("varies", (563, 563.5), {"at_least": 1.05}, "different"),
        ("varies", (100, 100), {"at_least": 1.05}, "different"),
    ],
)  # fmt: skip
def test_rule_with_one_value_per_place(kind: str, numbers: Sequence[float], more: dict[str, Any], outcome: str) -> None:
    of = [A, B, C][: len(numbers)]
    assert verdict(claim(kind, of, **more), values_of_kernels(numbers)).outcome_of_all_statement_cases == outcome


def test_claims_that_need_a_bound_require_bound_and_source() -> None:
    for kind in BOUNDED:
        with pytest.raises(ValidationError, match="needs both a bound and bound_from"):
            claim(kind)
    with pytest.raises(ValidationError, match="needs both a bound and bound_from, or neither"):
        claim("ratio", at_least=1.0, bound_from="")
    with pytest.raises(ValidationError, match="needs `why`"):
        claim("not computed")
    with pytest.raises(ValidationError, match="needs `place`"):
        claim("rank")
    kinds = set(get_args(PaperClaim.model_fields["kind"].annotation))
    assert kinds == set(RULES) | {"not computed", "same_in_all_placements"}


@pytest.mark.parametrize(
    ("kind", "numbers", "more", "ns", "outcome"),
    [
        ("ascending", (100, 110), {}, 79, "same"), ("ascending", (100, 110), {}, 81, "tie"),
        ("ascending", (110, 100), {}, 81, "tie"), ("ascending", (110, 100), {}, 79, "different"),
        ("least", (99, 95), {}, 81, "tie"), ("least", (99, 80), {}, 81, "different"),
        ("distinct", (100, 110), {}, 81, "tie"), ("distinct", (100, 111), {}, 81, "same"),
        ("between", (110,), {"at_most": 100}, 81, "same"), ("between", (111,), {"at_most": 100}, 79, "different"),
        ("between", (111,), {"at_most": 0.8, "unit": "us"}, 81, "different"),
        ("between", (90,), {"at_most": 0.8, "unit": "us"}, 0, "same"),
    ],
)  # fmt: skip
def test_times_closer_than_the_papers_resolution_are_a_tie(
    kind: str, numbers: Sequence[float], more: dict[str, Any], ns: float, outcome: str
) -> None:
    """At 125 MHz a cycle is 8 ns."""
    one = claim(kind, [A, B, C][: len(numbers)], **more)
    result = verdict(one, values_of_kernels(numbers), ns * 1e-9)
    assert result.outcome_of_all_statement_cases == outcome
    assert (f"no difference up to {ns:g} ns: its sample" in result.threshold) is bool(ns)


@pytest.mark.parametrize(
    ("kind", "low", "high", "outcome"),
    [("no_spread", 100, 101, "same"), ("no_spread", 100, 106, "different"),
     ("spread", 100, 106, "same"), ("spread", 100, 101, "different")],
)  # fmt: skip
def test_spread_below_the_instruments_resolution_does_not_count(
    kind: str, low: float, high: float, outcome: str
) -> None:
    values = [
        planted_value({"metric": "m", "stat": stat, "value": value}) for stat, value in (("min", low), ("max", high))
    ]
    one = claim(kind).model_copy(update={"where": {"metric": "m"}})
    assert verdict(one, values, 10e-9).outcome_of_all_statement_cases == outcome
    assert verdict(one, values[:1], 10e-9).outcome_of_all_statement_cases == "not computed"


def values_of_cases(numbers: dict[str, tuple[float, float]]) -> list[MeasuredValue]:
    return [value for board, pair in numbers.items() for value in values_of_kernels(pair, board=board)]


@pytest.mark.parametrize(
    ("numbers", "words", "seen"),
    [
        ({"x": (1, 2), "y": (1, 3)}, "same", "holds in all 2 cases"),
        ({"x": (1, 2), "y": (3, 1)}, "partly (1 of 2)", "not in y: a 3, b 1 cycles; holds in x"),
        ({"x": (2, 1), "y": (3, 1)}, "different", "not in x: a 2, b 1 cycles / y: a 3, b 1 cycles"),
        ({"x": (1, 1), "y": (3, 3)}, "tie", "tie in x: a 1, b 1 cycles / y: a 3, b 3 cycles"),
        ({"x": (1, 1), "y": (1, 3)}, "partly (1 of 2)", "tie in x: a 1, b 1 cycles; holds in y"),
        ({"x": (1, 1), "y": (3, 1)}, "different", "not in y: a 3, b 1 cycles; tie in x: a 1, b 1 cycles"),
        ({"x": (1, 2)}, "partly (1 of 2)", "holds in x; not computed in y: no y here"),
        ({"x": (2, 1)}, "different", "not in x: a 2, b 1 cycles; not computed in y: no y here"),
    ],
)  # fmt: skip
def test_statement_holds_if_all_its_cases_hold(numbers: dict[str, tuple[float, float]], words: str, seen: str) -> None:
    one = claim("ascending", [A, B], across={"board": ["x", "y"]})
    result = verdict(one, values_of_cases(numbers), absence=lambda place: f"no {place['board']} here")
    assert (result.claim_outcome_with_count_text, result.text_of_compared_claim_numbers) == (words, seen)


def test_cases_are_all_combinations_with_readable_names() -> None:
    one = claim(
        "between", across={"kernel": ["a", "b"]}, at=[{"cores": 1}, {"cores": 2, "pinning": "pinned"}], at_most=5
    )
    values = [value for cores in (1, 2) for value in values_of_kernels((4, 6), cores=cores)]
    result = verdict(one, values, names={"a": "Kernel A"})
    assert [(case_verdict.name, case_verdict.outcome) for case_verdict in result.cases] == [
        ("1 core, Kernel A", "same"), ("1 core, b", "different"),
        ("2 cores, Kernel A", "same"), ("2 cores, b", "different"),
    ]  # fmt: skip
    assert result.claim_outcome_with_count_text == "partly (2 of 4)"
    assert one.kernels == ["a", "b"]


def test_share_is_relative_to_the_value_that_differs_in_one_axis() -> None:
    """What NuttX loses under stress is of its own throughput, not of the other kernel's."""
    at = {"param.s": 0}, {"param.s": 70}
    values = [*values_of_kernels((180, 340), **at[0]), *values_of_kernels((53, 68), **at[1])]
    plain = claim("ascending", [B, A], where={"metric": "m", "stat": "mean", "param.s": 70})
    share = plain.model_copy(update={"over": {"param.s": 0}})
    assert (
        verdict(plain, values).outcome_of_all_statement_cases,
        verdict(share, values).outcome_of_all_statement_cases,
    ) == ("different", "same")
    assert verdict(share, values).text_of_compared_claim_numbers == "b 20.0%, a 29.4%"
    assert verdict(share, values[2:]).outcome_of_all_statement_cases == "not computed"


def test_runs_with_different_seeds_count_by_median_only_if_the_claim_says_so() -> None:
    values = [
        planted_value({"metric": "m", "stat": "mean", "param.s": 10 * step, "param.seed": seed, "value": count})
        for step, counts in enumerate([(1000, 1010, 900), (400, 500, 480), (470, 470, 470)])
        for seed, count in enumerate(counts)
    ]
    one = claim("first_step_largest", along="param.s", at_least=2)
    assert verdict(one, values).text_of_compared_claim_numbers == "several values fit: param.seed 0 or 1 or 2"
    joined = verdict(one.model_copy(update={"join": ("param.seed",)}), values)
    assert (joined.outcome_of_all_statement_cases, joined.text_of_compared_claim_numbers) == (
        "same",
        "0: 100.0%, 10: 48.0%, 20: 47.0%",
    )


def test_values_that_differ_on_an_unnamed_axis_are_refused() -> None:
    """The median of two kernels is nobody's figure."""
    result = verdict(claim("between", at_most=5, join=("param.seed",)), values_of_kernels((1, 2)))
    assert (result.outcome_of_all_statement_cases, result.text_of_compared_claim_numbers) == (
        "not computed",
        "several values fit: kernel a or b",
    )


def test_mean_over_operations_is_of_the_same_operations() -> None:
    where = {"metric": ["m", "n"], "stat": "mean"}
    mean = {"join": ["metric"], "join_by": "geometric mean"}
    values = [*values_of_kernels((1, 2)), *values_of_kernels((9, 8), metric="n")]
    result = verdict(claim("ascending", [A, B], where=where, **mean), values)
    assert (result.outcome_of_all_statement_cases, result.text_of_compared_claim_numbers) == ("same", "a 3, b 4 cycles")
    lacking = verdict(claim("ascending", [A, B], where=where, **mean), values[:3])
    assert (lacking.outcome_of_all_statement_cases, lacking.text_of_compared_claim_numbers) == (
        "not computed",
        "a and b do not have the same operations",
    )


def swept(counts: Sequence[float]) -> list[MeasuredValue]:
    return [
        planted_value({"metric": "m", "stat": "mean", "param.s": 10 * step, "value": count})
        for step, count in enumerate(counts)
    ]


@pytest.mark.parametrize(
    ("counts", "first_largest", "shrink", "gradual"),
    [
        ((1000, 500, 480, 460, 450, 449), "same", "same", "different"),
        ((1000, 990, 980, 900, 600, 100), "different", "different", "different"),
        ((1000, 1100, 500, 480, 470, 465), "different", "same", "different"),
        ((1000, 1000, 1000, 1000, 1000, 1000), "different", "different", "different"),
        ((1000, 998, 1001, 999, 1000, 1000), "different", "different", "different"),
        ((1000, 900, 800, 700, 600, 500), "different", "same", "same"),
    ],
)  # fmt: skip
def test_rules_along_a_sweep(counts: Sequence[float], first_largest: str, shrink: str, gradual: str) -> None:
    first = claim("first_step_largest", along="param.s", at_least=2)
    assert verdict(first, swept(counts)).outcome_of_all_statement_cases == first_largest
    assert (
        verdict(claim("steps_shrink", along="param.s", at_most=0.0), swept(counts)).outcome_of_all_statement_cases
        == shrink
    )
    assert (
        verdict(claim("gradual", along="param.s", at_most=0.5), swept(counts)).outcome_of_all_statement_cases == gradual
    )
    assert verdict(first, swept(counts[:2])).outcome_of_all_statement_cases == "not computed"


def test_noise_is_not_a_growing_step() -> None:
    counts = (1000, 290, 290, 290, 300)
    assert (
        verdict(claim("steps_shrink", along="param.s", at_most=0.0), swept(counts)).outcome_of_all_statement_cases
        == "different"
    )
    assert (
        verdict(claim("steps_shrink", along="param.s", at_most=0.02), swept(counts)).outcome_of_all_statement_cases
        == "same"
    )


@pytest.mark.parametrize(
    ("second", "outcome"), [((1, 2, 3), "same"), ((2, 1, 3), "different"), ((3, 2, 1), "different")]
)
def test_orders_are_compared_by_their_pairs(second: Sequence[float], outcome: str) -> None:
    values = [*values_of_kernels((10, 20, 30), board="x"), *values_of_kernels(second, board="y")]
    one = claim("same_ranking", [{"board": "x"}, {"board": "y"}], along="kernel", at_least=0.8)
    result = verdict(one, values)
    assert result.outcome_of_all_statement_cases == outcome
    assert "x: a < b < c" in result.text_of_compared_claim_numbers
    assert verdict(one, values[:4]).outcome_of_all_statement_cases == "not computed"


@pytest.mark.parametrize(
    ("first", "outcome", "seen"),
    [
        ([1, 2, 3], "same", "a 1, b 9 cycles (so in all 3 placements)"),
        (
            [1, 10, 3],
            "tie",
            "the result depends on the placement of the code, same in 2, different in 1 of 3: placement 0: a 1",
        ),
        ([10, 11, 12], "different", "a 10, b 9 cycles (so in all 3 placements)"),
    ],
)
def test_statement_that_the_placement_of_the_code_decides_is_a_tie(
    first: Sequence[float], outcome: str, seen: str
) -> None:
    values = [
        planted_value({"metric": "m", "stat": "mean", "kernel": "a", "placements": first}),
        values_of_kernels((0, 9))[1],
    ]
    result = verdict(claim("ascending", [A, B]), values)
    assert result.outcome_of_all_statement_cases == outcome
    assert result.text_of_compared_claim_numbers.startswith(seen)


@pytest.mark.parametrize(("places", "outcome"), [([100, 100.5], "same"), ([100, 110], "different")])
def test_result_that_does_not_depend_on_the_layout(places: Sequence[float], outcome: str) -> None:
    one = claim("same_in_all_placements", at_most=0.01)
    assert (
        verdict(
            one, [planted_value({"metric": "m", "stat": "mean", "placements": places})]
        ).outcome_of_all_statement_cases
        == outcome
    )
    assert (
        verdict(one, values_of_kernels((100,))).text_of_compared_claim_numbers
        == "measured in only one placement of the code"
    )


def test_statement_without_figures_has_a_reason() -> None:
    one = PaperClaim.model_validate(
        {"id": "c", "section": "1", "says": "so", "kind": "not computed", "why": "an opinion"}
    )
    result = verdict(one, values_of_kernels((1,)))
    assert (result.outcome_of_all_statement_cases, result.text_of_compared_claim_numbers, result.threshold) == (
        "not computed",
        "an opinion",
        "",
    )


def test_deciding_condition_is_shown_with_the_threshold() -> None:
    result = verdict(claim("ascending", [A, B], rests_on="the caches are on"), values_of_kernels((1, 2)))
    assert result.threshold == "depends on: the caches are on"


@pytest.mark.parametrize(
    ("kind", "numbers", "more"),
    [
        ("ascending", (0, 1), {"at_least": 1.5}), ("rank", (1, 0, 5), {"place": 2, "at_least": 1.5}),
        ("near_others", (1, 0, 0), {"at_most": 2}), ("first_step_largest", (0, 5, 1, 1), {"at_least": 2}),
    ],
)  # fmt: skip
def test_ratio_to_zero_is_not_computed(kind: str, numbers: Sequence[float], more: dict[str, Any]) -> None:
    if kind == "first_step_largest":
        result = verdict(claim(kind, along="param.s", **more), swept(numbers))
    else:
        result = verdict(claim(kind, [A, B, C][: len(numbers)], **more), values_of_kernels(numbers))
    assert result.outcome_of_all_statement_cases == "not computed"
    assert result.text_of_compared_claim_numbers == "a value is 0, so there is no ratio"


def test_geometric_mean_with_a_zero_is_not_computed() -> None:
    values = [
        planted_value({"metric": "m", "stat": "mean", "kernel": kernel, "param.seed": seed, "value": seed})
        for kernel in "ab"
        for seed in (0, 5)
    ]
    one = claim("least", [A, B], join=["param.seed"], join_by="geometric mean")
    assert verdict(one, values).text_of_compared_claim_numbers == "a value is 0, so there is no geometric mean"


def test_resolution_is_in_the_unit_of_the_bounds_for_a_value_of_zero_too() -> None:
    one = claim("ascending", [A, B], unit="us")
    for first in (0, 1):
        result = verdict(one, values_of_kernels((first, first + 125)), 81e-9)
        assert result.outcome_of_all_statement_cases == "same"


def test_equal_values_have_the_same_order_in_both_rankings() -> None:
    values = [*values_of_kernels((10, 10, 30), board="x"), *values_of_kernels((5, 5, 7), board="y")]
    result = verdict(claim("same_ranking", [{"board": "x"}, {"board": "y"}], along="kernel", at_least=1.0), values)
    assert result.outcome_of_all_statement_cases == "same"
    assert result.text_of_compared_claim_numbers == "3 of 3 pairs agree; x: a = b < c; y: a = b < c"


def test_sequence_without_a_failed_step_is_not_judged() -> None:
    one = claim("first_step_largest", along="param.s", at_least=2)
    values = swept((1000, 980, 500, 480, 460))
    without_first_step = [values[0], *values[2:]]
    assert verdict(one, without_first_step).outcome_of_all_statement_cases == "same"
    result = verdict(one, without_first_step, failure=lambda _: "prove failed: p")
    assert result.outcome_of_all_statement_cases == "not computed"
    assert result.text_of_compared_claim_numbers == "prove failed: p"


@pytest.mark.parametrize(
    ("kind", "of", "more", "message"),
    [
        ("least", [A], {}, "compares at least 2 values, but `of` has 1"),
        ("ratio", [A, B, C], {"at_least": 1}, "compares 2 values, but `of` has 3"),
        ("gradual", [A, B], {"at_most": 1, "along": "param.s"}, "compares at most 1 values, but `of` has 2"),
        ("least", [A, B], {"leaders": 2}, "`leaders` and `place` of a claim count the values of `of`"),
        ("least", [A, B], {"leaders": 0}, "`leaders` and `place` of a claim count the values of `of`"),
        ("rank", [A, B], {"place": 3}, "`leaders` and `place` of a claim count the values of `of`"),
        ("varies", [A, B], {"at_most": 2}, "does not use `at_most`"),
        ("alike", [A, B], {"at_least": 2}, "does not use `at_least`"),
        ("distinct", [A, B], {"first_below": 2}, "does not use `first_below`"),
        ("gradual", [], {"at_most": 0.5}, "needs `along`"),
        ("ascending", [A, A], {}, "compares a value with itself"),
        ("between", [A], {"at_least": 5, "at_most": 1}, "it can never hold"),
        ("between", [A], {"at_most": float("nan")}, "finite number"),
        ("between", [A], {"at_most": 1, "unit": "parsec"}, "Input should be"),
        ("ascending", [A, B], {"across": {"cores": []}}, "no case"),
    ],
)  # fmt: skip
def test_claim_that_its_kind_cannot_judge_is_refused(
    kind: str, of: Sequence[dict[str, Any]], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        claim(kind, of, **more)
