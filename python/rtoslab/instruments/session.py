"""Runs a subject under the observer, from reset on, so that every call in progress is known. Records the observed
span."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from rtoslab.base import DecodeError, RunError, UnmodelledFeatureWarning, find_checkout_root, without_thumb_bit
from rtoslab.instruments.lines import add_source_lines_to_warnings
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.subject import ObservedImage
from rtoslab.records import DecodedRun, decode_records, read_wire_constants
from rtoslab.targets import (
    DONE_SYMBOL,
    WINDOW_SYMBOL,
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    cores_in_endless_handlers,
    events_in_time_order,
    find_symbol_address,
    latest_event_of_each_probe,
    load_image_into_board,
    make_board_at_reset,
    parse_cycle_count,
)

if TYPE_CHECKING:
    from rtoslab._sim import Observed

CHUNK_CYCLES: Final = 1_000_000
SETUP_LIMIT_S: Final = 5.0
SENDING_LIMIT_S: Final = 30.0
IDENT_WINDOW: Final = 0xFFFF
"""Identifier of the watch on a benchmark's window. Callers use smaller ones."""

Progress = Callable[[str, float], None]
"""(phase, part of it done from 0 to 1)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationRequest:
    """What the virtual board must observe besides cycles."""

    priorities: tuple[int, ...] = ()
    keep_intervals: int = 0
    calls: dict[int, int] = field(default_factory=dict)
    """Address of a function -> identifier of its call and return events."""
    threads_and_locks: bool = False
    writes: dict[int, int] = field(default_factory=dict)
    """Address of a word -> identifier of its write events."""
    executed: dict[int, int] = field(default_factory=dict)
    """Address of an instruction -> identifier of the events in which it is about to execute."""
    exceptions: bool = False
    pins: bool = False
    measured: dict[int, int] = field(default_factory=dict)
    """Address of a function -> identifier of its measured calls."""
    on_piece: "Callable[[Observed, int], None] | None" = None
    """Receives the observations of the span piece by piece, with the span's first cycle, so that none need be
    stored. The recording has the last piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRunRecording:
    """Everything that was recorded in an observed run of an image."""

    subject: ObservedImage
    clock_hz: int
    start_cycle: int
    end_cycle: int
    observed: "Observed"
    events: bytes
    """Packed (`targets.EVENT`), in order of time. Of events before the observed span only the last one of each kind is
    included."""
    symbols: list[tuple[int, int, str]]
    decoded: DecodedRun | None
    """The records that a benchmark sent. None for other images."""
    machine: ObservedMachine
    """The board at the end of the run, for reading memory."""
    words_at_start: dict[int, int] = field(default_factory=dict)
    """Values of watched words at the start of the observed span, by address."""
    unhandled: str = ""
    """Sentences about cores that ended in a handler that nobody wrote."""


class RecordingInterruptedError(KeyboardInterrupt):
    """Raised if the user interrupts a recording. Contains what was recorded so far."""

    def __init__(self, cause: KeyboardInterrupt, recording: ObservedRunRecording) -> None:
        super().__init__(*cause.args)
        self.recording = recording


def open_board_with_image(subject: ObservedImage) -> ObservedMachine:
    """Returns a virtual board at reset with the observed image loaded and its devices attached.

    Raises ImageFileError, PlanError, SettingError.
    """
    machine = cast("ObservedMachine", make_board_at_reset(subject.board, cores=subject.cores))
    apply_timing_settings_to_virtual_board(machine, subject.settings)
    load_image_into_board(machine, subject.image, subject.elf.name)
    for device in subject.devices:
        device.attach_device(machine, subject.board)
    return machine


def record_observed_run(
    subject: ObservedImage,
    prepare: Callable[[ObservedMachine], ObservationRequest],
    progress: Progress = lambda *_: None,
) -> ObservedRunRecording:
    """Runs an image and returns what was recorded of it. `prepare` says what to record, once the image is loaded.

    Raises RunError if the observed section is not reached, ImageFileError, SymbolError, and RecordingInterruptedError
    in place of a KeyboardInterrupt in the section. Warns with a UnmodelledFeatureWarning of each feature that the image
    used and the board does not model.
    """
    machine = open_board_with_image(subject)
    try:
        return _ObservedSession(subject, machine, prepare(machine), progress).run_and_record_observation()
    finally:
        for sentence in add_source_lines_to_warnings(machine.warnings(), subject.elf):
            warnings.warn(sentence, UnmodelledFeatureWarning, stacklevel=2)


class _ObservedSession:
    """One run of an image in which the virtual board records what was requested."""

    def __init__(
        self, subject: ObservedImage, machine: ObservedMachine, request: ObservationRequest, progress: Progress
    ) -> None:
        self.subject = subject
        self.machine = machine
        self.request = request
        self.progress = progress
        self.uart = bytearray()
        self.events = bytearray()
        self.start: int | None = None
        self.lock_up: list[str] = []
        """First cycle of the stretch, within it."""

    def run_and_record_observation(self) -> ObservedRunRecording:
        """Runs to the end of the observed section, and of a benchmark's records. Returns the recording."""
        with convert_simulator_errors(RunError):
            self._enable_requested_trace_records()
            if self.subject.expected is not None:
                self.machine.watch_write(find_symbol_address(self.machine, WINDOW_SYMBOL), IDENT_WINDOW, True)
                self.machine.until(find_symbol_address(self.machine, DONE_SYMBOL))
            self._run_to_observation_start()
            self.machine.observed()
            before = latest_event_of_each_probe(bytes(self.events), IDENT_WINDOW)
            start = self.machine.cycle()
            words = {address: self._read_word(address) for address in self.request.writes}
            self.events.clear()
            self.start = start
            ended = self._run_interruptibly()
            self.start = None
            observed, events = self.machine.observed(), bytes(self.events)
            end = self.machine.cycle()
            self.machine.observe(False)
            decoded: DecodedRun | None = None
            try:
                decoded = self._receive_benchmark_records() if ended is None else None
            except KeyboardInterrupt as cause:  # the stretch itself is whole
                ended = cause
        recording = ObservedRunRecording(
            subject=self.subject,
            clock_hz=self.machine.clock_hz(),
            start_cycle=start,
            end_cycle=end,
            observed=observed,
            events=events_in_time_order(before + events, IDENT_WINDOW),
            symbols=self.machine.symbols(),
            decoded=decoded,
            machine=self.machine,
            words_at_start=words,
            unhandled=" ".join([*cores_in_endless_handlers(self.machine, self.subject.cores), *self.lock_up]),
        )
        if ended is not None and end > start:
            raise RecordingInterruptedError(ended, recording)
        if ended is not None:
            raise ended
        return recording

    def _run_interruptibly(self) -> KeyboardInterrupt | None:
        """Runs to the end of the observed section. Returns the user's interrupt that ended it earlier, or None."""
        try:
            self._run_to_end_of_observation()
        except KeyboardInterrupt as cause:
            self.events += self.machine.take_events()
            return cause
        return None

    def _enable_requested_trace_records(self) -> None:
        """Turns the requested records of the virtual board on."""
        self.machine.observe(
            True,
            priorities=list(self.request.priorities),
            keep_intervals=self.request.keep_intervals,
            calls=list(self.request.calls.items()),
            measured=list(self.request.measured.items()),
            arrivals=list(self.request.executed),
            events=self.request.threads_and_locks,
        )
        for address, ident in self.request.writes.items():
            self.machine.watch_write(address, ident)
        for address, ident in self.request.executed.items():
            self.machine.watch_exec(address, ident)
        self.machine.trace_exceptions(self.request.exceptions)
        self.machine.trace_pins(self.request.pins)

    def _run_to_observation_start(self) -> None:
        """Runs to the start of the observed section."""
        if self.subject.expected is not None:
            self._run_until_measurement_window_state(1, "set-up", SETUP_LIMIT_S)
        elif self.subject.stretch.start is not None:
            self._run_until_symbol_or_cycle(self.subject.stretch.start, "the start", None)

    def _run_to_end_of_observation(self) -> None:
        """Runs to the end of the observed section."""
        stretch = self.subject.stretch
        if self.subject.expected is not None:
            self._run_until_measurement_window_state(2, "window", SETUP_LIMIT_S)
        elif stretch.end is not None:
            self._run_until_symbol_or_cycle(stretch.end, "the end", stretch.cycles)
        else:
            self._run_board_cycles(stretch.cycles, "run", passes="until")

    def _run_until_measurement_window_state(self, state: int, phase: str, limit_s: float) -> None:
        """Runs until a benchmark opens (state 1) or closes (2) its measurement window. Raises RunError if it does
        not."""
        reason, window = "watch", 0
        while reason == "watch" and window == 0:  # start-up clears the word, which is a write too
            reason = self._run_board_cycles(int(limit_s * self.subject.board.clock.sys_hz), phase)
            window = self._read_word(find_symbol_address(self.machine, WINDOW_SYMBOL))
        if reason != "watch" or window != state:
            raise RunError(f"The image did not complete its {phase}; `rtoslab run` shows the reason.")

    def _run_until_symbol_or_cycle(self, place: str, what: str, cycles: int | None) -> None:
        """Runs to a symbol, an address or a cycle. Raises RunError if it is not reached and `cycles` sets no limit."""
        cycle = parse_cycle_count(place)
        if cycle is not None:
            left = cycle - self.machine.cycle()
            if left > 0:
                self._run_board_cycles(left, what, passes="until")
            return
        address = find_symbol_address(self.machine, place)
        self.machine.until(address)
        limit = self.machine.cycle() + (cycles or int(SETUP_LIMIT_S * self.subject.board.clock.sys_hz))
        while self.machine.cycle() < limit:
            reason = self._run_board_cycles(limit - self.machine.cycle(), what)
            if reason == "until" and self._is_any_core_at_address(address):
                return
            if reason not in {"cycles", "until", "watch"}:
                break  # a board that has come to an end comes no further
        if cycles is None:
            raise RunError(f"{place} was not reached within {SETUP_LIMIT_S:g} s of virtual time; nothing was observed.")

    def _is_any_core_at_address(self, address: int) -> bool:
        """Whether a core is about to execute the instruction at an address."""
        return any(
            without_thumb_bit(self.machine.registers(core)["pc"]) == address for core in range(self.subject.cores)
        )

    def _run_board_cycles(self, cycles: int, phase: str, passes: str = "") -> str:
        """Runs up to `cycles` and returns the reason of the stop. A stop with the reason `passes` does not end the
        run."""
        start = self.machine.cycle()
        while (spent := self.machine.cycle() - start) < cycles:
            stop = self.machine.run(min(CHUNK_CYCLES, cycles - spent))
            self.uart += self.machine.take_uart()
            self.events += self.machine.take_events()
            if self.request.on_piece is not None and self.start is not None:
                self.request.on_piece(self.machine.observed(), self.start)
            self.progress(phase, min(1.0, spent / cycles))
            if stop["reason"] == passes:
                continue
            if stop["reason"] not in {"cycles", "watch", "until"}:
                if stop["reason"] == "lockup":
                    self.lock_up = [f"The board stopped: {stop['detail']}."]
                if self.subject.expected is None:  # an image may well end in a deadlock: that is what is to be seen
                    return stop["reason"]
                raise RunError(f"The virtual board stopped in its {phase} ({stop['reason']}): {stop['detail']}")
            if stop["reason"] != "cycles":
                return stop["reason"]
        return "cycles"

    def _receive_benchmark_records(self) -> DecodedRun | None:
        """Runs until a benchmark has sent its records, and returns them decoded. None for an image that is no
        benchmark."""
        if self.subject.expected is None:
            return None
        self._run_board_cycles(int(SENDING_LIMIT_S * self.subject.board.clock.sys_hz), "sending")
        try:
            return decode_records(bytes(self.uart), read_wire_constants(find_checkout_root()), self.subject.expected)
        except DecodeError as cause:
            raise RunError(
                f"The benchmark failed ({cause}); `rtoslab run` shows details, and a longer --window may help."
            ) from None

    def _read_word(self, address: int) -> int:
        """Returns a 32-bit word of the board's memory."""
        return int.from_bytes(self.machine.read(address, 4), "little")


def find_early_observation_end_reason(recording: ObservedRunRecording) -> str:
    """Returns why the observed section of a run ended early, as a clause. Empty if it did not."""
    stretch, cycles = recording.subject.stretch, recording.end_cycle - recording.start_cycle
    if recording.subject.expected is not None:
        return ""
    if recording.unhandled:
        return recording.unhandled.removesuffix(".")
    if stretch.end is not None and parse_cycle_count(stretch.end) is None:
        address = find_symbol_address(recording.machine, stretch.end)
        pcs = {without_thumb_bit(recording.machine.registers(core)["pc"]) for core in range(recording.subject.cores)}
        return "" if address in pcs else f"{stretch.end} was not reached"
    required = stretch.cycles if stretch.end is None else (parse_cycle_count(stretch.end) or 0) - recording.start_cycle
    return f"the board stopped {required - cycles:,} cycles before the end" if cycles < required else ""


def symbols_in_image(machine: ObservedMachine, names: Iterable[str]) -> list[str]:
    """Returns those of the names that the image has."""
    return [name for name in names if machine.symbol(name) is not None]
