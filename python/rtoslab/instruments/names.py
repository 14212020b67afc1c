"""Names addresses and nodes: functions, call paths, source lines."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.instruments.lines import NOWHERE, InlinedSourceLine, find_source_lines
from rtoslab.instruments.records import NO_NODE
from rtoslab.targets import SymbolIndex

_UNNAMED_BYTES: Final = 0xFF
"""The bits of an address inside a piece of code that has no symbol."""
INLINED = " [inlined]"
"""After the name of a function that has no code of its own there."""


class ImageAddressNameFinder:
    """Finds names for the addresses of an image, and for its recorded call paths."""

    def __init__(
        self, elf: Path, symbols: Sequence[tuple[int, int, str]], nodes: NDArray[np.void], pcs: Sequence[int]
    ) -> None:
        """`pcs`: every address whose source will be requested."""
        self._symbols = SymbolIndex(symbols)
        self._paths = self._call_paths_by_number(nodes)
        self._sources = find_source_lines(elf, pcs)

    def function_name_at(self, address: int) -> str:
        """Returns the name of the function that contains an address. If no symbol covers the address, returns the 256
        bytes around it, as `0x08000200..0x080002ff`. Only one address would look like that of a function."""
        symbol = self._symbols.find_symbol(address)
        if symbol is None:
            first = address & ~_UNNAMED_BYTES
            return f"{first:#010x}..{first | _UNNAMED_BYTES:#010x}"
        return symbol[2]

    def is_function_start(self, address: int) -> bool:
        """Whether the address is the first one of a function."""
        symbol = self._symbols.find_symbol(address)
        return symbol is not None and symbol[0] == address

    def source_line_at(self, pc: int) -> InlinedSourceLine:
        """Returns the source line of the instruction at an address, and the functions inlined there."""
        return self._sources.get(pc, NOWHERE)

    def call_path(self, node: int, pc: int) -> tuple[str, ...]:
        """Returns the call path of an instruction, outermost function first. `node` is the number of the recorded path,
        `pc` the address."""
        path = self._paths[node] if node < len(self._paths) else ()
        here = self.function_name_at(pc)
        if not path or path[-1].partition(" [")[0] != here:
            path = (*path, here)
        return (*path, *(name + INLINED for name in self.source_line_at(pc).inlined))

    def functions_called_from(self, nodes: NDArray[np.void], is_root: Callable[[int, int], bool]) -> frozenset[str]:
        """Returns the names of all functions that were called, directly or not, from a function for which
        `is_root(entry, exception)` is true."""
        inside: list[bool] = []
        names = set()
        for parent, entry, exception in nodes.tolist():
            inside.append(is_root(entry, exception) or (parent != NO_NODE and inside[parent]))
            if inside[-1]:
                names.add(self.function_name_at(entry))
        return frozenset(names)

    def _call_paths_by_number(self, nodes: NDArray[np.void]) -> list[tuple[str, ...]]:
        """Returns the recorded call paths by their numbers, outermost function first."""
        paths: list[tuple[str, ...]] = []
        for parent, entry, exception in nodes.tolist():
            name = self.function_name_at(entry) + (f" [exception {exception}]" if exception else "")
            paths.append((name,) if parent == NO_NODE else (*paths[parent], name))
        return paths
