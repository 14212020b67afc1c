"""Finds out which task held which lock when, and which task waited: mutexes, and semaphores that are used as such.

A semaphore is a lock if each task that took it gave it back itself before anybody else took it, and no handler and no
other task gave it. An object counts or signals if two tasks hold it at once, or a task gives it without having taken
it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rtoslab.diagnose.kernel_services import CONDITION_WAIT, GIVES, TAKES
from rtoslab.diagnose.task_history import KernelCall, Task, TaskExecutionHistory

_MUTEX_TAKES = ("mutex_lock", "mutex_lock_for")
_OTHER_TAKES = ("semaphore_take", "semaphore_take_for")


@dataclass(frozen=True, slots=True)
class LockHoldingTime:
    """A time during which a task held a lock, from the return of its take to the begin of its give."""

    task: Task
    start: int
    end: int
    take: KernelCall


@dataclass(frozen=True, slots=True)
class LockWaitingTime:
    """A time during which a task waited for a lock."""

    task: Task
    start: int
    end: int
    take: KernelCall


@dataclass(slots=True)
class LockUseHistory:
    """A lock (a mutex, or a semaphore used as one) with the times at which tasks held and awaited it."""

    address: int
    holdings: list[LockHoldingTime] = field(default_factory=list)
    waits: list[LockWaitingTime] = field(default_factory=list)

    def find_lock_holding_at_cycle(self, cycle: int) -> LockHoldingTime | None:
        """Returns who held the lock at a cycle, and from when to when. None if nobody did."""
        at = bisect_right(self.holdings, cycle, key=lambda holding: holding.start) - 1
        return self.holdings[at] if at >= 0 and cycle < self.holdings[at].end else None

    def lock_holding_times_within_interval(self, start: int, end: int) -> Sequence[LockHoldingTime]:
        """Returns the times at which the lock was held that overlap an interval."""
        return [holding for holding in self.holdings if holding.start < end and holding.end > start]


@dataclass(frozen=True, slots=True)
class _LockTakeOrGiveEvent:
    """A successful take or a give of a lock."""

    cycle: int
    order: int
    """Gives before takes of one cycle."""
    call: KernelCall
    is_take: bool


def find_task_locks(history: TaskExecutionHistory) -> dict[int, LockUseHistory]:
    """Returns the locks of a run (mutexes, and semaphores used as such), by address."""
    steps: dict[int, list[_LockTakeOrGiveEvent]] = defaultdict(list)
    for call in history.calls:
        if call.service.does_serve_any_kernel_service(*TAKES) and call.has_call_succeeded:
            steps[call.object].append(_LockTakeOrGiveEvent(call.end, 1, call, is_take=True))
        elif call.service.does_serve_any_kernel_service(CONDITION_WAIT) and call.timeout is not None:
            steps[call.timeout].append(_LockTakeOrGiveEvent(call.start, 0, call, is_take=False))
            if call.ended:
                steps[call.timeout].append(_LockTakeOrGiveEvent(call.end, 1, call, is_take=True))
        elif call.service.does_serve_any_kernel_service(*GIVES) and (call.has_call_succeeded or not call.ended):
            steps[call.object].append(_LockTakeOrGiveEvent(call.start, 0, call, is_take=False))
    waits = _lock_waiting_times(history)
    locks = {}
    for address, mine in steps.items():
        if any(step.is_take for step in mine) or address in waits:
            holdings = _lock_holding_times(sorted(mine, key=lambda step: (step.cycle, step.order)), history.end)
            if holdings is not None:
                locks[address] = LockUseHistory(address, holdings, waits.get(address, []))
    return locks


def _lock_holding_times(steps: Sequence[_LockTakeOrGiveEvent], end: int) -> list[LockHoldingTime] | None:
    """Returns the times at which tasks held a lock, from its takes and gives in order. None if the object is not used
    as a lock. `end` is the end of the run."""
    holdings: list[LockHoldingTime] = []
    take: KernelCall | None = None
    depth = 0
    for step in steps:
        task, is_mutex = step.call.task, _is_mutex_only_call(step.call)
        if step.is_take:
            if take is not None and take.task != task:
                if not is_mutex:
                    return None
                holdings.append(_lock_holding_time_of_take(take, step.cycle))
                take = None
            depth = depth + 1 if take is not None else 1
            take = take or step.call
        elif take is None or take.task != task:
            if not is_mutex:
                return None
        else:
            depth -= 1
            if depth == 0:
                holdings.append(_lock_holding_time_of_take(take, step.cycle))
                take = None
    if take is not None:
        holdings.append(_lock_holding_time_of_take(take, end + 1))
    return holdings if all(holding.task is not None for holding in holdings) else None


def _is_mutex_only_call(call: KernelCall) -> bool:
    """Whether the called kernel function is for mutexes alone."""
    service = call.service
    if service.does_serve_any_kernel_service(CONDITION_WAIT):
        return True
    return service.does_serve_any_kernel_service(
        *_MUTEX_TAKES, "mutex_unlock"
    ) and not service.does_serve_any_kernel_service(*_OTHER_TAKES, "semaphore_give")


def _lock_holding_time_of_take(take: KernelCall, end: int) -> LockHoldingTime:
    """Returns the time in which a task held a lock: from the return of its `take` to cycle `end`."""
    assert take.task is not None
    return LockHoldingTime(take.task, take.end, end, take)


def _lock_waiting_times(history: TaskExecutionHistory) -> Mapping[int, list[LockWaitingTime]]:
    """Returns the times at which tasks waited to take an object, by the object's address."""
    waits: dict[int, list[LockWaitingTime]] = defaultdict(list)
    for task in history.runs:
        for before, end, _ in history.gaps_between_task_runs(task):
            call = before.blocked_in
            if call is not None and call.service.does_serve_any_kernel_service(*TAKES):
                waits[call.object].append(LockWaitingTime(task, before.end, end, call))
    return waits
