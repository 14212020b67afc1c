"""The observed responses of each task and interrupt in a run, those of unfinished jobs included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rtoslab.rta.record import TaskSetTrace
from rtoslab.rta.senders import preceding_tasks_in_release_chain
from rtoslab.rta.system import IntegerTimeTaskSet


@dataclass(frozen=True, slots=True)
class ObservedResponseTimes:
    """The observed response times of one task or interrupt, in units of the system."""

    name: str
    ended: tuple[int, ...]
    """The responses of the jobs that ended, in their order."""
    unfinished: tuple[int, ...] = ()
    """The responses so far of jobs that had not ended with the run. They took at least this long."""

    @property
    def longest_response(self) -> int:
        """Returns the longest observed response time. 0 if nothing was released."""
        return max((*self.ended, *self.unfinished), default=0)

    def has_response_time_above_bound(self, bound: int | None) -> bool:
        """Whether an observed response time is longer than the bound. False if there is no bound."""
        return bound is not None and self.longest_response > bound


def observed_response_times(
    system: IntegerTimeTaskSet, trace: TaskSetTrace, until: int | None = None
) -> Iterator[ObservedResponseTimes]:
    """Yields the observed response times of each task, then of each interrupt."""
    scale = system.units_per_cycle
    by_name = {task.name: task for task in system.tasks}
    indices = {name: at for at, name in enumerate(system.task_names)}
    for task in system.tasks:
        at = indices[task.task_name]
        names = [*reversed(preceding_tasks_in_release_chain(task, by_name)), task.name]
        path = tuple(indices[by_name[name].task_name] for name in names)
        ended, unfinished = (
            tuple(
                job.response_time * scale
                for job in jobs
                if job.task == at and job.path in {(), path} and (until is None or job.release < until)
            )
            for jobs in (trace.jobs, trace.unfinished)
        )
        yield ObservedResponseTimes(task.name, ended, unfinished)
    for at, handler in enumerate(system.interrupts):
        if not handler.implied:
            yield ObservedResponseTimes(
                handler.name, tuple(item * scale for item in trace.interrupt_response_times(at + 1))
            )
