"""Whose the cores' cycles were: each task's without handlers, and each handler's without those that interrupted it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import HandlerExecution, TaskExecutionHistory

IDLING: Final = "(no task)"
"""The time in which a kernel without an idle task idles, and that of start-up code."""
_SHOWN_FROM: Final = 1000


@dataclass(frozen=True, slots=True)
class ProcessorLoadShare:
    """The share of the cores' time that one task or handler took."""

    name: str
    is_handler: bool
    is_idle: bool
    cycles: int
    percent: float
    """Of one core's time."""
    times: int
    """How often it got the core, or began."""


def _with_tail_chaining(handlers: Sequence[HandlerExecution]) -> list[HandlerExecution]:
    """Returns the handlers of each core in order, where one that follows another at once begins at the end of that one:
    no task has the cycles between."""
    result: list[HandlerExecution] = []
    ends: dict[tuple[int, int], int] = {}
    for handler in handlers:
        key = handler.core, handler.depth
        result.append(replace(handler, start=ends[key]) if handler.follows and key in ends else handler)
        ends[key] = handler.end
    return result


def processor_load_shares(history: TaskExecutionHistory, names: RunNameFinder) -> tuple[ProcessorLoadShare, ...]:
    """Returns the load of each task, then of each handler, the greatest first."""
    handlers, inside, begins = Counter[int](), Counter[int](), Counter[int]()
    stack: list[tuple[int, int, int]] = []
    ordered = _with_tail_chaining(sorted(history.handlers, key=lambda handler: (handler.core, handler.start)))
    for handler in ordered:
        length = handler.end - handler.start
        handlers[handler.exception] += length
        begins[handler.exception] += 1
        while stack and (stack[-1][0] != handler.core or stack[-1][1] <= handler.start):
            stack.pop()
        if stack:
            handlers[stack[-1][2]] -= length
        stack.append((handler.core, handler.end, handler.exception))
    outer = {core: [item for item in ordered if item.core == core and not item.depth] for core in range(2)}
    for task, runs in history.runs.items():
        first = dict.fromkeys(outer, 0)
        for run in runs:
            mine, at = outer[run.core], first[run.core]
            while at < len(mine) and mine[at].end <= run.start:
                at += 1
            first[run.core] = at
            while at < len(mine) and mine[at].start < run.end:
                inside[task] += min(mine[at].end, run.end) - max(mine[at].start, run.start)
                at += 1
    whole = max(1, history.end - history.start)
    cores = {run.core for runs in history.runs.values() for run in runs}
    tasks = [
        (
            names.task_name(task),
            False,
            names.is_idle_task(task),
            sum(run.end - run.start for run in runs) - inside[task],
            len(runs),
        )
        for task, runs in history.runs.items()
    ]
    others = [
        (names.handler_name(0, exception), True, False, cycles, begins[exception])
        for exception, cycles in handlers.items()
    ]
    rest = whole * max(1, len(cores)) - sum(row[3] for row in (*tasks, *others))
    if rest > whole // _SHOWN_FROM:
        tasks.append((IDLING, False, True, rest, 0))
    return tuple(
        ProcessorLoadShare(name, is_handler, is_idle, cycles, 100 * cycles / whole, times)
        for part in (tasks, others)
        for name, is_handler, is_idle, cycles, times in sorted(part, key=lambda item: -item[3])
    )
