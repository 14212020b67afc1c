"""Parses GNU ld's map file: the place of each input section of each object file.

Only the part between the memory map's title and the OUTPUT line counts. Discarded sections come before it. Fill lines
are not read: a gap between two input sections is padding, whatever the map says of it, so that sums hold."""

import re
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.images import ElfImage
from rtoslab.intake import MAP_BYTES, SYMBOLS, printable_path, read_bytes

_BEGIN = "Linker script and memory map"
_END = re.compile(r"^OUTPUT\(", re.MULTILINE)
# A long name has a line of its own.
_PIECE = re.compile(
    r"^ (?P<section>[^\s*]\S*+)\n?[ \t]++0x(?P<address>[0-9a-f]{1,16}+)"
    r"[ \t]++0x(?P<size>[0-9a-f]{1,16}+) (?P<file>\S.*+)$",
    re.MULTILINE,
)
_OUTPUT_SECTION = re.compile(
    r"^(?P<section>[^\s*]\S*+)\n?[ \t]++0x(?P<address>[0-9a-f]{1,16}+)[ \t]++0x(?P<size>[0-9a-f]{1,16}+)"
    r"(?: load address 0x[0-9a-f]{1,16}+)?[ \t]*+$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class LinkerInputSection:
    """An input section in the image. `size` in bytes."""

    section: str
    address: int
    size: int
    object: str
    """Object file as the map names it: a path, or `archive(member)`."""


def read_linker_map(path: Path, image: ElfImage) -> tuple[LinkerInputSection, ...]:
    """Returns the input sections in an image's map file in order of address, without empty ones. Raises ImageFileError,
    also if the file is the map of another link."""
    data = read_bytes(path, MAP_BYTES, "the map file", ImageFileError)
    text = _decode_map(data)
    pieces = _parse_map_text(text, printable_path(path))
    _require_map_of_image(text, image, printable_path(path))
    return pieces


def _require_map_of_image(text: str, image: ElfImage, source: str) -> None:
    """Raises ImageFileError unless the output sections in a map file are at the addresses, and have the sizes, of those
    of the image."""
    places: dict[str, set[tuple[int, int]]] = {}
    for match in _OUTPUT_SECTION.finditer(text, text.find(_BEGIN)):
        place = int(match["address"], 16), int(match["size"], 16)
        places.setdefault(match["section"], set()).add(place)
    for section in image.sections:
        if (section.address, section.size) not in places.get(section.name, set()):
            raise ImageFileError(
                f"{source} is not the map of this image: it does not contain the section {section.name} of "
                f"{section.size:,} bytes at {section.address:#010x}; give the map file of the same link with --map, "
                "or move this one away."
            )


def parse_linker_map(data: bytes, source: str) -> tuple[LinkerInputSection, ...]:
    """Returns the input sections in the content of a map file, in order of address, without empty ones. `source` names
    it in errors. Raises ImageFileError."""
    return _parse_map_text(_decode_map(data), source)


def _decode_map(data: bytes) -> str:
    """Returns the content of a map file as text. Bytes that are not UTF-8 are replaced."""
    return data.decode("utf-8", errors="replace")


def _parse_map_text(text: str, source: str) -> tuple[LinkerInputSection, ...]:
    """Returns the input sections in the text of a map file, as `parse_linker_map`. Raises ImageFileError."""
    begin = text.find(_BEGIN)
    end = _END.search(text, max(begin, 0))
    if begin < 0 or end is None:
        raise ImageFileError(
            f"{source} is not a complete map file of GNU ld; link with -Wl,-Map=FILE and give that file."
        )
    pieces = [
        LinkerInputSection(result["section"], int(result["address"], 16), size, result["file"].strip())
        for result in _PIECE.finditer(text, begin, end.start())
        if (size := int(result["size"], 16))
    ]
    if len(pieces) > SYMBOLS:
        raise ImageFileError(
            f"{source} lists more than {SYMBOLS:,} input sections, the most that can be read; "
            "give the map of a smaller image."
        )
    return tuple(sorted(pieces, key=lambda piece: piece.address))
