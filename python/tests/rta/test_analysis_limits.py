"""How far the model reaches: exact times, parts and wholes, ticks that would be lost, turns, orders nobody keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtoslab.base.errors import TaskSetError
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.system import convert_to_integer_task_set
from rtoslab.rta.task_set_study import study_task_set
from rtoslab.rta.taskset import TaskSet, read_task_set
from tests.rta.systems import KERNEL

ONE = '[[task]]\nname = "A"\nperiod_us = 100\nwcet_us = 10\npriority = 1\n'


def parse_text(folder: Path, text: str, name: str = "tasks.toml") -> TaskSet:
    path = folder / name
    path.write_text(text)
    return read_task_set(path)


def test_times_are_not_rounded(tmp_path: Path) -> None:
    """At 1 MHz a half and a tenth of a cycle; the unit becomes one in which both are whole."""
    text = '[[task]]\nname = "A"\nperiod_us = 10.5\nwcet_us = 3.1\npriority = 1\n'
    system = convert_to_integer_task_set(parse_text(tmp_path, text), 1_000_000)
    assert (system.units_per_cycle, system.clock_hz) == (10, 1_000_000)
    assert (system.tasks[0].period, system.tasks[0].wcet, system.tasks[0].deadline) == (105, 31, 105)
    assert system.cycles_rounded_up(31) == 4
    exact = convert_to_integer_task_set(parse_text(tmp_path, text), None)
    assert (exact.tasks[0].period, exact.tasks[0].wcet, exact.units_per_cycle) == (105, 31, 1)


def test_odd_periods_keep_their_divisors(tmp_path: Path) -> None:
    """Two tasks of 40 us whose periods differ by 5 ns can meet at any distance, whatever their offsets: 80 us. Rounded
    to cycles of 84 MHz both periods are 8400 cycles, and would keep their distance of 50 us for ever."""
    text = "name,period_us,wcet_us,priority,offset_us\nA,100,40,2,0\nB,100.005,40,1,50\n"
    for clock_hz in (None, 84_000_000, 125_000_000):
        system = convert_to_integer_task_set(parse_text(tmp_path, text, "tasks.csv"), clock_hz)
        bound = compute_response_time_bounds(system).find_response_bound("B").response
        assert bound is not None
        assert system.to_microseconds(bound) == pytest.approx(80.0, abs=0.001), clock_hz


def test_period_that_is_almost_a_multiple_of_the_tick_is_late(tmp_path: Path) -> None:
    text = "name,period_us,wcet_us,priority\nA,1000.005,110,2\n"
    result = study_task_set(parse_text(tmp_path, text, "tasks.csv"), KERNEL)
    assert any("one tick after" in note and "A" in note for note in result.notes)
    bound = result.analysis_of_schedulability_answer.find_response_bound("A").response
    assert bound is not None
    assert result.system.to_microseconds(bound) >= 1110


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("masked_us = 11", "task A: its masked section is longer than its WCET"),
        ("masked_cycles = 841", "task A: its masked section is longer than its WCET"),
        ('section = [{resource = "bus", length_cycles = 841}]', "its section of bus is longer than its WCET"),
        (
            'section = [{resource = "bus", length_us = 6}, {resource = "bus", length_cycles = 420}]',
            "its sections together are longer than its WCET",
        ),
    ],
)
def test_section_longer_than_its_wcet_is_refused_in_any_unit(part: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskSetError, match=message):
        convert_to_integer_task_set(parse_text(tmp_path, ONE + part + "\n"), 84_000_000)


def test_masked_section_longer_than_a_tick_is_unbounded(tmp_path: Path) -> None:
    """The second tick that comes meanwhile finds the first one pending, and is lost."""
    text = "name,period_ms,wcet_us,priority,masked_us\nA,10,100,2,\nB,100,3000,1,{}\n"
    for masked_us, holds in ((900, True), (1000, False), (1500, False)):
        result = study_task_set(parse_text(tmp_path, text.format(masked_us), "tasks.csv"), KERNEL)
        assert result.analysis_of_schedulability_answer.is_schedulable is holds
        assert holds or "ticks would be lost" in result.schedulability_answer_sentences()[0]


def test_interrupts_that_block_the_tick_for_a_tick_are_unbounded(tmp_path: Path) -> None:
    task = '[[task]]\nname = "A"\nperiod_ms = 50\nwcet_us = 100\npriority = 1\n'
    burst = '[[interrupt]]\nname = "burst"\nperiod_ms = 10\nwcet_us = {}\n'
    for wcet_us, holds in ((800, True), (1001, False)):
        result = study_task_set(parse_text(tmp_path, task + burst.format(wcet_us)), KERNEL)
        assert result.analysis_of_schedulability_answer.find_response_bound("A").is_deadline_met is holds


def test_interrupt_waits_for_a_tick_that_releases_all(tmp_path: Path) -> None:
    """Its own bound holds the kernel's handlers, with a release of every task."""
    tasks = "".join(f'[[task]]\nname = "T{at}"\nperiod_ms = 10\nwcet_us = 10\npriority = {at}\n' for at in range(10))
    result = study_task_set(
        parse_text(tmp_path, tasks + '[[interrupt]]\nname = "I"\nperiod_ms = 1\nwcet_us = 2\n'), KERNEL
    )
    assert result.overheads is not None
    tick, bound = result.overheads.tick, result.analysis_of_schedulability_answer.find_response_bound("I").response
    assert bound is not None
    assert bound >= result.system.interrupts[0].wcet + tick.base_cycles + 10 * tick.per_task_cycles


def test_task_below_time_sliced_tasks_is_charged_for_their_switches(tmp_path: Path) -> None:
    text = "name,period_ms,wcet_us,priority\nA,100,20000,2\nB,100,20000,2\nC,100,5000,1\n"
    system = convert_to_integer_task_set(parse_text(tmp_path, text, "tasks.csv"), KERNEL.clock_hz)
    plain, sliced = (
        compute_response_time_bounds(system, KERNEL.model_copy(update={"equals": equals})).find_response_bound("C")
        for equals in ("any", "slices")
    )
    assert plain.response is not None
    assert sliced.response is not None
    assert sliced.parts["slices"] >= 45 * KERNEL.extra_cycles_of_task_switching_tick
    assert sliced.response > plain.response


def test_unobserved_order_is_not_assumed(tmp_path: Path) -> None:
    text = 'equals = "fifo"\n' + ONE + ONE.replace('"A"', '"B"').replace("100", "200")
    task_set = parse_text(tmp_path, text)
    by_turns = {
        equals: study_task_set(task_set, KERNEL.model_copy(update={"equals": equals, "tick": KERNEL.tick}))
        for equals in ("fifo", "any")
    }
    assert by_turns["fifo"].system.equals == "fifo"
    assert by_turns["any"].system.equals == "any"
    assert any("The bounds hold for any order" in note for note in by_turns["any"].notes)
