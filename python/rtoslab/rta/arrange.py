"""A task set as the image has it: rows, the parts of their work, and the interrupts that the virtual board raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from random import Random
from typing import Final

from rtoslab.base import CheckError
from rtoslab.rta.firmware import LINES, MOST_PARTS, RESOURCES, Around, Firmware, Line, Part, Row
from rtoslab.rta.system import Handler, System, Task
from rtoslab.rta.work import Work

_GAP_CYCLES: Final = 4_000
"""Between two raisings of an interrupt, beside its handler's work: the second must not find the first pending."""


def rows_of(system: System, firmware: Firmware, work: Work) -> list[Row]:
    """The tasks as the image has them. Raises CheckError naming the task that does not fit."""
    if (last := max(system.cores)) >= firmware.cores:
        raise CheckError(f"The set has a task on core {last}, the image's last is {firmware.cores - 1}; correct it.")
    if system.clock_hz != firmware.clock_hz:
        raise CheckError(f"The task set was made for {system.clock_hz} Hz, the board runs at {firmware.clock_hz}.")
    if len(system.tasks) > firmware.most_tasks:
        raise CheckError(
            f"The image holds {firmware.most_tasks} tasks, the set has {len(system.tasks)}; check a part of it."
        )
    levels = sorted({task.priority for task in system.tasks})
    if len(levels) > firmware.priorities:
        raise CheckError(f"The image has {firmware.priorities} priorities, the set {len(levels)}; check a part of it.")
    if len(system.interrupts) > LINES:
        raise CheckError(f"The image has {LINES} interrupts, the set {len(system.interrupts)}; check a part of it.")
    resources = sorted({name for task in system.tasks for name, _ in task.sections})
    if len(resources) > RESOURCES:
        raise CheckError(f"The image has {RESOURCES} mutexes, the set {len(resources)} resources; check a part of it.")
    if resources and system.protocol == "ceiling":
        raise CheckError(
            "No kernel here has the priority ceiling protocol; check with protocol inheritance or immediate_ceiling."
        )
    if resources and system.protocol == "immediate_ceiling" and not firmware.kernel.services["priority_set"]:
        raise CheckError(f"{firmware.kernel.id} cannot raise a task to a ceiling; check the set with inheritance.")
    ceilings = {
        name: max(levels.index(task.priority) for task in system.tasks if name in dict(task.sections))
        for name in resources
    }
    return [_row(task, system, firmware, work, levels.index(task.priority), ceilings) for task in system.tasks]


def _row(task: Task, system: System, firmware: Firmware, work: Work, level: int, ceilings: Mapping[str, int]) -> Row:
    scale = system.units_per_cycle
    line = 1 + [interrupt.name for interrupt in system.interrupts].index(task.released_by) if task.released_by else 0
    period = 1 if line else _ticks(task, Fraction(task.period, scale), "period", firmware)
    offset = 0 if line else _ticks(task, Fraction(task.offset or 0, scale), "offset", firmware)
    if not task.calls:
        return Row(period, offset, *_work(task, task.wcet // scale, work), level, line, core=task.core)
    inside: list[tuple[int, Around, int]] = []
    names = sorted(ceilings)
    for name, length in task.sections:
        if system.protocol == "immediate_ceiling":
            inside.append((length // scale, Around.RAISED, ceilings[name]))
        else:
            inside.append((length // scale, Around.LOCKED, names.index(name)))
    if task.masked:
        inside.append((task.masked // scale, Around.MASKED, 0))
    if len(inside) + 2 > MOST_PARTS:
        raise CheckError(f"{task.name}: the image has {MOST_PARTS - 2} sections and masks a task; check a part of it.")
    left = task.wcet // scale - sum(cycles for cycles, _, _ in inside)
    ends = [(left // 2, Around.PLAIN, 0), (left - left // 2, Around.PLAIN, 0)]
    parts = tuple(
        Part(*_work(task, cycles, work), around, what) for cycles, around, what in (ends[0], *inside, ends[1])
    )
    return Row(period, offset, 1, 0, level, line, parts)


def _ticks(task: Task, cycles: Fraction, what: str, firmware: Firmware) -> int:
    whole = cycles / firmware.tick_cycles
    if whole.denominator != 1:
        tick_us = 1_000_000 / firmware.tick_hz
        raise CheckError(
            f"{task.name}: its {what} is {float(whole):g} ticks of {tick_us:g} us, but the kernel releases tasks by "
            'whole ticks; change it, the tick rate with --config, or say release = "interrupt".'
        )
    return int(whole)


def _work(task: Task, cycles: int, work: Work) -> tuple[int, int]:
    try:
        return work.lasting(cycles)
    except CheckError as cause:
        where = ", before, inside and after each section" if task.calls else ""
        raise CheckError(f"{task.name}{where}: {cause}") from None


def lines_of(
    system: System,
    firmware: Firmware,
    work: Work,
    ticks: int,
    phases: Sequence[int] = (),
    random: Random | None = None,
) -> list[Line]:
    """The interrupts over so many ticks, from the first releases on. `phases`: of the first raisings, in cycles.

    The first comes as late as its jitter lets it, and those after it as soon as they may, which is the worst they can
    do together. With `random` each is as late as it happens. Raises CheckError for an interrupt that may be raised
    while it is still pending.
    """
    end = ticks * firmware.tick_cycles
    return [
        _line(item, system, work, end, phases[at] if phases else 0, random) for at, item in enumerate(system.interrupts)
    ]


def _line(handler: Handler, system: System, work: Work, end: int, phase: int, random: Random | None) -> Line:
    scale = system.units_per_cycle
    period, jitter, wcet = (Fraction(value, scale) for value in (handler.period, handler.jitter, handler.wcet))
    try:
        rounds, extra = work.lasting(int(wcet)) if wcet else (0, 0)
    except CheckError as cause:
        raise CheckError(f"{handler.name}: {cause}") from None
    gap = int(wcet) + _GAP_CYCLES
    if period < gap or jitter > period - gap:
        raise CheckError(
            f"{handler.name}: with its period and jitter it could be raised again while it is pending, and be lost; "
            f"the check needs {gap} cycles between two."
        )
    raised: list[int] = []
    arrivals: list[int] = []
    arrival = phase - jitter
    while arrival + jitter < end:
        late = jitter if not raised else Fraction(random.randint(0, int(jitter))) if random and jitter else Fraction(0)
        at = ceil(arrival + late)
        if raised:
            at = max(at, raised[-1] + gap)
        if at >= 0:
            raised.append(at)
            arrivals.append(ceil(arrival))
        arrival += period
    return Line(rounds, extra, tuple(raised), tuple(arrivals))
