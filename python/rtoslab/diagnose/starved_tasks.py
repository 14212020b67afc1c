"""Starvation: a task that could run does not, because others have the core.

A task could run for certain where it was preempted in code of its own, outside every call in which it may wait, and
nobody suspended or ended it since.
"""

from collections.abc import Iterator
from dataclasses import replace

from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.diagnosis_limits import Limits, microseconds_to_cycles
from rtoslab.diagnose.drawings import timeline_tracks_of_tasks
from rtoslab.diagnose.kernel_services import DELETE, SUSPEND
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import Task, TaskExecutionHistory, TaskRunInterval

_NAMED = 3
_BUSY = 0.99
"""Of the time, at least, other tasks run. A kernel without an idle task idles in none."""


def find_starved_tasks(
    history: TaskExecutionHistory, names: RunNameFinder, limits: Limits
) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each task that was ready but did not run for longer than the limit, about the longest
    time."""
    limit = microseconds_to_cycles(limits.starvation_ms * 1000, history.clock_hz)
    for task in history.runs:
        if names.is_idle_task(task):
            continue
        gaps = [
            (end - before.end, before, end)
            for before, end, _ in history.gaps_between_task_runs(task)
            if before.blocked_in is None
            and end - before.end > limit
            and not _is_suspended_or_deleted(history, task, before.end, end)
        ]
        for cycles, before, end in sorted(gaps, key=lambda gap: -gap[0])[:1]:
            finding = _starvation_finding(history, names, task, before, end)
            if finding is not None:
                yield replace(finding, cycles=cycles, count=len(gaps))


def _is_suspended_or_deleted(history: TaskExecutionHistory, task: Task, start: int, end: int) -> bool:
    """Whether another task suspended or deleted the task between two cycles."""
    return any(
        call.object == task and start <= call.start < end and call.task != task
        for call in history.calls
        if call.service.does_serve_any_kernel_service(SUSPEND, DELETE)
    )


def _starvation_finding(
    history: TaskExecutionHistory, names: RunNameFinder, task: Task, before: TaskRunInterval, end: int
) -> DiagnosisFinding | None:
    """Returns the finding about a task that was ready and did not run after the run `before`. None if it could not run,
    or if no other task had the core."""
    place, is_own = names.interrupted_code_location_text(before.core, before.end)
    if not is_own:
        return None
    running = {
        other: cycles for other, cycles in history.running_cycles_by_task(before.end, end).items() if other != task
    }
    is_busy = sum(running.values()) >= _BUSY * (end - before.end)
    if not is_busy or any(names.is_idle_task(other) for other in running):
        return None  # it could not run: the core idled
    if history.handler_cycles(before.end, end) > (end - before.end) // 2:
        return None  # a handler has the core, as after a fault: no task keeps it away
    shares = [
        f"{names.task_name(other)} ({100 * cycles / (end - before.end):.0f} %)"
        for other, cycles in list(running.items())[:_NAMED]
    ]
    name = names.task_name(task)
    return DiagnosisFinding(
        kind="starvation",
        level="error",
        title=f"{name} was ready but did not run. Meanwhile, {', '.join(shares) or 'handlers'} ran.",
        cycle=before.end,
        who=(name, *(names.task_name(other) for other in list(running)[:_NAMED])),
        where=(f"{name} was preempted in {place}",),
        tracks=timeline_tracks_of_tasks(history, names, [task, *list(running)[:_NAMED]], before.end, end),
    )
