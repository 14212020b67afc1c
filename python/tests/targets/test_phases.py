"""Rules on when samples were taken: in phases of their own, and enough of them for a tick to be inside."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.rules.phases_apart import ENOUGH, TickPhaseProofParameters
from rtoslab.proofs.rules.ticks_met import TicksInSampleProofParameters
from rtoslab.proofs.rules.ticks_met import judge_evidence as judge_ticks
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import MeasurementWindowObservations
from rtoslab.targets.steps import CALL, START, STOP, TICK, ObservedBenchmarkStep
from tests.fakes import decoded_run, judge_own, kernel
from tests.latency_fakes import Row, enter, evidence, orderly

APART = {"rule": "phases_apart", "series": ["give"]}


def samples_after_ticks(distances: Sequence[int]) -> list[ObservedBenchmarkStep]:
    """A sample so many cycles behind each tick, which come every 1000."""
    results = []
    for at, distance in enumerate(distances):
        tick = ObservedBenchmarkStep(1000 * at, 0, TICK, 0)
        begin = replace(tick, cycle=tick.cycle + distance, kind=START, first=1)
        results += [tick, begin, replace(begin, cycle=begin.cycle + 5, kind=STOP)]
    return results


CASES: list[tuple[dict[str, Any], Sequence[int], ProofVerdict]] = [
    (APART, range(100, 140, 11), ProofVerdict.HOLDS),
    (APART, [100] * 4, ProofVerdict.FAILS),  # one locked phase
    (APART, [100, 111, 100, 111], ProofVerdict.FAILS),  # two of them
    (APART, [100, 111, 122, 111], ProofVerdict.HOLDS),  # it begins anew
    (APART, [], ProofVerdict.FAILS),
    (APART, [*range(101)] * 3, ProofVerdict.HOLDS),  # it began anew twice
    (APART, [*range(50)] * 6, ProofVerdict.FAILS),
]


@pytest.mark.parametrize(("rule", "distances", "verdict"), CASES)
def test_samples_begin_at_different_phases(
    rule: dict[str, Any], distances: Sequence[int], verdict: ProofVerdict
) -> None:
    built = evidence(rule)
    seen = replace(
        built,
        samples=max(4, len(distances)),
        observed=MeasurementWindowObservations(steps=tuple(samples_after_ticks(distances))),
    )
    (result,) = (finding for finding in judge_own(seen) if finding.rule == APART["rule"])
    assert result.verdict is verdict, result.saw


CALLED = {"rule": "phases_apart", "service": "semaphore_give"}


@pytest.mark.parametrize(
    ("distances", "verdict"), [(range(100, 140, 11), "holds"), ([100, 111] * 2, "fails"), ([], "fails")]
)
def test_calls_come_at_different_phases(distances: Sequence[int], verdict: str) -> None:
    built = evidence(CALLED)
    steps = [
        replace(step, kind=CALL, name="give") if step.kind == START else step
        for step in samples_after_ticks(distances)
        if step.kind != STOP
    ]
    facts = kernel(symbols={"semaphore_give": ["give"]})
    other = [replace(step, name="take") for step in samples_after_ticks(range(4)) if step.kind == START]
    seen = replace(built, kernel=facts, samples=9, observed=MeasurementWindowObservations(steps=(*steps, *other)))
    (result,) = (finding for finding in judge_own(seen) if finding.rule == CALLED["rule"])
    assert result.verdict.value == verdict, result.saw


@pytest.mark.parametrize("keys", [{}, {"series": ["give"], "service": "semaphore_give"}])
def test_phases_are_of_series_or_of_a_service(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="say either series or service"):
        TickPhaseProofParameters.model_validate({"rule": "phases_apart", **keys})


def test_enough_phases_depend_on_the_drift() -> None:
    header = (find_checkout_root() / "firmware/include/bench/drift.h").read_text()
    assert f"#define BENCH_DRIFT_PASSES {ENOUGH}u\n" in header


DRIFT_LOOP = 10
"""Instructions of the loop of bench/drift.h, each of which is executed as often as the wait of a round takes."""


def test_every_benchmark_that_drifts_accounts_for_its_wait() -> None:
    drifting = [
        benchmark.facts
        for benchmark in Catalogue(find_checkout_root()).benchmarks.values()
        if "drift" in benchmark.facts.params
    ]
    assert drifting
    for facts in drifting:
        proofs = [
            item for item in facts.proof if item["rule"] == "own_code" and "drift = 0" not in item.get("when", ())
        ]
        assert proofs, facts.id
        assert all(proof.get("waits", 0) >= DRIFT_LOOP for proof in proofs), facts.id


MET = {"rule": "ticks_met", "series": "give", "at_least": "samples"}
CASES_OF_TICKS: list[tuple[dict[str, Any], Sequence[Row], str, ProofVerdict]] = [
    (MET, orderly(inside=[enter(50)]), "2", ProofVerdict.HOLDS),
    (MET, orderly(), "1", ProofVerdict.FAILS),
    (MET, orderly(inside=[enter(50)]), "3", ProofVerdict.FAILS),
]


@pytest.mark.parametrize(("rule", "rows", "wanted", "verdict"), CASES_OF_TICKS)
def test_required_number_of_samples_contains_a_tick(
    rule: dict[str, Any], rows: Sequence[Row], wanted: str, verdict: ProofVerdict
) -> None:
    built = evidence(rule, rows=rows)
    body = replace(built.decoded, params={**built.decoded.params, "samples": wanted})
    assert (
        judge_ticks(TicksInSampleProofParameters.model_validate(rule), replace(built, decoded=body)).verdict is verdict
    )


def test_phase_rules_need_probes() -> None:
    built = evidence(APART)
    blind = BenchmarkProofEvidence(decoded_run(), None, built.benchmark, built.board, kernel(), 2)
    assert {finding.verdict for finding in judge_own(blind)} == {ProofVerdict.UNSEEN}
