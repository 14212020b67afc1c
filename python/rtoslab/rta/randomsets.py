"""Random task sets that a kernel with a tick can run, for the property that no observed response exceeds its bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Final

from rtoslab.base import TaskSetError
from rtoslab.rta.arrival_curves import ArrivalCurve
from rtoslab.rta.firmware import INTERRUPT_LINES, MAX_RECEIVERS, TIMERS, TaskSetFirmware
from rtoslab.rta.senders import preceding_tasks_in_release_chain
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, IntegerTimeTaskSet, split_tasks_by_releasing_task
from rtoslab.rta.taskset import Carrier

PERIODS_TICKS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40)
LONG_PERIODS_TICKS: Final = (20, 30, 40, 50, 60, 75, 100, 120, 150, 200)
PRIME_PERIODS_TICKS: Final = (1, 2, 3, 5, 7, 11, 13, 17, 19, 23)
SHORTEST_CYCLES: Final = 100
"""The shortest work of a job. Every board can be calibrated to this or less."""


def random_task_set(random: Random, clock_hz: int, tick_cycles: int, most: int = 10) -> IntegerTimeTaskSet:
    """Returns a random task set: utilisation from 0.2 to 0.85, rate-monotonic or any priorities, some offsets."""
    count = random.randint(2, most)
    shares = [random.expovariate(1.0) for _ in range(count)]
    load = random.uniform(0.2, 0.85) / sum(shares)
    periods = [random.choice(PERIODS_TICKS) for _ in range(count)]
    order = sorted(range(count), key=lambda at: -periods[at])
    if random.random() < 0.25:
        random.shuffle(order)
    levels = [order.index(at) // (2 if random.random() < 0.1 else 1) for at in range(count)]
    offsets = random.random() < 0.25
    return IntegerTimeTaskSet(
        tuple(
            IntegerTimeTask(
                name=chr(ord("A") + at),
                period=periods[at] * tick_cycles,
                wcet=max(tick_cycles // 100, int(shares[at] * load * periods[at] * tick_cycles)),
                deadline=periods[at] * tick_cycles,
                priority=levels[at],
                offset=random.randrange(periods[at]) * tick_cycles if offsets else None,
            )
            for at in range(count)
        ),
        units_per_second=clock_hz,
    )


@dataclass(frozen=True, slots=True)
class RandomTaskSetRanges:
    """The ranges from which random task sets of one shape are drawn. Loads count the tasks' work alone."""

    periods_ticks: tuple[int, ...] = PERIODS_TICKS
    tasks: tuple[int, int] = (2, 10)
    load: tuple[float, float] = (0.3, 0.9)
    priority_levels: int = 10
    """The number of priorities. With few, tasks share them."""
    monotonic: bool = True
    """A shorter period is more urgent."""
    short_share: float = 0.0
    """The share of tasks with very short jobs, whatever the load."""


SHAPES: Final = {
    "mixed": RandomTaskSetRanges(),
    "any order": RandomTaskSetRanges(monotonic=False),
    "equals": RandomTaskSetRanges(priority_levels=3, load=(0.3, 0.95)),
    "all equal": RandomTaskSetRanges(priority_levels=1, tasks=(2, 6)),
    "long": RandomTaskSetRanges(LONG_PERIODS_TICKS, (1, 4), (0.4, 0.98)),
    "long equals": RandomTaskSetRanges(LONG_PERIODS_TICKS, (2, 5), (0.4, 0.98), priority_levels=2),
    "long and short": RandomTaskSetRanges(
        PERIODS_TICKS[:3] + LONG_PERIODS_TICKS[3:], (3, 8), (0.5, 0.95), monotonic=True
    ),
    "full": RandomTaskSetRanges(load=(0.95, 0.999), tasks=(1, 6)),
    "primes": RandomTaskSetRanges(PRIME_PERIODS_TICKS, (4, 10), (0.3, 0.9)),
    "short jobs": RandomTaskSetRanges(tasks=(4, 10), load=(0.05, 0.4), short_share=0.8),
    "every tick": RandomTaskSetRanges((1,), (1, 4), (0.3, 0.97), monotonic=False),
    "one": RandomTaskSetRanges(PERIODS_TICKS + LONG_PERIODS_TICKS, (1, 1), (0.1, 0.999)),
}
"""The shapes by name, for the search for a broken bound."""


def random_task_set_in_ranges(
    random: Random, shape: RandomTaskSetRanges, clock_hz: int, tick_cycles: int
) -> IntegerTimeTaskSet:
    """Returns a random task set of this shape, with all tasks released by the tick."""
    count = random.randint(*shape.tasks)
    shares = [random.expovariate(1.0) for _ in range(count)]
    load = random.uniform(*shape.load) / sum(shares)
    periods = [random.choice(shape.periods_ticks) for _ in range(count)]
    order = sorted(range(count), key=lambda at: -periods[at])
    if not shape.monotonic:
        random.shuffle(order)

    def random_execution_time(at: int) -> int:
        """Returns the random execution time of a task."""
        if random.random() < shape.short_share:
            return random.randint(SHORTEST_CYCLES, 20 * SHORTEST_CYCLES)
        return max(SHORTEST_CYCLES, int(shares[at] * load * periods[at] * tick_cycles))

    tasks = tuple(
        IntegerTimeTask(
            name=chr(ord("A") + at),
            period=periods[at] * tick_cycles,
            wcet=random_execution_time(at),
            deadline=periods[at] * tick_cycles,
            priority=order.index(at) * min(shape.priority_levels, count) // count,
        )
        for at in range(count)
    )
    return IntegerTimeTaskSet(tasks, units_per_second=clock_hz)


def random_multicore_task_set(
    random: Random, shape: RandomTaskSetRanges, firmware: TaskSetFirmware, contention_permille: int
) -> IntegerTimeTaskSet:
    """Returns a random task set of this shape on each core.
    Together they have no more tasks than the image holds, and their load leaves room for the delays by other cores'
    accesses.
    """
    share = 1000 / (1000 + contention_permille)
    most = firmware.max_tasks // firmware.core_count
    load = (shape.load[0] * share, shape.load[1] * share)
    part = replace(shape, tasks=(min(shape.tasks[0], most), min(shape.tasks[1], most)), load=load)
    tasks: list[IntegerTimeTask] = []
    for core in range(firmware.core_count):
        system = random_task_set_in_ranges(random, part, firmware.clock_hz, firmware.tick_cycles)
        tasks += [
            replace(task, name=chr(ord("A") + len(tasks) + at), core=core) for at, task in enumerate(system.tasks)
        ]
    return IntegerTimeTaskSet(tuple(tasks), units_per_second=firmware.clock_hz)


def random_event_task_set(random: Random, firmware: TaskSetFirmware) -> IntegerTimeTaskSet:
    """Returns a random task set in which some tasks are released by interrupts, hold resources or mask interrupts.
    On several cores each core has tasks and resources of its own, and interrupts arrive in bursts.
    """
    if firmware.core_count == 1:
        return _random_one_core_event_task_set(random, firmware)
    return _system_with_random_curves(random, _random_task_set_for_each_core(random, firmware))


_BUS_SHARE: Final = 0.7
"""The load of a task set on several cores, as a share of that on one. The rest is for delays by other cores."""


def _random_task_set_for_each_core(random: Random, firmware: TaskSetFirmware) -> IntegerTimeTaskSet:
    """Returns a random task set with interrupts and sections on each core, as many as the image holds.
    Under one kernel, the tasks of all cores use the same resources in more than half of the sets with mutexes. Such
    sets have half of the load.
    """
    whole = IntegerTimeTaskSet((), units_per_second=firmware.clock_hz)
    raised = random.random() < 0.4 and firmware.kernel.services["priority_set"]
    has_shared_resources = firmware.is_smp and not raised and random.random() < 0.6
    for core in range(firmware.core_count):
        lines = INTERRUPT_LINES - len(whole.interrupts)
        share = _BUS_SHARE / 2 if has_shared_resources else _BUS_SHARE
        part = _random_one_core_event_task_set(random, firmware, random.randint(0, lines), share)
        if has_shared_resources:
            tasks_with_sections = (
                task if task.kernel_call_count else _task_with_random_critical_sections(random, task)
                for task in part.tasks
            )
            part = replace(part, tasks=tuple(tasks_with_sections))
        first = len(whole.tasks)
        names = {task.name: chr(ord("A") + first + at) for at, task in enumerate(part.tasks)}
        handlers = {handler.name: f"{handler.name} on core {core}" for handler in part.interrupts}
        tasks = (
            replace(
                task,
                name=names[task.name],
                core=core,
                released_by=handlers.get(task.released_by, ""),
                sections=tuple(
                    (name if has_shared_resources else f"{name}{core}", length) for name, length in task.sections
                ),
            )
            for task in part.tasks[: firmware.max_tasks // firmware.core_count]
        )
        core_tasks = [*tasks]
        interrupts = (
            replace(handler, name=handlers[handler.name], core=core, gives=names.get(handler.gives, ""))
            for handler in part.interrupts
        )
        present = {task.name for task in core_tasks}
        whole = replace(
            whole,
            tasks=(*whole.tasks, *core_tasks),
            interrupts=(*whole.interrupts, *(item for item in interrupts if not item.gives or item.gives in present)),
            protocol="immediate_ceiling" if raised else "inheritance",
        )
    return whole


def _random_one_core_event_task_set(
    random: Random, firmware: TaskSetFirmware, lines: int = INTERRUPT_LINES, share: float = 1.0
) -> IntegerTimeTaskSet:
    """Returns a random task set on one core with up to so many interrupts, sections and masks.
    `share`: of the usual load.
    """
    tick, clock_hz = firmware.tick_cycles, firmware.clock_hz
    shape = RandomTaskSetRanges(
        PERIODS_TICKS,
        (1, 6),
        (0.1 * share, 0.75 * share),
        priority_levels=random.choice((3, 10)),
        monotonic=random.random() < 0.6,
    )
    plain = random_task_set_in_ranges(random, shape, clock_hz, tick)
    tasks = list(plain.tasks)
    handlers: list[IntegerTimeInterrupt] = []
    for _ in range(min(lines, random.choice((0, 0, 1, 2)))):
        period = random.randint(tick // 2, 6 * tick)
        handlers.append(
            IntegerTimeInterrupt(f"I{len(handlers)}", period, random.randint(SHORTEST_CYCLES, period // 12), period)
        )
    for at in random.sample(range(len(tasks)), min(len(tasks), random.randint(0, lines - len(handlers)))):
        item, name = tasks[at], f"release of {tasks[at].name}"
        period = max(tick // 2, item.period + random.randint(-tick // 2, tick // 2))
        jitter = random.randrange(period // 3) if random.random() < 0.5 else 0
        random_wcet = max(SHORTEST_CYCLES, min(item.wcet, period * item.wcet // item.period))
        tasks[at] = replace(item, period=period, deadline=period, wcet=random_wcet, jitter=jitter, released_by=name)
        own = random.choice((0, 0, min(period // 20, tick // 10)))
        handlers.append(IntegerTimeInterrupt(name, period, own, period, jitter, gives=item.name, implied=not own))
    if random.random() < 0.7:
        tasks = [_task_with_random_critical_sections(random, task) for task in tasks]
    if random.random() < 0.3:
        at = random.randrange(len(tasks))
        masked = min(tasks[at].wcet // 5, tick // 3)
        tasks[at] = replace(tasks[at], masked=masked) if masked > SHORTEST_CYCLES else tasks[at]
    raised = random.random() < 0.4 and firmware.kernel.services["priority_set"]
    return IntegerTimeTaskSet(
        tuple(tasks),
        tuple(handlers),
        protocol="immediate_ceiling" if raised else "inheritance",
        units_per_second=clock_hz,
    )


def kernel_objects_that_can_release_tasks(firmware: TaskSetFirmware) -> tuple[Carrier, ...]:
    """Returns the objects by which the image's kernel lets a task release another one."""
    services = firmware.kernel.services
    needed: dict[Carrier, str] = {"semaphore": "semaphore", "message": "queue", "notification": "notify"}
    return tuple(carrier for carrier, service in needed.items() if services[service])


def random_task_set_with_release_chains(random: Random, firmware: TaskSetFirmware) -> IntegerTimeTaskSet:
    """Returns a random task set in which tasks release other tasks, in chains of two to five, beside interrupts,
    sections, masks and late releases by the tick.
    """
    system = (
        random_event_task_set(random, firmware)
        if firmware.core_count == 1
        else _random_task_set_for_each_core(random, firmware)
    )
    if len(system.tasks) == 1:
        shape = RandomTaskSetRanges(PERIODS_TICKS, (2, 6), (0.1, 0.75), monotonic=random.random() < 0.6)
        system = random_task_set_in_ranges(random, shape, firmware.clock_hz, firmware.tick_cycles)
    tasks = list(system.tasks)
    order = random.sample(range(len(tasks)), len(tasks))
    groups = [order]
    if firmware.does_each_core_run_own_kernel or (firmware.is_smp and random.random() < 0.5):  # chains stay on one core
        groups = [[at for at in order if tasks[at].core == core] for core in range(firmware.core_count)]
    for group in groups:
        while len(group) > 1:
            chain = group[: random.randint(2, min(5, len(group)))]
            group = group[len(chain) :]  # noqa: PLW2901
            tasks = _tasks_with_release_chain(random, tasks, chain, kernel_objects_that_can_release_tasks(firmware))
            if random.random() < 0.4:
                break
    tasks = [_task_with_random_jitter(random, task, firmware.tick_cycles) for task in tasks]
    return _system_with_random_curves(random, replace(system, tasks=tuple(tasks)))


def _system_with_random_curves(random: Random, system: IntegerTimeTaskSet) -> IntegerTimeTaskSet:
    """Returns the system with some interrupts, and the tasks that they release, that arrive in bursts.
    The long-run rate of their arrivals stays.
    """
    curves: dict[str, ArrivalCurve] = {}
    for handler in system.interrupts:
        if random.random() < 0.6:
            continue
        burst = random.randint(2, 5)
        nearest = random.randint(max(1, handler.period // 8), handler.period)
        curve = [(1, nearest), (burst, burst * handler.period)]
        if burst > 2 and random.random() < 0.5:
            curve.append((burst - 1, random.randint((burst - 1) * nearest, (burst - 1) * handler.period)))
        curves[handler.name] = tuple(sorted(curve, key=lambda pair: pair[1]))
    by_name = {task.name: task for task in system.tasks}

    def task_with_arrivals_of_release_chain(task: IntegerTimeTask) -> IntegerTimeTask:
        """Returns the task with the arrivals of the interrupt at the begin of its chain."""
        first = by_name[preceding_tasks_in_release_chain(task, by_name)[-1]] if task.sender else task
        curve = curves.get(first.released_by, ())
        return replace(task, curve=curve, period=curve[0][1], deadline=curve[0][1]) if curve else task

    def add_arrival_curve_to_interrupt(handler: IntegerTimeInterrupt) -> IntegerTimeInterrupt:
        """Returns the interrupt with its curve, if it has one."""
        curve = curves.get(handler.name, ())
        shortest = curve[0][1] if curve else 0
        return replace(handler, curve=curve, period=shortest, deadline=shortest, jitter=0) if curve else handler

    tasks = (
        replace(task, jitter=0) if task.released_by in curves else task
        for task in map(task_with_arrivals_of_release_chain, system.tasks)
    )
    return replace(system, tasks=tuple(tasks), interrupts=tuple(map(add_arrival_curve_to_interrupt, system.interrupts)))


def random_timer_task_set(random: Random, firmware: TaskSetFirmware) -> IntegerTimeTaskSet:
    """Returns a random task set in which one to four tasks are timers of the kernel, beside all that others have.
    With two kernels, the other core may have timers too.
    """
    places: list[int] = []
    while not places:
        system = random_task_set_with_release_chains(random, firmware)
        places = [at for at, task in enumerate(system.tasks) if task.is_tick_released and task.core == 0]
    system = _task_set_with_random_timers(random, system, places)
    others = [at for at, task in enumerate(system.tasks) if task.is_tick_released and task.core == 1]
    if firmware.does_each_core_run_own_kernel and others and random.random() < 0.7:
        system = _task_set_with_random_timers(random, system, others)
    return system


def _task_set_with_random_timers(
    random: Random, system: IntegerTimeTaskSet, places: Sequence[int]
) -> IntegerTimeTaskSet:
    """Returns the system with one to four of the tasks with these indices as timers of one kernel."""
    chosen = random.sample(places, min(len(places), random.randint(1, TIMERS)))
    priority = random.choice([task.priority for task in system.tasks])
    share = random.choice((1, 1, 3, 10))  # functions of timers are mostly short

    def convert_task_to_software_timer(task: IntegerTimeTask) -> IntegerTimeTask:
        """Returns the task as a timer."""
        wcet = max(SHORTEST_CYCLES, task.wcet // share)
        return replace(task, priority=priority, wcet=wcet, jitter=0, sections=(), masked=0, is_timer=True)

    tasks = (convert_task_to_software_timer(task) if at in chosen else task for at, task in enumerate(system.tasks))
    return replace(system, tasks=tuple(tasks))


def random_fan_in_fan_out_task_set(random: Random, firmware: TaskSetFirmware) -> IntegerTimeTaskSet:
    """Returns a random task set in which some tasks release several tasks, and several tasks release some, beside all
    that others have.
    """
    while True:
        system = (
            random_timer_task_set(random, firmware)
            if random.random() < 0.5
            else random_task_set_with_release_chains(random, firmware)
        )
        tasks = {task.name: replace(task, sender="") for task in system.tasks}
        roots = [task.name for task in system.tasks if task.is_tick_released and not task.gives and not task.is_timer]
        for name in random.sample(roots, min(len(roots), random.randint(0, 2))):
            tasks = _add_second_releasing_task(random, tasks, name)
        receivers = sorted({name for task in tasks.values() for name in task.gives})
        for name in random.sample(receivers, min(len(receivers), random.randint(0, 2))):
            tasks = _tasks_with_second_releasing_task(random, tasks, name)
        try:
            return replace(system, tasks=split_tasks_by_releasing_task([*tasks.values()], "the random set"))
        except TaskSetError:
            continue


def _add_second_releasing_task(
    random: Random, tasks: dict[str, IntegerTimeTask], name: str
) -> dict[str, IntegerTimeTask]:
    """Returns the tasks after a change: a task that already releases another one also releases a task that only the
    tick released before. Returns them unchanged if there are no such tasks.
    """
    senders = [task for task in tasks.values() if 0 < len(task.gives) < MAX_RECEIVERS and task.name != name]
    if not senders:
        return tasks
    sender, task = random.choice(senders), tasks[name]
    shorter = SHORTEST_CYCLES if task.kernel_call_count else max(SHORTEST_CYCLES, task.wcet // 4)
    period = sender.period
    changed = replace(task, period=period, deadline=period, jitter=0, curve=sender.curve, wcet=shorter)
    return tasks | {
        name: replace(changed, sections=(), masked=0),
        sender.name: replace(sender, gives=tuple(random.sample((*sender.gives, name), len(sender.gives) + 1))),
    }


def _tasks_with_second_releasing_task(
    random: Random, tasks: dict[str, IntegerTimeTask], name: str
) -> dict[str, IntegerTimeTask]:
    """Returns the tasks after a change: a second task releases a task that one task releases already, and both do it by
    messages. Returns them unchanged if there is no such task."""
    after, waiting = {name}, [name]
    while waiting:
        further = [receiver for receiver in tasks[waiting.pop()].gives if receiver not in after]
        after |= {*further}
        waiting += further
    senders = [
        task
        for task in tasks.values()
        if task.name not in after and name not in task.gives and len(task.gives) < MAX_RECEIVERS
    ]
    if not senders:
        return tasks
    second, changed = random.choice(senders), dict(tasks)
    changed[second.name] = replace(second, gives=(*second.gives, name))
    for task in tasks.values():
        if name in changed[task.name].gives:
            changed[task.name] = replace(changed[task.name], gives_by="message")
    share = min(1.0, second.period / tasks[name].period) / 2
    for receiver in after:  # it has more jobs now
        task = changed[receiver]
        wcet = max(SHORTEST_CYCLES, int(task.wcet * share))
        changed[receiver] = replace(task, wcet=wcet, sections=(), masked=0)
    return changed


def _tasks_with_release_chain(
    random: Random, tasks: Sequence[IntegerTimeTask], chain: Sequence[int], carriers: Sequence[Carrier]
) -> list[IntegerTimeTask]:
    """Returns the tasks with a chain in which each releases the next. Tasks that interrupts release can only begin
    it.
    """
    linked, longest_mask = list(tasks), max(task.masked for task in tasks)
    first = next((at for at in chain if linked[at].released_by), chain[0])
    places = [first, *(at for at in chain if at != first and not linked[at].released_by)]
    for sender, receiver in pairwise(places):
        period, old = linked[first].period, linked[receiver]
        linked[sender] = replace(linked[sender], gives=(old.name,), gives_by=random.choice(carriers))
        scaled = replace(
            old,
            period=period,
            deadline=period,
            wcet=max(SHORTEST_CYCLES, old.wcet * period // old.period),
            sections=tuple((name, length * period // old.period) for name, length in old.sections),
            masked=min(old.masked * period // old.period, longest_mask),
            sender=linked[sender].name,
        )
        linked[receiver] = replace(
            scaled,
            sections=tuple(item for item in scaled.sections if item[1] > SHORTEST_CYCLES),
            masked=scaled.masked if scaled.masked > SHORTEST_CYCLES else 0,
        )
    return linked


def _task_with_random_jitter(random: Random, task: IntegerTimeTask, tick: int) -> IntegerTimeTask:
    """Returns the task with a random jitter of whole ticks if the tick releases it, three times out of ten."""
    most = min(task.period // tick - 1, 20)
    if not task.is_tick_released or most < 1 or random.random() < 0.7:
        return task
    return replace(task, jitter=random.randint(1, most) * tick)


def _task_with_random_critical_sections(random: Random, task: IntegerTimeTask) -> IntegerTimeTask:
    """Returns the task with up to two random critical sections, each at most a third of its work."""
    lengths = [int(task.wcet * random.uniform(0.02, 0.3)) for _ in range(random.randint(0, 2))]
    sections = [(random.choice("rs"), length) for length in lengths if length > SHORTEST_CYCLES]
    return replace(task, sections=tuple(sections))


def vary_task_set_randomly(
    random: Random, system: IntegerTimeTaskSet, starts: tuple[int, ...], tick_cycles: int
) -> tuple[IntegerTimeTaskSet, tuple[int, ...]]:
    """Returns a random variation of a task set: other work, another first release or another first interrupt."""
    image_tasks = system.tasks_of_image
    at = random.randrange(len(image_tasks))
    task, others = image_tasks[at], list(starts)
    steps: dict[str, Callable[[], int]] = {
        "little": lambda: task.wcet + random.randint(-40, 40),
        "more": lambda: task.wcet + random.randint(-2000, 2000),
        # So that it ends about when a tick comes: the kernel at work is where a tick costs most.
        "to a tick": lambda: task.wcet - task.wcet % tick_cycles + random.randint(-3000, 1000) % tick_cycles,
        "share": lambda: int(task.wcet * random.uniform(0.8, 1.1)),
    }
    if system.interrupts and random.random() < 0.5:
        line = len(image_tasks) + random.randrange(len(system.interrupts))
        others[line] = max(0, others[line] + random.choice((random.randint(-60, 60), random.randint(-3000, 3000))))
        return system, tuple(others)
    if task.kernel_call_count or random.random() < 0.3:
        others[at] = random.randrange(max(1, task.period // tick_cycles))
        return system, tuple(others)
    random_wcet = min(task.period, max(SHORTEST_CYCLES, steps[random.choice(list(steps))]()))
    tasks = tuple(
        replace(item, wcet=random_wcet) if item.task_name == task.task_name else item for item in system.tasks
    )
    return replace(system, tasks=tasks), starts
