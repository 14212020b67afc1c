"""Priority inversions that a third task lengthens.

A more urgent task that waits until a less urgent one gives a lock back is right: that is what a lock is for. It is an
inversion if meanwhile the holder could run and does not, because a third task runs that is less urgent than the one
that waits, and has no part in the lock.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.diagnosis_limits import Limits, microseconds_to_cycles
from rtoslab.diagnose.drawings import timeline_tracks_of_tasks
from rtoslab.diagnose.kernel_services import TAKES
from rtoslab.diagnose.lock_holders import LockUseHistory, LockWaitingTime
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import Task, TaskExecutionHistory

_EXAMINED = 100
"""As many waits are examined on the board, the longest first."""


@dataclass(frozen=True, slots=True)
class _LockHolderPreemption:
    """A time interval in which the holder of a lock was preempted."""

    holder: Task
    core: int
    left: int
    """When it was preempted."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _PriorityInversionCandidate:
    """A wait for a lock that may be a priority inversion, with the other tasks that ran meanwhile."""

    lock: LockUseHistory
    wait: LockWaitingTime
    parts: tuple[_LockHolderPreemption, ...]
    cycles: Counter[Task]
    """Of each third task, within the parts."""


def find_priority_inversions(
    history: TaskExecutionHistory, locks: Mapping[int, LockUseHistory], names: RunNameFinder, limits: Limits
) -> Iterator[DiagnosisFinding]:
    """Yields a finding about priority inversion for each pair of a lock and a task that waited for it, about the worst
    wait."""
    candidates = [
        candidate
        for lock in locks.values()
        for wait in lock.waits
        if (candidate := _possible_priority_inversion(history, locks, lock, wait, names)) is not None
    ]
    candidates.sort(key=lambda candidate: (-candidate.cycles.total(), candidate.wait.start))
    limit = microseconds_to_cycles(limits.inversion_us, history.clock_hz)
    worst: dict[tuple[int, Task], DiagnosisFinding] = {}
    counts: Counter[tuple[int, Task]] = Counter()
    for candidate in candidates[:_EXAMINED]:
        finding = _priority_inversion_finding(candidate, history, names, limit)
        if finding is not None:
            key = candidate.lock.address, candidate.wait.task
            counts[key] += 1
            worst.setdefault(key, finding)
    for key, finding in worst.items():
        yield replace(finding, count=counts[key])


def _possible_priority_inversion(
    history: TaskExecutionHistory,
    locks: Mapping[int, LockUseHistory],
    lock: LockUseHistory,
    wait: LockWaitingTime,
    names: RunNameFinder,
) -> _PriorityInversionCandidate | None:
    """Returns a wait for a lock as a possible priority inversion. None if no other task ran while the holder was
    preempted."""
    holders: set[Task] = set()
    parts = tuple(_lock_holder_preemption_intervals(history, locks, lock, wait.start, wait.end, {wait.task}, holders))
    cycles: Counter[Task] = Counter()
    for part in parts:
        for task, count in history.running_cycles_by_task(part.start, part.end).items():
            if task not in {wait.task, *holders} and not names.is_idle_task(task):
                cycles[task] += count
    return _PriorityInversionCandidate(lock, wait, parts, cycles) if cycles else None


def _lock_holder_preemption_intervals(
    history: TaskExecutionHistory,
    locks: Mapping[int, LockUseHistory],
    lock: LockUseHistory,
    start: int,
    end: int,
    waiting: set[Task],
    holders: set[Task],
) -> Iterator[_LockHolderPreemption]:
    """Yields the time intervals in which the holder of a lock was preempted between two cycles. If the holder waits for
    another lock, that lock's holder is examined in its place.

    `waiting` are the tasks that wait. The tasks that held a lock are added to `holders`.
    """
    for holding in lock.lock_holding_times_within_interval(start, end):
        task = holding.task
        if task in waiting:
            continue
        holders.add(task)
        for before, back, _ in history.gaps_between_task_runs(task):
            since, until = max(before.end, holding.start, start), min(back, holding.end, end)
            if since >= until:
                continue
            call = before.blocked_in
            if call is None:
                yield _LockHolderPreemption(task, before.core, before.end, since, until)
            elif call.service.does_serve_any_kernel_service(*TAKES) and call.object in locks:
                yield from _lock_holder_preemption_intervals(
                    history, locks, locks[call.object], since, until, {*waiting, task}, holders
                )


def _priority_inversion_finding(
    candidate: _PriorityInversionCandidate, history: TaskExecutionHistory, names: RunNameFinder, limit: int
) -> DiagnosisFinding | None:
    """Returns the finding if tasks less urgent than the waiting one ran in place of the lock's holder, for more than
    `limit` cycles. Else None."""
    wait = candidate.wait
    names.replay.go_to_cycle(wait.take.start)
    priorities = names.task_priorities(history.runs)
    mine = priorities.get(wait.task)
    if mine is None:
        return None
    parts = [part for part in candidate.parts if priorities.get(part.holder, mine) < mine]
    cycles: Counter[Task] = Counter()
    for task in candidate.cycles:
        if priorities.get(task, mine) < mine:
            cycles[task] = sum(history.run_cycles(task, part.start, part.end) for part in parts)
    cycles = +cycles
    if cycles.total() <= limit or not parts:
        return None
    return _inversion_finding(candidate, parts[0], cycles, history, names)


def _inversion_finding(
    candidate: _PriorityInversionCandidate,
    part: _LockHolderPreemption,
    cycles: Counter[Task],
    history: TaskExecutionHistory,
    names: RunNameFinder,
) -> DiagnosisFinding | None:
    """Returns the finding about a priority inversion. None if the holder was not preempted in the application's
    code."""
    wait, lock = candidate.wait, candidate.lock
    waits_at = names.application_call_site_text(wait.take)
    holding = next(
        (item for item in lock.lock_holding_times_within_interval(wait.start, wait.end) if item.task == part.holder),
        None,
    )
    taken_at = names.application_call_site_text(holding.take) if holding is not None else "an unknown place"
    preempted_at, is_own = names.interrupted_code_location_text(part.core, part.left)
    if not is_own:  # it may have been on its way to sleep
        return None
    (worst, _), others = cycles.most_common(1)[0], len(cycles) - 1
    core, middle = _longest_task_run(history, worst, candidate.parts)
    runs_at, _ = names.interrupted_code_location_text(core, middle)
    high, low, third = names.task_name(wait.task), names.task_name(part.holder), names.task_name(worst)
    name = names.kernel_object_name(lock.address)
    also = f" and {others} more" if others else ""
    return DiagnosisFinding(
        kind="inversion",
        level="error",
        title=f"{high} waited for {name}, which {low} held. "
        f"Meanwhile {third}{also} ran, although less urgent than {high}.",
        cycle=wait.start,
        cycles=cycles.total(),
        who=(high, low, third),
        where=(
            f"{high} waits in {wait.take.service.name} at {waits_at}",
            f"{low} took it in {taken_at}, and was preempted in {preempted_at}",
            f"{third} ran in {runs_at}",
        ),
        tracks=timeline_tracks_of_tasks(history, names, [wait.task, part.holder, worst], wait.start, wait.end),
        facts={
            "lock": name, "waiter": high, "holder": low, "lengthened_by": third,
            "wait_cycles": wait.end - wait.start, "lengthened_cycles": cycles.total(),
        },
    )  # fmt: skip


def _longest_task_run(
    history: TaskExecutionHistory, task: Task, parts: Sequence[_LockHolderPreemption]
) -> tuple[int, int]:
    """Returns the core and the middle cycle of the longest uninterrupted run of a task within some time intervals, so
    that the run's place in the code can be read there."""
    overlaps = [
        (min(run.end, part.end) - max(run.start, part.start), run.core, max(run.start, part.start))
        for part in parts
        for run in history.task_run_intervals_within(task, part.start, part.end)
    ]
    length, core, start = max(overlaps)
    return core, start + length // 2
