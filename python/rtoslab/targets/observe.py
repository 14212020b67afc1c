"""What the kernel did, seen from outside: switches between tasks and calls of its functions, with their cause.

The trap it prevents: a 30 s window yields hundreds of millions of events. They are consumed in chunks and kept as
counts only, so memory stays flat and a proof is a pure function of counts.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.targets.critical import CriticalCycles, CriticalSections
from rtoslab.targets.events import (
    EVENT,
    IDENT_CALL,
    IDENT_CURRENT,
    IDENT_MARK,
    IDENT_NESTING,
    KIND_EXEC,
    KIND_WRITE,
    are_from,
    distinct,
    which_of,
)
from rtoslab.targets.handlings import Handled
from rtoslab.targets.intervals import Intervals
from rtoslab.targets.steps import Step

_CORES: Final = 2


@dataclass(frozen=True, slots=True)
class Switch:
    """A kind of switch: which core, from which task to which (control blocks), after the call of which service.

    `cause` is the last watched service called on that core since its switch before; empty if none was.
    """

    core: int
    before: int
    after: int
    cause: str


@dataclass(frozen=True, slots=True)
class Waited:
    """Blocking calls of one core in the window that did not find what they wanted at once."""

    collided: int
    """Calls that did not find their object free."""
    failed: int
    """Attempts that failed; a call may try several times before it blocks or succeeds."""
    blocked: int
    """Times the task joined the object's list of waiting tasks."""


@dataclass(frozen=True, slots=True)
class Load:
    """What one core did in the window."""

    cycles: int
    idle_cycles: int
    """Of them, asleep or in the kernel's idle task."""
    instructions: int
    """Completed in functions that are neither the kernel's nor the C library's."""


@dataclass(slots=True)
class Observed:
    """Counts over the window. Exceptions are per core: number -> entries."""

    switches: Counter[Switch] = field(default_factory=Counter)
    calls: Counter[tuple[int, str]] = field(default_factory=Counter)
    """(core, service) -> executions of the service's kernel function, from the profile."""
    objects: Counter[tuple[int, str, int]] = field(default_factory=Counter)
    """(core, watched service, first argument) -> calls: which object each core called it with."""
    waits: dict[int, Waited] = field(default_factory=dict)
    """Per core; empty if the kernel's functions do not tell."""
    critical: dict[int, CriticalCycles] = field(default_factory=dict)
    """Per core; empty if the kernel does not count how deep critical sections are nested."""
    exceptions: dict[int, dict[int, int]] = field(default_factory=dict)
    event_count: int = 0
    event_sha256: str = ""
    intervals: Intervals | None = None
    """Of a latency benchmark."""
    handled: Handled | None = None
    """Of a benchmark that shows the kernel's own handlers."""
    steps: tuple[Step, ...] = ()
    """What tasks and handlers did in the first part of the window, in the order of time."""
    steps_cut: bool = False
    """They went on, but no more were kept."""
    priorities: dict[int, int] = field(default_factory=dict)
    """Control block -> priority in the kernel's own numbers as the window opened; empty if the kernel does not tell."""
    numbers: dict[int, int] = field(default_factory=dict)
    """Control block -> the number that the kernel's calls know the task by; likewise."""
    objects_at_open: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    """(kind of object, address) -> what kernel.toml says of it, as the window opened."""
    loads: "dict[int, Load]" = field(default_factory=dict)
    """Per core: what it did with its cycles."""


class Observer:
    """Feeds on chunks of raw events, keeps counts."""

    def __init__(
        self, services: tuple[str, ...], current: dict[int, int], critical: Mapping[int, CriticalSections] | None = None
    ) -> None:
        """`services` in the order of their probe identifiers; `current`: core -> running task as the window opens."""
        self._services = services
        self._current = dict(current)
        self._critical = critical or {}
        self._cause = dict.fromkeys(current, -1)
        self._digest = hashlib.sha256()
        self._observed = Observed()

    def feed(self, raw: bytes) -> None:
        """Takes the next chunk, in the order of time."""
        if not raw:
            return
        self._digest.update(raw)
        events = np.frombuffer(raw, dtype=EVENT)
        self._observed.event_count += len(events)
        which = which_of(events)
        is_call = are_from(which, KIND_EXEC, IDENT_CALL, IDENT_MARK)
        is_current = are_from(which, KIND_WRITE, IDENT_CURRENT, IDENT_CURRENT + _CORES)
        # The few that are told apart further.
        at = np.flatnonzero(is_call | is_current)
        ident, values, cores, is_call = events["id"][at], events["value"][at], events["core"][at], is_call[at]
        self._count_objects(cores[is_call], ident[is_call], values[is_call])
        for core in self._current:
            mine = (is_call & (cores == core)) | (~is_call & (ident == IDENT_CURRENT + core))
            if mine.any():
                self._count_switches(core, ~is_call[mine], ident[mine], values[mine])
        for core, sections in self._critical.items():
            at = np.flatnonzero(are_from(which, KIND_WRITE, IDENT_NESTING + core, IDENT_NESTING + core + 1))
            sections.feed(events["cycle"][at], events["value"][at])

    def finish(self, exceptions: dict[int, dict[int, int]]) -> Observed:
        """The counts, with the exception entries of the window."""
        self._observed.exceptions = exceptions
        self._observed.critical = {core: sections.total() for core, sections in self._critical.items()}
        self._observed.event_sha256 = self._digest.hexdigest()
        return self._observed

    def _count_objects(
        self, cores: NDArray[np.uint8], idents: NDArray[np.uint16], arguments: NDArray[np.uint32]
    ) -> None:
        keys = (cores.astype(np.uint64) << np.uint64(48)) | (idents.astype(np.uint64) << np.uint64(32))
        for key, count in zip(*np.unique(keys | arguments, return_counts=True), strict=True):
            core, ident, value = int(key) >> 48, (int(key) >> 32) & 0xFFFF, int(key) & 0xFFFF_FFFF
            self._observed.objects[core, self._services[ident - IDENT_CALL], value] += int(count)

    def _count_switches(
        self, core: int, is_write: NDArray[np.bool_], idents: NDArray[np.uint16], written: NDArray[np.uint32]
    ) -> None:
        """A write of the value already there is no switch; the cause is the last call since the switch before."""
        position = np.arange(len(idents))
        values = written[is_write].astype(np.int64)
        before = np.concatenate(([self._current[core]], values[:-1])) if len(values) else values
        changed = values != before
        write_at = position[is_write][changed]
        last_call = np.maximum.accumulate(np.where(is_write, -1, position))
        previous = np.concatenate(([-1], write_at[:-1])) if len(write_at) else write_at
        call_at = last_call[write_at] if len(write_at) else write_at
        cause = np.where(call_at > previous, idents[call_at].astype(np.int64) - IDENT_CALL, -1)
        if len(cause) and call_at[0] < 0:
            cause[0] = self._cause[core]
        for source, target, why, count in _kinds(before[changed], values[changed], cause):
            name = self._services[why] if why >= 0 else ""
            self._observed.switches[Switch(core, source, target, name)] += count
        if len(values):
            self._current[core] = int(values[-1])
        open_from = int(write_at[-1]) if len(write_at) else -1
        if int(last_call[-1]) > open_from:
            self._cause[core] = int(idents[last_call[-1]]) - IDENT_CALL
        elif len(write_at):
            self._cause[core] = -1


def _kinds(
    sources: NDArray[np.int64], targets: NDArray[np.int64], causes: NDArray[np.int64]
) -> list[tuple[int, int, int, int]]:
    """Each combination that there is, in order, and how often. Both control blocks are one number; causes are few."""
    pairs = sources.astype(np.uint64) << np.uint64(32) | targets.astype(np.uint64)
    found = []
    for cause in distinct(causes).tolist():
        each, counts = np.unique(pairs[causes == cause], return_counts=True)
        pairs_here = zip(each.tolist(), counts.tolist(), strict=True)
        found += [(pair >> 32, pair & 0xFFFF_FFFF, cause, count) for pair, count in pairs_here]
    return sorted(found)
