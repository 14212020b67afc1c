"""The rule `course` where a sleep lasts a tick longer: one tick goes by, and no more."""

from dataclasses import replace

from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.steps import HANDLER, TICK, ObservedBenchmarkStep
from tests.proofs.test_course import FACTS, ONE, OTHER, call, judge, switch

SLEEP = {"rule": "course", "round": ["0 sleep_ticks 1", "switch 0 1", "tick", "preempt 1 0"]}
ASLEEP = [call("sleep", first=1), switch(ONE, OTHER, "sleep")]
A_TICK = ObservedBenchmarkStep(0, 0, TICK, HANDLER, "tick")
WOKEN = [A_TICK, switch(OTHER, ONE, "preempt")]
LATE = {**FACTS, "behaviour": {"sleep_adds_ticks": 1}}


def test_sleep_of_one_more_tick_is_accepted() -> None:
    assert judge(SLEEP, [*ASLEEP, *WOKEN] * 5).verdict is ProofVerdict.HOLDS
    assert judge(SLEEP, [*ASLEEP, A_TICK, *WOKEN] * 5).verdict is ProofVerdict.FAILS, "not declared"
    assert judge(SLEEP, [*ASLEEP, A_TICK, *WOKEN] * 5, LATE).verdict is ProofVerdict.HOLDS
    assert judge(SLEEP, [*ASLEEP, A_TICK, A_TICK, *WOKEN] * 5, LATE).verdict is ProofVerdict.FAILS, "two go by"
    assert judge(SLEEP, [*ASLEEP, A_TICK, call("yield", OTHER), *WOKEN] * 5, LATE).verdict is ProofVerdict.FAILS


WAIT = {"rule": "course", "round": ["0 yield", "tick", "tick ?", *SLEEP["round"]]}


def test_round_with_explicit_ticks_gets_no_extra_tick() -> None:
    """As that of a wait that ends by its time-out, which lasts a tick longer, too; then the task sleeps."""

    def of(waited: int, slept: int) -> list[ObservedBenchmarkStep]:
        return [call("yield"), *[A_TICK] * waited, *ASLEEP, *[A_TICK] * slept, WOKEN[-1]]

    assert judge(WAIT, of(1, 1) * 5).verdict is ProofVerdict.HOLDS
    assert judge(WAIT, of(2, 2) * 5, LATE).verdict is ProofVerdict.HOLDS
    assert judge(WAIT, of(2, 2) * 5).verdict is ProofVerdict.FAILS, "not declared"
    assert judge(WAIT, of(3, 2) * 5, LATE).verdict is ProofVerdict.FAILS, "the wait is longer"
    assert judge(WAIT, of(2, 3) * 5, LATE).verdict is ProofVerdict.FAILS, "the sleep is longer"


def test_tick_before_an_optional_step_or_a_group_is_no_extra_tick() -> None:
    text = ["0 sleep_ticks 1", "switch 0 1", "preempt 1 0", "tick", "0 sleep_ticks 2 ?", "( 0 yield ) +1"]
    steps = [*ASLEEP, WOKEN[-1], A_TICK, call("yield")] * 5
    assert judge({"rule": "course", "round": text}, steps, LATE).verdict is ProofVerdict.HOLDS


UNTIL = {
    **FACTS,
    "symbols": {**FACTS["symbols"], "tick_now": ["now"]},
    "arguments": {**FACTS.get("arguments", {}), "sleep_ticks": ["end_tick"], "tick_now": []},
}


def sleep_until(now: int, ticks: int = 1, report: bool = True) -> list[ObservedBenchmarkStep]:
    """A look at the clock, and a sleep to a tick reckoned from it."""
    return [replace(call("now"), result=now if report else None), call("sleep", first=now + ticks), ASLEEP[1]]


def test_sleep_until_a_time_is_measured_from_the_clock_read() -> None:
    rounds = [step for now in range(90, 95) for step in (*sleep_until(now), *WOKEN)]
    assert judge(SLEEP, rounds, UNTIL).verdict is ProofVerdict.HOLDS
    assert judge(SLEEP, rounds, {**UNTIL, "arguments": FACTS.get("arguments", {})}).verdict is ProofVerdict.FAILS
    longer = [step for now in range(90, 95) for step in (*sleep_until(now, 2), *WOKEN)]
    assert judge(SLEEP, longer, UNTIL).verdict is ProofVerdict.FAILS
    single = [step for now in range(90, 95) for step in (*sleep_until(now)[1:], *WOKEN)]
    assert judge(SLEEP, single, UNTIL).verdict is ProofVerdict.FAILS, "nobody looked at the clock"


def test_clock_read_without_observed_return_is_estimated_by_ticks() -> None:
    seen = [step for now in range(90, 95) for step in (*sleep_until(now, report=now == 93), *WOKEN)]
    assert judge(SLEEP, seen, UNTIL).verdict is ProofVerdict.HOLDS
    longer = [step for now in range(90, 95) for step in (*sleep_until(now, 1 + (now != 93), now == 93), *WOKEN)]
    assert judge(SLEEP, longer, UNTIL).verdict is ProofVerdict.FAILS
    never = [step for now in range(90, 95) for step in (*sleep_until(now, report=False), *WOKEN)]
    assert judge(SLEEP, never, UNTIL).verdict is ProofVerdict.FAILS, "what the clock said is not known"
