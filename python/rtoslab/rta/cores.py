"""The waits of a partitioned system's cores for each other: for the kernel's locks, and for late releases.

Each task runs on one core. docs/response-time-model.md argues for every term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rtoslab.rta.arrival_curves import most_arrivals_of_each_task
from rtoslab.rta.blocking import critical_sections_of_less_urgent_tasks
from rtoslab.rta.charges import KernelOverheadTimes, bus_contention_prolongation
from rtoslab.rta.demand import CompetingProcessorDemand
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.record import TICK_CORE
from rtoslab.rta.resource_waits import (
    RequestCosts,
    ResourceWaits,
    SharedResources,
    WaitsAcrossCores,
    shared_resources_of_core,
)
from rtoslab.rta.senders import Sends, tasks_released_by_other_cores
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, IntegerTimeTaskSet


@dataclass(frozen=True, slots=True)
class DelaysByOtherCores:
    """The delays that the cores other than the analysed one can cause. Empty if there is one core."""

    demands: tuple[CompetingProcessorDemand, ...] = ()
    obstacle: str = ""
    """Why their demand is unknown, as a clause. Empty if it is known."""
    requesting: tuple[IntegerTimeInterrupt, ...] = ()
    """The interrupts of the analysed core that release a task, with jitter up to the end of the release."""
    remote_gives: tuple[IntegerTimeInterrupt, ...] = ()
    """The same of the other cores."""
    received: tuple[IntegerTimeTask, ...] = ()
    """The tasks of the analysed core that a task of another core releases, with jitter up to the end of that call."""
    shared: SharedResources | None = None
    """The resources that tasks of several cores share. None if there are none."""
    handlers: tuple[IntegerTimeInterrupt, ...] = ()
    """The interrupts of the analysed core, with jitter up to their latest end."""
    request_costs: RequestCosts = field(default_factory=dict)
    """Those of the tasks of the analysed core whose requests have a bound."""

    def most_kernel_work_in_window(self, window: int) -> int:
        """Returns the most time that the kernel works on the other cores in any window of this length."""
        return sum(requests.most_kernel_work_in_window(window) for requests in self.demands)


def task_delays_by_other_cores(
    system: IntegerTimeTaskSet,
    charges_by_core: Mapping[int, KernelOverheadTimes],
    core: int,
    latest_ends: Mapping[str, int | None],
    latest_sends: Sends,
) -> DelaysByOtherCores:
    """Returns the other cores, with what they can delay. `latest_ends`: the latest end of each task's jobs after their
    arrival. `latest_sends`: the latest end of each call that releases a task of another core or a more urgent task.
    """
    demands = []
    if obstacle := _reason_one_kernel_cannot_run_tasks(system):
        return DelaysByOtherCores(obstacle=obstacle)
    remote = tasks_released_by_other_cores(system)
    received = [replace(task, jitter=latest_sends[task.name] or 0) for task in system.tasks if task.name in remote]
    shared = system.users_of_resources_across_cores
    at_end = [replace(handler, jitter=latest_ends[handler.name] or 0) for handler in system.interrupts]
    late_tasks = _add_jitter_until_latest_job_end(system.tasks, latest_ends, latest_sends) if shared else []
    if isinstance(late_tasks, str):
        return DelaysByOtherCores(
            obstacle=f"{late_tasks} has no bound, and the number of critical sections depends on the bounds of all "
            "tasks"
        )
    delay = max(charge.release_delay for charge in charges_by_core.values())
    releasing = [replace(handler, jitter=handler.jitter + delay) for handler in at_end if handler.gives]
    for other in (core_tasks for core_tasks in charges_by_core if core_tasks != core):
        charge, tasks = charges_by_core[other], [task for task in system.tasks if task.core == other]
        # A job uses the kernel from its release to its end, which may fall into the window from before it.
        late = _add_jitter_until_latest_job_end(tasks, latest_ends, latest_sends)
        if isinstance(late, str):
            return DelaysByOtherCores(
                obstacle=f"{late} on another core has no bound, and this core may wait for kernel calls of {late}"
            )
        unbounded = next((item.name for item in at_end if item.core == other and latest_ends[item.name] is None), "")
        if unbounded:
            called = f"this core may wait for kernel calls of the handler of {unbounded}"
            return DelaysByOtherCores(obstacle=f"{unbounded} on another core has no bound, and {called}")
        handlers = [handler for handler in at_end if handler.core == other]
        idle = replace(system.tasks[0], name="", wcet=0, core=other)
        demands.append(
            CompetingProcessorDemand(
                task=idle,
                others=late,
                interrupts=handlers,
                released=tasks_released_on_core(system, charge, tasks),
                charges=charge,
                blocking=0,
                takes_turns=charge.slice > 0,
                shared_resources=frozenset(name for task in tasks for name, _ in task.sections),
                tick_jitter=charge.release_delay,
                requesting=[handler for handler in releasing if handler.core == other],
                remote_gives=[handler for handler in releasing if handler.core != other],
                received=[task for task in received if task.core == other],
                waits_across_cores=WaitsAcrossCores(
                    shared_resources_of_core(charges_by_core, other, shared, late_tasks)
                )
                if shared
                else None,
            )
        )
    return DelaysByOtherCores(
        tuple(demands),
        shared=shared_resources_of_core(charges_by_core, core, shared, late_tasks) if shared else None,
        handlers=tuple(handler for handler in at_end if handler.core == core),
        requesting=tuple(handler for handler in releasing if handler.core == core),
        remote_gives=tuple(handler for handler in releasing if handler.core != core),
        received=tuple(task for task in received if task.core == core),
    )


def _reason_one_kernel_cannot_run_tasks(system: IntegerTimeTaskSet) -> str:
    """Returns why one kernel cannot run the system on several cores, as a clause. Empty if it can."""
    timer = next((task for task in system.tasks if task.is_timer and task.core != TICK_CORE), None)
    if timer is not None:
        return f"{timer.name} is a timer on core {timer.core}, but the kernel's timer task is on core {TICK_CORE}"
    shared = system.users_of_resources_across_cores
    if shared and system.protocol != "inheritance":
        name, users = next(iter(shared.items()))
        return (
            f"{name} is shared by tasks of several cores ({', '.join(users)}), and the protocol {system.protocol} "
            "excludes only tasks of one core; with inheritance there is a bound"
        )
    return ""


def _add_jitter_until_latest_job_end(
    tasks: Sequence[IntegerTimeTask], latest_ends: Mapping[str, int | None], latest_sends: Sends
) -> list[IntegerTimeTask] | str:
    """Returns tasks with jitter up to the latest end of their jobs, the calls that release others included.
    If the end of one has no bound, it returns the name of this task.
    """
    late = []
    for task in tasks:
        ends = [latest_ends[task.name], *(latest_sends.get(name, 0) for name in task.gives)]
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return task.name
        late.append(replace(task, jitter=max(known), offset=None))
    return late


def resource_waits_of_task(
    task: IntegerTimeTask,
    peers: Sequence[IntegerTimeTask],
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    delays: DelaysByOtherCores,
) -> ResourceWaits | None:
    """Returns the waits that delay a task, for resources that tasks of several cores share. None if there are none.
    `peers` are the tasks of its core, itself included.
    """
    if delays.shared is None:
        return None
    requesting = delays.shared.tasks_requesting_shared_resources(task.priority)
    costs = {item.name: cost for item in requesting if (cost := delays.request_costs.get(item.name))}
    work = _kernel_demand_of_tasks([item for item in delays.shared.own if item.priority < task.priority], charge)
    return ResourceWaits(
        delays.shared,
        task,
        charge,
        critical_sections_of_less_urgent_tasks(task, peers, system, charge),
        work.most_kernel_work_in_window,
        work.kernel_utilisation(),
        costs,
    )


def _kernel_demand_of_tasks(tasks: Sequence[IntegerTimeTask], charge: KernelOverheadTimes) -> CompetingProcessorDemand:
    """Returns what the kernel does for some tasks of a core, without ticks, releases and interrupts.
    Their masked sections are left out.
    """
    idle = IntegerTimeTask("", 10**30, 0, 10**30, 0)
    unmasked = [replace(task, masked=0) if task.masked else task for task in tasks]
    # The calls that mask and unmask stay: each counts as a section without a length.
    unmasked = [
        replace(plain, sections=(*plain.sections, ("", 0))) if task.masked else plain
        for plain, task in zip(unmasked, tasks, strict=True)
    ]
    own = replace(charge, tick=0, release=0, core_request=0, remote_give=0, interrupt=0, give=0)
    return CompetingProcessorDemand(idle, unmasked, (), (), own, 0, shared_resources=resources_shared_by_tasks(tasks))


def resources_shared_by_tasks(tasks: Sequence[IntegerTimeTask]) -> frozenset[str]:
    """Returns the names of the resources that more than one of the tasks uses."""
    used = {(task.task_name, name) for task in tasks for name, _ in task.sections}
    names = [name for _, name in used]
    return frozenset(name for name in names if names.count(name) > 1)


def tasks_released_on_core(
    system: IntegerTimeTaskSet, charge: KernelOverheadTimes, peers: Sequence[IntegerTimeTask]
) -> list[IntegerTimeTask]:
    """Returns the tasks whose releases this core handles."""
    every = charge.tick > 0 or charge.compensated_tick > 0
    return [task for task in (system.tasks if every else peers) if task.is_tick_released]


def cores_affecting_response_time_analysis(
    system: IntegerTimeTaskSet, overheads: KernelOverheads | None
) -> Sequence[int]:
    """Returns the cores that affect the analysis. A core without a task affects it, too: it handles the tick, or its
    idle loop uses the bus."""
    if overheads is None or overheads.smp.cores == 1:
        return system.used_core_numbers
    return range(max(overheads.smp.cores, 1 + max(system.used_core_numbers)))


def split_task_set_by_kernel(system: IntegerTimeTaskSet, overheads: KernelOverheads | None) -> list[IntegerTimeTaskSet]:
    """Returns the tasks and interrupts of each kernel as a system of its own. One kernel may run on several cores.
    Releases by another kernel are left out: see `reason_two_kernels_cannot_run_tasks`.
    """
    if overheads is None or overheads.smp.kernels == 1:
        return [system]
    remote = tasks_released_by_other_cores(system)
    tasks = [
        replace(
            task,
            sender="" if task.name in remote else task.sender,
            gives=tuple(name for name in task.gives if name not in remote),
        )
        for task in system.tasks
    ]
    return [
        replace(
            system,
            tasks=tuple(task for task in tasks if task.core == core),
            interrupts=tuple(handler for handler in system.interrupts if handler.core == core),
        )
        for core in system.used_core_numbers
    ]


def reason_two_kernels_cannot_run_tasks(system: IntegerTimeTaskSet) -> str:
    """Returns why two kernels cannot run the system, as a clause. Empty if they can."""
    remote = tasks_released_by_other_cores(system)
    received = next((task for task in system.tasks if task.name in remote), None)
    if received is not None:
        return f"{received.sender} releases {received.name}, which another kernel runs"
    for name, users in system.users_of_resources_across_cores.items():
        return f"{name} is shared by tasks of two kernels ({', '.join(users)})"
    return ""


def task_set_with_release_delays(
    system: IntegerTimeTaskSet,
    charges_by_core: Mapping[int, KernelOverheadTimes],
    latest_ends: Mapping[str, int | None],
) -> IntegerTimeTaskSet:
    """Returns the system with releases that come later because of other cores: their delays are added to the jitter.
    A release by an interrupt comes after its handler's end, and may be delayed then.
    """

    def longest_release_jitter(task: IntegerTimeTask) -> int:
        """Returns the longest time from a task's arrival to its release."""
        delay = charges_by_core[task.core].release_delay
        return delay + ((latest_ends[task.released_by] or 0) if task.released_by else task.jitter)

    tasks = (task if task.sender else replace(task, jitter=longest_release_jitter(task)) for task in system.tasks)
    return replace(system, tasks=tuple(tasks))


_DELAY_STEPS: Final = 1_000


def overhead_times_with_interrupt_delays(
    system: IntegerTimeTaskSet, charges_by_core: Mapping[int, KernelOverheadTimes]
) -> dict[int, KernelOverheadTimes] | None:
    """Returns the charges with the interrupts that may delay a release on any core. None if they never end.

    They delay the tick's handler on its core, and the call that has the scheduler locked on another core.
    """
    if not system.interrupts:
        return dict(charges_by_core)
    result = {}
    for core, charge in charges_by_core.items():
        delay = charge.release_delay
        for _ in range(_DELAY_STEPS):
            longer = charge.release_delay + sum(
                (1 + _most_interrupt_arrivals_within(handler, delay))
                * _longest_handler_time(handler, charges_by_core[handler.core])
                for handler in system.interrupts
            )
            if longer == delay:
                break
            delay = longer
        else:
            return None
        result[core] = replace(charge, release_delay=delay)
    return result


def _most_interrupt_arrivals_within(handler: IntegerTimeInterrupt, window: int) -> int:
    """Returns the largest number of arrivals of an interrupt in a window, after one that is pending already."""
    return most_arrivals_of_each_task([(handler.period, handler.jitter, handler.curve)], window)[0]


def _longest_handler_time(handler: IntegerTimeInterrupt, charge: KernelOverheadTimes) -> int:
    """Returns the longest time that one handler takes on its core, without waits."""
    give = charge.give if handler.gives else 0
    return handler.wcet + bus_contention_prolongation(handler.wcet, charge) + charge.interrupt + give
