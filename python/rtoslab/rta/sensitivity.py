"""How much one task's WCET, or all of them together, may grow before a deadline is missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final

from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.bounds import MissingBoundReason, ResponseTimeAnalysis
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet, exact_utilisation, task_set_in_finer_time_units

RESOLUTION: Final = 1_000_000
"""Factors are multiples of one divided by this number."""
_NANOSECONDS: Final = 1_000_000_000
"""The least number of time units in a second, if no clock defines the length of a cycle."""
_UNDECIDED: Final = 1_000
"""The part of a WCET, or of the factor, that may stay undecided without a note."""
STEPS_PER_BOUND: Final = 3_000
"""The most steps of each bound in one test. A set near 100 % of the processor needs far more, and there are hundreds of
tests."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WcetGrowthMargin:
    """How much the WCETs of a task set may grow until a deadline is missed."""

    factor: Fraction
    utilisation: Fraction
    growth: dict[str, Fraction]
    """By task, how much its WCET alone may grow, in units of the system. Negative if it must shrink for all deadlines
    to be met. A task is missing if no WCET of it, however short, would help."""
    bounded_tasks: tuple[str, ...] = ()
    """Tasks whose tests used up STEPS_PER_BOUND steps and left more than a thousandth of the WCET undecided: it may
    grow further."""
    factor_bounded: bool = False
    """Whether the same holds for the factor."""


def find_wcet_sensitivity(
    system: IntegerTimeTaskSet,
    overheads: KernelOverheads | None,
    model: KernelOverheadAccountingModel,
    is_schedulable: bool | None = None,
    progress: Progress = lambda _: None,
) -> WcetGrowthMargin:
    """Finds by bisection how much the WCETs of a task set may grow. The result is exact to a cycle.
    Every test is one analysis of at most STEPS_PER_BOUND steps a bound.

    `is_schedulable`: whether the set as it is meets its deadlines, where that is known. Then nothing needs to shrink,
    whatever a shorter search says.
    """
    scale = 1 if overheads is not None else -(-_NANOSECONDS // system.units_per_second)
    fine = task_set_in_finer_time_units(system, scale)
    search = _SchedulabilityMarginSearch(overheads, model, is_schedulable)
    progress("how much all WCETs may grow")
    now, most = RESOLUTION, max(RESOLUTION, _largest_schedulable_wcet_factor(fine))
    parts = search.largest_schedulable_parameter_value(
        lambda part: _system_with_scaled_wcets(fine, Fraction(part, RESOLUTION)), 0, now, most
    )
    factor, factor_bounded = Fraction(max(parts, 0), RESOLUTION), search.bounded
    load = exact_utilisation(task.long_run_load(task.wcet) for task in system.tasks)
    growth, bounded = {}, []
    for task in fine.tasks_of_image:
        progress(f"how much the WCET of {task.task_name} may grow")
        least = max([1, task.masked, *(length for _, length in task.sections)])
        wcet = search.largest_schedulable_parameter_value(
            partial(_system_with_task_wcet, fine, task),
            least,
            task.wcet,
            task.deadline,
        )
        if wcet >= least:
            growth[task.task_name] = Fraction(wcet - task.wcet, scale)
        if search.bounded:
            bounded.append(task.task_name)
    return WcetGrowthMargin(factor, factor * load, growth, tuple(bounded), factor_bounded)


class _SchedulabilityMarginSearch:
    """Searches for the largest schedulable variation of one system."""

    def __init__(
        self, overheads: KernelOverheads | None, model: KernelOverheadAccountingModel, is_schedulable: bool | None
    ) -> None:
        self.overheads, self.model, self.is_schedulable = overheads, model, is_schedulable
        self.bounded = False

    def largest_schedulable_parameter_value(
        self, system_for: Callable[[int], IntegerTimeTaskSet], low: int, now: int, high: int
    ) -> int:
        """Returns the largest number in [low, high] whose system is schedulable, provided that all smaller ones are
        too. Low - 1 if none is.

        `now` is the number of the system without a change.
        """
        low, high = (now, max(now, high)) if self.is_schedulable else (low - 1, high)
        too_large = high + 1
        while low < high:
            middle = (low + high + 1) // 2
            analysis = compute_response_time_bounds(system_for(middle), self.overheads, self.model, STEPS_PER_BOUND)
            if analysis.is_schedulable:
                low = middle
            else:
                high = middle - 1
                too_large = too_large if _is_response_time_bound_undecided(analysis) else middle
        self.bounded = too_large - 1 - low > now // _UNDECIDED
        return low


def _is_response_time_bound_undecided(analysis: ResponseTimeAnalysis) -> bool:
    """Whether a bound was not found in so few steps, while no deadline is known to be missed."""
    bounds = (*analysis.tasks, *analysis.interrupts)
    return any(bound.obstacle is MissingBoundReason.STEPS for bound in bounds) and not any(
        bound.can_deadline_be_missed for bound in bounds
    )


def _largest_schedulable_wcet_factor(system: IntegerTimeTaskSet) -> int:
    """Returns the largest factor by which every WCET stays within its deadline, in parts of RESOLUTION."""
    return min(task.deadline * RESOLUTION // task.wcet for task in system.tasks)


def _system_with_scaled_wcets(system: IntegerTimeTaskSet, factor: Fraction) -> IntegerTimeTaskSet:
    """Returns the system with all WCETs scaled, rounded up: none becomes 0."""

    def scale_wcet_and_critical_sections(task: IntegerTimeTask) -> IntegerTimeTask:
        """Returns the task with its WCET and critical sections scaled."""
        sections = tuple((name, _round_up_to_integer(length * factor)) for name, length in task.sections)
        return replace(
            task,
            wcet=max(1, _round_up_to_integer(task.wcet * factor)),
            masked=_round_up_to_integer(task.masked * factor),
            sections=sections,
        )

    return replace(system, tasks=tuple(scale_wcet_and_critical_sections(item) for item in system.tasks))


def _round_up_to_integer(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _system_with_task_wcet(system: IntegerTimeTaskSet, task: IntegerTimeTask, wcet: int) -> IntegerTimeTaskSet:
    """Returns the system with another WCET of one task of the file."""
    name = task.task_name
    tasks = (replace(item, wcet=wcet) if item.task_name == name else item for item in system.tasks)
    return replace(system, tasks=tuple(tasks))
