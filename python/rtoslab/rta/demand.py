"""The demand on the processor in a window that begins with a busy period, by its cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from typing import Final

from rtoslab.rta.arrival_curves import Arrivals, max_arrivals_of_periodic_task, most_arrivals_of_each_task
from rtoslab.rta.charges import MEETINGS, KernelOverheadTimes, bus_contention_prolongation
from rtoslab.rta.resource_waits import ResourceWaits, WaitsAcrossCores
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, exact_utilisation

_NEVER: Final = 10**30
"""A period that never ends within an analysis, so that nothing periodic with it recurs."""


class DemandWindowEndInstant(IntEnum):
    """The instants of the analysed job up to which a window's demand is counted."""

    LAST_INSTRUCTION = 0
    """The end of its work, which is its response."""
    SENT = 1
    """The end of the call with which it releases another task."""
    NEXT_JOB = 2
    """The end of everything that its task does before it can begin another job, and of the more urgent jobs that it
    releases."""


def _most_interrupt_arrivals(handlers: Sequence[IntegerTimeInterrupt], window: int) -> int:
    """Returns the largest number of arrivals of interrupts in a window."""
    return sum(most_arrivals_of_each_task([(item.period, item.jitter, item.curve) for item in handlers], window))


@dataclass(frozen=True, slots=True)
class CompetingProcessorDemand:
    """The processor demand of everything that competes with the analysed task.
    `others` run before it whenever they are ready.
    """

    task: IntegerTimeTask
    others: Sequence[IntegerTimeTask]
    interrupts: Sequence[IntegerTimeInterrupt]
    released: Sequence[IntegerTimeTask]
    """All tasks whose release the tick of this core handles, less urgent ones too."""
    charges: KernelOverheadTimes
    blocking: int
    takes_turns: bool = False
    """Some tasks have the same priority, and take turns by the tick."""
    shared_resources: frozenset[str] = frozenset()
    """Resources that more than one task uses."""
    tick_jitter: int = 0
    """The longest time by which a tick that is handled in the busy period may have been due before it."""
    release_lead: int = 0
    """The same for a release of a less urgent task that is handled in the busy period."""
    other_cores: Sequence[CompetingProcessorDemand] = ()
    """The other cores' tasks and kernel. A lock that this core waits for is held there."""
    phases: dict[str, int] = field(default_factory=dict)
    """The earliest first arrival of each task, counted from the start of the busy period. By default 0."""
    requesting: Sequence[IntegerTimeInterrupt] = ()
    """The interrupts of this core that release a task, with jitter up to the end of the release. Another core may
    complete the release, and then makes this one choose its task again."""
    remote_gives: Sequence[IntegerTimeInterrupt] = ()
    """The interrupts of the other cores that release a task, in the same way. This core may complete the release."""
    received: Sequence[IntegerTimeTask] = ()
    """The tasks of this core that a task of another core releases, with jitter up to the end of that call."""
    resource_waits: ResourceWaits | None = None
    """The waits for resources that tasks of several cores share. None if there are none."""
    waits_across_cores: WaitsAcrossCores | None = None
    """The number of these waits, if only the kernel's work is counted."""
    successors: Mapping[str, int] = field(default_factory=dict)
    """The competing tasks that only jobs of the analysed task release, by sends or chains of them. Each with the number
    of the first of these sends in the job, from 0 on."""
    until: DemandWindowEndInstant = DemandWindowEndInstant.LAST_INSTRUCTION
    sends_done: int = 1
    """If `until` is SENT: the number of sends of the analysed job that have returned."""
    _arriving: Sequence[Arrivals] = field(init=False, repr=False, compare=False)
    """For each of `others`: its period, how long before the window its first arrival may be, and its curve."""
    _interrupting: Sequence[Arrivals] = field(init=False, repr=False, compare=False)
    """The same of `interrupts`."""
    _releasing: Sequence[Arrivals] = field(init=False, repr=False, compare=False)
    """The same of `released`."""
    _jobs: Sequence[tuple[int, int, bool, int]] = field(init=False, repr=False, compare=False)
    """For each of `others`: its WCET, the cost of its locks and masks, whether it is woken, the cost of sends."""
    _capped: Sequence[tuple[int, int]] = field(init=False, repr=False, compare=False)
    """The indices of `others` that are successors, each with the number of its send."""
    _timers: Sequence[int] = field(init=False, repr=False, compare=False)
    """The indices of `others` that are timers."""
    _senders: Sequence[tuple[int, int]] = field(init=False, repr=False, compare=False)
    """The indices of `others` that release other tasks, each with their number."""

    def __post_init__(self) -> None:
        """Computes once what every window needs: analyses ask for windows by the thousand."""
        jobs = [
            (other.wcet, self._critical_section_cost(other), not other.is_tick_released, self._cost_of_sends(other))
            for other in self.others
        ]
        indices = range(len(self.others))
        object.__setattr__(self, "_arriving", [self._period_and_earliest_first_arrival(other) for other in self.others])
        releasing = map(self._period_and_earliest_first_arrival, self.released)
        object.__setattr__(
            self, "_releasing", [(period, lead + self.release_lead, curve) for period, lead, curve in releasing]
        )
        handlers = [(handler.period, handler.jitter, handler.curve) for handler in self.interrupts]
        object.__setattr__(self, "_interrupting", handlers)
        object.__setattr__(self, "_jobs", jobs)
        capped = [(at, self.successors.get(self.others[at].name)) for at in indices] if self.successors else []
        object.__setattr__(self, "_capped", [(at, number) for at, number in capped if number is not None])
        object.__setattr__(self, "_timers", [at for at in indices if self.others[at].is_timer])
        senders = [(at, len(self.others[at].gives)) for at in indices if self.others[at].gives]
        object.__setattr__(self, "_senders", senders)

    def demand_in_window(
        self, window: int, finished_jobs: int, other_jobs: Sequence[int] | None = None
    ) -> dict[str, int]:
        """Returns the processor demand in a window by cause, with the analysed task's own jobs.
        `other_jobs`: the number of jobs of each of `others`, if known.
        """
        charge, own = self.charges, finished_jobs + 1
        ticks = max_arrivals_of_periodic_task(window, charge.tick_period, self.tick_jitter) if charge.tick_period else 0
        counts = most_arrivals_of_each_task(self._arriving, window) if other_jobs is None else other_jobs
        if self._capped:
            counts = self._job_counts_without_unreleased_jobs(counts, finished_jobs)
        tasks = sections = sends = 0
        total, woken = own + sum(counts), 0 if self.task.is_tick_released else own
        for count, (wcet, calls, is_woken, sending) in zip(counts, self._jobs, strict=True):
            tasks += count * wcet
            sections += count * calls
            sends += count * sending
            woken += count if is_woken else 0
        handled = [*zip(self.interrupts, most_arrivals_of_each_task(self._interrupting, window), strict=True)]
        met = sum(count for handler, count in handled if handler.gives)
        handler_work = sum(count * handler.wcet for handler, count in handled)
        sending_jobs = sum(counts[at] * number for at, number in self._senders) + own * len(self.task.gives)
        timers = sum(counts[at] for at in self._timers) + (own if self.task.is_timer else 0)
        by_task = total - woken - timers
        waits, further = self._resource_waits_in_window(window, own, counts)
        meetings = min(MEETINGS * total + sending_jobs + waits, ticks)
        return {
            **further,
            "own": own * self.task.wcet,
            "blocking": self.blocking + further.get("blocking", 0),
            "tasks": tasks,
            "interrupts": handler_work,
            "around interrupts": sum(count for _, count in handled) * charge.interrupt,
            "gives": met * charge.give,
            "tick": ticks * charge.tick,
            "releases": charge.release
            * self._releases_handled_by_ticks(window, meetings if charge.compensated_tick else ticks),
            "deferred": (charge.deferred_tick + charge.compensated_tick) * meetings,
            "requested by other cores": charge.core_request * self._max_reschedule_interrupts_in_window(window, ticks)
            if charge.core_request
            else 0,
            "remote gives": charge.remote_give * _most_interrupt_arrivals(self.remote_gives, window),
            "bus": bus_contention_prolongation(own * self.task.wcet + tasks + handler_work, charge),
            "locks": sum(neighbour.most_kernel_work_in_window(window) for neighbour in self.other_cores),
            "job starts": charge.start * by_task + charge.woken_start * woken + charge.timer_start * timers,
            "job ends": charge.end * by_task
            + charge.woken_end * woken
            + charge.timer_end * timers
            - self._job_end_cost_outside_analysis_window,
            "sends": sends + own * self._cost_of_sends(self.task) - self._send_cost_outside_demand_window,
            "preemptions": 0 if self.takes_turns else charge.preemption_cycles * min(total - woken, ticks),
            "slices": charge.slice * ticks if self.takes_turns else 0,
            "sections": own * self._critical_section_cost(self.task) + sections,
            "waits across cores": waits * charge.cross_wait,
        }

    def _resource_waits_in_window(self, window: int, own: int, counts: Sequence[int]) -> tuple[int, dict[str, int]]:
        """Returns the most waits across cores for shared resources in a window, and what else they cause.
        `own` and `counts`: the jobs of the analysed task and of `others`.
        """
        if self.resource_waits is not None:
            jobs = {self.task.name: own, **{other.name: jobs for other, jobs in zip(self.others, counts, strict=True)}}
            waits = self.resource_waits.most_waits_in_window(window)
            return waits, self.resource_waits.demand_in_window(window, jobs)
        across = self.waits_across_cores
        return (0 if across is None else across.most_waits_in_window(window)), {}

    def most_kernel_work_in_window(self, window: int) -> int:
        """Returns the most time that the kernel works on this core in any window of this length. The jitter of tasks
        and interrupts here reaches up to their latest end. The kernel holds no lock for longer, interrupts during its
        calls included.
        """
        parts = self.demand_in_window(window, -1)
        for work in ("own", "blocking", "tasks", "bus", "locks"):
            parts.pop(work)
        handlers = bus_contention_prolongation(parts["interrupts"], self.charges)
        return (
            sum(parts.values())
            + handlers
            + self._job_end_cost_outside_analysis_window
            + self._most_masked_time_in_window(window)
        )

    def _most_masked_time_in_window(self, window: int) -> int:
        """Returns the most time in a window in which competing tasks mask interrupts, and hold the kernel's locks."""
        if not any(other.masked for other in self.others):
            return 0
        counts = most_arrivals_of_each_task(self._arriving, window)
        return sum(
            count * (other.masked + bus_contention_prolongation(other.masked, self.charges))
            for count, other in zip(counts, self.others, strict=True)
        )

    def _max_reschedule_interrupts_in_window(self, window: int, ticks: int) -> int:
        """Returns how often another core can interrupt this one in a window to make it choose its task again. The core
        that handles the tick is interrupted only if another core handled a tick late.
        """
        arrived = zip(self.released, most_arrivals_of_each_task(self._releasing, window), strict=True)
        home = sum(min(ticks, count) for arrival, count in arrived if arrival.core == self.task.core)
        gives = _most_interrupt_arrivals(self.requesting, window) + sum(
            most_arrivals_of_each_task(list(map(self._period_and_earliest_first_arrival, self.received)), window)
        )
        if self.charges.compensated_tick:
            return min(ticks, home) + gives
        others = (
            sum(neighbour.most_competing_jobs_in_window(window) for neighbour in self.other_cores)
            if self.other_cores
            else ticks
        )
        return min(ticks, home, MEETINGS * others) + gives

    def most_competing_jobs_in_window(self, window: int) -> int:
        """Returns the most jobs of the competing tasks in any window of this length."""
        return sum(most_arrivals_of_each_task(self._arriving, window))

    def _critical_section_cost(self, task: IntegerTimeTask) -> int:
        """Returns the cost of a job's locks and masks, and of waits for tasks that use the same resources."""
        charge = self.charges
        return charge.section * task.kernel_call_count + charge.inversion * sum(
            name in self.shared_resources for name, _ in task.sections
        )

    def _cost_of_sends(self, task: IntegerTimeTask) -> int:
        """Returns the cost of the sends of a job: of its own, and of the one that releases it if its sender does not
        compete with the analysed task.
        """
        charge = self.charges
        cost = charge.send * len(task.gives)
        if not task.sender:
            return cost
        if any(receiver.name == task.name for receiver in self.received):
            return cost + charge.preemption_cycles
        competing = {other.name: other.priority for other in (self.task, *self.others)}
        if task.sender not in competing:
            return cost + charge.send + charge.send_switch
        return cost + (charge.send_switch if competing[task.sender] <= task.priority else 0)

    def _job_counts_without_unreleased_jobs(self, counts: Sequence[int], finished_jobs: int) -> list[int]:
        """Returns the numbers of jobs of `others`, with no more of the successors than were released.
        A job that the last counted send of the analysed job releases may run only after this send.
        """
        limited = list(counts)
        sent = {
            DemandWindowEndInstant.LAST_INSTRUCTION: 0,
            DemandWindowEndInstant.SENT: self.sends_done - 1,
            DemandWindowEndInstant.NEXT_JOB: _NEVER,
        }
        for at, number in self._capped:
            limited[at] = min(limited[at], finished_jobs + (number < sent[self.until]))
        return limited

    @property
    def has_sender_or_receiver(self) -> bool:
        """Whether the analysed task releases another one, or is released by one."""
        return bool(self.task.gives or self.task.sender)

    @property
    def overhead_between_consecutive_jobs(self) -> int:
        """Returns the time from the end of a job's work until the task can begin another job, if it sends nothing."""
        return self._job_start_and_end_costs(self.task)[1]

    @property
    def _job_end_cost_outside_analysis_window(self) -> int:
        """Returns the cost of the analysed job's end, if a window does not contain it."""
        return 0 if self.until is DemandWindowEndInstant.NEXT_JOB else self.overhead_between_consecutive_jobs

    @property
    def _send_cost_outside_demand_window(self) -> int:
        """Returns the cost of the analysed job's send, if a window does not contain it."""
        if self.until is DemandWindowEndInstant.NEXT_JOB:
            return 0
        return self.charges.send * (
            len(self.task.gives) - (self.sends_done if self.until is DemandWindowEndInstant.SENT else 0)
        )

    def _period_and_earliest_first_arrival(self, task: IntegerTimeTask) -> Arrivals:
        """Returns a task's period, how long before the window its first arrival may be, and its arrival curve."""
        return task.period, task.jitter - self.phases.get(task.name, 0), task.curve

    def _releases_handled_by_ticks(self, window: int, ticks: int) -> int:
        """Returns how many releases of tasks the kernel's ticks in the window handle.
        A tick releases a task once at most, whatever its jitter.
        """
        if self.charges.worst_tick:
            return ticks * len(self.released)
        counts = most_arrivals_of_each_task(self._releasing, window)
        return sum(counts) if not self.charges.tick_period else sum(min(ticks, count) for count in counts)

    def utilisation_of_competing_tasks(self) -> Fraction:
        """Returns a lower limit of the share of the processor that the competing tasks take."""
        tick = self.charges.tick
        parts = [other.long_run_load(other.wcet) for other in self.others if other.name not in self.successors]
        parts += [interrupt.long_run_load(interrupt.wcet + self.charges.interrupt) for interrupt in self.interrupts]
        return exact_utilisation(parts) + (Fraction(tick, self.charges.tick_period) if tick else 0)

    def long_run_utilisation(self) -> Fraction:
        """Returns the utilisation of the processor in the long run, with the kernel's charges. A charge that is due at
        most once a tick and once a job is counted for the rarer of the two.
        """
        charge = self.charges
        tasks = (self.task, *self.others)
        parts = [
            task.long_run_load(
                task.wcet
                + sum(self._job_start_and_end_costs(task))
                + self._critical_section_cost(task)
                + self._cost_of_sends(task)
            )
            for task in tasks
        ]
        parts += [
            interrupt.long_run_load(interrupt.wcet + charge.interrupt + (charge.give if interrupt.gives else 0))
            for interrupt in self.interrupts
        ]
        total = exact_utilisation(parts) + charge.bus_share * exact_utilisation(
            [task.long_run_load(task.wcet) for task in tasks]
            + [handler.long_run_load(handler.wcet) for handler in self.interrupts]
        )
        if self.resource_waits is not None:
            total += self.resource_waits.long_run_utilisation(tasks)
        elif self.waits_across_cores is not None:
            total += charge.cross_wait * self.waits_across_cores.long_term_resource_wait_rate()
        if not charge.tick_period:
            return total
        total += (
            sum((neighbour.kernel_utilisation() for neighbour in self.other_cores), Fraction(0))
            + self._reschedule_interrupt_utilisation()
        )
        tick = charge.tick + (charge.slice if self.takes_turns else 0)
        every = Fraction(1, charge.tick_period)
        met = [task.long_run_load(MEETINGS + len(task.gives)) for task in tasks]
        seldom = min(exact_utilisation(met), every)
        seldom *= charge.deferred_tick + charge.compensated_tick
        if not self.takes_turns:
            by_tick = exact_utilisation([(1, task.period) for task in tasks if task.is_tick_released])
            seldom += min(by_tick, every) * charge.preemption_cycles
        if charge.worst_tick:
            tick += charge.release * len(self.released)
            return total + seldom + Fraction(tick, charge.tick_period)
        released = exact_utilisation([(charge.release, max(item.period, charge.tick_period)) for item in self.released])
        return total + seldom + released + Fraction(tick, charge.tick_period)

    def _reschedule_interrupt_utilisation(self) -> Fraction:
        """Returns the utilisation by the interrupts from other cores: one for every release, at most one a tick."""
        every = Fraction(1, self.charges.tick_period)
        home = exact_utilisation([(1, task.period) for task in self.released if task.core == self.task.core])
        requested = exact_utilisation(
            [handler.long_run_load(self.charges.core_request) for handler in self.requesting]
            + [task.long_run_load(self.charges.core_request) for task in self.received]
        )
        completed = exact_utilisation(
            [handler.long_run_load(self.charges.remote_give) for handler in self.remote_gives]
        )
        return self.charges.core_request * min(home, every) + requested + completed

    def kernel_utilisation(self) -> Fraction:
        """Returns the share of this core that the kernel's work takes in the long run."""
        idle = [
            replace(other, wcet=other.masked + bus_contention_prolongation(other.masked, self.charges))
            for other in self.others
        ]
        handlers = [
            replace(handler, wcet=handler.wcet + bus_contention_prolongation(handler.wcet, self.charges))
            for handler in self.interrupts
        ]
        charges = replace(self.charges, bus_share=Fraction(0))
        task = replace(self.task, period=_NEVER)
        return replace(self, task=task, others=idle, interrupts=handlers, charges=charges).long_run_utilisation()

    def _job_start_and_end_costs(self, task: IntegerTimeTask) -> tuple[int, int]:
        """Returns the kernel's costs of a job's start and of its end."""
        charge = self.charges
        if task.is_timer:
            return charge.timer_start, charge.timer_end
        return (charge.start, charge.end) if task.is_tick_released else (charge.woken_start, charge.woken_end)
