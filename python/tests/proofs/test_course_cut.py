"""Rules that judge steps, of a round that is longer than what is kept of them."""

from dataclasses import replace
from typing import Any

import pytest

from rtoslab.proofs import BenchmarkProofEvidence, judge_benchmark_proofs
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import MeasurementWindowObservations
from rtoslab.targets.steps import ObservedBenchmarkStep
from tests import latency_fakes
from tests.fakes import BODY, board, decoded_run, kernel
from tests.proofs.test_course import FACTS, give, take

LOOP = {"rule": "course", "round": ["0 semaphore_take S", "( 0 semaphore_give S ) *", "0 yield"]}
LOOPING = [take(), *[give()] * 9]
GIVEN: dict[str, Any] = {"rule": "objects", "service": "semaphore_give", "are": {"maximum": 1}}


@pytest.mark.parametrize(
    ("rule", "steps", "cut", "verdict"),
    [
        (LOOP, LOOPING, True, ProofVerdict.HOLDS),
        (LOOP, LOOPING, False, ProofVerdict.FAILS),
        (LOOP, [*LOOPING, take()], True, ProofVerdict.FAILS),
        (GIVEN, [take()], True, ProofVerdict.UNSEEN),
        (GIVEN, [take()], False, ProofVerdict.FAILS),
        (GIVEN, [take(), give()], True, ProofVerdict.FAILS),
    ],
)
def test_long_round_is_judged_by_its_recorded_beginning(
    rule: dict[str, Any], steps: list[ObservedBenchmarkStep], cut: bool, verdict: ProofVerdict
) -> None:
    observed = MeasurementWindowObservations(
        steps=tuple(replace(step, cycle=at) for at, step in enumerate(steps)), steps_cut=cut
    )
    built = BenchmarkProofEvidence(
        decoded_run(BODY), observed, latency_fakes.benchmark([rule]), board(), kernel(**FACTS), 2
    )
    (result,) = (finding for finding in judge_benchmark_proofs(built) if finding.rule == rule["rule"])
    assert result.verdict is verdict, result.saw
