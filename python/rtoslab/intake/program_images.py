"""Program images from outside, as bytes: the one place that bounds and reads them."""

from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.intake.input_files import read_bytes
from rtoslab.intake.limits import IMAGE_BYTES


def read_image(path: Path) -> bytes:
    """The bytes of an image file. Raises ImageFileError."""
    image = read_bytes(path, IMAGE_BYTES, "the image", ImageFileError)
    if not image:
        raise ImageFileError(f"The image {path} is empty; build it again.")
    return image
