"""The kernel's activity, seen from outside: switches between tasks and calls of its functions, with their cause.

A window of 30 s yields hundreds of millions of events. They are consumed in chunks, and only counts are stored. So the
use of memory does not grow, and a proof is a pure function of counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import xxhash

from rtoslab.targets.board import simulator_module
from rtoslab.targets.call_arguments import CallArguments
from rtoslab.targets.event_kinds import IDENT_CALL, IDENT_CURRENT, IDENT_MARK, IDENT_NESTING
from rtoslab.targets.handlings import HandlerRunColumns
from rtoslab.targets.intervals import LatencyBenchmarkIntervals
from rtoslab.targets.steps import ObservedBenchmarkStep


@dataclass(frozen=True, slots=True)
class TaskSwitch:
    """A context switch: the core, the control blocks of the tasks before and after, and the kernel service that caused
    it. `cause` is the last watched service that was called on that core since its previous switch, or empty."""

    core: int
    before: int
    after: int
    cause: str


@dataclass(frozen=True, slots=True)
class BlockingCalls:
    """Counts of the calls of one core in the measurement window that had to wait for their object."""

    collided: int
    """Calls that did not find their object free."""
    failed: int
    """Attempts that failed. A call may try several times before it blocks or succeeds."""
    blocked: int
    """Times the task joined the object's list of waiting tasks."""


@dataclass(frozen=True, slots=True)
class CriticalSectionCycles:
    """The number and the cycles of the kernel's critical sections on one core in the measurement window.

    The kernel counts once it has its locks, so the waiting for them is outside. A switch that the window's end cuts off
    is left out.
    """

    sections: int
    cycles: int
    longest_cycles: int


@dataclass(frozen=True, slots=True)
class CoreLoad:
    """The cycles of one core in the measurement window: all, idle, and the executed instructions."""

    cycles: int
    idle_cycles: int
    """The cycles asleep or in the kernel's idle task."""
    instructions: int
    """Completed in functions that are neither the kernel's nor the C library's."""


ALL_CORES: Final = -1
"""In place of a core: what all of them executed together."""


@dataclass(frozen=True, slots=True)
class EquallyExecutedCodeRange:
    """Adjacent instructions that were executed equally often, with their number and cycles."""

    address: int
    instructions: int
    executions: int
    """The executions of each of them."""
    cycles: int
    """The cycles of all of them together."""


@dataclass(frozen=True, slots=True)
class BenchmarkFunction:
    """A function of the benchmark itself (not of kernel or library), as one core executed it: its spans of code and its
    calls."""

    core: int
    name: str
    entries: int
    """Executions of its first instruction."""
    stretches: tuple[EquallyExecutedCodeRange, ...]
    calls: tuple[tuple[str, int], ...]
    """Function, `svc` or `indirect`, and how often it was called or jumped to from here."""


@dataclass(slots=True)
class MeasurementWindowObservations:
    """Everything that the virtual board observed during the measurement window. Exceptions are per core: number ->
    entries."""

    switches: Counter[TaskSwitch] = field(default_factory=Counter)
    calls: Counter[tuple[int, str]] = field(default_factory=Counter)
    """(core, service) -> executions of the service's kernel function, from the profile."""
    call_arguments: Counter[CallArguments] = field(default_factory=Counter)
    """The benchmark's calls of functions for which kernel.toml states further arguments."""
    timers_started: frozenset[int] = frozenset()
    """The timers that were started before the window opened, and not stopped."""
    objects: Counter[tuple[int, str, int]] = field(default_factory=Counter)
    """(core, watched service, first argument) -> calls: which object each core called it with."""
    waits: dict[int, BlockingCalls] = field(default_factory=dict)
    """Per core. Empty if the kernel's functions do not tell."""
    critical: dict[int, CriticalSectionCycles] = field(default_factory=dict)
    """Per core. Empty if the kernel does not count how deep critical sections are nested."""
    exceptions: dict[int, dict[int, int]] = field(default_factory=dict)
    event_count: int = 0
    event_digest: str = ""
    """XXH3 of 128 bits of all events as they came: two runs with the same one did the same in the same cycles."""
    intervals: LatencyBenchmarkIntervals | None = None
    """The intervals of a latency benchmark."""
    handled: HandlerRunColumns | None = None
    """The handler runs, for a benchmark that shows the kernel's own handlers."""
    steps: tuple[ObservedBenchmarkStep, ...] = ()
    """What tasks and handlers did in the first part of the window, in the order of time."""
    steps_cut: bool = False
    """Whether there were more steps than these."""
    priorities: dict[int, int] = field(default_factory=dict)
    """Control block -> priority in the kernel's own numbers as the window opened. Empty if the kernel does not tell."""
    numbers: dict[int, int] = field(default_factory=dict)
    """Control block -> the number that the kernel's calls know the task by. Likewise."""
    objects_at_open: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    """(kind of object, address) -> what kernel.toml says of it, as the window opened."""
    loads: "dict[int, CoreLoad]" = field(default_factory=dict)
    """Per core."""
    own: tuple[BenchmarkFunction, ...] = ()
    """What each core executed that is neither the kernel's nor a library's, over the whole window."""
    call_distance: int = 0
    """Instructions between the marks of intervals and the calls that they measure: see
    `own_code.instructions_from_markers_to_calls`."""
    compiler: str = ""
    """The compilers that the image names. Empty if it names none, or was built elsewhere with unknown options."""
    own_floats: tuple[str, ...] = ()
    """Functions of the firmware's own that calculate in floating point."""
    state: dict[str, int] = field(default_factory=dict)
    """What was switched on as the window opened, by the board's registers. See `board_state`."""
    closing_state: dict[str, int] = field(default_factory=dict)
    """What was otherwise as the window closed."""
    setting_writes: dict[str, int] = field(default_factory=dict)
    """Setting -> writes in the window of the registers that change the speed of code."""
    tick_cycles: int | None = None
    """The cycles from one tick of core 0's SysTick to the next, by its registers as the window opened. None: SysTick
    was off, or counted another clock."""
    task_words: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The runner's table of tasks as the window opened and as it closed: of each core and task some words, the first of
    which is its count. Empty where the table was not found."""
    heap_blocks: int = 0
    """Blocks of the heap that the benchmark held as the window opened, by its calls. A call whose entry was interrupted
    is seen twice, so this may be off by one or two."""


class MeasurementWindowObserver:
    """Counts task switches, service calls and critical sections in the events of a measurement window."""

    def __init__(
        self,
        services: tuple[str, ...],
        current: dict[int, int],
        depths: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        """`services`: kernel services, in the order of their probes' numbers. `current`: core -> the task that runs as
        the window opens. `depths`: core -> the cycle then, and how deep its critical sections are nested."""
        self._services = services
        self._depths = dict(depths or {})
        # Not for defence, and events come by the million: SHA-256 takes ten times as long.
        self._digest = xxhash.xxh3_128()
        calls = (IDENT_CALL, IDENT_MARK)
        self._tally = simulator_module().EventTally(calls, IDENT_CURRENT, IDENT_NESTING, dict(current), self._depths)

    def add_events(self, raw: bytes) -> None:
        """Counts the next chunk of packed events, which must come in the order of time."""
        self._digest.update(raw)
        self._tally.feed(raw)

    def window_observations(self, exceptions: dict[int, dict[int, int]]) -> MeasurementWindowObservations:
        """Returns the counts of the measurement window. `exceptions` are the exception entries by core and number,
        which are added."""
        tally = self._tally
        observed = MeasurementWindowObservations(
            exceptions=exceptions, event_count=tally.event_count(), event_digest=self._digest.hexdigest()
        )
        observed.critical = {core: CriticalSectionCycles(*tally.sections(core)) for core in self._depths}
        for core, ident, value, count in tally.call_counts():
            observed.objects[core, self._service_of_probe(ident), value] = count
        for core, before, after, ident, count in tally.switch_counts():
            observed.switches[
                TaskSwitch(core, before, after, "" if ident is None else self._service_of_probe(ident))
            ] = count
        return observed

    def _service_of_probe(self, ident: int) -> str:
        """Returns the kernel service that a probe's number belongs to."""
        return self._services[ident - IDENT_CALL]
