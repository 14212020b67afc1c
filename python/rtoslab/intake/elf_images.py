"""ELF images from outside: sections and symbols of a 32-bit little-endian ARM file. Every number in it is checked.

The module refuses overlapping tables, offsets after the end of the file, sizes of gigabytes, and names without an end.
pyelftools follows all of these slowly, and raises errors of many types. So pyelftools reads only debug information,
inside `open_elf_file`."""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rtoslab.base import RtoslabError
from rtoslab.intake.limits import NAME_CHARS, SYMBOLS
from rtoslab.intake.symbol_names import demangle_function_name

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
"""A section number from here on means that the file has more sections than the field can hold."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """One section header of an ELF file, with its name from the string table."""

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
        """Whether the file contains the section's bytes."""
        return self.kind != _NOBITS


@dataclass(frozen=True, slots=True)
class ElfSegment:
    """One loaded segment of an ELF file."""

    offset: int
    """Its place in the file."""
    address: int
    load_address: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """One row of an ELF file's symbol table."""

    name: str
    """The name in the source, without mangling."""
    value: int
    size: int
    kind: int
    """0 none, 1 object, 2 function."""
    is_local: bool
    is_weak: bool


class ElfFile:
    """A 32-bit ARM ELF file, read with checks. Every method raises ValueError with a clause that says what is wrong."""

    def __init__(self, data: bytes) -> None:
        """Reads the headers. Raises ValueError if it is no 32-bit ARM ELF, not linked, or cut short."""
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
            raise ValueError("it is not for a little-endian 32-bit ARM core")
        if kind != _EXECUTABLE:
            raise ValueError("it is not linked")
        if sections >= _EXTENDED or (segments and segment_bytes != _SEGMENT.size):
            raise ValueError("its headers have an unknown format")
        if sections and section_bytes != _SECTION.size:
            raise ValueError("its headers have an unknown format")
        self._data = data
        rows = [_SECTION.unpack(row) for row in self._table_rows(sections_at, sections, _SECTION.size, "sections")]
        strings = self._elf_section_name_table(rows, names) if rows else b""
        self.sections = tuple(
            ElfSection(_string_table_text(strings, row[0]), row[1], row[2], row[3], row[4], row[5], row[6], row[9])
            for row in rows
        )
        self.segments = tuple(
            ElfSegment(row[1], row[2], row[3], row[4])
            for item in self._table_rows(segments_at, segments, _SEGMENT.size, "segments")
            if (row := _SEGMENT.unpack(item))[0] == _LOAD
        )

    def find_elf_section(self, name: str) -> ElfSection | None:
        """Returns the first section of that name, or None."""
        return next((elf_section for elf_section in self.sections if elf_section.name == name), None)

    def section_bytes(self, section: ElfSection) -> bytes:
        """Returns a section's bytes. Empty if the file does not contain them. Raises ValueError if they end after the
        file."""
        if not section.has_contents:
            return b""
        if section.offset + section.size > len(self._data):
            raise ValueError(f"section {section.name} ends after the end of the file")
        return self._data[section.offset : section.offset + section.size]

    def symbols(self) -> Iterator[ElfSymbol]:
        """Yields the symbols in the first symbol table. None in a stripped file."""
        table = next((section for section in self.sections if section.kind == _SYMTAB), None)
        if table is None:
            return
        count, rest = divmod(table.size, _SYMBOL.size)
        if rest or table.entry_bytes != _SYMBOL.size or table.link >= len(self.sections):
            raise ValueError("its symbol table has an unknown format")
        if count > SYMBOLS:
            raise ValueError(f"it has more than {SYMBOLS:,} symbols")
        yield from _parse_elf_symbol_table(self.section_bytes(self.sections[table.link]), self.section_bytes(table))

    def _table_rows(self, offset: int, count: int, size: int, contents: str) -> list[bytes]:
        """Returns the rows of a table in the file as bytes. `contents` names the table in an error."""
        if offset + count * size > len(self._data):
            raise ValueError(f"its table of {contents} ends after the end of the file")
        return [self._data[place : place + size] for place in range(offset, offset + count * size, size)]

    def _elf_section_name_table(self, rows: list[tuple[int, ...]], number: int) -> bytes:
        """Returns the texts of all section names, which are in section `number`. `rows`: the section headers."""
        if number >= len(rows):
            raise ValueError("its sections have no names")
        offset, size = rows[number][4], rows[number][5]
        if offset + size > len(self._data):
            raise ValueError("the names of its sections end after the end of the file")
        return self._data[offset : offset + size]


@lru_cache(maxsize=2)
def compilers_named_in_image(image: bytes) -> str:
    """Returns the compilers that an image names in its `.comment` section. Empty without one, or if it is no ELF
    file."""
    try:
        elf = ElfFile(image)
        section = elf.find_elf_section(".comment")
        texts = set(elf.section_bytes(section).split(b"\0")) - {b""} if section else set()
    except ValueError:
        return ""
    return "; ".join(sorted(text.decode("ascii", "replace") for text in texts))


def _parse_elf_symbol_table(names: bytes, rows: bytes) -> tuple[ElfSymbol, ...]:
    """Returns the symbols in a table. `names`: the texts of their names. Cached, for a point reads its image's symbols
    more than once."""
    return tuple(
        ElfSymbol(
            demangle_function_name(_string_table_text(names, name)),
            value,
            size,
            info & 15,
            info >> 4 == 0,
            info >> 4 == _WEAK,
        )
        for name, value, size, info, _, _ in _SYMBOL.iter_unpack(rows)
    )


def _string_table_text(strings: bytes, offset: int) -> str:
    """Returns the zero-terminated text at an offset of a string table. Raises ValueError if it has no end."""
    end = strings.find(b"\0", offset, offset + NAME_CHARS + 1)
    if offset > len(strings) or (end < 0 and strings):
        raise ValueError("a name in it has no end")
    return strings[offset : max(end, 0)].decode("utf-8", errors="replace") if strings else ""


@contextmanager
def open_elf_file(image: bytes, name: str, error: type[RtoslabError]) -> Iterator["ELFFile"]:
    """Opens the bytes of an image with pyelftools, for its debug information.

    Raises `error` in place of any error of pyelftools, also if a read inside the block meets it.
    """
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 (slow to import; most commands need none)

    with convert_debug_errors(name, error):
        yield ELFFile(io.BytesIO(image))


@contextmanager
def convert_debug_errors(name: str, error: type[RtoslabError]) -> Iterator[None]:
    """Converts any error of pyelftools inside the block to `error`. pyelftools reads parts of the file only when they
    are used."""
    try:
        yield
    except RtoslabError:
        raise
    except Exception as cause:  # noqa: BLE001 (it raises what it meets: KeyError, struct.error, AttributeError …)
        reason = (str(cause).splitlines() or [""])[0][:200].rstrip(".") or type(cause).__name__
        raise error(f"{name} has damaged debug information ({reason}); build or copy it again.") from None
