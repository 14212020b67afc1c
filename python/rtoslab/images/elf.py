"""Reads an ELF image as the linker wrote it: the sections that take memory, and their symbols.

A file that is no image, or that is cut short, gives one clear error, and never a part of a table."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import ImageFileError, without_thumb_bit
from rtoslab.intake import (
    MAGIC,
    ElfFile,
    ElfSection,
    ElfSegment,
    escape_to_one_line,
    printable_path,
    read_program_image,
)

_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
"""A section's flags."""
_NOTYPE, _OBJECT, _FUNC = 0, 1, 2
"""A symbol's kinds."""


@dataclass(frozen=True, slots=True)
class ElfOutputSection:
    """An output section of an ELF file that takes memory. Sizes in bytes."""

    name: str
    address: int
    """The address at run time."""
    load_address: int
    """The address at which its contents are programmed. Equal to `address` if it is not copied at start-up."""
    size: int
    has_contents: bool
    """False for memory that is cleared at start-up, or left alone."""
    writable: bool
    executable: bool

    @property
    def is_text(self) -> bool:
        """Whether the section is code or constants, unlike `.data` and `.bss`."""
        return self.executable or not self.writable

    @property
    def section_end_address(self) -> int:
        """Returns the first address after the section."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class ImageSymbol:
    """A function or an object: run-time address without the Thumb bit, size in bytes."""

    name: str
    address: int
    size: int
    is_function: bool
    is_global: bool
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class ElfImage:
    """The sections and symbols of an ELF file that take memory."""

    sections: tuple[ElfOutputSection, ...]
    symbols: tuple[ImageSymbol, ...]
    """Functions and objects with a size, by address."""
    constants: dict[str, int]
    """Symbols without a type or a size: values computed by the linker script, and labels of assembler code."""


def read_elf(path: Path) -> ElfImage:
    """Returns the sections and symbols of an ELF file.

    Raises ImageFileError if it cannot be read, is no 32-bit ARM ELF, is cut short or not linked, or has no symbols.
    """
    data = read_program_image(path)
    if data[:4] != MAGIC:
        raise ImageFileError(
            f"{printable_path(path)} is not an ELF file; give the image as the linker wrote it (image.elf)."
        )
    image = parse_elf(data, printable_path(path))
    if not image.symbols and not image.constants:
        raise ImageFileError(
            f"{printable_path(path)} has no symbols, so its functions are not known; give the image before it is "
            "stripped."
        )
    return image


def parse_elf(data: bytes, name: str) -> ElfImage:
    """Returns the sections and symbols from the bytes of an ELF file, which may lack symbols. Raises ImageFileError."""
    try:
        elf = ElfFile(data)
        sections = _find_allocated_sections(elf)
        if not sections:
            raise ValueError("no section of it uses memory")  # noqa: TRY301
        symbols, constants = _elf_symbols_and_constants(elf)
    except ValueError as cause:
        raise ImageFileError(f"{name} cannot be read as an ELF image ({cause}); build or copy it again.") from None
    return ElfImage(tuple(sorted(sections, key=lambda section: section.address)), symbols, constants)


def unreadable_elf_error(path: Path, cause: ValueError) -> ImageFileError:
    """Returns the error that says why a built image cannot be read as an ELF image."""
    return ImageFileError(f"{printable_path(path)} cannot be read as an ELF image ({cause}); build it again.")


def read_elf_sections(path: Path) -> tuple[ElfOutputSection, ...]:
    """Returns the sections of an ELF file that take memory. Raises ImageFileError."""
    try:
        return tuple(_find_allocated_sections(ElfFile(read_program_image(path))))
    except ValueError as cause:
        raise unreadable_elf_error(path, cause) from None


def do_images_differ(one: Path, other: Path) -> bool:
    """Whether the code, the data or their addresses differ between two ELF files. Debug information may differ.
    Raises ImageFileError."""
    return _memory_sections_with_contents(one) != _memory_sections_with_contents(other)


def _memory_sections_with_contents(path: Path) -> list[tuple[int, int, bytes | None]]:
    """Returns the address, the size in bytes and the contents of each section that takes memory. Raises
    ImageFileError."""
    try:
        elf = ElfFile(read_program_image(path))
        return sorted(
            (section.address, section.size, elf.section_bytes(section) if section.has_contents else None)
            for section in elf.sections
            if section.flags & _ALLOC and section.size
        )
    except ValueError as cause:
        raise unreadable_elf_error(path, cause) from None


def berkeley_sizes(sections: Iterable[ElfOutputSection]) -> dict[str, int]:
    """Returns the sizes in bytes named text, data and bss, as `arm-none-eabi-size` counts them: text includes
    constants."""
    sums = {"text": 0, "data": 0, "bss": 0}
    for section in sections:
        sums["text" if section.is_text else "data" if section.has_contents else "bss"] += section.size
    return sums


def _find_allocated_sections(elf: ElfFile) -> list[ElfOutputSection]:
    """Returns the sections that take memory. Raises ValueError if the contents of one are not all in the file."""
    sections = []
    for section in elf.sections:
        if not section.flags & _ALLOC or section.size == 0:
            continue
        if section.has_contents:
            elf.section_bytes(section)
        sections.append(
            ElfOutputSection(
                name=escape_to_one_line(section.name),
                address=section.address,
                load_address=_section_load_address(section, elf.segments) if section.has_contents else section.address,
                size=section.size,
                has_contents=section.has_contents,
                writable=bool(section.flags & _WRITE),
                executable=bool(section.flags & _EXECUTE),
            )
        )
    return sections


def _section_load_address(section: ElfSection, segments: Iterable[ElfSegment]) -> int:
    """Returns the address at which a section is programmed, by the segment that contains it."""
    for segment in segments:
        if (
            segment.address <= section.address
            and section.address + section.size <= segment.address + segment.file_bytes
        ):
            return segment.load_address + section.address - segment.address
    return section.address


def _elf_symbols_and_constants(elf: ElfFile) -> tuple[tuple[ImageSymbol, ...], dict[str, int]]:
    """Returns the functions and objects that have a size, and the values of all other symbols by name."""
    symbols: list[ImageSymbol] = []
    constants: dict[str, int] = {}
    for symbol in elf.symbols():
        sizeless = symbol.kind == _NOTYPE or (symbol.kind in {_OBJECT, _FUNC} and symbol.size == 0)
        if sizeless and symbol.name and not symbol.name.startswith("$"):  # $t, $d: the assembler's own
            constants[escape_to_one_line(symbol.name)] = symbol.value
        elif symbol.kind in {_OBJECT, _FUNC} and symbol.size > 0:
            is_function = symbol.kind == _FUNC
            address = without_thumb_bit(symbol.value) if is_function else symbol.value
            name = escape_to_one_line(symbol.name)
            symbols.append(ImageSymbol(name, address, symbol.size, is_function, not symbol.is_local, symbol.is_weak))
    return tuple(sorted(symbols, key=_symbol_sort_key)), constants


def _symbol_sort_key(symbol: ImageSymbol) -> tuple[int, int, bool, bool, str]:
    """Returns a symbol's sort key: its address, then how well known its name is.
    The best-known name of several at one address comes first.
    """
    return symbol.address, -symbol.size, not symbol.is_global, symbol.is_weak, symbol.name
