"""Walks the entries of debug information so that damaged data cannot keep a reader busy for ever.

An entry contains the offset of its sibling. pyelftools follows this offset also backwards, which may never end. So an
offset that is not after its entry is an error here."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from elftools.dwarf.compileunit import CompileUnit
    from elftools.dwarf.die import DIE
    from elftools.dwarf.dwarfinfo import DWARFInfo
    from elftools.dwarf.lineprogram import LineProgram

_LONG_FORMAT: Final = b"\xff" * 4
"""The first bytes of a unit with 64-bit offsets (DWARF 5, 7.4)."""
_FROM_UNIT: Final = frozenset({"DW_FORM_ref1", "DW_FORM_ref2", "DW_FORM_ref4", "DW_FORM_ref8", "DW_FORM_ref_udata"})


def child_debug_entries(entry: "DIE") -> Iterator["DIE"]:
    """Yields the DWARF entries directly inside an entry, in order (DWARF 5, 2.3).
    Used inside `open_elf_file`, for it raises pyelftools' errors, and ValueError for a sibling that is not after the
    entry.
    """
    place = entry.offset + entry.size
    while entry.has_children:
        child = entry.cu.get_DIE_from_refaddr(place)
        if child.is_null():
            return
        yield child
        place = _next_sibling_offset(child)


def dwarf_line_program(dwarf: "DWARFInfo", unit: "CompileUnit") -> "LineProgram | None":
    """Returns the table of source lines (DWARF line program) of a compile unit. None if there is none.

    Its own first word gives the size of its offsets. An assembler may write lines with 32-bit offsets for entries with
    64-bit ones. Used inside `open_elf_file`.
    """
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


def _next_sibling_offset(entry: "DIE") -> int:
    """Returns the offset in `.debug_info` at which a DWARF entry and all entries inside it end. Raises ValueError if it
    points backwards."""
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
        raise ValueError("the sibling of an entry is not after it")
    return int(place)
