"""The entries of debug information, walked so that damage cannot keep a reader busy for ever.

The trap: an entry says where its sibling lies, and the general reader goes there, backwards, too, without end.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from elftools.dwarf.compileunit import CompileUnit
    from elftools.dwarf.die import DIE
    from elftools.dwarf.dwarfinfo import DWARFInfo
    from elftools.dwarf.lineprogram import LineProgram

_LONG_FORMAT: Final = b"\xff" * 4
"""A unit with offsets of 64 bits begins with it (DWARF 5, 7.4)."""
_FROM_UNIT: Final = frozenset({"DW_FORM_ref1", "DW_FORM_ref2", "DW_FORM_ref4", "DW_FORM_ref8", "DW_FORM_ref_udata"})


def children(entry: "DIE") -> Iterator["DIE"]:
    """The entries inside one, in order (DWARF 5, 2.3). To be used inside `debug`, for it raises what the general reader
    raises, and ValueError for a sibling that does not lie behind."""
    place = entry.offset + entry.size
    while entry.has_children:
        child = entry.cu.get_DIE_from_refaddr(place)
        if child.is_null():
            return
        yield child
        place = _behind(child)


def line_program(dwarf: "DWARFInfo", unit: "CompileUnit") -> "LineProgram | None":
    """A unit's line program, in the form that its own first word tells: a compiler's assembler may write lines with
    offsets of 32 bits for entries with offsets of 64. To be used inside `debug`."""
    from elftools.dwarf.structs import DWARFStructs  # noqa: PLC0415 (slow to import; most commands need none)

    place = unit.get_top_DIE().attributes.get("DW_AT_stmt_list")
    if place is None or dwarf.debug_line_sec is None:
        return None
    stream = dwarf.debug_line_sec.stream
    stream.seek(place.value)
    own = unit.structs
    structs = DWARFStructs(
        little_endian=own.little_endian,
        dwarf_format=64 if stream.read(4) == _LONG_FORMAT else 32,
        address_size=own.address_size,
        dwarf_version=own.dwarf_version,
    )
    return dwarf.line_program_for_CU(SimpleNamespace(get_top_DIE=unit.get_top_DIE, structs=structs))  # type: ignore[arg-type]


def _behind(entry: "DIE") -> int:
    """Returns the offset of the entry after this one and all inside it, in `.debug_info`."""
    inside = entry.offset + entry.size
    if not entry.has_children:
        return inside
    sibling = entry.attributes.get("DW_AT_sibling")
    if sibling is None:
        depth, place = 1, inside
        while depth:
            target = entry.cu.get_DIE_from_refaddr(place)
            depth += -1 if target.is_null() else int(bool(target.has_children))
            place += target.size
        return place
    place = sibling.value + (entry.cu.cu_offset if sibling.form in _FROM_UNIT else 0)
    if place < inside:
        raise ValueError("the sibling of an entry does not lie behind it")
    return int(place)
