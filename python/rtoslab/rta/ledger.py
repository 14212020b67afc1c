"""A trace as a ledger: every cycle that a kernel took, booked under the event that the analysis charges it to.

The processor is at every moment in a chain of handlers, or in a task that starts a job, works, or ends one, or idle.
A *chain* is handlers one behind the other without a return to a task between them. A *stretch* is a task's own time
from one turn of its state to the next, however often it is interrupted meanwhile. Each entry says what it took and
what it is made of; `fit` draws the prices from entries made of one thing, `prices` holds every entry against them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from rtoslab.rta.trace import IDLE, Handler, Job, Trace
from rtoslab.rta.work import Work
from rtoslab.run.handlers import PENDSV, SVCALL, SYSTICK


class Phase(StrEnum):
    """What a task does."""

    ASLEEP = "asleep"
    STARTING = "start"
    """Switched to, and its job's work has not begun."""
    WORKING = "work"
    ENDING = "end"
    """Its job's work has ended, and it has not gone to sleep."""


@dataclass(slots=True)
class Chain:
    """Handlers without a return to a task between them. Index of a task or IDLE before and after it."""

    handlers: list[Handler]
    released: int = 0
    """Jobs that its ticks release."""

    @property
    def start(self) -> int:
        """First cycle of the first handler; what is before it belongs to whom it interrupts."""
        return self.handlers[0].start

    @property
    def end(self) -> int:
        """Its last return."""
        return self.handlers[-1].end

    @property
    def cycles(self) -> int:
        """From the first handler's first cycle to the last return."""
        return self.end - self.start

    @property
    def before(self) -> int:
        """Who was interrupted."""
        return self.handlers[0].before

    @property
    def after(self) -> int:
        """Who goes on."""
        return self.handlers[-1].after

    @property
    def ticks(self) -> int:
        """Of the kernel's clock."""
        return sum(each.exception == SYSTICK for each in self.handlers)

    @property
    def switches(self) -> int:
        """Changes of the running task."""
        return sum(each.before != each.after for each in self.handlers)

    @property
    def own(self) -> bool:
        """The interrupted task called for it: nothing came from outside before it switched, or it did not switch."""
        for each in self.handlers:
            if each.exception not in {SVCALL, PENDSV}:
                return False
            if each.before != each.after:
                return True
        return True


@dataclass(slots=True)
class Entry:
    """One booking, in cycles."""

    at: int
    """The cycle at which it ended, since reset."""
    cycles: int


@dataclass(slots=True)
class Interruption(Entry):
    """A chain that came from outside."""

    ticks: int = 0
    released: int = 0
    switches: int = 0
    among_equals: bool = False
    """The only switch is one between equals, neither of them just released: a slice."""
    from_idle: bool = False
    meets_kernel: bool = False
    """It came while a task started or ended a job, or falls together with a switch that a task called for."""


@dataclass(slots=True)
class Stretch(Entry):
    """Own time of a task in one phase; `cycles` grows with it."""

    task: int = IDLE
    since: int = 0
    interruptions: list[Interruption] = field(default_factory=list)


@dataclass(slots=True)
class Leave(Entry):
    """From the last instruction of a job to whoever runs next: the stretch, and the chain that switches."""

    stretch: Stretch
    chain: Chain
    distance: int
    """Priorities that lie between them and one more; 0 to an equal, and to a more urgent one."""
    to_idle: bool
    tasks: int
    """In the set."""


@dataclass(slots=True)
class Wait(Entry):
    """From a tick to the job that it released, with nothing as urgent in between; the end of the switch to it."""

    released: int


@dataclass
class Ledger:
    """Of one run or several."""

    interruptions: list[Interruption] = field(default_factory=list)
    starts: list[Stretch] = field(default_factory=list)
    works: list[tuple[Stretch, int]] = field(default_factory=list)
    """With the cycles that the work alone takes."""
    leaves: list[Leave] = field(default_factory=list)
    agains: list[Stretch] = field(default_factory=list)
    """From the end of a job to the begin of the next one, where that was due and nobody was switched to."""
    waits: list[Wait] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    """From when a tick was due to its handler, into work or idling."""
    delays: list[int] = field(default_factory=list)
    """The same, where the kernel was at work."""
    handlers: dict[str, list[int]] = field(default_factory=dict)
    """The handler that switches, alone: up, from_idle."""
    equals_rotate: bool = False
    """A tick was seen to hand over from a task to its equal, neither of them just released."""
    preempted_goes_behind: bool = False
    """A preempted task was seen to wait for an equal that had been ready for less long."""


def enter(traces: Iterable[Trace], work: Work) -> Ledger:
    """Books everything that the traces show."""
    ledger = Ledger()
    for trace in traces:
        _Clerk(trace, work, ledger).book()
    return ledger


def chains(trace: Trace) -> list[Chain]:
    """Handlers that follow one another without a return: the next was recognised before the last one's end."""
    found: list[Chain] = []
    ordered = sorted(trace.handlers, key=lambda each: each.start)
    for one, next_ in pairwise([None, *ordered]):
        assert next_ is not None
        if one is not None and next_.start - next_.entry <= one.end:
            found[-1].handlers.append(next_)
        else:
            found.append(Chain([next_]))
        found[-1].released += next_.released
    return found


class _Clerk:
    def __init__(self, trace: Trace, work: Work, ledger: Ledger) -> None:
        self.trace = trace
        self.work = work
        self.ledger = ledger
        self.phase = dict.fromkeys(range(len(trace.rows)), Phase.ASLEEP)
        self.open: dict[int, Stretch] = {}
        self.ran: dict[int, int] = {}
        """Priority -> when a task of it last ran."""
        self.preempted: dict[int, int] = {}
        """Priority -> its task that a more urgent one has preempted."""
        self.ticks = {each.due: each for each in trace.ticks}

    def book(self) -> None:
        marks: list[tuple[int, int, Job | Chain]] = [(each.end, 0, each) for each in self.trace.jobs]
        marks += [(each.start, 1, each) for each in chains(self.trace)]
        begun = [*self.trace.jobs, *(each for each in self.trace.unfinished if each.begin)]
        marks += [(each.begin, 2, each) for each in begun]
        for cycle, rank, mark in sorted(marks, key=lambda each: each[:2]):
            if isinstance(mark, Chain):
                self._chain(mark)
            elif rank == 0:
                self._end(mark, cycle)
            else:
                self._begin(mark, cycle)

    def _close(self, task: int, cycle: int) -> Stretch:
        stretch = self.open.pop(task)
        stretch.cycles += cycle - stretch.since
        stretch.at = cycle
        return stretch

    def _open(self, task: int, phase: Phase, cycle: int) -> None:
        self.phase[task] = phase
        self.open[task] = Stretch(cycle, 0, task, cycle)

    def _begin(self, job: Job, cycle: int) -> None:
        if self.phase[job.task] is Phase.ENDING:
            self.ledger.agains.append(self._close(job.task, cycle))
        elif job.task in self.open:
            self.ledger.starts.append(self._close(job.task, cycle))
        self._open(job.task, Phase.WORKING, cycle)

    def _end(self, job: Job, cycle: int) -> None:
        row = self.trace.rows[job.task]
        if job.task in self.open:
            self.ledger.works.append((self._close(job.task, cycle), self.work.cycles(row.rounds, row.extra)))
        self._open(job.task, Phase.ENDING, cycle)

    def _chain(self, chain: Chain) -> None:
        before = chain.before
        leaves = before != IDLE and self.phase[before] is Phase.ENDING and chain.own and chain.switches > 0
        stretch = self.open.get(before)
        if stretch is not None:
            if chain.own and chain.switches == 0:
                return  # a call of its own that came back: its own time
            stretch.cycles += chain.start - stretch.since
        if leaves and stretch is not None:
            self._leave(chain, stretch)
        else:
            self._interruption(chain, stretch)
        if before != IDLE:
            self.ran[self.trace.rows[before].priority] = chain.start
        self._goes_on(chain)

    def _leave(self, chain: Chain, stretch: Stretch) -> None:
        rows = self.trace.rows
        before, after = next((each.before, each.after) for each in chain.handlers if each.before != each.after)
        down = 0 if after == IDLE else max(0, rows[before].priority - rows[after].priority)
        whole = stretch.cycles + chain.cycles
        self.ledger.leaves.append(Leave(chain.end, whole, stretch, chain, down, after == IDLE, len(rows)))
        del self.open[before]
        self.phase[before] = Phase.ASLEEP

    def _interruption(self, chain: Chain, stretch: Stretch | None) -> None:
        before, after = chain.before, chain.after
        phase = self.phase.get(before, Phase.WORKING)
        meets = phase in {Phase.STARTING, Phase.ENDING}
        for tick in (each for each in chain.handlers if each.exception == SYSTICK):
            first = tick is chain.handlers[0]
            (self.ledger.entries if first and not meets else self.ledger.delays).append(tick.start - tick.due)
        rows = self.trace.rows
        both = before != IDLE and after not in {IDLE, before}
        equal = both and rows[before].priority == rows[after].priority
        slices = equal and chain.ticks > 0 and self._due(after, chain.start) not in self._dues(chain)
        if both and rows[before].priority < rows[after].priority:
            self.preempted[rows[before].priority] = before
        found = Interruption(
            chain.end, chain.cycles, chain.ticks, chain.released, chain.switches, slices, before == IDLE, meets
        )
        self.ledger.interruptions.append(found)
        self.ledger.equals_rotate |= slices
        if stretch is not None:
            stretch.interruptions.append(found)
        if chain.switches == 1 and chain.ticks == 1:
            last = next(each for each in chain.handlers if each.before != each.after)
            kind = "from_idle" if before == IDLE else "up"
            self.ledger.handlers.setdefault(kind, []).append(last.end - last.start)

    @staticmethod
    def _dues(chain: Chain) -> set[int]:
        return {each.due for each in chain.handlers if each.exception == SYSTICK}

    def _goes_on(self, chain: Chain) -> None:
        after = chain.after
        if after == IDLE:
            return
        preempted = self.preempted.pop(self.trace.rows[after].priority, after)
        self.ledger.preempted_goes_behind |= preempted != after and preempted in self.open
        if after in self.open:
            self.open[after].since = chain.end
        else:
            self._waited(after, chain)
            self._open(after, Phase.STARTING, chain.end)

    def _waited(self, task: int, chain: Chain) -> None:
        """Books the wait of a job for its first cycle, if nothing as urgent was in its way since its release."""
        due = self._due(task, chain.end)
        priority = self.trace.rows[task].priority
        if due is None or any(at > due for each, at in self.ran.items() if each >= priority):
            return
        if any(self.trace.rows[each].priority >= priority for each in self.open):
            return
        if due in self.ticks:
            self.ledger.waits.append(Wait(chain.end, chain.end - due, self.ticks[due].released))

    def _due(self, task: int, now: int) -> int | None:
        """The task's last release."""
        row, tick = self.trace.rows[task], self.trace.tick_cycles
        since = now - self.trace.origin - row.offset_ticks * tick
        return None if since < 0 else now - since % (row.period_ticks * tick)
