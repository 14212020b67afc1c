"""Turns probe events into intervals: how long each lasted between its marks, and its events.

A sample may have the right length for the wrong reason. So every interval says how many context switches, calls and
interrupts it contains. A proof can demand the right ones, and the cause of an outlier is next to it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.targets.event_kinds import (
    IDENT_CALL,
    IDENT_CURRENT,
    IDENT_KEEP,
    IDENT_MARK,
    IDENT_SYMBOL,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_PIN,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT, events_as_integer_tuples
from rtoslab.targets.exceptions import FIRST_EXTERNAL, SYSTICK

STAMPED: Final = -1
"""In place of a series, until the interval's end says which."""
EDGE_CYCLES: Final = 64
"""From a mark to the furthest place where an instrument may be read, an exception's entry or exit included."""


@dataclass(slots=True)
class MeasuredCodeInterval:
    """One measured interval of a latency benchmark, between its begin mark and its end mark, in cycles of the core's
    clock."""

    series: int
    start_cycle: int
    cycles: int = 0
    switches: int = 0
    """Context switches inside."""
    ticks: int = 0
    """Entries of SysTick inside."""
    interrupts: int = 0
    """Entries of the chip's own interrupt lines inside, without the one by which a kernel defers its tick."""
    calls: Counter[str] = field(default_factory=Counter)
    """Watched services called inside."""
    touched: bool = False
    """An exception ran just outside a mark, perhaps between it and the instrument's reading, which then contains it."""


@dataclass(frozen=True, slots=True)
class LatencyBenchmarkIntervals:
    """The measured intervals of a latency benchmark's window, and the events beside them, in the order of time."""

    intervals: tuple[MeasuredCodeInterval, ...]
    pulses: tuple[int, ...]
    """How long the measurement's pin was high, each time, in cycles."""
    disorder: tuple[str, ...]
    """Sentences on faulty marks: an end without its start, a start inside another interval."""
    resumed: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Exception number -> addresses at which the core continued after it."""
    kept: tuple[tuple[int, int], ...] | None = None
    """Series and raw value of each sample that the runner stored, in the order of time. None: the image has no
    `bench_keep`."""

    def intervals_of_series(self, series: int) -> list[MeasuredCodeInterval]:
        """Returns the intervals of one measured series, by its number."""
        return [interval for interval in self.intervals if interval.series == series]

    def pulse_lengths_of_series(self, series: int) -> list[int]:
        """Returns the lengths in cycles of the pin pulses of one measured series, which has one pulse per interval."""
        pairs = zip(self.intervals, self.pulses, strict=False)
        return [pulse for interval, pulse in pairs if interval.series == series]


def decode_measured_intervals_from_events(
    raw: bytes,
    services: tuple[str, ...],
    current: Mapping[int, int],
    pin: int | None,
    stamping: int | None = None,
    deferred_tick: int | None = None,
) -> LatencyBenchmarkIntervals:
    """Returns the measured intervals in the packed events of a window.

    `current` is the running task of each core as the window opens. `pin` is the number of the measurement's pin.
    `stamping` is the number of the exception whose recognition starts the intervals of stamped series. The
    last tick before its end starts such an interval. `deferred_tick` is the number of the exception in which the
    kernel does a tick's work, if SysTick's handler only requests it.
    """
    reader = _MeasuredIntervalReader(services, dict(current), stamping, deferred_tick)
    events = np.frombuffer(raw, dtype=EVENT)
    for cycle, value, pc, ident, kind, core, more in events_as_integer_tuples(
        events[_interval_event_mask(events, pin)]
    ):
        if kind == KIND_EXEC and ident == IDENT_KEEP:
            reader.samples.append((value, more))
        elif kind == KIND_EXEC and ident >= IDENT_MARK:
            reader.process_interval_marker(cycle, ident - IDENT_MARK)
        elif kind == KIND_PIN:
            reader.handle_pin_edge(cycle, value)
        elif kind == KIND_EXCEPTION_EXIT:
            reader.return_cycle = cycle
            reader.resumed.setdefault(ident, set()).add(pc)
        elif kind == KIND_EXCEPTION_ENTER and ident == stamping:
            reader.start_interval_at_interrupt(cycle - value)
        else:
            reader.count_event_in_interval(kind, cycle, ident, value, core)
    resumed = {number: frozenset(addresses) for number, addresses in reader.resumed.items()}
    stored = tuple(reader.samples) or None
    return LatencyBenchmarkIntervals(
        tuple(reader.intervals), tuple(reader.pulses), tuple(reader.disorder), resumed, stored
    )


def _interval_event_mask(events: NDArray[np.void], pin: int | None) -> NDArray[np.bool_]:
    """Returns a mask of the events that begin or end a measured interval, or are counted in it."""
    ident, kind = events["id"], events["kind"]
    is_relevant = (kind == KIND_EXEC) & (((ident >= IDENT_CALL) & (ident < IDENT_SYMBOL)) | (ident == IDENT_KEEP))
    task = (kind == KIND_WRITE) & (ident == IDENT_CURRENT + events["core"].astype(np.uint16))
    ours = (kind == KIND_PIN) & (ident == (-1 if pin is None else pin))
    return np.asarray(
        is_relevant | task | ours | (kind == KIND_EXCEPTION_ENTER) | (kind == KIND_EXCEPTION_EXIT), dtype=np.bool_
    )


@dataclass(slots=True)
class _MeasuredIntervalReader:
    """Builds measured intervals and pin pulses from events in the order of time."""

    services: tuple[str, ...]
    current: dict[int, int]
    stamping: int | None
    deferred_tick: int | None = None
    open: MeasuredCodeInterval | None = None
    high_since: int | None = None
    intervals: list[MeasuredCodeInterval] = field(default_factory=list)
    pulses: list[int] = field(default_factory=list)
    disorder: list[str] = field(default_factory=list)
    end_cycle: int = -EDGE_CYCLES
    """The end of the last interval. `return_cycle`: the last return of an exception."""
    return_cycle: int = -EDGE_CYCLES
    resumed: dict[int, set[int]] = field(default_factory=dict)
    samples: list[tuple[int, int]] = field(default_factory=list)

    def start_interval_at_interrupt(self, cycle: int) -> None:
        """Begins an interval at an interrupt's event. Its series is known only from its end mark."""
        if self.open is not None and (self.stamping != SYSTICK or self.open.series != STAMPED):
            self.disorder.append("a timer's event came before the one before it was stamped")
        self.open = MeasuredCodeInterval(STAMPED, cycle)

    def process_interval_marker(self, cycle: int, tag: int) -> None:
        """Begins or ends an interval at a mark in the code. `tag` is twice the series' number, plus 1 for an end."""
        series, is_end = tag >> 1, bool(tag & 1)
        if is_end:
            if self.open is not None and self.open.series == STAMPED:
                self.open.series = series
            if self.open is None or self.open.series != series:
                self.disorder.append(f"an interval of series {series} ends that was not begun")
            else:
                self.open.cycles = cycle - self.open.start_cycle
                self.intervals.append(self.open)
                self.end_cycle = cycle
            self.open = None
            return
        if self.open is not None:
            self.disorder.append(f"an interval of series {series} begins inside one of series {self.open.series}")
        self.open = MeasuredCodeInterval(series, cycle, touched=cycle - self.return_cycle < EDGE_CYCLES)

    def handle_pin_edge(self, cycle: int, level: int) -> None:
        """Begins or ends a pulse of the measurement's pin."""
        if level:
            self.high_since = cycle
        elif self.high_since is not None:
            self.pulses.append(cycle - self.high_since)
            self.high_since = None

    def count_event_in_interval(self, kind: int, cycle: int, ident: int, value: int, core: int) -> None:
        """Counts a task switch, a call or an exception in the interval in progress."""
        interval = self.open
        if kind == KIND_WRITE:
            switched = self.current.get(core) != value
            self.current[core] = value
            if interval is not None and switched:
                interval.switches += 1
        elif interval is None:
            if kind == KIND_EXCEPTION_ENTER and cycle - self.end_cycle < EDGE_CYCLES and self.intervals:
                self.intervals[-1].touched = True
        elif kind == KIND_EXEC:
            interval.calls[self.services[ident - IDENT_CALL]] += 1
        elif kind == KIND_EXCEPTION_ENTER and ident == SYSTICK:
            interval.ticks += 1
        elif kind == KIND_EXCEPTION_ENTER and ident >= FIRST_EXTERNAL and ident != self.deferred_tick:
            interval.interrupts += 1
