"""Entries of the ledger: chains of handlers, stretches of a task's own time, and what they are made of. In cycles."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rtoslab.rta.record import IDLE, Handler
from rtoslab.targets import SYSTICK


class Phase(StrEnum):
    """The activity of a task."""

    ASLEEP = "asleep"
    STARTING = "start"
    """Switched to, and its job's work has not begun."""
    WORKING = "work"
    ENDING = "end"
    """Its job's work has ended, and it has not gone to sleep."""


@dataclass(frozen=True, slots=True)
class Irqs:
    """Interrupts that came in one chain."""

    count: int = 0
    gives: int = 0
    """The number of them whose handler gives a semaphore."""
    work: int = 0
    """What their handlers work, in cycles."""
    first: bool = False
    """The chain began with one."""

    @property
    def entries(self) -> int:
        """Returns the entries beside that of the chain itself."""
        return self.count - self.first


@dataclass(slots=True)
class Chain:
    """Handlers without a return to a task between them. Index of a task or IDLE before and after it."""

    handlers: list[Handler]
    released: int = 0
    """Jobs that its ticks release."""
    irqs: Irqs = Irqs()
    """The interrupts in it, those that interrupt its handlers too."""
    spun: int = 0
    """Waited for locks in it, in cycles."""

    @property
    def start(self) -> int:
        """First cycle of the first handler. An event before it belongs to the interrupted code."""
        return self.handlers[0].start

    @property
    def end(self) -> int:
        """Its last return."""
        return self.handlers[-1].end

    @property
    def cycles(self) -> int:
        """Returns the cycles from the first handler's first cycle to the last return, without waits for locks."""
        return self.end - self.start - self.spun

    @property
    def before(self) -> int:
        """Who was interrupted."""
        return self.handlers[0].before

    @property
    def after(self) -> int:
        """Who continues."""
        return self.handlers[-1].after

    @property
    def ticks(self) -> int:
        """Returns the number of ticks of the kernel's clock."""
        return sum(handler.exception == SYSTICK for handler in self.handlers)

    @property
    def yields(self) -> int:
        """Interrupts by which another core asked for them."""
        return sum(handler.yields for handler in self.handlers)

    @property
    def switches(self) -> int:
        """Changes of the running task."""
        return sum(handler.before != handler.after for handler in self.handlers)

    @property
    def own(self) -> bool:
        """The interrupted task called for it: nothing came from outside before it switched, or it did not switch."""
        for handler in self.handlers:
            if not handler.requested:
                return False
            if handler.before != handler.after:
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
    meets_kernel: bool = False
    """It came while a task started or ended a job, or falls together with a switch that a task called for."""
    irqs: Irqs = Irqs()
    yields: int = 0
    """Interrupts from another core."""


@dataclass(slots=True)
class Stretch(Entry):
    """Own time of a task in one phase. `cycles` grows with it."""

    task: int = IDLE
    since: int = 0
    woken: bool = False
    """The task's jobs are released by an interrupt that gives a semaphore."""
    calls: int = 0
    """The calls of the kernel, in the midst of the job's work."""
    handovers: int = 0
    """Switches that its own calls led to while it worked: a lock that was held, an unlock that somebody waited for."""
    interruptions: list[Interruption] = field(default_factory=list)
    compensated: list[int] = field(default_factory=list)
    """Ticks of another core that came meanwhile, and may have been made up for here: the jobs that each released."""


@dataclass(slots=True)
class Leave(Entry):
    """The end of a job: from its last instruction to the next task, with the chain that switches."""

    stretch: Stretch
    chain: Chain
    distance: int
    """Priorities that are between them and one more. 0 to an equal, and to a more urgent one."""
    to_idle: bool
    tasks: int
    """In the set."""


@dataclass(slots=True)
class Handover(Interruption):
    """A switch that a task's own call led to while it worked."""


@dataclass(slots=True)
class Wait(Entry):
    """The wait of a job for its first cycle: from a tick, or an interrupt's raising, to the end of the switch to it,
    with nothing as urgent in between."""

    released: int
    irqs: Irqs = Irqs()
    """The interrupt. None: the tick."""
    remote: bool = False
    """It was another core's tick."""


@dataclass(slots=True)
class Spin(Entry):
    """A wait for a lock of the kernel's that another core held."""

    outside: int = 0
    """The part of it while no other core was in the kernel: nobody can have held the lock."""


@dataclass
class Ledger:
    """The ledger of one run or several."""

    interruptions: list[Interruption] = field(default_factory=list)
    starts: list[Stretch] = field(default_factory=list)
    works: list[tuple[Stretch, int]] = field(default_factory=list)
    """With the cycles that the work alone takes."""
    leaves: list[Leave] = field(default_factory=list)
    agains: list[Stretch] = field(default_factory=list)
    """From the end of a job to the begin of the next one, where that was due and nobody was switched to."""
    waits: list[Wait] = field(default_factory=list)
    handovers: list[Handover] = field(default_factory=list)
    spins: list[Spin] = field(default_factory=list)
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
