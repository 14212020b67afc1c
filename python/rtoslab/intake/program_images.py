"""Reads external program images as bytes, within a limit."""

from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.intake.hex_images import elf_from_segments, is_intel_hex, parse_intel_hex
from rtoslab.intake.input_files import read_bytes
from rtoslab.intake.limits import IMAGE_BYTES


def read_program_image(path: Path, load_address: int | None = None) -> bytes:
    """Returns the bytes of an image file, ELF or UF2. Intel HEX is converted to ELF, and so is a plain binary file if
    `load_address` is given.

    Raises ImageFileError.
    """
    image = read_bytes(path, IMAGE_BYTES, "the image", ImageFileError)
    if not image:
        raise ImageFileError(f"The image {path} is empty; build it again.")
    try:
        if load_address is not None:
            return elf_from_segments([(load_address, image)])
        return elf_from_segments(*parse_intel_hex(image)) if is_intel_hex(image) else image
    except ValueError as cause:
        raise ImageFileError(f"The Intel HEX file {path} cannot be read: {cause}; build or copy it again.") from None
