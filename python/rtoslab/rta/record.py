"""The record of a task set's run: jobs, the kernel's handlers, waits for its locks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rtoslab.rta.firmware import Line, Row
from rtoslab.rta.spins import Spins

IDLE: Final = -1
"""In place of a task's index."""
TICK_CORE: Final = 0
"""Who handles the tick: all kernels here have the first core do it."""
_FIRST_LINE: Final = 16


@dataclass(slots=True)
class Job:
    """Cycles of the board's clock since reset. `release` is the tick at which its period begins."""

    task: int
    number: int
    release: int
    begin: int
    end: int

    @property
    def response(self) -> int:
        """Returns the time from its release to its last instruction."""
        return self.end - self.release


@dataclass(slots=True)
class Handler:
    """A run of one of the kernel's handlers. Its first cycle, its return, and what ran before and after it."""

    exception: int
    start: int
    entry: int
    before: int
    """Index of a task, or IDLE."""
    after: int
    end: int = 0
    released: int = 0
    """The jobs that the periods release at a tick."""
    line: int = 0
    """From 1 on: it is the interrupt of this line."""
    due: int = 0
    """The time in cycles at which a tick was due."""
    core: int = 0
    requested: bool = False
    """An exception that tasks raise themselves to call the kernel, or to have it switch."""

    @property
    def yields(self) -> bool:
        """It is the interrupt by which another core has this one look for who is to run: there is no other without
        lines."""
        return self.exception >= _FIRST_LINE and not self.line


@dataclass(slots=True)
class Trace:
    """The trace of a run in the order of time, from the first release on."""

    rows: Sequence[Row]
    lines: Sequence[Line]
    tick_cycles: int
    origin: int
    """The tick that the first releases belong to."""
    jobs: list[Job] = field(default_factory=list)
    """That ended, in the order in which they did."""
    handlers: list[Handler] = field(default_factory=list)
    unfinished: list[Job] = field(default_factory=list)
    """Released but not done as the run ended. `end` is the run's end."""
    end: int = 0
    spins: tuple[Spins, ...] = (Spins(),)
    """Core by core, its waits for the kernel's locks."""
    core: int | None = None
    """It shows this core alone. None: all."""
    ticks: list[Handler] = field(default_factory=list)
    """The tick's handler, whichever core is shown."""

    def of_core(self, core: int) -> Trace:
        """Returns what happened on one core."""
        if len(self.spins) == 1:
            return self
        home = [row.core for row in self.rows]
        return replace(
            self,
            jobs=[job for job in self.jobs if home[job.task] == core],
            handlers=[handler for handler in self.handlers if handler.core == core],
            unfinished=[item for item in self.unfinished if home[item.task] == core],
            core=core,
        )

    def response_times(self, line: int) -> list[int]:
        """Returns the handler times of an interrupt's line, from 1 on: from each arrival to its handler's return, in
        cycles."""
        ends = (handler.end - self.origin for handler in self.handlers if handler.line == line)
        return [end - arrival for arrival, end in zip(self.lines[line - 1].arrivals, ends, strict=False)]
