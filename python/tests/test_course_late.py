"""The rule `course` where a sleep lasts a tick longer: one tick goes by, and no more."""

from rtoslab.results.finding import Verdict
from rtoslab.targets.steps import HANDLER, TICK, Step
from tests.test_course import FACTS, ONE, OTHER, call, judge, switch

SLEEP = {"rule": "course", "round": ["0 sleep_ticks 1", "switch 0 1", "tick", "preempt 1 0"]}
ASLEEP = [call("sleep", first=1), switch(ONE, OTHER, "sleep")]
A_TICK = Step(0, 0, TICK, HANDLER, "tick")
WOKEN = [A_TICK, switch(OTHER, ONE, "preempt")]
LATE = {**FACTS, "behaviour": {"sleep_adds_ticks": 1}}


def test_a_sleep_that_lasts_a_tick_longer_lets_one_go_by() -> None:
    assert judge(SLEEP, [*ASLEEP, *WOKEN] * 5).verdict is Verdict.HOLDS
    assert judge(SLEEP, [*ASLEEP, A_TICK, *WOKEN] * 5).verdict is Verdict.FAILS, "not declared"
    assert judge(SLEEP, [*ASLEEP, A_TICK, *WOKEN] * 5, LATE).verdict is Verdict.HOLDS
    assert judge(SLEEP, [*ASLEEP, A_TICK, A_TICK, *WOKEN] * 5, LATE).verdict is Verdict.FAILS, "two go by"
    assert judge(SLEEP, [*ASLEEP, A_TICK, call("yield", OTHER), *WOKEN] * 5, LATE).verdict is Verdict.FAILS
