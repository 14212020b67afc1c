"""Demand of the processor in a window that begins with a busy period, by what demands it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from rtoslab.rta.charges import MEETINGS, Charges
from rtoslab.rta.system import Handler, Task, utilisation

_NEVER: Final = 10**30
"""A period so long that nothing of it counts."""


def arrivals(window: int, period: int, jitter: int = 0, phase: int = 0) -> int:
    """The most arrivals in [0, window): the first as late as its jitter allows, but not before `phase`."""
    return max(0, -(-(window + jitter - phase) // period))


def _arrivals(rows: Sequence[tuple[int, int]], window: int) -> list[int]:
    """The most arrivals of each."""
    return [arrivals(window, period, early) for period, early in rows]


@dataclass(frozen=True, slots=True)
class Competitors:
    """The demand that competes with the task under analysis. `others` run before it whenever they are ready."""

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
    neighbours: Sequence[Competitors] = ()
    """The other cores' tasks and kernel. A lock that this core waits for is held there."""
    phases: dict[str, int] = field(default_factory=dict)
    """Task -> its first arrival at the earliest, seen from the start of the busy period. By default 0."""
    _arriving: Sequence[tuple[int, int]] = field(init=False, repr=False, compare=False)
    """The arrivals of each of `others`: its period, and how long before the window its first arrival may be."""
    _releasing: Sequence[tuple[int, int]] = field(init=False, repr=False, compare=False)
    """The same of `released`."""
    _jobs: Sequence[tuple[int, int, bool]] = field(init=False, repr=False, compare=False)
    """The jobs of each of `others`: its job's work, what it takes for locks and masks, whether an interrupt releases
    it."""

    def __post_init__(self) -> None:
        """Windows are asked for by the thousand, so what is the same in all of them is looked up once."""
        jobs = [(other.wcet, self._calls(other), bool(other.released_by)) for other in self.others]
        object.__setattr__(self, "_arriving", [self._early(other) for other in self.others])
        object.__setattr__(self, "_releasing", [self._early(task) for task in self.released])
        object.__setattr__(self, "_jobs", jobs)

    def in_window(self, window: int, finished: int, others: Sequence[int] | None = None) -> dict[str, int]:
        """Returns the demand by cause, until the end of the job after `finished` others of the task. `others`: jobs
        of them, if known."""
        charge, own = self.charges, finished + 1
        ticks = arrivals(window, charge.tick_period, self.tick_jitter) if charge.tick_period else 0
        counts = _arrivals(self._arriving, window) if others is None else others
        tasks = sections = 0
        total, woken = own + sum(counts), own if self.task.released_by else 0
        for count, (wcet, calls, by_interrupt) in zip(counts, self._jobs, strict=True):
            tasks += count * wcet
            sections += count * calls
            woken += count if by_interrupt else 0
        handled = [(interrupt, arrivals(window, interrupt.period, interrupt.jitter)) for interrupt in self.interrupts]
        met = sum(count for handler, count in handled if handler.gives)
        meetings = min(MEETINGS * total, ticks)
        return {
            "own": own * self.task.wcet,
            "blocking": self.blocking,
            "tasks": tasks,
            "interrupts": sum(count * handler.wcet for handler, count in handled),
            "around interrupts": sum(count for _, count in handled) * charge.interrupt,
            "gives": met * charge.give,
            "tick": ticks * charge.tick,
            "releases": charge.release * self._releases(window, meetings if charge.compensated else ticks),
            "deferred": (charge.deferred + charge.compensated) * meetings,
            "asked by other cores": charge.requested * self._requests(window, ticks) if charge.requested else 0,
            "bus": math.ceil(charge.bus * (own * self.task.wcet + tasks)) if charge.bus else 0,
            "locks": sum(neighbour.kernel(window) for neighbour in self.neighbours),
            "job starts": charge.start * (total - woken) + charge.woken_start * woken,
            "job ends": charge.end * (total - woken) + charge.woken_end * woken - self.own_end,
            "preemptions": 0 if self.sliced else charge.preempt * min(total - woken, ticks),
            "slices": charge.slice * ticks if self.sliced else 0,
            "sections": own * self._calls(self.task) + sections,
        }

    def kernel(self, window: int) -> int:
        """Returns what the kernel does on this core in any such window, for all of `others`. Their jitter is how late
        they may end. It holds no lock for longer, interrupts in the midst of its calls included."""
        parts = self.in_window(window, -1)
        for work in ("own", "blocking", "tasks", "bus", "locks"):
            parts.pop(work)
        return sum(parts.values()) + self.own_end

    def _requests(self, window: int, ticks: int) -> int:
        """Once a tick at most, for tasks of this core that it released. The tick's own core only where another one made
        up for the tick."""
        arrived = zip(self.released, _arrivals(self._releasing, window), strict=True)
        home = sum(min(ticks, count) for arrival, count in arrived if arrival.core == self.task.core)
        if self.charges.compensated:
            return min(ticks, home)
        others = sum(neighbour.jobs(window) for neighbour in self.neighbours) if self.neighbours else ticks
        return min(ticks, home, MEETINGS * others)

    def jobs(self, window: int) -> int:
        """Returns the number of jobs of `others` in any such window."""
        return sum(_arrivals(self._arriving, window))

    def _calls(self, task: Task) -> int:
        """Returns what a job of the task takes for its locks and masks, others at them included."""
        charge = self.charges
        return charge.section * task.calls + charge.inversion * sum(name in self.shared for name, _ in task.sections)

    @property
    def own_end(self) -> int:
        """Returns what comes after a job's last instruction, before the task can begin another."""
        return self.charges.woken_end if self.task.released_by else self.charges.end

    def _early(self, task: Task) -> tuple[int, int]:
        return task.period, task.jitter - self.phases.get(task.name, 0)

    def _releases(self, window: int, ticks: int) -> int:
        """A task is released once a tick at most: its jitter lets it not be released twice by one."""
        if self.charges.worst_tick:
            return ticks * len(self.released)
        counts = _arrivals(self._releasing, window)
        return sum(counts) if not self.charges.tick_period else sum(min(ticks, count) for count in counts)

    def competing(self) -> Fraction:
        """A share of the processor that others take at least, in windows that begin with all of their arrivals."""
        tick = self.charges.tick
        parts = [(other.wcet, other.period) for other in self.others]
        parts += [(interrupt.wcet + self.charges.interrupt, interrupt.period) for interrupt in self.interrupts]
        return utilisation(parts) + (Fraction(tick, self.charges.tick_period) if tick else 0)

    def utilisation(self) -> Fraction:
        """Returns the utilisation in the long run. A charge once a tick or a job counts by the rarer of the two."""
        charge = self.charges
        tasks = (self.task, *self.others)
        parts = [(task.wcet + self._around(task) + self._calls(task), task.period) for task in tasks]
        parts += [
            (interrupt.wcet + charge.interrupt + (charge.give if interrupt.gives else 0), interrupt.period)
            for interrupt in self.interrupts
        ]
        total = utilisation(parts) + charge.bus * utilisation([(task.wcet, task.period) for task in tasks])
        if not charge.tick_period:
            return total
        total += sum((neighbour.kernel_share() for neighbour in self.neighbours), Fraction(0)) + self._requests_share()
        tick = charge.tick + (charge.slice if self.sliced else 0)
        every = Fraction(1, charge.tick_period)
        seldom = min(MEETINGS * utilisation([(1, task.period) for task in tasks]), every)
        seldom *= charge.deferred + charge.compensated
        if not self.sliced:
            by_tick = utilisation([(1, task.period) for task in tasks if not task.released_by])
            seldom += min(by_tick, every) * charge.preempt
        if charge.worst_tick:
            tick += charge.release * len(self.released)
            return total + seldom + Fraction(tick, charge.tick_period)
        released = utilisation([(charge.release, max(item.period, charge.tick_period)) for item in self.released])
        return total + seldom + released + Fraction(tick, charge.tick_period)

    def _requests_share(self) -> Fraction:
        """Not more than the window's `asked`, and not less in the long run than where every release asks."""
        every = Fraction(1, self.charges.tick_period)
        home = utilisation([(1, task.period) for task in self.released if task.core == self.task.core])
        return self.charges.requested * min(home, every)

    def kernel_share(self) -> Fraction:
        """Returns the kernel's share of the processor in the long run, as `kernel` in a window."""
        idle = [replace(other, wcet=0) for other in self.others]
        charges = replace(self.charges, bus=Fraction(0))
        return replace(self, task=replace(self.task, period=_NEVER), others=idle, charges=charges).utilisation()

    def _around(self, task: Task) -> int:
        """A job's start and end."""
        charge = self.charges
        return charge.woken_start + charge.woken_end if task.released_by else charge.start + charge.end
