"""What a trace shows of the kernel's costs, sorted by what they depend on. All in cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import Final

from rtoslab.rta.trace import IDLE, Handler, Job, Trace
from rtoslab.rta.work import Work
from rtoslab.run.handlers import SYSTICK


class State(Enum):
    """What the processor does outside handlers."""

    IDLING = auto()
    WORKING = auto()
    STARTING = auto()
    """A job was switched to and has not begun its work."""
    ENDING = auto()
    """A job's work has ended and nobody was switched to."""
    RESUMED = auto()
    """The same, after it was preempted there."""


@dataclass
class Samples:
    """Of one or more traces."""

    tick: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Tasks released -> the handler."""
    entry: list[int] = field(default_factory=list)
    """From when the tick is due to its handler, into work or idling."""
    around: list[int] = field(default_factory=list)
    """What a job loses by an interruption besides the handlers themselves."""
    switch: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """up, to_idle, from_idle -> the handler."""
    down: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Distance of the priorities -> the handler."""
    start: list[int] = field(default_factory=list)
    """From the switch's return to the first instruction of the work."""
    end: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Tasks in the set -> from the last instruction of the work to the handler that switches."""
    delayed: list[int] = field(default_factory=list)
    """From when a tick is due to its handler, where the kernel was at work."""
    interrupted: list[tuple[bool, int, int, int]] = field(default_factory=list)
    """Ends (else starts) of jobs into which a tick fell: (end?, tasks in the set, tasks released, cycles)."""
    off: list[int] = field(default_factory=list)
    """Of jobs that nothing interrupted: how much longer they lasted than their work should. All 0 if it is exact."""


@dataclass(slots=True)
class _Mark:
    cycle: int
    rank: int
    """Of what falls on one cycle: ends first, then handlers, then begins."""
    job: Job | None = None
    handler: Handler | None = None


_TAIL_CYCLES: Final = 11
"""At most so many from one handler to the next if no return lies between; with one, at least twice as many."""
_END: Final = 0
_HANDLER: Final = 1
_BEGIN: Final = 2


def collect(traces: Iterable[Trace], work: Work) -> Samples:
    """Everything that the traces show."""
    samples = Samples()
    for trace in traces:
        _Collector(trace, work, samples).collect()
    return samples


def _marks(trace: Trace) -> list[_Mark]:
    found = [_Mark(each.begin, _BEGIN, job=each) for each in trace.jobs]
    found += [_Mark(each.begin, _BEGIN, job=each) for each in trace.unfinished if each.begin]
    found += [_Mark(each.end, _END, job=each) for each in trace.jobs]
    found += [_Mark(each.start, _HANDLER, handler=each) for each in trace.handlers]
    return sorted(found, key=lambda each: (each.cycle, each.rank))


class _Collector:
    def __init__(self, trace: Trace, work: Work, samples: Samples) -> None:
        self.trace = trace
        self.work = work
        self.samples = samples
        self.state = State.IDLING
        self.since = 0
        """Since when a job has been starting or ending."""
        self.fell_in: list[Handler] = []
        """Ticks into the starting or ending."""
        self.lost: dict[int, tuple[int, int]] = {}
        """Task whose job is under way -> (cycles in handlers and other jobs so far, interruptions)."""
        self.away: dict[int, int] = {}
        """Task -> since when its job is interrupted, by the first cycle of the handler."""
        self.ending: set[int] = set()
        """Tasks whose work has ended and that have not gone to sleep; they may be preempted before they do."""
        self.last: Handler | None = None
        self.chained = {one.start for one, next_ in pairwise(trace.handlers) if next_.start - one.end <= _TAIL_CYCLES}
        """Handlers after which another one follows, with no return in between."""

    def collect(self) -> None:
        for mark in _marks(self.trace):
            if mark.job is not None and mark.rank == _BEGIN:
                self._begin(mark.job)
            elif mark.job is not None:
                self._end(mark.job)
            elif mark.handler is not None:
                self._handler(mark.handler)

    def _begin(self, job: Job) -> None:
        if self.state is State.STARTING:
            cycles = job.begin - self.since
            if not self.fell_in:
                self.samples.start.append(cycles)
            elif len(self.fell_in) == 1:
                self.samples.interrupted.append((False, len(self.trace.rows), self.fell_in[0].released, cycles))
        self.lost[job.task] = (0, 0)
        self.ending.discard(job.task)
        self._enter(State.WORKING, job.begin)

    def _end(self, job: Job) -> None:
        row = self.trace.rows[job.task]
        lost, interruptions = self.lost.pop(job.task)
        left = job.end - job.begin - lost - self.work.cycles(row.rounds, row.extra)
        if interruptions == 1:
            self.samples.around.append(left)
        elif interruptions == 0:
            self.samples.off.append(left)
        self.ending.add(job.task)
        self._enter(State.ENDING, job.end)

    def _enter(self, state: State, cycle: int) -> None:
        self.state, self.since, self.fell_in = state, cycle, []

    def _handler(self, handler: Handler) -> None:
        if self.state is State.WORKING and handler.before in self.lost and handler.before not in self.away:
            self.away[handler.before] = handler.start
        if handler.exception == SYSTICK:
            self._tick(handler)
        elif handler.before != handler.after:
            self._switch(handler)
        self.last = handler
        returned = handler.after
        if returned in self.away and handler.start not in self.chained:
            lost, interruptions = self.lost[returned]
            self.lost[returned] = (lost + handler.end - self.away.pop(returned), interruptions + 1)

    def _tick(self, tick: Handler) -> None:
        late = tick.start - tick.due
        if self.state in {State.STARTING, State.ENDING, State.RESUMED}:
            self.fell_in.append(tick)
            self.samples.delayed.append(late)
        elif self.last is not None and tick.due < self.last.end:
            self.samples.delayed.append(late)
        else:
            self.samples.entry.append(late)
            self.samples.tick[tick.released].append(tick.end - tick.start)

    def _switch(self, switch: Handler) -> None:
        cycles = switch.end - switch.start
        rows = self.trace.rows
        by_tick = self.last is not None and self.last.exception == SYSTICK and self.last.start in self.chained
        if self.state in {State.ENDING, State.RESUMED} and not by_tick:
            self.ending.discard(switch.before)
        if self.state is State.ENDING:
            reached = switch.start - self.since
            if not self.fell_in:
                self.samples.end[len(rows)].append(reached)
            elif len(self.fell_in) == 1:
                self.samples.interrupted.append((True, len(rows), self.fell_in[0].released, reached))
        if switch.after == IDLE:
            self.samples.switch["to_idle"].append(cycles)
        elif switch.before == IDLE:
            self.samples.switch["from_idle"].append(cycles)
        else:
            down = rows[switch.before].priority - rows[switch.after].priority
            if down > 0:
                self.samples.down[down].append(cycles)
            else:
                self.samples.switch["up"].append(cycles)
        if switch.after == IDLE:
            self._enter(State.IDLING, switch.end)
        else:
            self._enter(self._resumed(switch.after), switch.end)

    def _resumed(self, task: int) -> State:
        if task in self.lost:
            return State.WORKING
        return State.RESUMED if task in self.ending else State.STARTING
