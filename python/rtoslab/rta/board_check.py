"""A task set run on the virtual board from its critical instant on, every job's response set against the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from statistics import median
from typing import Final

from rtoslab.rta.analysis import Analysis
from rtoslab.rta.arrange import lines_of, rows_of
from rtoslab.rta.entries import Interruption, Ledger
from rtoslab.rta.firmware import Firmware
from rtoslab.rta.ledger import enter
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import Excess, uncovered_entries
from rtoslab.rta.record import Trace
from rtoslab.rta.responses import Responses, responses
from rtoslab.rta.system import System
from rtoslab.rta.trace import run
from rtoslab.rta.work import Work

DEFAULT_TICKS: Final = 2_000
"""The most that is run unless more is asked for."""
LEAST_TICKS: Final = 200
"""The least, however short the hyperperiod."""


@dataclass(frozen=True, slots=True)
class ObservedTask:
    """The observed times of one task, in units of the system."""

    name: str
    deadline: int
    seen: Responses
    misses: int
    """Jobs that ended after their deadline, or had not ended by then as the run ended."""
    work: int
    """How long a job works, undisturbed."""

    @property
    def responses(self) -> tuple[int, ...]:
        """Returns the responses of the jobs that ended, in their order."""
        return self.seen.ended

    @property
    def jobs(self) -> int:
        """That were released and observed, ended or not."""
        return len(self.seen.ended) + len(self.seen.unfinished)

    @property
    def longest(self) -> int:
        """The longest response. 0 if no job ended."""
        return max(self.responses, default=0)

    @property
    def middle(self) -> float:
        """The median response."""
        return float(median(self.responses)) if self.responses else 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """The executed set and its observations."""

    tasks: tuple[ObservedTask, ...]
    interrupts: tuple[ObservedTask, ...]
    trace: Trace
    ledger: Ledger
    ticks: int
    hyperperiod_ticks: int
    notes: tuple[str, ...]

    @property
    def jobs(self) -> int:
        """That were released, ended or not."""
        return sum(task.jobs for task in self.tasks)

    @property
    def misses(self) -> int:
        """Returns the misses of all tasks."""
        return sum(task.misses for task in (*self.tasks, *self.interrupts))

    @property
    def plain_ticks(self) -> list[Interruption]:
        """Those that met nothing but work or an idle core, and no interrupt. With the switch, where they hand over."""
        candidates = (
            interruption
            for interruption in self.ledger.interruptions
            if interruption.ticks == 1 and not interruption.meets_kernel
        )
        return [item for item in candidates if not item.irqs.count]

    def uncovered_entries(self, overheads: Overheads) -> list[Excess]:
        """Returns what took longer than these overheads say, the worst first: bounds made of them cannot be trusted."""
        return uncovered_entries(self.ledger, overheads, len(self.tasks))

    def exceeded_tasks(self, analysis: Analysis) -> list[str]:
        """Tasks with a job, ended or not, that took longer than its bound: that, or what it was made of, is wrong."""
        seen = (task.seen for task in (*self.tasks, *self.interrupts))
        return [
            observation.name
            for observation in seen
            if observation.exceeds(analysis.find_bound(observation.name).response)
        ]

    def tightness(self, analysis: Analysis) -> dict[str, float]:
        """Bound over longest observed response, of the tasks that have both."""
        pairs = ((task, analysis.find_bound(task.name).response) for task in (*self.tasks, *self.interrupts))
        return {pair.name: bound / pair.longest for pair, bound in pairs if bound is not None and pair.longest}


def check(system: System, firmware: Firmware, work: Work, ticks: int | None = None) -> Check:
    """Runs so many ticks from the critical instant on. By default the hyperperiod, LEAST_ to DEFAULT_TICKS.

    A set that asks for more than the processor shows it only after many jobs, so a short hyperperiod is run more often.
    Raises CheckError where the set cannot be run as it stands.
    """
    rows = rows_of(system, firmware, work)
    tick = firmware.tick_cycles * system.units_per_cycle
    hyperperiod = lcm(*(item.period_ticks for item in rows))
    span = ticks or min(DEFAULT_TICKS, hyperperiod * -(-LEAST_TICKS // hyperperiod))
    # Whatever is released within the span may end. The rest of the last jobs is let run for a deadline or two.
    longest = min(max(-(-item.deadline // tick) for item in system.tasks), DEFAULT_TICKS)
    lines = lines_of(system, firmware, work, span)
    trace = run(firmware, rows, span + longest, lines)
    last = trace.origin + (span + max(item.offset_ticks for item in rows)) * firmware.tick_cycles
    seen = list(responses(system, trace, last))
    tasks = [
        ObservedTask(one.name, task.deadline, one, _late(one, task.deadline), work.of(row) * system.units_per_cycle)
        for one, task, row in zip(seen, system.tasks, rows, strict=False)
    ]
    handlers = (interrupt for interrupt in system.interrupts if not interrupt.implied)
    interrupts = [
        ObservedTask(one.name, item.deadline, one, _late(one, item.deadline), item.wcet)
        for one, item in zip(seen[len(rows) :], handlers, strict=True)
    ]
    ledger = enter([trace], work)
    return Check(tuple(tasks), tuple(interrupts), trace, ledger, span, hyperperiod, tuple(_notes(system, tasks)))


def _late(seen: Responses, deadline: int) -> int:
    return sum(job > deadline for job in (*seen.ended, *seen.unfinished))


def _notes(system: System, observations: list[ObservedTask]) -> list[str]:
    notes = []
    if any(task.jitter and not task.released_by for task in system.tasks):
        notes.append("The tick releases without jitter: it is in the bounds, but not seen.")
    short = [
        f"{one.name} by {float(Fraction(one.wcet - pair.work, system.units_per_cycle)):g}"
        for one, pair in zip(system.tasks, observations, strict=True)
        if one.wcet != pair.work
    ]
    if short:
        notes.append(f"Work that lasts exactly the wcet cannot be had here, it is shorter: {', '.join(short)} cycles.")
    return notes
