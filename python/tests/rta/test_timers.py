"""Timers of the kernel: in the file, in the bounds, in the image, and one held against the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base.errors import TaskSetCheckError, TaskSetError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import image_task_rows
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds
from rtoslab.rta.findings import read_response_bound_violation_file, write_bound_violation
from rtoslab.rta.firmware import build_task_set_firmware
from rtoslab.rta.overheads import TimerCosts
from rtoslab.rta.system import IntegerTimeTaskSet, convert_to_integer_task_set
from rtoslab.rta.taskset import read_task_set
from tests.rta.benches import search_bench
from tests.rta.systems import KERNEL, task

EXAMPLE = find_checkout_root() / "examples" / "response-time" / "timers.toml"
BOARD = "nucleo-f446re"


def with_timers(board: str = BOARD) -> TaskSetTestBench:
    return search_bench("freertos", board, events=3)


def test_complete_example_meets_its_bounds() -> None:
    of = with_timers()
    system = convert_to_integer_task_set(read_task_set(EXAMPLE), of.firmware.clock_hz)
    seen = run_and_check_task_set(system, of.firmware, of.work)
    assert seen.kernel_entries_above_charge(of.overheads) == []
    assert seen.tasks_over_bound(compute_response_time_bounds(system, of.overheads)) == []
    assert [len(task.response_times) for task in seen.tasks] == [50, 20, 50, 100, 10]
    ticks = of.firmware.tick_cycles
    for at, period in ((0, 4), (1, 10)):
        jobs = [job for job in seen.trace.jobs if job.task == at]
        assert [(job.begin - seen.trace.origin) // (period * ticks) for job in jobs] == list(range(len(jobs)))
    assert {span.is_timer for span in seen.ledger.starts} == {True, False}
    assert any(span.is_timer for span in seen.ledger.restarts), "no timer's function followed another one's"
    assert sum(end.span.is_timer for end in seen.ledger.job_ends) >= 50


@pytest.mark.parametrize("urgent", [True, False])
def test_timer_runs_at_the_priority_of_the_timer_task(urgent: bool) -> None:
    """It preempts a less urgent task, and waits for a more urgent one that works when it expires."""
    of = with_timers()
    tick = of.firmware.tick_cycles
    timer = task("timer", 2 * tick, 2_000, 2 if urgent else 0, is_timer=True)
    long = task("long", 8 * tick, 5 * tick // 2, 1)
    system = IntegerTimeTaskSet((long, timer), units_per_second=of.firmware.clock_hz)
    seen, result = (
        run_and_check_task_set(system, of.firmware, of.work, 80),
        compute_response_time_bounds(system, of.overheads),
    )
    assert seen.kernel_entries_above_charge(of.overheads) == []
    assert seen.tasks_over_bound(result) == []
    job = next(job for job in seen.trace.jobs if job.task == 1)
    worked = next(job for job in seen.trace.jobs if job.task == 0)
    assert (job.end < worked.begin) is urgent
    assert (job.begin > worked.end) is not urgent
    assert 1 < min(seen.ratio_of_bound_to_response(result).values()) < 1.1


def test_each_expiry_is_charged_with_the_timer_tasks_work() -> None:
    tick = KERNEL.tick.period_cycles
    kernel = KERNEL.model_copy(update={"timers": TimerCosts(start_cycles=1_000, end_cycles=2_000)})
    timers = tuple(task(name, 10 * tick, 500, 5, is_timer=True) for name in "AB")
    system = IntegerTimeTaskSet((*timers, task("low", 10 * tick, 9_000, 1)))
    parts = {
        name: compute_response_time_bounds(system, kernel).find_response_bound(name).parts for name in ("A", "low")
    }
    assert parts["A"]["job starts"] == 2 * 1_000
    assert parts["A"]["job ends"] == 2_000 + KERNEL.switch.down_cycles
    assert parts["low"]["job starts"] == 2 * 1_000
    assert parts["low"]["job ends"] == 2 * (2_000 + KERNEL.switch.down_cycles)
    assert parts["low"]["releases"] == 3 * KERNEL.tick.per_task_cycles
    assert parts["A"]["tasks"] == 500


def test_short_search_with_timers_finds_nothing(tmp_path: Path) -> None:
    tried = list(search_violated_bounds(with_timers(), 30, 2026))
    for number, item in enumerate(tried):
        write_bound_violation(with_timers(), item, tmp_path / f"{number}.toml")
        assert read_response_bound_violation_file(tmp_path / f"{number}.toml").task_set_and_first_start_times(
            with_timers()
        ) == (
            item.system,
            item.starts,
        )
    assert [item.findings for item in tried if item.findings] == []
    seen = [one for item in tried for one in item.system.tasks if one.is_timer and one.name in item.ratios]
    assert len(seen) > len(tried) // 2
    assert any(one.gives for one in seen)


def test_search_notices_timer_work_that_is_not_charged() -> None:
    of = with_timers()
    wrong = replace(of, overheads=of.overheads.model_copy(update={"timers": TimerCosts()}))
    found = [item for item in search_violated_bounds(wrong, 6, 2026) if item.findings]
    assert len(found) > 2


@pytest.mark.long
@pytest.mark.parametrize("board", ["pico", "nucleo-f103rb"])
def test_bounds_hold_on_other_boards(board: str) -> None:
    tried = list(search_violated_bounds(with_timers(board), 60, 9))
    assert [attempt.findings for attempt in tried if any("its bound" in one for one in attempt.findings)] == []


def test_sets_that_the_image_cannot_run_are_refused() -> None:
    of = with_timers()
    tick, clock_hz = of.firmware.tick_cycles, of.firmware.clock_hz
    five = tuple(task(name, tick, 900, 1, is_timer=True) for name in "ABCDE")
    with pytest.raises(TaskSetCheckError, match="The image has 4 timers, but the set has 5"):
        image_task_rows(IntegerTimeTaskSet(five, units_per_second=clock_hz), of.firmware, of.work)
    late = replace(five[0], offset=tick)
    with pytest.raises(TaskSetCheckError, match="A: in the image the offset of a timer is shorter than its period"):
        image_task_rows(IntegerTimeTaskSet((late,), units_per_second=clock_hz), of.firmware, of.work)
    without = search_bench("freertos", BOARD, events=1)
    with pytest.raises(TaskSetCheckError, match="A: this image has no timers"):
        image_task_rows(IntegerTimeTaskSet(five[:1], units_per_second=clock_hz), without.firmware, without.work)
    with pytest.raises(TaskSetCheckError, match="rt: the port cannot set the priority of the kernel's timer task"):
        build_task_set_firmware(Catalogue(find_checkout_root()), "rt", BOARD, {}, events=3)


TIMER = '[[task]]\nname = "{}"\nrelease = "timer"\nperiod_ms = 1\nwcet_us = 10\npriority = {}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TIMER.format("A", 1) + TIMER.format("B", 2), "timer B has another priority than A"),
        (TIMER.format("A", 1) + "masked_us = 2\n", "timer A has a section, a masked section or a jitter"),
        (TIMER.format("A", 1) + "jitter_us = 2\n", "timer A has a section, a masked section or a jitter"),
        (
            TIMER.format("A", 1) + "core = 1\n" + (TIMER.format("B", 2) + "core = 1\n"),
            "timer B has another priority than A",
        ),
        (TIMER.format("A", 1) + 'gives = "B"\n' + TIMER.format("B", 1), "A releases B, which a timer releases too"),
        (TIMER.format("A", 1).replace("timer", "clock"), "release is 'clock'; known: tick, interrupt, timer"),
    ],
)
def test_mistake_in_a_timer_is_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(text)
    with pytest.raises(TaskSetError, match=message):
        read_task_set(path)
