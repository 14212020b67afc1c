"""Makes virtual boards from board.toml. No other module calls the simulator's constructor or catches its errors."""

import difflib
import hashlib
import re
import sys
from bisect import bisect_right
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
    UnknownNameError,
    find_checkout_root,
    without_thumb_bit,
)
from rtoslab.catalogue import Board, read_boards
from rtoslab.intake import MAGIC, ElfFile, load_simulator_module, quote_text
from rtoslab.targets.machine import VirtualBoardMachine

Settings = tuple[tuple[str, int, str, str], ...]
MOST_CYCLES: Final = 2**64 - 1
"""The most cycles that 64 bits count."""
LAST_ADDRESS: Final = 2**32 - 1
CLOCK_SETTING: Final = "clock_hz"
_ALLOCATED: Final = 2
"""A section's flag: it takes memory in the running image."""
_REQUIRED_NAMES: Final = (
    "SOURCES",
    "VERSION",
    "SimError",
    "ImageError",
    "SettingError",
    "PanicException",
    "Machine",
    "EventTally",
    "LogDecoder",
    "compress_zstd",
    "latest_events",
    "order_events",
    "readable_name",
    "structures",
    "write_parquet",
)
"""The names that rtoslab uses of the simulator's module."""


@cache
def timing_settings(chip: str) -> Settings:
    """Returns each timing setting of a chip's virtual board: (key, default, description, grade).
    Raises SettingError.
    """
    sim = simulator_module()
    try:
        return tuple(sim.Machine(chip).settings())
    except sim.SimError as cause:
        raise SettingError(f"The chip {chip} has no parameters: {cause}") from None


def make_board_at_reset(board: Board, *, cores: int, strict: bool = False) -> VirtualBoardMachine:
    """Returns a virtual board at reset, without an image. Raises SettingError."""
    sim = simulator_module()
    loop = (board.pins.out, board.pins.input)
    try:
        machine: VirtualBoardMachine = sim.Machine(
            board.chip,
            cores=cores,
            flash_bytes=board.memory.flash_bytes,
            crystal_hz=board.clock.crystal_hz,
            console_port=board.uart.index,
            strict=strict,
            wires=[loop] if all(isinstance(pin, str) for pin in loop) else [],
            rest=[*((pin, True) for pin in board.rest.high), *((pin, False) for pin in board.rest.low)],
        )
    except sim.SimError as cause:
        raise SettingError(f"The virtual board {board.id} cannot be created: {cause}") from None
    return machine


def load_image_into_board(machine: VirtualBoardMachine, image: bytes, name: str) -> None:
    """Loads an ELF or UF2 image into a virtual board. Raises ImageFileError naming the file and the boards that it
    fits."""
    try:
        machine.load(image, name)
    except simulator_module().SimError as cause:
        boards = boards_that_fit_image(image, name)
        fits = f", or run it on a board that it fits: {', '.join(boards)}" if boards else ""
        raise ImageFileError(f"{name} cannot be loaded: {cause}{fits}.") from None


def boards_that_fit_image(image: bytes, name: str) -> list[str]:
    """Returns the ids of the known boards into whose memories an image can be loaded, its variables included."""
    sim, boards = simulator_module(), []
    variables = _uninitialised_section_addresses(image)
    for board in read_boards(find_checkout_root()).values():
        machine = make_board_at_reset(board.facts, cores=1)
        try:
            machine.load(image, name)
            for address in variables:
                machine.read(address, 1)
        except sim.SimError:
            continue
        boards.append(board.id)
    return boards


def _uninitialised_section_addresses(image: bytes) -> list[int]:
    """Returns the start addresses of those sections of an ELF image that have no content in the file, such as
    `.bss`."""
    try:
        sections = ElfFile(image).sections if image.startswith(MAGIC) else ()
    except ValueError:
        return []
    return [
        section.address
        for section in sections
        if section.flags & _ALLOCATED and section.size and not section.has_contents
    ]


def apply_timing_settings_to_virtual_board(machine: VirtualBoardMachine, values: Mapping[str, int]) -> None:
    """Sets timing settings of a virtual board by key, with or without their `timing.` prefix. Raises UnknownNameError,
    SettingError."""
    known = {key for key, *_ in machine.settings()}
    for name, value in values.items():
        candidates = (name, name.removeprefix("timing."), f"timing.{name}")
        key = next((candidate for candidate in candidates if candidate in known), None)
        if key is None:
            raise UnknownNameError("setting", name, known)
        if key == CLOCK_SETTING and value == 0:
            raise SettingError(
                f"{name}=0 is not possible, because it is no clock; leave it out, and the firmware sets the clock."
            )
        try:
            machine.set(key, value)
        except simulator_module().SimError as cause:
            raise SettingError(f"{name}={value} is not possible: {cause}") from None
        except OverflowError:
            raise SettingError(f"{name}={value} is not possible; a setting is a number from 0 to 2^64 - 1.") from None


def find_symbol_address(machine: VirtualBoardMachine, symbol_or_address: str) -> int:
    """Returns the address of a symbol, or of a text such as `0x08000100`, without the Thumb bit. Raises SymbolError."""
    if symbol_or_address.lower().startswith("0x"):
        try:
            number = int(symbol_or_address, 16)
        except ValueError:
            raise SymbolError(f"{symbol_or_address!r} is not an address; write 0x and hexadecimal digits.") from None
        if number > LAST_ADDRESS:
            raise SymbolError(
                f"{symbol_or_address} is larger than the last address, 0xffffffff; write up to eight digits."
            )
        return without_thumb_bit(number)
    address = machine.symbol(symbol_or_address)
    if address is None:
        address = _find_function_without_parameters(symbol_or_address, machine.symbols())
    return without_thumb_bit(address)


def _find_function_without_parameters(name: str, symbols: Sequence[tuple[int, int, str]]) -> int:
    """Returns the address of the only C++ function called `name`, whatever its parameters. Raises SymbolError."""
    variants = (f"{name}(", f"{name} const")
    fitting = {symbol: address for address, _, symbol in symbols if symbol.startswith(variants)}
    if len(set(fitting.values())) == 1:
        return next(iter(fitting.values()))
    if fitting:
        raise SymbolError(
            f"{name!r} is the name of several functions: {' or '.join(sorted(fitting))}; add the parameters of one."
        )
    suggestion = _similar_symbol_suggestion_text(name, [symbol for _, _, symbol in symbols])
    raise SymbolError(f"The image has no symbol {name!r}; {suggestion}")


def first_symbol_per_address(symbols: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Returns one symbol (address, size, name) for each address, in the order of addresses. Of several, the first one
    is returned, because the board lists weak symbols last."""
    names: dict[int, tuple[int, int, str]] = {}
    for symbol in symbols:
        names.setdefault(symbol[0], symbol)
    return [names[address] for address in sorted(names)]


_UNSIZED_MOST_BYTES: Final = 4096
"""The most bytes that a symbol without a size covers, as in assembler code. An address far after the last function
belongs to no symbol."""


class SymbolIndex:
    """The symbols of an image, found by any address in them."""

    def __init__(self, symbols: Iterable[tuple[int, int, str]]) -> None:
        """`symbols`: address, size in bytes and name."""
        self._rows = first_symbol_per_address(symbols)
        self._starts = [address for address, _, _ in self._rows]

    def find_symbol(self, address: int) -> tuple[int, int, str] | None:
        """Returns the symbol (address, size, name) that contains an address. None if there is none. A symbol without a
        size reaches to the next one, but at most 4096 bytes."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        start, size, _ = self._rows[index]
        return self._rows[index] if address < start + (size or _UNSIZED_MOST_BYTES) else None


def parse_cycle_count(text: str) -> int | None:
    """Parses a decimal number of cycles. Returns None for any other text. Raises SymbolError beyond 64 bits."""
    if not (text.isascii() and text.isdecimal()):
        return None
    # Compared as text first: a number of thousands of digits is not even read.
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(MOST_CYCLES)) or int(digits) > MOST_CYCLES:
        shown = text if len(text) <= 40 else f"a number of {len(text)} digits"
        raise SymbolError(f"{shown} is more than the {MOST_CYCLES} cycles that can be counted; give fewer.")
    return int(digits)


def pin_number_in_events(pin: int | str) -> int:
    """Returns the number that a pin of board.toml (`PA8` or 2) has in the virtual board's events. Each lettered port
    has 16."""
    return pin if isinstance(pin, int) else (ord(pin[1]) - ord("A")) * 16 + int(pin[2:])


def require_board_has_cores(board: Board, cores: int | None) -> None:
    """Raises PlanError if the board has fewer cores than the user requests. None requests no number."""
    if cores is not None and cores > board.cores:
        raise PlanError(
            f"The board {board.id} has {board.cores} cores, not {cores}; choose --cores 1 to {board.cores}."
        )


def parse_pin_number(board: Board, name: str) -> int:
    """Returns the number of a pin from the user's text: `PB0`, or on a chip without ports `GP5` or `5`. Raises
    PlanError."""
    is_ported = not isinstance(board.pins.out, int)
    match = re.fullmatch(r"P([A-K])([0-9]|1[0-5])" if is_ported else r"(GP)?([0-9]|[12][0-9])", name.upper())
    if match is None:
        example = "PB0" if is_ported else "GP5"
        raise PlanError(f"{board.title} has no pin {quote_text(name)}; use names such as {example}.")
    return pin_number_in_events(match[0] if is_ported else int(match[2]))


def _similar_symbol_suggestion_text(name: str, names: Iterable[str]) -> str:
    """Returns the end of an error sentence that suggests the most similar symbol, or another way to name an address."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else "give a 0x address, or an image that was not stripped."


@contextmanager
def convert_simulator_errors(kind: type[RtoslabError]) -> Iterator[None]:
    """Converts errors of the simulator inside a `with` block to exceptions of `kind`, with their message."""
    try:
        yield
    except (simulator_module().SimError, SymbolError) as cause:
        message = str(cause)
        raise kind(message[:1].upper() + message[1:] + ("" if message.endswith(".") else ".")) from None
    except OverflowError:
        raise kind(
            "A number is too large or negative; addresses and values have 32 bits, and cycles 64 bits."
        ) from None


@cache
def simulator_fingerprint() -> str:
    """Returns a hash of the simulator's binary, for the keys of cached results."""
    return hashlib.sha256(Path(simulator_module().__file__).read_bytes()).hexdigest()[:8]


def is_simulator_panic(error: BaseException) -> bool:
    """Whether an error is a panic of the simulator, such as a failed assertion. The virtual board must not be used
    after one.

    It is no `Exception`, so that no handler takes it for a result.
    """
    loaded = sys.modules.get("rtoslab._sim")
    kind = getattr(loaded, "PanicException", None)
    return kind is not None and isinstance(error, kind)


def simulator_module() -> Any:
    """Returns the Python module of the simulator, `_sim`. Raises ToolMissingError if it is not built,
    StaleSimulatorError if it lacks a name."""
    module = load_simulator_module()
    _require_complete_simulator(module)
    return module


@cache
def _require_complete_simulator(module: ModuleType) -> None:
    """Raises StaleSimulatorError if the simulator's module lacks a name that rtoslab uses, because it was built
    earlier."""
    parts = {
        module: _REQUIRED_NAMES,
        getattr(module, "Machine", None): [name for name in vars(VirtualBoardMachine) if name[0] != "_"],
    }
    absent = [name for part, names in parts.items() for name in names if not hasattr(part, name)]
    if absent:
        raise StaleSimulatorError(
            f"The simulator in {module.__file__} is older than the rest of rtoslab (it has no {absent[0]}); run "
            "`make set-up`, then measure again."
        )
