"""Each rule holds on what it is for, and breaks on what it is against."""

import dataclasses
from typing import Any

import pytest

from rtoslab.base.errors import CatalogueError, UnknownNameError
from rtoslab.proofs import judge_benchmark_proofs, services_to_watch
from rtoslab.proofs.rules import benchmark_proof_rule_modules
from rtoslab.results.finding import ProofVerdict
from tests.fakes import BODY, CONTROL, WINDOW, benchmark, count, evidence, handle, judge_one, judge_own, kernel, task
from tests.proofs import test_course, test_drawn_proofs, test_keeps_period, test_latency_proofs, test_window_proofs
from tests.proofs.test_proofs_not_pinned import CASES as NOT_PINNED
from tests.proofs.test_proofs_two_cores import CASES as CASES_OF_TWO_CORES
from tests.targets import test_handlers, test_phases, test_stamped_series

ROTATION = {"rule": "rotation", "tasks": [0, 1, 2]}
CHAIN = {"rule": "preempts_in_order", "tasks": [0, 1, 2], "tolerance": 2}
UP = {
    (0, 1, "notify_give"): 1001,
    (1, 2, "notify_give"): 1002,
    (2, 1, "notify_take"): 1002,
    (1, 0, "notify_take"): 1001,
}
TURN = {(0, 1, ""): 1000, (1, 2, ""): 1000, (2, 0, ""): 999}
SPREAD = {"rule": "counters_within", "max_spread": 2}
IRQ = {"rule": "interrupt_per_count", "irq": "soft", "tolerance": 1}
SWITCHES = {"rule": "switches_per_count", "ratio": 1, "tolerance": 2}
CALLS = {"rule": "calls_per_count", "service": "yield", "ratio": 2, "tolerance": 2}
NONE = {"rule": "no_switches"}
ZERO = {"rule": "checks_zero", "checks": ["failures"]}
EQUAL = {"rule": "checks_equal", "checks": ["a", "b"]}
PERIODS = {"rule": "jobs_as_periods"}


def jobs(*counts: int) -> list[tuple[str, dict[str, Any]]]:
    """Of tasks with periods of 2, 3 and 7 ticks, in a window of 250."""
    periods = enumerate((2, 3, 7))
    checks = [("check", {"name": f"period_{at}_ticks", "core": 0, "value": period}) for at, period in periods]
    params = [("param", {"name": name, "value": value}) for name, value in (("tick_hz", "1000"), ("lead_ticks", "0"))]
    return [*params, WINDOW, *(count(at, number) for at, number in enumerate(counts)), *checks]


NO_COUNTS = [WINDOW, task(0), task(1), task(2)]
TOTAL = 3003  # counts of the three tasks of BODY

CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (ROTATION, {"switches": TURN}, ProofVerdict.HOLDS),
    (ROTATION, {"switches": {**TURN, (0, CONTROL, ""): 1, (CONTROL, 0, ""): 1}}, ProofVerdict.HOLDS),
    (ROTATION, {"switches": {**TURN, (0, 2, ""): 1}}, ProofVerdict.FAILS),  # one out of turn
    (ROTATION, {"switches": {(0, 1, ""): 1000, (1, 0, ""): 1000}}, ProofVerdict.FAILS),  # one task never runs
    (ROTATION, {"switches": {}}, ProofVerdict.FAILS),  # never switched
    (
        ROTATION,
        {"switches": TURN, "body": [WINDOW, *(count(i, 9) for i in range(3))]},
        ProofVerdict.FAILS,
    ),  # tasks unknown
    (CHAIN, {"switches": UP}, ProofVerdict.HOLDS),
    (CHAIN, {"switches": {**UP, (0, 1, "notify_give"): 900}}, ProofVerdict.FAILS),  # some did not preempt
    (CHAIN, {"switches": {**UP, (0, 1, "notify_take"): 50}}, ProofVerdict.FAILS),  # upwards by blocking
    (CHAIN, {"switches": {(0, 1, ""): 1001, (1, 2, ""): 1002}}, ProofVerdict.FAILS),  # not out of the giving call
    (CHAIN, {"switches": {}}, ProofVerdict.FAILS),
    (SPREAD, {}, ProofVerdict.HOLDS),
    ({**SPREAD, "max_spread": 1}, {}, ProofVerdict.FAILS),
    (SPREAD, {"body": [WINDOW, count(0, 5), count(1, 5)]}, ProofVerdict.FAILS),  # a task is silent
    (SPREAD, {"body": [WINDOW, count(0, 0), count(1, 0), count(2, 0)]}, ProofVerdict.FAILS),  # nobody counted
    (IRQ, {"exceptions": {42: TOTAL - 1}}, ProofVerdict.HOLDS),
    (IRQ, {"exceptions": {42: TOTAL - 2}}, ProofVerdict.FAILS),
    (IRQ, {"exceptions": {15: TOTAL}}, ProofVerdict.FAILS),  # another interrupt
    (IRQ, {"exceptions": {}, "body": NO_COUNTS}, ProofVerdict.FAILS),  # nothing happened at all
    (SWITCHES, {"switches": {(0, 1, ""): TOTAL}}, ProofVerdict.HOLDS),
    (SWITCHES, {"switches": {(0, 1, ""): TOTAL + 3}}, ProofVerdict.FAILS),
    (SWITCHES, {"switches": {(0, CONTROL, ""): TOTAL}}, ProofVerdict.FAILS),  # the control task's do not count
    (CALLS, {"calls": {"yield": 2 * TOTAL}}, ProofVerdict.HOLDS),
    (CALLS, {"calls": {"yield": TOTAL}}, ProofVerdict.FAILS),
    (CALLS, {"calls": {"malloc": 2 * TOTAL}}, ProofVerdict.FAILS),
    (NONE, {"switches": {(CONTROL, 0, ""): 1, (0, CONTROL, ""): 1}}, ProofVerdict.HOLDS),
    (NONE, {"switches": {(0, 1, ""): 1}}, ProofVerdict.FAILS),
    (NONE, {"body": NO_COUNTS}, ProofVerdict.FAILS),  # still, because nothing ran
    (PERIODS, {"body": jobs(125, 83, 35)}, ProofVerdict.HOLDS),
    (PERIODS, {"body": jobs(124, 83, 36)}, ProofVerdict.HOLDS),
    (PERIODS, {"body": jobs(122, 83, 35)}, ProofVerdict.FAILS),  # some periods without a job
    (PERIODS, {"body": jobs(125, 83, 0)}, ProofVerdict.FAILS),
    (PERIODS, {"body": [*jobs(125, 83, 35)[:2], *NO_COUNTS]}, ProofVerdict.FAILS),
    (ZERO, {}, ProofVerdict.HOLDS),
    ({**ZERO, "checks": ["a"]}, {}, ProofVerdict.FAILS),
    ({**ZERO, "checks": ["failures", "absent"]}, {}, ProofVerdict.FAILS),  # not reported is not zero
    (EQUAL, {}, ProofVerdict.HOLDS),
    ({**EQUAL, "checks": ["a", "failures"]}, {}, ProofVerdict.FAILS),
    ({**EQUAL, "checks": ["a", "absent"]}, {}, ProofVerdict.FAILS),
    ({**EQUAL, "checks": ["failures"]}, {}, ProofVerdict.FAILS),  # equal, but nothing happened
]


@pytest.mark.parametrize(("rule", "facts", "verdict"), CASES)
def test_proof_rule_holds_and_fails(rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict) -> None:
    result = judge_one(evidence(rule, **facts))
    assert result.verdict is verdict
    assert result.saw


ANY_ORDER = kernel(behaviour={"same_tick_order": "any"})
BACK = {(0, 2, ""): 1000, (2, 1, ""): 1000, (1, 0, ""): 999}


@pytest.mark.parametrize(
    ("switches", "verdict"),
    [
        (TURN, ProofVerdict.HOLDS),
        (BACK, ProofVerdict.HOLDS),
        ({**BACK, (0, 1, ""): 1}, ProofVerdict.FAILS),  # one out of turn
        ({(0, 2, ""): 1000, (2, 0, ""): 1000}, ProofVerdict.FAILS),  # one task never runs
        ({}, ProofVerdict.FAILS),
    ],
)
def test_tasks_may_take_turns_in_another_order_if_the_kernel_declares_it(
    switches: dict[tuple[int, int, str], int], verdict: ProofVerdict
) -> None:
    given = evidence(ROTATION, switches=switches)
    assert judge_one(dataclasses.replace(given, kernel=ANY_ORDER)).verdict is verdict
    assert judge_one(evidence(ROTATION, switches=BACK)).verdict is ProofVerdict.FAILS


def test_round_names_tasks_in_the_order_of_their_turns() -> None:
    """The round of a benchmark whose equal tasks take turns means the order in which they do."""
    given = dataclasses.replace(evidence(ROTATION, switches=BACK), kernel=ANY_ORDER)
    assert given.ring_of_tasks() == (0, 1, 2)
    assert given.tasks_in_round_robin_order(0, (0, 1, 2)) == [handle(0), handle(2), handle(1)]
    assert evidence(ROTATION, switches=BACK).tasks_in_round_robin_order(0, (0, 1, 2)) == [
        handle(0),
        handle(1),
        handle(2),
    ]
    assert not evidence(SPREAD).ring_of_tasks()


def test_every_rule_is_shown_to_hold_and_to_fail() -> None:
    every = [*CASES, *CASES_OF_TWO_CORES, *test_latency_proofs.CASES, *test_handlers.CASES, *NOT_PINNED]
    every += test_drawn_proofs.CASES
    shown = {(rule["rule"], verdict) for rule, _, verdict in every}
    shown |= {(rule["rule"], verdict) for rule, _, _, verdict in test_stamped_series.CASES}
    shown |= {(rule["rule"], verdict) for rule, _, verdict in (*test_course.CASES, *test_phases.CASES)}
    shown |= {(rule["rule"], verdict) for rule, _, _, verdict in test_phases.CASES_OF_TICKS}
    shown |= {(rule["rule"], verdict) for rule, _, verdict in test_window_proofs.CASES}
    shown |= {(test_keeps_period.RULE["rule"], verdict) for _, _, verdict in test_keeps_period.CASES}
    shown |= {(test_window_proofs.STRESS["rule"], verdict) for *_, verdict in test_window_proofs.STRESSED}
    shown |= {(test_window_proofs.PAIR["rule"], verdict) for _, verdict in test_window_proofs.OVERLAPS}
    assert shown == {
        (name, verdict)
        for name in benchmark_proof_rule_modules()
        for verdict in (ProofVerdict.HOLDS, ProofVerdict.FAILS)
    }


@pytest.mark.parametrize("rule", [ROTATION, CHAIN, IRQ, SWITCHES, CALLS, NONE])
def test_rule_that_needs_probes_reports_their_absence(rule: dict[str, Any]) -> None:
    result = judge_one(evidence(rule, probes=False))
    assert result.verdict is ProofVerdict.UNSEEN


@pytest.mark.parametrize("rule", [SPREAD, ZERO, EQUAL])
def test_firmware_counters_are_judged_without_probes(rule: dict[str, Any]) -> None:
    result = judge_one(evidence(rule, probes=False))
    assert result.verdict is ProofVerdict.HOLDS


def test_unknown_rule_is_refused_with_the_nearest_known() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'rotation'"):
        judge_benchmark_proofs(evidence({"rule": "rotations"}))


def test_unknown_key_is_refused() -> None:
    with pytest.raises(CatalogueError, match="max_spred"):
        judge_benchmark_proofs(evidence({**SPREAD, "max_spred": 1}))


def test_benchmark_without_proof_is_refused() -> None:
    empty = evidence(ZERO)
    with pytest.raises(CatalogueError, match="it proves nothing"):
        judge_benchmark_proofs(dataclasses.replace(empty, benchmark=benchmark([])))


def test_observed_services_come_from_the_rules() -> None:
    assert services_to_watch(benchmark([CHAIN, ZERO])) == ("notify_give", "notify_take")
    assert BODY


SLICED = [WINDOW, ("param", {"name": "tick_hz", "value": "1000"}), *(task(index) for index in range(3))]


@pytest.mark.parametrize(
    ("rule", "facts", "slices", "verdict"),
    [
        # The window of BODY lasts 250 ticks, its 3003 counts are one switch each.
        (SWITCHES, {"switches": {(0, 1, ""): TOTAL + 251}}, 1, ProofVerdict.HOLDS),
        (SWITCHES, {"switches": {(0, 1, ""): TOTAL + 251 + 3}}, 1, ProofVerdict.FAILS),
        (SWITCHES, {"switches": {(0, 1, ""): TOTAL - 3}}, 1, ProofVerdict.FAILS),  # a slice adds, it never takes away
        (SWITCHES, {"switches": {(0, 1, ""): TOTAL + 251}}, 0, ProofVerdict.FAILS),
        (SWITCHES, {"switches": {(0, 1, ""): TOTAL + 251}}, 2, ProofVerdict.FAILS),
        (SPREAD, {"body": [*SLICED, *(count(index, 1000 + 120 * index) for index in range(3))]}, 1, ProofVerdict.HOLDS),
        (SPREAD, {"body": [*SLICED, *(count(index, 1000 + 130 * index) for index in range(3))]}, 1, ProofVerdict.FAILS),
        (SPREAD, {"body": [*SLICED, *(count(index, 1000 + 120 * index) for index in range(3))]}, 0, ProofVerdict.FAILS),
    ],
)
def test_time_slicing_kernel_may_switch_once_more_per_tick(
    rule: dict[str, Any], facts: dict[str, Any], slices: int, verdict: ProofVerdict
) -> None:
    result = judge_one(evidence(rule, time_slice_ticks=slices, **facts))
    assert result.verdict is verdict, result.saw


@pytest.mark.parametrize(("function", "calls", "verdict"), [
    ("post", 2 * TOTAL, ProofVerdict.HOLDS),
    ("post", TOTAL, ProofVerdict.FAILS),
    ("clear", TOTAL, ProofVerdict.HOLDS),
    ("clear", 2 * TOTAL, ProofVerdict.FAILS),
])  # fmt: skip
def test_services_that_end_in_one_function_are_counted_together(
    function: str, calls: int, verdict: ProofVerdict
) -> None:
    rules: list[dict[str, Any]] = [
        {"rule": "calls_per_count", "service": service, "ratio": 1} for service in ("event_set", "event_clear")
    ]
    rules += [{**rules[1], "ratio": 5, "when": ["cores > 1"]}]
    symbols = {"event_set": ["post"], "event_clear": [function]}
    built = dataclasses.replace(
        evidence(rules[0], calls={"event_set": calls, "event_clear": calls}),
        benchmark=benchmark(rules),
        kernel=kernel(symbols=symbols),
    )
    assert {finding.verdict for finding in judge_own(built)} == {verdict}


def test_function_that_never_ran_is_named() -> None:
    """A name that is not the kernel's looks like a call that was not made."""
    built = dataclasses.replace(evidence(CALLS, calls={"malloc": 2}), kernel=kernel(symbols={"yield": ["yeild"]}))
    result = judge_one(built)
    assert "0 calls, " in result.saw
    assert "([symbols] of kernel.toml names yeild for it)" in result.saw
