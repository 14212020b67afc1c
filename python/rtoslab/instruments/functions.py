"""Functions as a person names them: by symbol, by address, or by a line of their source."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import ImageFileError, SymbolError, code_address
from rtoslab.images import SourceLines, read_elf
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.targets import find_address

_LINE: Final = re.compile(r"(?P<file>[^:]+):(?P<line>[1-9][0-9]{0,8})", re.ASCII)
_LISTED: Final = 5
"""So many of what a name may mean are listed."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of an image."""

    asked: tuple[str, ...]
    """As it was named, in each way."""
    name: str
    """Its symbol; its address where the image has none for it."""
    address: int
    """Without the Thumb bit."""
    also: tuple[str, ...] = ()
    """Other symbols of the same code."""


class Functions:
    """The functions of one image, loaded into a machine."""

    def __init__(self, elf: Path, machine: ObservedMachine) -> None:
        self._machine = machine
        self._lines = SourceLines(elf)
        self._data = _data(elf)
        self._symbols = [symbol for symbol in machine.symbols() if symbol[2] not in self._data]

    def find(self, asked: str) -> Function:
        """The one function that is meant. Raises SymbolError for none and for several."""
        line = _LINE.fullmatch(asked)
        if line is not None:
            return self._at_line(asked, line["file"], int(line["line"]))
        if asked.lower().startswith("0x"):
            return self._at_address(asked, find_address(self._machine, asked))
        if asked in self._data:
            raise SymbolError(f"{asked} is data, not a function; name a function that uses it.")
        found = sorted({address for address, _, name in self._symbols if name == asked})
        if len(found) > 1:
            listed = self._listed(asked, found)
            raise SymbolError(f"The image has {len(found)} functions {asked!r}: {listed}; name one by its address.")
        return self._function(asked, found[0] if found else find_address(self._machine, asked))

    def places(self, asked: str) -> list[int]:
        """Addresses of instructions that are meant: a function's first, one by its address, or all at which code of a
        line begins (several where the compiler divided or inlined it). Raises SymbolError for none."""
        line = _LINE.fullmatch(asked)
        if line is not None:
            return self._line_starts(line["file"], int(line["line"]))
        if asked.lower().startswith("0x"):
            return [code_address(find_address(self._machine, asked))]
        return [self.find(asked).address]

    def _at_address(self, asked: str, address: int) -> Function:
        start = self._start(address)
        if start not in {None, address}:
            name = self._function(asked, start or 0).name
            raise SymbolError(f"{asked} lies inside {name}, which begins at {start:#x}; name that.")
        return self._function(asked, address)

    def _at_line(self, asked: str, file: str, line: int) -> Function:
        starts = {self._start(place) for place in self._line_starts(file, line)}
        found = sorted(start for start in starts if start is not None)
        if len(found) > 1:
            listed = self._listed(asked, found)
            raise SymbolError(f"{asked} is in {len(found)} functions, by inlining: {listed}; name the one meant.")
        if not found:
            raise SymbolError(f"{asked} lies in no function that has a symbol; name it by its address.")
        return self._function(asked, found[0])

    def _line_starts(self, file: str, line: int) -> list[int]:
        places, lines = self._lines.of(file, line)
        if not lines:
            raise SymbolError(
                f"The image has no code of {file}; it must be built with -g, and the file be named as there."
            )
        if not places:
            place = bisect_left(lines, line)
            near = " and ".join(str(each) for each in lines[max(0, place - 1) : place + 1])
            raise SymbolError(f"No code comes from line {line} of {file}; the nearest lines with code: {near}.")
        return places

    def _start(self, address: int) -> int | None:
        """Where the function that holds an address begins; None if no symbol says."""
        for start, size, _ in self._symbols:
            if start <= address < start + size or start == address:
                return start
        return None

    def _function(self, asked: str, address: int) -> Function:
        names = [name for start, _, name in self._symbols if start == address]
        if not names:
            name = asked if self._machine.symbol(asked) is not None else f"{address:#010x}"
            return Function((asked,), name, address)
        name = asked if asked in names else names[0]
        return Function((asked,), name, address, tuple(sorted(set(names) - {name})))

    def _listed(self, asked: str, addresses: Sequence[int]) -> str:
        shown = []
        for address in addresses[:_LISTED]:
            source = next(iter(self._lines.at(address)), "")
            name = self._function(asked, address).name
            shown.append(f"{name} {address:#x}" + (f" ({source})" if source else ""))
        return ", ".join(shown) + (", ..." if len(addresses) > _LISTED else "")


def _data(elf: Path) -> frozenset[str]:
    """Names of variables and constants that are no function's name as well."""
    try:
        symbols = read_elf(elf).symbols
    except ImageFileError:  # a UF2 file, or stripped
        return frozenset()
    functions = {symbol.name for symbol in symbols if symbol.is_function}
    return frozenset({symbol.name for symbol in symbols if not symbol.is_function} - functions)
