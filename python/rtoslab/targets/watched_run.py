"""Runs an image until it has passed or failed by what it prints, takes a fault, or its time is over."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Final

from rtoslab import interrupts
from rtoslab.base import PlanError
from rtoslab.targets.board import convert_simulator_errors
from rtoslab.targets.faults import Fault, fault_handler_entries, first_fault_handler_return_cycles, read_processor_fault
from rtoslab.targets.logs import CHANNEL, DefmtLog
from rtoslab.targets.machine import VirtualBoardMachine
from rtoslab.targets.rtt import RttBuffers, find_rtt_buffers

if TYPE_CHECKING:
    from rtoslab._sim import Snapshot, Stop

CHUNK_CYCLES: Final = 5_000_000
_LOOKS_PER_SECOND: Final = 1_000
"""How often output is read, because RTT buffers are small and a match ends the run at once."""
_AFTER_FAULT_S: Final = 0.1
"""How long a fault's handler may still print."""
PASSED: Final = "passed"
FAILED: Final = "failed"
TIMEOUT: Final = "timeout"
EXIT: Final = "exit"
"""The firmware ended itself by semihosting."""
_TAIL_BYTES: Final = 4096
"""A pattern is searched in new output and in this much before it."""

OnOutput = Callable[[str, bytes], None]
"""Called with a channel (`uart`, `rtt0`, `defmt`, `semihosting`, `itm0`) and its new output."""


@dataclass(frozen=True, slots=True)
class WatchedRunEndReason:
    """The reason why a run ended."""

    reason: str
    """A reason of the board's stops, `passed`, `failed`, `timeout`, `fault` or `interrupted`."""
    detail: str


@dataclass(frozen=True, slots=True, order=True)
class DrivenPinLevel:
    """A level to which a pin is driven from outside, from a time on."""

    at_s: float
    """Virtual time since reset."""
    pin: int
    """Its number in events."""
    level: bool


@dataclass
class MonitoredImageRun:
    """A run of an image that is ended by its output, a fault or a time limit."""

    machine: VirtualBoardMachine
    limit: int
    """Cycles since reset."""
    on_output: OnOutput
    expect: re.Pattern[str] | None = None
    fail: re.Pattern[str] | None = None
    timeout_s: float | None = None
    """Virtual seconds, by the clock that the firmware has set up."""
    rtt_typed: bytes = b""
    drives: Sequence[DrivenPinLevel] = ()
    """Levels that come from outside, in any order."""
    logs: DefmtLog | None = None
    """What decodes the RTT buffer `defmt`."""
    output: dict[str, bytearray] = field(default_factory=dict)
    """Keyed by channel."""
    rtt_names: dict[str, str] = field(default_factory=dict)
    """RTT channel -> the image's name of it."""
    fault: Fault | None = None
    """The first fault whose handler has not returned."""
    handled: list[Fault] = field(default_factory=list)
    """Faults whose handler returned."""

    def run_image_to_end(self) -> WatchedRunEndReason:
        """Runs the image to its end and returns the reason why it ended."""
        rtt = find_rtt_buffers(self.machine, self.rtt_typed)
        self.machine.trace_exceptions(True)
        looks = any(condition is not None for condition in (rtt, self.expect, self.fail, self.timeout_s))
        elapsed_s = 0.0
        drives = sorted(self.drives)
        try:
            while (left := self._run_end_cycle_limit() - self.machine.cycle()) > 0:
                while drives and drives[0].at_s <= elapsed_s:
                    with convert_simulator_errors(PlanError):
                        self.machine.inject_pin(self.machine.cycle(), drives[0].pin, drives.pop(0).level)
                cycle, clock_hz = self.machine.cycle(), self.machine.clock_hz()
                chunk = clock_hz // _LOOKS_PER_SECOND if looks or drives else CHUNK_CYCLES
                if drives:
                    chunk = min(chunk, ceil((drives[0].at_s - elapsed_s) * clock_hz))
                stop = self._run_some_cycles(max(1, min(chunk, left)))
                elapsed_s += (self.machine.cycle() - cycle) / clock_hz
                ended = (
                    self._forward_firmware_output(rtt)
                    or self._run_end_reason_if_board_stopped(stop)
                    or self._run_end_reason_at_time_limit(elapsed_s)
                )
                if ended is not None:
                    return ended
        except KeyboardInterrupt as cause:
            self._forward_firmware_output(rtt)
            return WatchedRunEndReason("interrupted", interrupts.reason_of_process_interruption(cause))
        if self.fault is not None:
            return WatchedRunEndReason("fault", f"Core {self.fault.core} took a {self.fault.exception_name}.")
        return WatchedRunEndReason("cycles", f"The limit of {self.limit} cycles was reached.")

    def _run_end_cycle_limit(self) -> int:
        """Returns the cycle at which the run ends at the latest."""
        if self.fault is None:
            return self.limit
        return min(self.limit, self.fault.cycle + int(_AFTER_FAULT_S * self.machine.clock_hz()))

    def _run_some_cycles(self, cycles: int) -> "Stop":
        """Runs some cycles. If a fault occurs in them, goes back and runs to the start of the fault's handler. Returns
        the stop."""
        before = self.machine.snapshot()
        stop = self.machine.run(cycles)
        events = self.machine.take_events()
        since = -1
        if self.fault is not None:
            returned = first_fault_handler_return_cycles(events).get((self.fault.core, self.fault.exception))
            if returned is None:
                return stop
            self.handled.append(self.fault)
            self.fault, since = None, returned
        entered = [entry for entry in fault_handler_entries(events) if entry[2] > since]
        for item in entered:
            fault = self._run_to_fault_handler_and_record(before, *item)
            if fault is not None:
                return fault
        return self._rerun_from_snapshot(before, cycles) if entered else stop

    def _run_to_fault_handler_and_record(
        self, before: "Snapshot", core: int, exception: int, cycle: int
    ) -> "Stop | None":
        """Runs from a snapshot to the begin of a fault's handler and records the fault. Returns None for a breakpoint,
        which is no fault."""
        self.machine.restore(before)
        stop = self.machine.run(cycle - self.machine.cycle())
        self.machine.take_events()
        fault = read_processor_fault(self.machine, core, exception, cycle)
        if fault.is_breakpoint_instruction:
            return None
        self.fault = fault
        return stop

    def _rerun_from_snapshot(self, before: "Snapshot", cycles: int) -> "Stop":
        """Restores a snapshot and runs some cycles from it again."""
        self.machine.restore(before)
        stop = self.machine.run(cycles)
        self.machine.take_events()
        return stop

    def _run_end_reason_at_time_limit(self, elapsed_s: float) -> WatchedRunEndReason | None:
        """Returns the end of the run if its limit of virtual seconds is reached, or None."""
        if self.timeout_s is None or elapsed_s < self.timeout_s or self.fault is not None:
            return None
        return WatchedRunEndReason(TIMEOUT, f"The limit of {self.timeout_s:g} virtual seconds was reached.")

    def _run_end_reason_if_board_stopped(self, stop: "Stop") -> WatchedRunEndReason | None:
        """Returns the end of the run if the board stopped by itself, or None."""
        if stop["reason"] in {"cycles", "watch"}:
            return None
        return WatchedRunEndReason(stop["reason"], stop["detail"])

    def _forward_firmware_output(self, rtt: RttBuffers | None) -> WatchedRunEndReason | None:
        """Passes on new output. Returns the end of the run if the output matches a pattern, or None."""
        outputs = [self._append_output_and_match_patterns("uart", self.machine.take_uart())]
        outputs += [
            self._append_output_and_match_patterns(channel, fresh) for channel, fresh in self.machine.take_debug_text()
        ]
        for number, fresh in rtt.receive_output() if rtt is not None else ():
            name = rtt.names.get(number, "") if rtt is not None else ""
            if self.logs is not None and name == CHANNEL:
                outputs.append(self._append_output_and_match_patterns(CHANNEL, self.logs.decode_log_bytes(fresh)))
                continue
            channel = f"rtt{number}"
            self.rtt_names.setdefault(channel, name)
            outputs.append(self._append_output_and_match_patterns(channel, fresh))
        matched = [output for output in outputs if output is not None]
        return next((output for output in matched if output.reason == FAILED), next(iter(matched), None))

    def _append_output_and_match_patterns(self, channel: str, fresh: bytes) -> WatchedRunEndReason | None:
        """Adds new output of a channel. Returns the end of the run if it matches a pattern, or None."""
        if not fresh:
            return None
        whole = self.output.setdefault(channel, bytearray())
        start = max(0, len(whole) - _TAIL_BYTES)
        whole.extend(fresh)
        self.on_output(channel, fresh)
        text = whole[start:].decode("utf-8", errors="replace")
        hits = []
        for reason, pattern in ((FAILED, self.fail), (PASSED, self.expect)):
            if pattern is not None and (match := pattern.search(text)) is not None:
                hits.append(
                    (
                        match.start(),
                        WatchedRunEndReason(
                            reason, (f"{channel} printed {match[0]!r}, which matches {pattern.pattern!r}.")
                        ),
                    )
                )
        return min(hits, key=lambda hit: hit[0])[1] if hits else None
