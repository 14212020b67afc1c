"""A task set run on the virtual board from its critical instant on, every job's response set against the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from statistics import median
from typing import Final

from rtoslab.errors import CheckError
from rtoslab.rta.analysis import Analysis
from rtoslab.rta.charges import Model
from rtoslab.rta.entries import Ledger
from rtoslab.rta.firmware import Firmware, Row
from rtoslab.rta.ledger import enter
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import Excess, uncovered
from rtoslab.rta.system import System, Task
from rtoslab.rta.trace import Job, Trace, run
from rtoslab.rta.work import Work

DEFAULT_TICKS: Final = 2_000
"""The most that is run unless more is asked for."""
LEAST_TICKS: Final = 200
"""The least, however short the hyperperiod."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Of one task, in units of the system."""

    name: str
    deadline: int
    responses: tuple[int, ...]
    """Of the jobs that ended, in their order."""
    misses: int
    """Jobs that ended after their deadline, or had not ended by then as the run ended."""
    work: int
    """How long a job works, undisturbed."""

    @property
    def longest(self) -> int:
        """The longest response; 0 if no job ended."""
        return max(self.responses, default=0)

    @property
    def middle(self) -> float:
        """The median response."""
        return float(median(self.responses)) if self.responses else 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """What was run and seen."""

    tasks: tuple[Observed, ...]
    trace: Trace
    ledger: Ledger
    ticks: int
    hyperperiod_ticks: int
    notes: tuple[str, ...]

    @property
    def jobs(self) -> int:
        """That ended."""
        return sum(len(each.responses) for each in self.tasks)

    @property
    def misses(self) -> int:
        """Of all tasks."""
        return sum(each.misses for each in self.tasks)

    def uncovered(self, overheads: Overheads) -> list[Excess]:
        """What took longer than these overheads say, the worst first: bounds made of them cannot be trusted."""
        return uncovered(self.ledger, overheads, len(self.tasks))

    def exceeded(self, analysis: Analysis) -> list[str]:
        """Tasks with a job that took longer than its bound: the bound, or what it was made of, is wrong."""
        return [name for name, ratio in self.tightness(analysis).items() if ratio < 1]

    def tightness(self, analysis: Analysis) -> dict[str, float]:
        """Bound over longest observed response, of the tasks that have both."""
        pairs = ((each, analysis.bound(each.name).response) for each in self.tasks)
        return {each.name: bound / each.longest for each, bound in pairs if bound is not None and each.longest}


def check(system: System, firmware: Firmware, work: Work, ticks: int | None = None) -> Check:
    """Runs so many ticks from the critical instant on; by default the hyperperiod, LEAST_ to DEFAULT_TICKS.

    A set that asks for more than the processor shows it only after many jobs, so a short hyperperiod is run more often.
    Raises CheckError where the set cannot be run as it stands.
    """
    rows = rows_of(system, firmware, work)
    hyperperiod = lcm(*(each.period_ticks for each in rows))
    span = ticks or min(DEFAULT_TICKS, hyperperiod * -(-LEAST_TICKS // hyperperiod))
    # Whatever is released within the span may end; the rest of the last jobs is let run for a deadline or two.
    tick = firmware.tick_cycles * system.units_per_cycle
    longest = max(-(-each.deadline // tick) for each in system.tasks)
    trace = run(firmware, rows, span + min(longest, DEFAULT_TICKS))
    last = trace.origin + span * firmware.tick_cycles
    offsets = max(each.offset_ticks for each in rows) * firmware.tick_cycles
    scale = system.units_per_cycle
    found = []
    for index, (each, row) in enumerate(zip(system.tasks, rows, strict=True)):
        mine = [job for job in trace.jobs if job.task == index and job.release < last + offsets]
        open_jobs = [job for job in trace.unfinished if job.task == index and job.release < last + offsets]
        late = [job for job in (*mine, *open_jobs) if job.response * scale > each.deadline]
        responses = tuple(job.response * scale for job in mine)
        found.append(
            Observed(each.name, each.deadline, responses, len(late), work.cycles(row.rounds, row.extra) * scale)
        )
    return Check(tuple(found), trace, enter([trace], work), span, hyperperiod, tuple(_notes(system, found)))


def rows_of(system: System, firmware: Firmware, work: Work) -> list[Row]:
    """The tasks as the image has them. Raises CheckError naming the task that does not fit."""
    if system.cores != (0,):
        raise CheckError("The check runs on one core; analyse several without --check.")
    if system.clock_hz != firmware.clock_hz:
        raise CheckError(f"The task set was made for {system.clock_hz} Hz, the board runs at {firmware.clock_hz}.")
    if len(system.tasks) > firmware.most_tasks:
        raise CheckError(
            f"The image holds {firmware.most_tasks} tasks, the set has {len(system.tasks)}; check a part of it."
        )
    levels = sorted({each.priority for each in system.tasks})
    if len(levels) > firmware.priorities:
        raise CheckError(f"The image has {firmware.priorities} priorities, the set {len(levels)}; check a part of it.")
    return [
        Row(
            period_ticks=_ticks(each, Fraction(each.period, system.units_per_cycle), "period", firmware),
            offset_ticks=_ticks(each, Fraction(each.offset or 0, system.units_per_cycle), "offset", firmware),
            priority=levels.index(each.priority),
            **_work(each, each.wcet // system.units_per_cycle, work),
        )
        for each in system.tasks
    ]


def _ticks(task: Task, cycles: Fraction, what: str, firmware: Firmware) -> int:
    whole = cycles / firmware.tick_cycles
    if whole.denominator != 1:
        tick_us = 1_000_000 / firmware.tick_hz
        raise CheckError(
            f"{task.name}: its {what} is {float(whole):g} ticks of {tick_us:g} us, but the kernel releases tasks by "
            "whole ticks; change it, or the tick rate with --config."
        )
    return int(whole)


def _work(task: Task, cycles: int, work: Work) -> Mapping[str, int]:
    try:
        rounds, extra = work.lasting(cycles)
    except CheckError as cause:
        raise CheckError(f"{task.name}: {cause}") from None
    return {"rounds": rounds, "extra": extra}


def _notes(system: System, found: list[Observed]) -> list[str]:
    notes = []
    if system.interrupts:
        notes.append("The image has no interrupts of the set: their part of the bounds is not seen.")
    if any(each.sections for each in system.tasks):
        notes.append("The image takes no locks: blocking and the cost of sections are in the bounds, but not seen.")
    if any(each.masked for each in system.tasks):
        notes.append("The image's tasks mask nothing: that blocking is in the bounds, but not seen.")
    if any(each.jitter for each in system.tasks):
        notes.append("The image releases without jitter: it is in the bounds, but not seen.")
    short = [
        f"{one.name} by {float(Fraction(one.wcet - each.work, system.units_per_cycle)):g}"
        for one, each in zip(system.tasks, found, strict=True)
        if one.wcet != each.work
    ]
    if short:
        notes.append(f"Work that lasts exactly the wcet cannot be had here, it is shorter: {', '.join(short)} cycles.")
    return notes


def longest_job(trace: Trace, task: int) -> Job | None:
    """The job with the longest response."""
    return max((each for each in trace.jobs if each.task == task), key=lambda each: each.response, default=None)


def median_tightness(checks: Mapping[str, tuple[Check, Mapping[Model, Analysis]]], model: Model) -> float:
    """Over all tasks of all checks."""
    return median(ratio for each, found in checks.values() for ratio in each.tightness(found[model]).values())
