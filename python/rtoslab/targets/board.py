"""Making a virtual board from board.toml: the one place that touches the simulator's constructor and its errors."""

import difflib
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from rtoslab.base import (
    ImageFileError,
    PlanError,
    RtoslabError,
    SettingError,
    StaleSimulatorError,
    SymbolError,
    ToolMissingError,
    UnknownNameError,
    code_address,
    find_root,
)
from rtoslab.catalogue import Board, Catalogue
from rtoslab.intake import quote
from rtoslab.targets.machine import VirtualMachine

Settings = tuple[tuple[str, int, str, str], ...]
CYCLES_MOST: Final = 2**64 - 1
"""Cycles are counted in 64 bits."""
ADDRESS_MOST: Final = 2**32 - 1
_NAMES: Final = (
    "SOURCES",
    "VERSION",
    "SimError",
    "ImageError",
    "SettingError",
    "PanicException",
    "Machine",
    "EventTally",
    "compress_zstd",
    "readable_name",
    "structures",
    "write_parquet",
)
"""What is used of the simulator's module itself."""


@cache
def timing_settings(chip: str) -> Settings:
    """Every parameter of a chip's virtual board: (key, default, what it is, grade). Raises SettingError."""
    sim = simulator()
    try:
        return tuple(sim.Machine(chip).settings())
    except sim.SimError as cause:
        raise SettingError(f"The chip {chip} has no parameters: {cause}") from None


def make_machine(board: Board, *, cores: int, strict: bool = False) -> VirtualMachine:
    """A virtual board at reset, without an image."""
    sim = simulator()
    loop = (board.pins.out, board.pins.input)
    try:
        machine: VirtualMachine = sim.Machine(
            board.chip,
            cores=cores,
            flash_bytes=board.memory.flash_bytes,
            crystal_hz=board.clock.crystal_hz,
            console_port=board.uart.index,
            strict=strict,
            wires=[loop] if all(isinstance(pin, str) for pin in loop) else [],
        )
    except sim.SimError as cause:
        raise SettingError(f"The virtual board {board.id} cannot be made: {cause}") from None
    return machine


def load_image(machine: VirtualMachine, image: bytes, name: str) -> None:
    """Loads an ELF or UF2. Raises ImageFileError naming the file."""
    try:
        machine.load(image, name)
    except simulator().SimError as cause:
        boards = fitting_boards(image, name)
        fits = f", or run it on a board that it fits: {', '.join(boards)}" if boards else ""
        raise ImageFileError(f"{name} cannot be loaded: {cause}{fits}.") from None


def fitting_boards(image: bytes, name: str) -> list[str]:
    """Boards of the checkout whose memories an image can be loaded into."""
    sim, boards = simulator(), []
    for board in Catalogue(find_root()).boards.values():
        try:
            make_machine(board.facts, cores=1).load(image, name)
        except sim.SimError:
            continue
        boards.append(board.id)
    return boards


def apply_settings(machine: VirtualMachine, values: Mapping[str, int]) -> None:
    """Sets timing parameters by key, with or without their `timing.` prefix."""
    known = {key for key, *_ in machine.settings()}
    for name, value in values.items():
        candidates = (name, name.removeprefix("timing."), f"timing.{name}")
        key = next((candidate for candidate in candidates if candidate in known), None)
        if key is None:
            raise UnknownNameError("setting", name, known)
        try:
            machine.set(key, value)
        except simulator().SimError as cause:
            raise SettingError(f"{name}={value} was refused: {cause}") from None
        except OverflowError:
            raise SettingError(f"{name}={value} was refused: a setting is a number from 0 to 2^64 - 1.") from None


def find_address(machine: VirtualMachine, place: str) -> int:
    """Address of a symbol or of a `0x` address. The Thumb bit is dropped. Raises SymbolError."""
    if place.lower().startswith("0x"):
        try:
            number = int(place, 16)
        except ValueError:
            raise SymbolError(f"{place!r} is not an address; write 0x and hexadecimal digits.") from None
        if number > ADDRESS_MOST:
            raise SymbolError(f"{place} is beyond the last address, 0xffffffff; write up to eight digits.")
        return code_address(number)
    address = machine.symbol(place)
    if address is None:
        address = _without_parameters(place, machine.symbols())
    return code_address(address)


def _without_parameters(place: str, symbols: Sequence[tuple[int, int, str]]) -> int:
    """Address of the only function that `place` names but for its parameters or `const`. Raises SymbolError."""
    fitting = {name: address for address, _, name in symbols if name.startswith((f"{place}(", f"{place} const"))}
    if len(set(fitting.values())) == 1:
        return next(iter(fitting.values()))
    if fitting:
        raise SymbolError(f"{place!r} may be {' or '.join(sorted(fitting))}; name one with its parameters.")
    raise SymbolError(f"The image has no symbol {place!r}; {_near(place, [name for _, _, name in symbols])}")


def best_names(symbols: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """One symbol for each address, in order. It is the first one given: the board gives weak ones last."""
    names: dict[int, tuple[int, int, str]] = {}
    for symbol in symbols:
        names.setdefault(symbol[0], symbol)
    return [names[address] for address in sorted(names)]


def cycle_number(text: str) -> int | None:
    """A decimal number of cycles. None for anything else. Raises SymbolError beyond 64 bits."""
    if not (text.isascii() and text.isdecimal()):
        return None
    # Compared as text first: a number of thousands of digits is not even read.
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(CYCLES_MOST)) or int(digits) > CYCLES_MOST:
        shown = text if len(text) <= 40 else f"a number of {len(text)} digits"
        raise SymbolError(f"{shown} is beyond the {CYCLES_MOST} cycles that can be counted; give fewer.")
    return int(digits)


def pin_number(pin: int | str) -> int:
    """The number by which the virtual board's events know a pin of board.toml: 16 to a port where pins have letters."""
    return pin if isinstance(pin, int) else (ord(pin[1]) - ord("A")) * 16 + int(pin[2:])


def board_pin(board: Board, name: str) -> int:
    """The number of a pin that a user names: `PB0`, or on a chip without ports `GP5` or `5`. Raises PlanError."""
    is_ported = not isinstance(board.pins.out, int)
    match = re.fullmatch(r"P([A-K])([0-9]|1[0-5])" if is_ported else r"(GP)?([0-9]|[12][0-9])", name.upper())
    if match is None:
        example = "PB0" if is_ported else "GP5"
        raise PlanError(f"{board.title} has no pin {quote(name)}; its pins are named like {example}.")
    return pin_number(match[0] if is_ported else int(match[2]))


def _near(place: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(place, list(names), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else "give a 0x address, or an image that was not stripped."


@contextmanager
def simulator_errors(kind: type[RtoslabError]) -> Iterator[None]:
    """Turns the simulator's own errors (a missing symbol, a number too large) into `kind`, message kept."""
    try:
        yield
    except (simulator().SimError, SymbolError) as cause:
        message = str(cause)
        raise kind(message[:1].upper() + message[1:] + ("" if message.endswith(".") else ".")) from None
    except OverflowError:
        raise kind(
            "A number does not fit: addresses and values have 32 bits, cycles 64, and none is negative."
        ) from None


@cache
def simulator_fingerprint() -> str:
    """Hash of the simulator as it was built here: what is remembered of one build must not speak for the next."""
    return hashlib.sha256(Path(simulator().__file__).read_bytes()).hexdigest()[:8]


def is_panic(error: BaseException) -> bool:
    """Whether the simulator itself has failed: an assertion of it, an index beyond an array. No `Exception`, so that
    nobody takes it for an answer. After one the machine is not to be used again."""
    loaded = sys.modules.get("rtoslab._sim")
    kind = getattr(loaded, "PanicException", None)
    return kind is not None and isinstance(error, kind)


def simulator() -> Any:
    """The simulator's module. Raises ToolMissingError if it is not built, StaleSimulatorError if it lacks something."""
    try:
        from rtoslab import _sim  # noqa: PLC0415
    except ImportError:
        raise ToolMissingError("The simulator is not built; run `make demo`, or `maturin develop --release`.") from None
    _require_complete(_sim)
    return _sim


@cache
def _require_complete(module: ModuleType) -> None:
    """An older binary may not even have what says how old it is."""
    parts = {
        module: _NAMES,
        getattr(module, "Machine", None): [name for name in vars(VirtualMachine) if name[0] != "_"],
    }
    absent = [name for part, names in parts.items() for name in names if not hasattr(part, name)]
    if absent:
        raise StaleSimulatorError(
            f"The simulator in {module.__file__} is older than the rest of rtoslab (it has no {absent[0]}); run "
            "`make set-up`, then measure again."
        )
