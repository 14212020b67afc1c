"""Tasks that release several tasks, and tasks that several tasks release: in the file, in the bounds, in the image."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtoslab.base.errors import TaskSetCheckError, TaskSetError
from rtoslab.base.paths import find_checkout_root
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import image_task_rows
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds
from rtoslab.rta.findings import read_response_bound_violation_file, write_bound_violation
from rtoslab.rta.overheads import SendCosts
from rtoslab.rta.rows import TaskReleaseObjectKind
from rtoslab.rta.system import IntegerTimeTaskSet, convert_to_integer_task_set, split_tasks_by_releasing_task
from rtoslab.rta.task_set_study import compute_task_set_study
from rtoslab.rta.taskset import TaskSetFeatureLevel, read_task_set
from tests.rta.benches import search_bench
from tests.rta.systems import KERNEL, task
from tests.rta.test_check_end_to_end import run_rta_command

EXAMPLE = find_checkout_root() / "examples" / "response-time" / "fans.toml"
BOARD = "nucleo-f446re"


def with_fans() -> TaskSetTestBench:
    return search_bench("freertos", BOARD, events=4)


def test_task_with_several_senders_becomes_one_for_each() -> None:
    task_set = read_task_set(EXAMPLE)
    assert task_set.required_feature_level is TaskSetFeatureLevel.FANS
    system = convert_to_integer_task_set(task_set, None)
    by_name = {item.name: item for item in system.tasks}
    logs = [name for name in by_name if name.startswith("log")]
    assert logs == ["log after filter", "log after sample", "log after command"]
    assert [by_name[name].sender for name in logs] == ["filter", "sample", "command"]
    assert by_name["sample"].gives == ("filter", "watch", "log after sample")
    assert {by_name[name].deadline for name in logs} == {5_000}, "the file states it"
    assert [by_name[name].period for name in logs] == [5_000, 5_000, 20_000]
    assert [item.task_name for item in system.tasks_of_image] == [item.name for item in task_set.tasks]
    notes = compute_task_set_study(task_set, None).notes
    assert any("sample > filter > log; sample > log; command > log" in note for note in notes)
    assert any("`log after filter` shows the jobs of log that are released in this way" in note for note in notes)


def test_task_after_one_with_several_senders_is_expanded_too() -> None:
    tasks = (
        task("A", 10, 1, 3, gives=("C",)),
        task("B", 30, 1, 2, gives=("C", "D")),
        task("C", 10, 1, 1, gives=("D",)),
        task("D", 10, 1, 0),
    )
    expanded = split_tasks_by_releasing_task(tasks, "a test")
    assert {item.name: (item.sender, item.period, item.deadline) for item in expanded if item.sender} == {
        "C after A": ("A", 10, 10),
        "C after B": ("B", 30, 30),
        "D after B": ("B", 30, 30),
        "D after A after C after A": ("C after A", 10, 10),
        "D after B after C after B": ("C after B", 30, 30),
    }
    wide = [
        task(f"{stage}{at}", 10, 1, 1, gives=(f"{stage + 1}0", f"{stage + 1}1")) for stage in range(9) for at in (0, 1)
    ]
    with pytest.raises(TaskSetError, match="release each other in more than 64 ways"):
        split_tasks_by_releasing_task([*wide, task("90", 10, 1, 1), task("91", 10, 1, 1)], "a test")


def test_each_call_is_charged_and_later_receivers_wait_for_earlier_ones() -> None:
    """low releases first and last. Both are more urgent, so first runs before low makes the second call."""
    tasks = split_tasks_by_releasing_task(
        (task("low", 100, 20, 1, gives=("first", "last")), task("first", 100, 7, 3), task("last", 100, 5, 2)), "a test"
    )
    result = compute_response_time_bounds(IntegerTimeTaskSet(tasks))
    assert [result.find_response_bound(name).response for name in ("low", "first", "last")] == [20, 27, 39]
    assert result.find_response_bound("last").parts == {"own": 5, "tasks": 7, "jitter": 27}, (
        "first may run before and after"
    )
    kernel = KERNEL.model_copy(update={"sends": SendCosts(call_cycles=1_000)})
    period = 20 * KERNEL.tick.period_cycles

    def response(count: int) -> int:
        names = ("x", "y", "z")[:count]
        receivers = [task(name, period, 9_000, 1) for name in names]
        top = task("top", period, 50_000, 2, gives=names)
        bound = compute_response_time_bounds(
            IntegerTimeTaskSet(split_tasks_by_releasing_task((top, *receivers), "a test")), kernel
        ).find_response_bound("x")
        assert bound.response is not None
        assert bound.parts["sends"] == count * 1_000
        return bound.response

    assert response(2) - response(1) >= 1_000 + 9_000
    assert response(3) - response(2) >= 1_000 + 9_000


def test_notification_after_several_senders_may_be_lost() -> None:
    """The search found it: A executed three jobs before D took the first of their three notifications."""
    for carrier, has_bound in (("semaphore", True), ("notification", False)):
        tasks = (
            task("E", 100, 5, 3, gives=("A",), gives_by="message"),
            task("F", 100, 5, 3, gives=("A",), gives_by="message"),
            task("A", 100, 5, 2, gives=("D",), gives_by=carrier),
            task("D", 100, 5, 1),
        )
        result = compute_response_time_bounds(IntegerTimeTaskSet(split_tasks_by_releasing_task(tasks, "a test")))
        bound = result.find_response_bound("D after E")
        assert (bound.response is not None) is has_bound
        assert result.find_response_bound("A after E").response is not None
    assert bound.reason.startswith("several tasks release A, which notifies D, so a notification may come")


def test_run_shows_which_arrival_each_job_answers() -> None:
    of = with_fans()
    tick, clock_hz = of.firmware.tick_cycles, of.firmware.clock_hz
    tasks = (
        task("A", 2 * tick, 9_000, 3, gives=("C", "D"), gives_by="message"),
        task("B", 3 * tick, 5_000, 1, gives=("C",), gives_by="message"),
        task("C", 2 * tick, 2_000, 2),
        task("D", 2 * tick, 4_000, 4),
    )
    system = IntegerTimeTaskSet(split_tasks_by_releasing_task(tasks, "a test"), units_per_second=clock_hz)
    rows = image_task_rows(system, of.firmware, of.work)
    assert [row.numbers_of_released_tasks for row in rows] == [(3, 4), (3,), (), ()]
    assert rows[2].carrier is TaskReleaseObjectKind.MESSAGE
    seen = run_and_check_task_set(system, of.firmware, of.work, 60)
    counts = {item.name: len(item.response_times) for item in seen.tasks}
    assert counts == {"A": 30, "B": 20, "C after A": 30, "C after B": 20, "D": 30}
    assert {job.path for job in seen.trace.jobs if job.task == 2} == {(0, 2), (1, 2)}
    longest = {item.name: item.longest_response for item in seen.tasks}
    assert longest["C after A"] < longest["C after B"], "B runs after A"
    result = compute_response_time_bounds(system, of.overheads)
    assert seen.tasks_over_bound(result) == []
    assert seen.kernel_entries_above_charge(of.overheads) == []
    assert len(seen.ledger.sends) == len(seen.trace.sent) >= 30 * 2 + 20


def test_short_search_with_fans_finds_nothing(tmp_path: Path) -> None:
    tried = list(search_violated_bounds(with_fans(), 40, 2026))
    for number, item in enumerate(tried):
        write_bound_violation(with_fans(), item, tmp_path / f"{number}.toml")
        again, starts = read_response_bound_violation_file(tmp_path / f"{number}.toml").task_set_and_first_start_times(
            with_fans()
        )
        assert starts == item.starts
        assert {one.name: (one.sender, one.gives, one.wcet) for one in again.tasks} == {
            one.name: (one.sender, one.gives, one.wcet) for one in item.system.tasks
        }
    assert [item.findings for item in tried if item.findings] == []
    assert any(len(one.gives) > 1 for item in tried for one in item.system.tasks)
    assert any(one.base_name and one.name in item.ratios for item in tried for one in item.system.tasks)


def test_image_without_fans_refuses_them() -> None:
    of = search_bench("freertos", BOARD, events=2)
    tick = of.firmware.tick_cycles
    tasks = (task("A", tick, 900, 1, gives=("B", "C")), task("B", tick, 900, 2), task("C", tick, 900, 3))
    with pytest.raises(TaskSetCheckError, match="A: in this image no task can release several"):
        image_task_rows(
            IntegerTimeTaskSet(split_tasks_by_releasing_task(tasks, "a test"), units_per_second=of.firmware.clock_hz),
            of.firmware,
            of.work,
        )


def test_chain_by_several_ways_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(EXAMPLE.read_text() + '[[chain]]\nname = "x"\ntasks = ["sample", "log"]\ndeadline_ms = 90\n')
    with pytest.raises(TaskSetError, match="several tasks release log or a task before it, so data has several ways"):
        convert_to_integer_task_set(read_task_set(path), None)


@pytest.mark.long
def test_example_meets_its_bounds() -> None:
    code, out = run_rta_command(EXAMPLE, "--kernel", "freertos", "--board", BOARD, "--check", "--json")
    result = json.loads(out)
    assert code == 0, result["answer"]
    assert all(item["tightness"]["c"] >= 1 for item in result["check"]["tasks"].values())
    assert result["check"]["uncovered"] == []


@pytest.mark.long
def test_search_notices_calls_that_are_not_charged() -> None:
    of = with_fans()
    wrong = replace(of, overheads=of.overheads.model_copy(update={"sends": SendCosts()}))
    assert any(item.findings for item in search_violated_bounds(wrong, 10, 7))
