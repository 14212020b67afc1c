"""Names addresses and nodes: functions, call paths, source lines."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtoslab.instruments.lines import NOWHERE, Source, sources
from rtoslab.instruments.records import NO_NODE
from rtoslab.targets import first_symbol_per_address

INLINED = " [inlined]"
"""After the name of a function that has no code of its own there."""


class Names:
    """The names that an image gives its addresses, and the paths that an observer saw."""

    def __init__(
        self, elf: Path, symbols: Sequence[tuple[int, int, str]], nodes: NDArray[np.void], pcs: Sequence[int]
    ) -> None:
        """`pcs`: every address whose source will be asked for."""
        self._symbols = first_symbol_per_address(symbols)
        self._starts = [address for address, _, _ in self._symbols]
        self._paths = self._all_paths(nodes)
        self._sources = sources(elf, pcs)

    def function(self, address: int) -> str:
        """The function that holds an address. The address rounded down where no symbol reaches."""
        index = bisect_right(self._starts, address) - 1
        if index >= 0:
            start, size, name = self._symbols[index]
            if not size or address < start + size:
                return name
        return f"{address & ~0xFF:#010x}"

    def begins(self, address: int) -> bool:
        """Whether the address is a function's first."""
        index = bisect_right(self._starts, address) - 1
        return index >= 0 and self._starts[index] == address

    def source(self, pc: int) -> Source:
        """Its source line and the functions inlined there."""
        return self._sources.get(pc, NOWHERE)

    def stack(self, node: int, pc: int) -> tuple[str, ...]:
        """The call path, outermost first, to the function whose code the instruction is."""
        path = self._paths[node] if node < len(self._paths) else ()
        here = self.function(pc)
        if not path or path[-1].partition(" [")[0] != here:
            path = (*path, here)
        return (*path, *(name + INLINED for name in self.source(pc).inlined))

    def below(self, nodes: NDArray[np.void], begins: Callable[[int, int], bool]) -> frozenset[str]:
        """The functions on and below every node that `begins` says yes to, by its entry and exception."""
        inside: list[bool] = []
        names = set()
        for parent, entry, exception in nodes.tolist():
            inside.append(begins(entry, exception) or (parent != NO_NODE and inside[parent]))
            if inside[-1]:
                names.add(self.function(entry))
        return frozenset(names)

    def _all_paths(self, nodes: NDArray[np.void]) -> list[tuple[str, ...]]:
        paths: list[tuple[str, ...]] = []
        for parent, entry, exception in nodes.tolist():
            name = self.function(entry) + (f" [exception {exception}]" if exception else "")
            paths.append((name,) if parent == NO_NODE else (*paths[parent], name))
        return paths
