"""Entries of the ledger: chains of handlers, spans of a task's own time, and their causes. All times are in cycles."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rtoslab.rta.record import IDLE, HandlerRun
from rtoslab.targets import SYSTICK


class JobPhase(StrEnum):
    """The phases of a task: asleep, starting a job, working, releasing another task, ending the job."""

    ASLEEP = "asleep"
    STARTING = "start"
    """The kernel has switched to it, and its job's work has not begun."""
    WORKING = "work"
    SENDING = "send"
    """Its job's work has ended, and the call that releases another task has not returned."""
    ENDING = "end"
    """Its job's work has ended, and it does not sleep yet."""


@dataclass(frozen=True, slots=True)
class HandlerChainInterruptSet:
    """The interrupts in one sequence of handlers."""

    count: int = 0
    gives: int = 0
    """The number of handlers that give a semaphore."""
    work_cycles: int = 0
    """The work of their handlers, in cycles."""
    begins_chain: bool = False
    """Whether the chain began with one of them."""

    @property
    def chained_interrupt_entry_count(self) -> int:
        """Returns the number of interrupt entries in the sequence after the first handler's."""
        return self.count - self.begins_chain


@dataclass(slots=True)
class HandlerChain:
    """A sequence of exception handlers that follow each other without a return to a task."""

    handlers: list[HandlerRun]
    released: int = 0
    """Jobs that its ticks release."""
    interrupts: HandlerChainInterruptSet = HandlerChainInterruptSet()
    """The interrupts in it, including those that interrupt its handlers."""
    lock_wait_cycles: int = 0
    """Cycles spent waiting for the kernel's locks."""

    @property
    def start_cycle(self) -> int:
        """Returns the first cycle of the sequence's first handler.
        An event before it belongs to the interrupted code.
        """
        return self.handlers[0].start

    @property
    def end_cycle(self) -> int:
        """Returns the cycle at which the sequence's last handler returned."""
        return self.handlers[-1].end

    @property
    def total_cycles(self) -> int:
        """Returns the cycles from the first handler's first cycle to the last return, without waits for locks."""
        return self.end_cycle - self.start_cycle - self.lock_wait_cycles

    @property
    def task_before(self) -> int:
        """Returns the index of the interrupted task, or IDLE."""
        return self.handlers[0].task_before

    @property
    def task_after(self) -> int:
        """Returns the index of the task that runs afterwards, or IDLE."""
        return self.handlers[-1].task_after

    @property
    def kernel_tick_count(self) -> int:
        """Returns the number of kernel ticks that the sequence handled."""
        return sum(handler.exception == SYSTICK for handler in self.handlers)

    @property
    def reschedule_interrupt_count(self) -> int:
        """Returns the number of interrupts by which another core made this one choose its task again."""
        return sum(handler.is_reschedule_interrupt for handler in self.handlers)

    @property
    def task_switch_count(self) -> int:
        """Returns the number of task switches in the sequence."""
        return sum(handler.task_before != handler.task_after for handler in self.handlers)

    @property
    def is_requested_by_task(self) -> bool:
        """Whether the interrupted task itself asked for the handlers, by a kernel call."""
        for handler in self.handlers:
            if not handler.is_requested_by_task:
                return False
            if handler.task_before != handler.task_after:
                return True
        return True


@dataclass(slots=True)
class CycleLedgerEntry:
    """One entry of a ledger: kernel cycles with one cause."""

    ended_at: int
    """The cycle since reset at which it ended."""
    cycles: int


@dataclass(slots=True)
class TaskInterruption(CycleLedgerEntry):
    """A sequence of handlers that interrupted a task which did not ask for it."""

    ticks: int = 0
    released: int = 0
    switches: int = 0
    among_equals: bool = False
    """Whether its only switch is a time slice: between equals, neither of them just released."""
    meets_kernel: bool = False
    """Whether the kernel was at work: a task was starting or ending a job, or had asked for a switch at the same
    time."""
    interrupts: HandlerChainInterruptSet = HandlerChainInterruptSet()
    core_requests: int = 0
    """The number of interrupts from another core."""


@dataclass(slots=True)
class JobPhaseExecution(CycleLedgerEntry):
    """The cycles that a task itself executes in one phase of its job. `cycles` grows while it runs."""

    task: int = IDLE
    running_since: int = 0
    is_woken: bool = False
    """Whether an interrupt or another task releases the task's jobs, not the tick."""
    is_timer: bool = False
    """Whether the job is a timer's function, in the kernel's timer task."""
    kernel_calls: int = 0
    """The number of kernel calls during the job's work."""
    waits_across_cores: bool = False
    """Whether the job uses a resource that tasks of other cores use too."""
    handovers: int = 0
    """The number of switches by its own calls during its work: at a held lock, or an unlock that another task waited
    for. In a call that releases another task: the switches to that one."""
    interruptions: list[TaskInterruption] = field(default_factory=list)
    compensated_ticks: list[int] = field(default_factory=list)
    """For each tick that another core handled meanwhile, and that may be handled again here: the jobs that it
    released."""
    remote_gives: int = 0
    """The number of releases by other cores' interrupts meanwhile, which may be completed here."""


@dataclass(slots=True)
class JobEnd(CycleLedgerEntry):
    """The end of a job: from its last instruction to the next task, with the handlers that switch."""

    span: JobPhaseExecution
    chain: HandlerChain
    priority_distance: int
    """The difference of the two priorities. 0 for a task that is as urgent or more."""
    to_idle: bool
    task_count: int
    """The number of tasks in the set."""


@dataclass(slots=True)
class LockHandover(TaskInterruption):
    """A task switch that a task's own call caused during its work, or as it released another task. On several cores it
    also stands for a handler that a call caused and that chose the same task again."""

    @property
    def is_task_switch_without_other_events(self) -> bool:
        """Whether nothing but this switch happened: no further one, no tick, and no interrupt."""
        return self.switches == 1 and not self.ticks and not self.core_requests and not self.interrupts.count


@dataclass(slots=True)
class ReleaseToStartDelay(CycleLedgerEntry):
    """The time from a job's release to its first cycle, if nothing as urgent ran in between."""

    released: int
    interrupts: HandlerChainInterruptSet = HandlerChainInterruptSet()
    """The interrupt that released it. None: the tick did."""
    by_other_core: bool = False
    """Whether another core handled the tick."""


@dataclass(slots=True)
class LockWait(CycleLedgerEntry):
    """A wait for a kernel lock that another core held."""

    without_holder: int = 0
    """The part of it during which no other core was in the kernel, so that none can have held the lock."""


@dataclass
class CycleLedger:
    """All kernel cycles of some runs, as entries by cause."""

    interruptions: list[TaskInterruption] = field(default_factory=list)
    starts: list[JobPhaseExecution] = field(default_factory=list)
    sends: list[JobPhaseExecution] = field(default_factory=list)
    """The calls with which jobs release other tasks."""
    send_switches: list[LockHandover] = field(default_factory=list)
    """The switches in these calls."""
    works: list[tuple[JobPhaseExecution, int]] = field(default_factory=list)
    """Each with the cycles that the undisturbed work takes."""
    job_ends: list[JobEnd] = field(default_factory=list)
    restarts: list[JobPhaseExecution] = field(default_factory=list)
    """From the end of a job to the beginning of the task's next one, where that was due already and no switch came in
    between."""
    waits: list[ReleaseToStartDelay] = field(default_factory=list)
    handovers: list[LockHandover] = field(default_factory=list)
    lock_waits: list[LockWait] = field(default_factory=list)
    tick_entries: list[int] = field(default_factory=list)
    """The time from each tick to its handler, where it interrupted work or an idle core."""
    tick_delays: list[int] = field(default_factory=list)
    """The time from each tick to its handler, where the kernel was at work."""
    switch_handlers: dict[str, list[int]] = field(default_factory=dict)
    """The durations of the handler that switches, by kind: up, from_idle."""
    equals_rotate: bool = False
    """Whether a tick switched from a task to its equal, neither of them just released."""
    preempted_goes_behind: bool = False
    """Whether a preempted task waited for an equal that became ready after it."""
