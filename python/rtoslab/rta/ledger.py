"""A trace as a ledger: every cycle that a kernel took, booked under the event that the analysis charges it to.

The processor is at every moment in a chain of handlers, or in a task that starts a job, works, or ends one, or idle.
A *chain* is handlers one after the other without a return to a task between them. A *stretch* is a task's own time
from one turn of its state to the next, however often it is interrupted meanwhile. Each entry says what it took and
what it is made of. `fit` draws the prices from entries made of one thing, `prices` holds every entry against them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rtoslab.rta.entries import Chain, Handover, Interruption, Irqs, Leave, Ledger, Phase, Spin, Stretch, Wait
from rtoslab.rta.record import IDLE, TICK_CORE, Handler, Job, Trace
from rtoslab.rta.spins import Spins
from rtoslab.rta.work import Work
from rtoslab.targets import SYSTICK


def enter(traces: Iterable[Trace], work: Work) -> Ledger:
    """Books everything that the traces show."""
    ledger = Ledger()
    for trace in traces:
        clerks = [_CycleAttributor(trace.of_core(core), work, ledger, core) for core in range(len(trace.spins))]
        for attributor in clerks:
            attributor.book()
        for attributor in clerks if len(clerks) > 1 else ():
            ledger.spins += _spins(
                trace.spins[attributor.core], [one.working for one in clerks if one is not attributor]
            )
    return ledger


def _spins(spins: Spins, others: Sequence[Sequence[tuple[int, int]]]) -> Iterator[Spin]:
    """Each wait for a lock, and how much of it none of the others can have held the lock: they worked."""
    works = [Spins(tuple(since for since, _ in other), tuple(until for _, until in other)) for other in others]
    for begin, end in zip(spins.begins, spins.ends, strict=True):
        yield Spin(end, end - begin, min(work.within(begin, end) for work in works))


def chains(trace: Trace, work: Work) -> list[Chain]:
    """Handlers that follow one another without a return: the next was recognised before the last one's end."""
    result: list[Chain] = []
    lines: list[list[int]] = []
    last: Handler | None = None
    for handler in sorted(trace.handlers, key=lambda handler: (handler.start, -handler.end)):
        if last is None or handler.start >= last.end:
            if last is not None and handler.start - handler.entry <= last.end:
                result[-1].handlers.append(handler)
            else:
                result.append(Chain([handler]))
                lines.append([])
            last = handler
        result[-1].released += handler.released
        if handler.line:
            lines[-1].append(handler.line)
    for chain, of in zip(result, lines, strict=True):
        chain.irqs = _irqs(trace, work, of, first=chain.handlers[0].line > 0)
        chain.spun = trace.spins[trace.core or 0].within(chain.start, chain.end)
    return result


def _spans(ticks: Sequence[Handler]) -> Spins:
    return Spins(tuple(tick.start for tick in ticks), tuple(tick.end for tick in ticks))


def _calls_without_effect(chain: Chain) -> bool:
    """An interrupt came together with a switch that the task's own call asked for, and that led nowhere."""
    is_single = not chain.ticks and not chain.irqs.gives and not chain.switches
    return is_single and any(handler.requested for handler in chain.handlers)


def _irqs(trace: Trace, work: Work, lines: Sequence[int], *, first: bool) -> Irqs:
    giving = {row.line for row in trace.rows}
    rows = [trace.lines[line - 1] for line in lines]
    cycles = sum(work.cycles(row.rounds, row.extra) for row in rows if row.rounds)
    return Irqs(len(lines), sum(line in giving for line in lines), cycles, first)


_APART: Final = 20_000
"""Cycles between two events that have nothing to do with each other, beside the handlers' work, which may stand one
after the other."""


class _CycleAttributor:
    def __init__(self, trace: Trace, work: Work, ledger: Ledger, core: int = 0) -> None:
        self.trace = trace
        self.core = core
        self.spins = trace.spins[core]
        self.working: list[tuple[int, int]] = []
        """From when to when a job worked undisturbed."""
        self.others_ticks = Spins() if core == TICK_CORE else _spans(trace.ticks)
        self.work = work
        self.ledger = ledger
        self.phase = dict.fromkeys(range(len(trace.rows)), Phase.ASLEEP)
        self.open: dict[int, Stretch] = {}
        self.ran: dict[int, int] = {}
        """Priority -> when a task of it last ran."""
        self.preempted: dict[int, int] = {}
        """Priority -> its task that a more urgent one has preempted."""
        self.ticks = {tick.due: tick for tick in trace.ticks}
        self.raised = sorted(trace.origin + cycle for line in trace.lines for cycle in line.raised)
        handled = (work.cycles(line.rounds, line.extra) for line in trace.lines if line.rounds)
        self.apart = _APART + sum(handled)
        self.sections = any(row.calls for row in trace.rows)

    def book(self) -> None:
        marks: list[tuple[int, int, Job | Chain]] = [(job.end, 0, job) for job in self.trace.jobs]
        marks += [(chain.start, 1, chain) for chain in chains(self.trace, self.work)]
        begun = [*self.trace.jobs, *(item for item in self.trace.unfinished if item.begin)]
        marks += [(item.begin, 2, item) for item in begun]
        for cycle, rank, mark in sorted(marks, key=lambda row: row[:2]):
            if isinstance(mark, Chain):
                self._chain(mark)
            elif rank == 0:
                self._end(mark, cycle)
            else:
                self._begin(mark, cycle)

    def _close(self, task: int, cycle: int) -> Stretch:
        stretch = self.open.pop(task)
        self._add(stretch, cycle)
        stretch.at = cycle
        return stretch

    def _add(self, stretch: Stretch, cycle: int) -> None:
        """The time since it was last interrupted, or began."""
        since = stretch.since
        stretch.cycles += cycle - since - self.spins.within(since, cycle)
        if self.phase[stretch.task] is Phase.WORKING:
            self.working.append((since, cycle))
        for at in self.others_ticks.meeting(since, cycle):
            stretch.compensated.append(self.trace.ticks[at].released)

    def _open(self, task: int, phase: Phase, cycle: int) -> None:
        row = self.trace.rows[task]
        self.phase[task] = phase
        self.open[task] = Stretch(cycle, 0, task, cycle, woken=row.line > 0, calls=row.calls)

    def _begin(self, job: Job, cycle: int) -> None:
        if self.phase[job.task] is Phase.ENDING:
            self.ledger.agains.append(self._close(job.task, cycle))
        elif job.task in self.open:
            self.ledger.starts.append(self._close(job.task, cycle))
        self._open(job.task, Phase.WORKING, cycle)

    def _end(self, job: Job, cycle: int) -> None:
        row = self.trace.rows[job.task]
        if job.task in self.open:
            self.ledger.works.append((self._close(job.task, cycle), self.work.of(row)))
        self._open(job.task, Phase.ENDING, cycle)

    def _chain(self, chain: Chain) -> None:
        before = chain.before
        phase = self.phase.get(before, Phase.ASLEEP)
        called = chain.own and chain.switches > 0
        stretch = self.open.get(before)
        if stretch is not None:
            if chain.own and chain.switches == 0 and not chain.irqs.count:
                return  # a call of its own that came back: its own time
            self._add(stretch, chain.start)
        if called and phase is Phase.ENDING and stretch is not None:
            self._leave(chain, stretch)
        elif called and phase is Phase.WORKING and stretch is not None:
            stretch.handovers += 1
            self.ledger.handovers.append(
                Handover(chain.end, chain.cycles, chain.ticks, chain.released, chain.switches, irqs=chain.irqs)
            )
        else:
            self._interruption(chain, stretch)
        if before != IDLE:
            self.ran[self.trace.rows[before].priority] = chain.start
        self._goes_on(chain)

    def _leave(self, chain: Chain, stretch: Stretch) -> None:
        rows = self.trace.rows
        before, after = next(
            (handler.before, handler.after) for handler in chain.handlers if handler.before != handler.after
        )
        down = 0 if after == IDLE else max(0, rows[before].priority - rows[after].priority)
        whole = stretch.cycles + chain.cycles
        self.ledger.leaves.append(Leave(chain.end, whole, stretch, chain, down, after == IDLE, len(rows)))
        del self.open[before]
        self.phase[before] = Phase.ASLEEP

    def _interruption(self, chain: Chain, stretch: Stretch | None) -> None:
        before, after = chain.before, chain.after
        phase = self.phase.get(before, Phase.WORKING)
        meets = phase in {Phase.STARTING, Phase.ENDING} or chain.handlers[0].requested
        if before != IDLE and self.trace.rows[before].calls:
            meets |= _calls_without_effect(chain)
        undisturbed = [] if self.trace.lines or self.sections else chain.handlers
        for tick in (job for job in undisturbed if job.exception == SYSTICK):
            first = tick is chain.handlers[0]
            (self.ledger.entries if first and not meets else self.ledger.delays).append(tick.start - tick.due)
        rows = self.trace.rows
        both = before != IDLE and after not in {IDLE, before}
        equal = both and rows[before].priority == rows[after].priority
        slices = equal and chain.ticks > 0 and self._due(after, chain.start) not in self._dues(chain)
        if both and rows[before].priority < rows[after].priority:
            self.preempted[rows[before].priority] = before
        interruption = Interruption(
            chain.end,
            chain.cycles,
            chain.ticks,
            chain.released,
            chain.switches,
            slices,
            meets,
            chain.irqs,
            chain.yields,
        )
        self.ledger.interruptions.append(interruption)
        self.ledger.equals_rotate |= slices
        if stretch is not None:
            stretch.interruptions.append(interruption)
        if chain.switches == 1 and chain.ticks == 1 and not chain.irqs.count and not chain.yields:
            last = next(handler for handler in chain.handlers if handler.before != handler.after)
            kind = "from_idle" if before == IDLE else "up"
            own_cycles = last.end - last.start - self.spins.within(last.start, last.end)
            self.ledger.handlers.setdefault(kind, []).append(own_cycles)

    @staticmethod
    def _dues(chain: Chain) -> set[int]:
        return {handler.due for handler in chain.handlers if handler.exception == SYSTICK}

    def _goes_on(self, chain: Chain) -> None:
        after = chain.after
        if after == IDLE:
            return
        preempted = self.preempted.pop(self.trace.rows[after].priority, after)
        self.ledger.preempted_goes_behind |= preempted != after and preempted in self.open
        if after in self.open:
            self.open[after].since = chain.end
        else:
            self._book_wait(after, chain)
            self._open(after, Phase.STARTING, chain.end)

    def _book_wait(self, task: int, chain: Chain) -> None:
        """Books the wait of a job for its first cycle, if nothing as urgent was in its way since its release."""
        due = self._due(task, chain.end)
        priority = self.trace.rows[task].priority
        if due is None or any(at > due for item, at in self.ran.items() if item >= priority):
            return
        if any(self.trace.rows[item].priority >= priority for item in self.open):
            return
        line = self.trace.rows[task].line
        others = sum(due - self.apart <= item <= chain.end for item in self.raised)
        if self.sections or others > (line > 0):
            return
        if line:
            if not any(due - self.apart <= tick <= chain.end for tick in self.ticks):
                self.ledger.waits.append(
                    Wait(chain.end, chain.end - due, 0, _irqs(self.trace, self.work, [line], first=True))
                )
        elif due in self.ticks:
            remote = self.core != TICK_CORE
            self.ledger.waits.append(Wait(chain.end, chain.end - due, self.ticks[due].released, remote=remote))

    def _due(self, task: int, now: int) -> int | None:
        """The task's last release: the tick, or the cycle at which its interrupt was raised."""
        row, tick = self.trace.rows[task], self.trace.tick_cycles
        if row.line:
            raised = self.trace.lines[row.line - 1].raised
            at = bisect(raised, now - self.trace.origin)
            return self.trace.origin + raised[at - 1] if at else None
        since = now - self.trace.origin - row.offset_ticks * tick
        return None if since < 0 else now - since % (row.period_ticks * tick)
