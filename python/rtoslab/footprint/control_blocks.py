"""Where a kernel's control block holds what: read from the image's own debug information, as a debugger does."""

from collections.abc import Iterator
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
    """The members of `struct <structure>`, of structures inside, too: `outer.inner`.

    Raises SymbolError if the image's debug information has none.
    """
    with debug(read_image(elf), elf.name, SymbolError) as image:
        if image.has_dwarf_info():
            for unit in image.get_dwarf_info().iter_CUs():
                for die in unit.iter_DIEs():
                    if die.tag == "DW_TAG_structure_type" and _name(die) == structure and die.has_children:
                        return dict(_members(die))
    raise SymbolError(f"The debug information of {elf.name} has no struct {structure}; build it with -g.")


def _name(die: DIE) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _members(structure: DIE, prefix: str = "", start: int = 0) -> Iterator[tuple[str, Member]]:
    for each in structure.iter_children():
        if each.tag == "DW_TAG_member" and "DW_AT_data_member_location" in each.attributes:
            kind = each.get_DIE_from_attribute("DW_AT_type")
            while kind.tag in {"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"}:
                kind = kind.get_DIE_from_attribute("DW_AT_type")
            name, offset = prefix + _name(each), start + each.attributes["DW_AT_data_member_location"].value
            yield name, Member(offset, kind.tag == "DW_TAG_array_type")
            if kind.tag == "DW_TAG_structure_type":
                yield from _members(kind, f"{name}.", offset)
