"""Chains of tasks as a file names them: each hands data to the next, which takes it up with its next job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtoslab.base import TaskSetError
from rtoslab.intake import quote
from rtoslab.rta.units import Time, quantity


@dataclass(frozen=True, slots=True)
class ChainSpec:
    """The deadline is from something the first task looks at to the last instruction of the last task's answer."""

    name: str
    tasks: tuple[str, ...]
    deadline: Time


def parse_chain(row: Mapping[str, Any], name: str, known: Iterable[str], where: str) -> ChainSpec:
    """One `[[chain]]` table whose name was read. Raises TaskSetError."""
    tasks: Sequence[object] = row.get("tasks", ())
    if not isinstance(tasks, list) or not tasks or not all(isinstance(task, str) for task in tasks):
        raise TaskSetError(f'{where} has no tasks; write tasks = ["first", "second"], in the order of the data.')
    missing = next((task for task in tasks if task not in set(known)), None)
    if missing is not None:
        raise TaskSetError(f"{where}: {quote(str(missing))} is no task here; name one of the file's.")
    if len(set(tasks)) < len(tasks):
        raise TaskSetError(f"{where} names a task twice; data passes each once.")
    deadline = quantity(row, "deadline", where)
    if deadline is None or deadline.value == 0:
        raise TaskSetError(f"{where} has no deadline; add deadline_us.")
    return ChainSpec(name, tuple(str(task) for task in tasks), deadline)
