"""The begin and end of an image's intervals: the marks that bench_start and bench_stop leave in it (bench/latency.h).

They are in a section that is not loaded: pairs of words, the address of the instruction after the mark and a tag, two
times the series' number plus 1 for the end of an interval. A series may have several starts and ends (inlined code).
"""

import struct
from dataclasses import dataclass

from rtoslab.base import ImageFileError, without_thumb_bit
from rtoslab.intake import ElfFile

SECTION = ".bench_marks"


@dataclass(frozen=True, slots=True)
class IntervalMarkerAddress:
    """An address in the code at which a measured interval begins or ends."""

    address: int
    series: int
    is_end: bool


def read_interval_marker_addresses(image: bytes, name: str) -> tuple[IntervalMarkerAddress, ...]:
    """Returns the addresses at which an image's measured intervals begin and end, from its section `.bench_marks`.
    Empty without this section. Raises ImageFileError."""
    try:
        elf = ElfFile(image)
        section = elf.find_elf_section(SECTION)
        words = elf.section_bytes(section) if section is not None else b""
    except ValueError as cause:
        raise ImageFileError(f"{name} cannot be read as an ELF file ({cause}); build it again.") from None
    if len(words) % 8:
        raise ImageFileError(
            f"{name} has a section {SECTION} of {len(words)} bytes, which is not a whole number "
            "of word pairs; build it again."
        )
    return tuple(
        IntervalMarkerAddress(without_thumb_bit(address), tag >> 1, bool(tag & 1))
        for address, tag in struct.iter_unpack("<II", words)
    )
