"""What a paper says, judged by its rule: the threshold and its source, the instrument's resolution, ties."""

from typing import Any

import pytest
from pydantic import ValidationError

from rtoslab.analyses.axis_values import values
from rtoslab.analyses.claims import judge_claims
from rtoslab.catalogue.paper_schemas import Figure
from rtoslab.catalogue.suites import Claim, Resolution
from rtoslab.papers.paper_charts import replot
from rtoslab.results.results import SeriesSamples
from tests.fakes import measured

KERNELS = ("k",)


VALUES = (measured(1, 1000), measured(1, 1500, benchmark_id="t9"))


def claim(kind: str, **more: Any) -> Claim:
    where = {"metric": "throughput", "stat": "total"}
    source = {"bound_from": "ours"} if "bound" in more else {}
    return Claim.model_validate(
        {"id": "c", "section": "1", "says": "so", "kind": kind, "where": where, **source, **more}
    )


T2, T9 = {"benchmark": "t2"}, {"benchmark": "t9"}


@pytest.mark.parametrize(
    ("kind", "of", "bound", "outcome"),
    [
        ("ascending", [T2, T9], 0, "same"), ("ascending", [T9, T2], 0, "different"),
        ("ascending", [T2, T9], 0.5, "different"), ("ratio", [T9, T2], 1.5, "same"),
        ("ratio", [T9, T2], 1.6, "different"),
        ("alike", [T2, T9], 0.5, "same"), ("alike", [T2, T9], 0.4, "different"),
        ("ascending", [T2, {"benchmark": "t8"}], 0, "not computed"),
        ("ascending", [T2, T2], 0, "tie"), ("ratio", [T2, T2], 1.0, "tie"), ("ratio", [T9, T2], 1.0, "same"),
        ("not_longer", [T2, T2], 0, "same"), ("not_longer", [T2, T9], 0, "same"),
        ("not_longer", [T9, T2], 0, "different"),
        ("least", [T2, T9, T9], 0, "same"), ("least", [T9, T2, T9], 0, "different"), ("least", [T2, T2, T9], 0, "tie"),
        ("most", [T9, T2, T2], 0, "same"), ("most", [T2, T9], 0, "different"), ("most", [T9, T9, T2], 0, "tie"),
        ("distinct", [T9, T2], 0, "same"), ("distinct", [T2, T2], 0, "tie"),
        ("ratio_less", [T2, T9, T2, T2], 0, "same"), ("ratio_less", [T2, T2, T2, T9], 0, "different"),
        ("ratio_less", [T2, T9, T2, T9], 0, "tie"),
    ],
)  # fmt: skip
def test_claims_on_values(kind: str, of: list[dict[str, str]], bound: float, outcome: str) -> None:
    bounded = {"bound": bound} if bound else {}
    (verdict,) = judge_claims([claim(kind, of=of, **bounded)], VALUES)
    assert verdict.outcome == outcome
    assert verdict.threshold == (f"{bound:g}: ours" if bound else "")


def test_several_leaders_lead_all_others() -> None:
    outcomes = {
        leaders: judge_claims([claim("least", of=[T2, T2, T9], leaders=leaders)], VALUES)[0].outcome
        for leaders in (1, 2)
    }
    assert outcomes == {1: "tie", 2: "same"}


def test_what_must_hold_at_several_places_holds_at_each() -> None:
    of = [{"metric": "throughput", "stat": "total"}, {"metric": "heap", "stat": "peak"}]
    low, high = {"benchmark": "t2"}, {"benchmark": "t9"}
    statement = {"id": "c", "section": "1", "says": "so", "kind": "distinct", "of": of}
    other = {**statement, "kind": "not_longer", "of": [{"metric": "heap", "stat": "peak"}] * 2}
    for at, outcome in (([low, high], "same"), ([low, {"benchmark": "t8"}], "not computed")):
        (verdict,) = judge_claims([Claim.model_validate({**other, "at": at})], VALUES)
        assert verdict.outcome == outcome
    assert "t2: " in judge_claims([Claim.model_validate({**other, "at": [low, high]})], VALUES)[0].seen


TIMED = tuple(
    measured(1, benchmark_id=name).model_copy(update={"series": (SeriesSamples(
        id="call", title="call", instrument="probe", comparable=True, cycles=cycles, mark_cycles=cycles),)})
    for name, cycles in (("t2", (100, 100, 101)), ("t9", (110, 110, 112)))
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "stat", "of", "ns", "outcome"),
    [
        ("ascending", "median", [T2, T9], 0, "same"), ("ascending", "median", [T2, T9], 79, "same"),
        ("ascending", "median", [T2, T9], 81, "tie"), ("ascending", "median", [T9, T2], 81, "tie"),
        ("ascending", "median", [T9, T2], 79, "different"), ("distinct", "median", [T9, T2], 81, "tie"),
        ("not_longer", "median", [T9, T2], 81, "same"), ("not_longer", "median", [T9, T2], 79, "different"),
        ("no_spread", None, [T2], 7, "different"), ("no_spread", None, [T2], 9, "same"),
        ("spread", None, [T2], 9, "different"), ("spread", None, [T2, T9], 7, "same"),
        ("spread", None, [T2, T9], 9, "different"),
    ],
)  # fmt: skip
def test_times_are_told_apart_as_the_papers_instrument_could(
    kind: str, stat: str | None, of: list[dict[str, str]], ns: float, outcome: str
) -> None:
    """At 125 MHz a cycle is 8 ns: the medians are 80 ns apart, the first spreads by 8 ns, the second by 16 ns."""
    where = {"metric": "call", **({"stat": stat} if stat else {})}
    resolution = Resolution(seconds=ns * 1e-9, source="its sample")
    (verdict,) = judge_claims([claim(kind, of=of).model_copy(update={"where": where})], TIMED, resolution=resolution)
    assert verdict.outcome == outcome
    assert verdict.threshold == (f"no difference up to {ns} ns: its sample" if ns else "")


@pytest.mark.parametrize("kind", ["ratio", "alike", "per_core_drops", "first_step_largest", "steps_shrink", "gradual"])
def test_a_threshold_says_where_it_comes_from(kind: str) -> None:
    with pytest.raises(ValidationError, match="needs both bound and bound_from"):
        claim(kind)
    with pytest.raises(ValidationError, match="needs both bound and bound_from"):
        claim(kind, bound=2, bound_from="")


def test_a_claim_on_a_kernel_that_is_not_there_waits() -> None:
    (verdict,) = judge_claims([claim("ascending", of=[T2, T9], needs=["other"])], VALUES, KERNELS)
    assert (verdict.outcome, verdict.seen) == ("bring your own", "needs other: no tree of it is named here")


@pytest.mark.parametrize(
    ("counts", "first_largest", "shrink"),
    [
        ((1000, 500, 480, 460, 450, 449), "same", "same"),
        ((1000, 990, 980, 900, 600, 100), "different", "different"),
        ((1000, 1100, 500, 480, 470, 465), "different", "same"),
        ((1000, 1000, 1000, 1000, 1000, 1000), "different", "different"),
        ((1000, 998, 1001, 999, 1000, 1000), "different", "different"),
    ],
)
def test_claims_along_a_sweep(counts: tuple[int, ...], first_largest: str, shrink: str) -> None:
    swept = []
    for step, count in enumerate(counts):
        each = measured(1, count)
        swept.append(
            each.model_copy(update={"point": each.point.model_copy(update={"config": {"param.s": str(10 * step)}})})
        )
    first = claim("first_step_largest", along="param.s", bound=2)
    assert judge_claims([first], swept)[0].outcome == first_largest
    assert judge_claims([claim("steps_shrink", along="param.s", bound=0.0)], swept)[0].outcome == shrink
    assert judge_claims([first], swept[:2])[0].outcome == "not computed"


def test_noise_is_not_a_growing_step() -> None:
    swept = []
    for step, count in enumerate((1000, 290, 290, 290, 300)):
        each = measured(1, count)
        config = {"param.s": str(10 * step)}
        swept.append(each.model_copy(update={"point": each.point.model_copy(update={"config": config})}))
    assert judge_claims([claim("steps_shrink", along="param.s", bound=0.0)], swept)[0].outcome == "different"
    assert judge_claims([claim("steps_shrink", along="param.s", bound=0.02)], swept)[0].outcome == "same"


def test_runs_that_differ_in_a_seed_count_by_their_median() -> None:
    swept = []
    for step, counts in enumerate([(1000, 1010, 900), (400, 500, 480), (470, 470, 470)]):
        for seed, count in enumerate(counts):
            each = measured(1, count)
            config = {"param.s": str(10 * step), "param.seed": str(seed)}
            swept.append(each.model_copy(update={"point": each.point.model_copy(update={"config": config})}))
    (verdict,) = judge_claims([claim("first_step_largest", along="param.s", bound=2)], swept)
    assert (verdict.outcome, verdict.seen) == ("same", "0: 100.0%, 10: 48.0%, 20: 47.0%")
    figure = {
        "title": "F", "kind": "lines", "where": {"metric": "throughput", "stat": "total"}, "x": "param.s",
        "series": "kernel", "unit": "%", "y_title": "%", "x_title": "s", "percent_of": {"param.s": 0},
    }  # fmt: skip
    drawn = replot(Figure.model_validate(figure), values(swept))
    assert drawn is not None
    assert [row[1] for row in drawn[1].rows] == ["100", "49.5 (40 to 53.33)", "47 (46.53 to 52.22)"]
