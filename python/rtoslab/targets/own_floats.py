"""Finds the firmware's own functions that calculate in floating point.

The floating-point contexts do not always show whether the benchmark uses the floating-point unit. A handler that uses
the unit may interrupt code that did not. In some kernels the compiler moves pairs of words through floating-point
registers, so each task that calls them has a context.

Loads and stores do not count, because the compiler moves integers by them, too. Encodings: ARMv7-M Architecture
Reference Manual, A6.4 to A6.9 (data processing of coprocessors 10 and 11, transfers between them and the core).
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from rtoslab.base import without_thumb_bit
from rtoslab.intake import ElfFile, ElfSymbol
from rtoslab.targets.own_code import FirmwareCodeAddressRanges

_FUNC: Final = 2
_WIDE: Final = 0b11101 << 11
"""Instructions from here on have two halfwords."""
_CALCULATES: Final = (0xEE, 0xFE)
"""The upper byte of a coprocessor's instruction that is neither a load nor a store."""
_FLOATING_POINT: Final = (10, 11)
"""The coprocessors that are the floating-point unit."""


def functions_with_float_code(image: bytes) -> tuple[str, ...]:
    """Returns the names of the firmware's own functions that contain a floating-point calculation."""
    try:
        elf = ElfFile(image)
        symbols = list(elf.symbols())
        parts = [(section.address, elf.section_bytes(section)) for section in elf.sections if section.has_contents]
    except ValueError:
        return ()
    ours, pools = FirmwareCodeAddressRanges(image), _InlineDataAddressRanges(symbols)
    functions = {
        (without_thumb_bit(symbol.value), symbol.size, symbol.name)
        for symbol in symbols
        if symbol.kind == _FUNC and symbol.size
    }
    names = set()
    for start, size, name in functions:
        code = next((data[start - at :][:size] for at, data in parts if at and at <= start < at + len(data)), b"")
        if ours.contains_address(start) and _has_float_instruction(start, code, pools):
            names.add(name)
    return tuple(sorted(names))


def _has_float_instruction(start: int, code: bytes, pools: "_InlineDataAddressRanges") -> bool:
    """Whether the code from address `start` on contains a floating-point calculation. `pools` are data between
    instructions."""
    at = 0
    while at + 2 <= len(code):
        first = int.from_bytes(code[at : at + 2], "little")
        if pools.contains_address(start + at):
            at += 2
            continue
        second = int.from_bytes(code[at + 2 : at + 4], "little")
        if first >> 8 in _CALCULATES and second >> 8 & 0xF in _FLOATING_POINT:
            return True
        at += 4 if first >= _WIDE else 2
    return False


class _InlineDataAddressRanges:
    """The ranges of data between instructions, from the assembler's mapping symbols (`$d` begins data, `$t` code)."""

    def __init__(self, symbols: Sequence[ElfSymbol]) -> None:
        maps = sorted(
            (symbol.value, symbol.name[1] == "d") for symbol in symbols if symbol.name.startswith(("$t", "$d"))
        )
        self._starts = [start for start, _ in maps]
        self._are_data = [is_data for _, is_data in maps]

    def contains_address(self, address: int) -> bool:
        """Whether an address is in data between instructions."""
        index = bisect_right(self._starts, address) - 1
        return index >= 0 and self._are_data[index]
