"""A task set on one integer time base: the coarsest unit in which a cycle of the clock and all its times are whole.

Nothing is rounded before a bound is printed: a period of 8400.42 cycles has other common divisors than one of 8400."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from rtoslab.base import TaskSetError
from rtoslab.rta.arrival_curves import ArrivalCurve, long_run_arrival_rate, shortest_time_between_arrivals
from rtoslab.rta.taskset import Carrier, Equals, InterruptSpec, Protocol, TaskSet, TaskSpec
from rtoslab.rta.units import Duration

_LEAST_PRINTED: Final = 5
"""The shortest WCET has at least so many units of the last printed decimal, so that rounding does not double it."""


@dataclass(frozen=True, slots=True)
class IntegerTimeTask:
    """A task of a system, with times in integer units. `TaskSpec` describes the fields."""

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
    released_by: str = ""
    """The interrupt whose semaphore releases it. Empty: the tick or another task."""
    sender: str = ""
    """The task that releases it. Empty: the tick or an interrupt. Its jobs then arrive with those of the first task of
    the chain of senders."""
    gives: tuple[str, ...] = ()
    """The tasks that each of its jobs releases with its last actions, in this order."""
    base_name: str = ""
    """The task of the file that it is, if several tasks release that one or a task before it: see
    `split_tasks_by_releasing_task`. Empty: `name`."""
    gives_by: Carrier = "semaphore"
    is_timer: bool = False
    """Whether it is a timer of the kernel. The kernel's timer task then executes it, as its job."""
    curve: ArrivalCurve = ()
    """Its arrivals, if they are not periodic. `period` is then the shortest window of the curve."""

    @property
    def task_name(self) -> str:
        """Returns the name of the task in the file and in the image."""
        return self.base_name or self.name

    def long_run_load(self, cost: int) -> tuple[int, int]:
        """Returns a cost of each job as (cost, period) in the long run."""
        return _long_run_load_of_curve(self.curve, self.period, cost)

    def least_time_between_arrivals(self, number: int) -> int:
        """Returns the least time from an arrival to the arrival so many later."""
        return shortest_time_between_arrivals(self.curve, number) if self.curve else number * self.period

    @property
    def is_tick_released(self) -> bool:
        """Whether the kernel's tick releases it."""
        return not self.released_by and not self.sender

    @property
    def kernel_call_count(self) -> int:
        """Returns the number of kernel calls inside the task's work: before and after each section or mask."""
        return 2 * (len(self.sections) + (self.masked > 0))


@dataclass(frozen=True, slots=True)
class IntegerTimeInterrupt:
    """An interrupt of a system, with times in integer units. The first one is the most urgent."""

    name: str
    period: int
    wcet: int
    deadline: int
    jitter: int = 0
    core: int = 0
    gives: str = ""
    """The task whose semaphore it gives."""
    implied: bool = False
    """Whether the file has no table for it, and only says that an interrupt releases the task. Nobody asks for its own
    bound."""
    curve: ArrivalCurve = ()
    """Its arrivals, if they are not periodic. `period` is then the shortest window of the curve."""

    def long_run_load(self, cost: int) -> tuple[int, int]:
        """Returns a cost of each arrival as (cost, period) in the long run."""
        return _long_run_load_of_curve(self.curve, self.period, cost)


def _long_run_load_of_curve(curve: ArrivalCurve, period: int, cost: int) -> tuple[int, int]:
    """Returns a cost of each arrival as (cost, period) in the long run."""
    if not curve:
        return cost, period
    count, window = long_run_arrival_rate(curve)
    return cost * count, window


@dataclass(frozen=True, slots=True)
class ChainOfTasks:
    """A chain of tasks that hand data from one to the next, in their order."""

    name: str
    tasks: tuple[str, ...]
    deadline: int


@dataclass(frozen=True, slots=True)
class IntegerTimeTaskSet:
    """A task set with all times as integers, in a common unit.
    `units_per_second` is the length of a unit: the clock's rate times `units_per_cycle`.
    """

    tasks: tuple[IntegerTimeTask, ...]
    interrupts: tuple[IntegerTimeInterrupt, ...] = ()
    protocol: Protocol = "inheritance"
    equals: Equals = "any"
    units_per_second: int = 1_000_000
    units_per_cycle: int = 1
    """Also 1 if no clock is known."""
    chains: tuple[ChainOfTasks, ...] = ()

    @property
    def tasks_of_image(self) -> tuple[IntegerTimeTask, ...]:
        """Returns each task of the file once, as it is if the first of its senders releases it."""
        return tuple({task.task_name: task for task in reversed(self.tasks)}[name] for name in self.task_names)

    @property
    def task_names(self) -> tuple[str, ...]:
        """Returns the names of the tasks of the file, in its order."""
        return tuple(dict.fromkeys(task.task_name for task in self.tasks))

    @property
    def used_core_numbers(self) -> tuple[int, ...]:
        """Returns the cores that have tasks or interrupts, in order."""
        return tuple(sorted({task.core for task in self.tasks} | {interrupt.core for interrupt in self.interrupts}))

    @property
    def users_of_resources_across_cores(self) -> dict[str, tuple[str, ...]]:
        """Returns the users of each resource that tasks of different cores use."""
        users: dict[str, list[IntegerTimeTask]] = {}
        for task in self.tasks:
            for name in dict.fromkeys(name for name, _ in task.sections):
                users.setdefault(name, []).append(task)
        return {
            name: tuple(task.name for task in tasks)
            for name, tasks in users.items()
            if len({task.core for task in tasks}) > 1
        }

    @property
    def clock_hz(self) -> int:
        """Returns the number of clock cycles in a second."""
        return self.units_per_second // self.units_per_cycle

    def to_microseconds(self, units: float) -> float:
        """Converts units of the system to microseconds, for people."""
        return units * 1e6 / self.units_per_second

    def exact_microseconds(self, units: int | Fraction) -> Fraction:
        """Converts units of the system to microseconds, not rounded."""
        return Fraction(units) * 1_000_000 / self.units_per_second

    @property
    def printed_decimals(self) -> int:
        """Returns how many decimals of a microsecond are printed: one, or as many as the shortest WCET needs."""
        wcets = [task.wcet for task in self.tasks] + [interrupt.wcet for interrupt in self.interrupts]
        shortest = self.exact_microseconds(min(wcet for wcet in wcets if wcet))
        decimals = 1
        while shortest * 10**decimals < _LEAST_PRINTED:
            decimals += 1
        return decimals

    def microseconds_of_cycles(self, cycles: float) -> float:
        """Converts cycles to microseconds, for people."""
        return cycles * 1e6 / self.clock_hz

    def cycles_rounded_up(self, units: int) -> int:
        """Converts units of the system to cycles, rounded up."""
        return -(-units // self.units_per_cycle)


def task_set_in_finer_time_units(system: IntegerTimeTaskSet, scale: int) -> IntegerTimeTaskSet:
    """Returns the same system in units that are `scale` times shorter."""
    if scale == 1:
        return system

    def rescale_task_to_shorter_time_unit(task: IntegerTimeTask) -> IntegerTimeTask:
        """Returns the task in the shorter units."""
        return replace(
            task,
            **{name: scale * getattr(task, name) for name in ("period", "wcet", "deadline", "jitter", "masked")},
            offset=None if task.offset is None else scale * task.offset,
            sections=tuple((name, scale * length) for name, length in task.sections),
            curve=tuple((count, scale * window) for count, window in task.curve),
        )

    def rescale_interrupt_to_shorter_time_unit(handler: IntegerTimeInterrupt) -> IntegerTimeInterrupt:
        """Returns the interrupt in the shorter units."""
        return replace(
            handler,
            **{name: scale * getattr(handler, name) for name in ("period", "wcet", "deadline", "jitter")},
            curve=tuple((count, scale * window) for count, window in handler.curve),
        )

    return replace(
        system,
        tasks=tuple(map(rescale_task_to_shorter_time_unit, system.tasks)),
        interrupts=tuple(map(rescale_interrupt_to_shorter_time_unit, system.interrupts)),
        units_per_second=scale * system.units_per_second,
        units_per_cycle=scale * system.units_per_cycle,
        chains=tuple(replace(chain, deadline=scale * chain.deadline) for chain in system.chains),
    )


MAX_RELEASE_PATHS: Final = 64
"""The most tasks after the expansion of those that several tasks release."""


def split_tasks_by_releasing_task(
    tasks: Sequence[IntegerTimeTask], source: str, own_deadlines: Collection[str] = frozenset()
) -> tuple[IntegerTimeTask, ...]:
    """Returns the tasks with one for each sender of a task that several tasks release, and for each task after it.

    Such a task executes one job after the other, in the order of their releases. So its jobs are those of tasks of
    equal priority in any order. Each has the arrivals of the first task of its own chain, and their period as deadline
    unless the task is in `own_deadlines`. Raises TaskSetError if there are too many.
    """
    by_name = {task.name: task for task in tasks}
    senders: dict[str, list[str]] = {}
    for task in tasks:
        for name in task.gives:
            senders.setdefault(name, []).append(task.name)
    expanded: dict[str, list[IntegerTimeTask]] = {task.name: [] for task in tasks}
    waiting = [(task, "", "", task) for task in reversed(tasks) if task.name not in senders]
    while waiting:
        task, suffix, sender, first = waiting.pop()
        released = {
            name: f"{suffix} after {task.name}{suffix}" if len(senders[name]) > 1 else suffix for name in task.gives
        }
        arrivals = (
            {}
            if task is first
            else {
                "period": first.period,
                "curve": first.curve,
                "deadline": task.deadline if task.name in own_deadlines else first.period,
            }
        )
        one = replace(
            task,
            name=task.name + suffix,
            base_name=task.name if suffix else "",
            sender=sender,
            gives=tuple(name + label for name, label in released.items()),
            **arrivals,  # type: ignore[arg-type]
        )
        expanded[task.name].append(one)
        if sum(map(len, expanded.values())) > MAX_RELEASE_PATHS + len(tasks):
            raise TaskSetError(
                f"{source}: tasks release each other in more than {MAX_RELEASE_PATHS} ways; split the set."
            )
        waiting += [(by_name[name], label, one.name, first) for name, label in reversed(released.items())]
    return tuple(one for ones in expanded.values() for one in ones)


def exact_utilisation(parts: Iterable[tuple[int, int]]) -> Fraction:
    """Returns the exact processor utilisation of (cost, period) pairs.

    It sums whole numbers over one denominator, because sums of fractions are slow.
    """
    pairs = [*parts]
    to_whole_units = math.lcm(*(period for _, period in pairs))
    return Fraction(sum(cost * (to_whole_units // period) for cost, period in pairs), to_whole_units)


def _time_units_of_task_set(times: Sequence[Duration], clock_hz: int | None, source: str) -> tuple[int, int]:
    """Returns the units of time in a second and in a cycle in which all these times are integers. Raises TaskSetError
    where a time in cycles has no clock."""
    if clock_hz is not None:
        per_cycle = math.lcm(*(item.duration_in_exact_cycles(clock_hz).denominator for item in times))
        return clock_hz * per_cycle, per_cycle
    if any(item.in_cycles for item in times):
        raise TaskSetError(
            f"{source} contains times in cycles; add --clock or --board, which give the length of a cycle."
        )
    return math.lcm(1_000_000, *(item.value.denominator for item in times)), 1


def convert_to_integer_task_set(task_set: TaskSet, clock_hz: int | None) -> IntegerTimeTaskSet:
    """Returns the system of a task set, with all times as integers.
    Raises TaskSetError where a time in cycles has no clock, and where a part is longer than its whole.
    """
    specs: list[TaskSpec | InterruptSpec] = [*task_set.tasks, *task_set.interrupts]
    times = [time for spec in specs for time in _durations_in_task_or_interrupt_spec(spec)]
    times += [chain.deadline for chain in task_set.chains]
    rate, per_cycle = _time_units_of_task_set(times, clock_hz, task_set.source)

    def to_whole_units(time: Duration) -> int:
        """Returns a time as an integer in the system's unit."""
        return int(time.duration_in_exact_cycles(rate)) if not time.in_cycles else int(time.value * per_cycle)

    givers = {interrupt.gives: interrupt.name for interrupt in task_set.interrupts if interrupt.gives}
    tasks = tuple(
        IntegerTimeTask(
            name=task_spec.name,
            period=to_whole_units(task_spec.period),
            wcet=to_whole_units(task_spec.wcet),
            deadline=to_whole_units(task_spec.deadline),
            priority=task_spec.priority,
            jitter=to_whole_units(task_spec.jitter),
            offset=None if task_spec.offset is None else to_whole_units(task_spec.offset),
            masked=to_whole_units(task_spec.masked),
            sections=tuple((one.resource, to_whole_units(one.length)) for one in task_spec.sections),
            core=task_spec.core,
            released_by=givers.get(task_spec.name)
            or (_releasing_interrupt_name(task_spec) if task_spec.release == "interrupt" else ""),
            gives=task_spec.gives,
            gives_by=task_spec.gives_by,
            is_timer=task_spec.release == "timer",
            curve=tuple((pair.count, to_whole_units(pair.window)) for pair in task_spec.arrivals),
        )
        for task_spec in task_set.tasks
    )
    handlers = tuple(
        IntegerTimeInterrupt(
            name=interrupt.name,
            period=to_whole_units(interrupt.period),
            wcet=to_whole_units(interrupt.wcet),
            deadline=to_whole_units(interrupt.deadline),
            jitter=to_whole_units(interrupt.jitter),
            core=interrupt.core,
            gives=interrupt.gives,
            curve=tuple((pair.count, to_whole_units(pair.window)) for pair in interrupt.arrivals),
        )
        for interrupt in task_set.interrupts
    )
    handlers += tuple(
        IntegerTimeInterrupt(
            item.released_by, item.period, 0, item.period, item.jitter, item.core, item.name, True, item.curve
        )
        for item in tasks
        if item.released_by and item.name not in givers
    )
    for task in tasks:
        _require_work_parts_within_wcet(task, task_set.source)
    with_own_deadline = {task.name for task in task_set.tasks if task.has_own_deadline}
    tasks = split_tasks_by_releasing_task(tasks, task_set.source, with_own_deadline)
    _require_one_release_method_per_task(tasks, task_set)
    chains = tuple(ChainOfTasks(chain.name, chain.tasks, to_whole_units(chain.deadline)) for chain in task_set.chains)
    return IntegerTimeTaskSet(tasks, handlers, task_set.protocol, task_set.equals, rate, per_cycle, chains)


def _require_one_release_method_per_task(tasks: Sequence[IntegerTimeTask], task_set: TaskSet) -> None:
    """Raises TaskSetError if a task of a chain can be released in several ways."""
    for chain in task_set.chains:
        several = next((task for task in tasks if task.base_name in chain.tasks), None)
        if several is not None:
            raise TaskSetError(
                f"{task_set.source}, chain {chain.name}: several tasks release {several.task_name} or a task before "
                "it, so data has several ways; remove it from the chain."
            )


def _releasing_interrupt_name(spec: TaskSpec) -> str:
    """Returns a name for the interrupt that releases a task, if the file has no table for it."""
    return f"release of {spec.name}"


def _require_work_parts_within_wcet(task: IntegerTimeTask, source: str) -> None:
    """Raises TaskSetError if a part of the WCET, or all sections together, are longer than the WCET."""
    sections = sum(length for _, length in task.sections)
    for what, length in (
        ("masked section is", task.masked),
        *((f"section of {name} is", length) for name, length in task.sections),
        ("sections together are", sections),
    ):
        if length > task.wcet:
            raise TaskSetError(f"{source}, task {task.name}: its {what} longer than its WCET; correct one of them.")


def _durations_in_task_or_interrupt_spec(spec: TaskSpec | InterruptSpec) -> list[Duration]:
    """Returns all times in the description of a task or interrupt."""
    times = [spec.period, spec.wcet, spec.deadline, spec.jitter, *(pair.window for pair in spec.arrivals)]
    if isinstance(spec, TaskSpec):
        times += [spec.masked, *(section.length for section in spec.sections)]
        times += [spec.offset] if spec.offset is not None else []
    return times
