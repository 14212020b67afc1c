"""Digests that show whether a function is the same code in two images, wherever its code and data are.

The bytes of a function differ between two places where they refer to other places: branches to other functions, and
addresses in its literal pool (or in MOVW/MOVT pairs). Each reference is replaced by its target: the name of a
function or object and the distance in it, or the text of an unnamed constant. The remaining bytes must be equal.

Encodings: ARMv7-M Architecture Reference Manual, A7.7.12 (B), A7.7.18 (BL), A7.7.76 and A7.7.79 (MOV, MOVT)."""

import hashlib
import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import without_thumb_bit
from rtoslab.images.elf import unreadable_elf_error
from rtoslab.intake import ElfFile, ElfSection, ElfSymbol, read_program_image

DIGITS: Final = 16
"""Hexadecimal digits of a digest: enough to tell the functions of two images apart."""
_ALLOC: Final = 2
_NOTYPE, _OBJECT, _FUNC = 0, 1, 2
_WIDE: Final = 0b11101 << 11
"""Instructions from here on have two halfwords."""
_LOADS_LITERAL: Final = 0b01001
_MOVT: Final = 0xF2C0
_MOST_OBJECTS: Final = 400
_OBJECT_DIGITS: Final = 8
_MEMORY_PART_BITS: Final = 16
"""An object may move within 64 KiB: banks and tightly coupled memories are as large or larger."""
_TEXT_BYTES: Final = 64
"""The compared bytes of a constant without a name, up to its first zero byte."""


def function_code_digests(path: Path, names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Returns the digest and the address of each of these functions. Names that the ELF file does not have exactly once
    are left out.

    Raises ImageFileError.
    """
    try:
        image = _DigestedImage(ElfFile(read_program_image(path)))
        names_left = set(names)
        return {
            function.name: (image.function_digest(function), function.start)
            for function in image.functions
            if function.name in names_left
        }
    except ValueError as cause:
        raise unreadable_elf_error(path, cause) from None


def data_object_digests(path: Path) -> dict[str, str]:
    """Returns the digest of each named object of an image: its first content, and the part of the memory in which it
    is. Objects of the same name are one. If there are more than a few hundred, those of a section are one.

    Raises ImageFileError.
    """
    try:
        image = _DigestedImage(ElfFile(read_program_image(path)))
        parts: dict[str, list[bytes]] = {}
        by_section = len(image.objects) > _MOST_OBJECTS
        for item in image.objects:
            section = image.find_elf_section_at_address(item.start)
            if section is not None:
                name = section.name if by_section else item.name
                parts.setdefault(name, []).append(image.initial_content_of_data_object(item))
        return {name: hashlib.sha256(b"".join(part)).hexdigest()[:_OBJECT_DIGITS] for name, part in parts.items()}
    except ValueError as cause:
        raise unreadable_elf_error(path, cause) from None


@dataclass(frozen=True, slots=True)
class _NamedAddressRange:
    """The name and the addresses of a function or object."""

    start: int
    end: int
    name: str


class _DigestedImage:
    """The symbols and contents of an image, for digests of its functions."""

    def __init__(self, elf: ElfFile) -> None:
        self.sections = [section for section in elf.sections if section.flags & _ALLOC and section.size]
        self.contents = {
            section.address: elf.section_bytes(section) for section in self.sections if section.has_contents
        }
        symbols = list(elf.symbols())
        self.ranges = sorted(_named_address_ranges(symbols), key=lambda item: (item.start, -item.end))
        self.starts = [item.start for item in self.ranges]
        plain = (symbol for symbol in symbols if symbol.kind == _NOTYPE and not symbol.name.startswith("$"))
        self.labels = {elf_symbol.value: elf_symbol.name for elf_symbol in plain}
        maps = sorted(
            (symbol.value, symbol.name[1] == "d") for symbol in symbols if symbol.name.startswith(("$t", "$d", "$a"))
        )
        self.map_starts, self.map_data = [place for place, _ in maps], [is_data for _, is_data in maps]
        self.objects = sorted(
            (
                _NamedAddressRange(symbol.value, symbol.value + symbol.size, symbol.name)
                for symbol in symbols
                if symbol.kind == _OBJECT and symbol.size
            ),
            key=lambda item: (item.start, item.end, item.name),
        )
        once = _functions_at_one_address(symbols)
        self.functions = [item for item in self.ranges if item.name in once]

    def function_digest(self, function: _NamedAddressRange) -> str:
        """Returns the digest of a function, which is the same wherever its code and data are placed."""
        return hashlib.sha256(b"".join(self._position_independent_function_bytes(function))).hexdigest()[:DIGITS]

    def find_elf_section_at_address(self, address: int) -> ElfSection | None:
        """Returns the section of memory that contains an address. None if there is none."""
        inside = (section for section in self.sections if 0 <= address - section.address < section.size)
        return next(inside, None)

    def initial_content_of_data_object(self, item: _NamedAddressRange) -> bytes:
        """Returns an object's first content with each address replaced by its target, its size, and the part of the
        memory in which it begins."""
        place = f"{item.start >> _MEMORY_PART_BITS}:{item.end - item.start}:".encode()
        section = self.find_elf_section_at_address(item.start)
        if section is None or section.address not in self.contents:
            return place
        content = self._read_bytes(item.start, item.end - item.start)
        words = [content[at : at + 4] for at in range(0, len(content), 4)]
        is_aligned = not item.start % 4
        return place + b"".join(
            (is_aligned and len(word) == 4 and self._symbolic_address_text(int.from_bytes(word, "little"))) or word
            for word in words
        )

    def _position_independent_function_bytes(self, function: _NamedAddressRange) -> Iterator[bytes]:
        """Yields a function's bytes in which each reference is replaced by its target, so that the placement does not
        matter."""
        start, end, code = function.start, function.end, self._function_bytes(function)
        moved = self._movw_movt_replacements(function) if _may_contain_movt(code) else {}
        at = changes = start
        is_data = False
        while at < end:
            if at >= changes:
                is_data, changes = self._data_flag_and_next_change_address(at)
            place = at - start
            if is_data:
                size = 4 if at % 4 == 0 and at + 4 <= end else 2
                part = code[place : place + size]
                yield (self._symbolic_address_text(int.from_bytes(part, "little")) if size == 4 else None) or part
            else:
                first = int.from_bytes(code[place : place + 2], "little")
                size = 4 if first >= _WIDE else 2
                part = code[place : place + size]
                yield moved.get(at) or (self._branch_target_name(at, part, function) if size == 4 else None) or part
                if size == 4 or first >> 11 == _LOADS_LITERAL:
                    pool = literal_load_address(at, part)
                    if pool is not None and not start <= pool < end:  # an assembler's, after its end
                        yield self._literal_pool_word(pool)
            at += size

    def _function_bytes(self, function: _NamedAddressRange) -> bytes:
        """Returns a function's bytes, and the halfword after it if there is one, so that any last instruction can be
        decoded."""
        code_ = b""
        while len(code_) < function.end - function.start:
            more = self._read_bytes(function.start + len(code_), function.end + 2 - function.start - len(code_))
            if not more:
                raise ValueError("a function is outside its sections")
            code_ += more
        return code_

    def _literal_pool_word(self, at: int) -> bytes:
        """Returns the word at an address of a literal pool. If it is an address itself, what it points at is
        returned."""
        word = self._read_bytes(at, 4)
        return self._symbolic_address_text(int.from_bytes(word, "little")) or word

    def _branch_target_name(self, at: int, code: bytes, function: _NamedAddressRange) -> bytes | None:
        """Returns the name of the function that a branch leads to, as bytes. None for other instructions and branches
        within the function."""
        target = branch_target_address(at, code)
        if target is None or function.start <= target < function.end:
            return None
        kind = int.from_bytes(code[2:4], "little") & 0xD000
        place = self._symbolic_address_text(target)
        return None if place is None else kind.to_bytes(2, "little") + place

    def _movw_movt_replacements(self, function: _NamedAddressRange) -> dict[int, bytes]:
        """Returns, by address, what replaces each MOVW and MOVT that together load an address: what this address points
        at."""
        moved: dict[int, bytes] = {}
        low: dict[int, tuple[int, int]] = {}
        at = function.start
        while at < function.end:
            first = int.from_bytes(self._read_bytes(at, 2), "little")
            if self._data_flag_and_next_change_address(at)[0] or first < _WIDE:
                at += 2
                continue
            half = decode_movw_movt(self._read_bytes(at, 4))
            if half is not None:
                is_top, register, value = half
                if not is_top:
                    low[register] = (at, value)
                elif register in low:
                    place = self._symbolic_address_text(value << 16 | low[register][1])
                    if place is not None:
                        moved[low[register][0]] = b"low" + bytes([register]) + place
                        moved[at] = b"top" + bytes([register]) + place
            at += 4
        return moved

    def _symbolic_address_text(self, value: int) -> bytes | None:
        """Returns what an address points at, as bytes of text. None for a number that is no address in the image."""
        section = next(
            (
                elf_section
                for elf_section in self.sections
                if elf_section.address <= value <= elf_section.address + elf_section.size
            ),
            None,
        )
        if section is None:
            return None
        index = bisect_right(self.starts, value) - 1
        holder = self.ranges[index] if index >= 0 else None
        if holder is not None and value < holder.end:
            return f"@{_function_behind_veneer(holder.name)}+{value - holder.start}".encode()
        if value in self.labels:
            return f"@{self.labels[value]}".encode()
        return b"@" + self._unnamed_constant_bytes(section, value)

    def _unnamed_constant_bytes(self, section: ElfSection, value: int) -> bytes:
        """Returns the first bytes of a constant without a name, at the address `value`. For memory without contents,
        the section's name."""
        content = self.contents.get(section.address)
        if content is None:
            return section.name.encode()
        begin = value - section.address
        return content[begin : begin + _TEXT_BYTES].partition(b"\0")[0]

    def _data_flag_and_next_change_address(self, at: int) -> tuple[bool, int]:
        """Returns whether there is data (not code) at an address, and the next address where this changes."""
        index = bisect_right(self.map_starts, at)
        return index > 0 and self.map_data[index - 1], (*self.map_starts[index : index + 1], 1 << 32)[0]

    def _read_bytes(self, at: int, size: int) -> bytes:
        """Returns up to `size` bytes from an address on, within its section. Raises ValueError outside all sections."""
        for section in self.sections:
            if section.address <= at < section.address + section.size and section.address in self.contents:
                begin = at - section.address
                return self.contents[section.address][begin : begin + size]
        raise ValueError("a function is outside its sections")


def _may_contain_movt(code: bytes) -> bool:
    """Whether one of the halfwords of the code may begin a MOVT instruction."""
    return any(halfword & 0xFBF0 == _MOVT for (halfword,) in struct.iter_unpack("<H", code[: len(code) & ~1]))


def branch_target_address(at: int, code: bytes) -> int | None:
    """Returns the address that a 32-bit Thumb branch (BL, B.W, conditional B.W) at the address `at` leads to. None for
    any other instruction."""
    first, second = int.from_bytes(code[:2], "little"), int.from_bytes(code[2:4], "little")
    if first >> 11 != 0b11110 or not second >> 15:
        return None
    sign, j1, j2 = first >> 10 & 1, second >> 13 & 1, second >> 11 & 1
    if second >> 12 & 1:  # BL, B.W
        i1, i2 = 1 ^ j1 ^ sign, 1 ^ j2 ^ sign
        offset = sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1
        return at + 4 + offset - (sign << 25)
    if second >> 14 & 1 or first >> 7 & 7 == 7:  # BLX, or no branch at all: MSR, MRS, barriers, hints
        return None
    offset = sign << 20 | j2 << 19 | j1 << 18 | (first & 0x3F) << 12 | (second & 0x7FF) << 1
    return at + 4 + offset - (sign << 21)


def literal_load_address(at: int, code: bytes) -> int | None:
    """Returns the address from which a Thumb LDR (literal) at the address `at` reads. None for any other instruction
    (A7.7.43)."""
    first = int.from_bytes(code[:2], "little")
    base = (at + 4) & ~3
    if first >> 11 == 0b01001:
        return base + (first & 0xFF) * 4
    if len(code) == 4 and first & 0xFF7F == 0xF85F:
        offset = int.from_bytes(code[2:4], "little") & 0xFFF
        return base + offset if first >> 7 & 1 else base - offset
    return None


def decode_movw_movt(code: bytes) -> tuple[bool, int, int] | None:
    """Returns the parts of a MOVW or MOVT: whether it is MOVT, its register, its 16 bits. None for any other
    instruction."""
    first, second = int.from_bytes(code[:2], "little"), int.from_bytes(code[2:4], "little")
    if first & 0xFB70 != 0xF240 or second >> 15:
        return None
    value = (first & 0xF) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
    return bool(first >> 7 & 1), second >> 8 & 0xF, value


def _named_address_ranges(symbols: Iterable[ElfSymbol]) -> Iterator[_NamedAddressRange]:
    """Yields the addresses of the functions and objects that have a size."""
    for symbol in symbols:
        if symbol.kind in {_OBJECT, _FUNC} and symbol.size > 0:
            start = without_thumb_bit(symbol.value) if symbol.kind == _FUNC else symbol.value
            yield _NamedAddressRange(start, start + symbol.size, symbol.name)


def _functions_at_one_address(symbols: Iterable[ElfSymbol]) -> set[str]:
    """Returns the names of functions that are at one address only."""
    places = {(symbol.name, symbol.value) for symbol in symbols if symbol.kind == _FUNC and symbol.size}
    return {name for name, count in Counter(name for name, _ in places).items() if count == 1}


def _function_behind_veneer(name: str) -> str:
    """Returns the name of the function that a linker's veneer (a stub for far calls) leads to. Any other name is
    unchanged."""
    return name.removeprefix("__").removesuffix("_veneer") if name.endswith("_veneer") else name
