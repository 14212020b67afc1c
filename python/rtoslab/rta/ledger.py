"""Attributes every cycle that a kernel took in a trace to the event that the analysis charges for it.

The processor is at every moment in a chain of handlers, or in a task that starts a job, works, or ends one, or idle.
A *chain* is handlers one after the other without a return to a task between them. A *span* is a task's own time in one
phase of its job, however often it is interrupted meanwhile. Each entry has its cycles and their causes. `fit` derives
the prices from entries with one cause, `prices` compares every entry with them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rtoslab.rta.entries import (
    CycleLedger,
    HandlerChain,
    HandlerChainInterruptSet,
    JobEnd,
    JobPhase,
    JobPhaseExecution,
    LockHandover,
    LockWait,
    ReleaseToStartDelay,
    TaskInterruption,
)
from rtoslab.rta.record import IDLE, TICK_CORE, HandlerRun, TaskJob, TaskSetTrace
from rtoslab.rta.rows import TaskRow, WorkSegmentProtection
from rtoslab.rta.spins import DisjointCycleIntervals
from rtoslab.rta.work import BusyWork
from rtoslab.targets import SYSTICK


def make_cycle_ledger(traces: Iterable[TaskSetTrace], work: BusyWork) -> CycleLedger:
    """Returns the ledger of traces: every cycle that the kernel took, by cause."""
    ledger = CycleLedger()
    for trace in (part for whole in traces for part in whole.kernels or (whole,)):
        attributors = [
            _KernelCycleAttributor(trace.trace_of_core(core), work, ledger, core)
            for core in range(len(trace.lock_waits))
        ]
        for attributor in attributors:
            attributor.account_core_trace_cycles()
        for attributor in attributors if len(attributors) > 1 else ():
            others = [one for one in attributors if one is not attributor]
            ledger.lock_waits += _lock_waits_without_interruptions(trace.lock_waits[attributor.core], others)
    return ledger


def _lock_waits_without_interruptions(
    spins: DisjointCycleIntervals, others: Sequence[_KernelCycleAttributor]
) -> Iterator[LockWait]:
    """Yields each wait of a core for a kernel lock, without the time in which another core's task masked interrupts or
    its interrupts were handled: it may hold the kernel's locks meanwhile.
    """
    works = [_cycle_intervals_from_start_end_pairs(other.working) for other in others]
    masks = [_cycle_intervals_from_start_end_pairs(other.masked) for other in others]
    handlers = [_cycle_intervals_from_start_end_pairs(other.handled) for other in others]
    for begin, end in zip(spins.begins, spins.ends, strict=True):
        masked = max(
            mask.cycles_covered_by_intervals(begin, end) + handler.cycles_covered_by_intervals(begin, end)
            for mask, handler in zip(masks, handlers, strict=True)
        )
        yield LockWait(end, end - begin - masked, min(work.cycles_covered_by_intervals(begin, end) for work in works))


def _cycle_intervals_from_start_end_pairs(pairs: Sequence[tuple[int, int]]) -> DisjointCycleIntervals:
    """Returns pairs (from, to) as spans."""
    return DisjointCycleIntervals(tuple(since for since, _ in pairs), tuple(until for _, until in pairs))


def _overlaps_with_cycle_interval(spans: DisjointCycleIntervals, since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yields the common parts of one span with others."""
    for at in spans.spin_wait_indices_between_cycles(since, until):
        yield max(spans.begins[at], since), min(spans.ends[at], until)


def handler_chains_in_trace(trace: TaskSetTrace, work: BusyWork) -> list[HandlerChain]:
    """Returns the sequences of exception handlers in a trace that follow each other without a return to a task.
    A handler belongs to the chain if it was recognised before the last one returned.
    """
    result: list[HandlerChain] = []
    lines: list[list[int]] = []
    last: HandlerRun | None = None
    for handler in sorted(trace.handlers, key=lambda handler: (handler.start, -handler.end)):
        if last is None or handler.start >= last.end:
            if last is not None and handler.start - handler.entry_cycles <= last.end:
                result[-1].handlers.append(handler)
            else:
                result.append(HandlerChain([handler]))
                lines.append([])
            last = handler
        result[-1].released += handler.released
        if handler.line:
            lines[-1].append(handler.line)
    for chain, of in zip(result, lines, strict=True):
        chain.interrupts = _interrupts_of_handler_chain(trace, work, of, begins_chain=chain.handlers[0].line > 0)
        chain.lock_wait_cycles = trace.lock_waits[trace.core or 0].cycles_covered_by_intervals(
            chain.start_cycle, chain.end_cycle
        )
    return result


def _tick_handler_spans(ticks: Sequence[HandlerRun]) -> DisjointCycleIntervals:
    """Returns the spans in which the tick's handlers ran."""
    return DisjointCycleIntervals(tuple(tick.start for tick in ticks), tuple(tick.end for tick in ticks))


def _has_switch_request_without_switch(chain: HandlerChain) -> bool:
    """Whether an interrupt came together with a requested task switch that then did not happen."""
    is_single = not chain.kernel_tick_count and not chain.interrupts.gives and not chain.task_switch_count
    return is_single and any(handler.is_requested_by_task for handler in chain.handlers)


def _interrupts_of_handler_chain(
    trace: TaskSetTrace, work: BusyWork, lines: Sequence[int], *, begins_chain: bool
) -> HandlerChainInterruptSet:
    """Returns the interrupts that were handled in a sequence of handlers."""
    giving = {row.line for row in trace.rows}
    rows = [trace.lines[line - 1] for line in lines]
    cycles = sum(work.busy_work_duration_cycles(row.rounds, row.extra) for row in rows if row.rounds)
    return HandlerChainInterruptSet(len(lines), sum(line in giving for line in lines), cycles, begins_chain)


def _tasks_sharing_resources_across_cores(rows: Sequence[TaskRow]) -> frozenset[int]:
    """Returns the indices of the tasks that use a mutex which a task of another core uses too."""
    cores: dict[int, set[int]] = {}
    for row in rows:
        for part in row.parts:
            if part.protection is WorkSegmentProtection.LOCKED:
                cores.setdefault(part.argument, set()).add(row.core)
    return frozenset(
        at
        for at, row in enumerate(rows)
        if any(part.protection is WorkSegmentProtection.LOCKED and len(cores[part.argument]) > 1 for part in row.parts)
    )


_UNRELATED_CYCLES: Final = 20_000
"""Events this far apart have nothing to do with each other. The work of all handlers, which may run one after the
other, comes on top."""


class _KernelCycleAttributor:
    """Attributes the kernel's cycles on one core to entries of a ledger."""

    def __init__(self, trace: TaskSetTrace, work: BusyWork, ledger: CycleLedger, core: int = 0) -> None:
        self.trace = trace
        self.core = core
        self.lock_waits = trace.lock_waits[core]
        self.working: list[tuple[int, int]] = []
        """(from, to) of each span in which a job worked undisturbed, outside the kernel."""
        unmasked = [part for part in trace.parts if not part.is_masked] if len(trace.lock_waits) > 1 else []
        self.parts = {
            task: _cycle_intervals_from_start_end_pairs(
                [(part.begin, part.end) for part in unmasked if part.task == task]
            )
            for task in {part.task for part in unmasked}
        }
        self.handled = [
            (chain.start_cycle, chain.end_cycle)
            for chain in (handler_chains_in_trace(trace, work) if len(trace.lock_waits) > 1 and trace.lines else ())
            if chain.interrupts.count
        ]
        """(from, to) of each sequence of handlers with an interrupt."""
        self.masked = [(part.begin, part.end) for part in trace.parts if part.is_masked]
        self.remote_gives = (
            _cycle_intervals_from_start_end_pairs([(give.start, give.end) for give in trace.gives if give.core != core])
            if trace.gives
            else None
        )
        self.other_core_ticks = DisjointCycleIntervals() if core == TICK_CORE else _tick_handler_spans(trace.ticks)
        self.work = work
        self.ledger = ledger
        self.phases = dict.fromkeys(range(len(trace.rows)), JobPhase.ASLEEP)
        self.open_spans: dict[int, JobPhaseExecution] = {}
        self.sends_left: dict[int, int] = {}
        """By task, the calls that release another task and have not returned in its job."""
        self.last_ran: dict[int, int] = {}
        """By priority, when a task of it last ran."""
        self.preempted: dict[int, int] = {}
        """By priority, its task that a more urgent one has preempted."""
        self.ticks = {tick.due: tick for tick in trace.ticks}
        self.raised_cycles = sorted(trace.origin + cycle for line in trace.lines for cycle in line.raised)
        handled = (work.busy_work_duration_cycles(line.rounds, line.extra) for line in trace.lines if line.rounds)
        self.unrelated_cycles = _UNRELATED_CYCLES + sum(handled)
        self.has_sections = any(row.kernel_calls_per_job for row in trace.rows)
        self.sharing_tasks = _tasks_sharing_resources_across_cores(trace.rows)

    def account_core_trace_cycles(self) -> None:
        """Adds the entries of the core's whole trace to the ledger."""
        marks: list[tuple[int, int, TaskJob | HandlerChain | int]] = [(job.end, 0, job) for job in self.trace.jobs]
        marks += [(chain.start_cycle, 1, chain) for chain in handler_chains_in_trace(self.trace, self.work)]
        begun = [*self.trace.jobs, *(item for item in self.trace.unfinished if item.begin)]
        marks += [(item.begin, 2, item) for item in begun]
        marks += [(cycle, 0, self.trace.index_of_task_that_executes_jobs(task)) for cycle, task in self.trace.sent]
        for cycle, rank, mark in sorted(marks, key=lambda row: row[:2]):
            if isinstance(mark, HandlerChain):
                self._account_handler_chain_cycles(mark)
            elif isinstance(mark, int):
                self._record_return_of_task_release_call(mark, cycle)
            elif rank == 0:
                self._record_end_of_task_job(mark, cycle)
            else:
                self._record_job_begin(mark, cycle)

    def _end_task_span(self, task: int, cycle: int) -> JobPhaseExecution:
        """Ends the span of a task's own execution and returns it."""
        span = self.open_spans.pop(task)
        self._add_elapsed_cycles_to_phase(span, cycle)
        span.ended_at = cycle
        return span

    def _add_elapsed_cycles_to_phase(self, span: JobPhaseExecution, cycle: int) -> None:
        """Adds to a span the cycles since it began, or was last interrupted."""
        since = span.running_since
        span.cycles += cycle - since - self.lock_waits.cycles_covered_by_intervals(since, cycle)
        if self.phases[span.task] is JobPhase.WORKING:
            if self.trace.rows[span.task].kernel_calls_per_job:
                self.working += _overlaps_with_cycle_interval(
                    self.parts.get(span.task, DisjointCycleIntervals()), since, cycle
                )
            else:
                self.working.append((since, cycle))
        if self.remote_gives is not None:
            span.remote_gives += len(self.remote_gives.spin_wait_indices_between_cycles(since, cycle))
        for at in self.other_core_ticks.spin_wait_indices_between_cycles(since, cycle):
            span.compensated_ticks.append(self.trace.ticks[at].released)

    def _begin_task_span(self, task: int, phase: JobPhase, cycle: int) -> None:
        """Begins a span of a task's own execution in one phase of its job."""
        row = self.trace.rows[task]
        self.phases[task] = phase
        self.open_spans[task] = JobPhaseExecution(
            cycle,
            0,
            task,
            cycle,
            is_woken=not row.is_tick_released,
            is_timer=row.is_timer,
            kernel_calls=row.kernel_calls_per_job,
            waits_across_cores=task in self.sharing_tasks,
        )

    def _record_job_begin(self, job: TaskJob, cycle: int) -> None:
        """Records that a job's work begins."""
        task = self.trace.index_of_task_that_executes_jobs(job.task)
        if self.phases[task] is JobPhase.ENDING:
            self.ledger.restarts.append(self._end_task_span(task, cycle))
        elif task in self.open_spans:
            self.ledger.starts.append(self._end_task_span(task, cycle))
        self._begin_task_span(task, JobPhase.WORKING, cycle)

    def _record_end_of_task_job(self, job: TaskJob, cycle: int) -> None:
        """Records that a job's work ends."""
        row, task = self.trace.rows[job.task], self.trace.index_of_task_that_executes_jobs(job.task)
        if task in self.open_spans:
            self.ledger.works.append((self._end_task_span(task, cycle), self.work.job_cycles_of_task(row)))
        self.sends_left[task] = len(row.numbers_of_released_tasks)
        self._begin_task_span(task, JobPhase.SENDING if row.receiver else JobPhase.ENDING, cycle)

    def _record_return_of_task_release_call(self, task: int, cycle: int) -> None:
        """Records that a task's call that releases another one returned."""
        if self.phases[task] is JobPhase.SENDING:
            self.ledger.sends.append(self._end_task_span(task, cycle))
            self.sends_left[task] -= 1
            self._begin_task_span(task, JobPhase.SENDING if self.sends_left[task] else JobPhase.ENDING, cycle)

    def _account_handler_chain_cycles(self, chain: HandlerChain) -> None:
        """Adds a sequence of handlers to the ledger: as the end of a job, a switch at a lock, or an interruption."""
        before = chain.task_before
        phase = self.phases.get(before, JobPhase.ASLEEP)
        called = chain.is_requested_by_task and chain.task_switch_count > 0
        span = self.open_spans.get(before)
        if span is not None:
            if chain.is_requested_by_task and chain.task_switch_count == 0 and not chain.interrupts.count:
                if phase is not JobPhase.WORKING or before not in self.sharing_tasks:
                    return  # a call of its own that came back: its own time
                called = True  # it gave back a resource that a task of another core waits for, and chose itself again
            self._add_elapsed_cycles_to_phase(span, chain.start_cycle)
        if called and phase is JobPhase.ENDING and span is not None:
            self._add_job_end_to_ledger(chain, span)
        elif called and phase in {JobPhase.WORKING, JobPhase.SENDING} and span is not None:
            span.handovers += 1
            switches = self.ledger.handovers if phase is JobPhase.WORKING else self.ledger.send_switches
            switches.append(
                LockHandover(
                    chain.end_cycle,
                    chain.total_cycles,
                    chain.kernel_tick_count,
                    chain.released,
                    chain.task_switch_count,
                    interrupts=chain.interrupts,
                    core_requests=chain.reschedule_interrupt_count,
                )
            )
        else:
            self._add_interruption_to_cycle_ledger(chain, span)
        if before != IDLE:
            self.last_ran[self.trace.rows[before].priority] = chain.start_cycle
        self._record_task_continuation(chain)

    def _add_job_end_to_ledger(self, chain: HandlerChain, span: JobPhaseExecution) -> None:
        """Adds the end of a job to the ledger, with the handlers that switch to the next task."""
        rows = self.trace.rows
        before, after = next(
            (handler.task_before, handler.task_after)
            for handler in chain.handlers
            if handler.task_before != handler.task_after
        )
        down = 0 if after == IDLE else max(0, rows[before].priority - rows[after].priority)
        whole = span.cycles + chain.total_cycles
        self.ledger.job_ends.append(JobEnd(chain.end_cycle, whole, span, chain, down, after == IDLE, len(rows)))
        del self.open_spans[before]
        self.phases[before] = JobPhase.ASLEEP

    def _add_interruption_to_cycle_ledger(self, chain: HandlerChain, span: JobPhaseExecution | None) -> None:
        """Adds an interruption to the ledger, with the delays and handlers that it shows."""
        before, after = chain.task_before, chain.task_after
        phase = self.phases.get(before, JobPhase.WORKING)
        in_kernel = phase in {JobPhase.STARTING, JobPhase.SENDING, JobPhase.ENDING}
        meets = in_kernel or chain.handlers[0].is_requested_by_task
        if before != IDLE and self.trace.rows[before].kernel_calls_per_job:
            meets |= _has_switch_request_without_switch(chain)
        undisturbed = [] if self.trace.lines or self.has_sections else chain.handlers
        for tick in (job for job in undisturbed if job.exception == SYSTICK):
            first = tick is chain.handlers[0]
            (self.ledger.tick_entries if first and not meets else self.ledger.tick_delays).append(tick.start - tick.due)
        rows = self.trace.rows
        both = before != IDLE and after not in {IDLE, before}
        equal = both and rows[before].priority == rows[after].priority
        slices = (
            equal
            and chain.kernel_tick_count > 0
            and self._last_release_cycle(after, chain.start_cycle) not in self._due_cycles_of_ticks(chain)
        )
        if both and rows[before].priority < rows[after].priority:
            self.preempted[rows[before].priority] = before
        interruption = TaskInterruption(
            chain.end_cycle,
            chain.total_cycles,
            chain.kernel_tick_count,
            chain.released,
            chain.task_switch_count,
            slices,
            meets,
            chain.interrupts,
            chain.reschedule_interrupt_count,
        )
        self.ledger.interruptions.append(interruption)
        self.ledger.equals_rotate |= slices
        if span is not None:
            span.interruptions.append(interruption)
        if (
            chain.task_switch_count == 1
            and chain.kernel_tick_count == 1
            and not chain.interrupts.count
            and not chain.reschedule_interrupt_count
        ):
            last = next(handler for handler in chain.handlers if handler.task_before != handler.task_after)
            kind = "from_idle" if before == IDLE else "up"
            own_cycles = last.end - last.start - self.lock_waits.cycles_covered_by_intervals(last.start, last.end)
            self.ledger.switch_handlers.setdefault(kind, []).append(own_cycles)

    @staticmethod
    def _due_cycles_of_ticks(chain: HandlerChain) -> set[int]:
        """Returns the cycles at which the ticks of a sequence of handlers were due."""
        return {handler.due for handler in chain.handlers if handler.exception == SYSTICK}

    def _record_task_continuation(self, chain: HandlerChain) -> None:
        """Records that the task after a sequence of handlers continues, or starts a job."""
        after = chain.task_after
        if after == IDLE:
            return
        preempted = self.preempted.pop(self.trace.rows[after].priority, after)
        self.ledger.preempted_goes_behind |= preempted != after and preempted in self.open_spans
        if after in self.open_spans:
            self.open_spans[after].running_since = chain.end_cycle
        else:
            self._add_release_delay_to_ledger(after, chain)
            self._begin_task_span(after, JobPhase.STARTING, chain.end_cycle)

    def _add_release_delay_to_ledger(self, task: int, chain: HandlerChain) -> None:
        """Adds to the ledger how long a job waited for its first cycle, unless an equally urgent task delayed it."""
        due = self._last_release_cycle(task, chain.end_cycle)
        priority = self.trace.rows[task].priority
        if due is None or any(at > due for item, at in self.last_ran.items() if item >= priority):
            return
        if any(self.trace.rows[item].priority >= priority for item in self.open_spans):
            return
        line = self.trace.rows[task].line
        others = sum(due - self.unrelated_cycles <= item <= chain.end_cycle for item in self.raised_cycles)
        if self.has_sections or others > (line > 0):
            return
        if line:
            if not any(due - self.unrelated_cycles <= tick <= chain.end_cycle for tick in self.ticks):
                self.ledger.waits.append(
                    ReleaseToStartDelay(
                        chain.end_cycle,
                        chain.end_cycle - due,
                        0,
                        _interrupts_of_handler_chain(self.trace, self.work, [line], begins_chain=True),
                    )
                )
        elif due in self.ticks:
            remote = self.core != TICK_CORE
            self.ledger.waits.append(
                ReleaseToStartDelay(
                    chain.end_cycle, chain.end_cycle - due, self.ticks[due].released, by_other_core=remote
                )
            )

    def _last_release_cycle(self, task: int, now: int) -> int | None:
        """Returns the cycle of a task's last release: of its tick, or of its interrupt."""
        row = self.trace.rows[task]
        if row.line:
            raised = self.trace.lines[row.line - 1].raised
            at = bisect(raised, now - self.trace.origin)
            return self.trace.origin + raised[at - 1] if at else None
        if not row.is_tick_released:
            return None
        if row.is_timer:
            expired = [self._last_releasing_tick_cycle(timer, now) for timer in self.trace.rows if timer.is_timer]
            return max((cycle for cycle in expired if cycle is not None), default=None)
        return self._last_releasing_tick_cycle(row, now)

    def _last_releasing_tick_cycle(self, row: TaskRow, now: int) -> int | None:
        """Returns the cycle of the last tick at which the tick released a task, or a timer expired."""
        tick = self.trace.tick_cycles
        number = row.last_released_job((now - self.trace.origin) // tick)
        return None if number < 0 else self.trace.origin + row.job_arrival_and_release_ticks(number)[1] * tick
