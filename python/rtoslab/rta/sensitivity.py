"""How much may grow before a deadline is missed: one task's wcet, or all of them alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.analysis import analyse
from rtoslab.rta.charges import Model
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.system import System, Task, utilisation

RESOLUTION: Final = 10_000
"""Factors are told in steps of one part in so many."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """`factor` times every wcet still meets all deadlines, and `utilisation` is then that of the tasks."""

    factor: Fraction
    utilisation: Fraction
    growth: dict[str, int]
    """Task -> by how much its wcet alone may grow, in units of the system; negative if it must shrink for all to hold.
    A task is missing whose wcet would not help however short it were."""


def sensitivity(system: System, overheads: Overheads | None, model: Model) -> Sensitivity:
    """By bisection: every test is one whole analysis."""

    def holds(changed: System) -> bool:
        return analyse(changed, overheads, model).schedulable

    parts = _largest(lambda part: holds(_scaled(system, Fraction(part, RESOLUTION))), 0, _most(system))
    factor = Fraction(max(parts, 0), RESOLUTION)
    load = utilisation((each.wcet, each.period) for each in system.tasks)
    growth = {}
    for each in system.tasks:
        least = max([1, each.masked, *(length for _, length in each.sections)])
        wcet = _largest(lambda wcet, each=each: holds(_with_wcet(system, each, wcet)), least, each.deadline)  # type: ignore[misc]
        if wcet >= least:
            growth[each.name] = wcet - each.wcet
    return Sensitivity(factor, factor * load, growth)


def _largest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The largest number in [low, high] that holds, if what holds stays so below; low - 1 if none does."""
    low -= 1
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _most(system: System) -> int:
    """No wcet can outgrow its deadline."""
    return min(each.deadline * RESOLUTION // each.wcet for each in system.tasks)


def _scaled(system: System, factor: Fraction) -> System:
    """Rounded up: a wcet never becomes 0."""

    def scaled(task: Task) -> Task:
        sections = tuple((name, _up(length * factor)) for name, length in task.sections)
        return replace(task, wcet=max(1, _up(task.wcet * factor)), masked=_up(task.masked * factor), sections=sections)

    return replace(system, tasks=tuple(scaled(each) for each in system.tasks))


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _with_wcet(system: System, task: Task, wcet: int) -> System:
    return replace(system, tasks=tuple(replace(each, wcet=wcet) if each is task else each for each in system.tasks))
