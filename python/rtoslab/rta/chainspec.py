"""Chains of tasks as a file names them: each task hands data to the next, which reads it with its next job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtoslab.base import TaskSetError
from rtoslab.intake import quote_text
from rtoslab.rta.units import Duration, parse_duration_key


@dataclass(frozen=True, slots=True)
class ChainSpec:
    """A chain of tasks as a task set's file states it: each task hands data to the next.
    Its deadline counts from the event that the first task reads to the last instruction of the last task.
    """

    name: str
    tasks: tuple[str, ...]
    deadline: Duration


def parse_task_chain(row: Mapping[str, Any], name: str, known_tasks: Iterable[str], where: str) -> ChainSpec:
    """Returns the chain of tasks of one `[[chain]]` table. Raises TaskSetError."""
    tasks: Sequence[object] = row.get("tasks", ())
    if not isinstance(tasks, list) or not tasks or not all(isinstance(task, str) for task in tasks):
        raise TaskSetError(f'{where} lists no tasks; write tasks = ["first", "second"], in the order of the data.')
    missing = next((task for task in tasks if task not in set(known_tasks)), None)
    if missing is not None:
        raise TaskSetError(f"{where}: {quote_text(str(missing))} is not a task of this file; name one.")
    if len(set(tasks)) < len(tasks):
        raise TaskSetError(f"{where} names a task twice, but data passes each task once; remove one.")
    deadline = parse_duration_key(row, "deadline", where)
    if deadline is None or deadline.value == 0:
        raise TaskSetError(f"{where} has no deadline; add deadline_us.")
    return ChainSpec(name, tuple(str(task) for task in tasks), deadline)
