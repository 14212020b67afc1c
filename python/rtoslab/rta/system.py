"""A task set on one integer time base: cycles of a clock, or the finest unit in which all its times are whole."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from rtoslab.errors import TaskSetError
from rtoslab.rta.taskset import Equals, InterruptSpec, Protocol, TaskSet, TaskSpec
from rtoslab.rta.units import Time


@dataclass(frozen=True, slots=True)
class Task:
    """Integers in units of the system; see `TaskSpec`."""

    name: str
    period: int
    wcet: int
    deadline: int
    priority: int
    jitter: int = 0
    offset: int | None = None
    masked: int = 0
    sections: tuple[tuple[str, int], ...] = ()
    core: int = 0


@dataclass(frozen=True, slots=True)
class Handler:
    """An interrupt; the first of a system is the most urgent."""

    name: str
    period: int
    wcet: int
    deadline: int
    jitter: int = 0
    core: int = 0


@dataclass(frozen=True, slots=True)
class System:
    """Tasks and interrupts; `units_per_second` says what a unit is, and is the clock where one was given."""

    tasks: tuple[Task, ...]
    interrupts: tuple[Handler, ...] = ()
    protocol: Protocol = "inheritance"
    equals: Equals = "any"
    units_per_second: int = 1_000_000
    rounded: tuple[str, ...] = ()
    """Tasks with a time that is no whole number of cycles; it was rounded to the safe side."""

    @property
    def cores(self) -> tuple[int, ...]:
        """Those that have tasks or interrupts, in order."""
        return tuple(sorted({each.core for each in self.tasks} | {each.core for each in self.interrupts}))

    def microseconds(self, units: float) -> float:
        """For people."""
        return units * 1e6 / self.units_per_second


def utilisation(parts: Iterable[tuple[int, int]]) -> Fraction:
    """Of (cost, period) pairs, exactly."""
    return sum((Fraction(cost, period) for cost, period in parts), Fraction(0))


def make_system(task_set: TaskSet, clock_hz: int | None) -> System:
    """Demand is rounded up, room is rounded down. Raises TaskSetError where a time in cycles has no clock."""
    specs: list[TaskSpec | InterruptSpec] = [*task_set.tasks, *task_set.interrupts]
    times = [time for spec in specs for time in _times(spec)]
    if clock_hz is None and any(each.in_cycles for each in times):
        raise TaskSetError(f"{task_set.source} gives times in cycles; say with --clock or --board how long one is.")
    rate = clock_hz or math.lcm(1_000_000, *(each.value.denominator for each in times))
    rounded: dict[str, None] = {}

    def up(time: Time, name: str) -> int:
        return _whole(time.cycles(rate), name, rounded, upwards=True)

    def down(time: Time, name: str) -> int:
        return _whole(time.cycles(rate), name, rounded, upwards=False)

    tasks = tuple(
        Task(
            name=each.name,
            period=_some(down(each.period, each.name), each.name, "period"),
            wcet=up(each.wcet, each.name),
            deadline=_some(down(each.deadline, each.name), each.name, "deadline"),
            priority=each.priority,
            jitter=up(each.jitter, each.name),
            offset=_offset(each, rate),
            masked=up(each.masked, each.name),
            sections=tuple((one.resource, up(one.length, each.name)) for one in each.sections),
            core=each.core,
        )
        for each in task_set.tasks
    )
    handlers = tuple(
        Handler(
            name=each.name,
            period=_some(down(each.period, each.name), each.name, "period"),
            wcet=up(each.wcet, each.name),
            deadline=_some(down(each.deadline, each.name), each.name, "deadline"),
            jitter=up(each.jitter, each.name),
            core=each.core,
        )
        for each in task_set.interrupts
    )
    return System(tasks, handlers, task_set.protocol, task_set.equals, rate, tuple(rounded))


def _times(spec: TaskSpec | InterruptSpec) -> list[Time]:
    found = [spec.period, spec.wcet, spec.deadline, spec.jitter]
    if isinstance(spec, TaskSpec):
        found += [spec.masked, *(each.length for each in spec.sections)]
        found += [spec.offset] if spec.offset is not None else []
    return found


def _whole(value: Fraction, name: str, rounded: dict[str, None], *, upwards: bool) -> int:
    if value.denominator != 1:
        rounded[name] = None
    return math.ceil(value) if upwards else math.floor(value)


def _some(value: int, name: str, what: str) -> int:
    if value == 0:
        raise TaskSetError(f"{name}: its {what} is shorter than one cycle; check its unit.")
    return value


def _offset(spec: TaskSpec, rate: int) -> int | None:
    """An offset that is no whole number of units is unknown: between two of them, either could be the worse one."""
    if spec.offset is None:
        return None
    exact = spec.offset.cycles(rate)
    return int(exact) if exact.denominator == 1 else None
