"""Converts a task set for the image: rows of tasks, the parts of their work, and the interrupts that the virtual board
raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from random import Random
from typing import Final

from rtoslab.base import TaskSetCheckError
from rtoslab.rta.arrival_curves import ArrivalCurve, shortest_time_between_arrivals
from rtoslab.rta.firmware import (
    INTERRUPT_LINES,
    MAX_LATE_TICKS,
    MAX_PARTS,
    MAX_RECEIVERS,
    MUTEXES,
    TIMERS,
    TaskSetFirmware,
)
from rtoslab.rta.rows import (
    LATE_JOBS,
    InterruptLine,
    JobWorkSegment,
    TaskReleaseObjectKind,
    TaskRow,
    WorkSegmentProtection,
)
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, IntegerTimeTaskSet
from rtoslab.rta.work import BusyWork

_GAP_CYCLES: Final = 4_000
"""The least time between two raisings of an interrupt, besides its handler's work. The second must not find the first
still pending."""


def image_task_rows(
    system: IntegerTimeTaskSet, firmware: TaskSetFirmware, work: BusyWork, random: Random | None = None
) -> list[TaskRow]:
    """Returns the tasks of a system as rows of the image's task table, in the order of `tasks_of_image`.

    Of eight jobs of a task with jitter, the tick releases the first one as late as its jitter allows, and the others as
    they arrive. The second job then comes as soon as possible after the first. With `random`, each job is late by a
    random time. Raises TaskSetCheckError naming the task that does not fit.
    """
    if (last := max(system.used_core_numbers)) >= firmware.core_count:
        raise TaskSetCheckError(
            f"The set has a task on core {last}, but the last core of the image is "
            f"{firmware.core_count - 1}; correct the task's core."
        )
    if system.clock_hz != firmware.clock_hz:
        raise TaskSetCheckError(
            f"The task set is for {system.clock_hz} Hz, but the board runs at {firmware.clock_hz} Hz; "
            "use overheads of this board."
        )
    tasks = system.tasks_of_image
    if len(tasks) > firmware.max_tasks:
        raise TaskSetCheckError(
            f"The image can run {firmware.max_tasks} tasks, but the set has {len(tasks)}; check a part of the set."
        )
    levels = sorted({task.priority for task in system.tasks})
    if len(levels) > firmware.priority_count:
        raise TaskSetCheckError(
            f"The image has {firmware.priority_count} priorities, but the set has {len(levels)}; check a part of the "
            "set."
        )
    if len(system.interrupts) > INTERRUPT_LINES:
        raise TaskSetCheckError(
            f"The image has {INTERRUPT_LINES} interrupts, but the set has {len(system.interrupts)}; check a part of "
            "the set."
        )
    resources = sorted({name for task in system.tasks for name, _ in task.sections})
    if len(resources) > MUTEXES:
        raise TaskSetCheckError(
            f"The image has {MUTEXES} mutexes, but the set has {len(resources)} resources; check a part of the set."
        )
    if resources and system.protocol == "ceiling":
        raise TaskSetCheckError(
            "No kernel has the priority ceiling protocol; use the protocol inheritance or immediate_ceiling."
        )
    if resources and system.protocol == "immediate_ceiling" and not firmware.kernel.services["priority_set"]:
        raise TaskSetCheckError(
            f"{firmware.kernel.id} cannot raise a task to a ceiling; check the set with inheritance."
        )
    ceilings = {
        name: max(levels.index(task.priority) for task in system.tasks if name in dict(task.sections))
        for name in resources
    }
    _require_timer_support(system, firmware)
    rows = [
        _make_image_task_table_row(task, system, firmware, work, levels.index(task.priority), ceilings)
        for task in tasks
    ]
    return [_task_row_with_releases(row, task, system, firmware, random) for row, task in zip(rows, tasks, strict=True)]


def _require_timer_support(system: IntegerTimeTaskSet, firmware: TaskSetFirmware) -> None:
    """Raises TaskSetCheckError if the image cannot run the timers of a system."""
    timers = [task for task in system.tasks if task.is_timer]
    if timers and not firmware.supports_kernel_timers:
        raise TaskSetCheckError(f"{timers[0].name}: this image has no timers; build it with events=3.")
    other = next((timer for timer in timers if firmware.is_smp and timer.core), None)
    if other is not None:
        raise TaskSetCheckError(
            f"{other.name}: the kernel's timer task is on core 0, but the timer is on core {other.core}; remove its "
            "core."
        )
    late = next((timer for timer in timers if (timer.offset or 0) >= timer.period), None)
    if late is not None:
        raise TaskSetCheckError(
            f"{late.name}: in the image the offset of a timer is shorter than its period; make it shorter."
        )
    by_kernel = [timer.core if firmware.does_each_core_run_own_kernel else 0 for timer in timers]
    if (most := max(map(by_kernel.count, by_kernel), default=0)) > TIMERS:
        raise TaskSetCheckError(f"The image has {TIMERS} timers, but the set has {most}; check a part of the set.")


def _task_row_with_releases(
    row: TaskRow, task: IntegerTimeTask, system: IntegerTimeTaskSet, firmware: TaskSetFirmware, random: Random | None
) -> TaskRow:
    """Returns a task's row with what releases it besides the tick and interrupts, and what it releases."""
    if task.is_timer:
        row = replace(row, is_timer=True)
    if task.gives or task.sender:
        by_name = {other.name: other for other in system.tasks}
        sender = by_name[task.sender] if task.sender else None
        receivers = [1 + system.task_names.index(by_name[name].task_name) for name in task.gives]
        _require_multiple_release_support(task, receivers, system, firmware)
        return replace(
            row,
            receiver=receivers[0] if receivers else 0,
            further_receivers=tuple(receivers[1:]),
            receiver_carrier=_kernel_object_for_task_release(task, firmware)
            if task.gives
            else TaskReleaseObjectKind.NONE,
            carrier=_kernel_object_for_task_release(sender, firmware) if sender else TaskReleaseObjectKind.NONE,
            late_ticks=_job_lateness_in_ticks(task, system, firmware, random),
        )
    return replace(row, late_ticks=_job_lateness_in_ticks(task, system, firmware, random))


def _require_multiple_release_support(
    task: IntegerTimeTask, receivers: Sequence[int], system: IntegerTimeTaskSet, firmware: TaskSetFirmware
) -> None:
    """Raises TaskSetCheckError if the image cannot run a task that releases several tasks, or that several tasks
    release."""
    senders = {
        other.task_name
        for other in system.tasks
        if any(item.sender == other.name for item in system.tasks if item.task_name == task.task_name)
    }
    if not firmware.can_tasks_release_several_tasks and (len(receivers) > 1 or len(senders) > 1):
        raise TaskSetCheckError(
            f"{task.task_name}: in this image no task can release several, or be released by several; build it with "
            "events=4."
        )
    if len(receivers) > MAX_RECEIVERS:
        raise TaskSetCheckError(
            f"{task.task_name}: in the image a task can release {MAX_RECEIVERS} tasks, but this one releases "
            f"{len(receivers)}; check a part of the set."
        )


def _kernel_object_for_task_release(sender: IntegerTimeTask, firmware: TaskSetFirmware) -> TaskReleaseObjectKind:
    """Returns the object by which a task releases another one in the image. Raises TaskSetCheckError if there is
    none."""
    if not firmware.supports_task_releases:
        raise TaskSetCheckError(
            f"{sender.name}: this image cannot release tasks by other tasks; build it with events=2."
        )
    service, objects = _CARRIER_SERVICES[sender.gives_by]
    if not firmware.kernel.services[service]:
        raise TaskSetCheckError(
            f"{sender.name}: {firmware.kernel.id} has no {objects}; check the set with another gives_by."
        )
    return TaskReleaseObjectKind[sender.gives_by.upper()]


_CARRIER_SERVICES: Final = {
    "semaphore": ("semaphore", "semaphores"),
    "message": ("queue", "message queues"),
    "notification": ("notify", "notifications of tasks"),
}
"""By carrier: the service of the kernel that it needs, and its name in errors."""


def _job_lateness_in_ticks(
    task: IntegerTimeTask, system: IntegerTimeTaskSet, firmware: TaskSetFirmware, random: Random | None
) -> tuple[int, ...]:
    """Returns by how many ticks the tick releases the jobs of a task late, for a whole number of ticks of jitter.
    Empty if it releases them as they arrive. Raises TaskSetCheckError if the jitter is too long for the image.
    """
    tick = firmware.tick_cycles * system.units_per_cycle
    most = task.jitter // tick
    if not firmware.supports_task_releases or not most or not task.is_tick_released:
        return ()
    if most > MAX_LATE_TICKS or task.jitter >= task.period:
        raise TaskSetCheckError(
            f"{task.name}: its jitter is {most} ticks, but the image supports up to {MAX_LATE_TICKS} and less than the "
            "period; check the set with less jitter."
        )
    if random is None:
        return (most, *[0] * (LATE_JOBS - 1))
    return tuple(random.randint(0, most) for _ in range(LATE_JOBS))


def _make_image_task_table_row(
    task: IntegerTimeTask,
    system: IntegerTimeTaskSet,
    firmware: TaskSetFirmware,
    work: BusyWork,
    level: int,
    ceilings: Mapping[str, int],
) -> TaskRow:
    """Returns one task as a row of the image's task table.
    `level` is its priority in the image, `ceilings` has the priority ceiling of each resource.
    """
    scale = system.units_per_cycle
    line = 1 + [interrupt.name for interrupt in system.interrupts].index(task.released_by) if task.released_by else 0
    by_tick = task.is_tick_released
    period = 1 if not by_tick else _time_in_whole_ticks(task, Fraction(task.period, scale), "period", firmware)
    offset = 0 if not by_tick else _time_in_whole_ticks(task, Fraction(task.offset or 0, scale), "offset", firmware)
    if not task.kernel_call_count:
        return TaskRow(
            period, offset, *_busy_work_lasting_cycles(task, task.wcet // scale, work), level, line, core=task.core
        )
    protected: list[tuple[int, WorkSegmentProtection, int]] = []
    names = sorted(ceilings)
    for name, length in task.sections:
        if system.protocol == "immediate_ceiling":
            protected.append((length // scale, WorkSegmentProtection.RAISED, ceilings[name]))
        else:
            protected.append((length // scale, WorkSegmentProtection.LOCKED, names.index(name)))
    if task.masked:
        protected.append((task.masked // scale, WorkSegmentProtection.MASKED, 0))
    if len(protected) + 2 > MAX_PARTS:
        raise TaskSetCheckError(
            f"{task.name}: the image has {MAX_PARTS - 2} sections and masks per task; check a part of the set."
        )
    left = task.wcet // scale - sum(cycles for cycles, _, _ in protected)
    ends = [(left // 2, WorkSegmentProtection.PLAIN, 0), (left - left // 2, WorkSegmentProtection.PLAIN, 0)]
    parts = tuple(
        JobWorkSegment(*_busy_work_lasting_cycles(task, cycles, work), around, what)
        for cycles, around, what in (ends[0], *protected, ends[1])
    )
    return TaskRow(period, offset, 1, 0, level, line, parts, task.core)


def _time_in_whole_ticks(task: IntegerTimeTask, cycles: Fraction, key: str, firmware: TaskSetFirmware) -> int:
    """Returns a time as a whole number of kernel ticks. Raises TaskSetCheckError if it is none."""
    ticks = cycles / firmware.tick_cycles
    if ticks.denominator != 1:
        tick_us = 1_000_000 / firmware.tick_hz
        raise TaskSetCheckError(
            f"{task.name}: its {key} is {float(ticks):g} ticks of {tick_us:g} us, but the kernel releases tasks at "
            'whole ticks; change the time, change the tick rate with --config, or write release = "interrupt".'
        )
    return int(ticks)


def _busy_work_lasting_cycles(task: IntegerTimeTask, cycles: int, work: BusyWork) -> tuple[int, int]:
    """Returns the busy work (rounds, extra instructions) that lasts so many cycles.
    Raises TaskSetCheckError naming the task.
    """
    try:
        return work.work_amount_lasting_cycles(cycles)
    except TaskSetCheckError as cause:
        where = ", before, inside and after each section" if task.kernel_call_count else ""
        raise TaskSetCheckError(f"{task.name}{where}: {cause}") from None


def virtual_interrupt_lines(
    system: IntegerTimeTaskSet,
    firmware: TaskSetFirmware,
    work: BusyWork,
    ticks: int,
    phases: Sequence[int] = (),
    random: Random | None = None,
) -> list[InterruptLine]:
    """Returns the interrupts that the virtual board raises during a run, with their times.
    `phases` has the cycle of each one's first raising.

    The first arrival of an interrupt is as late as its jitter allows, and the following ones come as soon as possible.
    This is the worst case for all of them together. With `random`, each is late by a random time. Raises
    TaskSetCheckError for an interrupt that may be raised while it is still pending.
    """
    end = ticks * firmware.tick_cycles
    return [
        _virtual_interrupt_line(item, system, work, end, phases[at] if phases else 0, random)
        for at, item in enumerate(system.interrupts)
    ]


def _next_arrival_of_curve(
    curve: ArrivalCurve, nominal: Sequence[Fraction], longest_pause: Fraction, random: Random | None
) -> Fraction:
    """Returns the time of the next arrival of a curve after those before it: as early as the curve allows.
    With `random` it is later by a random pause, one time out of five.
    """
    allowed = [nominal[-count] + window for count, window in curve if count <= len(nominal)]
    pause = random.randint(0, int(longest_pause)) if random and random.random() < 0.2 else 0
    return max(nominal[-1], *allowed) + pause


def _virtual_interrupt_line(
    handler: IntegerTimeInterrupt,
    system: IntegerTimeTaskSet,
    work: BusyWork,
    end: int,
    phase: int,
    random: Random | None,
) -> InterruptLine:
    """Returns one interrupt with the times at which the virtual board raises it, up to the cycle `end`."""
    scale = system.units_per_cycle
    period, jitter, wcet = (Fraction(value, scale) for value in (handler.period, handler.jitter, handler.wcet))
    try:
        rounds, extra = work.work_amount_lasting_cycles(int(wcet)) if wcet else (0, 0)
    except TaskSetCheckError as cause:
        raise TaskSetCheckError(f"{handler.name}: {cause}") from None
    gap = int(wcet) + _GAP_CYCLES
    distance = Fraction(shortest_time_between_arrivals(handler.curve, 1), scale) if handler.curve else period
    if distance < gap or jitter > distance - gap:
        what = "these arrivals" if handler.curve else "this period"
        advice = ", so limit the arrivals by a further pair with count = 1" if handler.curve else ""
        raise TaskSetCheckError(
            f"{handler.name}: with {what} and jitter, an interrupt could be raised while the previous one is "
            f"still pending, and be lost; the check needs {gap} cycles between two interrupts{advice}."
        )
    raised: list[int] = []
    arrivals: list[int] = []
    arrival, nominal = phase - jitter, [Fraction(0)]
    while arrival + jitter < end:
        late = jitter if not raised else Fraction(random.randint(0, int(jitter))) if random and jitter else Fraction(0)
        at = ceil(arrival + late)
        if raised:
            at = max(at, raised[-1] + gap)
        if at >= 0:
            raised.append(at)
            arrivals.append(ceil(arrival))
        if handler.curve:
            nominal.append(_next_arrival_of_curve(handler.curve, nominal, period * scale, random))
            arrival += (nominal[-1] - nominal[-2]) / scale
        else:
            arrival += period
    return InterruptLine(rounds, extra, tuple(raised), tuple(arrivals), handler.core)
