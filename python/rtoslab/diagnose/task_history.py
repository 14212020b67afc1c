"""The history of the tasks of a run: when each ran, when it was off the core and why, and every call that may wait.

A task that does not run need not be waiting. So a task is called *preempted* only outside every call that may block,
and *waiting* only if something less urgent ran instead of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from rtoslab.diagnose.kernel_services import ImageKernelServiceFunction
from rtoslab.instruments import ObservedRunRecording
from rtoslab.targets import (
    EVENT,
    IDENT_CURRENT,
    KIND_CALL,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_RETURN,
    KIND_THREAD,
    KIND_WRITE,
    IdleInHandlerEventFilter,
    OmittedTaskPointerWriteInserter,
)

IDENT_ARGUMENTS: Final = 0x2000
"""Plus the index of a service: the watch that gives its second argument and its caller."""
_NEAR: Final = 64
"""Cycles between the two events of one call, at most; and between a handler's return and the next instruction."""
_HANDLERS_BACK: Final = 256
"""So many handlers may follow each other without an instruction between."""
Task = int
"""The address of a task's control block, or minus the number of a thread without one."""


@dataclass(slots=True)
class KernelCall:
    """A call of a kernel function, with the task or handler that made it. Cycles since reset."""

    task: Task | None
    """None: a handler's."""
    core: int
    service: ImageKernelServiceFunction
    start: int
    object: int
    end: int = 0
    """Where it is open, the run's end."""
    ended: bool = False
    returned: int = 0
    timeout: int | None = None
    """Its argument of time, in ticks. None where it was not seen."""
    caller: int = 0
    """Where its caller goes on."""
    handler: int = 0
    """The exception whose handler made it. 0: a task's."""

    @property
    def has_call_succeeded(self) -> bool:
        """Whether the call ended and did what it should, by its result. A function without a result code counts as
        successful."""
        return self.ended and (self.service.success is None or self.returned == self.service.success)

    @property
    def can_kernel_call_wait_forever(self) -> bool:
        """Whether the call has no time-out, so that it may wait for ever."""
        return self.service.forever is None or self.timeout == self.service.forever


@dataclass(slots=True)
class HandlerExecution:
    """One run of an exception handler."""

    core: int
    exception: int
    start: int
    """Its first cycle."""
    entry_cycles: int
    """From the exception's recognition to there."""
    end: int = 0
    ended: bool = False
    depth: int = 0
    """How many handlers it interrupted."""
    follows: bool = False
    """Whether it began as another one ended, with no instruction between (tail-chained)."""


@dataclass(slots=True)
class TaskRunInterval:
    """A time interval in which a task had a core."""

    core: int
    start: int
    end: int = 0
    blocked_in: KernelCall | None = None
    """The call in which it left the core. None: it was in none that may block."""
    ended: bool = False
    """Whether it left the core before the run's end."""


@dataclass(slots=True)
class TaskExecutionHistory:
    """The history of a run of an image: when tasks and handlers ran, and which kernel functions were called."""

    start: int
    end: int
    clock_hz: int
    runs: dict[Task, list[TaskRunInterval]] = field(default_factory=dict)
    entries: dict[Task, int] = field(default_factory=dict)
    """Address of the function that each task began with."""
    calls: list[KernelCall] = field(default_factory=list)
    """By their starts."""
    handlers: list[HandlerExecution] = field(default_factory=list)
    """By their starts."""

    def gaps_between_task_runs(self, task: Task) -> Iterator[tuple[TaskRunInterval, int, bool]]:
        """Yields the gaps in which a task had no core: its run before the gap, the cycle of the gap's end, and whether
        the task came back."""
        runs = self.runs.get(task, [])
        for before, after in pairwise(runs):
            yield before, after.start, True
        if runs and runs[-1].ended and runs[-1].end < self.end:
            yield runs[-1], self.end, False

    def run_cycles(self, task: Task, start: int, end: int) -> int:
        """Returns the cycles between `start` and `end` in which a task had a core, including handlers that ran
        meanwhile."""
        return sum(
            min(run.end, end) - max(run.start, start) for run in self.task_run_intervals_within(task, start, end)
        )

    def task_run_intervals_within(self, task: Task, start: int, end: int) -> list[TaskRunInterval]:
        """Returns the runs of a task that overlap the cycles from `start` to `end`."""
        runs = self.runs.get(task, [])
        first = bisect_right(runs, start, key=lambda run: run.end)
        last = bisect_left(runs, end, key=lambda run: run.start)
        return runs[first:last]

    def running_cycles_by_task(self, start: int, end: int) -> dict[Task, int]:
        """Returns the cycles for which each task had a core between `start` and `end`, the most first."""
        cycles = {task: self.run_cycles(task, start, end) for task in self.runs}
        return dict(sorted(((task, count) for task, count in cycles.items() if count), key=lambda item: -item[1]))

    def handler_cycles(self, start: int, end: int) -> int:
        """Returns the cycles of all exception handlers between `start` and `end`."""
        last = bisect_left(self.handlers, end, key=lambda handler: handler.start)
        return sum(
            max(0, min(handler.end, end) - max(handler.start, start))
            for handler in self.handlers[:last]
            if not handler.depth
        )

    def last_thread_mode_cycle(self, core: int, cycle: int) -> int:
        """Returns the last cycle at or before this one in which a core executed no handler.

        A handler that has just returned counts as active: a task is seen to leave the core only then.
        """
        at = bisect_right(self.handlers, cycle, key=lambda handler: handler.start)
        first: HandlerExecution | None = None
        for handler in reversed(self.handlers[max(0, at - _HANDLERS_BACK) : at]):
            if handler.core != core or handler.depth:
                continue
            if first is None and handler.ended and handler.end < cycle - _NEAR:
                return cycle
            first = handler
            if not handler.follows:
                break
        return cycle if first is None else max(self.start, first.start - first.entry_cycles - 1)


class HistoryReader:
    """Builds the history of tasks, calls and handlers from the events of a recorded run."""

    def __init__(
        self,
        recording: ObservedRunRecording,
        services: Mapping[int, ImageKernelServiceFunction],
        words: Mapping[int, int],
    ) -> None:
        """`words`: core -> address of the word that names its running task."""
        self._recording = recording
        self._services = services
        probes = recording.subject.kernel.probes if recording.subject.kernel else None
        self._no_task = probes.values_that_mean_no_task if probes else frozenset()
        self._history = TaskExecutionHistory(recording.start_cycle, recording.end_cycle, recording.clock_hz)
        self._current = {core: recording.words_at_start.get(address, 0) for core, address in words.items()}
        raw = OmittedTaskPointerWriteInserter(recording.subject.kernel, self._current).filter_events(recording.events)
        self._events = IdleInHandlerEventFilter().filter_events(np.frombuffer(raw, dtype=EVENT))
        self._running: dict[int, tuple[Task, TaskRunInterval]] = {}
        self._handlers: dict[int, list[HandlerExecution]] = {core: [] for core in range(recording.subject.cores)}
        self._left: dict[int, int] = {}
        """Core -> the cycle in which its last handler returned."""
        self._open: dict[tuple[str, int], list[KernelCall]] = {}
        self._arguments = self._watched_call_arguments()

    def read_history(self) -> TaskExecutionHistory:
        """Returns what the tasks and handlers did during the whole recording."""
        steps = {
            KIND_WRITE: self._handle_current_task_write, KIND_THREAD: self._handle_thread_return,
            KIND_EXCEPTION_ENTER: self._handle_exception_entry, KIND_EXCEPTION_EXIT: self._handle_exception_return,
            KIND_CALL: self._handle_kernel_call, KIND_RETURN: self._handle_kernel_return,
        }  # fmt: skip
        events, start = self._events, self._history.start
        before = set() if self._current else {KIND_THREAD}  # with tasks, the first of them begins at the start
        fields = ("kind", "core", "cycle", "id", "value", "pc")
        for kind, core, cycle, ident, value, pc in zip(*(events[name].tolist() for name in fields), strict=True):
            if kind in steps and (cycle >= start or kind in before):
                steps[kind](core, cycle, ident, value, pc)
        self._close_open_intervals_at_recording_end()
        return self._history

    def _watched_call_arguments(self) -> dict[tuple[int, int], tuple[Sequence[int], Sequence[int], Sequence[int]]]:
        """Returns cycles, second arguments and return addresses of the watched calls, by (core, service)."""
        events = self._events
        watched = events[(events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_ARGUMENTS)]
        result = {}
        for index in self._services:
            for core in range(self._recording.subject.cores):
                mine = watched[(watched["id"] == IDENT_ARGUMENTS + index) & (watched["core"] == core)]
                result[core, index] = (mine["cycle"].tolist(), mine["zero"].tolist(), mine["pc"].tolist())
        return result

    def _handle_current_task_write(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a write to the kernel's pointer to the current task. `value` is the control block."""
        on = ident - IDENT_CURRENT
        if value not in self._no_task:
            self._current[on] = value
        elif on in self._running:
            self._end_task_run(on, cycle)

    def _handle_thread_return(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a return to a thread, which may be a task switch. `value` is the thread's number."""
        task = self._current.get(core) or -value
        self._history.entries.setdefault(task, pc)
        cycle = max(cycle, self._history.start)
        before = self._running.get(core)
        if before is not None and before[0] == task:
            return
        if before is not None:
            self._end_task_run(core, cycle)
        run = TaskRunInterval(core, cycle)
        self._running[core] = task, run
        self._history.runs.setdefault(task, []).append(run)

    def _end_task_run(self, core: int, cycle: int) -> None:
        """Ends the present run of the task on a core at this cycle."""
        task, run = self._running.pop(core)
        run.end, run.ended = cycle, True
        run.blocked_in = self._outermost_blocking_kernel_call(task)
        if cycle <= run.start:
            self._history.runs[task].remove(run)

    def _outermost_blocking_kernel_call(self, task: Task) -> KernelCall | None:
        """Returns the outermost call in progress in which a task may wait. None if there is none."""
        return next((call for call in self._open.get(("task", task), []) if call.service.may_block_task), None)

    def _handle_exception_entry(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles the entry into an exception handler. `value` are the cycles since the exception's recognition."""
        stack = self._handlers.setdefault(core, [])
        follows = not stack and 0 <= cycle - self._left.get(core, -_NEAR) <= value
        handler = HandlerExecution(core, ident, cycle, value, depth=len(stack), follows=follows)
        stack.append(handler)
        self._history.handlers.append(handler)

    def _handle_exception_return(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles the return from an exception handler."""
        stack = self._handlers.setdefault(core, [])
        if stack and stack[-1].exception == ident:
            handler = stack.pop()
            handler.end, handler.ended = cycle, True
            self._left[core] = cycle

    def _current_handler_or_task_of_core(self, core: int) -> tuple[str, int]:
        """Returns what a core executes: `handler` and the core, or `task` and its control block."""
        if self._handlers.get(core):
            return "handler", core
        return "task", self._running[core][0] if core in self._running else 0

    def _handle_kernel_call(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a call of a watched kernel function. `ident` is its number, `value` the first argument."""
        context = self._current_handler_or_task_of_core(core)
        handlers = self._handlers.get(core)
        task = context[1] if context[0] == "task" else None
        call = KernelCall(
            task, core, self._services[ident], cycle, value, handler=handlers[-1].exception if handlers else 0
        )
        cycles, seconds, callers = self._arguments[core, ident]
        at = bisect_left(cycles, cycle - _NEAR)
        if at < len(cycles) and cycles[at] <= cycle + _NEAR:
            call.timeout, call.caller = seconds[at], callers[at]
        self._open.setdefault(context, []).append(call)
        if handlers or core in self._running:  # start-up code makes objects before the first task runs
            self._history.calls.append(call)

    def _handle_kernel_return(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles the return of a watched kernel function. `value` is its result."""
        calls = self._open.get(self._current_handler_or_task_of_core(core), [])
        while calls:
            call = calls.pop()
            call.end, call.ended, call.returned = cycle, True, value
            if call.service is self._services[ident]:
                return

    def _close_open_intervals_at_recording_end(self) -> None:
        """Ends all runs, calls and handlers that are still in progress at the end of the recording."""
        for _, run in self._running.values():
            run.end = self._history.end
        for calls in self._open.values():
            for call in calls:
                call.end = self._history.end
        for handlers in self._handlers.values():
            for handler in handlers:
                handler.end = self._history.end
        self._history.handlers.sort(key=lambda handler: handler.start)
