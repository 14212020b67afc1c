"""The rule `course` where its steps begin in the middle of a round."""

import pytest

from rtoslab.results.finding import ProofVerdict
from tests.proofs.test_course import give, judge, take

BURST = {"rule": "course", "round": ["0 semaphore_take S", "( 0 semaphore_give S ) +2"]}


@pytest.mark.parametrize(
    ("before", "gives", "verdict"),
    [
        (30, 30, ProofVerdict.HOLDS),
        (450, 500, ProofVerdict.HOLDS),  # a part of a round, as long as rounds are
        (450, 30, ProofVerdict.FAILS),  # so much of something else
        (900, 500, ProofVerdict.HOLDS),
        (902, 500, ProofVerdict.FAILS),
    ],
)
def test_partial_round_before_the_first_is_accepted(before: int, gives: int, verdict: ProofVerdict) -> None:
    steps = [*[give()] * before, *[take(), *[give()] * gives] * 5]
    assert judge(BURST, steps).verdict is verdict
