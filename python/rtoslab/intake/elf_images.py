"""ELF images from outside: sections and symbols of a 32-bit little-endian ARM file, read with no number believed.

The traps: tables that lie over each other, offsets after the end, sizes of gigabytes, names that never end; a general
reader follows them all, slowly, and raises whatever it meets. Debug information is left to one, inside `debug`.
"""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rtoslab.base import RtoslabError
from rtoslab.intake.limits import NAME_CHARS, SYMBOLS
from rtoslab.intake.symbol_names import readable_name

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

MAGIC: Final = b"\x7fELF"
_HEADER: Final = struct.Struct("<16sHHIIIIIHHHHHH")
_SEGMENT: Final = struct.Struct("<8I")
_SECTION: Final = struct.Struct("<10I")
_SYMBOL: Final = struct.Struct("<IIIBBH")
_ARM: Final = 40
_EXECUTABLE: Final = 2
_LOAD: Final = 1
_SYMTAB: Final = 2
_NOBITS: Final = 8
_WEAK: Final = 2
_EXTENDED: Final = 0xFF00
"""Numbers of sections from here on mean that the file has more than fit."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section's header as the file has it. `name` is read."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    entry_bytes: int

    @property
    def has_contents(self) -> bool:
        """Whether the file holds its bytes."""
        return self.kind != _NOBITS


@dataclass(frozen=True, slots=True)
class ElfSegment:
    """A loaded segment."""

    offset: int
    """In the file."""
    address: int
    load_address: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """One row of the symbol table."""

    name: str
    """As the source has it."""
    value: int
    size: int
    kind: int
    """0 none, 1 object, 2 function."""
    is_local: bool
    is_weak: bool


class Elf:
    """One file. Every method raises ValueError with a clause that says what is wrong."""

    def __init__(self, data: bytes) -> None:
        """Raises ValueError: no 32-bit ARM ELF, not linked, or its tables do not be in it."""
        if len(data) < _HEADER.size:
            raise ValueError("it is cut short")
        (
            ident,
            kind,
            machine,
            _,
            _,
            segments_at,
            sections_at,
            _,
            _,
            segment_bytes,
            segments,
            section_bytes,
            sections,
            (names),
        ) = _HEADER.unpack_from(data)
        if ident[4:6] != b"\x01\x01" or machine != _ARM:
            raise ValueError("it is not for a 32-bit ARM core")
        if kind != _EXECUTABLE:
            raise ValueError("it is not linked")
        if sections >= _EXTENDED or (segments and segment_bytes != _SEGMENT.size):
            raise ValueError("its headers are of no known form")
        if sections and section_bytes != _SECTION.size:
            raise ValueError("its headers are of no known form")
        self._data = data
        rows = [_SECTION.unpack(row) for row in self._rows(sections_at, sections, _SECTION.size, "sections")]
        strings = self._strings(rows, names) if rows else b""
        self.sections = tuple(
            ElfSection(_text(strings, row[0]), row[1], row[2], row[3], row[4], row[5], row[6], row[9]) for row in rows
        )
        self.segments = tuple(
            ElfSegment(row[1], row[2], row[3], row[4])
            for item in self._rows(segments_at, segments, _SEGMENT.size, "segments")
            if (row := _SEGMENT.unpack(item))[0] == _LOAD
        )

    def section(self, name: str) -> ElfSection | None:
        """The first of that name."""
        return next((elf_section for elf_section in self.sections if elf_section.name == name), None)

    def contents(self, section: ElfSection) -> bytes:
        """Its bytes."""
        if not section.has_contents:
            return b""
        if section.offset + section.size > len(self._data):
            raise ValueError(f"section {section.name} ends behind the end of the file")
        return self._data[section.offset : section.offset + section.size]

    def symbols(self) -> Iterator[ElfSymbol]:
        """Those of its first symbol table. None if it was stripped."""
        table = next((section for section in self.sections if section.kind == _SYMTAB), None)
        if table is None:
            return
        count, rest = divmod(table.size, _SYMBOL.size)
        if rest or table.entry_bytes != _SYMBOL.size or table.link >= len(self.sections):
            raise ValueError("its symbol table is of no known form")
        if count > SYMBOLS:
            raise ValueError(f"it has more than {SYMBOLS:,} symbols")
        yield from _symbols(self.contents(self.sections[table.link]), self.contents(table))

    def _rows(self, offset: int, count: int, size: int, what: str) -> list[bytes]:
        if offset + count * size > len(self._data):
            raise ValueError(f"its table of {what} ends behind the end of the file")
        return [self._data[place : place + size] for place in range(offset, offset + count * size, size)]

    def _strings(self, rows: list[tuple[int, ...]], number: int) -> bytes:
        if number >= len(rows):
            raise ValueError("its sections have no names")
        offset, size = rows[number][4], rows[number][5]
        if offset + size > len(self._data):
            raise ValueError("the names of its sections end behind the end of the file")
        return self._data[offset : offset + size]


@lru_cache(maxsize=2)
def _symbols(names: bytes, rows: bytes) -> tuple[ElfSymbol, ...]:
    """A point asks for its image's symbols more than once."""
    return tuple(
        ElfSymbol(readable_name(_text(names, name)), value, size, info & 15, info >> 4 == 0, info >> 4 == _WEAK)
        for name, value, size, info, _, _ in _SYMBOL.iter_unpack(rows)
    )


def _text(strings: bytes, place: int) -> str:
    end = strings.find(b"\0", place, place + NAME_CHARS + 1)
    if place > len(strings) or (end < 0 and strings):
        raise ValueError("a name in it has no end")
    return strings[place : max(end, 0)].decode("utf-8", errors="replace") if strings else ""


@contextmanager
def debug(image: bytes, name: str, error: type[RtoslabError]) -> Iterator["ELFFile"]:
    """The general reader's view of an image, for its debug information, while the block lasts.

    Raises `error` for whatever that reader raises on damage, wherever the block meets it.
    """
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 (slow to import; most commands need none)

    with debug_errors(name, error):
        yield ELFFile(io.BytesIO(image))


@contextmanager
def debug_errors(name: str, error: type[RtoslabError]) -> Iterator[None]:
    """Turns whatever the general reader raises into `error`: it reads on as its view is used."""
    try:
        yield
    except RtoslabError:
        raise
    except Exception as cause:  # noqa: BLE001 (it raises what it meets: KeyError, struct.error, AttributeError …)
        reason = (str(cause).splitlines() or [""])[0][:200].rstrip(".") or type(cause).__name__
        raise error(f"{name} has damaged debug information ({reason}); build or copy it again.") from None
