"""The responses of each task and interrupt in a run, with those so far of jobs that had not ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rtoslab.rta.record import Trace
from rtoslab.rta.system import System


@dataclass(frozen=True, slots=True)
class Responses:
    """The responses of one task or interrupt, in units of the system."""

    name: str
    ended: tuple[int, ...]
    """The responses of the jobs that ended, in their order."""
    unfinished: tuple[int, ...] = ()
    """The responses so far of jobs that had not ended with the run: they will have taken longer than this."""

    @property
    def longest(self) -> int:
        """The longest that is known: what a bound is held against. 0 if nothing was released."""
        return max((*self.ended, *self.unfinished), default=0)

    def exceeds(self, bound: int | None) -> bool:
        """A job took longer than its bound. A task without one is not exceeded."""
        return bound is not None and self.longest > bound


def responses(system: System, trace: Trace, until: int | None = None) -> Iterator[Responses]:
    """Yields the responses of each task, then of each interrupt that the set names, for jobs released before the
    cycle `until`."""
    scale = system.units_per_cycle
    for at, task in enumerate(system.tasks):
        ended, unfinished = (
            tuple(job.response * scale for job in jobs if job.task == at and (until is None or job.release < until))
            for jobs in (trace.jobs, trace.unfinished)
        )
        yield Responses(task.name, ended, unfinished)
    for at, handler in enumerate(system.interrupts):
        if not handler.implied:
            yield Responses(handler.name, tuple(item * scale for item in trace.response_times(at + 1)))
