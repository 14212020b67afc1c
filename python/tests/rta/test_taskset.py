"""What a person may write, what they may write wrongly, and sets at the edge of what can be scheduled."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from rtoslab.base.errors import OverheadsFileError, TaskSetError
from rtoslab.rta.analysis import compute_response_time_bounds, response_increase_per_overhead_part
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.overheads import read_kernel_overheads, write_kernel_overheads
from rtoslab.rta.sensitivity import find_wcet_sensitivity
from rtoslab.rta.system import IntegerTimeTaskSet, convert_to_integer_task_set
from rtoslab.rta.task_set_study import study_task_set
from rtoslab.rta.taskset import TaskSet, TaskSpec, read_task_set
from rtoslab.rta.units import Duration
from tests.rta.systems import KERNEL, rate_monotonic, task

GOOD = """
title = "three tasks"
protocol = "ceiling"
equals = "fifo"
[[task]]
name = "fast"
period_ms = 1
wcet_us = 125.5
priority = 3
masked_cycles = 40
[[task]]
name = "slow"
period_us = 10_000
deadline_ms = 8
wcet_ms = 1.5
jitter_us = 20
offset_us = 500
priority = 1
core = 0
[[task.section]]
resource = "bus"
length_us = 30
[[interrupt]]
name = "uart"
period_us = 87
wcet_us = 2
"""


def parse_text(folder: Path, text: str, name: str = "tasks.toml") -> TaskSet:
    path = folder / name
    path.write_text(text)
    return read_task_set(path)


def test_toml_becomes_cycles(tmp_path: Path) -> None:
    system = convert_to_integer_task_set(parse_text(tmp_path, GOOD), 84_000_000)
    fast, slow = system.tasks
    assert (fast.period, fast.wcet, fast.deadline, fast.masked) == (84_000, 10_542, 84_000, 40)
    assert (slow.period, slow.deadline, slow.wcet, slow.jitter, slow.offset) == (
        840_000,
        672_000,
        126_000,
        1_680,
        42_000,
    )
    assert slow.sections == (("bus", 2_520),)
    assert (system.interrupts[0].period, system.interrupts[0].wcet) == (7_308, 168)
    assert (system.protocol, system.equals, system.units_per_cycle) == ("ceiling", "fifo", 1)


def test_csv_is_the_same_as_toml(tmp_path: Path) -> None:
    rows = "name,period_us,wcet_us,deadline_us,priority,sections\nA,1000,100,,2,bus:20 spi:5\nB,5000,700,4000,1,\n"
    by_csv = parse_text(tmp_path, rows, "tasks.csv")
    toml = """
[[task]]
name = "A"
period_us = 1000
wcet_us = 100
priority = 2
section = [{resource = "bus", length_us = 20}, {resource = "spi", length_us = 5}]
[[task]]
name = "B"
period_us = 5000
wcet_us = 700
deadline_us = 4000
priority = 1
"""
    assert parse_text(tmp_path, toml).tasks == by_csv.tasks


ONE = '[[task]]\nname = "A"\nperiod_us = 100\nwcet_us = 10\npriority = 1\n'
WRONG = [
    (ONE.replace("period_us", "period_min"), "task A: the key 'period_min' has the unknown unit 'min'"),
    (ONE.replace("period_us", "period"), "task A: the key 'period' has no unit; write period_us"),
    (ONE.replace("period_us = 100", "period_us = 0"), "task A: period is 0"),
    (ONE.replace("wcet_us = 10", "wcet_us = 0"), "task A: wcet is 0"),
    (ONE.replace("wcet_us = 10", "wcet_us = -1"), "task A, wcet_us: -1 is negative"),
    (ONE.replace("wcet_us = 10", 'wcet_us = "ten"'), "task A, wcet_us: 'ten' is not a number"),
    (ONE.replace("wcet_us = 10", "wcet_us = nan"), "wcet_us: 'NaN' is not a number; write a time"),
    (ONE.replace("priority = 1", "priority = -1"), "priority: -1 is negative; write a whole number from 0 on"),
    (ONE.replace("priority = 1", "priority = true"), "priority: 'true' is not a number; write a whole number"),
    (ONE.replace("priority = 1", "priority = 1\ncore = -1"), "core: -1 is negative; write a whole number from 0 on"),
    (ONE.replace("priority = 1", "prio = 1"), "there is no key 'prio'; did you mean 'priority'?"),
    (ONE + "period_min = 3\n", "the key 'period_min' has the unknown unit 'min'"),
    (ONE.replace("wcet_us = 10\n", ""), "task A has no wcet; add wcet_us"),
    (ONE.replace("priority = 1\n", ""), "task A has no priority"),
    (ONE.replace("priority = 1", "priority = 1.5"), "task A: priority is 1.5"),
    (ONE.replace('name = "A"\n', ""), "task 1 has no name"),
    (ONE + "period_ms = 3\n", "task A contains period twice (period_us, period_ms)"),
    (ONE + "deadlin_us = 3\n", "there is no key 'deadlin_us'; did you mean 'deadline'?"),
    (ONE + "deadline_us = 0\n", "task A: deadline is 0"),
    (ONE + 'section = [{resource = "bus"}]\n', "a section needs resource and length_us"),
    (ONE + ONE, "names 'A' twice"),
    ('equals = "random"\n' + ONE, "equals is 'random'; known: fifo, slices, any"),
    ("task = 3\n", "task is not a list of tables; write [[task]]"),
    ("title = 'none'\n", "contains no task"),
    ("[[task]\n", "is not valid TOML"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_mistake_is_reported_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskSetError) as result:
        parse_text(tmp_path, text)
    assert message in str(result.value)
    assert str(tmp_path / "tasks.toml") in str(result.value)
    assert "\n" not in str(result.value)


def test_ragged_csv_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(TaskSetError, match="line 3: the row has another number of cells"):
        parse_text(tmp_path, "name,period_us,wcet_us,priority\nA,1,1,1\nB,2,1\n", "tasks.csv")
    with pytest.raises(TaskSetError, match="no such file"):
        read_task_set(tmp_path / "absent.toml")


def test_cycles_need_a_clock(tmp_path: Path) -> None:
    task_set = parse_text(tmp_path, ONE.replace("wcet_us", "wcet_cycles"))
    with pytest.raises(TaskSetError, match="--clock or --board"):
        convert_to_integer_task_set(task_set, None)
    assert convert_to_integer_task_set(task_set, 84_000_000).tasks[0].wcet == 10


def test_overload_is_reported() -> None:
    system = rate_monotonic((3, 5), (3, 6))
    result = compute_response_time_bounds(system)
    assert result.find_response_bound("A").is_deadline_met
    assert result.find_response_bound("B").response is None
    assert result.find_response_bound("B").reason == (
        "tasks and interrupts of this or higher priority need 110.0 % of the processor"
    )
    assert not result.is_schedulable
    assert float(find_wcet_sensitivity(system, None, KernelOverheadAccountingModel.NO_OVERHEAD).factor) < 1


def test_full_utilisation_is_schedulable() -> None:
    """Full without blocking: the busy period ends with the hyperperiod. With blocking it never ends, and every job of
    it waits as long as one of its first hyperperiod."""
    full = IntegerTimeTaskSet((task("A", 4, 2, 2), task("B", 8, 4, 1, deadline=8)))
    assert [bound.response for bound in compute_response_time_bounds(full).tasks] == [2, 8]
    blocked = IntegerTimeTaskSet((*full.tasks[:1], task("B", 8, 2, 1), task("C", 8, 2, 0, masked=1)))
    assert compute_response_time_bounds(blocked).find_response_bound("C").response == 8
    endless = IntegerTimeTaskSet((task("A", 4, 4, 2), task("B", 1_000_003, 1, 0, masked=1)))
    assert compute_response_time_bounds(endless).find_response_bound("A").response == 5
    assert compute_response_time_bounds(endless).find_response_bound("B").response is None


def test_wcet_longer_than_the_deadline_is_reported() -> None:
    """C > D misses, with the bound told; C > T alone is overload."""
    late = compute_response_time_bounds(IntegerTimeTaskSet((task("A", 20, 10, 1, deadline=8),)))
    assert (late.tasks[0].response, late.tasks[0].slack_until_deadline, late.tasks[0].is_deadline_met) == (
        10,
        -2,
        False,
    )
    assert compute_response_time_bounds(IntegerTimeTaskSet((task("A", 8, 10, 1),))).tasks[0].response is None


def test_analysis_with_huge_jitter_terminates() -> None:
    system = IntegerTimeTaskSet((task("A", 3, 1, 2, jitter=10_000_000), task("B", 7, 2, 1, jitter=10_000_000)))
    assert compute_response_time_bounds(system).tasks[0].response == 10_000_001
    result = compute_response_time_bounds(
        system, KERNEL.model_copy(update={"tick": KERNEL.tick.model_copy(update={"base_cycles": 0})})
    )
    assert not result.is_schedulable
    result = compute_response_time_bounds(
        IntegerTimeTaskSet((task("A", 84_000, 60_000, 2), task("B", 90_000, 17_000, 1, deadline=10**9))),
        KERNEL,
        max_steps=1,
    )
    assert result.tasks[1].reason.startswith("the search ended after 1 step, at 9")
    assert not result.tasks[1].can_deadline_be_missed


@pytest.mark.parametrize("name", ["overheads.toml", "overheads.json"])
def test_overheads_survive_their_file(name: str, tmp_path: Path) -> None:
    write_kernel_overheads(KERNEL, tmp_path / name)
    assert read_kernel_overheads(tmp_path / name) == KERNEL


OVERHEADS = "clock_hz = 84000000\n[tick]\nperiod_cycles = 84000\nbase_cycles = 100\nper_task_cycles = 150\n"
LACKS = [
    (OVERHEADS, "does not contain switch; add a table [switch] with up_cycles and down_cycles"),
    (OVERHEADS.replace("base_cycles = 100\n", ""), "does not contain tick.base_cycles"),
    ("[switch]\nup_cycles = 1\ndown_cycles = 1\n", "does not contain clock_hz; add clock_hz, the cycles of a second"),
    (OVERHEADS.replace("= 100", "= -1"), "tick.base_cycles: Input should be greater than or equal to 0"),
    (OVERHEADS + "basis_us = 3\n", "tick.basis_us: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("text", "message"), LACKS)
def test_incomplete_overheads_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "overheads.toml"
    path.write_text(text)
    with pytest.raises(OverheadsFileError) as result:
        read_kernel_overheads(path)
    assert message in str(result.value)


def test_overhead_models_are_ordered_and_parts_add_up() -> None:
    """(a) <= (c) <= (b), and a bound is the sum of its parts."""
    system = IntegerTimeTaskSet(
        tuple(task(name, period * 84_000, 40_000, 10 - period) for name, period in (("A", 2), ("B", 3), ("C", 7)))
    )
    nothing, worst, partition = (
        compute_response_time_bounds(system, KERNEL, model) for model in KernelOverheadAccountingModel
    )
    for low, middle, high in zip(nothing.tasks, partition.tasks, worst.tasks, strict=True):
        assert low.response is not None
        assert middle.response is not None
        assert high.response is not None
        assert low.response < middle.response < high.response + (low.name != "C")
        assert sum(middle.parts.values()) == middle.response
    result = response_increase_per_overhead_part(system, KERNEL, KernelOverheadAccountingModel.SPLIT_TICK)["C"]
    assert result["tick"] == 100 * partition.find_response_bound("C").parts["tick"] // 100
    assert set(result) >= {
        "tick",
        "releases in the tick",
        "switches to more urgent tasks",
        "kernel cannot be interrupted",
    }


def test_several_cores_are_analysed_one_by_one() -> None:
    """A task meets those of its own core alone; the first core's tick also releases the other's; locks cost both."""
    tick = 84_000
    here = (task("A", 2 * tick, 20_000, 2), task("B", 8 * tick, 60_000, 1))
    present = (task("X", 4 * tick, 90_000, 2, core=1), task("Y", 8 * tick, 50_000, 1, core=1))
    both, single = IntegerTimeTaskSet((*here, *present)), IntegerTimeTaskSet(here)
    assert [bound.response for bound in compute_response_time_bounds(both).tasks] == [20_000, 80_000, 90_000, 140_000]
    for name in ("A", "B"):
        assert (compute_response_time_bounds(both, KERNEL).find_response_bound(name).response or 0) > (
            compute_response_time_bounds(single, KERNEL).find_response_bound(name).response or 0
        )
    assert "tick" not in compute_response_time_bounds(both, KERNEL).find_response_bound("Y").parts
    smp = {"lock_wait_cycles": 500, "release_cycles": 9_000, "yield_cycles": 300}
    told_of = KERNEL.model_copy(update={"smp": KERNEL.smp.model_copy(update=smp)})
    for item in both.tasks:
        more, less = (
            compute_response_time_bounds(both, one).find_response_bound(item.name).response for one in (told_of, KERNEL)
        )
        assert more is not None
        assert less is not None
        assert more >= less + 300
    notes = study_task_set(_as_task_set(both), KERNEL).notes
    silence = "smp.lock_wait_cycles, smp.release_cycles, smp.yield_cycles, which is counted as 0"
    assert any(silence in note for note in notes)
    silent, report = (study_task_set(_as_task_set(both), overheads) for overheads in (KERNEL, told_of))
    assert silent.analysis_of_schedulability_answer.is_schedulable
    assert not silent.is_schedulable
    assert "No answer" in silent.schedulability_answer_sentences()[0]
    assert report.is_schedulable


def _as_task_set(system: IntegerTimeTaskSet) -> TaskSet:
    def cycles(value: int) -> Duration:
        return Duration(Fraction(value), in_cycles=True)

    specs = (
        TaskSpec(
            task.name, cycles(task.period), cycles(task.wcet), cycles(task.deadline), task.priority, core=task.core
        )
        for task in system.tasks
    )
    return TaskSet("several cores", tuple(specs))


def test_period_between_ticks_is_released_late() -> None:
    system = IntegerTimeTaskSet((task("A", 100_000, 10_000, 2), task("B", 168_000, 10_000, 1)))
    result = study_task_set(_as_task_set(system), KERNEL)
    assert result.system.tasks[0].jitter == 84_000
    assert result.system.tasks[1].jitter == 0
    assert any("up to one tick after their period begins: A." in note for note in result.notes)
