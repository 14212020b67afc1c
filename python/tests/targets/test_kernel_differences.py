"""What kernels do in ways of their own: proofs and instruments follow what kernel.toml declares, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.instruments.subject import ObservedRunSection
from rtoslab.instruments.timelines import TASKS, _TimelineBuilder
from rtoslab.measure.point_result import cycles_slept_for_kernel_lock
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.results.finding import BenchmarkProofFinding, ProofVerdict
from rtoslab.rta.trace import read_task_set_trace
from rtoslab.targets.event_kinds import (
    IDENT_CURRENT,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_THREAD,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import HARDFAULT, PENDSV, SVCALL, SYSTICK
from rtoslab.targets.intervals import LatencyBenchmarkIntervals
from rtoslab.targets.observe import MeasurementWindowObservations
from rtoslab.targets.profiles import IDLE, FunctionCycles
from rtoslab.targets.steps import CALL, HANDLER, INTERRUPT, ObservedBenchmarkStep
from tests.fakes import benchmark, board, decoded_run, evidence, handle, judge_one, kernel

SOFT = 16 + 26
TASK, POOL, BLOCK = handle(0), 0x500, 0x9000
POOLS: dict[str, Any] = {
    "symbols": {"pool_take": ["get"], "pool_give": ["put"], "semaphore_give_from_isr": ["give"]},
    "arguments": {"pool_give": ["object", "block"]},
}
TAKE_GIVE = {"rule": "course", "round": ["0 pool_take P", "0 pool_give"]}


def judge(rule: dict[str, Any], steps: Sequence[ObservedBenchmarkStep], facts: dict[str, Any]) -> BenchmarkProofFinding:
    observed = MeasurementWindowObservations(steps=tuple(replace(step, cycle=at) for at, step in enumerate(steps)))
    return judge_one(BenchmarkProofEvidence(decoded_run(), observed, benchmark([rule]), board(), kernel(**facts)))


def call(
    name: str, first: int, second: int = 0, result: int | None = 0, who: int = TASK, own: int = 5
) -> ObservedBenchmarkStep:
    return ObservedBenchmarkStep(0, 0, CALL, who, name, first, second, result, own_cycles=own)


PAIR = [call("get", POOL, result=BLOCK), call("put", POOL, BLOCK)]
STOLEN = [PAIR[0], call("put", POOL, BLOCK + 128)]


def test_block_given_back_to_a_pool_is_the_one_taken() -> None:
    assert judge(TAKE_GIVE, PAIR * 5, POOLS).verdict is ProofVerdict.HOLDS
    assert judge(TAKE_GIVE, STOLEN * 5, POOLS).verdict is ProofVerdict.FAILS


def test_pool_that_returns_a_code_hides_its_block() -> None:
    facts = {**POOLS, "arguments": {"pool_give": ["block"]}, "results": {"pool_take": 0}}
    coded = [call("get", POOL, result=0), call("put", BLOCK)]
    assert judge(TAKE_GIVE, coded * 5, facts).verdict is ProofVerdict.HOLDS
    refused = [call("get", POOL, result=4), call("put", BLOCK)]
    assert judge(TAKE_GIVE, refused * 5, facts).verdict is ProofVerdict.FAILS


@pytest.mark.parametrize(("entry", "verdict"), [("kernel", ProofVerdict.HOLDS), ("vector", ProofVerdict.FAILS)])
def test_dispatcher_before_the_handler_is_kernel_code(entry: str, verdict: ProofVerdict) -> None:
    rule = {"rule": "course", "round": ["interrupt soft", "isr semaphore_give_from_isr S"]}
    steps = [ObservedBenchmarkStep(0, 0, INTERRUPT, TASK, first=SOFT), call("give", 0x600, who=HANDLER, own=900)]
    assert judge(rule, steps * 5, {**POOLS, "behaviour": {"handler_entry": entry}}).verdict is verdict


def test_own_code_after_a_handlers_first_step_counts() -> None:
    rule = {
        "rule": "course",
        "round": ["interrupt soft", "isr semaphore_give_from_isr S", "isr semaphore_give_from_isr S"],
    }
    gives = [call("give", 0x600, who=HANDLER, own=own) for own in (900, 900)]
    steps = [ObservedBenchmarkStep(0, 0, INTERRUPT, TASK, first=SOFT), *gives]
    assert judge(rule, steps * 5, {**POOLS, "behaviour": {"handler_entry": "kernel"}}).verdict is ProofVerdict.FAILS


def test_series_title_mentions_the_kernels_dispatcher() -> None:
    facts = Benchmark.model_validate({
        "id": "b", "title": "B", "question": "?", "kind": "latency", "tasks_per_core": 2, "stack_bytes": 1024,
        "inside": "-", "outside": "-", "services": [], "samples": 2,
        "series": [
            {"id": "entry", "title": "edge to handler", "starts": "-", "ends": "-", "enters_handler": True},
            {"id": "give", "title": "give", "starts": "-", "ends": "-"},
        ],
    })  # fmt: skip
    assert [series_facts.title for series_facts in facts.restrict_to_kernel_services(kernel()).series] == [
        "edge to handler",
        "give",
    ]
    behind = facts.restrict_to_kernel_services(kernel(behaviour={"handler_entry": "kernel"}))
    assert [series_facts.title for series_facts in behind.series] == [
        "edge to handler, through the kernel's dispatcher",
        "give",
    ]


CHAIN = {"rule": "preempts_in_order", "tasks": [0, 1, 2], "service": "resume", "blocks": "suspend_self"}
UP = {
    (0, 1, "resume"): 1001, (1, 2, "resume"): 1002, (2, 1, "suspend_self"): 1002, (1, 0, "suspend_self"): 1001,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, ProofVerdict.HOLDS),
        ({(0, 1, "resume"): 900}, ProofVerdict.FAILS),
        ({(0, 1, "notify_give"): 50}, ProofVerdict.FAILS),
    ],
)
def test_task_chain_may_use_resume_and_suspend(change: dict[Any, int], verdict: ProofVerdict) -> None:
    finding = judge_one(evidence(CHAIN, switches={**UP, **change}))
    assert finding.verdict is verdict, finding.saw


@pytest.mark.parametrize(
    ("names", "verdict"),
    [(["pendsv"], ProofVerdict.FAILS), (["svcall", "pendsv"], ProofVerdict.HOLDS), (["systick"], ProofVerdict.FAILS)],
)
def test_switch_places_are_searched_after_switching_exceptions(names: list[str], verdict: ProofVerdict) -> None:
    rule = {"rule": "interrupted_anywhere", "line": "asynchronous", "by_switch": True, "places": 2}
    resumed = {PENDSV: frozenset({0x100}), SVCALL: frozenset({0x200})}
    observed = MeasurementWindowObservations(intervals=LatencyBenchmarkIntervals((), (), (), resumed))
    facts = kernel(behaviour={"switch_exceptions": names})
    finding = judge_one(BenchmarkProofEvidence(decoded_run(), observed, benchmark([rule]), board(), facts))
    assert finding.verdict is verdict


Row = tuple[int, int, int, int]


def example_rows(*rows: Row) -> Any:
    """(cycle, kind, ident, value)"""
    events = np.zeros(len(rows), dtype=EVENT)
    for index, (cycle, kind, ident, value) in enumerate(rows):
        events[index] = (cycle, value, 0, ident, kind, 0, 0)
    return events


def test_hardfault_used_for_switching_is_a_handler() -> None:
    rows = [
        (1000, KIND_EXCEPTION_ENTER, SYSTICK, 0), (1010, KIND_EXCEPTION_EXIT, SYSTICK, 0),
        (1100, KIND_EXCEPTION_ENTER, HARDFAULT, 0), (1150, KIND_EXCEPTION_EXIT, HARDFAULT, 0),
    ]  # fmt: skip
    plain = read_task_set_trace(example_rows(*rows), (), 1000, 2000, origin=0)
    assert [handler.exception for handler in plain.handlers] == [SYSTICK]
    request = read_task_set_trace(example_rows(*rows), (), 1000, 2000, origin=0, exceptions={SVCALL, HARDFAULT})
    assert [(handler.exception, handler.is_requested_by_task) for handler in request.handlers] == [
        (SYSTICK, False),
        (HARDFAULT, True),
    ]


@pytest.mark.parametrize(
    ("none", "spans"), [([], [("task 0x8", 0, 90)]), ([0], [("task 0x8", 0, 40), ("task 0x8", 70, 90)])]
)
def test_timeline_shows_no_task_if_the_kernel_says_so(none: list[int], spans: list[tuple[str, int, int]]) -> None:
    facts = kernel(probes={"current_task_single": "current", "no_task_value": none})
    rows = [
        (1, KIND_THREAD, 0, 1),
        (40, KIND_WRITE, IDENT_CURRENT, 0),
        (60, KIND_WRITE, IDENT_CURRENT, 8),
        (70, KIND_THREAD, 0, 1),
    ]
    recording: Any = SimpleNamespace(
        subject=SimpleNamespace(
            kernel=facts, cores=1, label="x", board=board(), stretch=ObservedRunSection(), expected=""
        ),
        events=example_rows(*rows),
        start_cycle=0, end_cycle=90, clock_hz=1, symbols=[], words_at_start={0x10: 8}, unhandled=(),
    )  # fmt: skip
    result = _TimelineBuilder(recording, {}, {0: 0x10}).make_timeline()
    assert [(span.name, span.start, span.end) for span in result.spans if span.track.name == TASKS] == [
        (name, max(start, 1), end) for name, start, end in spans
    ]


def test_sleep_counts_as_lock_wait_only_if_not_idle() -> None:
    cores = [{"sleep_cycles": setting} for setting in (100, 200, 300)]
    ran = [FunctionCycles(0, "take", "critical", 5, 0, 1), FunctionCycles(1, "take", "critical", 5, 0, 1)]
    idled = [*ran, FunctionCycles(1, "up_idle", IDLE, 9, 0, 1)]
    asleep, awake = (kernel(behaviour={"lock_wait": setting}) for setting in ("asleep", "spinning"))
    assert [(sleep.core, sleep.cycles) for sleep in cycles_slept_for_kernel_lock(cores, ran, asleep)] == [
        (0, 100),
        (1, 200),
    ]
    assert [sleep.core for sleep in cycles_slept_for_kernel_lock(cores, idled, asleep)] == [0]
    assert cycles_slept_for_kernel_lock(cores, ran, awake) == ()
    assert cycles_slept_for_kernel_lock(cores[:1], ran[:1], asleep) == ()
