"""How long a chain of tasks takes from something that happens to the answer: a bound, and what was observed.

Each task has its own period and looks at its input as its job begins: a queue that the one before it fills with its
last instruction, or the world. An event just after a job has looked waits for the next one, so each task adds a period
and a response (Davare et al. 2007, for tasks with periods of their own)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rtoslab.rta.analysis import Analysis
from rtoslab.rta.record import Trace
from rtoslab.rta.system import Chain, System


@dataclass(frozen=True, slots=True)
class ChainBound:
    """The bound of a chain, in units of the system."""

    name: str
    deadline: int
    latency: int | None
    """None means: a task of it has no bound."""

    @property
    def meets(self) -> bool:
        """Whether the deadline is met."""
        return self.latency is not None and self.latency <= self.deadline

    @property
    def can_be_missed(self) -> bool:
        """Whether the deadline can be missed."""
        return self.latency is not None and self.latency > self.deadline


def chain_bound(chain: Chain, system: System, analysis: Analysis) -> ChainBound:
    """The sum over its tasks of period and response: between two looks of a task at its input lie, from the release of
    the one to the end of the next, a period and that job's response at most."""
    periods = {task.name: task.period for task in system.tasks}
    responses = [analysis.find_bound(task).response for task in chain.tasks]
    latency = 0
    for name, response in zip(chain.tasks, responses, strict=True):
        if response is None:
            return ChainBound(chain.name, chain.deadline, None)
        latency += periods[name] + response
    return ChainBound(chain.name, chain.deadline, latency)


def observed_latency(chain: Chain, system: System, trace: Trace) -> int | None:
    """The longest in a run: for everything that happens just after a job of the first task has looked. None if no data
    reached the end."""
    order = [task.name for task in system.tasks]
    jobs = [sorted((one.begin, one.end) for one in trace.jobs if one.task == order.index(name)) for name in chain.tasks]
    longest: int | None = None
    for (looked, _), (_, answered) in pairwise(jobs[0]):
        arrived = _through(jobs[1:], answered)
        if arrived is not None:
            longest = max(longest or 0, arrived - looked)
    return None if longest is None else longest * system.units_per_cycle


def _through(jobs: Sequence[Sequence[tuple[int, int]]], at: int) -> int | None:
    """When data that is there at a cycle has passed these tasks' jobs. None if the run ends before."""
    for mine in jobs:
        next_ = bisect_left(mine, (at, 0))
        if next_ == len(mine):
            return None
        at = mine[next_][1]
    return at
