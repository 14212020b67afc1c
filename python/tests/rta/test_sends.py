"""Tasks that other tasks release: in the file, in the bounds, in the image, and one held against the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from rtoslab.base.errors import TaskSetCheckError, TaskSetError
from rtoslab.base.paths import find_checkout_root
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import image_task_rows
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds
from rtoslab.rta.chains import chain_latency_bound, longest_observed_chain_latency
from rtoslab.rta.findings import read_response_bound_violation_file, write_bound_violation
from rtoslab.rta.overheads import SendCosts
from rtoslab.rta.rows import TaskReleaseObjectKind, TaskRow
from rtoslab.rta.system import (
    IntegerTimeTask,
    IntegerTimeTaskSet,
    convert_to_integer_task_set,
    split_tasks_by_releasing_task,
)
from rtoslab.rta.task_set_study import compute_task_set_study
from rtoslab.rta.taskset import read_task_set
from tests.rta.benches import search_bench
from tests.rta.simulate import longest_chain_responses
from tests.rta.systems import KERNEL, task

EXAMPLE = find_checkout_root() / "examples" / "response-time" / "pipeline.toml"
BOARD = "nucleo-f446re"
SETS = 400


def with_sends(kernel: str = "freertos", board: str = BOARD) -> TaskSetTestBench:
    return search_bench(kernel, board, events=2)


def linked(*tasks: IntegerTimeTask) -> tuple[IntegerTimeTask, ...]:
    """The tasks as a chain: each releases the next."""
    names = ["", *(item.name for item in tasks)]
    return tuple(replace(item, sender=names[at], gives=(*names[at + 2 : at + 3],)) for at, item in enumerate(tasks))


def random_chains(random: Random, cores: int = 1) -> IntegerTimeTaskSet:
    """Up to six tasks in chains of one and more, in any order of priorities, some with jitter, on any of the cores."""
    count = random.randint(2, 6)
    levels = (
        random.sample(range(count), count) if random.random() < 0.7 else [random.randrange(count) for _ in "......"]
    )
    chains: list[list[IntegerTimeTask]] = []
    for at in range(count):
        period = random.randint(6, 60)
        jitter = random.randrange(period) if random.random() < 0.3 else 0
        if chains and random.random() < 0.65:
            period, jitter = chains[-1][0].period, 0
        else:
            chains.append([])
        wcet = max(1, int(random.random() * 1.7 * period / count))
        chains[-1].append(task(chr(ord("A") + at), period, wcet, levels[at], jitter=jitter))
    tasks = [item for chain in chains for item in linked(*chain)]
    system = IntegerTimeTaskSet(tuple(random.sample(tasks, count)))
    if cores == 1:
        return system
    return replace(system, tasks=tuple(replace(item, core=random.randrange(cores)) for item in system.tasks))


def with_fans(random: Random, system: IntegerTimeTaskSet) -> IntegerTimeTaskSet:
    """The tasks with up to three more releases, so that some release several tasks, or several tasks release some."""
    tasks = [replace(item, sender="", wcet=max(1, item.wcet // 2)) for item in system.tasks]
    order = [item.name for item in system.tasks if not item.sender]
    for item in system.tasks:
        order += [name for name in item.gives if name not in order]
    order += [item.name for item in system.tasks if item.name not in order]
    for _ in range(random.randint(1, 3)):
        sender, receiver = sorted(random.sample(range(len(tasks)), 2), key=lambda at: order.index(tasks[at].name))
        if tasks[receiver].name in tasks[sender].gives or tasks[sender].name in closure(tasks, tasks[receiver].name):
            continue
        further = random.sample((*tasks[sender].gives, tasks[receiver].name), len(tasks[sender].gives) + 1)
        tasks[sender] = replace(tasks[sender], gives=tuple(further))
        tasks[receiver] = replace(tasks[receiver], jitter=0)
    return replace(system, tasks=split_tasks_by_releasing_task(tasks, "a test"))


def closure(tasks: Sequence[IntegerTimeTask], name: str) -> set[str]:
    """The task and all that its jobs release, over whichever others."""
    reached = [name]
    for current in reached:
        reached += [after for item in tasks if item.name == current for after in item.gives if after not in reached]
    return {*reached}


@pytest.mark.parametrize(("cores", "fans"), [(1, False), (2, False), (1, True), (2, True)])
def test_no_simulated_response_exceeds_its_bound(cores: int, fans: bool) -> None:
    random = Random(1994)
    compared = reached = 0
    for _ in range(SETS):
        system = random_chains(random, cores)
        system = with_fans(random, system) if fans else system
        result = compute_response_time_bounds(system)
        if not all(bound.response for bound in result.tasks):
            continue
        for late in (lambda _: 0, lambda jitter: random.randint(0, jitter)):
            for name, longest in longest_chain_responses(system, late, 40).items():
                bound = result.find_response_bound(name).response
                assert bound is not None
                assert longest <= bound, (system, name)
                compared += 1
                reached += longest == bound
    assert compared > 2 * SETS
    assert reached > compared // (4 if fans else 2), "the bounds are far from what happens"


def test_released_task_counts_from_the_arrival_of_its_sender() -> None:
    """low gives high, which ends 20 + 5 after low's arrival. No job of high delays the job of low that releases it."""
    system = IntegerTimeTaskSet(linked(task("low", 100, 20, 1), task("high", 100, 5, 3)))
    result = compute_response_time_bounds(system)
    assert result.find_response_bound("low").response == 20
    assert result.find_response_bound("high").response == 25
    assert result.find_response_bound("high").parts == {"own": 5, "jitter": 20}
    middle = replace(system, tasks=(*system.tasks, task("middle", 50, 7, 2)))
    assert compute_response_time_bounds(middle).find_response_bound("low").response == 27
    assert compute_response_time_bounds(middle).find_response_bound("high").response == 32
    assert compute_response_time_bounds(middle).find_response_bound("middle").response == 12


def test_each_send_is_charged() -> None:
    """Downwards the sender's call delays its receiver; upwards the receiver's jitter contains it, and a switch."""
    kernel = KERNEL.model_copy(update={"sends": SendCosts(call_cycles=1_000, contended_cycles=200, switch_cycles=100)})
    period = 20 * KERNEL.tick.period_cycles

    def response(upwards: bool, sends: bool, name: str) -> int:
        pair = (task("first", period, 50_000, 1 if upwards else 2), task("last", period, 9_000, 2 if upwards else 1))
        overheads = kernel if sends else kernel.model_copy(update={"sends": SendCosts()})
        bound = (
            compute_response_time_bounds(IntegerTimeTaskSet(linked(*pair)), overheads)
            .find_response_bound(name)
            .response
        )
        assert bound is not None
        return bound

    blocking = 1_000 + 300
    assert response(False, True, "last") - response(False, False, "last") == pytest.approx(1_000 + blocking, abs=300)
    assert response(True, True, "last") - response(True, False, "last") == pytest.approx(
        2_000 + 300 + 2 * blocking, abs=600
    )
    assert response(True, True, "first") - response(True, False, "first") == pytest.approx(blocking, abs=300)


def test_complete_example_meets_its_bounds() -> None:
    of = with_sends()
    system = convert_to_integer_task_set(read_task_set(EXAMPLE), of.firmware.clock_hz)
    seen = run_and_check_task_set(system, of.firmware, of.work)
    result = compute_response_time_bounds(system, of.overheads)
    assert seen.kernel_entries_above_charge(of.overheads) == []
    assert seen.tasks_over_bound(result) == []
    assert {task.name: len(task.response_times) for task in seen.tasks}["actuate"] == 40
    assert len(seen.ledger.sends) >= 40 + 40 + 24
    assert len(seen.ledger.send_switches) >= 40, "filter never switched to actuate"
    chain = system.chains[0]
    latency, longest = (
        chain_latency_bound(chain, system, result).latency,
        longest_observed_chain_latency(chain, system, seen.trace),
    )
    assert latency is not None
    assert longest is not None
    assert 0.9 * latency < longest <= latency
    (actuate,) = (item for item in result.tasks if item.name == "actuate")
    assert actuate.response is not None
    assert latency == system.tasks[0].period + actuate.response
    without = of.overheads.model_copy(update={"sends": SendCosts()})
    assert {excess.event for excess in seen.kernel_entries_above_charge(without)} >= {
        "a release of another task",
        "a switch to a task that another one releases",
    }


@pytest.mark.parametrize("carrier", ["semaphore", "message", "notification"])
def test_chain_runs_in_order_by_each_object(carrier: str) -> None:
    of = with_sends()
    tick = of.firmware.tick_cycles
    first, middle, last = linked(
        task("first", 4 * tick, 9_000, 1), task("middle", 4 * tick, 7_000, 5), task("last", 4 * tick, 5_000, 0)
    )
    first, middle = (replace(item, gives_by=carrier) for item in (first, middle))  # type: ignore[arg-type]
    system = IntegerTimeTaskSet((last, first, middle), units_per_second=of.firmware.clock_hz)
    seen, result = (
        run_and_check_task_set(system, of.firmware, of.work, 40),
        compute_response_time_bounds(system, of.overheads),
    )
    assert seen.tasks_over_bound(result) == []
    assert seen.kernel_entries_above_charge(of.overheads) == []
    jobs = {item: [job for job in seen.trace.jobs if job.task == item] for item in range(3)}
    assert [len(jobs[item]) for item in (1, 2, 0)] == [len(jobs[1])] * 3
    for one, two, three in zip(jobs[1], jobs[2], jobs[0], strict=True):
        assert one.release == two.release == three.release
        assert one.end < two.begin
        assert two.end < three.begin
    row = image_task_rows(system, of.firmware, of.work)[2]
    assert (row.carrier, row.receiver_carrier, row.receiver) == (TaskReleaseObjectKind[carrier.upper()],) * 2 + (1,)


def test_tick_releases_jobs_as_late_as_their_jitter_lets_it() -> None:
    of = with_sends()
    tick = of.firmware.tick_cycles
    late = task("late", 6 * tick, tick // 4, 1, jitter=4 * tick)
    system = IntegerTimeTaskSet((late,), units_per_second=of.firmware.clock_hz)
    (row,) = image_task_rows(system, of.firmware, of.work)
    assert row.late_ticks == (4, 0, 0, 0, 0, 0, 0, 0)
    seen, result = (
        run_and_check_task_set(system, of.firmware, of.work, 120),
        compute_response_time_bounds(system, of.overheads),
    )
    assert seen.tasks_over_bound(result) == []
    assert seen.kernel_entries_above_charge(of.overheads) == []
    jobs = [job for job in seen.trace.jobs if job.task == 0]
    starts = [(job.begin - seen.trace.origin) // tick for job in jobs[:10]]
    assert starts == [0, 2, 8, 14, 20, 26, 32, 38, 48, 50]
    assert [job.release - seen.trace.origin for job in jobs[:3]] == [-4 * tick, 2 * tick, 8 * tick]
    assert seen.tasks[0].longest_response > 4 * tick + tick // 4
    assert seen.notes == ()


def test_rows_know_when_the_tick_releases_a_job() -> None:
    row = TaskRow(5, 7, 1, 0, 0, late_ticks=(3, 0, 1, 0, 0, 0, 0, 2))
    released = [tick for tick in range(60) if row.is_job_released_at_tick(tick)]
    assert released == [row.job_arrival_and_release_ticks(number)[1] for number in range(len(released))]
    assert released[:4] == [7, 9, 15, 19]
    assert [row.last_released_job(tick) for tick in (6, 7, 8, 9, 14, 15)] == [-1, 0, 0, 1, 1, 2]


def test_notification_that_may_be_lost_has_no_bound() -> None:
    pair = linked(task("first", 100, 50, 1, jitter=30), task("last", 100, 45, 0))
    by_semaphore = compute_response_time_bounds(IntegerTimeTaskSet(pair)).find_response_bound("last")
    assert by_semaphore.response == 30 + 2 * 50 + 45
    first = replace(pair[0], gives_by="notification")
    lost = compute_response_time_bounds(IntegerTimeTaskSet((first, pair[1]))).find_response_bound("last")
    assert lost.response is None
    assert not lost.can_deadline_be_missed
    assert "a notification from first may come before the previous one is taken, and be lost" in lost.reason


def test_chain_behind_a_lost_notification_has_no_bound() -> None:
    """The search found it: E's second job came before D took its first notification, and A answered another arrival."""
    first, middle, last = linked(
        task("E", 100, 20, 4, sections=(("s", 1),)), task("D", 100, 5, 2), task("A", 100, 5, 1)
    )
    holder = task("C", 3_000, 300, 0, sections=(("s", 140),))
    for carrier, has_bound in (("semaphore", True), ("notification", False)):
        tasks = (replace(first, gives_by=carrier), middle, last, holder)  # type: ignore[arg-type]
        result = compute_response_time_bounds(IntegerTimeTaskSet(tasks))
        assert (result.find_response_bound("A").response is not None) is has_bound
        assert result.find_response_bound("C").response is not None
    assert result.find_response_bound("A").reason == "it answers arrivals of D, and an arrival of D may be lost"


def test_full_queue_is_reported() -> None:
    """The receiver falls behind by one message in a period, as a more urgent task takes the rest of the processor."""
    of = with_sends()
    tick = of.firmware.tick_cycles
    first, last = linked(task("first", 2 * tick, 9_000, 5), task("last", 2 * tick, 2 * tick, 0))
    system = IntegerTimeTaskSet((replace(first, gives_by="message"), last), units_per_second=of.firmware.clock_hz)
    run_and_check_task_set(system, of.firmware, of.work, 20)
    with pytest.raises(TaskSetCheckError, match="Task 1 fell behind by 8 messages"):
        run_and_check_task_set(system, of.firmware, of.work, 400)


def test_overloaded_sender_leaves_its_receiver_without_a_bound() -> None:
    tasks = (*linked(task("low", 100, 60, 0), task("high", 100, 1, 5)), task("busy", 10, 5, 3))
    result = compute_response_time_bounds(IntegerTimeTaskSet(tasks))
    assert result.find_response_bound("low").can_deadline_be_missed
    assert result.find_response_bound("high").reason == "low, which releases high, has no bound"


def test_task_of_another_core_is_released_as_late_as_its_sender_ends() -> None:
    """The sender is never in the busy period of its receiver: the receiver's jitter is the end of the call."""
    system = IntegerTimeTaskSet(linked(task("here", 100, 20, 5), task("there", 100, 5, 1, core=1)))
    result = compute_response_time_bounds(system).find_response_bound("there")
    assert result.response == 25
    assert result.parts == {"own": 5, "jitter": 20}
    sent = KERNEL.model_copy(update={"sends": SendCosts(call_cycles=1_000, contended_cycles=200, switch_cycles=100)})
    two = sent.model_copy(update={"smp": sent.smp.model_copy(update={"cores": 2, "yield_cycles": 250})})
    period = 20 * KERNEL.tick.period_cycles
    pair = linked(task("here", period, 9_000, 5), task("there", period, 5_000, 1, core=1))
    parts = compute_response_time_bounds(IntegerTimeTaskSet(pair), two).find_response_bound("there").parts
    assert parts["jitter"] > 9_000 + 1_000
    assert parts["requested by other cores"] == 250
    assert parts["sends"] == two.extra_cycles_of_task_switching_tick, "the call is not executed on the receiver's core"


def test_chain_that_returns_to_its_core_has_bounds() -> None:
    """Each round adds nothing more once the ends of the sends are known."""
    chain = linked(task("A", 100, 10, 1), task("B", 100, 10, 1, core=1), task("C", 100, 10, 2))
    result = compute_response_time_bounds(IntegerTimeTaskSet(chain))
    assert [bound.response for bound in result.tasks] == [20, 20 + 10, 20 + 10 + 10]


def test_short_search_with_sends_finds_nothing(tmp_path: Path) -> None:
    tried = list(search_violated_bounds(with_sends(), 40, 2026))
    for number, item in enumerate(tried):
        write_bound_violation(with_sends(), item, tmp_path / f"{number}.toml")
        assert read_response_bound_violation_file(tmp_path / f"{number}.toml").task_set_and_first_start_times(
            with_sends()
        ) == (
            item.system,
            item.starts,
        )
    assert [item.findings for item in tried if item.findings] == []
    assert {one.gives_by for item in tried for one in item.system.tasks if one.gives} == {
        "semaphore", "message", "notification",
    }  # fmt: skip
    assert any(one.jitter and one.is_tick_released for item in tried for one in item.system.tasks)
    assert any(one.sender and one.name in item.ratios for item in tried for one in item.system.tasks)


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "board"), [("freertos", "pico"), ("rt", BOARD), ("freertos", "nucleo-f103rb")])
def test_bounds_hold_on_other_boards(kernel: str, board: str) -> None:
    tried = list(search_violated_bounds(with_sends(kernel, board), 100, 9))
    assert [attempt.findings for attempt in tried if any("its bound" in one for one in attempt.findings)] == []


def test_search_notices_a_send_that_is_not_charged() -> None:
    of = with_sends()
    wrong = replace(of, overheads=of.overheads.model_copy(update={"sends": SendCosts()}))
    found = [item for item in search_violated_bounds(wrong, 10, 2026) if item.findings]
    assert any("a release of another task took" in item.findings[0] for item in found)
    faster = search_violated_bounds(replace(wrong, has_ledger=False), 10, 2026)
    assert not any("is charged with" in text for item in faster for text in item.findings)


def test_image_without_sends_refuses_them() -> None:
    of = search_bench("freertos", BOARD, events=1)
    pair = linked(task("A", of.firmware.tick_cycles, 900, 1), task("B", of.firmware.tick_cycles, 900, 2))
    with pytest.raises(TaskSetCheckError, match="A: this image cannot release tasks by other tasks"):
        image_task_rows(IntegerTimeTaskSet(pair, units_per_second=of.firmware.clock_hz), of.firmware, of.work)


FIRST = '[[task]]\nname = "A"\nperiod_ms = 1\nwcet_us = 10\npriority = 1\ngives = "B"\n'
SECOND = '[[task]]\nname = "B"\nwcet_us = 10\npriority = 2\n'


def test_released_task_has_the_period_of_its_sender(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(FIRST + SECOND + 'gives = "C"\n' + SECOND.replace("B", "C"))
    system = convert_to_integer_task_set(read_task_set(path), None)
    assert {item.period for item in system.tasks} == {system.tasks[0].period}
    assert [item.sender for item in system.tasks] == ["", "A", "B"]
    assert read_task_set(path).required_feature_level == 2
    notes = compute_task_set_study(read_task_set(path), None).notes
    assert notes[-1].startswith("Tasks release each other: A > B > C. The response of each counts from the arrival")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FIRST, "task A gives to 'B', which is not a task of this file"),
        (
            FIRST + SECOND + FIRST.replace('"A"', '"C"'),
            "A and C release B, so it has to know which of them did; .* for A",
        ),
        (FIRST.replace('"B"', '["B", "B"]') + SECOND, "task A gives to a task twice"),
        (FIRST + SECOND + "period_ms = 2\n", "has another period"),
        (FIRST + SECOND + "jitter_us = 2\n", "which has a jitter or offset"),
        (FIRST + SECOND + 'release = "interrupt"\n', "which an interrupt releases too"),
        (FIRST + SECOND + 'gives = "A"\n', "A > B > A release each other in a circle"),
        (FIRST.replace('"B"', '"A"'), "A > A release each other in a circle"),
        (FIRST + 'gives_by = "mail"\n' + SECOND, "gives_by is 'mail'; known: semaphore, message, notification"),
        (SECOND, "task B has no period"),
        (SECOND.replace("B", "A") + 'gives = "B"\n' + SECOND, "task A has no period"),
    ],
)
def test_mistake_in_a_release_is_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(text)
    with pytest.raises(TaskSetError, match=message):
        read_task_set(path)
