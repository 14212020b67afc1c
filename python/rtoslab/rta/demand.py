"""Demand of the processor in a window that begins with a busy period, by what demands it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rtoslab.rta.charges import MEETINGS, Charges
from rtoslab.rta.system import Handler, Task, utilisation


def arrivals(window: int, period: int, jitter: int = 0, phase: int = 0) -> int:
    """The most arrivals in [0, window): the first as late as its jitter allows, but not before `phase`."""
    return max(0, -(-(window + jitter - phase) // period))


@dataclass(frozen=True, slots=True)
class Demand:
    """What competes with the task under analysis: `others` run before it whenever they are ready."""

    task: Task
    others: Sequence[Task]
    interrupts: Sequence[Handler]
    released: Sequence[Task]
    """All tasks whose release the tick of this core handles, less urgent ones too."""
    charges: Charges
    blocking: int
    sliced: bool = False
    """Some of them have one priority, whichever, and take turns by the tick."""
    shared: frozenset[str] = frozenset()
    """Resources that more than one task uses."""
    tick_jitter: int = 0
    """How long before the busy period a tick may have been due that is handled in it."""
    phases: dict[str, int] = field(default_factory=dict)
    """Task -> its first arrival at the earliest, seen from the start of the busy period; by default 0."""

    def in_window(self, window: int, finished: int, others: Sequence[int] | None = None) -> dict[str, int]:
        """By cause, until the end of the job after `finished` others of the task. `others`: jobs of them, if known."""
        charge = self.charges
        ticks = arrivals(window, charge.tick_period, self.tick_jitter) if charge.tick_period else 0
        counts = [self._count(each, window) for each in self.others] if others is None else others
        jobs = [(self.task, finished + 1), *zip(self.others, counts, strict=True)]
        total, woken = sum(count for _, count in jobs), sum(count for each, count in jobs if each.released_by)
        handled = [(each, arrivals(window, each.period, each.jitter)) for each in self.interrupts]
        met = sum(count for each, count in handled if each.gives)
        return {
            "own": (finished + 1) * self.task.wcet,
            "blocking": self.blocking,
            "tasks": sum(count * each.wcet for each, count in jobs[1:]),
            "interrupts": sum(count * each.wcet for each, count in handled),
            "around interrupts": sum(count for _, count in handled) * charge.interrupt,
            "gives": met * charge.give,
            "tick": ticks * charge.tick,
            "releases": charge.release * self._releases(window, ticks),
            "deferred": charge.deferred * min(MEETINGS * total, ticks),
            "job starts": charge.start * (total - woken) + charge.woken_start * woken,
            "job ends": charge.end * (total - woken) + charge.woken_end * woken - self.own_end,
            "preemptions": 0 if self.sliced else charge.preempt * min(total - woken, ticks),
            "slices": charge.slice * ticks if self.sliced else 0,
            "sections": sum(count * self._calls(each) for each, count in jobs),
        }

    def _calls(self, task: Task) -> int:
        """What a job of the task takes for its locks and masks, others at them included."""
        charge = self.charges
        return charge.section * task.calls + charge.inversion * sum(name in self.shared for name, _ in task.sections)

    @property
    def own_end(self) -> int:
        """What comes after a job's last instruction, before the task can begin another."""
        return self.charges.woken_end if self.task.released_by else self.charges.end

    def _count(self, task: Task, window: int) -> int:
        return arrivals(window, task.period, task.jitter, self.phases.get(task.name, 0))

    def _releases(self, window: int, ticks: int) -> int:
        """A task is released once a tick at most: its jitter lets it not be released twice by one."""
        if self.charges.worst_tick:
            return ticks * len(self.released)
        counts = (self._count(each, window) for each in self.released)
        return sum(counts) if not self.charges.tick_period else sum(min(ticks, each) for each in counts)

    def competing(self) -> Fraction:
        """A share of the processor that others take at least, in windows that begin with all of their arrivals."""
        tick = self.charges.tick
        parts = [(each.wcet, each.period) for each in self.others]
        parts += [(each.wcet + self.charges.interrupt, each.period) for each in self.interrupts]
        return utilisation(parts) + (Fraction(tick, self.charges.tick_period) if tick else 0)

    def utilisation(self) -> Fraction:
        """In the long run, what is charged once a tick or job by the rarer of the two."""
        charge = self.charges
        tasks = (self.task, *self.others)
        parts = [(each.wcet + self._around(each) + self._calls(each), each.period) for each in tasks]
        parts += [
            (each.wcet + charge.interrupt + (charge.give if each.gives else 0), each.period) for each in self.interrupts
        ]
        total = utilisation(parts)
        if not charge.tick_period:
            return total
        tick = charge.tick + (charge.slice if self.sliced else 0)
        every = Fraction(1, charge.tick_period)
        seldom = min(MEETINGS * utilisation([(1, each.period) for each in tasks]), every) * charge.deferred
        if not self.sliced:
            by_tick = utilisation([(1, each.period) for each in tasks if not each.released_by])
            seldom += min(by_tick, every) * charge.preempt
        if charge.worst_tick:
            tick += charge.release * len(self.released)
            return total + seldom + Fraction(tick, charge.tick_period)
        released = utilisation([(charge.release, max(each.period, charge.tick_period)) for each in self.released])
        return total + seldom + released + Fraction(tick, charge.tick_period)

    def _around(self, task: Task) -> int:
        """A job's start and end."""
        charge = self.charges
        return charge.woken_start + charge.woken_end if task.released_by else charge.start + charge.end
