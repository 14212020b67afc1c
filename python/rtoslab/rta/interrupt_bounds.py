"""Bounds the responses of interrupts, and the time for which the kernel's tick waits for its handler."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.arrival_curves import shortest_time_between_arrivals
from rtoslab.rta.blocking import longest_interrupt_masking_times
from rtoslab.rta.bounds import (
    MissingBoundReason,
    ResponseBound,
    longest_searched_response,
    make_missing_response_time_bound,
    nonzero_response_time_bound_parts,
    search_steps_exhausted_text,
)
from rtoslab.rta.charges import NO_CHARGES, KernelOverheadTimes, bus_contention_prolongation
from rtoslab.rta.cores import DelaysByOtherCores
from rtoslab.rta.demand import CompetingProcessorDemand
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, IntegerTimeTaskSet
from rtoslab.rta.windows import NoBoundError, longest_response_in_busy_period, shortest_time_window_for_demand

_LOCKS_IN_MASK: Final = 4
"""The most kernel locks that a core takes while it masks interrupts: two in a critical section, two in a handler."""


def longest_masked_time(core: int, system: IntegerTimeTaskSet, charge: KernelOverheadTimes) -> int:
    """Returns the longest time for which the kernel or a task masks the interrupts of a core."""
    return max(
        [
            charge.longest_mask,
            *longest_interrupt_masking_times((task for task in system.tasks if task.core == core), charge),
        ]
    )


def longest_tick_wait(
    core: int, system: IntegerTimeTaskSet, charge: KernelOverheadTimes, other_cores: DelaysByOtherCores
) -> int | None:
    """Returns the longest time that the tick's handler waits for its first instruction: for more urgent interrupts, and
    once for whoever masks it. None if it has no limit.

    A second tick that comes while the first is still pending is lost. The kernel's time is wrong from then on.
    """
    masked = max(charge.kernel_blocking, longest_masked_time(core, system, charge))
    interrupts = _interrupts_slowed_by_other_cores(system, core, charge)
    only = KernelOverheadTimes(interrupt=charge.interrupt, give=charge.give)
    tick = IntegerTimeTask("tick", charge.tick_period, 1, charge.tick_period, 0)
    by_work = CompetingProcessorDemand(tick, (), interrupts, (), only, masked, other_cores=other_cores.demands)
    # Whoever masks the tick waits for few locks, and each wait is no longer than the longest one that was measured.
    by_waits = CompetingProcessorDemand(tick, (), interrupts, (), only, masked + _LOCKS_IN_MASK * charge.lock_wait)
    waits = []
    for demand in (by_work, by_waits) if other_cores.demands else (by_work,):
        if demand.long_run_utilisation() > 1:
            continue
        try:
            waits.append(shortest_time_window_for_demand(demand, 1, 0, 0, limit=charge.tick_period)[0] - 1)
        except NoBoundError:
            continue
    return min(waits, default=None)


def _interrupts_slowed_by_other_cores(
    system: IntegerTimeTaskSet, core: int, charge: KernelOverheadTimes
) -> list[IntegerTimeInterrupt]:
    """Returns the interrupts of a core, with the most time that their work lasts beside other cores."""
    mine = [interrupt for interrupt in system.interrupts if interrupt.core == core]
    return [replace(item, wcet=item.wcet + bus_contention_prolongation(item.wcet, charge)) for item in mine]


def find_interrupt_response_bound(
    handler: IntegerTimeInterrupt,
    system: IntegerTimeTaskSet,
    charge: KernelOverheadTimes,
    other_cores: DelaysByOtherCores,
    max_steps: int,
) -> ResponseBound:
    """Returns the response-time bound of one interrupt.
    It waits for more urgent ones, and once for whatever masks it: a task, the kernel, the tick.
    """
    if other_cores.obstacle:
        return make_missing_response_time_bound(handler, other_cores.obstacle, Fraction(0), MissingBoundReason.MODEL)
    names = [interrupt.name for interrupt in system.interrupts if interrupt.core == handler.core]
    above = _interrupts_slowed_by_other_cores(system, handler.core, charge)[: names.index(handler.name)]
    masked = longest_masked_time(handler.core, system, charge)
    work = handler.wcet + bus_contention_prolongation(handler.wcet, charge)
    whole = work + charge.interrupt + (charge.give if handler.gives else 0)
    task = IntegerTimeTask(
        handler.name, handler.period, whole, handler.deadline, 0, handler.jitter, curve=handler.curve
    )
    only = KernelOverheadTimes(interrupt=charge.interrupt, give=charge.give) if charge.interrupt else NO_CHARGES
    # It may wait for locks, and so may a task that masks it: for all work of the other cores' kernel meanwhile.
    demand = CompetingProcessorDemand(task, (), above, (), only, masked, other_cores=other_cores.demands)
    load = demand.long_run_utilisation()
    if load > 1:
        reason = f"interrupts of this or higher priority need {float(100 * load):.1f} % of the processor"
        return make_missing_response_time_bound(handler, reason, load, MissingBoundReason.OVERLOAD)
    waiting = load + sum((other.kernel_utilisation() for other in other_cores.demands), Fraction(0))
    if waiting > 1:
        reason = (
            "interrupts of this or higher priority, with the longest waits for the kernel's locks, may need "
            f"{float(100 * waiting):.1f} % of the processor"
        )
        return make_missing_response_time_bound(handler, reason, load, MissingBoundReason.MODEL)
    try:
        response, parts = longest_response_in_busy_period(
            demand, 0, max_steps, longest_searched_response(handler, max_steps)
        )
    except NoBoundError:
        return make_missing_response_time_bound(
            handler, search_steps_exhausted_text(load, max_steps), load, MissingBoundReason.STEPS
        )
    lost = _describe_lost_interrupt(handler, response + handler.jitter, system)
    if lost:
        return make_missing_response_time_bound(handler, lost, load, MissingBoundReason.LOST_RELEASE)
    return ResponseBound(
        handler.name,
        handler.deadline,
        response + handler.jitter,
        "",
        nonzero_response_time_bound_parts(parts, handler.jitter),
        float(load),
    )


def _describe_lost_interrupt(handler: IntegerTimeInterrupt, response: int, system: IntegerTimeTaskSet) -> str:
    """Returns why an arrival of an interrupt with a curve may be lost. Empty if none is, or if it is periodic."""
    distance, start = shortest_time_between_arrivals(handler.curve, 1) if handler.curve else 0, response - handler.wcet
    if not handler.curve or start <= distance:
        return ""
    began, next_ = (f"{system.to_microseconds(value):,.1f} us" for value in (start, distance))
    return (
        f"its handler may begin {began} after an arrival and the next arrival may come after {next_}, so the next one "
        "may be lost while this one is pending"
    )
