"""Waits of the cores of a partitioned system for each other: for the kernel's locks, and for releases that come late.

Each task is at home on one core. docs/response-time-model.md argues for every term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.rta.charges import Charges
from rtoslab.rta.demand import Competitors
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.system import System, Task


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The other cores of one. None where there is one core."""

    demands: tuple[Competitors, ...] = ()
    obstacle: str = ""
    """Why nothing can be told of them, as a clause. Empty if something can."""

    def kernel(self, window: int) -> int:
        """Returns what their kernel does at most in any such window."""
        return sum(requests.kernel(window) for requests in self.demands)


def neighbours(system: System, by_core: Mapping[int, Charges], core: int, ends: Mapping[str, int | None]) -> Neighbours:
    """The other cores, their tasks ending at most so long after their arrivals."""
    neighbours_ = []
    for name, users in across(system).items():
        users_text = ", ".join(users)
        return Neighbours(
            obstacle=f"{name} is shared by tasks of several cores ({users_text}), which is outside this analysis"
        )
    for other in (core_tasks for core_tasks in by_core if core_tasks != core):
        charge, tasks = by_core[other], [task for task in system.tasks if task.core == other]
        late = {task.name: ends[task.name] for task in tasks}
        unbounded = next((name for name, end in late.items() if end is None), "")
        if unbounded:
            return Neighbours(
                obstacle=f"{unbounded} on another core has none, whose calls of the kernel it may wait for"
            )
        # A job uses the kernel from its release to its end, which may fall into the window from before it.
        jobs = [replace(task, jitter=late[task.name] or 0, offset=None) for task in tasks]
        handlers = [
            replace(interrupt, jitter=interrupt.jitter + interrupt.period)
            for interrupt in system.interrupts
            if interrupt.core == other
        ]
        idle = replace(system.tasks[0], name="", wcet=0, core=other)
        neighbours_.append(
            Competitors(
                task=idle,
                others=jobs,
                interrupts=handlers,
                released=tasks_released_by(system, charge, tasks),
                charges=charge,
                blocking=0,
                sliced=charge.slice > 0,
                shared=frozenset(name for task in tasks for name, _ in task.sections),
                tick_jitter=charge.late,
            )
        )
    return Neighbours(tuple(neighbours_))


def tasks_released_by(system: System, charge: Charges, peers: Sequence[Task]) -> list[Task]:
    """Whose releases a core handles: those of all cores where it has the tick or may make up for one, else its own."""
    every = charge.tick > 0 or charge.compensated > 0
    return [task for task in (system.tasks if every else peers) if not task.released_by]


def cores_of(system: System, overheads: Overheads | None) -> Sequence[int]:
    """All that take part: one without a task has the tick or an idle loop on the bus."""
    if overheads is None or overheads.smp.cores == 1:
        return system.cores
    return range(max(overheads.smp.cores, 1 + max(system.cores)))


def with_delays(system: System, by_core: Mapping[int, Charges]) -> System:
    """Returns the system with the delays by other cores as jitter of a tick's releases."""
    tasks = (
        task if task.released_by else replace(task, jitter=task.jitter + by_core[task.core].late)
        for task in system.tasks
    )
    return replace(system, tasks=tuple(tasks))


def across(system: System) -> dict[str, tuple[str, ...]]:
    """Resource -> its users, where they are on different cores: what they wait for each other has no bound here.

    The kernel's mutexes suspend who waits, which needs another analysis (MPCP) or another lock (MSRP, MrsP).
    """
    users: dict[str, list[Task]] = {}
    for task in system.tasks:
        for name in {name for name, _ in task.sections}:
            users.setdefault(name, []).append(task)
    return {
        name: tuple(neighbour.name for neighbour in user)
        for name, user in users.items()
        if len({neighbour.core for neighbour in user}) > 1
    }
