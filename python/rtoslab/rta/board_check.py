"""Runs a task set on the virtual board from its critical instant on, and compares every job's response with the
bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from statistics import median
from typing import Final

from rtoslab.rta.arrange import image_task_rows, virtual_interrupt_lines
from rtoslab.rta.bounds import ResponseTimeAnalysis
from rtoslab.rta.entries import CycleLedger, TaskInterruption
from rtoslab.rta.firmware import TaskSetFirmware
from rtoslab.rta.ledger import make_cycle_ledger
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.prices import KernelOverheadExcess, ledger_entries_above_modelled_overhead
from rtoslab.rta.record import TaskSetTrace
from rtoslab.rta.responses import ObservedResponseTimes, observed_response_times
from rtoslab.rta.system import IntegerTimeTaskSet
from rtoslab.rta.trace import require_no_lost_interrupt, run_task_set
from rtoslab.rta.work import BusyWork

DEFAULT_TICKS: Final = 2_000
"""The most ticks of a run, unless the caller asks for more."""
LEAST_TICKS: Final = 200
"""The fewest ticks of a run, however short the hyperperiod."""


@dataclass(frozen=True, slots=True)
class ObservedTask:
    """The observed response times of one task, in units of the system."""

    name: str
    deadline: int
    observation: ObservedResponseTimes
    misses: int
    """Jobs that ended after their deadline, or had not ended by then as the run ended."""
    job_work: int
    """The undisturbed execution time of a job."""

    @property
    def response_times(self) -> tuple[int, ...]:
        """Returns the response times of the jobs that ended, in their order."""
        return self.observation.ended

    @property
    def job_count(self) -> int:
        """Returns the number of jobs that were released and observed, ended or not."""
        return len(self.observation.ended) + len(self.observation.unfinished)

    @property
    def longest_response(self) -> int:
        """Returns the longest response time. 0 if no job ended."""
        return max(self.response_times, default=0)

    @property
    def median_response(self) -> float:
        """Returns the median response time. 0 if no job ended."""
        return float(median(self.response_times)) if self.response_times else 0.0


@dataclass(frozen=True, slots=True)
class TaskSetBoardCheck:
    """The result of a task set's run on a board: response times, trace and ledger of cycles."""

    tasks: tuple[ObservedTask, ...]
    interrupts: tuple[ObservedTask, ...]
    trace: TaskSetTrace
    ledger: CycleLedger
    ticks: int
    hyperperiod_ticks: int
    notes: tuple[str, ...]

    @property
    def job_count(self) -> int:
        """Returns the number of jobs that were released, ended or not."""
        return sum(task.job_count for task in self.tasks)

    @property
    def missed_deadlines(self) -> int:
        """Returns the number of missed deadlines of all tasks and interrupts."""
        return sum(task.misses for task in (*self.tasks, *self.interrupts))

    @property
    def tick_interruptions_of_work_or_idle(self) -> list[TaskInterruption]:
        """Returns the ticks that interrupted only a job's work or an idle core.
        Their cycles include the switch to a released task.
        """
        candidates = (
            interruption
            for interruption in self.ledger.interruptions
            if interruption.ticks == 1 and not interruption.meets_kernel
        )
        return [item for item in candidates if not item.interrupts.count]

    def kernel_entries_above_charge(self, overheads: KernelOverheads) -> list[KernelOverheadExcess]:
        """Returns the kernel's activities that took longer than the overheads charge, the worst first.
        Bounds from such overheads cannot be trusted.
        """
        return ledger_entries_above_modelled_overhead(self.ledger, overheads, len(self.tasks))

    def tasks_over_bound(self, analysis: ResponseTimeAnalysis) -> list[str]:
        """Returns the names of the tasks with a job, ended or not, that took longer than its bound."""
        seen = (task.observation for task in (*self.tasks, *self.interrupts))
        return [
            observation.name
            for observation in seen
            if observation.has_response_time_above_bound(analysis.find_response_bound(observation.name).response)
        ]

    def ratio_of_bound_to_response(self, analysis: ResponseTimeAnalysis) -> dict[str, float]:
        """Returns the bound divided by the longest observed response, for each task that has both."""
        pairs = ((task, analysis.find_response_bound(task.name).response) for task in (*self.tasks, *self.interrupts))
        return {
            pair.name: bound / pair.longest_response
            for pair, bound in pairs
            if bound is not None and pair.longest_response
        }


def run_and_check_task_set(
    system: IntegerTimeTaskSet, firmware: TaskSetFirmware, work: BusyWork, ticks: int | None = None
) -> TaskSetBoardCheck:
    """Runs a task set on the virtual board from the critical instant on, and records its response times.
    By default this is the hyperperiod, within LEAST_TICKS and DEFAULT_TICKS.

    An overloaded set misses deadlines only after many jobs, so a short hyperperiod is run several times. Raises
    TaskSetCheckError if the set cannot be run.
    """
    rows = image_task_rows(system, firmware, work)
    tick = firmware.tick_cycles * system.units_per_cycle
    hyperperiod = lcm(*(item.period_ticks for item in rows))
    span = ticks or min(DEFAULT_TICKS, hyperperiod * -(-LEAST_TICKS // hyperperiod))
    # Whatever is released within the span may end. The rest of the last jobs is let run for a deadline or two.
    longest = min(max(-(-item.deadline // tick) for item in system.tasks), DEFAULT_TICKS)
    lines = virtual_interrupt_lines(system, firmware, work, span)
    trace = run_task_set(firmware, rows, span + longest, lines)
    require_no_lost_interrupt(trace)
    last = trace.origin + (span + max(item.offset_ticks for item in rows)) * firmware.tick_cycles
    observations = list(observed_response_times(system, trace, last))
    row_of = dict(zip(system.task_names, rows, strict=True))
    tasks = [
        ObservedTask(
            one.name,
            task.deadline,
            one,
            _count_missed_deadlines(one, task.deadline),
            work.job_cycles_of_task(row_of[task.task_name]) * system.units_per_cycle,
        )
        for one, task in zip(observations, system.tasks, strict=False)
    ]
    handlers = (interrupt for interrupt in system.interrupts if not interrupt.implied)
    interrupts = [
        ObservedTask(one.name, item.deadline, one, _count_missed_deadlines(one, item.deadline), item.wcet)
        for one, item in zip(observations[len(system.tasks) :], handlers, strict=True)
    ]
    ledger = make_cycle_ledger([trace], work)
    return TaskSetBoardCheck(
        tuple(tasks),
        tuple(interrupts),
        trace,
        ledger,
        span,
        hyperperiod,
        tuple(_task_set_run_notes(system, firmware, tasks)),
    )


def _count_missed_deadlines(observation: ObservedResponseTimes, deadline: int) -> int:
    """Returns the number of responses beyond the deadline."""
    return sum(job > deadline for job in (*observation.ended, *observation.unfinished))


def _task_set_run_notes(
    system: IntegerTimeTaskSet, firmware: TaskSetFirmware, observations: list[ObservedTask]
) -> list[str]:
    """Returns notes on what the run of a task set does not show."""
    notes = []
    tick = firmware.tick_cycles * system.units_per_cycle
    for task in system.tasks:
        late = task.jitter // tick if firmware.supports_task_releases else 0
        if task.is_tick_released and task.jitter > late * tick:
            jitter_us, late_us = (system.to_microseconds(time) for time in (task.jitter, late * tick))
            notes.append(
                f"The image releases {task.name} up to {late_us:,.1f} us late, not {jitter_us:,.1f} us, because the "
                "tick releases it."
            )
    short = [
        f"{one.name} by {float(Fraction(one.wcet - pair.job_work, system.units_per_cycle)):g}"
        for one, pair in zip(system.tasks, observations, strict=True)
        if one.wcet != pair.job_work
    ]
    if short:
        notes.append(
            f"The generated work cannot last exactly the WCET on this board. It is shorter: {', '.join(short)} cycles."
        )
    return notes
