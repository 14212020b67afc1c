"""A virtual board in the hand: load, run, look, probe, snapshot, restore, inject. What `rtoslab.board()` gives.

Places are symbols (`main`), addresses as text (`0x08000100`) or as numbers. Cycles are of the core's clock since reset,
unless a clock tree says otherwise (RP2040: clk_sys). Nothing here costs the firmware a cycle.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rtoslab.base import RunError, SymbolError, code_address
from rtoslab.catalogue import Board
from rtoslab.intake import read_image
from rtoslab.targets.board import (
    CYCLES_MOST,
    apply_settings,
    find_address,
    load_image,
    make_machine,
    pin_number,
    simulator_errors,
)
from rtoslab.targets.board_records import Edge, ExceptionEvent, Hit, Interval, Probe, Stop
from rtoslab.targets.events import (
    EVENT,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_PIN,
    KIND_WRITE,
    rows,
)
from rtoslab.targets.exceptions import exception_number

if TYPE_CHECKING:
    from rtoslab._sim import Machine, Stats
    from rtoslab._sim import Snapshot as MachineSnapshot

Place = str | int
DEFAULT_LIMIT_S: Final = 10.0
"""The default limit of virtual time, for `run_until`."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A board as it stood, with what its probes had seen."""

    machine: "MachineSnapshot"
    seen: tuple[int, ...]
    """How many hits each probe had, then edges and exceptions."""

    @property
    def cycle(self) -> int:
        """When it was taken."""
        return self.machine.cycle()


class VirtualBoard:
    """One board with an image."""

    def __init__(self, board: Board, machine: "Machine") -> None:
        """`rtoslab.board()` makes one."""
        self.facts = board
        self._machine = machine
        self._probes: list[Probe] = []
        self._edges: list[Edge] = []
        self._exceptions: list[ExceptionEvent] = []

    @classmethod
    def of(cls, board: Board, cores: int | None = None, settings: dict[str, int] | None = None) -> "VirtualBoard":
        """Makes a board at reset, without an image. Raises SettingError, UnknownNameError."""
        machine: Any = make_machine(board, cores=cores or board.cores)
        apply_settings(machine, settings or {})
        return cls(board, machine)

    def load(self, image: Path | str) -> "VirtualBoard":
        """An ELF (for the Pico also UF2). Then the board is at reset. Raises ImageFileError."""
        path = Path(image)
        load_image(self._machine, read_image(path), path.name)
        return self

    @property
    def cycle(self) -> int:
        """Now."""
        return self._machine.cycle()

    @property
    def clock_hz(self) -> int:
        """Returns the core clock's frequency, as the firmware has set it up."""
        return self._machine.clock_hz()

    def address(self, place: Place) -> int:
        """Returns the address of a symbol or of an address, without the Thumb bit. Raises SymbolError."""
        return code_address(place) if isinstance(place, int) else find_address(self._machine, place)

    def run(self, cycles: int | None = None, *, seconds: float | None = None) -> Stop:
        """So many cycles, or seconds at the clock there is now. Ends earlier for a watch, an `until`, or a lock-up."""
        if (cycles is None) == (seconds is None):
            raise RunError("Say how long to run: either cycles or seconds.")
        length = cycles if cycles is not None else round((seconds or 0.0) * self.clock_hz)
        if not 0 <= length <= CYCLES_MOST:
            raise RunError(f"{length} cycles cannot be run; give 0 to {CYCLES_MOST}.")
        stop = self._machine.run(length)
        self._drain()
        return Stop(stop["reason"], stop["cycle"], stop["core"], stop["address"], stop["detail"])

    def run_until(self, place: Place, limit_s: float = DEFAULT_LIMIT_S) -> int:
        """Until the place is about to execute next, from here. Returns the cycle.

        Raises SymbolError. RunError if it does not within `limit_s` of virtual time, or the board stops before.
        """
        address = self.address(place)
        finder = self._machine.snapshot().open()
        with simulator_errors(SymbolError):
            finder.until(address)
        end = finder.cycle() + round(limit_s * finder.clock_hz())
        stop = finder.run(end - finder.cycle())
        while stop["reason"] in {"watch", "until"} and finder.cycle() < end:
            # Where it stands already is not where it comes to next.
            if stop["address"] == address and finder.cycle() > self.cycle:
                break
            stop = finder.run(end - finder.cycle())
        if stop["reason"] != "until" or stop["address"] != address:
            raise RunError(f"{place} did not execute within {limit_s:g} s of virtual time ({stop['detail']}).")
        while self.cycle < finder.cycle():
            self.run(finder.cycle() - self.cycle)
        return self.cycle

    def read(self, place: Place, length: int = 4) -> bytes:
        """Memory, without side effects. Raises RunError outside memories."""
        with simulator_errors(RunError):
            return self._machine.read(self._place(place), length)

    def word(self, place: Place) -> int:
        """Four bytes, little endian."""
        return int.from_bytes(self.read(place, 4), "little")

    def write(self, place: Place, data: bytes | int) -> None:
        """Bytes, or a word, into RAM. Raises RunError."""
        content = data.to_bytes(4, "little") if isinstance(data, int) else data
        with simulator_errors(RunError):
            self._machine.write(self._place(place), content)

    def registers(self, core: int = 0) -> dict[str, int]:
        """Returns the registers by name: r0 to r12, sp, lr, pc, xpsr, primask …"""
        return self._machine.registers(core)

    def set_register(self, name: str, value: int, core: int = 0) -> None:
        """r0 to r12, sp, lr, pc, apsr, s0 to s31. Raises RunError."""
        with simulator_errors(RunError):
            self._machine.set_register(core, name, value)

    def probe(self, place: Place) -> Probe:
        """Notes every execution of an instruction from now on. Raises SymbolError."""
        probe = self._new_probe(str(place), self.address(place))
        with simulator_errors(SymbolError):
            self._machine.watch_exec(probe.address, len(self._probes) - 1)
        return probe

    def watch(self, place: Place) -> Probe:
        """Notes every write to a word of RAM from now on. Raises SymbolError."""
        probe = self._new_probe(str(place), self._place(place) & ~3)
        with simulator_errors(SymbolError):
            self._machine.watch_write(probe.address, len(self._probes) - 1)
        return probe

    def between(self, start: Place, end: Place) -> "Between":
        """Measures from each execution of one place to the next of the other. Raises SymbolError."""
        with simulator_errors(SymbolError):
            return Between(self._machine, self._machine.between(self.address(start), self.address(end)))

    def trace(self, *, pins: bool = False, exceptions: bool = False) -> None:
        """Switches the recording of pin edges and of handlers on or off."""
        self._machine.trace_pins(pins)
        self._machine.trace_exceptions(exceptions)

    def edges(self, pin: int | str | None = None) -> Iterator[Edge]:
        """Recorded pin edges, in the order of time. `pin` as in board.toml (`PA8`, 2)."""
        number = None if pin is None else pin_number(pin)
        return (edge for edge in self._edges if number is None or edge.pin == number)

    def exceptions(self, number: int | None = None) -> Iterator[ExceptionEvent]:
        """Recorded entries and returns of handlers, in the order of time."""
        return (exception for exception in self._exceptions if number is None or exception.number == number)

    def inject(self, interrupt: str, *, at: int | None = None, core: int = 0) -> None:
        """Pends `irqN`, `pendsv`, `systick` or `nmi` in a cycle (now, unless told). Raises PlanError, RunError."""
        number = exception_number(interrupt, self.facts)
        with simulator_errors(RunError):
            self._machine.inject_exception(self.cycle if at is None else at, number, core)

    def drive(self, pin: int | str, level: int, *, at: int | None = None) -> None:
        """The outside drives a pin from a cycle on (now, unless told). Raises RunError."""
        with simulator_errors(RunError):
            self._machine.inject_pin(self.cycle if at is None else at, pin_number(pin), bool(level))

    def snapshot(self) -> Snapshot:
        """The board as it stands."""
        return Snapshot(self._machine.snapshot(), tuple(map(len, self._recorded_rows())))

    def restore(self, snapshot: Snapshot) -> None:
        """The board as it stood. Probes placed since stay, with nothing seen. Raises RunError: of another chip."""
        with simulator_errors(RunError):
            self._machine.restore(snapshot.machine)
        edges, exceptions = snapshot.seen[-2:]
        hits = [*snapshot.seen[:-2], *[0] * len(self._probes)][: len(self._probes)]
        for recorded, length in zip(self._recorded_rows(), [*hits, edges, exceptions], strict=True):
            del recorded[length:]

    def output(self, port: int = 0) -> bytes:
        """Returns what a serial port has sent since the last call."""
        return self._machine.take_uart(port)

    def type(self, text: bytes, port: int = 0) -> None:
        """Types into a serial port at line speed."""
        self._machine.type_uart(text, port)

    def stats(self) -> "Stats":
        """Cycles by cause and core, exceptions, spinlocks, since reset."""
        return self._machine.stats()

    def warnings(self) -> list[str]:
        """Returns what the firmware used that is not modelled, and its faults: one sentence each."""
        return self._machine.warnings()

    def symbols(self) -> list[tuple[int, int, str]]:
        """(address, size in bytes, name) of functions and objects, by address."""
        return self._machine.symbols()

    def _place(self, place: Place) -> int:
        return place if isinstance(place, int) else find_address(self._machine, place)

    def _new_probe(self, place: str, address: int) -> Probe:
        self._probes.append(Probe(place, address))
        return self._probes[-1]

    def _recorded_rows(self) -> list[list[Any]]:
        return [*(probe.hits for probe in self._probes), self._edges, self._exceptions]

    def _drain(self) -> None:
        for cycle, value, pc, ident, kind, core, _ in rows(np.frombuffer(self._machine.take_events(), EVENT)):
            if kind in {KIND_EXEC, KIND_WRITE}:
                self._probes[ident].hits.append(Hit(cycle, core, value, pc))
            elif kind == KIND_PIN:
                self._edges.append(Edge(cycle, ident, value))
            elif kind in {KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT}:
                entered = kind == KIND_EXCEPTION_ENTER
                self._exceptions.append(ExceptionEvent(cycle, core, ident, entered, value))


class Between:
    """An interval that is being measured."""

    def __init__(self, machine: "Machine", index: int) -> None:
        """`VirtualBoard.between` makes one."""
        self._machine = machine
        self._index = index

    @property
    def interval(self) -> Interval:
        """Returns what was measured so far."""
        interval = self._machine.between_result(self._index)
        return Interval(interval["count"], interval["min_cycles"], interval["max_cycles"], interval["total_cycles"])
