"""Runs a task set on the virtual board and records its jobs and the kernel's handlers, without a change of the
target."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt

from rtoslab.base import TaskSetCheckError, count_with_noun
from rtoslab.rta.firmware import (
    IDENT_BEGIN,
    IDENT_END,
    IDENT_LINE,
    IDENT_SENT,
    MESSAGES,
    TaskSetFirmware,
    boot_to_task_set_start,
    first_release_delay_ticks,
)
from rtoslab.rta.kernel_pair import image_table_rows_of_core, merge_core_traces
from rtoslab.rta.record import IDLE, HandlerRun, JobWorkSegmentTimes, TaskJob, TaskSetTrace
from rtoslab.rta.rows import InterruptLine, TaskReleaseObjectKind, TaskRow, WorkSegmentProtection
from rtoslab.rta.spins import KIND_LOCK_BUSY, KIND_LOCK_TAKEN, DisjointCycleIntervals, kernel_lock_wait_spans
from rtoslab.rta.stack_check import count_overflowed_stacks, read_task_stack_ends
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
    IdleInHandlerEventFilter,
    OmittedTaskPointerWriteInserter,
    VirtualBoardMachine,
    current_task_addresses,
    task_switching_exceptions,
)

if TYPE_CHECKING:
    from rtoslab.instruments import ObservedMachine

_EARLY: Final = 64
"""Cycles by which a tick may be recognised before another one's phase: the interval at which the core looks for
exceptions."""
_INDEX_MASK: Final = 0xFF
"""The part of a word at the begin or end of work that is the task's index. The next byte may be its sender's number."""
_SENDER_SHIFT: Final = 8
_LEAD_TICKS: Final = 8
"""The most ticks from the window's beginning to the first release."""


def run_task_set(
    firmware: TaskSetFirmware,
    rows: Sequence[TaskRow],
    ticks: int,
    lines: Sequence[InterruptLine] = (),
    *,
    with_locks: bool = True,
) -> TaskSetTrace:
    """Runs a task set on the virtual board for so many ticks after the first release. Returns its trace.
    `with_locks`: with the waits for the kernel's locks, which the ledger needs, and which slow the run down.
    Raises TaskSetCheckError if it does not run.

    Interrupts are raised relative to the first release, so with lines the same image first runs up to that.
    """
    image = firmware.elf_image_with_task_table(rows, lines)
    lead = (
        _LEAD_TICKS
        + first_release_delay_ticks(rows)
        + max((row.offset_ticks for row in rows if row.is_tick_released), default=0)
    )
    kernels = _image_table_rows_by_kernel(firmware, rows, lines)
    origins: list[int] | None = None
    if lines:
        events, _ = _record_board_events(firmware, image, lead + 1, with_locks=False)
        origins = [
            _first_release_tick_cycle(part, own, firmware.tick_cycles)
            for part, (own, _) in zip(_board_events_by_kernel(firmware, events), kernels, strict=True)
        ]
    events, end = _record_board_events(firmware, image, ticks + lead, lines, origins, with_locks=with_locks)
    exceptions = (task_switching_exceptions(firmware.kernel) | {SVCALL}) - {SYSTICK}
    try:
        parts = [
            read_task_set_trace(
                part,
                own,
                firmware.tick_cycles,
                end,
                own_lines,
                firmware.interrupt_exception_numbers,
                origins[at] if origins else None,
                firmware.point.cores,
                exceptions,
            )
            for at, (part, (own, own_lines)) in enumerate(
                zip(_board_events_by_kernel(firmware, events), kernels, strict=True)
            )
        ]
    except TaskSetCheckError as cause:
        _require_no_stack_overflow(firmware, image, events, ticks + lead, lines, origins, cause)
        raise
    for part in parts:
        _require_no_full_queue(part)
    trace = merge_core_traces(rows, lines, parts) if firmware.does_each_core_run_own_kernel else parts[0]
    if has_lost_interrupt(trace, end - firmware.tick_cycles):
        raise LostInterruptError
    return trace


def _image_table_rows_by_kernel(
    firmware: TaskSetFirmware, rows: Sequence[TaskRow], lines: Sequence[InterruptLine]
) -> list[tuple[Sequence[TaskRow], Sequence[InterruptLine]]]:
    """Returns the tasks and interrupts of each kernel."""
    if not firmware.does_each_core_run_own_kernel:
        return [(rows, lines)]
    return [image_table_rows_of_core(rows, lines, core) for core in range(firmware.core_count)]


def _board_events_by_kernel(firmware: TaskSetFirmware, events: npt.NDArray[np.void]) -> list[npt.NDArray[np.void]]:
    """Returns the events of each kernel. Those of a kernel with a core of its own are shown as those of core 0."""
    if not firmware.does_each_core_run_own_kernel:
        return [events]
    parts = [events[events["core"] == core] for core in range(firmware.core_count)]
    for part in parts:
        part["core"] = 0
    return parts


def has_lost_interrupt(trace: TaskSetTrace, until: int | None = None) -> bool:
    """Whether an interrupt was raised while the one before was pending. One handler then served both.
    `until`: only whether fewer handlers ran than interrupts were raised before this cycle.
    """
    if trace.kernels:
        return any(has_lost_interrupt(part, until) for part in trace.kernels)
    for at, line in enumerate(trace.lines, 1):
        raised = [trace.origin + cycle for cycle in line.raised]
        entries = [handler.start - handler.entry_cycles for handler in trace.handlers if handler.line == at]
        if until is not None:
            if len(entries) < sum(cycle < until for cycle in raised):
                return True
        elif any(entry > next_ for entry, next_ in zip(entries, raised[1:], strict=False)):
            return True
    return False


class LostInterruptError(TaskSetCheckError):
    """Raised if an interrupt was raised while the one before was pending, so that one handler served both."""

    def __init__(self) -> None:
        super().__init__(
            "An interrupt was lost, because it was raised while the one before was still pending; use a longer period."
        )


class FullQueueError(TaskSetCheckError):
    """Raised if a queue was full in a run, so that its sender may have waited."""


def require_no_lost_interrupt(trace: TaskSetTrace) -> None:
    """Raises LostInterruptError if one handler served two arrivals. The jobs after it then answer other arrivals."""
    if has_lost_interrupt(trace):
        raise LostInterruptError


def _require_no_full_queue(trace: TaskSetTrace) -> None:
    """Raises FullQueueError if a queue was full in a run, because its sender may then have waited."""
    for task, row in enumerate(trace.rows):
        if row.carrier is not TaskReleaseObjectKind.MESSAGE:
            continue
        jobs = [job for job in (*trace.jobs, *trace.unfinished) if job.task == task and job.begin]
        changes = [(cycle, 1) for cycle in trace.return_cycles_of_release_calls(task)]
        waiting = 0
        for _, change in sorted([*changes, *((job.begin, -1) for job in jobs)]):
            waiting += change
            if waiting >= MESSAGES:
                raise FullQueueError(
                    f"Task {task} fell behind by {MESSAGES} messages, more than its queue in the image can hold; check "
                    'the set with gives_by = "semaphore".'
                )


def _require_no_stack_overflow(
    firmware: TaskSetFirmware,
    image: bytes,
    events: npt.NDArray[np.void],
    ticks: int,
    lines: Sequence[InterruptLine],
    origins: Sequence[int] | None,
    cause: TaskSetCheckError,
) -> None:
    """Raises TaskSetCheckError if an overflowed stack explains why the run of a task set failed.
    It runs the set a second time, so that other runs need not check.
    """
    is_current = (events["id"] >= IDENT_CURRENT) & (events["id"] < IDENT_CURRENT + firmware.core_count)
    written = events["value"][(events["kind"] == KIND_WRITE) & is_current]
    blocks = {int(value) for value in np.unique(written)} - {0}
    machine = boot_to_task_set_start(firmware, image)
    before = read_task_stack_ends(machine, firmware, blocks)
    _record_board_events(firmware, image, ticks, lines, origins, machine)
    if overruns := count_overflowed_stacks(before, read_task_stack_ends(machine, firmware, blocks)):
        raise TaskSetCheckError(
            f"The tasks did not run as specified, and {count_with_noun(overruns, 'stack')} overflowed: this "
            "configuration needs more stack than the image gives a task; choose another one, such as --config "
            "opt=-O2."
        ) from cause


def _record_board_events(
    firmware: TaskSetFirmware,
    image: bytes,
    ticks: int,
    lines: Sequence[InterruptLine] = (),
    origins: Sequence[int] | None = None,
    machine: VirtualBoardMachine | None = None,
    *,
    with_locks: bool = True,
) -> tuple[npt.NDArray[np.void], int]:
    """Returns the virtual board's events of a run of so many ticks, in the order of time, and the last cycle.

    `machine`: a board that has been started already. `with_locks`: with the waits for locks, which slow the run down.
    """
    machine = machine or boot_to_task_set_start(firmware, image)
    machine.trace_exceptions(True)
    if firmware.is_smp and with_locks:
        cast("ObservedMachine", machine).observe(True, events=True)  # for the locks
    used = [0] * firmware.core_count
    for line in lines:
        kernel = line.core if firmware.does_each_core_run_own_kernel else 0
        number = firmware.interrupt_exception_numbers[used[kernel]]
        used[kernel] += 1
        for cycle in line.raised:
            machine.inject_exception((origins[kernel] if origins else 0) + cycle, number, line.core)
    running: dict[int, int] = {}
    if not firmware.does_each_core_run_own_kernel:
        words = current_task_addresses(machine, firmware.kernel, firmware.core_count)
        running = {core: int.from_bytes(machine.read(word, 4), "little") for core, word in words.items()}
    omitted_writes = OmittedTaskPointerWriteInserter(firmware.kernel, running)
    chunks = []
    left = ticks * firmware.tick_cycles
    while left > 0:
        stop = machine.run(min(left, 20_000_000))
        left -= 20_000_000
        chunks.append(np.frombuffer(omitted_writes.filter_events(machine.take_events()), dtype=EVENT))
        if stop["reason"] != "cycles":
            raise TaskSetCheckError(f"The virtual board stopped before the end of the check: {stop['detail']}")
    events = np.concatenate(chunks)
    in_order = IdleInHandlerEventFilter().filter_events(events[np.argsort(events["cycle"], kind="stable")])
    return in_order, machine.cycle()


def _first_release_tick_cycle(events: npt.NDArray[np.void], rows: Sequence[TaskRow], tick_cycles: int) -> int:
    """Returns the cycle of the tick at which the tasks are first released. Raises TaskSetCheckError where none is seen.

    If the tick releases no task, any tick at which all tasks wait is right: it returns the last one seen.
    """
    phase = _tick_due_cycle(events, tick_cycles)
    by_tick = [at for at, item in enumerate(rows) if item.is_tick_released]
    if not by_tick:
        return phase + (int(events["cycle"][-1]) - phase) // tick_cycles * tick_cycles
    begins = events[(events["kind"] == KIND_EXEC) & (events["id"] == IDENT_BEGIN) & np.isin(events["value"], by_tick)]
    if len(begins) == 0:
        raise TaskSetCheckError("No job of the task set began; reduce the load of the tasks.")
    first = (int(begins["cycle"][0]) - phase) // tick_cycles - min(rows[at].offset_ticks for at in by_tick)
    return phase + first * tick_cycles


def read_task_set_trace(
    events: npt.NDArray[np.void],
    rows: Sequence[TaskRow],
    tick_cycles: int,
    end: int,
    lines: Sequence[InterruptLine] = (),
    numbers: Sequence[int] = (),
    origin: int | None = None,
    cores: int = 1,
    exceptions: Collection[int] = frozenset({SVCALL, PENDSV}),
) -> TaskSetTrace:
    """Returns the trace of a run from the virtual board's events. `numbers`: the exceptions of the lines.
    `exceptions`: those that tasks raise themselves. Raises TaskSetCheckError where the events do not fit the rows.
    """
    first = _first_release_tick_cycle(events, rows, tick_cycles) if origin is None else origin
    if cores == 1:
        trace = TaskSetTrace(rows, lines, tick_cycles, first, end=end)
        _TraceReader(
            trace,
            _tasks_by_control_block(events, 0),
            numbers,
            0,
            exceptions,
            writes_before_switch=_is_current_task_written_before_switch(events, 0),
        ).read_trace_events_of_core(events)
        return trace
    trace = TaskSetTrace(
        rows,
        lines,
        tick_cycles,
        first,
        end=end,
        lock_waits=tuple(_lock_wait_spans_of_core(events, core) for core in range(cores)),
    )
    for core in range(cores):
        mine = events[events["core"] == core]
        _TraceReader(
            trace,
            _tasks_by_control_block(events, core),
            numbers,
            core,
            exceptions,
            writes_before_switch=_is_current_task_written_before_switch(mine, core),
        ).read_trace_events_of_core(mine)
    for handled in (trace.jobs, trace.handlers):
        handled.sort(key=lambda job: job.end)
    return trace


def _lock_wait_spans_of_core(events: npt.NDArray[np.void], core: int) -> DisjointCycleIntervals:
    """Returns the spans in which a core waited for kernel locks, from the board's events."""
    mine = events[(events["core"] == core) & np.isin(events["kind"], (KIND_LOCK_BUSY, KIND_LOCK_TAKEN))]
    return kernel_lock_wait_spans(zip(*(mine[name].tolist() for name in ("cycle", "kind", "id")), strict=True))


def _tasks_by_control_block(events: npt.NDArray[np.void], core: int) -> dict[int, int]:
    """Returns the index of each task by its control block, from the board's events."""
    tasks_by_block: dict[int, int] = {}
    current = 0
    selected = ((events["kind"] == KIND_WRITE) & (events["id"] == IDENT_CURRENT + core)) | (
        (events["kind"] == KIND_EXEC) & (events["id"] == IDENT_BEGIN) & (events["core"] == core)
    )
    for kind, value in zip(events["kind"][selected].tolist(), events["value"][selected].tolist(), strict=True):
        if kind == KIND_WRITE:
            current = value
        elif value & _INDEX_MASK < IDENT_LINE:
            tasks_by_block[current] = value & _INDEX_MASK
    return tasks_by_block


def _is_current_task_written_before_switch(events: npt.NDArray[np.void], core: int) -> bool:
    """Whether the kernel writes its current-task pointer before the exception that switches tasks."""
    entries, exits = ((events["kind"] == kind).astype(np.int64) for kind in (KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT))
    writes = (events["kind"] == KIND_WRITE) & (events["id"] == IDENT_CURRENT + core)
    begun = np.cumsum((events["kind"] == KIND_EXEC) & (events["id"] == IDENT_BEGIN)) > 0
    return bool(np.any(writes & begun & (np.cumsum(entries - exits) <= 0)))


def _tick_due_cycle(events: npt.NDArray[np.void], tick_cycles: int) -> int:
    """Returns a cycle at which a tick was due."""
    ticks = events[(events["kind"] == KIND_EXCEPTION_ENTER) & (events["id"] == SYSTICK)]
    if len(ticks) == 0:
        raise TaskSetCheckError("The image took no tick interrupt; check that its SysTick runs.")
    due = ticks["cycle"].astype(np.int64) - ticks["value"].astype(np.int64)
    first = int(due[0])
    half = tick_cycles // 2
    return first + int((((due - first + half) % tick_cycles) - half).min())


class _TraceReader:
    """Builds the trace of one core from the board's events."""

    def __init__(
        self,
        trace: TaskSetTrace,
        tasks_by_block: dict[int, int],
        lines: Sequence[int],
        core: int,
        exceptions: Collection[int],
        *,
        writes_before_switch: bool,
    ) -> None:
        self.trace = trace
        self.core = core
        self.current_ident = IDENT_CURRENT + core
        self.requested_exceptions = exceptions
        self.lines = {exception: at for at, exception in enumerate(lines, 1) if trace.lines}
        self.tasks_by_block = {
            block: trace.index_of_task_that_executes_jobs(task) for block, task in tasks_by_block.items()
        }
        self.current = IDLE
        self.writes_before_switch = writes_before_switch
        self.named_task = IDLE  # by the kernel's word. Of one that writes what it chose, not running before the switch
        self.open_handlers: list[HandlerRun] = []
        self.job_begins: dict[int, int] = {}  # task -> begin of its job
        self.begun_parts: dict[int, int] = {}  # task -> parts of its job that have begun
        self.part_begins: dict[int, int] = {}  # task -> begin of the last part
        self.ended_jobs = [0] * len(trace.rows)
        self.has_several_senders = trace.has_several_senders
        self.job_senders: dict[int, int] = {}  # task -> the sender that its job's message names
        self.arrivals: dict[int, list[tuple[int, tuple[int, ...]]]] = {}  # task -> arrival and path of its ended jobs
        self.taken: dict[tuple[int, int], int] = {}  # (task, sender) -> jobs of the task that the sender released

    def read_trace_events_of_core(self, events: npt.NDArray[np.void]) -> None:
        """Reads all events of the core in the order of time."""
        columns = (events[name].tolist() for name in ("cycle", "value", "id", "kind"))
        for cycle, value, ident, kind in zip(*columns, strict=True):
            if kind == KIND_EXCEPTION_ENTER:
                self._record_handler_entry(cycle, value, ident)
            elif kind == KIND_EXCEPTION_EXIT:
                self._record_handler_return(cycle, ident)
            elif kind == KIND_WRITE and ident == self.current_ident:
                self.named_task = self.tasks_by_block.get(value, IDLE)
                self.current = self.current if self.writes_before_switch else self.named_task
            elif kind == KIND_EXEC and ident == IDENT_BEGIN and value & _INDEX_MASK < IDENT_LINE:
                self._record_work_part_begin(cycle, value & _INDEX_MASK, (value >> _SENDER_SHIFT) - 1)
            elif kind == KIND_EXEC and ident == IDENT_END and value & _INDEX_MASK < IDENT_LINE:
                self._record_work_part_end(cycle, value & _INDEX_MASK)
            elif kind == KIND_EXEC and ident == IDENT_SENT and value < IDENT_LINE and cycle >= self.trace.origin:
                self.trace.sent.append((cycle, value))
        self._add_unfinished_jobs_at_run_end()

    def _record_handler_entry(self, cycle: int, entry: int, exception: int) -> None:
        """Handles the entry into an exception handler."""
        is_requested = exception in self.requested_exceptions
        self.open_handlers.append(
            HandlerRun(
                exception, cycle, entry, self.current, self.current, core=self.core, is_requested_by_task=is_requested
            )
        )
        if self.writes_before_switch and is_requested:
            self.current = self.named_task

    def _record_handler_return(self, cycle: int, exception: int) -> None:
        """Handles the return from an exception handler."""
        if not self.open_handlers:
            return
        # Where one handler follows another without a return between, the next entry may be told before the return.
        at = next((at for at, item in enumerate(self.open_handlers) if item.exception == exception), None)
        if at is None:
            return
        done = self.open_handlers.pop(at)
        if self.writes_before_switch and done.is_requested_by_task:
            self.current = self.named_task
        done.end, done.task_after = cycle, self.current
        trace = self.trace
        if exception in self.lines:
            done.line = self.lines[exception]
        is_recorded = (
            done.is_requested_by_task
            or exception in {SYSTICK, *self.lines}
            or (len(trace.lock_waits) > 1 and done.is_reschedule_interrupt)
        )
        if done.start < trace.origin or not is_recorded:
            return
        if exception == SYSTICK:
            # It may have waited for nearly a tick, for interrupts. `entry` belongs to the last of them only.
            tick = (done.start - done.entry_cycles - trace.origin + _EARLY) // trace.tick_cycles
            done.due = trace.origin + tick * trace.tick_cycles
            done.released = sum(row.is_job_released_at_tick(tick) for row in trace.rows if not row.is_timer)
            # The tick wakes one task of the kernel for all timers.
            done.released += any(row.is_job_released_at_tick(tick) for row in trace.rows if row.is_timer)
            trace.ticks.append(done)
        trace.handlers.append(done)

    def _record_work_part_begin(self, cycle: int, task: int, sender: int) -> None:
        """Handles the begin of a part of a job's work. A job begins with its first part.
        `sender`: the task that released the job by a message. It may be another one's index if several tasks do.
        """
        self.job_senders[task] = sender
        self.begun_parts[task] = self.begun_parts.get(task, 0) + 1
        self.part_begins[task] = cycle
        if self.begun_parts[task] == 1:
            self.job_begins[task] = cycle

    def _record_work_part_end(self, cycle: int, task: int) -> None:
        """Handles the end of a part of a job's work, which may end the job."""
        parts = self.trace.rows[task].parts
        if parts and cycle >= self.trace.origin:
            is_masked = parts[self.begun_parts.get(task, 1) - 1].protection is WorkSegmentProtection.MASKED
            begin = self.part_begins.get(task, cycle)
            self.trace.parts.append(JobWorkSegmentTimes(self.core, task, begin, cycle, is_masked=is_masked))
        if self.begun_parts.get(task, 0) < len(self.trace.rows[task].parts or (0,)):
            return
        self.begun_parts[task] = 0
        if task not in self.job_begins:
            raise TaskSetCheckError(
                f"A job of task {task} ended that had not begun, so the image is not the one that was "
                "built; build it again."
            )
        job = self._next_job_of_task(task, self.job_begins.pop(task), cycle)
        if self.has_several_senders:
            job = self._add_releasing_tasks_to_job(job)
        self.ended_jobs[task] += 1
        if job.begin < job.release:
            raise TaskSetCheckError(
                f"Job {job.number} of task {task} began before its period, so the check is not valid; "
                "this is an error in rtoslab, please report it."
            )
        self.trace.jobs.append(job)

    def _add_releasing_tasks_to_job(self, job: TaskJob) -> TaskJob:
        """Returns a job that ends with the tasks that released it, and with their arrival."""
        senders = self.trace.tasks_that_release_task(job.task)
        before: tuple[int, ...]
        if not senders:
            arrival, before = job.release, ()
        else:
            sender = senders[0] if len(senders) == 1 else self.job_senders[job.task]
            number = self.taken.get((job.task, sender), 0)
            self.taken[job.task, sender] = number + 1
            arrival, before = self.arrivals[sender][number]
        path: tuple[int, ...] = (*before, job.task)
        self.arrivals.setdefault(job.task, []).append((arrival, path))
        return replace(job, release=arrival, path=path)

    def _add_unfinished_jobs_with_senders(self) -> None:
        """Adds the jobs whose senders had ended, and that had not ended themselves at the end of the run."""
        for task, row in enumerate(self.trace.rows):
            for sender in self.trace.tasks_that_release_task(task):
                for arrival, before in self.arrivals.get(sender, [])[self.taken.get((task, sender), 0) :]:
                    job = TaskJob(task, 0, arrival, self.job_begins.get(task, 0), self.trace.end, (*before, task))
                    self.trace.unfinished.append(job)
            if row.carrier is TaskReleaseObjectKind.NONE:
                self._add_unfinished_jobs_of_task(task)

    def _next_job_of_task(self, task: int, begin: int, end: int, later: int = 0) -> TaskJob:
        """Returns the record of a task's next job after the last that ended, or of the one `later` jobs after it."""
        number = self.ended_jobs[task] + later
        arrival = self.trace.job_arrival_cycle(task, number)
        return TaskJob(task, number, end if arrival is None else arrival, begin, end)

    def _add_unfinished_jobs_at_run_end(self) -> None:
        """Adds the jobs that were released but had not ended at the end of the run."""
        if self.has_several_senders:
            self._add_unfinished_jobs_with_senders()
            return
        for task in (at for at, row in enumerate(self.trace.rows) if row.core == self.core):
            self._add_unfinished_jobs_of_task(task)

    def _add_unfinished_jobs_of_task(self, task: int) -> None:
        """Adds the jobs of a task that had arrived but had not ended at the end of the run."""
        path = (task,) if self.has_several_senders else ()
        job = self._next_job_of_task(task, self.job_begins.get(task, 0), self.trace.end)
        later = 0
        while job.release < job.end:
            self.trace.unfinished.append(replace(job, path=path))
            later += 1
            job = self._next_job_of_task(task, 0, self.trace.end, later)
