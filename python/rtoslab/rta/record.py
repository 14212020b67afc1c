"""The record of a task set's run: jobs, the kernel's handlers, waits for its locks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rtoslab.rta.rows import InterruptLine, TaskRow
from rtoslab.rta.spins import DisjointCycleIntervals

IDLE: Final = -1
"""Stands for the idle task where an index of a task is stored."""
TICK_CORE: Final = 0
"""The core that handles the tick: the first one in all kernels here."""
_FIRST_LINE: Final = 16


@dataclass(slots=True)
class TaskJob:
    """One job of a task: its release, start and end, in cycles since reset.
    `release` is the tick at which its period begins.
    """

    task: int
    number: int
    release: int
    begin: int
    end: int
    path: tuple[int, ...] = ()
    """If several tasks release some task of the set: the tasks of the chain that led to the release of this job, from
    the first one to its own. Empty otherwise."""

    @property
    def response_time(self) -> int:
        """Returns the time from the job's release to its last instruction."""
        return self.end - self.release


@dataclass(slots=True)
class HandlerRun:
    """One execution of an exception handler: its first cycle, its return, and the tasks before and after it."""

    exception: int
    start: int
    entry_cycles: int
    task_before: int
    """Index of a task, or IDLE."""
    task_after: int
    end: int = 0
    released: int = 0
    """The number of jobs that this tick releases."""
    line: int = 0
    """The interrupt's line in the image, from 1 on. 0 for other exceptions."""
    due: int = 0
    """The cycle at which the tick was due."""
    core: int = 0
    is_requested_by_task: bool = False
    """Whether it is an exception that tasks raise themselves, to call the kernel or to have it switch."""

    @property
    def is_reschedule_interrupt(self) -> bool:
        """Whether it handles the interrupt by which another core makes this one choose its task again. All other
        interrupts have a line.
        """
        return self.exception >= _FIRST_LINE and not self.line


@dataclass(frozen=True, slots=True)
class JobWorkSegmentTimes:
    """A part of a job's work, from its first instruction to its last one, whatever interrupted it."""

    core: int
    task: int
    begin: int
    end: int
    is_masked: bool
    """Whether its task masks interrupts meanwhile. On several cores it then holds the kernel's locks."""


@dataclass(slots=True)
class TaskSetTrace:
    """The record of a task set's run: jobs, handlers and waits for locks, in the order of time."""

    rows: Sequence[TaskRow]
    lines: Sequence[InterruptLine]
    tick_cycles: int
    origin: int
    """The cycle of the tick that the first releases belong to."""
    jobs: list[TaskJob] = field(default_factory=list)
    """The jobs that ended, in the order of their ends."""
    handlers: list[HandlerRun] = field(default_factory=list)
    unfinished: list[TaskJob] = field(default_factory=list)
    """The jobs that were released and had not ended with the run. Their `end` is the run's end."""
    end: int = 0
    lock_waits: tuple[DisjointCycleIntervals, ...] = (DisjointCycleIntervals(),)
    """For each core, the spans in which it waited for the kernel's locks."""
    core: int | None = None
    """The only core that the trace shows. None: it shows all."""
    sent: list[tuple[int, int]] = field(default_factory=list)
    """The cycle at which a call that releases another task returned, and the index of the task that called."""
    kernels: tuple[TaskSetTrace, ...] = ()
    """The trace of each core, with the indices of its own tasks, if each core runs a kernel of its own."""
    parts: list[JobWorkSegmentTimes] = field(default_factory=list)
    """The parts of jobs whose work has several."""
    gives: list[HandlerRun] = field(default_factory=list)
    """The handlers that release a task, whichever core is shown. Empty on one core."""
    ticks: list[HandlerRun] = field(default_factory=list)
    """The runs of the tick's handler, whichever core is shown."""

    def trace_of_core(self, core: int) -> TaskSetTrace:
        """Returns the part of the trace that belongs to one core."""
        if len(self.lock_waits) == 1:
            return self
        home = [row.core for row in self.rows]
        giving = {row.line for row in self.rows if row.line}
        return replace(
            self,
            sent=[(cycle, task) for cycle, task in self.sent if home[task] == core],
            parts=[part for part in self.parts if part.core == core],
            gives=[handler for handler in self.handlers if handler.line in giving],
            jobs=[job for job in self.jobs if home[job.task] == core],
            handlers=[handler for handler in self.handlers if handler.core == core],
            unfinished=[item for item in self.unfinished if home[item.task] == core],
            core=core,
        )

    def job_arrival_cycle(self, task: int, number: int) -> int | None:
        """Returns the cycle at which a job of a task arrives. None for a job whose interrupt is never raised.
        The job of a task that another one releases arrives with the job that begins the chain.
        """
        first = self.first_sender_of_chain(task)
        row = self.rows[first]
        if row.line:
            arrivals = self.lines[row.line - 1].arrivals
            return self.origin + arrivals[number] if number < len(arrivals) else None
        return self.origin + row.job_arrival_and_release_ticks(number)[0] * self.tick_cycles

    def index_of_task_that_executes_jobs(self, task: int) -> int:
        """Returns the index of the task that executes a task's jobs: of all timers, that of the first timer."""
        if not self.rows[task].is_timer:
            return task
        return next(at for at, row in enumerate(self.rows) if row.is_timer)

    @property
    def has_several_senders(self) -> bool:
        """Whether several tasks release some task."""
        receivers = [receiver for row in self.rows for receiver in row.numbers_of_released_tasks]
        return len(set(receivers)) < len(receivers)

    def tasks_that_release_task(self, task: int) -> list[int]:
        """Returns the indices of the tasks that release a task."""
        return [at for at, row in enumerate(self.rows) if task + 1 in row.numbers_of_released_tasks]

    def return_cycles_of_release_calls(self, task: int) -> list[int]:
        """Returns the cycles at which the calls that release a task returned, in their order."""
        cycles = []
        for sender in self.tasks_that_release_task(task):
            receivers = self.rows[sender].numbers_of_released_tasks
            mine = [cycle for cycle, caller in self.sent if caller == sender]
            cycles += mine[receivers.index(task + 1) :: len(receivers)]
        return sorted(cycles)

    def first_sender_of_chain(self, task: int) -> int:
        """Returns the index of the first task of the chain of senders that ends with a task."""
        while True:
            sender = next((at for at, row in enumerate(self.rows) if task + 1 in row.numbers_of_released_tasks), None)
            if sender is None:
                return task
            task = sender

    def interrupt_response_times(self, line: int) -> list[int]:
        """Returns the response times of an interrupt in cycles: from each arrival to its handler's return."""
        if self.kernels:
            core = self.lines[line - 1].core
            number = sum(other.core == core for other in self.lines[:line])
            return self.kernels[core].interrupt_response_times(number)
        ends = (handler.end - self.origin for handler in self.handlers if handler.line == line)
        return [end - arrival for arrival, end in zip(self.lines[line - 1].arrivals, ends, strict=False)]
