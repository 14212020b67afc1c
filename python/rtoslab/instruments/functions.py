"""Finds functions by symbol, by address, or by a line of their source."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import ImageFileError, SymbolError, without_thumb_bit
from rtoslab.images import SourceLines, read_elf
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.targets import find_symbol_address

_LINE: Final = re.compile(r"(?P<file>[^:]+):(?P<line>[1-9][0-9]{0,8})", re.ASCII)
_LISTED: Final = 5
"""The most candidates that an error lists."""


@dataclass(frozen=True, slots=True)
class ImageFunction:
    """A function of an image, with its address and its other names."""

    requested: tuple[str, ...]
    """The names by which it was requested."""
    name: str
    """Its symbol. Its address where the image has none for it."""
    address: int
    """Without the Thumb bit."""
    also: tuple[str, ...] = ()
    """Other symbols of the same code."""


class ImageFunctions:
    """Finds functions and instructions of one image by symbol, address or source line."""

    def __init__(self, elf: Path, machine: ObservedMachine) -> None:
        self._machine = machine
        self._lines = SourceLines(elf)
        self._data = _variable_and_constant_names(elf)
        self._symbols = [symbol for symbol in machine.symbols() if symbol[2] not in self._data]

    def find_function(self, name: str) -> ImageFunction:
        """Returns the function that a symbol, an address or a source line (`file.c:12`) names. Raises SymbolError for
        none and for several."""
        line = _LINE.fullmatch(name)
        if line is not None:
            return self._function_at_line(name, line["file"], int(line["line"]))
        if name.lower().startswith("0x"):
            return self._function_at_address(name, find_symbol_address(self._machine, name))
        if name in self._data:
            raise SymbolError(f"{name} is data, not a function; name a function that uses it.")
        addresses = sorted({address for address, _, symbol in self._symbols if symbol == name})
        if len(addresses) > 1:
            listed = self._function_names_text(name, addresses)
            raise SymbolError(f"The image has {len(addresses)} functions {name!r}: {listed}; name one by its address.")
        return self._image_function_at_address(
            name, addresses[0] if addresses else find_symbol_address(self._machine, name)
        )

    def instruction_addresses(self, name: str) -> list[int]:
        """Returns the addresses of the instructions that a symbol, an address or a source line names. Raises
        SymbolError for none.

        A symbol names its function's first instruction. A source line names each instruction at which its code begins:
        several if the compiler divided or inlined it.
        """
        line = _LINE.fullmatch(name)
        if line is not None:
            return self._line_starts(line["file"], int(line["line"]))
        if name.lower().startswith("0x"):
            return [without_thumb_bit(find_symbol_address(self._machine, name))]
        return [self.find_function(name).address]

    def _function_at_address(self, text: str, address: int) -> ImageFunction:
        """Returns the function that begins at an address. Raises SymbolError for an address inside a function. `text`
        is the user's."""
        start = self._function_start(address)
        if start not in {None, address}:
            name = self._image_function_at_address(text, start or 0).name
            raise SymbolError(f"{text} is inside {name}, which begins at {start:#x}; use this address or name.")
        return self._image_function_at_address(text, address)

    def _function_at_line(self, text: str, file: str, line: int) -> ImageFunction:
        """Returns the function that contains the code of a source line. Raises SymbolError for none and for several."""
        starts = {self._function_start(place) for place in self._line_starts(file, line)}
        starts_ = sorted(start for start in starts if start is not None)
        if len(starts_) > 1:
            listed = self._function_names_text(text, starts_)
            raise SymbolError(
                f"{text} is in {len(starts_)} functions, because of inlining: {listed}; name one of them."
            )
        if not starts_:
            raise SymbolError(f"{text} is not in a function with a symbol; use an address.")
        return self._image_function_at_address(text, starts_[0])

    def _line_starts(self, file: str, line: int) -> list[int]:
        """Returns the addresses at which code of a source line begins. Raises SymbolError if there is none."""
        places, lines = self._lines.find_code_of_line(file, line)
        if not lines:
            raise SymbolError(
                f"The image has no code of {file}; build it with -g, and write the file name as in the build."
            )
        if not places:
            place = bisect_left(lines, line)
            near = " and ".join(str(item) for item in lines[max(0, place - 1) : place + 1])
            raise SymbolError(f"Line {line} of {file} has no code; the nearest lines with code are {near}.")
        return places

    def _function_start(self, address: int) -> int | None:
        """Returns the first address of the function that contains an address. None if no symbol covers it."""
        for start, size, _ in self._symbols:
            if start <= address < start + size or start == address:
                return start
        return None

    def _image_function_at_address(self, requested: str, address: int) -> ImageFunction:
        """Returns the function at an address with all its symbols. `requested` is the name that the user gave."""
        names = [name for start, _, name in self._symbols if start == address]
        if not names:
            name = requested if self._machine.symbol(requested) is not None else f"{address:#010x}"
            return ImageFunction((requested,), name, address)
        name = requested if requested in names else names[0]
        return ImageFunction((requested,), name, address, tuple(sorted(set(names) - {name})))

    def _function_names_text(self, requested: str, addresses: Sequence[int]) -> str:
        """Returns the functions at these addresses with their source lines, as text for an error message."""
        shown = []
        for address in addresses[:_LISTED]:
            source = next(iter(self._lines.source_lines_at(address)), "")
            name = self._image_function_at_address(requested, address).name
            shown.append(f"{name} {address:#x}" + (f" ({source})" if source else ""))
        return ", ".join(shown) + (", ..." if len(addresses) > _LISTED else "")


def _variable_and_constant_names(elf: Path) -> frozenset[str]:
    """Returns the names of an image's variables and constants that are not also a function's name."""
    try:
        symbols = read_elf(elf).symbols
    except ImageFileError:  # a UF2 file, or stripped
        return frozenset()
    functions = {symbol.name for symbol in symbols if symbol.is_function}
    return frozenset({symbol.name for symbol in symbols if not symbol.is_function} - functions)
