"""Arrival curves: the most arrivals in a window of each length, and the least distance between arrivals.

A curve is a list of (count, window) pairs: no window of this length contains more than this number of arrivals. The
worst case are arrivals that come as early as all pairs allow: no other arrivals can be more in a window that begins
with the first one. They are computed once for each curve."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Final

ArrivalCurve = tuple[tuple[int, int], ...]
"""(count, window) pairs. Empty: the arrivals are periodic."""

_COMPUTED: Final = 4_096
"""The number of arrivals that are computed one by one. Further ones are bounded by repetitions of these."""


@cache
def earliest_arrivals_of_curve(curve: ArrivalCurve) -> tuple[int, ...]:
    """Returns the earliest times of the first arrivals that a curve allows, from 0 on."""
    times: list[int] = []
    for number in range(_COMPUTED):
        allowed = [times[number - count] + window for count, window in curve if count <= number]
        times.append(max(times[-1] if times else 0, *allowed, 0))
    return tuple(times)


def most_arrivals_in_window(curve: ArrivalCurve, window: int) -> int:
    """Returns the largest number of arrivals in a window that includes its first instant but not its last one."""
    if window <= 0:
        return 0
    times = earliest_arrivals_of_curve(curve)
    if window <= times[-1]:
        return bisect_left(times, window)
    whole, rest = divmod(window, times[-1])
    return whole * (len(times) - 1) + most_arrivals_in_window(curve, rest)


def max_arrivals_of_periodic_task(window: int, period: int, jitter: int = 0, phase: int = 0) -> int:
    """Returns the largest number of arrivals of a periodic task in the window [0, window).
    The first is as late as its jitter allows, but not before `phase`.
    """
    return max(0, -(-(window + jitter - phase) // period))


Arrivals = tuple[int, int, ArrivalCurve]
"""The arrivals of a task: its period, the time before a window at which the first may arrive, its curve or none."""


def most_arrivals_of_each_task(arrivals: Sequence[Arrivals], window: int) -> list[int]:
    """Returns the largest number of arrivals of each task in a window."""
    return [
        most_arrivals_in_window(curve, window + early)
        if curve
        else max_arrivals_of_periodic_task(window, period, early)
        for period, early, curve in arrivals
    ]


def shortest_time_between_arrivals(curve: ArrivalCurve, number: int) -> int:
    """Returns the least time from an arrival to the arrival that comes `number` arrivals later."""
    times = earliest_arrivals_of_curve(curve)
    whole, rest = divmod(number, len(times) - 1)
    return whole * times[-1] + times[rest]


def long_run_arrival_rate(curve: ArrivalCurve) -> tuple[int, int]:
    """Returns the (count, window) pair that limits the arrivals in the long run."""
    return min(curve, key=lambda pair: Fraction(pair[0], pair[1]))
