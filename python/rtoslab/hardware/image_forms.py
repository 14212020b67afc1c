"""Forms of an image for programs that take no ELF: bytes from the start of the flash, or UF2 blocks."""

import struct
from typing import Final

from rtoslab.base import ImageFileError
from rtoslab.intake import ElfFile

_ERASED: Final = 0xFF
_MAGIC: Final = (0x0A324655, 0x9E5D5157)
_MAGIC_END: Final = 0x0AB16F30
_FAMILY_FLAG: Final = 0x2000
_PAYLOAD: Final = 256
_BLOCK: Final = 512


def flash_content_of_elf(elf: bytes, flash_start: int, flash_bytes: int) -> bytes:
    """Returns the flash content that an ELF file describes, from `flash_start` on. Gaps have the bytes of erased flash.

    Raises ImageFileError.
    """
    try:
        segments = [segment for segment in ElfFile(elf).segments if segment.file_bytes]
    except ValueError as cause:
        raise ImageFileError(f"The image cannot be flashed: {cause}; build it again.") from None
    end = max((segment.load_address + segment.file_bytes for segment in segments), default=flash_start)
    outside = [segment for segment in segments if segment.load_address < flash_start] or end - flash_start > flash_bytes
    if not segments or outside:
        raise ImageFileError(
            f"The image cannot be flashed: it is not within the {flash_bytes:,} bytes of flash from "
            f"{flash_start:#010x}; build it for this board."
        )
    content = bytearray([_ERASED]) * (end - flash_start)
    for segment in segments:
        at = segment.load_address - flash_start
        content[at : at + segment.file_bytes] = elf[segment.offset : segment.offset + segment.file_bytes]
    return bytes(content)


def flash_content_as_uf2(content: bytes, flash_start: int, family: int) -> bytes:
    """Returns flash content as the bytes of a UF2 file (github.com/microsoft/uf2). `family`: the number of the chip's
    family."""
    pieces = [content[at : at + _PAYLOAD].ljust(_PAYLOAD, b"\0") for at in range(0, len(content), _PAYLOAD)]
    blocks = []
    for number, piece in enumerate(pieces):
        head = struct.pack(
            "<8I", *_MAGIC, _FAMILY_FLAG, flash_start + number * _PAYLOAD, _PAYLOAD, number, len(pieces), family
        )
        blocks.append((head + piece).ljust(_BLOCK - 4, b"\0") + struct.pack("<I", _MAGIC_END))
    return b"".join(blocks)
