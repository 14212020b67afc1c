"""A virtual board for Python programs: what `rtoslab.board()` returns.

Places are symbols (`main`), addresses as text (`0x08000100`) or as numbers. Cycles are of the core's clock since reset,
unless a clock tree says otherwise (RP2040: clk_sys). Nothing here costs the firmware a cycle.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rtoslab.base import RunError, SymbolError, without_thumb_bit
from rtoslab.catalogue import Board
from rtoslab.intake import read_program_image
from rtoslab.targets.attachments import parse_board_bus
from rtoslab.targets.board import (
    MOST_CYCLES,
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
    parse_pin_number,
    pin_number_in_events,
)
from rtoslab.targets.board_records import AddressProbeHit, ExceptionEvent, Interval, Probe, RecordedPinEdge, Stop
from rtoslab.targets.event_kinds import KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT, KIND_EXEC, KIND_PIN, KIND_WRITE
from rtoslab.targets.events import EVENT, events_as_integer_tuples
from rtoslab.targets.exceptions import parse_exception_number

if TYPE_CHECKING:
    from rtoslab._sim import Machine, Stats
    from rtoslab._sim import Snapshot as MachineSnapshot
    from rtoslab._sim import Stop as MachineStop

Place = str | int
NS_PER_S: Final = 1_000_000_000
MOST_NS: Final = 2**63
"""A time since power-on that no run reaches, in nanoseconds."""
DEFAULT_LIMIT_S: Final = 10.0
"""The default limit of virtual time, for `run_until`."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The saved state of a virtual board, with the number of its recorded hits and events."""

    machine: "MachineSnapshot"
    seen: tuple[int, ...]
    """How many hits each probe had, then edges and exceptions."""

    @property
    def cycle(self) -> int:
        """Returns the cycle at which the snapshot was taken."""
        return self.machine.cycle()


class VirtualBoard:
    """One virtual board, which runs an image."""

    def __init__(self, board: Board, machine: "Machine") -> None:
        """`rtoslab.board()` makes one."""
        self.facts = board
        self._machine = machine
        self._probes: list[Probe] = []
        self._edges: list[RecordedPinEdge] = []
        self._exceptions: list[ExceptionEvent] = []

    @classmethod
    def of(cls, board: Board, cores: int | None = None, settings: dict[str, int] | None = None) -> "VirtualBoard":
        """Makes a board at reset, without an image. Raises SettingError, UnknownNameError."""
        machine: Any = make_board_at_reset(board, cores=cores or board.cores)
        apply_timing_settings_to_virtual_board(machine, settings or {})
        machine.serve_semihosting(True)
        return cls(board, machine)

    def load(self, image: Path | str) -> "VirtualBoard":
        """Loads an ELF file (for the Pico also UF2) and resets the board. Returns the board itself. Raises
        ImageFileError."""
        path = Path(image)
        load_image_into_board(self._machine, read_program_image(path), path.name)
        return self

    @property
    def cycle(self) -> int:
        """Returns the current cycle of the virtual board, counted since reset."""
        return self._machine.cycle()

    @property
    def clock_hz(self) -> int:
        """Returns the core clock's frequency, as the firmware has set it up."""
        return self._machine.clock_hz()

    @property
    def seconds(self) -> float:
        """Returns the time since power-on in seconds, to the nanosecond. It follows every change of the board's
        clock."""
        return self._machine.nanoseconds() / NS_PER_S

    def address(self, place: Place) -> int:
        """Returns the address of a place (a symbol or an address), without the Thumb bit. Raises SymbolError."""
        return without_thumb_bit(place) if isinstance(place, int) else find_symbol_address(self._machine, place)

    def run(self, cycles: int | None = None, *, seconds: float | None = None) -> Stop:
        """Runs for a number of cycles, or for virtual seconds. Returns why and where it stopped, which is earlier for a
        watch, an `until` or a lock-up. Raises RunError."""
        if (cycles is None) == (seconds is None):
            raise RunError("The length of the run is missing; give either cycles or seconds.")
        if cycles is None:
            stop = self._run_machine_to_time(
                self._machine, _future_virtual_time_in_nanoseconds(self._machine, seconds or 0.0)
            )
        elif 0 <= cycles <= MOST_CYCLES:
            stop = self._machine.run(cycles)
        else:
            raise RunError(f"{cycles} cycles are not possible; give 0 to {MOST_CYCLES}.")
        self._append_board_events_to_recordings()
        return Stop(stop["reason"], stop["cycle"], stop["core"], stop["address"], stop["detail"])

    def run_until(self, place: Place, limit_s: float = DEFAULT_LIMIT_S) -> int:
        """Runs until the instruction at `place` is about to be executed. Returns the cycle. Raises SymbolError, and
        RunError if it is not reached within `limit_s` of virtual time."""
        address = self.address(place)
        finder = self._machine.snapshot().open()
        with convert_simulator_errors(SymbolError):
            finder.until(address)
        end = _future_virtual_time_in_nanoseconds(finder, limit_s)
        stop = self._run_machine_to_time(finder, end)
        while stop["reason"] in {"watch", "until"} and finder.nanoseconds() < end:
            # The instruction at which the board is now does not count.
            if stop["address"] == address and finder.cycle() > self.cycle:
                break
            stop = self._run_machine_to_time(finder, end)
        if stop["reason"] != "until" or stop["address"] != address:
            raise RunError(f"{place} was not executed within {limit_s:g} s of virtual time ({stop['detail']}).")
        while self.cycle < finder.cycle():
            self.run(finder.cycle() - self.cycle)
        return self.cycle

    def read(self, place: Place, length: int = 4) -> bytes:
        """Reads memory, and registers of peripherals and core, without side effects. Raises RunError for other
        addresses."""
        with convert_simulator_errors(RunError):
            return self._machine.peek(0, self._resolve_symbol_address(place), length)

    def word(self, place: Place) -> int:
        """Reads four bytes of memory as a little-endian number. Raises RunError outside memories."""
        return int.from_bytes(self.read(place, 4), "little")

    def write(self, place: Place, data: bytes | int) -> None:
        """Writes bytes, or a 32-bit word, into RAM. Raises RunError outside RAM."""
        content = data.to_bytes(4, "little") if isinstance(data, int) else data
        with convert_simulator_errors(RunError):
            self._machine.write(self._resolve_symbol_address(place), content)

    def registers(self, core: int = 0) -> dict[str, int]:
        """Returns the processor registers of a core by name: r0 to r12, sp, lr, pc, xpsr, primask and so on."""
        return self._machine.registers(core)

    def set_register(self, name: str, value: int, core: int = 0) -> None:
        """Sets a processor register: r0 to r12, sp, lr, pc, apsr, s0 to s31. Raises RunError."""
        with convert_simulator_errors(RunError):
            self._machine.set_register(core, name, value)

    def probe(self, place: Place) -> Probe:
        """Records every execution of the instruction at a place from now on. Returns the probe with its hits. Raises
        SymbolError."""
        probe = self._create_address_probe(str(place), self.address(place))
        with convert_simulator_errors(SymbolError):
            self._machine.watch_exec(probe.address, len(self._probes) - 1)
        return probe

    def watch(self, place: Place) -> Probe:
        """Records every write to a word of RAM or to a register from now on. Returns the probe with its hits. Raises
        SymbolError."""
        probe = self._create_address_probe(str(place), self._resolve_symbol_address(place) & ~3)
        with convert_simulator_errors(SymbolError):
            self._machine.watch_write(probe.address, len(self._probes) - 1)
        return probe

    def between(self, start: Place, end: Place) -> "Between":
        """Starts to measure the cycles from each execution of `start` to the next execution of `end`. Raises
        SymbolError."""
        with convert_simulator_errors(SymbolError):
            return Between(self._machine, self._machine.between(self.address(start), self.address(end)))

    def trace(self, *, pins: bool = False, exceptions: bool = False) -> None:
        """Turns the recording of pin edges and of exception handlers on or off."""
        self._machine.trace_pins(pins)
        self._machine.trace_exceptions(exceptions)

    def edges(self, pin: int | str | None = None) -> Iterator[RecordedPinEdge]:
        """Yields the recorded edges of one pin, or of all pins, in the order of time. `pin` is written as in board.toml
        (`PA8`, 2)."""
        number = None if pin is None else pin_number_in_events(pin)
        return (edge for edge in self._edges if number is None or edge.pin == number)

    def exceptions(self, number: int | None = None) -> Iterator[ExceptionEvent]:
        """Yields the recorded entries and returns of exception handlers, in the order of time. `number` selects one
        exception."""
        return (exception for exception in self._exceptions if number is None or exception.number == number)

    def inject(self, interrupt: str, *, at: int | None = None, core: int = 0) -> None:
        """Makes the exception `irqN`, `pendsv`, `systick` or `nmi` pending at cycle `at` (default: now).
        Raises PlanError, RunError.
        """
        number = parse_exception_number(interrupt, self.facts)
        with convert_simulator_errors(RunError):
            self._machine.inject_exception(self.cycle if at is None else at, number, core)

    def drive(self, pin: int | str, level: int, *, at: int | None = None) -> None:
        """Drives a pin from outside to a level (0 or 1), from cycle `at` on (default: now). Raises RunError."""
        with convert_simulator_errors(RunError):
            self._machine.inject_pin(self.cycle if at is None else at, pin_number_in_events(pin), bool(level))

    def attach(self, device: object, bus: str, *, address: int | None = None, select: int | str | None = None) -> None:
        """Attaches a device to a bus such as `i2c0`, `spi1` or `usart2`, or to the `pins`. Raises RunError.

        `address`: of an I2C device. `select`: the pin that selects an SPI device while low, or none if it always is.
        """
        port = parse_board_bus(bus)
        if port is None:
            raise RunError(f"There is no bus {bus!r}; give one such as i2c0, spi1 or uart0, or pins.")
        with convert_simulator_errors(RunError):
            chosen = None if select is None else parse_pin_number(self.facts, str(select))
            self._machine.attach(device, port.kind, port.number, address=address, select=chosen)

    def set_voltage(self, pin: int | str, volts: float) -> None:
        """Sets the voltage at a pin that an ADC converts. Raises RunError."""
        with convert_simulator_errors(RunError):
            self._machine.set_analog(parse_pin_number(self.facts, str(pin)), round(max(volts, 0.0) * 1000))

    def snapshot(self) -> Snapshot:
        """Returns the board's present state, for `restore`."""
        return Snapshot(self._machine.snapshot(), tuple(map(len, self._recordings())))

    def restore(self, snapshot: Snapshot) -> None:
        """Sets the board to the state of a snapshot. Probes that were set later stay, without hits. Raises RunError for
        a snapshot of another chip."""
        with convert_simulator_errors(RunError):
            self._machine.restore(snapshot.machine)
        edges, exceptions = snapshot.seen[-2:]
        hits = [*snapshot.seen[:-2], *[0] * len(self._probes)][: len(self._probes)]
        for recorded, length in zip(self._recordings(), [*hits, edges, exceptions], strict=True):
            del recorded[length:]

    def output(self, port: int = 0) -> bytes:
        """Returns the bytes that a serial port has sent since the last call."""
        return self._machine.take_uart(port)

    def debug_output(self) -> dict[str, bytes]:
        """Returns the output by semihosting and ITM since the last call, by channel (`semihosting`, `itm0`)."""
        texts: dict[str, bytes] = {}
        for channel, text in self._machine.take_debug_text():
            texts[channel] = texts.get(channel, b"") + text
        return texts

    @property
    def exit_code(self) -> int | None:
        """Returns the exit code with which the firmware ended by semihosting. None if it has not ended so."""
        return self._machine.exit_code()

    def open_itm(self) -> None:
        """Opens the ITM's stimulus ports at each reset, as a debugger with SWO does. Call it before `load`."""
        self._machine.open_itm()

    def type_semihosting(self, text: bytes) -> None:
        """Adds bytes to semihosting's standard input, which the firmware can read."""
        self._machine.type_semihosting(text)

    def type(self, text: bytes, port: int = 0) -> None:
        """Sends bytes to the firmware's serial port at line speed."""
        self._machine.type_uart(text, port)

    def stats(self) -> "Stats":
        """Returns cycles by cause and core, exceptions and spinlocks since reset."""
        return self._machine.stats()

    def warnings(self) -> list[str]:
        """Returns a sentence for each use of unmodelled hardware, and for each fault."""
        return self._machine.warnings()

    def symbols(self) -> list[tuple[int, int, str]]:
        """Returns (address, size in bytes, name) of the image's functions and objects, sorted by address."""
        return self._machine.symbols()

    @staticmethod
    def _run_machine_to_time(machine: "Machine", ns: int) -> "MachineStop":
        """Runs a machine to a time since power-on, in nanoseconds. Raises RunError for an error of the simulator."""
        with convert_simulator_errors(RunError):
            return machine.run_to_time(ns)

    def _resolve_symbol_address(self, place: Place) -> int:
        """Returns the address of a place. A number keeps its Thumb bit."""
        return place if isinstance(place, int) else find_symbol_address(self._machine, place)

    def _create_address_probe(self, place: str, address: int) -> Probe:
        """Returns a new probe on an address, without hits. `place` is its name for the user."""
        self._probes.append(Probe(place, address))
        return self._probes[-1]

    def _recordings(self) -> list[list[Any]]:
        """Returns all lists to which recording appends: the hits of each probe, edges, exceptions."""
        return [*(probe.hits for probe in self._probes), self._edges, self._exceptions]

    def _append_board_events_to_recordings(self) -> None:
        """Appends the board's new events to the recordings."""
        for cycle, value, pc, ident, kind, core, _ in events_as_integer_tuples(
            np.frombuffer(self._machine.take_events(), EVENT)
        ):
            if kind in {KIND_EXEC, KIND_WRITE}:
                self._probes[ident].hits.append(AddressProbeHit(cycle, core, value, pc))
            elif kind == KIND_PIN:
                self._edges.append(RecordedPinEdge(cycle, ident, value))
            elif kind in {KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT}:
                entered = kind == KIND_EXCEPTION_ENTER
                self._exceptions.append(ExceptionEvent(cycle, core, ident, entered, value))


class Between:
    """A running measurement of the cycles from one place in the code to another. `VirtualBoard.between` starts it."""

    def __init__(self, machine: "Machine", index: int) -> None:
        """`VirtualBoard.between` makes one."""
        self._machine = machine
        self._index = index

    @property
    def interval(self) -> Interval:
        """Returns the count, minimum, maximum and total of the measured cycles so far."""
        interval = self._machine.between_result(self._index)
        return Interval(interval["count"], interval["min_cycles"], interval["max_cycles"], interval["total_cycles"])


def _future_virtual_time_in_nanoseconds(machine: "Machine", seconds: float) -> int:
    """Returns the time since power-on, in nanoseconds, that is `seconds` from now. Raises RunError."""
    if not 0 <= seconds <= MOST_NS / NS_PER_S:
        raise RunError(f"{seconds:g} seconds are not possible; give 0 to {MOST_NS // NS_PER_S}.")
    return min(machine.nanoseconds() + round(seconds * NS_PER_S), MOST_NS)
