"""Interrupts and tasks that arrive in bursts: their numbers, bounds by hand and by simulation, runs on the board."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from rtoslab.base.errors import TaskSetCheckError, TaskSetError
from rtoslab.base.paths import find_checkout_root
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import virtual_interrupt_lines
from rtoslab.rta.arrival_curves import (
    ArrivalCurve,
    earliest_arrivals_of_curve,
    long_run_arrival_rate,
    most_arrivals_in_window,
    shortest_time_between_arrivals,
)
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds
from rtoslab.rta.findings import read_response_bound_violation_file, write_bound_violation
from rtoslab.rta.overheads import EventCosts
from rtoslab.rta.system import (
    IntegerTimeInterrupt,
    IntegerTimeTask,
    IntegerTimeTaskSet,
    convert_to_integer_task_set,
    task_set_in_finer_time_units,
)
from rtoslab.rta.taskset import read_task_set
from tests.rta.benches import search_bench
from tests.rta.systems import KERNEL, task
from tests.rta.test_check_end_to_end import run_rta_command

EXAMPLE = find_checkout_root() / "examples" / "response-time" / "bursts.toml"
BOARD = "nucleo-f446re"
CURVE: ArrivalCurve = ((1, 10), (3, 100), (5, 400))


def with_events() -> TaskSetTestBench:
    return search_bench("freertos", BOARD, events=1)


def keeps_to(times: list[int], curve: ArrivalCurve) -> bool:
    """Whether no window of arrivals has more of them than the curve allows."""
    return all(times[at + count] - times[at] >= window for count, window in curve for at in range(len(times) - count))


def random_curve(random: Random) -> ArrivalCurve:
    counts = sorted(random.sample(range(1, 7), random.randint(1, 3)))
    return tuple(sorted(((count, random.randint(1, 40)) for count in counts), key=lambda pair: pair[1]))


def random_arrivals(random: Random, curve: ArrivalCurve, number: int) -> list[int]:
    """Returns arrivals that keep to a curve, some of them later than it asks for."""
    times: list[int] = []
    for at in range(number):
        allowed = [times[at - count] + window for count, window in curve if count <= at]
        times.append(max([0, *times[-1:], *allowed]) + (random.randint(0, 9) if random.random() < 0.3 else 0))
    return times


def test_densest_arrivals_by_hand() -> None:
    assert list(earliest_arrivals_of_curve(CURVE)[:8]) == [0, 10, 20, 100, 110, 400, 410, 420]
    assert [most_arrivals_in_window(CURVE, window) for window in (0, 1, 10, 11, 21, 100, 101, 401)] == [
        0,
        1,
        1,
        2,
        3,
        3,
        4,
        6,
    ]
    assert [shortest_time_between_arrivals(CURVE, number) for number in (0, 1, 3, 5, 7)] == [0, 10, 100, 400, 420]
    assert long_run_arrival_rate(CURVE) == (5, 400)


def test_no_arrivals_that_keep_to_a_curve_exceed_its_numbers() -> None:
    random = Random(5)
    reached = 0
    for _ in range(300):
        curve = random_curve(random)
        assert keeps_to(list(earliest_arrivals_of_curve(curve)[:60]), curve)
        times = random_arrivals(random, curve, 40)
        assert keeps_to(times, curve)
        for first in range(0, 30, 3):
            for number in range(1, 10):
                distance = times[first + number] - times[first]
                assert distance >= shortest_time_between_arrivals(curve, number)
                assert most_arrivals_in_window(curve, distance + 1) >= number + 1
                reached += most_arrivals_in_window(curve, distance + 1) == number + 1
    assert reached > 3_000


def test_long_windows_are_bounded_without_all_arrivals() -> None:
    """Behind the arrivals that are computed one by one, the numbers may only be larger, and the distances smaller."""
    whole = [400 * (number // 5) + (0, 10, 20, 100, 110)[number % 5] for number in range(12_000)]
    assert list(earliest_arrivals_of_curve(CURVE)) == whole[: len(earliest_arrivals_of_curve(CURVE))]
    for number in (5_000, 8_191, 11_999):
        assert whole[number] - 400 <= shortest_time_between_arrivals(CURVE, number) <= whole[number]
        assert number + 1 <= most_arrivals_in_window(CURVE, whole[number] + 1) <= number + 1 + 5
    assert most_arrivals_in_window(CURVE, 10**15) <= 5 * 10**15 // 400 + 10**12


def test_bounds_of_bursts_by_hand() -> None:
    """Two jobs of 30 arrive 10 apart: the second waits for 20 of the first. The less urgent task waits for both."""
    curve: ArrivalCurve = ((1, 10), (2, 500))
    burst = task("burst", 10, 30, 2, deadline=100, curve=curve)
    result = compute_response_time_bounds(IntegerTimeTaskSet((burst, task("low", 500, 100, 1))))
    assert result.find_response_bound("burst").response == 50
    assert result.find_response_bound("low").response == 160
    assert result.find_response_bound("burst").utilisation == pytest.approx(60 / 500)
    late = replace(burst, jitter=5)
    assert compute_response_time_bounds(IntegerTimeTaskSet((late,))).find_response_bound("burst").response == 55
    overload = replace(burst, wcet=251)
    assert (
        compute_response_time_bounds(IntegerTimeTaskSet((overload,)))
        .find_response_bound("burst")
        .can_deadline_be_missed
    )


def longest_responses(tasks: list[IntegerTimeTask], arrivals: list[list[int]]) -> list[int]:
    """Simulates tasks of different priorities, the most urgent first. Returns each one's longest response."""
    longest = [0] * len(tasks)
    jobs: list[list[list[int]]] = [
        [[at, item.wcet] for at in times] for item, times in zip(tasks, arrivals, strict=True)
    ]
    now = 0
    while any(jobs):
        running = next((at for at, mine in enumerate(jobs) if mine and mine[0][0] <= now), None)
        now += 1
        if running is None:
            continue
        jobs[running][0][1] -= 1
        if jobs[running][0][1] == 0:
            arrival, _ = jobs[running].pop(0)
            longest[running] = max(longest[running], now - arrival)
    return longest


def test_no_simulated_response_exceeds_its_bound() -> None:
    random = Random(11)
    compared = reached = 0
    while compared < 600:
        tasks = []
        for priority in range(random.randint(2, 4), 0, -1):
            curve = random_curve(random)
            tasks.append(task(f"T{priority}", curve[0][1], random.randint(1, 5), priority, curve=curve, deadline=200))
        result = compute_response_time_bounds(IntegerTimeTaskSet(tuple(tasks)))
        if any(bound.response is None for bound in result.tasks):
            continue
        for arrivals in (
            [list(earliest_arrivals_of_curve(item.curve)[:60]) for item in tasks],
            [random_arrivals(random, item.curve, 60) for item in tasks],
        ):
            for bound, longest in zip(result.tasks, longest_responses(tasks, arrivals), strict=True):
                assert bound.response is not None
                assert longest <= bound.response
                compared += 1
                reached += longest == bound.response
    assert reached > compared // 3


def test_finer_units_keep_the_bounds() -> None:
    line = IntegerTimeInterrupt("I", 10, 3, 100, gives="A", curve=CURVE, implied=False)
    system = IntegerTimeTaskSet(
        (task("A", 10, 7, 1, curve=CURVE, released_by="I", deadline=100), task("B", 90, 9, 0)), (line,)
    )
    coarse, fine = (
        compute_response_time_bounds(system),
        compute_response_time_bounds(task_set_in_finer_time_units(system, 7)),
    )
    for name in ("A", "B", "I"):
        response = coarse.find_response_bound(name).response
        assert response is not None
        assert fine.find_response_bound(name).response == 7 * response


def test_complete_example_meets_its_bounds() -> None:
    of = search_bench("freertos", BOARD, events=2)
    system = convert_to_integer_task_set(read_task_set(EXAMPLE), of.firmware.clock_hz)
    assert {item.curve for item in system.tasks if item.name in {"decode", "route"}} == {system.interrupts[0].curve}
    seen, result = (
        run_and_check_task_set(system, of.firmware, of.work),
        compute_response_time_bounds(system, of.overheads),
    )
    assert seen.kernel_entries_above_charge(of.overheads) == []
    assert seen.tasks_over_bound(result) == []
    raised = seen.trace.lines[0].raised
    assert min(after - before for before, after in pairwise(raised)) == 250 * 84
    assert keeps_to(list(raised), system.interrupts[0].curve)
    assert len(raised) == most_arrivals_in_window(system.interrupts[0].curve, 200 * of.firmware.tick_cycles)
    assert len(seen.tasks[0].response_times) == len(raised)
    assert max(seen.ratio_of_bound_to_response(result)[name] for name in ("decode", "route", "control")) < 1.2


def test_lost_interrupt_has_no_bound() -> None:
    """While a task masks interrupts, the second of a burst finds the first pending."""
    kernel = KERNEL.model_copy(update={"events": EventCosts(handler_cycles=10, give_cycles=10)})
    tick = KERNEL.tick.period_cycles
    curve = ((1, 5_000), (2, 10 * tick))
    line = IntegerTimeInterrupt("I", 5_000, 100, tick, gives="A", curve=curve)
    tasks = (
        task("A", 5_000, 1_000, 2, curve=curve, released_by="I", deadline=tick, gives="B"),
        task("B", 5_000, 1_000, 1, curve=curve, sender="A", deadline=tick),
        task("low", 10 * tick, 20_000, 0, masked=6_000),
    )
    for masked, has_bound in ((6_000, False), (3_000, True)):
        low = replace(tasks[2], masked=masked)
        result = compute_response_time_bounds(IntegerTimeTaskSet((*tasks[:2], low), (line,)), kernel)
        assert [result.find_response_bound(name).response is not None for name in "IAB"] == [has_bound] * 3
        assert result.find_response_bound("low").response is not None
        if not has_bound:
            assert "the next one may be lost while this one is pending" in result.find_response_bound("I").reason
            assert result.find_response_bound("B").reason == "it answers arrivals of I, and an arrival of I may be lost"
            assert not result.find_response_bound("B").can_deadline_be_missed


def test_lost_interrupt_of_a_run_is_reported() -> None:
    """The masked section makes one handler serve two arrivals."""
    of = with_events()
    tick, clock_hz = of.firmware.tick_cycles, of.firmware.clock_hz
    line = IntegerTimeInterrupt("I", 8_000, 200, tick, curve=((1, 8_000), (12, 2 * tick)))
    low = task("low", 2 * tick, tick, 0, masked=tick // 2)
    with pytest.raises(TaskSetCheckError, match="An interrupt was lost"):
        run_and_check_task_set(IntegerTimeTaskSet((low,), (line,), units_per_second=clock_hz), of.firmware, of.work)
    near = replace(line, curve=((2, 2 * tick),))
    with pytest.raises(
        TaskSetCheckError, match=r"I: with these arrivals and jitter, .* by a further pair with count = 1"
    ):
        virtual_interrupt_lines(
            IntegerTimeTaskSet((low,), (near,), units_per_second=clock_hz), of.firmware, of.work, 20
        )


def test_curve_of_one_arrival_is_a_period_on_several_cores_too() -> None:
    two = KERNEL.model_copy(update={"smp": KERNEL.smp.model_copy(update={"cores": 2, "lock_wait_cycles": 900})})
    period = 5 * KERNEL.tick.period_cycles
    tasks = (
        task("A", period, 9_000, 1),
        task("B", period, 5_000, 2, released_by="I", core=1),
        task("C", period, 9_000, 1, core=1),
    )
    line = IntegerTimeInterrupt("I", period, 700, period, core=1, gives="B")
    curved = (tasks[0], replace(tasks[1], curve=((1, period),)), tasks[2])
    periodic = compute_response_time_bounds(IntegerTimeTaskSet(tasks, (line,)), two)
    bursts = compute_response_time_bounds(IntegerTimeTaskSet(curved, (replace(line, curve=((1, period),)),)), two)
    responses = [bound.response for bound in (*periodic.tasks, *periodic.interrupts)]
    assert None not in responses
    assert responses == [bound.response for bound in (*bursts.tasks, *bursts.interrupts)]
    twice = replace(line, curve=((1, 4_000), (2, period)))
    faster = compute_response_time_bounds(
        IntegerTimeTaskSet((tasks[0], replace(curved[1], curve=twice.curve), tasks[2]), (twice,)), two
    )
    assert all(
        more.response > less.response  # type: ignore[operator]
        for more, less in zip(faster.tasks, bursts.tasks, strict=True)
    )


def test_search_draws_bursts(tmp_path: Path) -> None:
    of = search_bench("freertos", BOARD, events=2)
    tried = list(search_violated_bounds(of, 40, 77))
    curved = [item for item in tried if any(line.curve for line in item.system.interrupts)]
    for number, item in enumerate(curved):
        write_bound_violation(of, item, tmp_path / f"{number}.toml")
        assert read_response_bound_violation_file(tmp_path / f"{number}.toml").task_set_and_first_start_times(of)[
            0
        ].interrupts == tuple(replace(line, deadline=line.period) for line in item.system.interrupts)
    assert [item.findings for item in tried if item.findings] == []
    assert len(curved) > 5
    assert any(one.curve and one.name in item.ratios for item in curved for one in item.system.tasks)


def test_command_prints_bursts() -> None:
    code, out = run_rta_command(EXAMPLE)
    assert code == 0
    assert "Bursts of decode, route, frame: at most 1 in 250.0 us, 3 in 6,000 us, 8 in 40,000 us." in " ".join(
        out.split()
    )
    code, out = run_rta_command(EXAMPLE, "--json")
    assert json.loads(out)["bounds"]["a"]["route"]["response_us"] == 2_150


INTERRUPT = '[[interrupt]]\nname = "I"\nwcet_us = 1\ngives = "A"\n'
TASK = '[[task]]\nname = "A"\nwcet_us = 10\npriority = 1\n'
ARRIVALS = "arrivals = [{count = 1, window_us = 100}, {count = 2, window_ms = 1}]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (INTERRUPT + ARRIVALS + "period_ms = 1\n" + TASK, "interrupt I has a period and arrivals; keep one"),
        (INTERRUPT + "arrivals = [{count = 1}]\n" + TASK, "arrivals need count and window_us"),
        (INTERRUPT + "arrivals = [{count = 0, window_us = 1}]\n" + TASK, "a count of arrivals is 0; it must be from 1"),
        (INTERRUPT + "arrivals = [{count = 1, window_us = 0}]\n" + TASK, "neither of them 0"),
        (INTERRUPT + "arrivals = [{count = 1, windows_us = 1}]\n" + TASK, "there is no key 'windows_us'"),
        (INTERRUPT + "arrivals = 3\n" + TASK, "arrivals is not a list of tables"),
        (INTERRUPT + ARRIVALS + TASK + "period_ms = 1\n", "has an offset or another period, jitter or core"),
        (TASK + ARRIVALS, "task A has arrivals, but the tick releases it periodically"),
        (TASK + ARRIVALS + 'release = "timer"\n', "task A has arrivals, but the timer releases it periodically"),
        (TASK + ARRIVALS + 'release = "interrupt"\noffset_us = 1\n', "task A has arrivals and an offset"),
        (
            INTERRUPT + ARRIVALS + TASK + '[[chain]]\nname = "c"\ntasks = ["A"]\ndeadline_ms = 1\n',
            "chain c: A has arrivals without a period",
        ),
        (
            INTERRUPT + "arrivals = [{count = 1, window_us = 100}, {count = 2, window_cycles = 1}]\n" + TASK,
            "some windows of its arrivals are in cycles and some are not",
        ),
    ],
)
def test_mistake_in_arrivals_is_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(text)
    with pytest.raises(TaskSetError, match=message):
        read_task_set(path)


def test_task_inherits_the_arrivals_of_its_interrupt(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(INTERRUPT + ARRIVALS + TASK)
    task_set = read_task_set(path)
    assert task_set.tasks[0].arrivals == task_set.interrupts[0].arrivals
    assert convert_to_integer_task_set(task_set, 1_000_000).tasks[0].curve == ((1, 100), (2, 1_000))
    path.write_text(TASK + ARRIVALS + 'release = "interrupt"\n')
    system = convert_to_integer_task_set(read_task_set(path), 1_000_000)
    assert system.interrupts[0].curve == system.tasks[0].curve == ((1, 100), (2, 1_000))
