"""Bounds of response times: fixed priorities, preemptive, one core or several with every task at home on one.

The busy period of Lehoczky (1990) with the jitter of Tindell, Burns and Wellings (1994). Known offsets as the least
distance between two tasks' arrivals. Equal priorities in any order, in turns, or in the order of arrival (Martin,
Minet, George 2005). A response reaches from the arrival, before any jitter, to the job's last instruction. Integers
only. Every iteration ends after STEPS steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from rtoslab.base import count_text
from rtoslab.rta.blocking import blocking, masks
from rtoslab.rta.charges import COMPONENTS, NO_CHARGES, Charges, Model, charges
from rtoslab.rta.cores import Neighbours, cores_of, neighbours, tasks_released_by, with_delays
from rtoslab.rta.demand import Competitors
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.system import Handler, System, Task
from rtoslab.rta.windows import STEPS, NoBoundError, busy_period, by_arrival, fixed_point, starts

ROUNDS = 40
"""In which bounds of several cores, each made with the others', must have settled."""


class Obstacle(StrEnum):
    """Why there is no bound."""

    NONE = ""
    OVERLOAD = "overload"
    """More is asked for than the processor has: deadlines will be missed."""
    MODEL = "model"
    """The model does not apply."""
    STEPS = "steps"
    """The search ended without one after so many steps."""


@dataclass(frozen=True, slots=True)
class ResponseBound:
    """The bound of one task or interrupt, in units of the system."""

    name: str
    deadline: int
    response: int | None
    """None means: there is no bound, and `reason` says why."""
    reason: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)
    """The response of the worst job by cause. `waiting` is what arrived before that job, less what it had to itself."""
    utilisation: float = 0.0
    """The utilisation of everything at least as urgent, and the kernel."""
    obstacle: Obstacle = Obstacle.NONE
    """What kept the analysis from a bound."""

    @property
    def meets(self) -> bool:
        """Whether the deadline is met."""
        return self.response is not None and self.response <= self.deadline

    @property
    def can_be_missed(self) -> bool:
        """Whether a deadline can be missed: by a bound beyond it, or by more work than the processor can do."""
        return self.obstacle is Obstacle.OVERLOAD or (self.response is not None and self.response > self.deadline)

    @property
    def slack(self) -> int | None:
        """Returns what is left before the deadline. Negative if it is missed."""
        return None if self.response is None else self.deadline - self.response


@dataclass(frozen=True, slots=True)
class Analysis:
    """Bounds of a system under one model, in its order."""

    model: Model
    tasks: tuple[ResponseBound, ...]
    interrupts: tuple[ResponseBound, ...]

    @property
    def schedulable(self) -> bool:
        """Whether every deadline is met."""
        return all(task.meets for task in (*self.tasks, *self.interrupts))

    def find_bound(self, name: str) -> ResponseBound:
        """Returns the bound of a task or interrupt by its name."""
        return next(task for task in (*self.tasks, *self.interrupts) if task.name == name)


def analyse(
    system: System, overheads: Overheads | None = None, model: Model = Model.PARTITION, most: int = STEPS
) -> Analysis:
    """Bounds every task and interrupt. Without overheads, or under model (a), the kernel costs nothing.

    `most`: steps of the search for each bound. If they are fewer than STEPS, a search also ends with the first job that
    misses its deadline: the response is then beyond the deadline, and no bound.
    """
    by_core = {core: charges(overheads, model, system, core) for core in cores_of(system, overheads)}
    return analyse_charged(system, model, by_core, most)


def analyse_charged(system: System, model: Model, by_core: Mapping[int, Charges], most: int = STEPS) -> Analysis:
    """The same with what the kernel is charged with, core by core.

    On several cores what one waits for depends on how late the others' jobs may end: bounds are found again, each with
    those before, until they stay. They only grow, so the first that stay are the least. A task that has no bound keeps
    the reason it was found with: later it would name a task that has none because of this one.
    """
    if len(by_core) == 1 or not any(core_tasks.tick_period for core_tasks in by_core.values()):
        return Analysis(model, *_bounds(system, by_core, None, most))
    system = with_delays(system, by_core)
    ends: dict[str, int | None] = {task.name: task.wcet + task.jitter for task in system.tasks}
    unbounded: dict[str, ResponseBound] = {}
    for _ in range(ROUNDS):
        tasks, handlers = _bounds(system, by_core, ends, most)
        tasks = tuple(unbounded.get(task.name, task) for task in tasks)
        unbounded |= {task.name: task for task in tasks if task.response is None}
        responses = {task.name: task.response for task in tasks}
        if responses == ends:
            return Analysis(model, tasks, handlers)
        ends = responses
    reason = f"what the cores wait for each other does not settle within {ROUNDS} rounds"
    unsettled = (replace(task, response=None, reason=reason, parts={}, obstacle=Obstacle.STEPS) for task in tasks)
    return Analysis(model, tuple(unbounded.get(bound.name, bound) for bound in unsettled), handlers)


def _bounds(
    system: System, by_core: Mapping[int, Charges], ends: Mapping[str, int | None] | None, most: int
) -> tuple[tuple[ResponseBound, ...], tuple[ResponseBound, ...]]:
    """Returns the bounds of tasks and interrupts, for tasks that end so late. Without those there is one core."""
    cores = {core: Neighbours() if ends is None else neighbours(system, by_core, core, ends) for core in system.cores}
    return (
        tuple(_task(task, system, by_core[task.core], cores[task.core], most) for task in system.tasks),
        tuple(
            _handler(interrupt, system, by_core[interrupt.core], cores[interrupt.core], most)
            for interrupt in system.interrupts
            if not interrupt.implied
        ),
    )


def costs(system: System, overheads: Overheads, model: Model) -> dict[str, dict[str, int]]:
    """Task -> component of the overhead -> by how much its bound is lower without it. Nothing where it has no bound."""
    by_core = {core: charges(overheads, model, system, core) for core in cores_of(system, overheads)}
    whole = analyse_charged(system, model, by_core).tasks
    costs_: dict[str, dict[str, int]] = {bound.name: {} for bound in whole}
    for label, without in COMPONENTS.items():
        less = {core: without(item) for core, item in by_core.items()}
        for one, other in zip(whole, analyse_charged(system, model, less).tasks, strict=True):
            if one.response is not None and other.response is not None and other.response < one.response:
                costs_[one.name][label] = one.response - other.response
    return costs_


def _task(task: Task, system: System, charge: Charges, others: Neighbours, most: int) -> ResponseBound:
    peers = [item for item in system.tasks if item.core == task.core]
    above = [peer for peer in peers if peer.priority > task.priority]
    equals = [peer for peer in peers if peer.priority == task.priority and peer is not task]
    in_order = system.equals == "fifo" and bool(equals)
    requests = Competitors(
        task=task,
        others=above if in_order else [*above, *equals],
        interrupts=[interrupt for interrupt in system.interrupts if interrupt.core == task.core],
        released=tasks_released_by(system, charge, peers),
        charges=charge,
        blocking=blocking(task, peers, system, charge),
        sliced=charge.slice > 0 and _share([task, *above, *equals]),
        shared=_shared(peers),
        tick_jitter=_tick_jitter(task, peers, system, charge),
        neighbours=others.demands,
    )
    whole = replace(requests, others=[*above, *equals]) if in_order else requests
    load = whole.utilisation()
    if load > 1:
        reason = f"everything at least as urgent asks for {float(100 * load):.1f} % of the processor"
        return _without_bound(task, reason, load, Obstacle.OVERLOAD)
    reason = _beyond(task, system, charge, others)
    if reason:
        return _without_bound(task, reason, load, Obstacle.MODEL)
    try:
        worst = (
            by_arrival(requests, equals, most)
            if in_order
            else max(
                (busy_period(item, first, most, _until(task, most)) for item, first in starts(requests)),
                key=lambda window: window[0],
            )
        )
    except NoBoundError:
        return _without_bound(task, _too_long(load, most), load, Obstacle.STEPS)
    response, parts = worst
    return ResponseBound(task.name, task.deadline, response + task.jitter, "", _clean(parts, task.jitter), float(load))


def _until(whose: Task | Handler, most: int) -> int | None:
    """The longest response of interest, from the release on. None where every one is."""
    return None if most >= STEPS else whose.deadline - whose.jitter


def _without_bound(whose: Task | Handler, reason: str, load: Fraction, obstacle: Obstacle) -> ResponseBound:
    return ResponseBound(whose.name, whose.deadline, None, reason, utilisation=float(load), obstacle=obstacle)


def _too_long(load: Fraction, most: int) -> str:
    return f"the search ended after {count_text(most, 'step')}, at {float(100 * load):.2f} % of the processor"


def _shared(tasks: Sequence[Task]) -> frozenset[str]:
    """Resources that more than one of them uses."""
    used = [name for task in tasks for name in {name for name, _ in task.sections}]
    return frozenset(name for name in used if used.count(name) > 1)


def _share(tasks: Sequence[Task]) -> bool:
    """Some of them have one priority."""
    return len({task.priority for task in tasks}) < len(tasks)


def _tick_jitter(task: Task, peers: Sequence[Task], system: System, charge: Charges) -> int:
    """A busy period that may begin between two ticks may find one pending that was due before it."""
    interrupts = any(interrupt.core == task.core for interrupt in system.interrupts)
    if not charge.tick_period or not (interrupts or any(peer.jitter for peer in peers)):
        return 0
    return max(charge.block, charge.late, _masked_time(task.core, system, charge))


def _beyond(task: Task, system: System, charge: Charges, others: Neighbours) -> str:
    """Why the model gives no bound. Empty if it does."""
    if others.obstacle:
        return others.obstacle
    if charge.tick_period and task.period < charge.tick_period and not task.released_by:
        return "its period is shorter than the tick's, by which it is released"
    late = _tick_waits(task.core, system, charge, others) if charge.tick_period else 0
    if late is None or late >= charge.tick_period > 0:
        lateness = "for ever" if late is None else f"for up to {system.microseconds(late):,.1f} us"
        every = system.microseconds(charge.tick_period)
        return f"the kernel's tick may be masked {lateness}, and comes every {every:,.1f} us: ticks would be lost"
    return ""


def _masked_time(core: int, system: System, charge: Charges) -> int:
    """The longest that an interrupt of a core waits for what masks it: the kernel, or a task."""
    return max([charge.held, *masks((task for task in system.tasks if task.core == core), charge)])


def _tick_waits(core: int, system: System, charge: Charges, others: Neighbours) -> int | None:
    """How long the tick's handler may wait for its first instruction: for interrupts, and once for who masks it.

    A second tick that comes meanwhile finds the first still pending and is lost, and with it the kernel's time.
    """
    masked = max(charge.block, _masked_time(core, system, charge)) + others.kernel(charge.tick_period)
    interrupts = [interrupt for interrupt in system.interrupts if interrupt.core == core]
    only = Charges(interrupt=charge.interrupt, give=charge.give)
    tick = Task("tick", charge.tick_period, 1, charge.tick_period, 0)
    requests = Competitors(tick, (), interrupts, (), only, masked)
    if requests.utilisation() > 1:
        return None
    try:
        return fixed_point(requests, 1, 0, 0)[0] - 1
    except NoBoundError:
        return None


def _handler(handler: Handler, system: System, charge: Charges, others: Neighbours, most: int) -> ResponseBound:
    """An interrupt waits for more urgent ones, and once for whatever holds it off: a task, the kernel, its tick."""
    if others.obstacle:
        return _without_bound(handler, others.obstacle, Fraction(0), Obstacle.MODEL)
    mine = [interrupt for interrupt in system.interrupts if interrupt.core == handler.core]
    above = mine[: mine.index(handler)]
    # A masking task may wait for a lock meanwhile: for all work of the other cores' kernel until its deadline.
    masked = _masked_time(handler.core, system, charge) + others.kernel(handler.deadline)
    whole = handler.wcet + charge.interrupt + (charge.give if handler.gives else 0)
    task = Task(handler.name, handler.period, whole, handler.deadline, 0, handler.jitter)
    only = Charges(interrupt=charge.interrupt, give=charge.give) if charge.interrupt else NO_CHARGES
    requests = Competitors(task, (), above, (), only, masked)
    load = requests.utilisation()
    if load > 1:
        reason = f"interrupts at least as urgent ask for {float(100 * load):.1f} % of the processor"
        return _without_bound(handler, reason, load, Obstacle.OVERLOAD)
    try:
        response, parts = busy_period(requests, 0, most, _until(handler, most))
    except NoBoundError:
        return _without_bound(handler, _too_long(load, most), load, Obstacle.STEPS)
    return ResponseBound(
        handler.name, handler.deadline, response + handler.jitter, "", _clean(parts, handler.jitter), float(load)
    )


def _clean(parts: dict[str, int], jitter: int) -> dict[str, int]:
    return {name: value for name, value in {**parts, "jitter": jitter}.items() if value}
