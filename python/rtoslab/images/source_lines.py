"""Finds the source lines of an address by an image's DWARF: the line itself, and for inlined code the lines of the
calls outwards."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from elftools.dwarf.descriptions import describe_form_class

from rtoslab.base import ImageFileError
from rtoslab.intake import (
    child_debug_entries,
    convert_debug_errors,
    dwarf_line_program,
    open_elf_file,
    read_program_image,
)

Row = tuple[int, str, int, int]
"""(end of the code, file, line, number of the compilation unit)"""


class SourceLines:
    """The source lines of an image's code, from its DWARF. An image without DWARF has none."""

    def __init__(self, elf: Path) -> None:
        """Only keeps the path of the ELF file, which is read when it is needed."""
        self._path = elf

    def source_lines_at(self, address: int) -> tuple[str, ...]:
        """Returns the source lines of an address as `file:line`: its own line, then the calls that were inlined around
        it. Empty if unknown."""
        try:
            with convert_debug_errors(self._path.name, ImageFileError):
                return self._find_source_lines_of_address(address)
        except ImageFileError:
            return ()

    def find_code_of_line(self, file: str, line: int) -> tuple[list[int], list[int]]:
        """Returns the addresses at which code of a source line begins, and the numbers of all lines of the file that
        have code.

        Only the last part of the path is compared.
        """
        try:
            with convert_debug_errors(self._path.name, ImageFileError):
                starts, rows = self._line_rows
        except ImageFileError:
            return [], []
        path = PurePosixPath(file).name
        here = [(start, row[2]) for start, row in zip(starts, rows, strict=True) if row[1] == path]
        return [start for start, number in here if number == line], sorted({number for _, number in here})

    def _find_source_lines_of_address(self, address: int) -> tuple[str, ...]:
        """Returns the source lines of an address, as `source_lines_at`. Raises pyelftools' errors."""
        starts, rows = self._line_rows
        place = bisect_right(starts, address) - 1
        if place < 0 or address >= rows[place][0]:
            return ()
        _, file, line, unit = rows[place]
        return (f"{file}:{line}", *self._call_sites_of_inlines(self._compilation_units[unit], address))

    @cached_property
    def _debug_information(self) -> Any:
        """Returns the debug information (DWARF) of the image. None if there is none."""
        try:
            with open_elf_file(read_program_image(self._path), self._path.name, ImageFileError) as elf:
                return elf.get_dwarf_info() if elf.has_dwarf_info() else None
        except ImageFileError:
            return None

    @cached_property
    def _compilation_units(self) -> list[Any]:
        """Returns the compilation units in the debug information."""
        return list(self._debug_information.iter_CUs()) if self._debug_information is not None else []

    @cached_property
    def _line_rows(self) -> tuple[list[int], list[Row]]:
        """Returns the rows of all DWARF line tables in the order of their addresses: first all start addresses, then
        the rows."""
        rows: dict[int, Row] = {}
        for number, unit in enumerate(self._compilation_units):
            program = dwarf_line_program(self._debug_information, unit)
            if program is not None:
                rows.update((start, (end, file, line, number)) for start, end, file, line in _line_rows(program))
        starts = sorted(rows)
        return starts, [rows[start] for start in starts]

    def _call_sites_of_inlines(self, unit: Any, address: int) -> tuple[str, ...]:
        """Returns the lines of the calls that were inlined around an address, the innermost first. `unit`: its
        compilation unit."""
        names = _file_names_of_line_table(dwarf_line_program(self._debug_information, unit))
        callers = []
        die = unit.get_top_DIE()
        while die is not None:
            die = next(
                (
                    child
                    for child in child_debug_entries(die)
                    if self._does_dwarf_entry_cover_address(unit, child, address)
                ),
                None,
            )
            if die is not None and die.tag == "DW_TAG_inlined_subroutine" and "DW_AT_call_line" in die.attributes:
                file = names.get(die.attributes["DW_AT_call_file"].value, "?")
                callers.append(f"{file}:{die.attributes['DW_AT_call_line'].value}")
        return tuple(reversed(callers))

    def _does_dwarf_entry_cover_address(self, unit: Any, die: Any, address: int) -> bool:
        """Whether a DWARF entry is a function, an inlined call or a block that covers an address. `die`: the entry."""
        if die.tag not in {"DW_TAG_subprogram", "DW_TAG_inlined_subroutine", "DW_TAG_lexical_block"}:
            return False
        return any(start <= address < end for start, end in self._dwarf_entry_address_ranges(unit, die))

    def _dwarf_entry_address_ranges(self, unit: Any, die: Any) -> Iterator[tuple[int, int]]:
        """Yields the start and end of each range of addresses of a DWARF entry."""
        attributes = die.attributes
        if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
            low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
            yield low, high.value if describe_form_class(high.form) == "address" else low + high.value
        elif "DW_AT_ranges" in attributes:
            base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
            offset = base.value if base is not None else 0
            lists = self._debug_information.range_lists()
            for entry in lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, unit) if lists else ():
                if hasattr(entry, "base_address"):
                    offset = entry.base_address
                else:
                    shift = 0 if getattr(entry, "is_absolute", False) else offset
                    yield entry.begin_offset + shift, entry.end_offset + shift


def _file_names_of_line_table(program: Any) -> dict[int, str]:
    """Returns the file names in a DWARF line table by their numbers."""
    first = 1 if program["version"] < 5 else 0
    entries = enumerate(program["file_entry"], first)
    return {number: PurePosixPath(entry.name.decode(errors="replace")).name for number, entry in entries}


def _line_rows(program: Any) -> Iterator[tuple[int, int, str, int]]:
    """Yields start address, end address, file and line of each row of a DWARF line table."""
    names = _file_names_of_line_table(program)
    before = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and state.address > before.address:
            yield before.address, state.address, names.get(before.file, "?"), before.line
        before = None if state.end_sequence else state
