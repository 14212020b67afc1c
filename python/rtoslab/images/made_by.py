"""What an ELF file says of the compilers that made it."""

from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.intake import Elf, one_line, read_image, shown_path


def made_by(path: Path) -> str:
    """The names that compilers left in `.comment`, sorted; empty if there is none. Raises ImageFileError."""
    try:
        elf = Elf(read_image(path))
        texts = [
            elf.contents(section) for section in elf.sections if section.name == ".comment" and section.has_contents
        ]
    except ValueError as cause:
        raise ImageFileError(f"{shown_path(path)} is a damaged ELF file ({cause}); build it again.") from None
    names = {name for text in texts for name in text.decode("utf-8", errors="replace").split("\0") if name}
    return one_line("; ".join(sorted(names)))
