"""Program images from outside, as bytes: the one place that bounds and reads them."""

from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.intake.hex_images import as_elf, hex_segments, is_hex
from rtoslab.intake.input_files import read_bytes
from rtoslab.intake.limits import IMAGE_BYTES


def read_image(path: Path, load_address: int | None = None) -> bytes:
    """The bytes of an image file: ELF or UF2. Intel HEX becomes ELF, and so does a plain binary with `load_address`.

    Raises ImageFileError.
    """
    image = read_bytes(path, IMAGE_BYTES, "the image", ImageFileError)
    if not image:
        raise ImageFileError(f"The image {path} is empty; build it again.")
    try:
        if load_address is not None:
            return as_elf([(load_address, image)])
        return as_elf(*hex_segments(image)) if is_hex(image) else image
    except ValueError as cause:
        raise ImageFileError(f"The Intel HEX file {path} cannot be read: {cause}; build or copy it again.") from None
