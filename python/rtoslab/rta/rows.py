"""The tables of the image that runs task sets: its tasks with the parts of their work, and its interrupts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

LATE_JOBS: Final = 8
"""The number of jobs after which the image repeats how late the tick releases a task."""


class WorkSegmentProtection(IntEnum):
    """How a part of a job's work is protected: not at all, by a mutex, by a raised priority or by masked interrupts.
    The numbers are those of the image.
    """

    PLAIN = 0
    LOCKED = 1
    RAISED = 2
    MASKED = 3


class TaskReleaseObjectKind(IntEnum):
    """The objects by which a task releases another one. The numbers are those of the image."""

    NONE = 0
    SEMAPHORE = 1
    MESSAGE = 2
    NOTIFICATION = 3


@dataclass(frozen=True, slots=True)
class JobWorkSegment:
    """A part of a job's work, in rounds of the work loop and extra instructions.
    `argument`: the mutex's number if LOCKED, the image's priority if RAISED.
    """

    rounds: int
    extra: int
    protection: WorkSegmentProtection = WorkSegmentProtection.PLAIN
    argument: int = 0


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task in the image's task table: period, first release, work and priority.

    If it has parts, they are its work. If it has a line (from 1 on), the interrupt of this line releases it, and
    `period_ticks` is any number but 0.
    """

    period_ticks: int
    offset_ticks: int
    rounds: int
    extra: int
    priority: int
    line: int = 0
    parts: tuple[JobWorkSegment, ...] = ()
    core: int = 0
    receiver: int = 0
    """The task that its jobs release at their ends, counted from 1. 0: none."""
    further_receivers: tuple[int, ...] = ()
    """The tasks that its jobs release after that one, counted from 1."""
    receiver_carrier: TaskReleaseObjectKind = TaskReleaseObjectKind.NONE
    carrier: TaskReleaseObjectKind = TaskReleaseObjectKind.NONE
    """How another task releases it. NONE: the tick or an interrupt does."""
    late_ticks: tuple[int, ...] = ()
    """How many ticks after its arrival the tick releases a job, by the job's number modulo LATE_JOBS. Empty: none."""
    is_timer: bool = False
    """Whether it is a timer of the kernel. `offset_ticks` is then the tick on which it first expires."""

    @property
    def numbers_of_released_tasks(self) -> tuple[int, ...]:
        """Returns the tasks that its jobs release at their ends, in this order, counted from 1."""
        return (self.receiver, *self.further_receivers) if self.receiver else ()

    @property
    def is_tick_released(self) -> bool:
        """Whether the kernel's tick releases its jobs."""
        return not self.line and self.carrier is TaskReleaseObjectKind.NONE

    def job_arrival_and_release_ticks(self, number: int) -> tuple[int, int]:
        """Returns the ticks of the arrival and of the release of a job, counted from the first releases of the set."""
        late = self.late_ticks or (0,)
        arrival = self.offset_ticks - late[0] + number * self.period_ticks
        return arrival, arrival + late[number % len(late)]

    def last_released_job(self, tick: int) -> int:
        """Returns the number of the last job that was released at this tick or before. -1 if none was."""
        late = self.late_ticks or (0,)
        number = (tick - self.offset_ticks + late[0]) // self.period_ticks
        return number if number < 0 or self.job_arrival_and_release_ticks(number)[1] <= tick else number - 1

    def is_job_released_at_tick(self, tick: int) -> bool:
        """Whether the tick with this number releases a job."""
        number = self.last_released_job(tick)
        return self.is_tick_released and number >= 0 and self.job_arrival_and_release_ticks(number)[1] == tick

    @property
    def kernel_calls_per_job(self) -> int:
        """Returns the number of kernel calls in a job's work: before and after each protected part."""
        return 2 * sum(part.protection is not WorkSegmentProtection.PLAIN for part in self.parts)


@dataclass(frozen=True, slots=True)
class InterruptLine:
    """An interrupt that the virtual board raises in a run: its handler's work and its times."""

    rounds: int = 0
    extra: int = 0
    raised: tuple[int, ...] = ()
    """The cycles of its raisings, counted from the tick of the first releases."""
    arrivals: tuple[int, ...] = ()
    """The arrivals that the raisings stand for, none after its raising."""
    core: int = 0
    """The core that handles it."""
