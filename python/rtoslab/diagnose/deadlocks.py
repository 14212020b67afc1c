"""Deadlocks: tasks that wait in a circle, each for a lock that the next one holds, or one for a lock of its own.

A task that waits for something else, an event or a message, is in no circle, however long it waits.
"""

from collections.abc import Iterator, Mapping, Sequence

from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.drawings import timeline_tracks_of_tasks
from rtoslab.diagnose.lock_holders import LockHoldingTime, LockUseHistory, LockWaitingTime
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import KernelCall, Task, TaskExecutionHistory

_Link = tuple[LockWaitingTime, LockHoldingTime]
"""A task's wait, and what the next one holds."""


def find_deadlocks(
    history: TaskExecutionHistory, locks: Mapping[int, LockUseHistory], names: RunNameFinder
) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each deadlock: a circle of tasks that wait for each other's locks. `locks` are by
    address."""
    waits = [wait for lock in locks.values() for wait in lock.waits]
    last = {wait.task: wait for wait in sorted(waits, key=lambda wait: wait.start)}
    reported: set[frozenset[Task]] = set()
    for wait in sorted(waits, key=lambda wait: wait.start):
        if wait.take.has_call_succeeded or (not wait.take.ended and wait is not last[wait.task]):
            continue  # it got its lock
        circle = _circle_of_waiting_tasks(wait, locks, waits)
        tasks = frozenset(link[0].task for link in circle)
        if circle and tasks not in reported:
            reported.add(tasks)
            yield _deadlock_finding(circle, history, names)


def _circle_of_waiting_tasks(
    first: LockWaitingTime, locks: Mapping[int, LockUseHistory], waits: Sequence[LockWaitingTime]
) -> list[_Link]:
    """Returns the circle of waiting tasks that a task is part of at the end of its wait, as pairs of a wait and the
    lock's holder. Empty if there is none."""
    cycle, wait, links, seen = first.end - 1, first, list[_Link](), set[Task]()
    while wait.task not in seen:
        seen.add(wait.task)
        holding = locks[wait.take.object].find_lock_holding_at_cycle(cycle)
        if holding is None:
            return []
        links.append((wait, holding))
        if holding.task == first.task:
            return links
        following = next(
            (
                item
                for item in waits
                if item.task == holding.task and item.start <= cycle < item.end and not item.take.has_call_succeeded
            ),
            None,
        )
        if following is None:
            return []
        wait = following
    return []


def _deadlock_finding(circle: Sequence[_Link], history: TaskExecutionHistory, names: RunNameFinder) -> DiagnosisFinding:
    """Returns the finding about one circle of tasks that wait for each other's locks."""
    begin = max(wait.start for wait, _ in circle)
    end = min(wait.end for wait, _ in circle)
    is_final = all(_does_lock_call_wait_forever(wait.take) for wait, _ in circle)
    tasks = [wait.task for wait, _ in circle]
    parts = [
        f"{names.task_name(wait.task)} waits for {names.kernel_object_name(wait.take.object)}, "
        f"which {_lock_holder_name(wait, holding, names)} holds"
        for wait, holding in circle
    ]
    ending = "" if is_final else "; a time-out ends it"
    return DiagnosisFinding(
        kind="deadlock",
        level="error" if is_final else "warning",
        title=f"{', and '.join(parts)}{ending}.",
        cycle=begin,
        cycles=end - begin,
        who=tuple(names.task_name(task) for task in tasks),
        where=tuple(line for wait, holding in circle for line in _lock_call_site_sentences(wait, holding, names)),
        tracks=timeline_tracks_of_tasks(
            history, names, tasks, min(holding.start for _, holding in circle), begin + (end - begin) // 8
        ),
        facts={
            f"lock_{number}": names.kernel_object_name(wait.take.object) for number, (wait, _) in enumerate(circle, 1)
        },
    )


def _lock_holder_name(wait: LockWaitingTime, holding: LockHoldingTime, names: RunNameFinder) -> str:
    """Returns the name of the task that holds a lock, for a sentence. It is "it itself" if the waiting task holds
    it."""
    return "it itself" if holding.task == wait.task else names.task_name(holding.task)


def _does_lock_call_wait_forever(take: KernelCall) -> bool:
    """Whether a call to take a lock has not ended and has no time-out."""
    return not take.ended and take.can_kernel_call_wait_forever


def _lock_call_site_sentences(wait: LockWaitingTime, holding: LockHoldingTime, names: RunNameFinder) -> Iterator[str]:
    """Yields sentences on where a task waits for a lock, and where the lock's holder took it."""
    yield (
        f"{names.task_name(wait.task)} waits in {wait.take.service.name} at "
        f"{names.application_call_site_text(wait.take)}"
    )
    lock = names.kernel_object_name(wait.take.object)
    yield f"{names.task_name(holding.task)} took {lock} in {names.application_call_site_text(holding.take)}"
