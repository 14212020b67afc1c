"""The rule `course` and its neighbours: each is shown what it wants, then, one after the other, what it must refuse."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rtoslab.base.errors import CatalogueError
from rtoslab.proofs import BenchmarkProofEvidence, judge_benchmark_proofs
from rtoslab.proofs.expected_steps import parse_benchmark_steps
from rtoslab.results.finding import BenchmarkProofFinding, ProofVerdict
from rtoslab.targets.observe import BenchmarkFunction, CoreLoad, EquallyExecutedCodeRange, MeasurementWindowObservations
from rtoslab.targets.steps import CALL, FILL, HANDLER, INTERRUPT, SWITCH, TICK, ObservedBenchmarkStep
from tests.fakes import BODY, Fields, benchmark, board, decoded_run, handle, judge_one, kernel

ONE, OTHER, IDLE = handle(0), handle(1), 0x2000_F000
FACTS: dict[str, Any] = {
    "symbols": {
        "semaphore_take": ["take"], "semaphore_give": ["send"], "queue_send": ["send"], "yield": ["yield"],
        "malloc": ["malloc"], "free": ["free"], "sleep_ticks": ["sleep"],
    },
    "arguments": {
        "semaphore_take": ["object", 0xFFFF_FFFF], "semaphore_give": ["object", 0], "queue_send": ["object", "item"],
        "malloc": ["bytes"], "free": ["block"], "yield": [], "sleep_ticks": ["ticks"],
    },
    "results": {"semaphore_take": 1, "semaphore_give": 1},
    "objects": {"semaphore": {"type": "s", "members": {"maximum": "m", "used": "u"}}},
}  # fmt: skip


def call(
    name: str, who: int = ONE, first: int = 0x500, second: int = 0, result: int | None = 1, own: int = 5
) -> ObservedBenchmarkStep:
    return ObservedBenchmarkStep(0, 0, CALL, who, name, first, second, result, own_cycles=own)


def take(who: int = ONE, **changes: Any) -> ObservedBenchmarkStep:
    return replace(call("take", who, 0x500, 0xFFFF_FFFF), **changes)


def give(who: int = ONE, **changes: Any) -> ObservedBenchmarkStep:
    return replace(call("send", who), **changes)


def switch(before: int, after: int, cause: str = "send") -> ObservedBenchmarkStep:
    return ObservedBenchmarkStep(0, 0, SWITCH, before, cause, after)


def judge(
    rule: dict[str, Any], steps: Sequence[ObservedBenchmarkStep] = (), facts: dict[str, Any] = FACTS, **seen: Any
) -> BenchmarkProofFinding:
    observed = MeasurementWindowObservations(
        steps=tuple(replace(step, cycle=at) for at, step in enumerate(steps)), **seen
    )
    return judge_one(BenchmarkProofEvidence(decoded_run(BODY), observed, benchmark([rule]), board(), kernel(**facts)))


PAIR = {"rule": "course", "round": ["0 semaphore_take S", "0 semaphore_give S"]}
CHAIN = {"rule": "course", "round": ["0 semaphore_give S", "switch 0 1", "1 semaphore_take S", "switch 1 0"]}
CHAINED = [give(), switch(ONE, OTHER), take(OTHER), switch(OTHER, ONE, "take")]


BOUND = {"rule": "own_code", "instructions": 34}


@pytest.mark.parametrize(
    ("bound", "cycles", "own_cycles", "verdict"),
    [
        (BOUND, 700, 373, ProofVerdict.HOLDS),  # its code is driven out of the cache
        (BOUND, 180, 373, ProofVerdict.FAILS),  # it is not
        (BOUND, 700, 900, ProofVerdict.FAILS),  # for longer than that explains
        ({"rule": "own_code"}, 700, 373, ProofVerdict.FAILS),  # how many instructions it is, nobody says
        ({**BOUND, "when": ["cores > 1"]}, 700, 373, ProofVerdict.FAILS),
    ],
)
def test_own_code_limit_grows_with_its_instructions(
    bound: dict[str, Any], cycles: int, own_cycles: int, verdict: ProofVerdict
) -> None:
    own = (BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(0x100, 10, 10, cycles),), ()),)
    observed = MeasurementWindowObservations(steps=tuple([take(own_cycles=own_cycles), give()] * 5), own=own)
    given = BenchmarkProofEvidence(decoded_run(BODY), observed, benchmark([PAIR, bound]), board(), kernel(**FACTS))
    (result,) = (finding for finding in judge_benchmark_proofs(given) if finding.rule == "course")
    assert result.verdict is verdict, result.saw


def test_rounds_of_the_named_steps_hold() -> None:
    result = judge(PAIR, [take(), give()] * 5)
    assert result.verdict is ProofVerdict.HOLDS, result.saw
    assert "5 rounds" in result.saw
    assert judge(PAIR, [give(), *[take(), give()] * 5, take()]).verdict is ProofVerdict.HOLDS, (
        "a window begins and ends anywhere"
    )
    assert judge(CHAIN, CHAINED * 5).verdict is ProofVerdict.HOLDS


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        ([take(), give(), give()], "twice"),
        ([take()], "no give"),
        ([take(), give(first=0x600)], "another object"),
        ([take(second=0), give()], "a take that gives up at once"),
        ([take(result=0), give()], "a take that failed"),
        ([take(), give(second=0x700)], "a message instead of a give"),
        ([take(), give(who=OTHER)], "by another task"),
        ([take(), give(who=HANDLER)], "by a handler"),
        ([take(), call("yield"), give()], "another call of the kernel between"),
        ([take(own_cycles=900), give()], "a long way between"),
        ([give(), take(second=3)], "a time-out"),
    ],
)
def test_any_other_round_fails(broken: list[ObservedBenchmarkStep], what: str) -> None:
    result = judge(PAIR, broken * 8)
    assert result.verdict is ProofVerdict.FAILS, what


@pytest.mark.parametrize(
    "broken",
    [
        [give(), switch(ONE, OTHER, ""), take(OTHER), switch(OTHER, ONE, "take")],
        [give(), switch(ONE, IDLE), switch(IDLE, OTHER), take(OTHER), switch(OTHER, ONE, "take")],
        [give(), take(), switch(ONE, OTHER), switch(OTHER, ONE)],
        [
            give(),
            ObservedBenchmarkStep(0, 0, INTERRUPT, ONE, first=16 + 26),
            switch(ONE, OTHER),
            take(OTHER),
            switch(OTHER, ONE, "take"),
        ],
    ],
)
def test_switch_must_happen_inside_its_call(broken: list[ObservedBenchmarkStep]) -> None:
    assert judge(CHAIN, broken * 8).verdict is ProofVerdict.FAILS


def test_kernel_may_know_a_task_by_its_priority() -> None:
    facts = {"symbols": {"resume": ["resume"]}, "arguments": {"resume": ["task_priority"]}}
    rule = {"rule": "course", "round": ["0 resume T1"]}
    known_as = {ONE: 9, OTHER: 8}
    assert judge(rule, [call("resume", first=8)] * 9, facts, priorities=known_as).verdict is ProofVerdict.HOLDS
    assert judge(rule, [call("resume", first=9)] * 9, facts, priorities=known_as).verdict is ProofVerdict.FAILS
    assert judge(rule, [call("resume", first=OTHER)] * 9, facts, priorities=known_as).verdict is ProofVerdict.FAILS
    assert judge(rule, [call("resume", first=8)] * 9, facts).verdict is ProofVerdict.FAILS, "priorities were not seen"


def test_single_wrong_round_is_found_and_may_be_accepted() -> None:
    steps = [*[take(), give()] * 20, call("yield"), *[take(), give()] * 20]
    assert judge(PAIR, steps).verdict is ProofVerdict.FAILS
    assert judge({**PAIR, "tolerance": 1}, steps).verdict is ProofVerdict.HOLDS


def test_no_calls_give_no_round() -> None:
    assert judge(PAIR).verdict is ProofVerdict.FAILS
    assert judge(PAIR, [take(), give()]).verdict is ProofVerdict.FAILS, "fewer than at_least"


def test_inlined_yield_is_a_switch_outside_calls() -> None:
    rule = {"rule": "course", "round": ["0 yield", "switch 0 1", "1 yield", "switch 1 0"]}
    facts = {
        **FACTS,
        "symbols": {"yield": ["pendsv"]},
        "probes": {"current_task_single": "c", "switch_symbol": "pendsv"},
    }
    assert judge(rule, [switch(ONE, OTHER, ""), switch(OTHER, ONE, "")] * 5, facts).verdict is ProofVerdict.HOLDS
    assert judge(rule, [switch(ONE, OTHER, "take"), switch(OTHER, ONE, "")] * 5, facts).verdict is ProofVerdict.FAILS


def test_blocks_are_allocated_filled_and_freed() -> None:
    rule = {"rule": "course", "round": ["0 malloc {words}", "0 fill", "0 free"]}
    good = [
        call("malloc", first=32, result=0x9000),
        ObservedBenchmarkStep(0, 0, FILL, ONE, first=0x9000, second=32),
        call("free", first=0x9000),
    ]
    assert judge(rule, good * 5).verdict is ProofVerdict.HOLDS
    small = [replace(good[0], first=8), *good[1:]]
    unfilled = [good[0], good[2]]
    another = [*good[:2], replace(good[2], first=0x9100)]
    shorter = [good[0], replace(good[1], second=8), good[2]]
    for broken in (small, unfilled, another, shorter):
        assert judge(rule, broken * 5).verdict is ProofVerdict.FAILS


def test_alternatives_groups_and_repeats() -> None:
    nap = [
        call("sleep", first=2),
        switch(ONE, IDLE, "sleep"),
        ObservedBenchmarkStep(0, 0, TICK, IDLE, first=15),
        switch(IDLE, ONE, ""),
    ]
    rule = {
        "rule": "course",
        "round": [
            "0 sleep_ticks 2",
            "switch 0 other",
            "tick",
            "preempt other 0",
            "( 0 semaphore_take S, 0 semaphore_give S ) *",
            "0 yield +2",
        ],
    }
    good = [*nap, *[take(), give()] * 3, *[call("yield")] * 4]
    assert judge(rule, good * 4).verdict is ProofVerdict.HOLDS
    assert judge(rule, [*nap, take(), give(), call("yield")] * 4).verdict is ProofVerdict.FAILS, "one yield is too few"
    assert judge(rule, [*nap, take(), *[call("yield")] * 2] * 4).verdict is ProofVerdict.FAILS, "half a group"
    either = {"rule": "course", "rounds": [["0 semaphore_take S | 0 semaphore_give S"], ["0 yield"]]}
    assert judge(either, [take(), call("yield"), give(), give()]).verdict is ProofVerdict.HOLDS


def test_kernel_that_slices_may_break_the_order_at_its_ticks() -> None:
    tick = ObservedBenchmarkStep(0, 0, TICK, ONE, first=15)
    steps = [*CHAINED * 5, give(), tick, *CHAINED * 5]
    assert judge(CHAIN, steps).verdict is ProofVerdict.FAILS
    assert judge(CHAIN, steps, {**FACTS, "time_slice_ticks": 1}).verdict is ProofVerdict.HOLDS


@pytest.mark.parametrize("text", ["", "0", "switch 0", "interrupt usb", "0 take {nothing}", "nobody take S"])
def test_invalid_step_is_refused(text: str) -> None:
    with pytest.raises(CatalogueError, match="step"):
        parse_benchmark_steps([text], {})


GIVEN = {("semaphore", 0x500): {"maximum": 1, "used": 1}}
SEMAPHORE = {("semaphore", 0x500): {"maximum": 1, "used": 1, "nonzero head": 1}}
MUTEX = {("semaphore", 0x500): {"maximum": 1, "used": 1, "nonzero head": 0}}
RIGHT = {"rule": "priorities", "of": [1, 1]}
HOLDING = {"rule": "objects", "service": "semaphore_take", "are": {"maximum": 1, "used": 1}}
BUSY = {"rule": "busy", "instructions": 10, "least": 5}
DRAWN = {"rule": "drawn_anew", "from_cycles": 1000, "to_cycles": 9000}
MIX = {"rule": "heap_mix", "sizes": [8, 16], "held": "places"}
PERIODS = {"rule": "calls_as_periods", "service": "sleep_ticks"}
WORK = {"rule": "runs_for", "service": "sleep_ticks"}
PARAMS: list[tuple[str, Fields]] = [("param", {"name": name, "value": value}) for name, value in
          (("places", "2"), ("period_0_ms", "2"), ("work_0_us", "80"))]  # fmt: skip


def interrupts(*distances: int) -> list[ObservedBenchmarkStep]:
    cycles = [sum(distances[:index]) for index in range(len(distances) + 1)]
    return [ObservedBenchmarkStep(cycle, 0, INTERRUPT, ONE, first=16 + 4) for cycle in cycles]


def blocks(*sizes: int, held: int = 2) -> list[ObservedBenchmarkStep]:
    taken = [call("malloc", first=size, result=0x9000 + 0x100 * index) for index, size in enumerate(sizes)]
    freed = [call("free", first=item.result or 0) for item in taken]
    return [*taken, *freed] if held > 1 else [step for pair in zip(taken, freed, strict=True) for step in pair]


def periods(ticks_each: int) -> list[ObservedBenchmarkStep]:
    return [call("sleep"), *[ObservedBenchmarkStep(0, 0, TICK, ONE, first=15)] * ticks_each] * 10


def jobs(cycles: int) -> list[ObservedBenchmarkStep]:
    """Task 0 works for so long after each sleep; a cycle is 8 ns."""
    results = []
    for at in range(0, 200_000, 20_000):
        results += [replace(switch(IDLE, ONE), cycle=at), replace(call("sleep"), cycle=at + cycles)]
        results.append(replace(switch(ONE, IDLE, "sleep"), cycle=at + cycles + 10))
    return results


CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (PAIR, {"steps": [take(), give()] * 5}, ProofVerdict.HOLDS),
    (PAIR, {"steps": [give(), give()] * 5}, ProofVerdict.FAILS),
    (RIGHT, {"priorities": {ONE: 5, OTHER: 5}}, ProofVerdict.HOLDS),
    (RIGHT, {"priorities": {ONE: 5, OTHER: 6}}, ProofVerdict.FAILS),
    (RIGHT, {"priorities": {ONE: 5}}, ProofVerdict.FAILS),  # one never ran
    ({**RIGHT, "of": [2, 1]}, {"priorities": {ONE: 6, OTHER: 5}}, ProofVerdict.FAILS),  # the image says 1 and 1
    (HOLDING, {"steps": [take()], "objects_at_open": GIVEN}, ProofVerdict.HOLDS),
    (HOLDING, {"steps": [give()], "objects_at_open": GIVEN}, ProofVerdict.FAILS),  # it was not called
    (HOLDING, {"steps": [take(first=0x600)], "objects_at_open": GIVEN}, ProofVerdict.FAILS),
    (HOLDING, {"steps": [take()], "objects_at_open": {("semaphore", 0x500): {"maximum": 9, "used": 1}}},
        ProofVerdict.FAILS),
    (HOLDING, {"steps": [take()], "objects_at_open": SEMAPHORE}, ProofVerdict.HOLDS),
    (HOLDING, {"steps": [take()], "objects_at_open": MUTEX}, ProofVerdict.FAILS),
    (HOLDING, {"steps": [take()], "objects_at_open": {("semaphore", 0x500): {"maximum": 1, "used": 0}}},
        ProofVerdict.FAILS),
    (BUSY, {"loads": {0: CoreLoad(1000, 10, 24_000)}}, ProofVerdict.HOLDS),
    (BUSY, {"loads": {0: CoreLoad(1000, 30, 24_000)}}, ProofVerdict.FAILS),
    (BUSY, {"loads": {0: CoreLoad(1000, 10, 240_000)}}, ProofVerdict.FAILS),
    (BUSY, {"loads": {0: CoreLoad(1000, 10, 2_400)}}, ProofVerdict.FAILS),
    (DRAWN, {"steps": interrupts(*range(1000, 9000, 500))}, ProofVerdict.HOLDS),
    (DRAWN, {"steps": interrupts(*[5000] * 16)}, ProofVerdict.FAILS),
    (DRAWN, {"steps": interrupts(*range(1000, 2000, 50))}, ProofVerdict.FAILS),
    (DRAWN, {"steps": interrupts(*range(1000, 90_000, 5000))}, ProofVerdict.FAILS),
    (DRAWN, {"steps": []}, ProofVerdict.FAILS),
    (MIX, {"steps": blocks(8, 16), "samples": 20}, ProofVerdict.HOLDS),
    (MIX, {"steps": blocks(8, 8), "samples": 20}, ProofVerdict.FAILS),
    (MIX, {"steps": blocks(8, 16, 24), "samples": 20}, ProofVerdict.FAILS),
    (MIX, {"steps": blocks(8, 16, held=1), "samples": 20}, ProofVerdict.FAILS),
    (PERIODS, {"steps": periods(2)}, ProofVerdict.HOLDS),
    (PERIODS, {"steps": periods(4)}, ProofVerdict.FAILS),
    (PERIODS, {"steps": periods(0)}, ProofVerdict.FAILS),
    (WORK, {"steps": jobs(10_000)}, ProofVerdict.HOLDS),
    (WORK, {"steps": jobs(5_000)}, ProofVerdict.FAILS),
    (WORK, {"steps": []}, ProofVerdict.FAILS),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "seen", "verdict"), CASES)
def test_sequence_rule_holds_and_fails(rule: dict[str, Any], seen: dict[str, Any], verdict: ProofVerdict) -> None:
    observed = MeasurementWindowObservations(
        **{name: item for name, item in seen.items() if name not in {"samples", "steps"}}
    )
    observed.steps = tuple(seen.get("steps", ()))
    facts = decoded_run([*BODY[:2], *PARAMS, *BODY[2:]])
    finding = judge_one(
        BenchmarkProofEvidence(
            facts, observed, benchmark([rule]), board(), kernel(**FACTS), samples=seen.get("samples", 0)
        )
    )
    assert finding.verdict is verdict, finding.saw


def test_block_without_a_returned_address_is_known_by_its_writer() -> None:
    """Of a kernel whose allocator gives a code, is told the size third, and leaves the address somewhere else."""
    facts = {
        **FACTS,
        "arguments": {**FACTS["arguments"], "malloc": ["pointer", "pointer", "bytes"]},
        "results": {"malloc": 0},
    }
    rule = {"rule": "course", "round": ["0 malloc {words}", "0 fill", "0 free"]}
    good = [
        call("malloc", first=0x700, second=32, result=0),
        ObservedBenchmarkStep(0, 0, FILL, ONE, first=0x9000, second=32),
        call("free", first=0x9000),
    ]
    assert judge(rule, good * 5, facts).verdict is ProofVerdict.HOLDS
    small = [replace(good[0], second=8), *good[1:]]
    refused = [replace(good[0], result=1), *good[1:]]
    unfilled = [good[0], good[2]]
    another = [*good[:2], replace(good[2], first=0x9100)]
    for broken in (small, refused, unfilled, another):
        assert judge(rule, broken * 5, facts).verdict is ProofVerdict.FAILS
