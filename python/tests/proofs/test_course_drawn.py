"""The rule `course` where rounds come about by a draw, and where a call may never return."""

from dataclasses import replace
from random import Random

import pytest

from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import MeasurementWindowObservations
from tests.fakes import BODY, Fields, benchmark, board, decoded_run, judge_one, kernel
from tests.proofs.test_course import FACTS, PAIR, call, give, judge, take

SELDOM = {**PAIR, "drawn": {"percent": "percent", "cycles": 60}}


def verdict_of_draws(percent: int, rounds: int, pass_cycles: int, seed: int) -> ProofVerdict:
    """Rounds that come about as in a loop that draws in each pass, which takes so long without one."""
    random = Random(seed)  # noqa: S311 (a seed, no secret)
    steps = []
    for _ in range(rounds):
        passes = 0
        while random.randrange(100) >= percent:
            passes += 1
        steps += [take(own_cycles=60 + passes * pass_cycles), give()]
    body: list[tuple[str, Fields]] = [*BODY, ("param", {"name": "percent", "value": str(percent)})]
    observed = MeasurementWindowObservations(steps=tuple(replace(step, cycle=at) for at, step in enumerate(steps)))
    result = judge_one(
        BenchmarkProofEvidence(decoded_run(body), observed, benchmark([SELDOM]), board(), kernel(**FACTS))
    )
    return result.verdict


@pytest.mark.parametrize("percent", [1, 10, 50, 99, 100])
@pytest.mark.parametrize("rounds", [3, 30, 300])
def test_random_rounds_have_their_declared_frequency(percent: int, rounds: int) -> None:
    assert {verdict_of_draws(percent, rounds, 33, seed) for seed in range(30)} == {ProofVerdict.HOLDS}


def test_loop_that_idles_between_random_rounds_is_refused() -> None:
    assert verdict_of_draws(50, 300, 4_200, 1) is ProofVerdict.FAILS
    assert verdict_of_draws(10, 300, 200, 1) is ProofVerdict.FAILS
    assert judge(PAIR, [take(own_cycles=420), give()] * 30).verdict is ProofVerdict.FAILS, "nothing is drawn"


def test_call_that_never_returns_is_accepted_if_rounds_may_end_so() -> None:
    starving = {**PAIR, "at_least": 0}
    assert judge(starving, [take(result=None)]).verdict is ProofVerdict.HOLDS
    assert judge(starving, [*[take(), give()] * 2, take(result=None)]).verdict is ProofVerdict.HOLDS
    assert judge(starving, [give(result=None)]).verdict is ProofVerdict.FAILS, "no round begins so"
    assert judge(starving, [take(), call("yield")]).verdict is ProofVerdict.FAILS, "another call"
    assert judge(starving).verdict is ProofVerdict.FAILS, "nothing is called"
    assert judge(PAIR, [take(result=None)]).verdict is ProofVerdict.FAILS, "three rounds are demanded"
