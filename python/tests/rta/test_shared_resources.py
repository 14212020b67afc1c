"""Resources that tasks of several cores share: the bounds, simulated sets, and the kernel's behaviour on the board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds
from rtoslab.rta.overheads import EventCosts
from rtoslab.rta.resource_waits import ResourceWaits, SharedResources
from rtoslab.rta.system import IntegerTimeTaskSet
from tests.rta.benches import search_bench
from tests.rta.simulate import longest_responses_with_resources
from tests.rta.systems import task
from tests.rta.test_cores import TICK, TWO

EXAMPLE = find_checkout_root() / "examples" / "response-time" / "two-cores-locks.toml"
SETS = 40
RUNS = 10


def random_sharing_set(random: Random, load: float) -> IntegerTimeTaskSet:
    """Two to five tasks on two cores with up to three sections each of two resources, in any order of priorities."""
    count = random.randint(2, 5)
    levels = random.sample(range(count), count) if random.random() < 0.7 else [random.randrange(count) for _ in "....."]
    tasks = []
    for at in range(count):
        period = random.randint(10, 60)
        wcet = max(2, int(random.uniform(0.3, 1) * load * 4 * period / count))
        sections: list[tuple[str, int]] = []
        for _ in range(random.randint(0, 3)):
            length = random.randint(1, max(1, wcet // 2))
            if length + sum(item for _, item in sections) <= wcet:
                sections.append((random.choice("rs"), length))
        jitter = random.randrange(period) if random.random() < 0.2 else 0
        core = at % 2 if random.random() < 0.8 else random.randrange(2)
        tasks.append(
            task(chr(ord("A") + at), period, wcet, levels[at], sections=tuple(sections), jitter=jitter, core=core)
        )
    return IntegerTimeTaskSet(tuple(tasks))


def set_with_preempted_holder(random: Random) -> IntegerTimeTaskSet:
    """A waits for X's section, which the more urgent M can preempt."""
    first, length, middle = random.randint(2, 4), random.randint(8, 12), random.randint(20, 30)
    return IntegerTimeTaskSet(
        (
            task("A", 150, first, 1, sections=(("r", 1),)),
            task("X", 170, length + 1, 0, core=1, sections=(("r", length),)),
            task("M", 190, middle, 2, core=1),
        )
    )


def set_with_repeated_blocking(random: Random) -> IntegerTimeTaskSet:
    """A waits for L's section, then for X's section of the other core, and then for another one of L."""
    length = random.randint(7, 8)
    return IntegerTimeTaskSet(
        (
            task("A", 83, 4, 2, sections=(("s", 1), ("r", 1), ("s", 1))),
            task("L", 97, 5 * length, 0, sections=(("s", length),) * 5),
            task("X", 60, 3, 1, core=1, sections=(("r", 3),)),
        )
    )


def shares_across_cores(system: IntegerTimeTaskSet) -> bool:
    """Whether tasks of both cores use one of the resources."""
    users = {(name, item.core) for item in system.tasks for name, _ in item.sections}
    return any((name, 0) in users and (name, 1) in users for name, _ in users)


def responses_above_bounds(seed: int, sets: int, load: float) -> tuple[int, int]:
    """Simulates random sets, up to the first with a response above its bound.
    Returns the number of compared tasks, and of those above.
    """
    random = Random(seed)
    compared = above = 0
    while sets and not above:
        directed = (set_with_preempted_holder, set_with_repeated_blocking)
        system = random.choice(directed)(random) if sets % 2 else random_sharing_set(random, load)
        if not shares_across_cores(system):
            continue
        sets -= 1
        result = compute_response_time_bounds(system)
        if not all(bound.response for bound in result.tasks):
            continue
        for _ in range(RUNS):
            for name, longest in longest_responses_with_resources(system, random, 20).items():
                bound = result.find_response_bound(name).response
                assert bound is not None
                compared += 1
                above += longest > bound
    return compared, above


def test_no_simulated_response_exceeds_its_bound() -> None:
    compared, above = responses_above_bounds(1990, SETS, 0.25)
    assert compared > 10 * SETS
    assert above == 0


def without_preemptions(shared: SharedResources, priority: int, resources: object) -> list[int]:
    """The delays if no job could preempt a holder."""
    return [sum(length for _, length in item.sections) for item in shared.remote]


def without_delays(shared: SharedResources, priority: int, resources: object) -> list[int]:
    """The delays if no task of another core delayed a request."""
    return [0] * len(shared.remote)


def without_further_blocking(waits: ResourceWaits, window: int, pauses: int) -> int:
    """The further blocking if each less urgent task blocked once, as on one core."""
    return 0


@pytest.mark.parametrize(
    ("subject", "name", "wrong"),
    [
        (SharedResources, "resource_wait_delays_per_job", without_preemptions),
        (SharedResources, "resource_wait_delays_per_job", without_delays),
        (ResourceWaits, "_max_blocking_while_other_tasks_wait", without_further_blocking),
    ],
)
def test_simulation_notices_an_omitted_term(
    subject: type, name: str, wrong: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, name, wrong)
    assert responses_above_bounds(1990, SETS, 0.25)[1] > 0


HERE = task("A", 40, 4, 5, sections=(("r", 1),))
HOLDER = task("X", 100, 20, 1, core=1, sections=(("r", 6),))


def test_request_waits_for_the_section_of_the_other_core() -> None:
    """A waits for X's section. No other task of core 1 can preempt X in it, because X inherits A's priority."""
    middle = task("M", 100, 15, 3, core=1)
    result = compute_response_time_bounds(IntegerTimeTaskSet((HERE, HOLDER, middle)))
    assert result.find_response_bound("A").parts == {"own": 4, "holders on other cores": 6}
    urgent = replace(middle, priority=6)
    result = compute_response_time_bounds(IntegerTimeTaskSet((HERE, HOLDER, urgent)))
    assert result.find_response_bound("A").parts == {"own": 4, "holders on other cores": 6 + 15}


def test_task_without_requests_is_blocked_by_inherited_priorities() -> None:
    """L holds r, and X of the other core waits for it: L runs before B, which uses no resource."""
    low, other = (
        task("L", 200, 20, 0, sections=(("r", 7),)),
        task("X", 100, 5, 4, core=1, sections=(("r", 1),)),
    )
    tasks = (task("B", 50, 10, 2), low, other)
    assert compute_response_time_bounds(IntegerTimeTaskSet(tasks)).find_response_bound("B").parts == {
        "own": 10,
        "blocking": 7,
    }
    less_urgent = replace(other, priority=1)
    result = compute_response_time_bounds(IntegerTimeTaskSet((*tasks[:2], less_urgent)))
    assert result.find_response_bound("B").parts == {"own": 10}


def test_less_urgent_task_blocks_again_after_each_pause() -> None:
    """While A waits for core 1, L begins another section with s, which A needs next."""
    waiting = replace(HERE, sections=(("r", 1), ("s", 1)))
    low = task("L", 400, 90, 0, sections=(("s", 8), ("s", 8), ("s", 8)))
    pair = (waiting, low)
    alone = compute_response_time_bounds(IntegerTimeTaskSet(pair)).find_response_bound("A").parts
    assert alone["blocking"] == 8
    beside = compute_response_time_bounds(IntegerTimeTaskSet((*pair, HOLDER))).find_response_bound("A").parts
    assert beside["blocking"] == 2 * 8


def test_kernel_work_of_waits_is_charged_on_both_cores() -> None:
    events = EventCosts(handler_cycles=150, give_cycles=300, call_cycles=200, contended_cycles=10, handover_cycles=400)
    smp = TWO.smp.model_copy(update={"contended_cycles": 90})
    kernel = TWO.model_copy(update={"events": events, "smp": smp})
    here = task("A", 8 * TICK, 20_000, 2, sections=(("r", 500),))
    there = task("X", 4 * TICK, 30_000, 1, core=1, sections=(("r", 700),))
    result = compute_response_time_bounds(IntegerTimeTaskSet((here, there)), kernel)
    for name in "AX":
        parts = result.find_response_bound(name).parts
        assert parts["waits across cores"] > 2 * (90 + 400 + 250), "each waits, and its core is interrupted"
        assert parts["holders on other cores"] >= 550
    plain = compute_response_time_bounds(IntegerTimeTaskSet((here, replace(there, sections=()))), kernel)
    assert "waits across cores" not in plain.find_response_bound("A").parts
    locks = [item.find_response_bound("A").parts["locks"] for item in (result, plain)]
    assert locks[0] > locks[1], "the other core's kernel works for the waits too"


def test_resource_of_several_cores_needs_inheritance() -> None:
    for protocol in ("immediate_ceiling", "ceiling"):
        system = IntegerTimeTaskSet((HERE, HOLDER), protocol=protocol)
        reason = compute_response_time_bounds(system).find_response_bound("A").reason
        assert reason == (
            f"r is shared by tasks of several cores (A, X), and the protocol {protocol} excludes only tasks of one "
            "core; with inheritance there is a bound"
        )


def test_unbounded_user_leaves_all_without_a_bound() -> None:
    full = IntegerTimeTaskSet((HERE, HOLDER, task("F", 10, 11, 0, core=1)))
    reason = compute_response_time_bounds(full).find_response_bound("A").reason
    assert reason == "F has no bound, and the number of critical sections depends on the bounds of all tasks"


def with_locks() -> TaskSetTestBench:
    return search_bench("freertos", "pico", events=1, cores=2)


@pytest.mark.long
@pytest.mark.parametrize("has_middle", [True, False])
def test_kernel_lifts_the_holder_and_does_not_hand_over(has_middle: bool) -> None:
    """X holds r as A begins to wait. If A is more urgent, X goes on before M. If A is less urgent, X takes r again
    before A runs, and A waits for both sections.
    """
    of = with_locks()
    tick = of.firmware.tick_cycles
    tasks = [
        task("A", 8 * tick, 60_000, 5 if has_middle else 1, sections=(("r", 20_000),), offset=tick),
        task("X", 8 * tick, 300_000, 2, core=1, sections=(("r", 60_000), ("r", 60_000))),
    ]
    if has_middle:
        tasks.append(task("M", 8 * tick, 100_000, 4, core=1, offset=tick))
    system = IntegerTimeTaskSet(tuple(tasks), units_per_second=of.firmware.clock_hz)
    seen = run_and_check_task_set(system, of.firmware, of.work, 40)
    of_a, of_x = ([part for part in seen.trace.parts if part.task == at] for at in (0, 1))
    second = of_x[2]
    assert of_x[1].begin < seen.trace.origin + tick < of_x[1].end, "X did not hold r as A was released"
    if has_middle:
        middle = next(job for job in seen.trace.jobs if job.task == 2)
        assert middle.end > of_x[1].end, "X did not inherit A's priority"
        assert of_x[1].end < of_a[1].begin < second.begin, "M did not run before X's second section"
    else:
        assert of_a[1].begin > second.end, "the kernel handed r over to A"
    assert seen.tasks_over_bound(compute_response_time_bounds(system, of.overheads)) == []
    assert seen.kernel_entries_above_charge(of.overheads) == []


@pytest.mark.long
def test_short_search_with_shared_resources_finds_nothing() -> None:
    tried = list(search_violated_bounds(with_locks(), 40, 20261130))
    assert [attempt.findings for attempt in tried if attempt.findings] == []
    assert sum(shares_across_cores(item.system) and len(item.ratios) > 1 for item in tried) > 3
