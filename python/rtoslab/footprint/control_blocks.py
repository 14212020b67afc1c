"""Reads the members of a kernel's control block from the image's own debug information, as a debugger does."""

from pathlib import Path

from rtoslab.base import SymbolError
from rtoslab.intake import read_program_image
from rtoslab.targets import StructureMemberLayout, find_structure_members


def structure_member_offsets(elf: Path, structure: str) -> dict[str, StructureMemberLayout]:
    """Returns the place of each member of a C structure, with members of structures inside it as `outer.inner`.

    Raises SymbolError if the image's debug information does not have the structure.
    """
    members = find_structure_members(read_program_image(elf), [structure]).get(structure)
    if members is None:
        raise SymbolError(
            f"The debug information of {elf.name} does not contain the struct {structure}; build the image with -g."
        )
    return members
