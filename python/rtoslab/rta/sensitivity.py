"""How much may grow before a deadline is missed: one task's wcet, or all of them alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.analysis import Analysis, Obstacle, analyse
from rtoslab.rta.charges import Model
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.system import System, Task, finer, utilisation

RESOLUTION: Final = 1_000_000
"""Factors are told in steps of one part in so many."""
_NANOSECONDS: Final = 1_000_000_000
"""Units a second, at least, where no clock says how long a cycle is."""
_UNDECIDED: Final = 1_000
"""The part of a WCET, or of the factor, that may stay undecided without a word."""
STEPS: Final = 3_000
"""The steps of each bound in a test. A set near 100 % of the processor needs far more, and there are hundreds of
tests."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """`factor` times every wcet still meets all deadlines, and `utilisation` is then that of the tasks."""

    factor: Fraction
    utilisation: Fraction
    growth: dict[str, Fraction]
    """Task -> by how much its wcet alone may grow, in units of the system. Negative if it must shrink for all to hold.
    A task is missing whose wcet would not help however short it were."""
    bounded: tuple[str, ...] = ()
    """Tasks for which tests ended after STEPS steps without an answer, and left more than a thousandth of the wcet
    undecided: more growth than told may be possible."""
    factor_bounded: bool = False
    """The same of the factor."""


def sensitivity(
    system: System,
    overheads: Overheads | None,
    model: Model,
    holds: bool | None = None,
    progress: Progress = lambda _: None,
) -> Sensitivity:
    """Finds the sensitivity by bisection, to a cycle. Every test is one full analysis of at most STEPS steps a bound.

    `holds`: whether the set as it stands meets its deadlines, where that is known. Then nothing needs to shrink,
    whatever a shorter search says."""
    scale = 1 if overheads is not None else -(-_NANOSECONDS // system.units_per_second)
    fine = finer(system, scale)
    search = _Search(overheads, model, holds)
    progress("how much all WCETs may grow")
    now, most = RESOLUTION, max(RESOLUTION, _most(fine))
    parts = search.largest(lambda part: _scale(fine, Fraction(part, RESOLUTION)), 0, now, most)
    factor, factor_bounded = Fraction(max(parts, 0), RESOLUTION), search.bounded
    load = utilisation((task.wcet, task.period) for task in system.tasks)
    growth, bounded = {}, []
    for task in fine.tasks:
        progress(f"how much the WCET of {task.name} may grow")
        least = max([1, task.masked, *(length for _, length in task.sections)])
        wcet = search.largest(lambda wcet, task=task: _with_wcet(fine, task, wcet), least, task.wcet, task.deadline)  # type: ignore[misc]
        if wcet >= least:
            growth[task.name] = Fraction(wcet - task.wcet, scale)
        if search.bounded:
            bounded.append(task.name)
    return Sensitivity(factor, factor * load, growth, tuple(bounded), factor_bounded)


class _Search:
    """Bisections over one system that was changed, and whether the last of them was bounded."""

    def __init__(self, overheads: Overheads | None, model: Model, holds: bool | None) -> None:
        self.overheads, self.model, self.holds = overheads, model, holds
        self.bounded = False

    def largest(self, changed: Callable[[int], System], low: int, now: int, high: int) -> int:
        """The largest number in [low, high] whose system holds, if what holds stays so below. Low - 1 if none does.

        `now` is the number of the system as it stands.
        """
        low, high = (now, max(now, high)) if self.holds else (low - 1, high)
        too_large = high + 1
        while low < high:
            middle = (low + high + 1) // 2
            analysis = analyse(changed(middle), self.overheads, self.model, STEPS)
            if analysis.schedulable:
                low = middle
            else:
                high = middle - 1
                too_large = too_large if _gave_up(analysis) else middle
        self.bounded = too_large - 1 - low > now // _UNDECIDED
        return low


def _gave_up(analysis: Analysis) -> bool:
    """No deadline is known to be missed, but a bound was not found in so few steps."""
    bounds = (*analysis.tasks, *analysis.interrupts)
    return any(bound.obstacle is Obstacle.STEPS for bound in bounds) and not any(
        bound.can_be_missed for bound in bounds
    )


def _most(system: System) -> int:
    """No wcet can outgrow its deadline."""
    return min(task.deadline * RESOLUTION // task.wcet for task in system.tasks)


def _scale(system: System, factor: Fraction) -> System:
    """Rounded up: a wcet never becomes 0."""

    def scaled(task: Task) -> Task:
        sections = tuple((name, _up(length * factor)) for name, length in task.sections)
        return replace(task, wcet=max(1, _up(task.wcet * factor)), masked=_up(task.masked * factor), sections=sections)

    return replace(system, tasks=tuple(scaled(item) for item in system.tasks))


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _with_wcet(system: System, task: Task, wcet: int) -> System:
    return replace(system, tasks=tuple(replace(item, wcet=wcet) if item is task else item for item in system.tasks))
