"""The windows of a busy period: the shortest that hold all their demand, for every job and every way to begin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.charges import NO_CHARGES
from rtoslab.rta.demand import Competitors, arrivals
from rtoslab.rta.system import Task

STEPS: Final = 50_000
"""The steps of the fixed points of one task together. Beyond that the answer is that none was found."""


class NoBoundError(Exception):
    """A fixed point was not found within STEPS."""


def starts(requests: Competitors) -> Iterator[tuple[Competitors, int]]:
    """Every way a busy period may start, as phases, with the task's own first arrival.

    If all offsets are known and nothing jitters, it starts with an arrival of one of the tasks that matter. Another
    then arrives no earlier than their offsets allow, by the greatest common divisor of both periods."""
    matter = [requests.task, *requests.others]
    if any(task.offset is None or task.jitter for task in matter):
        yield requests, 0
        return
    for first in matter:
        phases = {task.name: _phase(first, task) for task in requests.released}
        phases |= {task.name: _phase(first, task) for task in matter}
        yield replace(requests, phases=phases), phases[requests.task.name]


def _phase(first: Task, other: Task) -> int:
    if first.offset is None or other.offset is None or other.jitter:
        return 0
    return (other.offset - first.offset) % math.gcd(first.period, other.period)


def busy_period(
    requests: Competitors, first: int, most: int = STEPS, until: int | None = None
) -> tuple[int, dict[str, int]]:
    """The longest response of the task's jobs in one busy period, seen from each one's arrival, and its parts.

    At exactly 100 % and with blocking a busy period never ends, and shortly below it lasts for many hyperperiods.
    Without a kernel's charges the demand of a hyperperiod is never more than the hyperperiod, so no job takes longer
    than the one a hyperperiod before it: the first hyperperiod's jobs are enough. Ends with the
    first response seen to be longer than `until`, which is then no bound. Raises NoBoundError after `most` steps.
    """
    task = requests.task
    worst, parts, window, steps = -1, {"own": 0}, 1, 0
    repeats = _repeats(requests)
    # No window is shorter than if the others took their share evenly: from there it is few steps, near 100 % too.
    others = Fraction(1) if requests.phases else requests.competing()
    for finished in range(most):
        if finished == repeats:
            return worst, parts
        if others < 1:
            own = requests.blocking + (finished + 1) * task.wcet
            window = max(window, math.ceil(own / (1 - others)))
        arrival = first + finished * task.period
        limit = None if until is None else arrival + until
        window, length, steps = fixed_point(requests, window, finished, steps, most=most, limit=limit)
        if window - arrival > worst:
            worst, parts = window - arrival, {**length, "waiting": -arrival}
        if limit is not None and window > limit:
            return worst, parts
        end = window + requests.own_end
        if end <= first + (finished + 1) * task.period - task.jitter:
            return worst, parts
    raise NoBoundError


def _repeats(requests: Competitors) -> int | None:
    """After how many jobs no response is longer than those before. None where nothing is known of that."""
    if requests.charges != NO_CHARGES or requests.utilisation() > 1:
        return None
    periods = [other.period for other in (requests.task, *requests.others)] + [
        interrupt.period for interrupt in requests.interrupts
    ]
    return math.lcm(*periods) // requests.task.period


def fixed_point(
    requests: Competitors,
    window: int,
    finished: int,
    steps: int,
    others: Sequence[int] | None = None,
    most: int = STEPS,
    limit: int | None = None,
) -> tuple[int, dict[str, int], int]:
    """The shortest window that holds all its demand, not shorter than `window`. Or one beyond `limit` that does not."""
    while steps < most:
        steps += 1
        parts = requests.in_window(window, finished, others)
        total = sum(parts.values())
        if total <= window or (limit is not None and window > limit):
            return window, parts, steps
        window = total
    raise NoBoundError


def by_arrival(requests: Competitors, equals: Sequence[Task], most: int = STEPS) -> tuple[int, dict[str, int]]:
    """Equals in the order of arrival: for each arrival inside the busy period, with all that arrived up to it."""
    task = requests.task
    busy = _busy_length(replace(requests, others=[*requests.others, *equals]), most)
    worst, parts = -1, {"own": 0}
    points = _arrivals_before(busy, [task, *equals], most)
    if len(points) * 2 > most:
        raise NoBoundError
    steps = 0
    for at in points:
        before = (at + task.jitter) // task.period
        ahead = [(at + equal.jitter) // equal.period + 1 for equal in equals]
        window, response, steps = _with_equals(requests, equals, ahead, before, steps, most)
        if window - at > worst:
            worst, parts = window - at, {**response, "waiting": -at}
    return worst, parts


def _busy_length(requests: Competitors, most: int) -> int:
    """The longest time in which the processor does nothing less urgent."""
    window, steps, task = 1, 0, requests.task
    while steps < most:
        steps += 1
        jobs = arrivals(window, task.period, task.jitter)
        total = sum(requests.in_window(window, jobs - 1).values()) + requests.own_end
        if total <= window:
            return window
        window = total
    raise NoBoundError


def _arrivals_before(end: int, tasks: Sequence[Task], most: int) -> list[int]:
    arrivals = {0}
    for task in tasks:
        if end // task.period > most:
            raise NoBoundError
        arrivals |= {at for at in range(-task.jitter, end, task.period) if at >= 0}
    return sorted(arrivals)


def _with_equals(
    requests: Competitors, equals: Sequence[Task], ahead: Sequence[int], before: int, steps: int, most: int
) -> tuple[int, dict[str, int], int]:
    both = replace(requests, others=[*requests.others, *equals])
    window = 1
    while steps < most:
        steps += 1
        counts = [arrivals(window, other.period, other.jitter) for other in requests.others]
        parts = both.in_window(window, before, [*counts, *ahead])
        total = sum(parts.values())
        if total <= window:
            return window, parts, steps
        window = total
    raise NoBoundError
