"""Every byte of an image gets an owner: symbol, object file, origin, kind, memory. The sums are the sections' sizes.

Bytes without a symbol stay visible: `unnamed` bytes belong to an object file (strings, assembler code, literals after
a function), `padding` to nobody. Without a map file the object files are unknown and all of it is `unnamed`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.footprint.linkmap import LinkerInputSection, read_linker_map
from rtoslab.footprint.memories import MemoryRegion, find_memory_region
from rtoslab.footprint.origins import firmware_component_of_object_file, short_object_file_name
from rtoslab.images import ElfImage, ElfOutputSection, ImageSymbol, berkeley_sizes, read_elf

KINDS: Final = ("text", "rodata", "data", "bss")
PADDING: Final = "(padding)"
UNNAMED: Final = "(unnamed)"
UNKNOWN: Final = "(no map file)"


@dataclass(frozen=True, slots=True)
class OwnedImageBytes:
    """Adjacent bytes of an image that belong to one owner: symbol, object file, origin."""

    symbol: str
    """A symbol's name, PADDING or UNNAMED."""
    object: str
    """Object file, shortened: `tasks.c`, `libc.a(memcpy.o)`."""
    origin: str
    """kernel, port, board, cpu, program, library or linker."""
    kind: str
    """One of KINDS."""
    section: str
    address: int
    size: int


@dataclass(frozen=True)
class ImageFootprint:
    """All bytes of an image, each with its owner."""

    name: str
    sections: tuple[ElfOutputSection, ...]
    items: tuple[OwnedImageBytes, ...]
    """Ordered by address. Their sizes add up to the sections', section by section."""
    memories: Mapping[str, int]
    """Bytes taken in each memory: contents where they are programmed and, if elsewhere, where they are at run time."""
    constants: Mapping[str, int]

    def total_bytes(self, kind: str) -> int:
        """Returns how many bytes of one kind (KINDS), such as text, the image has."""
        return sum(item.size for item in self.items if item.kind == kind)

    def berkeley_sizes(self) -> dict[str, int]:
        """Returns the sizes in bytes named text, data and bss, as `arm-none-eabi-size` counts them."""
        return berkeley_sizes(self.sections)

    def image_bytes_by_attributes(self, *axes: str) -> dict[tuple[str, ...], Counter[str]]:
        """Returns the bytes by kind for each combination of `axes`, which are attributes of OwnedImageBytes."""
        sums: dict[tuple[str, ...], Counter[str]] = {}
        for item in self.items:
            sums.setdefault(tuple(getattr(item, axis) for axis in axes), Counter())[item.kind] += item.size
        return sums


def read_image_footprint(
    elf: Path, map_file: Path | None = None, regions: Iterable[MemoryRegion] = (), export: str | None = None
) -> ImageFootprint:
    """Returns the sizes in an image: every byte with its owner, by the image's symbols and the linker's map file.

    The map file beside it (same name, .map) is taken if none is named. `export`: the folder that the kernel came from
    as an export. Raises ImageFileError.
    """
    image = read_elf(elf)
    beside = elf.with_suffix(".map")
    chosen = map_file or (beside if beside.is_file() else None)
    pieces = read_linker_map(chosen, image) if chosen else ()
    items = tuple(
        item for section in image.sections for item in _elf_section_bytes_by_owner(section, image, pieces, export)
    )
    return ImageFootprint(
        elf.name, image.sections, items, _image_bytes_by_memory(image.sections, tuple(regions)), image.constants
    )


def _elf_section_bytes_by_owner(
    section: ElfOutputSection, image: ElfImage, pieces: tuple[LinkerInputSection, ...], export: str | None
) -> Iterable[OwnedImageBytes]:
    """Yields the bytes of a section of the image by owner, each byte once. `pieces`: all input sections of the map
    file."""
    symbols = [symbol for symbol in image.symbols if section.address <= symbol.address < section.section_end_address]
    if not pieces:
        whole = LinkerInputSection(section.name, section.address, section.size, UNKNOWN)
        yield from _attribute_input_section_bytes(
            section, whole, section.address, section.section_end_address, symbols, export
        )
        return
    at = section.address
    for piece in pieces:
        start, end = max(piece.address, at), min(piece.address + piece.size, section.section_end_address)
        if start >= end:
            continue
        if start > at:
            yield OwnedImageBytes(
                PADDING, "", "linker", _memory_kind_of_bytes(section, section.name, None), section.name, at, start - at
            )
        yield from _attribute_input_section_bytes(section, piece, start, end, symbols, export)
        at = end
    if at < section.section_end_address:
        yield OwnedImageBytes(
            PADDING,
            "",
            "linker",
            _memory_kind_of_bytes(section, section.name, None),
            section.name,
            at,
            section.section_end_address - at,
        )


def _attribute_input_section_bytes(
    section: ElfOutputSection,
    piece: LinkerInputSection,
    start: int,
    end: int,
    symbols: list[ImageSymbol],
    export: str | None,
) -> Iterable[OwnedImageBytes]:
    """Yields the bytes of an input section (what one object file contributes) from `start` to `end` by owner."""

    def symbol_bytes_between_addresses(name: str, symbol: ImageSymbol | None, at: int, until: int) -> OwnedImageBytes:
        """Returns the bytes from `at` to `until`, which belong to the symbol or have none."""
        origin = firmware_component_of_object_file(piece.object, export) if piece.object != UNKNOWN else UNKNOWN
        kind = _memory_kind_of_bytes(section, piece.section, symbol)
        return OwnedImageBytes(
            name, short_object_file_name(piece.object, export), origin, kind, section.name, at, until - at
        )

    at = start
    for symbol in symbols:
        stop = min(symbol.address + symbol.size, end)
        if symbol.address < at or symbol.address >= end:
            continue  # an alias of the one before, or of another piece
        if symbol.address > at:
            yield symbol_bytes_between_addresses(UNNAMED, None, at, symbol.address)
        yield symbol_bytes_between_addresses(symbol.name, symbol, symbol.address, stop)
        at = stop
    if at < end:
        yield symbol_bytes_between_addresses(UNNAMED, None, at, end)


def _memory_kind_of_bytes(section: ElfOutputSection, input_name: str, symbol: ImageSymbol | None) -> str:
    """Returns the kind (KINDS) of some bytes, such as text, by their section and symbol."""
    if not section.is_text:
        return "data" if section.has_contents else "bss"
    if input_name.startswith((".rodata", ".init_array", ".vectors", ".boot_vectors", ".boot2")):
        return "rodata"
    is_object = symbol is not None and not symbol.is_function
    return "rodata" if (is_object and not section.writable) or not section.executable else "text"


def _image_bytes_by_memory(sections: tuple[ElfOutputSection, ...], regions: tuple[MemoryRegion, ...]) -> dict[str, int]:
    """Returns how many bytes of each memory an image takes. Copied data takes its bytes in two of them."""
    taken: Counter[str] = Counter()
    for section in sections:
        run = find_memory_region(section.address, regions)
        load = find_memory_region(section.load_address, regions) if section.has_contents else run
        taken[load.name] += section.size
        # Outside of the board's memories a code address is not flash.
        is_same_flash = run.is_flash and load.is_flash and (run in regions) == (load in regions)
        if run.name != load.name and not is_same_flash:
            taken[run.name] += section.size
    return dict(sorted(taken.items()))
