"""The waits of a partitioned system's cores for each other: for the kernel's locks, and for late releases.

Each task runs on one core. docs/response-time-model.md argues for every term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.rta.charges import KernelCharges
from rtoslab.rta.demand import CompetingDemand
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.system import IntegerTaskSet, SystemTask


@dataclass(frozen=True, slots=True)
class OtherCores:
    """What the cores other than the analysed one can delay. Empty if there is one core."""

    demands: tuple[CompetingDemand, ...] = ()
    obstacle: str = ""
    """Why their demand is unknown, as a clause. Empty if it is known."""

    def kernel_work(self, window: int) -> int:
        """Returns the most time that the kernel works on the other cores in any window of this length."""
        return sum(requests.kernel_work(window) for requests in self.demands)


def find_other_cores(
    system: IntegerTaskSet,
    charges_by_core: Mapping[int, KernelCharges],
    core: int,
    latest_ends: Mapping[str, int | None],
) -> OtherCores:
    """Returns the other cores, with what they can delay.
    `latest_ends`: the latest end of each task's jobs after their arrival.
    """
    demands = []
    received = next((task for task in system.tasks if task.sender), None)
    if received is not None:
        return OtherCores(
            obstacle=f"{received.sender} releases {received.name}, which this analysis does not support on several "
            "cores"
        )
    curved = [item.name for item in system.tasks if item.curve]
    curved += [item.name for item in system.interrupts if item.curve]
    if curved:
        return OtherCores(
            obstacle=f"{curved[0]} has arrivals without a period, which this analysis does not support on several cores"
        )
    for name, users in resources_across_cores(system).items():
        users_text = ", ".join(users)
        return OtherCores(
            obstacle=f"{name} is shared by tasks of several cores ({users_text}), which this analysis does not support"
        )
    for other in (core_tasks for core_tasks in charges_by_core if core_tasks != core):
        charge, tasks = charges_by_core[other], [task for task in system.tasks if task.core == other]
        late = {task.name: latest_ends[task.name] for task in tasks}
        unbounded = next((name for name, end in late.items() if end is None), "")
        if unbounded:
            return OtherCores(
                obstacle=f"{unbounded} on another core has no bound, and it may wait for the kernel calls of that task"
            )
        # A job uses the kernel from its release to its end, which may fall into the window from before it.
        jobs = [replace(task, jitter=late[task.name] or 0, offset=None) for task in tasks]
        handlers = [
            replace(interrupt, jitter=interrupt.jitter + interrupt.period)
            for interrupt in system.interrupts
            if interrupt.core == other
        ]
        idle = replace(system.tasks[0], name="", wcet=0, core=other)
        demands.append(
            CompetingDemand(
                task=idle,
                others=jobs,
                interrupts=handlers,
                released=tasks_released_on_core(system, charge, tasks),
                charges=charge,
                blocking=0,
                takes_turns=charge.slice > 0,
                shared_resources=frozenset(name for task in tasks for name, _ in task.sections),
                tick_jitter=charge.release_delay,
            )
        )
    return OtherCores(tuple(demands))


def tasks_released_on_core(
    system: IntegerTaskSet, charge: KernelCharges, peers: Sequence[SystemTask]
) -> list[SystemTask]:
    """Returns the tasks whose releases this core handles."""
    every = charge.tick > 0 or charge.compensated_tick > 0
    return [task for task in (system.tasks if every else peers) if task.is_tick_released]


def participating_cores(system: IntegerTaskSet, overheads: KernelOverheads | None) -> Sequence[int]:
    """Returns the cores that affect the analysis. A core without a task has the tick, or an idle loop on the bus."""
    if overheads is None or overheads.smp.cores == 1:
        return system.core_numbers
    return range(max(overheads.smp.cores, 1 + max(system.core_numbers)))


def with_release_delays(system: IntegerTaskSet, charges_by_core: Mapping[int, KernelCharges]) -> IntegerTaskSet:
    """Returns the system with releases that come later because of other cores: their delays are added to the jitter."""
    tasks = (
        replace(task, jitter=task.jitter + charges_by_core[task.core].release_delay) if task.is_tick_released else task
        for task in system.tasks
    )
    return replace(system, tasks=tuple(tasks))


def resources_across_cores(system: IntegerTaskSet) -> dict[str, tuple[str, ...]]:
    """Returns the users of each resource that tasks of different cores use.
    Their waits for each other have no bound here.

    The kernel's mutexes suspend who waits, which needs another analysis (MPCP) or another lock (MSRP, MrsP).
    """
    users: dict[str, list[SystemTask]] = {}
    for task in system.tasks:
        for name in {name for name, _ in task.sections}:
            users.setdefault(name, []).append(task)
    return {
        name: tuple(neighbour.name for neighbour in user)
        for name, user in users.items()
        if len({neighbour.core for neighbour in user}) > 1
    }
