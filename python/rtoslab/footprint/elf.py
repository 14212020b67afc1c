"""An ELF image as the linker left it: the sections that take memory, and the symbols in them. Only reads.

The trap it prevents: a file that is no image, or one cut short, must be one clear sentence, never half a table.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from rtoslab.errors import ImageFileError
from rtoslab.simulate import read_image

_THUMB = 1


@dataclass(frozen=True, slots=True)
class Section:
    """An output section that takes memory. Sizes in bytes."""

    name: str
    address: int
    """Where it is at run time."""
    load_address: int
    """Where its contents are programmed; the same as `address` if it runs where it lies."""
    size: int
    has_contents: bool
    """False for what is cleared at start-up, or left alone."""
    writable: bool
    executable: bool

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or an object: run-time address without the Thumb bit, size in bytes."""

    name: str
    address: int
    size: int
    is_function: bool
    is_global: bool


@dataclass(frozen=True, slots=True)
class Image:
    """What an ELF file says about memory."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    """Functions and objects with a size, by address."""
    constants: dict[str, int]
    """Symbols of no type: what the linker script reckoned, and labels of assembler code."""


def read_elf(path: Path) -> Image:
    """Raises ImageFileError: not there, no 32-bit ARM ELF, cut short, not linked, or stripped of its symbols."""
    data = read_image(path)
    if data[:4] != b"\x7fELF":
        raise ImageFileError(f"{path} is not an ELF file; give the image as the linker wrote it (image.elf).")
    try:
        image = _read(data)
    except (ELFError, ConstructError, ValueError, KeyError, OverflowError, UnicodeDecodeError, AttributeError) as cause:
        raise ImageFileError(f"{path} is a damaged ELF file ({_first_line(cause)}); build or copy it again.") from None
    if not image.symbols:
        raise ImageFileError(
            f"{path} has no symbols, so no byte of it has a name; give the image before it is stripped."
        )
    return image


def _first_line(cause: Exception) -> str:
    return (str(cause).splitlines() or [type(cause).__name__])[0].rstrip(".") or type(cause).__name__


def _read(data: bytes) -> Image:
    elf = ELFFile(io.BytesIO(data))
    if elf["e_machine"] != "EM_ARM" or elf.elfclass != 32:
        raise ValueError(f"it is for {elf['e_machine']}, not for a 32-bit ARM core")
    if elf["e_type"] != "ET_EXEC":
        raise ValueError("it is not linked")
    sections = _sections(elf, data)
    if not sections:
        raise ValueError("no section of it takes memory")
    symbols, constants = _symbols(elf)
    return Image(tuple(sorted(sections, key=lambda each: each.address)), symbols, constants)


def read_sections(path: Path) -> tuple[Section, ...]:
    """The sections alone, of an image known to be whole. Raises ImageFileError if it cannot be read."""
    data = read_image(path)
    return tuple(_sections(ELFFile(io.BytesIO(data)), data))


def berkeley(sections: Iterable[Section]) -> dict[str, int]:
    """text, data and bss as `arm-none-eabi-size` counts them: its text holds the constants too."""
    sums = {"text": 0, "data": 0, "bss": 0}
    for each in sections:
        sums["bss" if not each.has_contents else "data" if each.writable else "text"] += each.size
    return sums


def _sections(elf: ELFFile, data: bytes) -> list[Section]:
    fields = ("p_vaddr", "p_paddr", "p_filesz")
    segments = [{name: each[name] for name in fields} for each in elf.iter_segments() if each["p_type"] == "PT_LOAD"]
    sections = []
    for section in elf.iter_sections():
        header = section.header
        if not header["sh_flags"] & SH_FLAGS.SHF_ALLOC or header["sh_size"] == 0:
            continue
        contents = header["sh_type"] != "SHT_NOBITS"
        if contents and header["sh_offset"] + header["sh_size"] > len(data):
            raise ValueError(f"section {section.name} ends behind the end of the file")
        sections.append(
            Section(
                name=section.name,
                address=header["sh_addr"],
                load_address=_load_address(header["sh_addr"], header["sh_size"], segments)
                if contents
                else header["sh_addr"],
                size=header["sh_size"],
                has_contents=contents,
                writable=bool(header["sh_flags"] & SH_FLAGS.SHF_WRITE),
                executable=bool(header["sh_flags"] & SH_FLAGS.SHF_EXECINSTR),
            )
        )
    return sections


def _load_address(address: int, size: int, segments: list[dict[str, int]]) -> int:
    for segment in segments:
        start = segment["p_vaddr"]
        if start <= address and address + size <= start + segment["p_filesz"]:
            return segment["p_paddr"] + address - start
    return address


def _symbols(elf: ELFFile) -> tuple[tuple[Symbol, ...], dict[str, int]]:
    table = elf.get_section_by_name(".symtab")
    found: list[Symbol] = []
    constants: dict[str, int] = {}
    for each in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        kind = each["st_info"]["type"]
        if kind == "STT_NOTYPE" and each.name and not each.name.startswith("$"):  # $t, $d: the assembler's own
            constants[each.name] = each["st_value"]
        elif kind in {"STT_FUNC", "STT_OBJECT"} and each["st_size"] > 0:
            is_function = kind == "STT_FUNC"
            address = each["st_value"] & ~_THUMB if is_function else each["st_value"]
            is_global = each["st_info"]["bind"] != "STB_LOCAL"
            found.append(Symbol(each.name, address, each["st_size"], is_function, is_global))
    return tuple(sorted(found, key=lambda each: (each.address, -each.size, not each.is_global, each.name))), constants
