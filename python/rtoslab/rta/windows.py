"""The windows of a busy period: the shortest that contain all their demand, for every job and every way to begin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.arrival_curves import max_arrivals_of_periodic_task
from rtoslab.rta.charges import NO_CHARGES
from rtoslab.rta.demand import CompetingProcessorDemand, DemandWindowEndInstant
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask

MAX_STEPS: Final = 50_000
"""The most steps of all fixed points of one task. After them the search ends without a bound."""


class NoBoundError(Exception):
    """Raised if the search for a bound used up its steps."""


def busy_period_starts(demand: CompetingProcessorDemand) -> Iterator[tuple[CompetingProcessorDemand, int]]:
    """Yields every way in which a busy period may start, with the analysed task's own first arrival.

    If all offsets are known and nothing jitters, it starts with an arrival of one of the relevant tasks. Another then
    arrives no earlier than their offsets allow, by the greatest common divisor of both periods.
    """
    relevant = [demand.task, *demand.others]
    if any(task.offset is None or task.jitter for task in relevant):
        yield demand, 0
        return
    for first in relevant:
        phases = {task.name: _earliest_arrival_after(first, task) for task in demand.released}
        phases |= {task.name: _earliest_arrival_after(first, task) for task in relevant}
        yield replace(demand, phases=phases), phases[demand.task.name]


def _earliest_arrival_after(first: IntegerTimeTask, other: IntegerTimeTask) -> int:
    """Returns the earliest arrival of task `other` after an arrival of task `first`, by their offsets."""
    if first.offset is None or other.offset is None or other.jitter:
        return 0
    return (other.offset - first.offset) % math.gcd(first.period, other.period)


def longest_response_in_busy_period(
    demand: CompetingProcessorDemand, first_arrival: int, max_steps: int = MAX_STEPS, response_limit: int | None = None
) -> tuple[int, dict[str, int]]:
    """Returns the longest response of the analysed task's jobs in one busy period, and what it consists of.
    The response is counted from each job's arrival.

    At exactly 100 % and with blocking a busy period never ends, and shortly below it lasts for many hyperperiods.
    Without a kernel's charges the demand of a hyperperiod is never more than the hyperperiod, so no job takes longer
    than the one a hyperperiod before it: the first hyperperiod's jobs are enough. Ends with the first response seen to
    be longer than `until`, which is then no bound. Raises NoBoundError after `most` steps.
    """
    task = demand.task
    worst, parts, window, steps = -1, {"own": 0}, 1, 0
    repeats = _job_count_until_repetition(demand)
    # No window is shorter than if the others took their share evenly: from there it is few steps, near 100 % too.
    competing = Fraction(1) if demand.phases else demand.utilisation_of_competing_tasks()
    for finished in range(max_steps):
        if finished == repeats:
            return worst, parts
        if competing < 1:
            own = demand.blocking + (finished + 1) * task.wcet
            window = max(window, math.ceil(own / (1 - competing)))
        arrival = first_arrival + task.least_time_between_arrivals(finished)
        limit = None if response_limit is None else arrival + response_limit
        window, length, steps = shortest_time_window_for_demand(
            demand, window, finished, steps, max_steps=max_steps, limit=limit
        )
        if window - arrival > worst:
            worst, parts = window - arrival, {**length, "waiting": -arrival}
        if limit is not None and window > limit:
            return worst, parts
        end = window + demand.overhead_between_consecutive_jobs
        if demand.has_sender_or_receiver:
            # What its own job releases may run before the job's end: the busy period is longer than one call.
            whole = replace(demand, until=DemandWindowEndInstant.NEXT_JOB)
            end, _, steps = shortest_time_window_for_demand(whole, window, finished, steps, max_steps=max_steps)
        if end <= first_arrival + task.least_time_between_arrivals(finished + 1) - task.jitter:
            return worst, parts
    raise NoBoundError


def _job_count_until_repetition(demand: CompetingProcessorDemand) -> int | None:
    """Returns after how many jobs the response times repeat. None if that is unknown."""
    tasks: list[IntegerTimeTask | IntegerTimeInterrupt] = [demand.task, *demand.others, *demand.interrupts]
    if any(item.curve for item in tasks) or demand.charges != NO_CHARGES or demand.resource_waits is not None:
        return None
    if demand.long_run_utilisation() > 1:
        return None
    periods = [other.period for other in (demand.task, *demand.others)] + [
        interrupt.period for interrupt in demand.interrupts
    ]
    return math.lcm(*periods) // demand.task.period


def shortest_time_window_for_demand(
    demand: CompetingProcessorDemand,
    window: int,
    finished_jobs: int,
    steps: int,
    other_jobs: Sequence[int] | None = None,
    max_steps: int = MAX_STEPS,
    limit: int | None = None,
) -> tuple[int, dict[str, int], int]:
    """Returns the shortest window that contains all its demand, the demand by cause, and the steps so far.
    It is no shorter than `window`. It may be one beyond `limit` that does not contain its demand.
    """
    while steps < max_steps:
        steps += 1
        parts = demand.demand_in_window(window, finished_jobs, other_jobs)
        total = sum(parts.values())
        if total <= window or (limit is not None and window > limit):
            return window, parts, steps
        window = total
    raise NoBoundError


def longest_response_fifo(
    demand: CompetingProcessorDemand, equals: Sequence[IntegerTimeTask], max_steps: int = MAX_STEPS
) -> tuple[int, dict[str, int]]:
    """Returns the longest response if tasks of equal priority run in the order of arrival, and what it consists of."""
    task = demand.task
    busy = _longest_busy_period(replace(demand, others=[*demand.others, *equals]), max_steps)
    worst, parts = -1, {"own": 0}
    points = _job_arrivals_before(busy, [task, *equals], max_steps)
    if len(points) * 2 > max_steps:
        raise NoBoundError
    steps = 0
    for at in points:
        before = (at + task.jitter) // task.period
        ahead = [(at + equal.jitter) // equal.period + 1 for equal in equals]
        window, response, steps = _shortest_window_with_equal_urgency_jobs(
            demand, equals, ahead, before, steps, max_steps
        )
        if window - at > worst:
            worst, parts = window - at, {**response, "waiting": -at}
    return worst, parts


def _longest_busy_period(demand: CompetingProcessorDemand, max_steps: int) -> int:
    """Returns the longest time for which the processor runs nothing less urgent than the analysed task."""
    window, steps, task = 1, 0, demand.task
    while steps < max_steps:
        steps += 1
        jobs = max_arrivals_of_periodic_task(window, task.period, task.jitter)
        total = sum(demand.demand_in_window(window, jobs - 1).values()) + demand.overhead_between_consecutive_jobs
        if total <= window:
            return window
        window = total
    raise NoBoundError


def _job_arrivals_before(end: int, tasks: Sequence[IntegerTimeTask], max_steps: int) -> list[int]:
    """Returns the times before `end` at which jobs of the tasks arrive."""
    arrivals = {0}
    for task in tasks:
        if end // task.period > max_steps:
            raise NoBoundError
        arrivals |= {at for at in range(-task.jitter, end, task.period) if at >= 0}
    return sorted(arrivals)


def _shortest_window_with_equal_urgency_jobs(
    demand: CompetingProcessorDemand,
    equals: Sequence[IntegerTimeTask],
    ahead: Sequence[int],
    before: int,
    steps: int,
    max_steps: int,
) -> tuple[int, dict[str, int], int]:
    """Returns the shortest window with so many jobs of equally urgent tasks, its demand, and the steps so far."""
    both = replace(demand, others=[*demand.others, *equals])
    window = 1
    while steps < max_steps:
        steps += 1
        counts = [max_arrivals_of_periodic_task(window, other.period, other.jitter) for other in demand.others]
        parts = both.demand_in_window(window, before, [*counts, *ahead])
        total = sum(parts.values())
        if total <= window:
            return window, parts, steps
        window = total
    raise NoBoundError
