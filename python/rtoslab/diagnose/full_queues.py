"""Queues that fill: sends that failed, so that an item was lost unless its sender tries again, and sends that waited.

That a sender waits may be meant so, and is a note. Overwriting sends never fail.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rtoslab.base import count_with_noun
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding, TimelineTrack
from rtoslab.diagnose.drawings import timeline_track_of_handlers, timeline_tracks_of_tasks
from rtoslab.diagnose.kernel_services import GIVES, RECEIVES, SENDS, TAKES
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import KernelCall, TaskExecutionHistory


def find_full_queues(
    history: TaskExecutionHistory, lengths: Mapping[int, int], names: RunNameFinder
) -> Iterator[DiagnosisFinding]:
    """Yields findings about queues that were full. `lengths` has how many items each queue has room for, by address."""
    taken = {call.object for call in history.calls if call.service.does_serve_any_kernel_service(*TAKES)}
    sends: dict[int, list[KernelCall]] = defaultdict(list)
    receives: dict[int, list[KernelCall]] = defaultdict(list)
    for call in history.calls:
        if (
            call.service.does_serve_any_kernel_service(*SENDS)
            and call.object not in taken
            and not _may_give_semaphore(call, lengths)
        ):
            sends[call.object].append(call)
        elif call.service.does_serve_any_kernel_service(*RECEIVES):
            receives[call.object].append(call)
    for queue, calls in sends.items():
        failed = [call for call in calls if call.ended and not call.has_call_succeeded]
        if failed:
            yield _failed_sends_finding(history, names, queue, calls, failed, receives.get(queue, []))
        waited = _find_sends_to_full_queue(history, calls, receives.get(queue, []), lengths.get(queue))
        if waited:
            yield _make_full_queue_finding(history, names, queue, calls, waited, receives.get(queue, []))


def unknown_queue_lengths_sentence(history: TaskExecutionHistory, lengths: Mapping[int, int]) -> list[str]:
    """Returns a sentence if full queues cannot be found, because one kernel function serves queues and semaphores, and
    no queue's length is known."""
    takes = {call.object for call in history.calls if call.service.does_serve_any_kernel_service(*TAKES)}
    names = {
        call.service.name
        for call in history.calls
        if call.service.does_serve_any_kernel_service(*SENDS)
        and call.service.does_serve_any_kernel_service(*GIVES)
        and call.object not in takes
    }
    if lengths or not names:
        return []
    functions = ", ".join(sorted(names))
    return [f"full queues: {functions} also gives semaphores, and the image does not show which object is a queue."]


def _may_give_semaphore(call: KernelCall, lengths: Mapping[int, int]) -> bool:
    """Whether a call may give a semaphore: its function serves queues too, and its object is not a known queue."""
    return call.service.does_serve_any_kernel_service(*GIVES) and call.object not in lengths


def _failed_sends_finding(
    history: TaskExecutionHistory,
    names: RunNameFinder,
    queue: int,
    calls: Sequence[KernelCall],
    failed: Sequence[KernelCall],
    receives: Sequence[KernelCall],
) -> DiagnosisFinding:
    """Returns the finding about sends to a full queue that failed. `calls` are all sends to the queue, whose address is
    `queue`."""
    first, name = failed[0], names.kernel_object_name(queue)
    sender = names.task_name(first.task) if first.task is not None else names.handler_name(first.core, first.handler)
    waited = (
        " after a wait" if any(call.task is not None and call.end - call.start > _WAITED for call in failed) else ""
    )
    return DiagnosisFinding(
        kind="queue",
        level="warning",
        title=f"The queue {name} was full: {len(failed):,} of {count_with_noun(len(calls), 'send')} failed{waited}.",
        cycle=first.start,
        cycles=failed[-1].end - first.start,
        count=len(failed),
        who=(sender,),
        where=(f"{sender} sends by {first.service.name} in {names.application_call_site_text(first)}",),
        tracks=_timeline_tracks_of_queue_users(history, names, calls, receives, first),
        facts={"queue": name, "failed": len(failed), "sends": len(calls)},
    )


def _timeline_tracks_of_queue_users(
    history: TaskExecutionHistory,
    names: RunNameFinder,
    sends: Sequence[KernelCall],
    receives: Sequence[KernelCall],
    worst: KernelCall,
) -> tuple[TimelineTrack, ...]:
    """Returns timeline tracks of the tasks and handlers that use a queue, around the worst send."""
    at = sends.index(worst)
    start, end = sends[max(0, at - _SENDS_BEFORE)].start, worst.end
    tasks = list(dict.fromkeys(call.task for call in (*sends, *receives) if call.task is not None))
    exceptions = sorted({(call.core, call.handler) for call in (*sends, *receives) if call.task is None})
    lines = [
        timeline_track_of_handlers(history, names.handler_name(*item), [item[1]], start, end) for item in exceptions
    ]
    return (*timeline_tracks_of_tasks(history, names, tasks[:_TASKS_DRAWN], start, end), *lines)


_SENDS_BEFORE: Final = 8
_TASKS_DRAWN: Final = 4
_WAITED: Final = 10_000
"""Cycles: a send that only looks whether there is room takes less."""


def _find_sends_to_full_queue(
    history: TaskExecutionHistory, calls: Sequence[KernelCall], receives: Sequence[KernelCall], length: int | None
) -> list[tuple[KernelCall, int]]:
    """Returns the sends that found the queue full and waited, each with its cycles. `length` is the queue's room in
    items, None if it is unknown."""
    if length is None:
        return []
    blocked = {id(run.blocked_in) for runs in history.runs.values() for run in runs if run.blocked_in is not None}
    steps = [(call.end, 1) for call in calls if call.has_call_succeeded] + [
        (call.end, -1) for call in receives if call.has_call_succeeded
    ]
    steps.sort()
    result, at, count = [], 0, 0
    for call in calls:
        while at < len(steps) and steps[at][0] <= call.start:
            count += steps[at][1]
            at += 1
        if id(call) in blocked and count >= length:
            result.append((call, call.end - call.start))
    return result


def _make_full_queue_finding(
    history: TaskExecutionHistory,
    names: RunNameFinder,
    queue: int,
    calls: Sequence[KernelCall],
    waited: Sequence[tuple[KernelCall, int]],
    receives: Sequence[KernelCall],
) -> DiagnosisFinding:
    """Returns the finding about sends that waited because a queue was full."""
    worst, cycles = max(waited, key=lambda item: item[1])
    name, sender = names.kernel_object_name(queue), names.task_name(worst.task)
    return DiagnosisFinding(
        kind="queue",
        level="note",
        title=(
            f"The queue {name} was full, and {len(waited):,} of {count_with_noun(len(calls), 'send')} waited for room."
        ),
        cycle=worst.start,
        cycles=cycles,
        count=len(waited),
        who=(sender,),
        where=(
            f"{sender} waits for the longest time in {worst.service.name} at {names.application_call_site_text(worst)}",
        ),
        tracks=_timeline_tracks_of_queue_users(history, names, calls, receives, worst),
        facts={"queue": name, "waited": len(waited), "sends": len(calls)},
    )
