"""Rules about tasks that no core binds, each seen to hold and to fail; what pinned tasks are asked stays theirs."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.records.decoder import decode_records
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import MeasurementWindowObservations, TaskSwitch
from tests.fakes import EXPECTED, WINDOW, WIRE, begin, board, count, handle, judge_one, judge_own, kernel, stream, task

CALLS = {"rule": "calls_per_count", "service": "take", "ratio": 1, "tolerance": 2}
SWITCHES = {"rule": "switches_per_count", "ratio": 1, "tolerance": 2}
TO = {"rule": "switched_to", "tasks": [0]}
OR_MORE = {**TO, "or_more": True}
MOSTLY = {**TO, "least_percent": 95}
EVERY = {"rule": "every_core", "tasks": [0]}
WITHIN = {"rule": "counters_within", "max_spread": 4, "max_percent": 1.0}
ASKED_PINNED = {**CALLS, "when": ["pinned = 1"]}


def unpinned_evidence(
    rule: dict[str, Any],
    *,
    pinned: str | None = "0",
    calls: tuple[int, int] = (90, 60),
    into: tuple[int, int] = (60, 40),
    counts: tuple[int, int] = (100, 50),
) -> BenchmarkProofEvidence:
    """Two homes of one task each: calls by core, and switches into the first one's task by core."""
    param = [] if pinned is None else [("param", {"name": "pinned", "value": pinned})]
    body: list[Any] = [*param, task(0), task(0, 1), WINDOW, count(0, counts[0]), count(0, counts[1], 1)]
    first, second = handle(0), handle(0, 1)
    observed = MeasurementWindowObservations(
        switches=Counter({TaskSwitch(core, second, first, "take"): into[core] for core in (0, 1)})
        + Counter({TaskSwitch(core, first, second, "take"): counts[1] // 2 for core in (0, 1)}),
        calls=Counter({(core, "take"): calls[core] for core in (0, 1)}),
    )
    facts = {
        "id": "t2", "title": "T2 test", "question": "?", "tasks_per_core": 1, "stack_bytes": 1024, "inside": "-",
        "outside": "-", "services": [], "metric": {"id": "m", "unit": "counts", "tasks": [0]},
        "params": {"pinned": 1}, "proof": [rule],
    }  # fmt: skip
    decoded = decode_records(stream(body, begin(cores=2)), WIRE, EXPECTED)
    return BenchmarkProofEvidence(decoded, observed, Benchmark.model_validate(facts), board(), kernel())


CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (CALLS, {}, ProofVerdict.HOLDS),  # 150 calls for 150 counts, though no core has as many as its tasks count
    (CALLS, {"pinned": "1"}, ProofVerdict.FAILS),
    (CALLS, {"pinned": None}, ProofVerdict.FAILS),  # an image of pinned tasks does not say so
    (CALLS, {"calls": (90, 65)}, ProofVerdict.FAILS),  # four are tolerated, two a core
    (CALLS, {"calls": (90, 64)}, ProofVerdict.HOLDS),
    (SWITCHES, {}, ProofVerdict.HOLDS),
    (SWITCHES, {"pinned": "1"}, ProofVerdict.FAILS),
    (SWITCHES, {"into": (60, 50)}, ProofVerdict.FAILS),
    (TO, {}, ProofVerdict.HOLDS),
    (TO, {"into": (60, 43)}, ProofVerdict.FAILS),
    (TO, {"into": (60, 37)}, ProofVerdict.FAILS),
    (TO, {"counts": (0, 50), "into": (0, 0)}, ProofVerdict.FAILS),
    (OR_MORE, {"into": (60, 80)}, ProofVerdict.HOLDS),
    (OR_MORE, {"into": (60, 37)}, ProofVerdict.FAILS),
    (MOSTLY, {"into": (60, 33)}, ProofVerdict.HOLDS),  # five of a hundred waits found it there, and two are the edges'
    (MOSTLY, {"into": (60, 32)}, ProofVerdict.FAILS),
    (MOSTLY, {"into": (60, 43)}, ProofVerdict.FAILS),
    (MOSTLY, {"counts": (0, 50), "into": (0, 0)}, ProofVerdict.FAILS),
    (EVERY, {}, ProofVerdict.HOLDS),
    (EVERY, {"into": (100, 0)}, ProofVerdict.HOLDS),  # the other one does
    (EVERY, {"into": (100, 0), "counts": (100, 0)}, ProofVerdict.FAILS),
    ({**EVERY, "at_least": 2}, {"into": (100, 0)}, ProofVerdict.FAILS),
    (WITHIN, {}, ProofVerdict.HOLDS),
    (ASKED_PINNED, {"pinned": None}, ProofVerdict.FAILS),
]


@pytest.mark.parametrize(("rule", "facts", "verdict"), CASES)
def test_proof_rule_for_unpinned_tasks(rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict) -> None:
    result = judge_one(unpinned_evidence(rule, **facts))
    assert result.verdict is verdict, result.saw
    assert result.saw


def test_calls_that_bind_tasks_to_other_cores_are_compared_on_all_cores_together() -> None:
    pinned = unpinned_evidence(CALLS, pinned=None)
    assert judge_one(pinned).verdict is ProofVerdict.FAILS
    moving = pinned.benchmark.model_copy(update={"services": ("affinity",)})
    assert judge_one(replace(pinned, benchmark=moving)).verdict is ProofVerdict.HOLDS


def test_rules_for_pinned_tasks_do_not_apply_to_unpinned_ones() -> None:
    assert not judge_own(unpinned_evidence(ASKED_PINNED))


@pytest.mark.parametrize(
    ("spread", "verdict"), [(4, ProofVerdict.HOLDS), (5, ProofVerdict.FAILS), (40, ProofVerdict.FAILS)]
)
def test_counters_may_differ_by_a_share_of_the_largest(spread: int, verdict: ProofVerdict) -> None:
    evidence = unpinned_evidence(WITHIN)
    metric = evidence.benchmark.metric.model_copy(update={"tasks": (0, 1)})
    built = evidence.benchmark.model_copy(update={"metric": metric, "tasks_per_core": 2})
    for large, expected in ((400, verdict), (4100, ProofVerdict.HOLDS if spread <= 41 else ProofVerdict.FAILS)):
        body: list[Any] = [task(0), task(1), WINDOW, count(0, large), count(1, large - spread)]
        one = BenchmarkProofEvidence(
            decode_records(stream(body), WIRE, EXPECTED), evidence.observed, built, board(), kernel()
        )
        result = judge_one(one)
        assert result.verdict is expected, result.saw
