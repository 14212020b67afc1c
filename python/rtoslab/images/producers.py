"""Names the compilers that built an ELF file."""

from pathlib import Path

from rtoslab.images.elf import unreadable_elf_error
from rtoslab.intake import ElfFile, escape_to_one_line, read_program_image


def compilers_named_in_elf(path: Path) -> str:
    """Returns the compilers that an ELF file names in its `.comment` sections, sorted. Empty if there are none. Raises
    ImageFileError."""
    try:
        elf = ElfFile(read_program_image(path))
        texts = [
            elf.section_bytes(section)
            for section in elf.sections
            if section.name == ".comment" and section.has_contents
        ]
    except ValueError as cause:
        raise unreadable_elf_error(path, cause) from None
    names = {name for text in texts for name in text.decode("utf-8", errors="replace").split("\0") if name}
    return escape_to_one_line("; ".join(sorted(names)))
