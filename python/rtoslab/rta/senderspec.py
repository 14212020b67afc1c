"""Tasks that other tasks release, as a file states them: `gives` of a task names the task that each of its jobs
releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rtoslab.base import TaskSetError
from rtoslab.intake import quote_text
from rtoslab.rta.units import Duration


class ReleasingInterrupt(Protocol):
    """An interrupt that may release a task, as the file states it."""

    @property
    def name(self) -> str:
        """Returns its name."""

    @property
    def gives(self) -> str:
        """Returns the task that it releases. Empty: none."""


class TaskWithReleases(Protocol):
    """A task that may release other ones and be released, as the file states it."""

    @property
    def name(self) -> str:
        """Returns its name."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Returns the tasks that it releases."""

    @property
    def gives_by(self) -> str:
        """Returns the object by which it releases them."""

    @property
    def release(self) -> str:
        """Returns what releases it, if no task or interrupt of the file does."""

    @property
    def period(self) -> Duration:
        """Returns its period."""

    @property
    def jitter(self) -> Duration:
        """Returns the longest time from its arrival to its release."""

    @property
    def offset(self) -> Duration | None:
        """Returns the offset of its first arrival, if known."""

    @property
    def arrivals(self) -> tuple[object, ...]:
        """Returns the limits of its arrivals. Empty if it has a period."""


def task_tables_with_inherited_periods(
    tasks: Sequence[Mapping[str, Any]], interrupts: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Returns the `[[task]]` tables, each without a period or arrivals with those of the task or interrupt that
    releases it.
    """
    givers = {name: row for row in reversed((*tasks, *interrupts)) for name in _names_of_released_tasks(row)}
    return [{**row, **_find_period_keys_from_releasing_task(row, givers)} for row in tasks]


def _names_of_released_tasks(row: Mapping[str, Any]) -> list[str]:
    """Returns the names of the tasks that a table's task or interrupt releases."""
    names = row.get("gives")
    return [name for name in (names if isinstance(names, list) else [names]) if isinstance(name, str) and name]


def _find_period_keys_from_releasing_task(
    row: Mapping[str, Any], givers: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Returns the keys of its period or arrivals that a task's table inherits.
    Empty if it has its own, or nothing of the file releases it.
    """
    current, passed = row, 0
    while passed <= len(givers):
        periods = {key: value for key, value in current.items() if key == "arrivals" or key.startswith("period")}
        if periods:
            return {} if current is row else periods
        name = current.get("name")
        if not isinstance(name, str) or name not in givers:
            return {}
        current, passed = givers[name], passed + 1
    return {}


def require_valid_senders(
    tasks: Sequence[TaskWithReleases], interrupts: Sequence[ReleasingInterrupt], source: str
) -> None:
    """Raises TaskSetError if a task that releases others does not fit the tasks that it releases."""
    by_name = {task.name: task for task in tasks}
    by_interrupt = {interrupt.gives: interrupt.name for interrupt in interrupts if interrupt.gives}
    for sender in tasks:
        where = f"{source}, task {sender.name}"
        for name in sender.gives:
            task = by_name.get(name)
            if task is None:
                raise TaskSetError(f"{where} gives to {quote_text(name)}, which is not a task of this file; name one.")
            if name in by_interrupt:
                raise TaskSetError(f"{where}: {by_interrupt[name]} releases {name} already; keep one of them.")
            senders = [other for other in tasks if name in other.gives]
            _require_valid_receiver(sender, task, senders, where)
    for task in tasks:
        _require_acyclic_task_releases(task, by_name, source)


def _require_valid_receiver(
    sender: TaskWithReleases, task: TaskWithReleases, senders: Sequence[TaskWithReleases], where: str
) -> None:
    """Raises TaskSetError if a task cannot be released by this sender."""
    if task.release != "tick":
        what = "an interrupt" if task.release == "interrupt" else "a timer"
        raise TaskSetError(f"{where} releases {task.name}, which {what} releases too; remove one of both.")
    if task.jitter.value or task.offset is not None:
        raise TaskSetError(
            f"{where} releases {task.name}, which has a jitter or offset; remove it, because the analysis computes "
            "when the task is released."
        )
    if len(senders) > 1:
        other = next((item for item in senders if item.gives_by != "message"), None)
        if other is not None:
            names = " and ".join(item.name for item in senders)
            raise TaskSetError(
                f"{where}: {names} release {task.name}, so it has to know which of them did; write "
                f'gives_by = "message" for {other.name}.'
            )
        return
    if (task.period, task.arrivals) != (sender.period, sender.arrivals):
        raise TaskSetError(
            f"{where} releases {task.name}, which has another period; give both the same, or leave out the period of "
            f"{task.name}."
        )


def _require_acyclic_task_releases(
    task: TaskWithReleases, by_name: Mapping[str, TaskWithReleases], source: str
) -> None:
    """Raises TaskSetError if a task releases itself, directly or through other tasks."""
    before = {task.name: ""}
    reached = [task.name]
    for current in reached:
        for name in by_name[current].gives:
            if name == task.name:
                path = [name, current]
                while before[path[-1]]:
                    path.append(before[path[-1]])
                raise TaskSetError(
                    f"{source}: {' > '.join(reversed(path))} release each other in a circle, so nothing releases the "
                    "first job; remove one gives."
                )
            if name not in before:
                before[name] = current
                reached.append(name)
