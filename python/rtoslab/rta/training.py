"""Task sets that show the kernel's costs: rows of the image, and for how many ticks each set is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Final

from rtoslab.base import TaskSetCheckError
from rtoslab.rta.arrange import image_task_rows, virtual_interrupt_lines
from rtoslab.rta.firmware import MAX_RECEIVERS, TIMERS, TaskSetFirmware
from rtoslab.rta.randomsets import (
    kernel_objects_that_can_release_tasks,
    random_event_task_set,
    random_fan_in_fan_out_task_set,
    random_task_set_with_release_chains,
    random_timer_task_set,
)
from rtoslab.rta.rows import InterruptLine, JobWorkSegment, TaskReleaseObjectKind, TaskRow, WorkSegmentProtection
from rtoslab.rta.system import IntegerTimeTaskSet
from rtoslab.rta.work import BusyWork

TrainingSet = tuple[list[TaskRow], int, list[InterruptLine]]
"""Task rows, the number of ticks, and interrupts."""
_EVENT_SETS: Final = 80
_SEND_SETS: Final = 120
_TIMER_SETS: Final = 120
_FAN_SETS: Final = 120
_CONTENTIONS: Final = 12
_FEWER: Final = 4
_SEED: Final = 2021
_MIXED: Final = 24
_MIXED_TICKS: Final = 60
_ALL_CORES: Final = 80
_LITTLE: Final = 200
"""Cycles of a short job."""
_HANDLED: Final = 800
"""Cycles of work in a handler before its give."""
_DIVISORS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)
"""Periods that begin together every 48 ticks, and in all combinations at the ticks between."""
_STEPS: Final = 160
"""The number of moments between two jobs at which a tick comes."""


def basic_calibration_task_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[tuple[list[TaskRow], int]]:
    """Yields training task sets whose tasks are released together, each with its number of ticks.
    Then tasks that preempt each other for long.
    """
    most = min(firmware.max_tasks, firmware.priority_count)
    short, long = (
        work.work_amount_lasting_cycles(firmware.tick_cycles // 50),
        work.work_amount_lasting_cycles(2 * firmware.tick_cycles + firmware.tick_cycles // 5),
    )
    for count in range(1, most + 1):
        yield [TaskRow(4, 0, *short, most - 1 - at) for at in range(count)], 24
        yield [TaskRow(4, 0, *short, at) for at in range(count)], 24
    for count in range(1, most):
        for up in (False, True):
            together = [TaskRow(8, 1, *short, 1 + (at if up else count - at - 1)) for at in range(count)]
            yield [TaskRow(8, 0, *long, 0), *together], 32
            yield [*together, TaskRow(8, 0, *long, most - 1)], 32
    random = Random(_SEED)  # noqa: S311 (the same sets every time)
    for count in sorted({2, 3, most // 2, most - 2, most}):
        # They sleep in the order in which they went to: the longer the period, the nearer the head of a list.
        periods = sorted(_DIVISORS[:count], reverse=True)
        rising, falling = list(range(count)), list(range(count))[::-1]
        shuffled, few = random.sample(rising, count), [random.randrange(3) for _ in rising]
        for levels in (rising, falling, shuffled, few):
            rows = [TaskRow(period, 0, *short, at) for period, at in zip(periods, levels, strict=True)]
            yield rows, 48 + 2
            yield [*rows[1:], TaskRow(48, 2, *long, rows[0].priority)], 2 * 48 + 2
    for number in range(_MIXED):
        count = random.randint(most // 2, most)
        periods = [random.choice((2, 3, 4, 5, 7, 9, 11, 13)) for _ in range(count)]
        levels = random.sample(range(count), count) if number % 2 else list(range(count))
        share = 0.6 / count
        yield (
            [
                TaskRow(
                    period,
                    0,
                    *work.work_amount_lasting_cycles(
                        int(period * firmware.tick_cycles * share * random.uniform(0.5, 1.2))
                    ),
                    at,
                )
                for at, period in zip(levels, periods, strict=True)
            ],
            _MIXED_TICKS,
        )


def long_job_calibration_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[tuple[list[TaskRow], int]]:
    """Yields training task sets with jobs of many ticks."""
    tick = firmware.tick_cycles
    long = work.work_amount_lasting_cycles(10 * tick + tick // 3)
    equals = [TaskRow(60, 0, *long, 2), TaskRow(60, 1, *long, 2), TaskRow(60, 0, *long, 2)]
    urgent = TaskRow(3, 0, *work.work_amount_lasting_cycles(tick // 4), 4)
    yield [TaskRow(30, 0, *long, 0)], 60
    yield equals, 60
    yield [*equals, urgent], 120
    yield (
        [*equals, urgent, TaskRow(2, 0, *work.work_amount_lasting_cycles(tick // 9), 5), TaskRow(60, 0, *long, 0)],
        180,
    )


def calibration_sets_with_ticks_in_switches(
    firmware: TaskSetFirmware, work: BusyWork, reach: int
) -> Iterator[tuple[list[TaskRow], int]]:
    """Yields training task sets in which ticks come during the end of a job or a task switch.
    The first ends its work so shortly before a tick that the tick comes during its end, the switch to the second, or
    the second's start. With and without a task that this tick releases.
    """
    length = 4 * reach
    pairs = (firmware.max_tasks - 1) // 2
    lengths = [firmware.tick_cycles - reach + 40 - length * step // _STEPS for step in range(_STEPS)]
    for at in range(0, _STEPS, pairs):
        part = lengths[at : at + pairs]
        period = 3 * len(part)
        rows = []
        for place, cycles in enumerate(part):
            rows.append(TaskRow(period, 3 * place, *work.work_amount_lasting_cycles(cycles), 5))
            rows.append(TaskRow(period, 3 * place, *work.work_amount_lasting_cycles(reach), 4))
        yield rows, 2 * period
        yield [*rows, TaskRow(1, 0, *work.work_amount_lasting_cycles(200), 6)], 2 * period


def task_sets_spread_over_cores(
    sets: Iterable[tuple[list[TaskRow], int]], firmware: TaskSetFirmware
) -> Iterator[tuple[list[TaskRow], int]]:
    """Yields each task set with its tasks spread over the cores, and every other one also on a single core."""
    last = firmware.core_count - 1
    for number, (rows, ticks) in enumerate(sets):
        if number % 2:
            yield [replace(row, core=last * (number // 2 % 2)) for row in rows], ticks
        yield [replace(item, core=at % firmware.core_count) for at, item in enumerate(rows)], ticks


def calibration_sets_on_all_cores(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[tuple[list[TaskRow], int]]:
    """Yields training task sets with short jobs on one core while long ones work on the other."""
    tick, random = firmware.tick_cycles, Random(_SEED)  # noqa: S311 (the same sets every time)
    for core in range(firmware.core_count):
        for many in (1, 3):
            one, long = (
                TaskRow(1, 0, *work.work_amount_lasting_cycles(tick // 50), 1),
                TaskRow(40, 0, *work.work_amount_lasting_cycles(20 * tick), 0),
            )
            short = [replace(one, priority=1 + at, core=core) for at in range(many)]
            for other in range(firmware.core_count):
                yield [*short, replace(long, core=other)], 2 * _MIXED_TICKS
    for _ in range(_ALL_CORES):
        count = random.randint(4, firmware.max_tasks)
        rows = []
        for _ in range(count):
            period = random.choice((1, 2, 3, 4, 5, 7, 9, 11, 13))
            cycles = max(_LITTLE, int(period * tick * random.uniform(0.02, 1.2) / count))
            row = TaskRow(
                period, random.randrange(period), *work.work_amount_lasting_cycles(cycles), random.randrange(count)
            )
            rows.append(replace(row, core=random.randrange(firmware.core_count)))
        yield rows, _MIXED_TICKS


def semaphore_calibration_sets_near_ticks(
    firmware: TaskSetFirmware, work: BusyWork, reach: int
) -> Iterator[TrainingSet]:
    """Yields training task sets in which an interrupt gives a semaphore close to a tick that releases tasks.

    The task that it wakes is more urgent than those, or less. Its handler works, or gives at once. The core idles as
    the tick comes, or works. A random set meets such a place once in some thousand jobs.
    """
    tick, many = firmware.tick_cycles, min(firmware.max_tasks, firmware.priority_count) - 2
    little, long = work.work_amount_lasting_cycles(_LITTLE), work.work_amount_lasting_cycles(20 * tick)
    for released, urgent, handled, busy in product((1, many), (True, False), (0, _HANDLED), (False, True)):
        raised = tuple(tick * (at + 1) + reach * (at - _STEPS) // _STEPS for at in range(2 * _STEPS))
        woken = TaskRow(1, 0, *little, released + 1 if urgent else 1, 1)
        rows = [TaskRow(1, 0, *little, at + (1 if urgent else 2)) for at in range(released)]
        rows += [woken, *([TaskRow(40, 0, *long, 0)] if busy else [])]
        rounds, extra = work.work_amount_lasting_cycles(handled) if handled else (0, 0)
        yield rows, 2 * _STEPS + 2, [InterruptLine(rounds, extra, raised, raised)]


def systematic_calibration_task_set_stride(firmware: TaskSetFirmware) -> int:
    """Returns which of the systematic training sets are run: each n-th. The others are left out on several cores with
    events, where the observation of locks makes a run ten times as long and random sets show the same costs.
    """
    return _FEWER if firmware.is_smp and firmware.can_interrupts_release_tasks else 1


def semaphore_calibration_sets_on_all_cores(
    sets: Iterable[TrainingSet], firmware: TaskSetFirmware
) -> Iterator[TrainingSet]:
    """Yields every other training set with its interrupt on one core. The tasks that it does not release are on that
    core, or on another one, whose calls may then complete the release.
    """
    for number, (rows, ticks, lines) in enumerate([*sets][::2]):
        core, others = number % firmware.core_count, number // firmware.core_count % firmware.core_count
        handled = [replace(line, core=core) for line in lines]
        yield [replace(row, core=core if row.line else others) for row in rows], ticks, handled


def calibration_sets_on_both_kernels(sets: Sequence[TrainingSet]) -> Iterator[TrainingSet]:
    """Yields training sets for two kernels: each set on both at once, on one beside an idle one, and beside the next
    set. So the cores meet on the bus in many ways.
    """
    nothing: TrainingSet = ([], 0, [])
    for number, (training_set, next_set) in enumerate(zip(sets, [*sets[1:], sets[0]], strict=True)):
        others = (training_set, nothing, next_set)
        pair = (training_set, others[number % len(others)])
        yield _merge_calibration_sets_of_two_cores(*(pair if number // len(others) % 2 else reversed(pair)))


def _merge_calibration_sets_of_two_cores(first: TrainingSet, second: TrainingSet) -> TrainingSet:
    """Returns one training set for core 0 and another one for core 1 as one."""
    (rows, ticks, lines), (other_rows, other_ticks, other_lines) = first, second
    moved = [
        replace(
            row,
            core=1,
            receiver=row.receiver + len(rows) if row.receiver else 0,
            further_receivers=tuple(receiver + len(rows) for receiver in row.further_receivers),
            line=row.line + len(lines) if row.line else 0,
        )
        for row in other_rows
    ]
    return [*rows, *moved], max(ticks, other_ticks), [*lines, *(replace(line, core=1) for line in other_lines)]


def spread_calibration_sets_over_cores(sets: Iterable[TrainingSet], firmware: TaskSetFirmware) -> Iterator[TrainingSet]:
    """Yields the training sets with their tasks on one core after the other, and then with every other task on another
    core. The timers of the kernel stay on the first core.
    """
    cores = firmware.core_count
    for number, (rows, ticks, lines) in enumerate(sets):
        first, is_spread = number % cores, number // cores % 2
        homes = [(first + at * is_spread) % cores for at in range(len(rows))]
        placed = [row if row.is_timer else replace(row, core=core) for row, core in zip(rows, homes, strict=True)]
        yield placed, ticks, lines


def event_driven_calibration_task_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields training task sets with interrupts that release tasks, with critical sections and masks."""
    tick, random = firmware.tick_cycles, Random(_SEED)  # noqa: S311 (the same sets every time)
    for number in range(_CONTENTIONS):  # a task that comes while a less urgent one, or one of two, holds what it wants
        held = JobWorkSegment(*work.work_amount_lasting_cycles(tick // 2), WorkSegmentProtection.LOCKED, 0)
        ends, little = (
            JobWorkSegment(*work.work_amount_lasting_cycles(tick // (9 + number))),
            JobWorkSegment(*work.work_amount_lasting_cycles(200), WorkSegmentProtection.LOCKED, 0),
        )
        low = [TaskRow(4, index, 1, 0, index, 0, (ends, held, ends)) for index in range(1 + number % 2)]
        rows = [*low, TaskRow(1 + number % 3, 0, 1, 0, 5, 0, (ends, little, ends))]
        yield [replace(row, core=number % firmware.core_count) for row in rows], _MIXED_TICKS, []
    if firmware.is_smp:
        yield from _cross_core_wait_calibration_sets(firmware, work)
    yield from _random_calibration_sets(
        firmware, work, random, random_event_task_set, _EVENT_SETS // firmware.core_count
    )


def _cross_core_wait_calibration_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields training task sets in which tasks of several cores use one resource.

    Another task preempts the holder before a task of another core waits for it. In some sets the holder takes the
    resource again at once, and in some a task of the waiting core holds it too.
    """
    tick = firmware.tick_cycles
    for number in range(_CONTENTIONS * firmware.core_count):
        held, little = (
            JobWorkSegment(*work.work_amount_lasting_cycles(length), WorkSegmentProtection.LOCKED, 0)
            for length in (tick // (2 + number % 3), _LITTLE)
        )
        ends = JobWorkSegment(*work.work_amount_lasting_cycles(tick // (9 + number)))
        holder = number % firmware.core_count
        waiter = (holder + 1) % firmware.core_count
        sections = (ends, held, held, ends) if number % 4 < 2 else (ends, held, ends)
        rows = [
            TaskRow(4, 0, 1, 0, 1, 0, sections, holder),
            TaskRow(3, 0, *work.work_amount_lasting_cycles(tick // 5), 3, core=holder),
            TaskRow(1 + number % 3, 0, 1, 0, 5 if number % 5 else 2, 0, (ends, little, ends), waiter),
            TaskRow(5, 1, 1, 0, 0, 0, (ends, held, ends), waiter),
            TaskRow(7, 0, 1, 0, 4, 0, (ends, little, little, ends), holder),
        ]
        yield rows[: 3 + number % 3], _MIXED_TICKS, []


def _random_calibration_sets(
    firmware: TaskSetFirmware,
    work: BusyWork,
    random: Random,
    draw: Callable[[Random, TaskSetFirmware], IntegerTimeTaskSet],
    many: int,
) -> Iterator[TrainingSet]:
    """Yields so many random training task sets that the image can run."""
    created = 0
    while created < many:
        system = draw(random, firmware)
        try:
            rows = image_task_rows(system, firmware, work, random if firmware.supports_task_releases else None)
            phases = [random.randrange(3 * firmware.tick_cycles) for _ in system.interrupts]
            lines = virtual_interrupt_lines(system, firmware, work, _MIXED_TICKS, phases, random)
        except TaskSetCheckError:
            continue
        created += 1
        yield rows, _MIXED_TICKS, lines


def rows_with_task_release(
    rows: list[TaskRow], sender: int, receiver: int, carrier: TaskReleaseObjectKind
) -> list[TaskRow]:
    """Returns the rows with a task that releases another one. `sender` and `receiver` are their indices."""
    linked = [*rows]
    linked[sender] = replace(linked[sender], receiver=receiver + 1, receiver_carrier=carrier)
    linked[receiver] = replace(linked[receiver], carrier=carrier, period_ticks=1, offset_ticks=0)
    return linked


def calibration_sets_with_releases_near_ticks(
    firmware: TaskSetFirmware, work: BusyWork, reach: int
) -> Iterator[TrainingSet]:
    """Yields training task sets in which ticks come while a task releases another one, by each kind of object.
    The released task is more urgent, or less. With and without a task that this tick releases.
    """
    tick, carriers = firmware.tick_cycles, kernel_objects_that_can_release_tasks(firmware)
    pairs = (firmware.max_tasks - 1) // 2
    lengths = [tick - reach + 40 - 4 * reach * step // _STEPS for step in range(_STEPS)]
    for at, urgent in product(range(0, _STEPS, pairs), (True, False)):
        part = lengths[at : at + pairs]
        period = 3 * len(part)
        rows: list[TaskRow] = []
        for place, cycles in enumerate(part):
            rows.append(TaskRow(period, 3 * place, *work.work_amount_lasting_cycles(cycles), 2))
            rows.append(TaskRow(1, 0, *work.work_amount_lasting_cycles(reach), 3 if urgent else 1))
        for place in range(len(part)):
            carrier = TaskReleaseObjectKind[carriers[(at + place) % len(carriers)].upper()]
            rows = rows_with_task_release(rows, 2 * place, 2 * place + 1, carrier)
        yield rows, 2 * period, []
        yield [*rows, TaskRow(1, 0, *work.work_amount_lasting_cycles(_LITTLE), 4)], 2 * period, []


def task_release_calibration_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields training task sets in which tasks release each other."""
    tick = firmware.tick_cycles
    little, many = work.work_amount_lasting_cycles(_LITTLE), min(firmware.max_tasks, firmware.priority_count)
    for carrier, up in product(kernel_objects_that_can_release_tasks(firmware), (True, False)):
        for count in range(2, many + 1):  # a chain of so many tasks
            rows = [TaskRow(4, 0, *little, at if up else count - 1 - at) for at in range(count)]
            for at in range(count - 1):
                rows = rows_with_task_release(rows, at, at + 1, TaskReleaseObjectKind[carrier.upper()])
            yield rows, _MIXED_TICKS // 2, []
    for carrier in kernel_objects_that_can_release_tasks(firmware):  # more urgent tasks preempt sender and receiver
        rows = [TaskRow(5, at, *work.work_amount_lasting_cycles(tick // 3), at) for at in range(4)]
        rows = rows_with_task_release(
            rows_with_task_release(rows, 0, 2, TaskReleaseObjectKind[carrier.upper()]),
            3,
            1,
            TaskReleaseObjectKind[carrier.upper()],
        )
        yield rows, _MIXED_TICKS, []


def random_task_release_calibration_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields random training task sets in which tasks release each other, with everything else."""
    random = Random(_SEED)  # noqa: S311 (the same sets every time)
    yield from _random_calibration_sets(
        firmware, work, random, random_task_set_with_release_chains, _SEND_SETS // firmware.core_count**2
    )


def timer_expiry_calibration_sets_near_ticks(
    firmware: TaskSetFirmware, work: BusyWork, reach: int
) -> Iterator[TrainingSet]:
    """Yields training task sets in which ticks come as the function of a timer ends, or begins.
    With and without a task that this tick releases, and with a second timer that expires on the same tick.
    """
    tick = firmware.tick_cycles
    lengths = [tick - reach + 40 - 8 * reach * step // _STEPS for step in range(_STEPS)]
    for at in range(0, _STEPS, TIMERS):
        part = lengths[at : at + TIMERS]
        period = 3 * len(part)
        rows = [
            TaskRow(period, 3 * place, *work.work_amount_lasting_cycles(cycles), 3, is_timer=True)
            for place, cycles in enumerate(part)
        ]
        yield rows, 2 * period, []
        yield [*rows, TaskRow(1, 0, *work.work_amount_lasting_cycles(_LITTLE), 4)], 2 * period, []
        second = replace(rows[1], offset_ticks=0)
        low = TaskRow(1, 0, *work.work_amount_lasting_cycles(reach), 1)
        yield [rows[0], second, *rows[2:], low], 2 * period, []


def timer_calibration_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields training task sets with one to four timers that expire together, among few and many tasks.
    In every other one the timers release some of the tasks.
    """
    little = work.work_amount_lasting_cycles(_LITTLE)
    most = min(firmware.max_tasks, firmware.priority_count)
    for timers, urgent, tasks in product(range(1, TIMERS + 1), (True, False), range(most - TIMERS + 1)):
        rows = [TaskRow(2 + at, 0, *little, most - 1 if urgent else 0, is_timer=True) for at in range(timers)]
        rows += [TaskRow(3 + 2 * at, 0, *little, 1 + at) for at in range(tasks)]
        yield rows, _MIXED_TICKS // 2, []
        for at in range(min(timers, tasks)):
            carriers = kernel_objects_that_can_release_tasks(firmware)
            rows = rows_with_task_release(
                rows, at, timers + at, TaskReleaseObjectKind[carriers[at % len(carriers)].upper()]
            )
        yield rows, _MIXED_TICKS // 2, []


def random_calibration_task_sets_with_timers(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields random training task sets with timers, and with everything else."""
    random = Random(_SEED)  # noqa: S311 (the same sets every time)
    yield from _random_calibration_sets(
        firmware, work, random, random_timer_task_set, _TIMER_SETS // firmware.core_count**2
    )


def fork_join_calibration_task_sets(firmware: TaskSetFirmware, work: BusyWork) -> Iterator[TrainingSet]:
    """Yields training task sets with a task that releases two to four tasks, and with one that two to four release."""
    little = work.work_amount_lasting_cycles(_LITTLE)
    for count, urgent in product(range(2, MAX_RECEIVERS + 1), (True, False)):
        several = [TaskRow(1, 0, *little, (2 if urgent else 0) + at % 2) for at in range(count)]
        for carrier in kernel_objects_that_can_release_tasks(firmware):
            kind = TaskReleaseObjectKind[carrier.upper()]
            receivers = [replace(row, carrier=kind) for row in several]
            numbers = range(2, 2 + count)
            sender = TaskRow(3, 0, *little, 2, receiver=2, further_receivers=(*numbers[1:],), receiver_carrier=kind)
            yield [sender, *receivers], _MIXED_TICKS // 2, []
        if firmware.kernel.services["queue"]:
            message = TaskReleaseObjectKind.MESSAGE
            senders = [
                replace(row, period_ticks=3 + at % 3, receiver=1, receiver_carrier=message)
                for at, row in enumerate(several)
            ]
            yield [TaskRow(1, 0, *little, 2, carrier=message), *senders], _MIXED_TICKS // 2, []
    random = Random(_SEED)  # noqa: S311 (the same sets every time)
    yield from _random_calibration_sets(firmware, work, random, random_fan_in_fan_out_task_set, _FAN_SETS)
