"""One run of a task set on the virtual board, observed without touching it: jobs, and the kernel's handlers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from rtoslab.errors import CheckError
from rtoslab.rta.firmware import IDENT_BEGIN, IDENT_END, Firmware, Row, start
from rtoslab.run.handlers import PENDSV, SVCALL, SYSTICK
from rtoslab.run.observe import EVENT, IDENT_CURRENT

_EXEC, _WRITE, _ENTER, _EXIT = 1, 2, 3, 4
_LEAD_TICKS: Final = 8
"""From the window's begin to the first release, at most."""
IDLE: Final = -1
"""In place of a task's index."""


@dataclass(slots=True)
class Job:
    """Cycles of the board's clock since reset; `release` is the tick at which its period begins."""

    task: int
    number: int
    release: int
    begin: int
    end: int

    @property
    def response(self) -> int:
        """From its release to its last instruction."""
        return self.end - self.release


@dataclass(slots=True)
class Handler:
    """A run of one of the kernel's handlers; its first cycle, its return, and what ran before and after it."""

    exception: int
    start: int
    entry: int
    before: int
    """Index of a task, or IDLE."""
    after: int
    end: int = 0
    released: int = 0
    """Of a tick: jobs that the periods release at it."""
    due: int = 0
    """Of a tick: when it was due, in cycles."""


@dataclass(slots=True)
class Trace:
    """In the order of time, from the first release on."""

    rows: Sequence[Row]
    tick_cycles: int
    origin: int
    """The tick that the first releases belong to."""
    jobs: list[Job] = field(default_factory=list)
    """That ended, in the order in which they did."""
    handlers: list[Handler] = field(default_factory=list)
    unfinished: list[Job] = field(default_factory=list)
    """Released but not done as the run ended; `end` is the run's end."""
    end: int = 0

    @property
    def ticks(self) -> list[Handler]:
        """The tick's handler."""
        return [each for each in self.handlers if each.exception == SYSTICK]

    @property
    def switches(self) -> list[Handler]:
        """What changed the running task."""
        return [each for each in self.handlers if each.exception != SYSTICK and each.before != each.after]


def run(firmware: Firmware, rows: Sequence[Row], ticks: int) -> Trace:
    """Runs the task set for so many ticks after the first release. Raises CheckError if it does not run."""
    machine = start(firmware.image(rows), firmware.board, firmware.kernel)
    machine.trace_exceptions(True)
    chunks = []
    left = (ticks + _LEAD_TICKS + max(each.offset_ticks for each in rows)) * firmware.tick_cycles
    while left > 0:
        stop = machine.run(min(left, 20_000_000))
        left -= 20_000_000
        chunks.append(np.frombuffer(machine.take_events(), dtype=EVENT))
        if stop["reason"] != "cycles":
            raise CheckError(f"The virtual board stopped before the end of the check: {stop['detail']}")
    events = np.concatenate(chunks)
    return read(events[np.argsort(events["cycle"], kind="stable")], rows, firmware.tick_cycles, machine.cycle())


def read(events: npt.NDArray[np.void], rows: Sequence[Row], tick_cycles: int, end: int) -> Trace:
    """Makes a trace of events in the order of time. Raises CheckError where they are not those of these rows."""
    names = _names(events)
    phase = _phase(events, tick_cycles)
    begins = events[(events["kind"] == _EXEC) & (events["id"] == IDENT_BEGIN)]
    if len(begins) == 0:
        raise CheckError("No job of the task set began; are its tasks more than the processor can start?")
    first = (int(begins["cycle"][0]) - phase) // tick_cycles - min(each.offset_ticks for each in rows)
    trace = Trace(rows, tick_cycles, phase + first * tick_cycles, end=end)
    _Reader(trace, names).read(events)
    return trace


def _names(events: npt.NDArray[np.void]) -> dict[int, int]:
    """Control block -> index of the task, from who is current as a job begins."""
    names: dict[int, int] = {}
    current = 0
    wanted = ((events["kind"] == _WRITE) & (events["id"] == IDENT_CURRENT)) | (
        (events["kind"] == _EXEC) & (events["id"] == IDENT_BEGIN)
    )
    for kind, value in zip(events["kind"][wanted].tolist(), events["value"][wanted].tolist(), strict=True):
        if kind == _WRITE:
            current = value
        else:
            names[current] = value
    return names


def _phase(events: npt.NDArray[np.void], tick_cycles: int) -> int:
    """A cycle at which the tick was due: the earliest at which any was recognised, seen within its period."""
    ticks = events[(events["kind"] == _ENTER) & (events["id"] == SYSTICK)]
    if len(ticks) == 0:
        raise CheckError("The image took no tick; is its SysTick running?")
    due = ticks["cycle"].astype(np.int64) - ticks["value"].astype(np.int64)
    first = int(due[0])
    half = tick_cycles // 2
    return first + int((((due - first + half) % tick_cycles) - half).min())


class _Reader:
    def __init__(self, trace: Trace, names: dict[int, int]) -> None:
        self.trace = trace
        self.names = names
        self.current = IDLE
        self.open: list[Handler] = []
        self.running: dict[int, int] = {}  # task -> begin of its job
        self.done = [0] * len(trace.rows)

    def read(self, events: npt.NDArray[np.void]) -> None:
        columns = (events[name].tolist() for name in ("cycle", "value", "id", "kind"))
        for cycle, value, ident, kind in zip(*columns, strict=True):
            if kind == _ENTER:
                self._enter(cycle, value, ident)
            elif kind == _EXIT:
                self._exit(cycle, ident)
            elif kind == _WRITE and ident == IDENT_CURRENT:
                self.current = self.names.get(value, IDLE)
            elif kind == _EXEC and ident == IDENT_BEGIN:
                self.running[value] = cycle
            elif kind == _EXEC and ident == IDENT_END:
                self._end(cycle, value)
        self._unfinished()

    def _enter(self, cycle: int, entry: int, exception: int) -> None:
        self.open.append(Handler(exception, cycle, entry, self.current, self.current))

    def _exit(self, cycle: int, exception: int) -> None:
        if not self.open:
            return
        # Where one handler follows another without a return between, the next entry may be told before the return.
        at = next((at for at, each in enumerate(self.open) if each.exception == exception), None)
        if at is None:
            return
        done = self.open.pop(at)
        done.end, done.after = cycle, self.current
        trace = self.trace
        if done.start < trace.origin or exception not in {SVCALL, PENDSV, SYSTICK}:
            return
        if exception == SYSTICK:
            tick = (done.start - done.entry - trace.origin + trace.tick_cycles // 2) // trace.tick_cycles
            done.due = trace.origin + tick * trace.tick_cycles
            done.released = sum(
                tick >= each.offset_ticks and (tick - each.offset_ticks) % each.period_ticks == 0 for each in trace.rows
            )
        trace.handlers.append(done)

    def _end(self, cycle: int, task: int) -> None:
        if task not in self.running:
            raise CheckError(f"A job of task {task} ended that had not begun; the image is not the one that was built.")
        job = self._job(task, self.running.pop(task), cycle)
        self.done[task] += 1
        if job.begin < job.release:
            raise CheckError(f"Job {job.number} of task {task} began before its period; the check cannot be trusted.")
        self.trace.jobs.append(job)

    def _job(self, task: int, begin: int, end: int) -> Job:
        row, trace = self.trace.rows[task], self.trace
        number = self.done[task]
        release = trace.origin + (row.offset_ticks + number * row.period_ticks) * trace.tick_cycles
        return Job(task, number, release, begin, end)

    def _unfinished(self) -> None:
        for task in range(len(self.trace.rows)):
            job = self._job(task, self.running.get(task, 0), self.trace.end)
            if job.release < job.end:
                self.trace.unfinished.append(job)
