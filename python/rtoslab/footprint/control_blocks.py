"""Where a kernel's control block holds what: read from the image's own debug information, as a debugger does."""

from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.die import DIE

from rtoslab.base import SymbolError
from rtoslab.intake import debug, read_image


@dataclass(frozen=True, slots=True)
class Member:
    """Offset in bytes from the structure's start; whether it is an array, its contents in place."""

    offset: int
    is_array: bool


def members_of(elf: Path, structure: str) -> dict[str, Member]:
    """The members of `struct <structure>`. Raises SymbolError if the image's debug information has none."""
    with debug(read_image(elf), elf.name, SymbolError) as image:
        if image.has_dwarf_info():
            for unit in image.get_dwarf_info().iter_CUs():
                for die in unit.iter_DIEs():
                    if die.tag == "DW_TAG_structure_type" and _name(die) == structure and die.has_children:
                        return {
                            _name(each): _member(each) for each in die.iter_children() if each.tag == "DW_TAG_member"
                        }
    raise SymbolError(f"The debug information of {elf.name} has no struct {structure}; build it with -g.")


def _name(die: DIE) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _member(die: DIE) -> Member:
    kind = die.get_DIE_from_attribute("DW_AT_type")
    while kind.tag in {"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"}:
        kind = kind.get_DIE_from_attribute("DW_AT_type")
    return Member(die.attributes["DW_AT_data_member_location"].value, kind.tag == "DW_TAG_array_type")
