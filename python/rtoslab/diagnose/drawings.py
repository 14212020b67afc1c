"""The timeline around a finding: a line for each task, handler or lock that takes part."""

from collections.abc import Iterable, Sequence

from rtoslab.diagnose.diagnosis_findings import FindingTimelineBar, TimelineTrack
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import Task, TaskExecutionHistory

_MARGIN = 8
"""The window reaches so far before and after: an eighth of what it is about."""
_LEAST_CYCLES = 200
_SPANS_MOST = 400


def widen_time_interval(history: TaskExecutionHistory, start: int, end: int) -> tuple[int, int]:
    """Returns a time interval (start, end) widened by a margin at both ends, within the run. In cycles."""
    margin = max(_LEAST_CYCLES, (end - start) // _MARGIN)
    return max(history.start, start - margin), min(history.end, end + margin)


def timeline_tracks_of_tasks(
    history: TaskExecutionHistory, names: RunNameFinder, tasks: Sequence[Task], start: int, end: int
) -> tuple[TimelineTrack, ...]:
    """Returns timeline tracks of these tasks around an interval: when each ran, waited in a call, or was ready and did
    not run."""
    since, until = widen_time_interval(history, start, end)
    return tuple(
        TimelineTrack(names.task_name(task), _timeline_bars_of_task(history, task, since, until)) for task in tasks
    )


def _timeline_bars_of_task(
    history: TaskExecutionHistory, task: Task, since: int, until: int
) -> tuple[FindingTimelineBar, ...]:
    """Returns the bars of one task's track on a timeline, between two cycles."""
    spans = [
        FindingTimelineBar(max(run.start, since), min(run.end, until), "runs")
        for run in history.task_run_intervals_within(task, since, until)
    ]
    for before, back, _ in history.gaps_between_task_runs(task):
        start, end = max(before.end, since), min(back, until)
        if start < end:
            call = before.blocked_in
            spans.append(
                FindingTimelineBar(start, end, "waits" if call else "ready", call.service.name if call else "")
            )
    return tuple(sorted(spans, key=lambda span: span.start)[:_SPANS_MOST])


def timeline_track_of_handlers(
    history: TaskExecutionHistory, name: str, exceptions: Iterable[int], start: int, end: int
) -> TimelineTrack:
    """Returns one timeline track of the handlers of these exceptions, around an interval."""
    since, until = widen_time_interval(history, start, end)
    chosen = set(exceptions)
    spans = [
        FindingTimelineBar(max(handler.start, since), min(handler.end, until), "handler")
        for handler in history.handlers
        if handler.exception in chosen and handler.start < until and handler.end > since
    ]
    return TimelineTrack(name, tuple(spans[:_SPANS_MOST]))
