"""Bounds the waits for resources that tasks of several cores share.

A waiting task is suspended, and the holder inherits its priority on the holder's own core. The kernel does not hand a
resource over. It wakes the most urgent waiter, and any task may take the resource before that one runs. So the number
of holders before a task has no bound. All waits together are bounded by what the other cores execute meanwhile.
docs/response-time-model.md argues for every term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rtoslab.rta.arrival_curves import Arrivals, most_arrivals_of_each_task
from rtoslab.rta.blocking import CriticalSectionBlocking
from rtoslab.rta.charges import KernelOverheadTimes, bus_contention_prolongation
from rtoslab.rta.system import IntegerTimeTask, exact_utilisation

RequestCosts = Mapping[str, tuple[int, int]]
"""By task, for all requests of one job: the longest time for which other cores' tasks delay it, and the most of their
sections that can delay it."""


@dataclass(frozen=True, slots=True)
class SharedResources:
    """The resources that tasks of several cores share, as the analysis of one core sees them.

    The jitter of all tasks reaches up to the latest end of their jobs, because a job that arrived before a window may
    hold a resource in it. Times of the other cores' tasks include the delays by the bus.
    """

    names: frozenset[str]
    own: tuple[IntegerTimeTask, ...]
    """The tasks of the analysed core."""
    remote: tuple[IntegerTimeTask, ...]
    """The tasks of the other cores."""

    def requested_resources(self, task: IntegerTimeTask) -> tuple[str, ...]:
        """Returns the shared resources that each job of a task requests, with repetitions."""
        return tuple(name for name, _ in task.sections if name in self.names)

    def tasks_requesting_shared_resources(self, priority: int) -> list[IntegerTimeTask]:
        """Returns the tasks of the analysed core with at least this priority that request a shared resource."""
        return [task for task in self.own if task.priority >= priority and self.requested_resources(task)]

    def resource_wait_delays_per_job(self, priority: int, resources: Iterable[str]) -> list[int]:
        """Returns for each job of the other cores' tasks how long it delays waits of tasks with this priority.

        While such a task waits, the holder has at least this priority. So the holder's core executes the holder,
        another section whose task inherits such a priority, or a job of at least this priority that preempts the
        holder.
        """
        requested = {*resources}
        return [
            task.wcet
            if task.priority >= priority and self._can_task_preempt_resource_holder(task, requested)
            else sum(length for name, length in task.sections if self._priority_ceiling_of_resource(name) >= priority)
            for task in self.remote
        ]

    def _can_task_preempt_resource_holder(self, task: IntegerTimeTask, resources: Iterable[str]) -> bool:
        """Whether another core's task can preempt another one of its core that holds one of the resources."""
        return any(
            holder.core == task.core
            and holder.name != task.name
            and holder.priority <= task.priority
            and any(name in resources for name, _ in holder.sections)
            for holder in self.remote
        )

    def _priority_ceiling_of_resource(self, resource: str) -> int:
        """Returns the highest priority of the tasks that use a resource, on any core."""
        return max(task.priority for task in (*self.own, *self.remote) if resource in dict(task.sections))


def shared_resources_of_core(
    charges_by_core: Mapping[int, KernelOverheadTimes],
    core: int,
    names: Iterable[str],
    jobs: Sequence[IntegerTimeTask],
) -> SharedResources:
    """Returns the resources with these names as the analysis of one core sees them.
    `jobs`: all tasks, with jitter up to the latest end of their jobs.
    """

    def task_with_bus_delays(task: IntegerTimeTask) -> IntegerTimeTask:
        """Returns a task with the longest times of its work beside other cores."""
        charge = charges_by_core[task.core]
        return replace(
            task,
            wcet=task.wcet + bus_contention_prolongation(task.wcet, charge),
            sections=tuple(
                (name, length + bus_contention_prolongation(length, charge)) for name, length in task.sections
            ),
        )

    return SharedResources(
        frozenset(names),
        tuple(task for task in jobs if task.core == core),
        tuple(task_with_bus_delays(task) for task in jobs if task.core != core),
    )


def _arrivals_of_tasks(tasks: Iterable[IntegerTimeTask]) -> list[Arrivals]:
    """Returns the arrivals of tasks."""
    return [(task.period, task.jitter, task.curve) for task in tasks]


def _weighted_sum_of_job_arrivals(arrivals: Sequence[Arrivals], weights: Sequence[int], window: int) -> int:
    """Returns the sum of the weights of all jobs that may arrive in a window."""
    return _weighted_sum(most_arrivals_of_each_task(arrivals, window), weights)


def _weighted_sum(counts: Sequence[int], weights: Sequence[int]) -> int:
    """Returns the sum of the weights, each as often as its count."""
    return sum(count * weight for count, weight in zip(counts, weights, strict=True))


@dataclass(frozen=True, slots=True)
class WaitsAcrossCores:
    """The most waits of tasks of one core for tasks of other cores, and the reverse, for shared resources."""

    shared: SharedResources
    _users: Sequence[tuple[list[Arrivals], list[int], list[Arrivals], list[int], int, int]] = field(
        init=False, repr=False, compare=False
    )
    """For each resource: the arrivals and requests of its users on the core and on others. Then how often one request
    of the core, and one of the others, may make users of equal priority wait again."""

    def __post_init__(self) -> None:
        users = []
        for name in sorted(self.shared.names):
            sides: list[list[IntegerTimeTask]] = [
                [task for task in tasks if name in dict(task.sections)]
                for tasks in (self.shared.own, self.shared.remote)
            ]
            counts = [[sum(item == name for item, _ in task.sections) for task in side] for side in sides]
            equals = [int(len({task.priority for task in side}) < len(side)) for side in sides]
            here, elsewhere = map(_arrivals_of_tasks, sides)
            users.append((here, counts[0], elsewhere, counts[1], *equals))
        object.__setattr__(self, "_users", users)

    def most_waits_in_window(self, window: int) -> int:
        """Returns the most waits in any window of this length.

        Each request waits at first at most once. It waits again only if another task took the resource before the
        woken one ran, so there are no more further waits for the other side than sections of the other side. One
        section makes each user of the other side wait at most once. Users of equal priority may also take the resource
        before each other.
        """
        waits = 0
        for here, own_requests, elsewhere, remote_requests, own_equals, remote_equals in self._users:
            own = _weighted_sum_of_job_arrivals(here, own_requests, window)
            remote = _weighted_sum_of_job_arrivals(elsewhere, remote_requests, window)
            waits += min(own + remote, remote * len(here)) + min(own + remote, own * len(elsewhere))
            waits += own * own_equals + remote * remote_equals
        return waits

    def long_term_resource_wait_rate(self) -> Fraction:
        """Returns the most waits in a unit of time, in the long run."""
        waits = Fraction(0)
        for name, (here, _, elsewhere, _, own_equals, remote_equals) in zip(
            sorted(self.shared.names), self._users, strict=True
        ):
            own, remote = (
                _long_run_weight_per_time_unit(
                    tasks, [sum(item == name for item, _ in task.sections) for task in tasks]
                )
                for tasks in (self.shared.own, self.shared.remote)
            )
            waits += min(own + remote, remote * len(here)) + min(own + remote, own * len(elsewhere))
            waits += own * own_equals + remote * remote_equals
        return waits


@dataclass(frozen=True, slots=True)
class ResourceWaits:
    """The demand in windows of one task that shared resources cause, besides what one core's own resources cause."""

    shared: SharedResources
    task: IntegerTimeTask
    """The analysed task."""
    charges: KernelOverheadTimes
    sections: CriticalSectionBlocking
    """The sections of less urgent tasks of the core that can block it."""
    less_urgent_work: Callable[[int], int]
    """The longest time for which the kernel works for less urgent tasks of the core in a window."""
    less_urgent_utilisation: Fraction
    """The share of that work in the long run."""
    costs: RequestCosts = field(default_factory=dict)
    """Those of the tasks at least as urgent whose requests have a bound of their own."""
    _remote: Sequence[Arrivals] = field(init=False, repr=False, compare=False)
    _delays: Sequence[Sequence[int]] = field(init=False, repr=False, compare=False)
    """The longest time for which each job of the other cores' tasks delays all waits, and the waits of requests without
    a bound of their own."""
    _holds: Sequence[Sequence[int]] = field(init=False, repr=False, compare=False)
    """The number of its sections that can make a task of the core wait, in the same two ways."""
    _lower: Sequence[Arrivals] = field(init=False, repr=False, compare=False)
    _masked: Sequence[int] = field(init=False, repr=False, compare=False)
    _waits: WaitsAcrossCores = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        requesting = self.shared.tasks_requesting_shared_resources(self.task.priority)
        unbounded = [task for task in requesting if task.name not in self.costs]
        lower = [task for task in self.shared.own if task.priority < self.task.priority]
        object.__setattr__(self, "_remote", _arrivals_of_tasks(self.shared.remote))
        weights = [self._remote_critical_section_delays(tasks) for tasks in (requesting, unbounded)]
        object.__setattr__(self, "_delays", [delays for delays, _ in weights])
        object.__setattr__(self, "_holds", [holds for _, holds in weights])
        object.__setattr__(self, "_lower", _arrivals_of_tasks(lower))
        masked = [task.masked + bus_contention_prolongation(task.masked, self.charges) for task in lower]
        object.__setattr__(self, "_masked", masked)
        object.__setattr__(self, "_waits", WaitsAcrossCores(self.shared))

    def _remote_critical_section_delays(self, requesting: Sequence[IntegerTimeTask]) -> tuple[list[int], list[int]]:
        """Returns how long each job of the other cores' tasks delays waits of some tasks, and by how many sections."""
        resources = {name for task in requesting for name in self.shared.requested_resources(task)}
        holds = [sum(name in resources for name, _ in task.sections) for task in self.shared.remote]
        if not requesting:
            return holds, holds
        return self.shared.resource_wait_delays_per_job(min(task.priority for task in requesting), resources), holds

    @property
    def can_wait_for_other_core(self) -> bool:
        """Whether the analysed task, or one that is at least as urgent, may wait for a task of another core."""
        return any(self._holds[0])

    def most_waits_in_window(self, window: int) -> int:
        """Returns the most waits for tasks of other cores, and of their tasks, that can take time in a window.

        If no task that is at least as urgent can be suspended, less urgent ones begin no section in the busy period.
        Each resource can be held once as it begins, and more urgent tasks of other cores wait for it.
        """
        return (
            self._waits.most_waits_in_window(window)
            if self.can_wait_for_other_core
            else self._count_urgent_resource_users_elsewhere
        )

    def demand_in_window(self, window: int, jobs: Mapping[str, int]) -> dict[str, int]:
        """Returns the demand in a window by cause. `jobs`: the jobs of each task at least as urgent in it."""
        if not self.can_wait_for_other_core:
            return {}
        counts = most_arrivals_of_each_task(self._remote, window)
        bounded = [(jobs.get(name, 0), cost) for name, cost in self.costs.items()]
        delay, holds = (
            min(
                _weighted_sum(counts, weights[0]),
                _weighted_sum(counts, weights[1]) + sum(count * cost[at] for count, cost in bounded),
            )
            for at, weights in enumerate((self._delays, self._holds))
        )
        pauses = holds + sum(jobs.values()) - 1 if holds else 0
        return {
            "holders on other cores": delay,
            "blocking": self._max_blocking_while_other_tasks_wait(window, pauses),
            "less urgent tasks": self.less_urgent_work(window)
            + min(
                pauses * max(self._masked, default=0), _weighted_sum_of_job_arrivals(self._lower, self._masked, window)
            ),
        }

    @property
    def _count_urgent_resource_users_elsewhere(self) -> int:
        """Returns how many more urgent tasks of other cores can wait for sections of less urgent tasks of this core."""
        held = {
            name
            for task in self.shared.own
            if task.priority < self.task.priority
            for name in self.shared.requested_resources(task)
        }
        return sum(
            name in held
            for task in self.shared.remote
            if task.priority >= self.task.priority
            for name in {name for name, _ in task.sections}
        )

    def _max_blocking_while_other_tasks_wait(self, window: int, pauses: int) -> int:
        """Returns the longest time of sections that less urgent tasks begin while all others wait.
        `pauses`: the times at which a task at least as urgent becomes ready while all others wait.
        """
        counts = most_arrivals_of_each_task(self._lower, window)
        names = [task.name for task in self.shared.own if task.priority < self.task.priority]
        by_task = sum(
            min((1 + pauses) * self.sections.longest.get(name, 0), count * self.sections.total.get(name, 0))
            for name, count in zip(names, counts, strict=True)
        )
        return max(0, min(by_task, (1 + pauses) * self.sections.once) - self.sections.once)

    def cost_of_resource_requests(self, window: int) -> tuple[int, int]:
        """Returns the cost of all requests of a job of the analysed task, if none waits for longer than a window.
        The first value is the longest time for which other cores' tasks delay them, the second one the most of their
        sections that can do so.
        """
        time = sections = 0
        for name in self.shared.requested_resources(self.task):
            delays = self.shared.resource_wait_delays_per_job(self.task.priority, [name])
            counts = [sum(item == name for item, _ in task.sections) for task in self.shared.remote]
            time += _weighted_sum_of_job_arrivals(self._remote, delays, window)
            sections += _weighted_sum_of_job_arrivals(self._remote, counts, window)
        return time, sections

    def long_run_utilisation(self, tasks: Sequence[IntegerTimeTask]) -> Fraction:
        """Returns the share of the processor that the waits take in the long run. `tasks`: those at least as urgent."""
        if not self.can_wait_for_other_core:
            return Fraction(0)
        costs = [self.costs.get(task.name, (0, 0)) for task in tasks]
        delay, holds = (
            min(
                _long_run_weight_per_time_unit(self.shared.remote, weights[0]),
                _long_run_weight_per_time_unit(self.shared.remote, weights[1])
                + _long_run_weight_per_time_unit(tasks, [cost[at] for cost in costs]),
            )
            for at, weights in enumerate((self._delays, self._holds))
        )
        lower = [task for task in self.shared.own if task.priority < self.task.priority]
        pauses = holds + _long_run_weight_per_time_unit(tasks, [1] * len(tasks))
        blocking = min(
            _long_run_weight_per_time_unit(lower, [self.sections.total.get(task.name, 0) for task in lower]),
            pauses * self.sections.once,
        )
        masked = min(_long_run_weight_per_time_unit(lower, self._masked), pauses * max(self._masked, default=0))
        waits = self.charges.cross_wait * self._waits.long_term_resource_wait_rate()
        return delay + blocking + masked + self.less_urgent_utilisation + waits


def _long_run_weight_per_time_unit(tasks: Sequence[IntegerTimeTask], weights: Sequence[int]) -> Fraction:
    """Returns the sum of the weights of all jobs that arrive in a unit of time, in the long run."""
    loads = [task.long_run_load(weight) for task, weight in zip(tasks, weights, strict=True)]
    return exact_utilisation(loads or [(0, 1)])
