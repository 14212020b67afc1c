"""Bounds the time that a chain of tasks takes from an event to the answer, and finds the longest observed one.

Each task has its own period and reads its input as its job begins: from a queue that the task before it fills with its
last instruction, or from outside. An event just after a job has read waits for the next job, so each task adds a period
and a response (Davare et al. 2007, for tasks with periods of their own)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rtoslab.rta.analysis import ResponseTimeAnalysis
from rtoslab.rta.record import TaskSetTrace
from rtoslab.rta.system import ChainOfTasks, IntegerTaskSet


@dataclass(frozen=True, slots=True)
class ChainBound:
    """The bound of the latency of a chain of tasks, in units of the system."""

    name: str
    deadline: int
    latency: int | None
    """None if a task of the chain has no bound."""

    @property
    def meets_deadline(self) -> bool:
        """Whether the bound of the chain's latency is within its deadline."""
        return self.latency is not None and self.latency <= self.deadline

    @property
    def can_be_missed(self) -> bool:
        """Whether the chain's deadline can be missed."""
        return self.latency is not None and self.latency > self.deadline


def chain_bound(chain: ChainOfTasks, system: IntegerTaskSet, analysis: ResponseTimeAnalysis) -> ChainBound:
    """Returns the bound of a chain's latency: the sum of period and response over its tasks.
    From the release of one job to the end of the next are a period and that job's response at most.
    """
    periods = {task.name: task.period for task in system.tasks}
    responses = [analysis.find_bound(task).response for task in chain.tasks]
    latency = 0
    for name, response in zip(chain.tasks, responses, strict=True):
        if response is None:
            return ChainBound(chain.name, chain.deadline, None)
        latency += periods[name] + response
    return ChainBound(chain.name, chain.deadline, latency)


def longest_observed_latency(chain: ChainOfTasks, system: IntegerTaskSet, trace: TaskSetTrace) -> int | None:
    """Returns the longest latency of a chain of tasks in a run. None if no data reached its end."""
    order = [task.name for task in system.tasks]
    jobs = [sorted((one.begin, one.end) for one in trace.jobs if one.task == order.index(name)) for name in chain.tasks]
    longest: int | None = None
    for (looked, _), (_, answered) in pairwise(jobs[0]):
        arrived = _passed_at(jobs[1:], answered)
        if arrived is not None:
            longest = max(longest or 0, arrived - looked)
    return None if longest is None else longest * system.units_per_cycle


def _passed_at(jobs: Sequence[Sequence[tuple[int, int]]], at: int) -> int | None:
    """Returns the cycle at which data that arrives at cycle `at` has passed these tasks.
    None if the run ends before.
    """
    for mine in jobs:
        next_ = bisect_left(mine, (at, 0))
        if next_ == len(mine):
            return None
        at = mine[next_][1]
    return at
