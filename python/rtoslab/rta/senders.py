"""Arrivals of tasks that other tasks release, as the analysis of a task of some priority sees them.

While a sender is at least as urgent as the analysed task, its job and the job that it releases belong to one busy
period. The released task then arrives with its sender. The analysis knows only the latest end of a less urgent sender's
send (holistic analysis, Tindell and Clark 1994). docs/response-time-model.md argues for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet

Sends = Mapping[str, int | None]
"""By the task that it releases, the latest end of each send after its arrival. None if it has no bound."""


class UnboundedSendError(Exception):
    """Raised if a task's releases have no bound, because its sender has none. Contains a clause with the reason."""


def tasks_with_sender_jitter_and_offset(
    tasks: Sequence[IntegerTimeTask], system: IntegerTimeTaskSet, priority: int, latest_sends: Sends
) -> list[IntegerTimeTask]:
    """Returns tasks of at least this priority, with the jitter and offset of their releases.
    Raises UnboundedSendError.
    """
    by_name = {task.name: task for task in system.tasks}
    return [_task_with_inherited_arrivals(task, by_name, priority, latest_sends) for task in tasks]


def _task_with_inherited_arrivals(
    task: IntegerTimeTask, by_name: Mapping[str, IntegerTimeTask], priority: int, latest_sends: Sends
) -> IntegerTimeTask:
    """Returns a task with the jitter and offset of its releases, as a task of this priority sees them.
    A sender on another core is never in the same busy period.
    """
    first = task
    while first.sender:
        sender = by_name[first.sender]
        if sender.priority < priority or sender.core != first.core:
            latest = latest_sends[first.name]
            if latest is None:
                raise UnboundedSendError(f"{sender.name}, which releases {first.name}, has no bound")
            return replace(task, jitter=latest, offset=None)
        first = sender
    return task if first is task else replace(task, jitter=first.jitter, offset=first.offset)


def successors_at_least_as_urgent(task: IntegerTimeTask, system: IntegerTimeTaskSet) -> dict[str, int]:
    """Returns the tasks that are released by jobs of this one only, over tasks at least as urgent as this one and on
    its core. Each with the number of the send by which it begins, from 0 on.
    """
    by_name = {item.name: item for item in system.tasks}
    successors: dict[str, int] = {}
    waiting = [(name, number) for number, name in enumerate(task.gives)]
    while waiting:
        name, number = waiting.pop()
        if by_name[name].priority >= task.priority and by_name[name].core == task.core:
            successors[name] = number
            waiting += [(after, number) for after in by_name[name].gives]
    return successors


def tasks_releasing_more_urgent_ones(system: IntegerTimeTaskSet) -> list[tuple[IntegerTimeTask, str]]:
    """Returns the tasks that release a more urgent one or one of another core, each with that one, the least urgent
    first. The bounds of each depend on the sends of less urgent ones of its core, and of other cores.
    """
    by_name = {task.name: task for task in system.tasks}
    upwards = [
        (task, name)
        for task in system.tasks
        for name in task.gives
        if by_name[name].priority > task.priority or by_name[name].core != task.core
    ]
    return sorted(upwards, key=lambda pair: pair[0].priority)


def tasks_released_by_other_cores(system: IntegerTimeTaskSet) -> frozenset[str]:
    """Returns the names of the tasks that a task of another core releases."""
    cores = {task.name: task.core for task in system.tasks}
    return frozenset(task.name for task in system.tasks if task.sender and cores[task.sender] != task.core)


def preceding_tasks_in_release_chain(task: IntegerTimeTask, by_name: Mapping[str, IntegerTimeTask]) -> list[str]:
    """Returns the names of the tasks before a task in its chain, the nearest first."""
    names: list[str] = []
    while task.sender:
        names.append(task.sender)
        task = by_name[task.sender]
    return names
