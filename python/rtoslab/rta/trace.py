"""One run of a task set on the virtual board, observed without touching it: jobs, and the kernel's handlers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt

from rtoslab.base import CheckError, count_text
from rtoslab.rta.firmware import IDENT_BEGIN, IDENT_END, IDENT_LINE, Firmware, Line, Row, start
from rtoslab.rta.record import IDLE, Handler, Job, Trace
from rtoslab.rta.spins import BUSY, TAKEN, Spins, spins_of
from rtoslab.rta.stack_check import overrun_stacks, stack_ends
from rtoslab.targets import (
    EVENT,
    IDENT_CURRENT,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_WRITE,
    PENDSV,
    SVCALL,
    SYSTICK,
    HandlerIdleFilter,
    VirtualMachine,
    switching_exceptions,
)

if TYPE_CHECKING:
    from rtoslab.instruments import ObservedMachine

_EARLY: Final = 64
"""Cycles by which a tick may be recognised before another one's phase: how often the core looks."""
_LEAD_TICKS: Final = 8
"""From the window's begin to the first release, at most."""


def run(firmware: Firmware, rows: Sequence[Row], ticks: int, lines: Sequence[Line] = ()) -> Trace:
    """Runs the task set for so many ticks after the first release. Raises CheckError if it does not run.

    If lines are raised, the first release must be known before: the same image is run until then first."""
    image = firmware.image(rows, lines)
    lead = _LEAD_TICKS + max((row.offset_ticks for row in rows if not row.line), default=0)
    origin = None
    if lines:
        events, _ = _events(firmware, image, lead + 1)
        origin = _origin(events, rows, firmware.tick_cycles)
    events, end = _events(firmware, image, ticks + lead, lines, origin or 0)
    exceptions = (switching_exceptions(firmware.kernel) | {SVCALL}) - {SYSTICK}
    try:
        trace = read(events, rows, firmware.tick_cycles, end, lines, firmware.lines, origin, firmware.cores, exceptions)
    except CheckError as cause:
        _require_stacks(firmware, image, events, ticks + lead, lines, origin or 0, cause)
        raise
    for at, line in enumerate(lines, 1):
        taken = sum(handler.line == at for handler in trace.handlers)
        if taken < sum(trace.origin + cycle < end - firmware.tick_cycles for cycle in line.raised):
            raise CheckError("An interrupt was raised while it was pending, and lost; it waited for its whole period.")
    return trace


def _require_stacks(
    firmware: Firmware,
    image: bytes,
    events: npt.NDArray[np.void],
    ticks: int,
    lines: Sequence[Line],
    origin: int,
    cause: CheckError,
) -> None:
    """Raises CheckError if a stack that is full explains it. The same run again shows it, so no other has to wait."""
    is_current = (events["id"] >= IDENT_CURRENT) & (events["id"] < IDENT_CURRENT + firmware.cores)
    written = events["value"][(events["kind"] == KIND_WRITE) & is_current]
    blocks = {int(value) for value in np.unique(written)} - {0}
    machine = start(image, firmware.board, firmware.kernel, firmware.cores)
    before = stack_ends(machine, firmware, blocks)
    _events(firmware, image, ticks, lines, origin, machine)
    if many := overrun_stacks(before, stack_ends(machine, firmware, blocks)):
        raise CheckError(
            f"The run does not do what its tasks say, and {count_text(many, 'stack')} ran full: this "
            "configuration needs more stack than the image gives a task; choose another, such as --config opt=-O2."
        ) from cause


def _events(
    firmware: Firmware,
    image: bytes,
    ticks: int,
    lines: Sequence[Line] = (),
    origin: int = 0,
    machine: VirtualMachine | None = None,
) -> tuple[npt.NDArray[np.void], int]:
    """Returns what happened in so many ticks from the window's begin on, in the order of time, and the cycle of the
    end.

    `machine`: a board that is there already."""
    machine = machine or start(image, firmware.board, firmware.kernel, firmware.cores)
    machine.trace_exceptions(True)
    if firmware.cores > 1:
        cast("ObservedMachine", machine).observe(True, events=True)  # for the locks
    for number, line in zip(firmware.lines, lines, strict=False):
        for cycle in line.raised:
            machine.inject_exception(origin + cycle, number)
    chunks = []
    left = ticks * firmware.tick_cycles
    while left > 0:
        stop = machine.run(min(left, 20_000_000))
        left -= 20_000_000
        chunks.append(np.frombuffer(machine.take_events(), dtype=EVENT))
        if stop["reason"] != "cycles":
            raise CheckError(f"The virtual board stopped before the end of the check: {stop['detail']}")
    events = np.concatenate(chunks)
    in_order = HandlerIdleFilter().feed(events[np.argsort(events["cycle"], kind="stable")])
    return in_order, machine.cycle()


def _origin(events: npt.NDArray[np.void], rows: Sequence[Row], tick_cycles: int) -> int:
    """The tick of the first releases. Raises CheckError where none is seen.

    If the tick releases nobody, any tick at which all tasks wait will do: the last one seen."""
    phase = _phase(events, tick_cycles)
    by_tick = [at for at, item in enumerate(rows) if not item.line]
    if not by_tick:
        return phase + (int(events["cycle"][-1]) - phase) // tick_cycles * tick_cycles
    begins = events[(events["kind"] == KIND_EXEC) & (events["id"] == IDENT_BEGIN) & np.isin(events["value"], by_tick)]
    if len(begins) == 0:
        raise CheckError("No job of the task set began; are its tasks more than the processor can start?")
    first = (int(begins["cycle"][0]) - phase) // tick_cycles - min(rows[at].offset_ticks for at in by_tick)
    return phase + first * tick_cycles


def read(
    events: npt.NDArray[np.void],
    rows: Sequence[Row],
    tick_cycles: int,
    end: int,
    lines: Sequence[Line] = (),
    numbers: Sequence[int] = (),
    origin: int | None = None,
    cores: int = 1,
    exceptions: Collection[int] = frozenset({SVCALL, PENDSV}),
) -> Trace:
    """Makes a trace of events in order of time. `numbers`: the lines' exceptions. `exceptions`: those that tasks raise
    themselves. Raises CheckError where they are not those of these rows."""
    first = _origin(events, rows, tick_cycles) if origin is None else origin
    if cores == 1:
        trace = Trace(rows, lines, tick_cycles, first, end=end)
        _Reader(trace, _names(events, 0), numbers, 0, exceptions, chosen=_is_chosen(events, 0)).read(events)
        return trace
    trace = Trace(rows, lines, tick_cycles, first, end=end, spins=tuple(_spins(events, core) for core in range(cores)))
    for core in range(cores):
        mine = events[events["core"] == core]
        _Reader(trace, _names(events, core), numbers, core, exceptions, chosen=_is_chosen(mine, core)).read(mine)
    for handled in (trace.jobs, trace.handlers):
        handled.sort(key=lambda job: job.end)
    return trace


def _spins(events: npt.NDArray[np.void], core: int) -> Spins:
    mine = events[(events["core"] == core) & np.isin(events["kind"], (BUSY, TAKEN))]
    return spins_of(zip(*(mine[name].tolist() for name in ("cycle", "kind", "id")), strict=True))


def _names(events: npt.NDArray[np.void], core: int) -> dict[int, int]:
    """Control block -> index of the task, from who is current as a job begins."""
    names: dict[int, int] = {}
    current = 0
    selected = ((events["kind"] == KIND_WRITE) & (events["id"] == IDENT_CURRENT + core)) | (
        (events["kind"] == KIND_EXEC) & (events["id"] == IDENT_BEGIN) & (events["core"] == core)
    )
    for kind, value in zip(events["kind"][selected].tolist(), events["value"][selected].tolist(), strict=True):
        if kind == KIND_WRITE:
            current = value
        elif value < IDENT_LINE:
            names[current] = value
    return names


def _is_chosen(events: npt.NDArray[np.void], core: int) -> bool:
    """Whether the kernel names the task that it chose before the exception that changes to it: it writes in a task."""
    entries, exits = ((events["kind"] == kind).astype(np.int64) for kind in (KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT))
    writes = (events["kind"] == KIND_WRITE) & (events["id"] == IDENT_CURRENT + core)
    begun = np.cumsum((events["kind"] == KIND_EXEC) & (events["id"] == IDENT_BEGIN)) > 0
    return bool(np.any(writes & begun & (np.cumsum(entries - exits) <= 0)))


def _phase(events: npt.NDArray[np.void], tick_cycles: int) -> int:
    """A cycle at which the tick was due: the earliest at which any was recognised, seen within its period."""
    ticks = events[(events["kind"] == KIND_EXCEPTION_ENTER) & (events["id"] == SYSTICK)]
    if len(ticks) == 0:
        raise CheckError("The image took no tick; is its SysTick running?")
    due = ticks["cycle"].astype(np.int64) - ticks["value"].astype(np.int64)
    first = int(due[0])
    half = tick_cycles // 2
    return first + int((((due - first + half) % tick_cycles) - half).min())


class _Reader:
    def __init__(
        self,
        trace: Trace,
        names: dict[int, int],
        lines: Sequence[int],
        core: int,
        exceptions: Collection[int],
        *,
        chosen: bool,
    ) -> None:
        self.trace = trace
        self.core = core
        self.word = IDENT_CURRENT + core
        self.asked = exceptions
        self.lines = {exception: at for at, exception in enumerate(lines, 1) if trace.lines}
        self.names = names
        self.current = IDLE
        self.chosen = chosen
        self.named = IDLE  # by the kernel's word. Of one that writes what it chose, not running before the switch
        self.open: list[Handler] = []
        self.running: dict[int, int] = {}  # task -> begin of its job
        self.parts: dict[int, int] = {}  # task -> parts of its job that have begun
        self.done = [0] * len(trace.rows)

    def read(self, events: npt.NDArray[np.void]) -> None:
        columns = (events[name].tolist() for name in ("cycle", "value", "id", "kind"))
        for cycle, value, ident, kind in zip(*columns, strict=True):
            if kind == KIND_EXCEPTION_ENTER:
                self._enter(cycle, value, ident)
            elif kind == KIND_EXCEPTION_EXIT:
                self._exit(cycle, ident)
            elif kind == KIND_WRITE and ident == self.word:
                self.named = self.names.get(value, IDLE)
                self.current = self.current if self.chosen else self.named
            elif kind == KIND_EXEC and ident == IDENT_BEGIN and value < IDENT_LINE:
                self._begin(cycle, value)
            elif kind == KIND_EXEC and ident == IDENT_END and value < IDENT_LINE:
                self._end(cycle, value)
        self._add_unfinished()

    def _enter(self, cycle: int, entry: int, exception: int) -> None:
        is_requested = exception in self.asked
        self.open.append(
            Handler(exception, cycle, entry, self.current, self.current, core=self.core, requested=is_requested)
        )
        if self.chosen and is_requested:
            self.current = self.named

    def _exit(self, cycle: int, exception: int) -> None:
        if not self.open:
            return
        # Where one handler follows another without a return between, the next entry may be told before the return.
        at = next((at for at, item in enumerate(self.open) if item.exception == exception), None)
        if at is None:
            return
        done = self.open.pop(at)
        if self.chosen and done.requested:
            self.current = self.named
        done.end, done.after = cycle, self.current
        trace = self.trace
        if exception in self.lines:
            done.line = self.lines[exception]
        is_recorded = done.requested or exception in {SYSTICK, *self.lines} or (len(trace.spins) > 1 and done.yields)
        if done.start < trace.origin or not is_recorded:
            return
        if exception == SYSTICK:
            # It may have waited for nearly a tick, for interrupts. `entry` belongs to the last of them only.
            tick = (done.start - done.entry - trace.origin + _EARLY) // trace.tick_cycles
            done.due = trace.origin + tick * trace.tick_cycles
            done.released = sum(
                not row.line and tick >= row.offset_ticks and (tick - row.offset_ticks) % row.period_ticks == 0
                for row in trace.rows
            )
            trace.ticks.append(done)
        trace.handlers.append(done)

    def _begin(self, cycle: int, task: int) -> None:
        """A job begins with its first part."""
        self.parts[task] = self.parts.get(task, 0) + 1
        if self.parts[task] == 1:
            self.running[task] = cycle

    def _end(self, cycle: int, task: int) -> None:
        """And ends with its last."""
        if self.parts.get(task, 0) < len(self.trace.rows[task].parts or (0,)):
            return
        self.parts[task] = 0
        if task not in self.running:
            raise CheckError(f"A job of task {task} ended that had not begun; the image is not the one that was built.")
        job = self._job(task, self.running.pop(task), cycle)
        self.done[task] += 1
        if job.begin < job.release:
            raise CheckError(f"Job {job.number} of task {task} began before its period; the check cannot be trusted.")
        self.trace.jobs.append(job)

    def _job(self, task: int, begin: int, end: int, later: int = 0) -> Job:
        """The next job of the task that has not ended, or one that comes so many later."""
        row, trace = self.trace.rows[task], self.trace
        number = self.done[task] + later
        if row.line:
            arrivals = trace.lines[row.line - 1].arrivals
            if number >= len(arrivals):
                return Job(task, number, end, begin, end)
            return Job(task, number, trace.origin + arrivals[number], begin, end)
        release = trace.origin + (row.offset_ticks + number * row.period_ticks) * trace.tick_cycles
        return Job(task, number, release, begin, end)

    def _add_unfinished(self) -> None:
        for task in (at for at, row in enumerate(self.trace.rows) if row.core == self.core):
            job = self._job(task, self.running.get(task, 0), self.trace.end)
            later = 0
            while job.release < job.end:
                self.trace.unfinished.append(job)
                later += 1
                job = self._job(task, 0, self.trace.end, later)
