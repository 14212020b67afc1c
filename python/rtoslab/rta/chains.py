"""Bounds the time that a chain of tasks takes from an event to the answer, and finds the longest observed one.

Each task has its own period and reads its input as its job begins: from a queue that the task before it fills with its
last instruction, or from outside. An event just after a job has read waits for the next job, so each task adds a period
and a response (Davare et al. 2007, for tasks with periods of their own). A task that the one before it releases adds
nothing: its response counts from the arrival of the first task that releases others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rtoslab.rta.bounds import ResponseTimeAnalysis
from rtoslab.rta.record import TaskSetTrace
from rtoslab.rta.system import ChainOfTasks, IntegerTimeTaskSet


@dataclass(frozen=True, slots=True)
class ChainBound:
    """The bound of the latency of a chain of tasks, in units of the system."""

    name: str
    deadline: int
    latency: int | None
    """None if a task of the chain has no bound."""

    @property
    def is_deadline_met(self) -> bool:
        """Whether the bound of the chain's latency is within its deadline."""
        return self.latency is not None and self.latency <= self.deadline

    @property
    def can_deadline_be_missed(self) -> bool:
        """Whether the chain's deadline can be missed."""
        return self.latency is not None and self.latency > self.deadline


def chain_latency_bound(chain: ChainOfTasks, system: IntegerTimeTaskSet, analysis: ResponseTimeAnalysis) -> ChainBound:
    """Returns the bound of a chain's latency: the sum of period and response over its tasks.

    From the arrival of one job to the end of the next are a period and that job's response at most. If tasks release
    each other in the chain's order, only the response of the last one counts.
    """
    tasks = {task.name: task for task in system.tasks}
    latency = 0
    for name, next_name in zip(chain.tasks, [*chain.tasks[1:], ""], strict=True):
        response = analysis.find_response_bound(name).response
        if response is None:
            return ChainBound(chain.name, chain.deadline, None)
        if not next_name or tasks[next_name].sender != name:
            latency += tasks[name].period + response
    return ChainBound(chain.name, chain.deadline, latency)


def longest_observed_chain_latency(chain: ChainOfTasks, system: IntegerTimeTaskSet, trace: TaskSetTrace) -> int | None:
    """Returns the longest latency of a chain of tasks in a run. None if no data reached its end."""
    order = list(system.task_names)
    senders = {task.name: task.sender for task in system.tasks}
    jobs = [sorted((one.begin, one.end) for one in trace.jobs if one.task == order.index(name)) for name in chain.tasks]
    released = [senders[name] == before for before, name in pairwise(chain.tasks)]
    longest: int | None = None
    for number, ((looked, _), (_, answered)) in enumerate(pairwise(jobs[0]), 1):
        arrived = _find_cycle_of_data_passing_chain(jobs[1:], released, number, answered)
        if arrived is not None:
            longest = max(longest or 0, arrived - looked)
    return None if longest is None else longest * system.units_per_cycle


def _find_cycle_of_data_passing_chain(
    jobs: Sequence[Sequence[tuple[int, int]]], released: Sequence[bool], number: int, at: int
) -> int | None:
    """Returns the cycle at which data that arrives at cycle `at` has passed these tasks. None if the run ends before.
    `released`: for each task, whether the task before it releases it. `number`: the index of the job that was released
    in this way.
    """
    for mine, is_released in zip(jobs, released, strict=True):
        next_ = number if is_released else bisect_left(mine, (at, 0))
        number = next_
        if next_ == len(mine):
            return None
        at = mine[next_][1]
    return at
