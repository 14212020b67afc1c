"""The interrupts that an image's own hardware raises: their periods, and when the swept one's handler ran.

A sweep of such an interrupt adds arrivals to those of the image. An arrival that meets the image's own request, or its
handler, is answered together with it, or waits for a handler that the hardware alone would not have started again. So
these arrivals are counted apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.targets import (
    CHUNK_CYCLES,
    EVENT,
    FIRST_EXTERNAL,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    NMI,
    PENDSV,
    SYSTICK,
)

if TYPE_CHECKING:
    from rtoslab._sim import Snapshot

LEAST_ENTRIES: Final = 3
MOST_REQUESTS: Final = 64
_LONGEST_WAIT: Final = 1 << 16
_ICSR: Final = 0xE000_ED04
_ISPR: Final = 0xE000_E200
_JITTER_PART: Final = 0.02
_JITTER_CYCLES: Final = 8
"""Distances between handlings that differ by no more are equal."""


@dataclass(frozen=True, slots=True)
class HandlerExecution:
    """One run of a handler that the image's own hardware started, in cycles since the snapshot."""

    recognised: int
    """When the core began to enter the handler. The request is earlier if interrupts were masked."""
    entry: int
    """First cycle of the handler."""
    end: int
    """The handler's return, or the end of the observed time."""


@dataclass(frozen=True, slots=True)
class FirmwareRaisedInterrupt:
    """An exception that the image's own hardware raises, with the runs of its handler."""

    exception: int
    handlings: tuple[HandlerExecution, ...]

    @property
    def period_cycles(self) -> int | None:
        """Returns the usual distance of two runs of the handler in cycles. None if there are few runs, or if most
        distances differ from it."""
        distances = np.diff([handling.recognised for handling in self.handlings])
        if len(distances) < LEAST_ENTRIES - 1:
            return None
        usual = float(np.median(distances))
        equal = np.abs(distances - usual) <= max(_JITTER_CYCLES, _JITTER_PART * usual)
        return round(usual) if usual > 0 and 2 * np.count_nonzero(equal) > len(distances) else None


def find_firmware_raised_interrupts(snapshot: "Snapshot", core: int, cycles: int) -> dict[int, FirmwareRaisedInterrupt]:
    """Returns the exceptions that a core takes within `cycles` cycles from a snapshot on, by exception number."""
    machine: Any = snapshot.open()
    start, end = machine.cycle(), machine.cycle() + cycles
    machine.take_events()
    machine.trace_exceptions(True)
    pieces = [np.empty(0, EVENT)]
    while machine.cycle() < end:
        stop = machine.run(min(CHUNK_CYCLES, end - machine.cycle()))
        pieces.append(np.frombuffer(machine.take_events(), EVENT))
        if stop["reason"] not in {"cycles", "until", "watch"}:
            break
    events = np.concatenate(pieces)
    events = events[(events["core"] == core) & (events["cycle"] < end)]
    entries = events["kind"] == KIND_EXCEPTION_ENTER
    return {
        int(number): FirmwareRaisedInterrupt(
            int(number), _handler_runs_between(events[events["id"] == number], start, machine.cycle())
        )
        for number in np.unique(events["id"][entries]).tolist()
    }


def find_firmware_interrupt_requests(
    snapshot: "Snapshot", core: int, own: FirmwareRaisedInterrupt
) -> NDArray[np.int64]:
    """Returns the cycles, since the snapshot, in which the image's own requests of an interrupt became pending. There
    is one for each of the first `MOST_REQUESTS` runs of its handler.

    The interrupt's pending bit is read at several cycles before the handler's entry, always of the same run. If it was
    pending for more than `_LONGEST_WAIT` cycles, the first cycle that was looked at is returned.
    """
    register, bit = _pending_bit(own.exception)
    machine: Any = snapshot.open()
    start, before = machine.cycle(), 0
    requests: list[int] = []
    for handling in own.handlings[:MOST_REQUESTS]:
        base = max(before, handling.entry - _LONGEST_WAIT)
        machine.run(max(0, start + base - machine.cycle()))
        state, before = machine.snapshot(), handling.entry

        def is_interrupt_pending(cycle: int, state: "Snapshot" = state) -> bool:
            """Whether the interrupt is pending at a cycle, counted from the beginning of the run. Runs the image from
            `state` to there."""
            machine.restore(state)
            machine.run(max(0, start + cycle - machine.cycle()))
            (value,) = machine.read_registers(core, [register])
            return bool((value or 0) >> bit & 1)

        requests.append(_first_pending_cycle(base, handling.recognised, is_interrupt_pending))
        machine.restore(state)
    return np.array(requests, np.int64)


def _first_pending_cycle(earliest: int, latest: int, is_interrupt_pending: Callable[[int], bool]) -> int:
    """Returns the first cycle between `earliest` and `latest` in which a request is pending. It is pending at
    `latest`."""
    step, high = 1, latest
    while high > earliest and is_interrupt_pending(max(earliest, high - step)):
        high = max(earliest, high - step)
        step *= 4
    low = max(earliest, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        if is_interrupt_pending(middle):
            high = middle
        else:
            low = middle
    return high


def _pending_bit(exception: int) -> tuple[int, int]:
    """Returns the address of the register, and the bit in it, that says whether an exception is pending.

    Source: Armv7-M Architecture Reference Manual, B3.2.4 and B3.4.5. The Armv6-M manual has the same.
    """
    if exception >= FIRST_EXTERNAL:
        line = exception - FIRST_EXTERNAL
        return _ISPR + 4 * (line // 32), line % 32
    return _ICSR, {NMI: 31, PENDSV: 28, SYSTICK: 26}[exception]


def _handler_runs_between(events: NDArray[np.void], start: int, end: int) -> tuple[HandlerExecution, ...]:
    """Returns the runs of one exception's handler, from the exception's events between two cycles."""
    handlings: list[HandlerExecution] = []
    for event in events[(events["kind"] == KIND_EXCEPTION_ENTER) | (events["kind"] == KIND_EXCEPTION_EXIT)]:
        cycle = int(event["cycle"]) - start
        if event["kind"] == KIND_EXCEPTION_ENTER:
            handlings.append(HandlerExecution(cycle - int(event["value"]), cycle, end - start))
        elif handlings and handlings[-1].end == end - start:
            handlings[-1] = HandlerExecution(handlings[-1].recognised, handlings[-1].entry, cycle)
    return tuple(handlings)


def arrivals_during_firmware_requests_mask(
    handlings: Sequence[HandlerExecution],
    requests: NDArray[np.int64],
    offsets: NDArray[np.int64],
    latencies: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Returns a mask of the arrivals that met the image's own request or handler before they were answered.

    `requests` has the cycles of the first handler runs' requests. The other runs count from the core's recognition. All
    times are cycles since the snapshot.
    """
    if not handlings:
        return np.zeros(len(offsets), np.bool_)
    others = [handling.recognised for handling in handlings[len(requests) :]]
    requests = np.concatenate((requests, np.array(others, np.int64)))
    ends = np.array([handling.end for handling in handlings], np.int64)
    following = np.searchsorted(ends, offsets, side="left")
    is_before_end = following < len(ends)
    met = requests[np.minimum(following, len(ends) - 1)] <= offsets + latencies
    return np.asarray(is_before_end & met, np.bool_)
