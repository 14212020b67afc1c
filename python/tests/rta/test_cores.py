"""Several cores: what they wait for each other is in the bounds, and in the ledger of what was seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtoslab.base.errors import TaskSetError
from rtoslab.rta.analysis import compute_bounds
from rtoslab.rta.charges import OverheadModel
from rtoslab.rta.entries import CycleLedger, LockWait
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.prices import entries_above_charge
from rtoslab.rta.responses import ObservedResponses
from rtoslab.rta.spins import KIND_LOCK_BUSY, KIND_LOCK_TAKEN, CycleSpans, lock_wait_spans
from rtoslab.rta.system import IntegerTaskSet
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


def response_bound(system: IntegerTaskSet, name: str, overheads: KernelOverheads = TWO) -> int:
    result = compute_bounds(system, overheads).find_bound(name).response
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
    result = lock_wait_spans(events)
    assert result == CycleSpans((20,), (50,))
    spans = ((0, 99), (30, 99), (0, 30), (30, 40), (50, 60))
    assert [result.cycles_within(since, until) for since, until in spans] == [
        30, 20, 10, 10, 0,
    ]  # fmt: skip
    two = CycleSpans((20, 100), (50, 110))
    assert two.cycles_within(40, 105) == 15
    assert list(two.indices_within(50, 100)) == []


def test_bound_includes_kernel_calls_of_the_other_core() -> None:
    """Each more job there costs time here, however little it works; none of it is work."""
    both = IntegerTaskSet((*HERE, *THERE))
    more = IntegerTaskSet((*HERE, *THERE, task("Z", TICK, 1, 3, core=1)))
    for name in ("A", "B"):
        assert (
            response_bound(both, name)
            > response_bound(IntegerTaskSet(HERE), name)
            > response_bound(IntegerTaskSet(HERE), name, KERNEL)
        )
        charged = response_bound(more, name) - response_bound(both, name)
        assert TWO.job.end_cycles < charged < 40 * (TWO.job.end_cycles + TWO.job.start_cycles + TWO.tick.base_cycles)
    parts = compute_bounds(both, TWO).find_bound("B").parts
    assert parts["locks"] > 0
    assert parts["bus"] >= (60_000 + 20_000) // 10


def test_worst_tick_bound_is_never_below_split_tick_bound_on_several_cores() -> None:
    both = IntegerTaskSet((*HERE, *THERE))
    worst, partition = (
        compute_bounds(both, TWO, model) for model in (OverheadModel.WORST_TICK, OverheadModel.SPLIT_TICK)
    )
    for name in "ABXY":
        b, c = worst.find_bound(name).response, partition.find_bound(name).response
        assert b is not None
        assert c is not None
        assert b >= c


def test_release_by_another_core_is_late_and_requests_a_switch() -> None:
    result = compute_bounds(IntegerTaskSet((*HERE, *THERE)), TWO).find_bound("X").parts
    assert result["jitter"] >= 2_000
    assert result["requested by other cores"] > 0
    assert "tick" not in result


def test_core_without_a_bound_makes_the_other_unbounded() -> None:
    full = IntegerTaskSet((*HERE, task("X", TICK, 2 * TICK, 1, core=1)))
    assert "X on another core has no bound" in compute_bounds(full, TWO).find_bound("A").reason


def test_resource_shared_across_cores_is_refused() -> None:
    shared = (task("A", 4 * TICK, 20_000, 2, sections=(("r", 500),)),)
    other = (task("X", 4 * TICK, 20_000, 2, core=1, sections=(("r", 500),)),)
    result = compute_bounds(IntegerTaskSet((*shared, *other)), TWO).find_bound("A")
    assert result.response is None
    assert "r is shared by tasks of several cores (A, X)" in result.reason


@pytest.mark.parametrize(
    ("spin", "what"),
    [
        (LockWait(100, 901), "a wait for a lock"),
        (LockWait(100, 50, without_holder=3), "a wait for a lock while no other core was in the kernel"),
    ],
)
def test_unmodelled_lock_wait_is_reported(spin: LockWait, what: str) -> None:
    assert [excess.event for excess in entries_above_charge(CycleLedger(lock_waits=[spin]), TWO, 4)] == [what]
    assert entries_above_charge(CycleLedger(lock_waits=[LockWait(100, 900)]), TWO, 4) == []


def test_job_that_has_not_ended_counts_against_its_bound() -> None:
    assert ObservedResponses("A", (10,), (30,)).exceeds_bound(20)
    assert not ObservedResponses("A", (10,), (20,)).exceeds_bound(20)
    assert not ObservedResponses("A", (10,), (30,)).exceeds_bound(None)


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
