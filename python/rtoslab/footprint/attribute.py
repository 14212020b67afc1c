"""Every byte of an image gets an owner: symbol, object file, origin, kind, memory. The sums are the sections' sizes.

Bytes without a symbol stay visible: `unnamed` bytes belong to an object file (strings, assembler code, literals after
a function), `padding` to nobody. Without a map file the object files are unknown and all of it is `unnamed`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.footprint.linkmap import Piece, read_map
from rtoslab.footprint.memories import Region, region_of
from rtoslab.footprint.origins import object_name, origin_of
from rtoslab.images import Image, Section, Symbol, berkeley, read_elf

KINDS: Final = ("text", "rodata", "data", "bss")
PADDING: Final = "(padding)"
UNNAMED: Final = "(unnamed)"
UNKNOWN: Final = "(no map file)"


@dataclass(frozen=True, slots=True)
class Item:
    """Some bytes with one owner."""

    symbol: str
    """Or PADDING, or UNNAMED."""
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
class Footprint:
    """An image's bytes."""

    name: str
    sections: tuple[Section, ...]
    items: tuple[Item, ...]
    """Ordered by address. Their sizes add up to the sections', section by section."""
    memories: Mapping[str, int]
    """Bytes taken in each memory: contents where they are programmed and, if elsewhere, where they are at run time."""
    constants: Mapping[str, int]

    def total(self, kind: str) -> int:
        """Bytes of one kind."""
        return sum(item.size for item in self.items if item.kind == kind)

    def berkeley(self) -> dict[str, int]:
        """text, data and bss as `arm-none-eabi-size` counts them."""
        return berkeley(self.sections)

    def by(self, *axes: str) -> dict[tuple[str, ...], Counter[str]]:
        """Bytes by kind for each combination of `axes` (attributes of Item)."""
        sums: dict[tuple[str, ...], Counter[str]] = {}
        for item in self.items:
            sums.setdefault(tuple(getattr(item, axis) for axis in axes), Counter())[item.kind] += item.size
        return sums


def footprint_of(
    elf: Path, map_file: Path | None = None, regions: Iterable[Region] = (), export: str | None = None
) -> Footprint:
    """Reads an image. The map file beside it (same name, .map) is taken if none is named. `export`: the folder that the
    kernel came from as an export. Raises ImageFileError."""
    image = read_elf(elf)
    beside = elf.with_suffix(".map")
    chosen = map_file or (beside if beside.is_file() else None)
    pieces = read_map(chosen) if chosen else ()
    items = tuple(item for section in image.sections for item in _items(section, image, pieces, export))
    return Footprint(elf.name, image.sections, items, _memories(image.sections, tuple(regions)), image.constants)


def _items(section: Section, image: Image, pieces: tuple[Piece, ...], export: str | None) -> Iterable[Item]:
    """The section's bytes from its first to its last, none twice, none left out."""
    symbols = [symbol for symbol in image.symbols if section.address <= symbol.address < section.end]
    if not pieces:
        whole = Piece(section.name, section.address, section.size, UNKNOWN)
        yield from _in_piece(section, whole, section.address, section.end, symbols, export)
        return
    at = section.address
    for piece in pieces:
        start, end = max(piece.address, at), min(piece.address + piece.size, section.end)
        if start >= end:
            continue
        if start > at:
            yield Item(PADDING, "", "linker", _kind(section, section.name, None), section.name, at, start - at)
        yield from _in_piece(section, piece, start, end, symbols, export)
        at = end
    if at < section.end:
        yield Item(PADDING, "", "linker", _kind(section, section.name, None), section.name, at, section.end - at)


def _in_piece(
    section: Section, piece: Piece, start: int, end: int, symbols: list[Symbol], export: str | None
) -> Iterable[Item]:
    def item(name: str, symbol: Symbol | None, at: int, until: int) -> Item:
        origin = origin_of(piece.object, export) if piece.object != UNKNOWN else UNKNOWN
        kind = _kind(section, piece.section, symbol)
        return Item(name, object_name(piece.object, export), origin, kind, section.name, at, until - at)

    at = start
    for symbol in symbols:
        stop = min(symbol.address + symbol.size, end)
        if symbol.address < at or symbol.address >= end:
            continue  # an alias of the one before, or of another piece
        if symbol.address > at:
            yield item(UNNAMED, None, at, symbol.address)
        yield item(symbol.name, symbol, symbol.address, stop)
        at = stop
    if at < end:
        yield item(UNNAMED, None, at, end)


def _kind(section: Section, input_name: str, symbol: Symbol | None) -> str:
    if not section.is_text:
        return "data" if section.has_contents else "bss"
    if input_name.startswith((".rodata", ".init_array", ".vectors", ".boot_vectors", ".boot2")):
        return "rodata"
    is_object = symbol is not None and not symbol.is_function
    return "rodata" if (is_object and not section.writable) or not section.executable else "text"


def _memories(sections: tuple[Section, ...], regions: tuple[Region, ...]) -> dict[str, int]:
    taken: Counter[str] = Counter()
    for section in sections:
        run = region_of(section.address, regions)
        load = region_of(section.load_address, regions) if section.has_contents else run
        taken[load.name] += section.size
        if run.name != load.name and not (run.is_flash and load.is_flash):
            taken[run.name] += section.size
    return dict(sorted(taken.items()))
