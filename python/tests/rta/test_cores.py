"""Several cores: what they wait for each other is in the bounds, and in the ledger of what was seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base.errors import TaskSetError
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.entries import CycleLedger, LockWait
from rtoslab.rta.overheads import EventCosts, KernelOverheads
from rtoslab.rta.prices import ledger_entries_above_modelled_overhead
from rtoslab.rta.responses import ObservedResponseTimes
from rtoslab.rta.spins import KIND_LOCK_BUSY, KIND_LOCK_TAKEN, DisjointCycleIntervals, kernel_lock_wait_spans
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTaskSet
from rtoslab.rta.taskset import read_task_set
from tests.rta.systems import KERNEL, task

TICK = KERNEL.tick.period_cycles
TWO = KERNEL.model_copy(
    update={
        "smp": KERNEL.smp.model_copy(
            update={
                "cores": 2,
                "lock_wait_cycles": 900,
                "release_cycles": 2_000,
                "yield_cycles": 250,
                "contention_permille": 100,
            }
        )
    }
)
HERE = (task("A", 2 * TICK, 20_000, 2), task("B", 8 * TICK, 60_000, 1))
THERE = (task("X", 4 * TICK, 90_000, 2, core=1), task("Y", 8 * TICK, 50_000, 1, core=1))


def response_bound(system: IntegerTimeTaskSet, name: str, overheads: KernelOverheads = TWO) -> int:
    result = compute_response_time_bounds(system, overheads).find_response_bound(name).response
    assert result is not None
    return result


def test_lock_wait_begins_at_the_first_failed_read() -> None:
    events = [
        (10, KIND_LOCK_TAKEN, 14),
        (20, KIND_LOCK_BUSY, 14),
        (25, KIND_LOCK_BUSY, 14),
        (50, KIND_LOCK_TAKEN, 14),
        (60, KIND_LOCK_TAKEN, 15),
        (70, KIND_LOCK_BUSY, 15),
    ]
    result = kernel_lock_wait_spans(events)
    assert result == DisjointCycleIntervals((20,), (50,))
    spans = ((0, 99), (30, 99), (0, 30), (30, 40), (50, 60))
    assert [result.cycles_covered_by_intervals(since, until) for since, until in spans] == [
        30, 20, 10, 10, 0,
    ]  # fmt: skip
    two = DisjointCycleIntervals((20, 100), (50, 110))
    assert two.cycles_covered_by_intervals(40, 105) == 15
    assert list(two.spin_wait_indices_between_cycles(50, 100)) == []


def test_bound_includes_kernel_calls_of_the_other_core() -> None:
    """Each more job there costs time here, however little it works; none of it is work."""
    both = IntegerTimeTaskSet((*HERE, *THERE))
    more = IntegerTimeTaskSet((*HERE, *THERE, task("Z", TICK, 1, 3, core=1)))
    for name in ("A", "B"):
        assert (
            response_bound(both, name)
            > response_bound(IntegerTimeTaskSet(HERE), name)
            > response_bound(IntegerTimeTaskSet(HERE), name, KERNEL)
        )
        charged = response_bound(more, name) - response_bound(both, name)
        assert TWO.job.end_cycles < charged < 40 * (TWO.job.end_cycles + TWO.job.start_cycles + TWO.tick.base_cycles)
    parts = compute_response_time_bounds(both, TWO).find_response_bound("B").parts
    assert parts["locks"] > 0
    assert parts["bus"] >= (60_000 + 20_000) // 10


def test_worst_tick_bound_is_never_below_split_tick_bound_on_several_cores() -> None:
    both = IntegerTimeTaskSet((*HERE, *THERE))
    worst, partition = (
        compute_response_time_bounds(both, TWO, model)
        for model in (KernelOverheadAccountingModel.WORST_TICK, KernelOverheadAccountingModel.SPLIT_TICK)
    )
    for name in "ABXY":
        b, c = worst.find_response_bound(name).response, partition.find_response_bound(name).response
        assert b is not None
        assert c is not None
        assert b >= c


def test_release_by_another_core_is_late_and_requests_a_switch() -> None:
    result = compute_response_time_bounds(IntegerTimeTaskSet((*HERE, *THERE)), TWO).find_response_bound("X").parts
    assert result["jitter"] >= 2_000
    assert result["requested by other cores"] > 0
    assert "tick" not in result


RADIO = IntegerTimeInterrupt("radio", 5 * TICK, 3_000, 5 * TICK, core=1, gives="W")
WOKEN = task("W", 5 * TICK, 9_000, 3, core=1, released_by="radio")
EVENTS = TWO.model_copy(
    update={
        "events": EventCosts(handler_cycles=150, give_cycles=300, call_cycles=200),
        "smp": TWO.smp.model_copy(update={"remote_give_cycles": 700}),
    }
)


def test_interrupt_of_another_core_costs_its_kernel_work_and_a_completed_release() -> None:
    both = compute_response_time_bounds(IntegerTimeTaskSet((*HERE, *THERE, WOKEN), (RADIO,)), EVENTS)
    silent = compute_response_time_bounds(
        IntegerTimeTaskSet((*HERE, *THERE, replace(WOKEN, released_by="")), ()), EVENTS
    )
    here, before = both.find_response_bound("A").parts, silent.find_response_bound("A").parts
    assert here["remote gives"] == 700
    assert here["locks"] > before["locks"]
    assert here.get("interrupts", 0) == 0, "its work is not done here"
    woken = both.find_response_bound("W").parts
    handler = both.find_response_bound("radio").response
    assert handler is not None
    assert woken["jitter"] > handler, "the release is as late as the handler, and may wait for a locked scheduler"
    assert woken["requested by other cores"] > 0
    assert "remote gives" not in woken


def test_handlers_delay_releases_on_every_core() -> None:
    """The first core's handlers delay the tick, those of the other one a call that has locked the scheduler."""
    system = IntegerTimeTaskSet((*HERE, *THERE, WOKEN), (RADIO,))
    longer = replace(system, interrupts=(replace(RADIO, wcet=RADIO.wcet + 1_000),))
    for name in ("A", "X"):
        jitter = [
            compute_response_time_bounds(item, EVENTS).find_response_bound(name).parts["jitter"]
            for item in (system, longer)
        ]
        assert jitter[1] - jitter[0] == 2 * (1_000 + 100), "once pending and once in the delay, with the bus"
    endless = replace(system, interrupts=(replace(RADIO, period=3_000),))
    bound = compute_response_time_bounds(endless, EVENTS).find_response_bound("A")
    assert bound.reason == "interrupts may delay releases for ever"
    assert bound.can_deadline_be_missed


def test_masked_section_of_another_core_delays_its_kernel() -> None:
    masked = replace(THERE[0], masked=8_000)
    plain, other = (IntegerTimeTaskSet((*HERE, item, THERE[1])) for item in (THERE[0], masked))
    locks = [
        compute_response_time_bounds(item, EVENTS).find_response_bound("B").parts["locks"] for item in (plain, other)
    ]
    assert locks[1] - locks[0] >= 8_800, "the kernel's locks are held for all of it, and the bus prolongs it"
    jitter = [
        compute_response_time_bounds(item, EVENTS).find_response_bound("A").parts["jitter"] for item in (plain, other)
    ]
    assert jitter[1] - jitter[0] == 8_800 + 2 * 200, "the tick waits for it"


def test_section_lasts_longer_beside_another_core() -> None:
    low, high = (
        task("L", 8 * TICK, 50_000, 1, sections=(("r", 10_000),)),
        task("H", 4 * TICK, 9_000, 2, sections=(("r", 50),)),
    )
    blocking = (
        compute_response_time_bounds(IntegerTimeTaskSet((low, high, *THERE)), EVENTS)
        .find_response_bound("H")
        .parts["blocking"]
    )
    alone = compute_response_time_bounds(
        IntegerTimeTaskSet((low, high)), KERNEL.model_copy(update={"events": EVENTS.events})
    )
    assert blocking >= 11_000
    assert 10_000 <= alone.find_response_bound("H").parts["blocking"] < 11_000


def test_interrupt_without_a_bound_leaves_its_task_and_the_other_core_without_one() -> None:
    curve = ((1, 20), (3, 5 * TICK))
    lost = replace(RADIO, curve=curve, period=20)
    result = compute_response_time_bounds(
        IntegerTimeTaskSet((*HERE, *THERE, replace(WOKEN, curve=curve, period=20)), (lost,)), EVENTS
    )
    assert "the next one may be lost" in result.find_response_bound("radio").reason
    assert result.find_response_bound("W").response is None
    assert "W on another core has no bound" in result.find_response_bound("A").reason


def test_core_without_a_bound_makes_the_other_unbounded() -> None:
    full = IntegerTimeTaskSet((*HERE, task("X", TICK, 2 * TICK, 1, core=1)))
    assert "X on another core has no bound" in compute_response_time_bounds(full, TWO).find_response_bound("A").reason


@pytest.mark.parametrize(
    ("spin", "what"),
    [
        (LockWait(100, 901), "a wait for a lock"),
        (LockWait(100, 50, without_holder=3), "a wait for a lock while no other core was in the kernel"),
    ],
)
def test_unmodelled_lock_wait_is_reported(spin: LockWait, what: str) -> None:
    assert [
        excess.event for excess in ledger_entries_above_modelled_overhead(CycleLedger(lock_waits=[spin]), TWO, 4)
    ] == [what]
    assert ledger_entries_above_modelled_overhead(CycleLedger(lock_waits=[LockWait(100, 900)]), TWO, 4) == []


def test_job_that_has_not_ended_counts_against_its_bound() -> None:
    assert ObservedResponseTimes("A", (10,), (30,)).has_response_time_above_bound(20)
    assert not ObservedResponseTimes("A", (10,), (20,)).has_response_time_above_bound(20)
    assert not ObservedResponseTimes("A", (10,), (30,)).has_response_time_above_bound(None)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('core = "any"', "this analysis does not support tasks that run on several cores (global scheduling)"),
        ("core = [0, 1]", "this analysis does not support tasks that run on several cores (global scheduling)"),
        ("core = 64", "core is 64; cores are numbered from 0 to 63"),
    ],
)
def test_task_without_a_fixed_core_is_refused(more: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(f'[[task]]\nname = "A"\nperiod_ms = 1\nwcet_us = 10\npriority = 1\n{more}\n')
    with pytest.raises(TaskSetError) as result:
        read_task_set(path)
    assert message in str(result.value)


def test_policy_that_no_kernel_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text('policy = "edf"\n[[task]]\nname = "A"\nperiod_ms = 1\nwcet_us = 10\npriority = 1\n')
    with pytest.raises(
        TaskSetError, match="policy 'edf' is not supported, because all kernels schedule by fixed priorities"
    ):
        read_task_set(path)
