"""What a kernel's objects and control blocks hold, read from the board's memory by the image's debug information."""

import hashlib
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from elftools.dwarf.die import DIE

from rtoslab.base import ImageFileError, SymbolError
from rtoslab.catalogue import Kernel
from rtoslab.intake import DEPTH, children, debug

if TYPE_CHECKING:
    from elftools.dwarf.compileunit import CompileUnit
    from elftools.dwarf.dwarfinfo import DWARFInfo
    from elftools.elf.elffile import ELFFile

Word = Callable[[int], int | None]
"""Reads a word of the board's memory; None where there is none."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a member is in its structure."""

    offset: int
    bytes: int
    """Of an array those of an element."""
    is_array: bool = False

    def read(self, word: Word, base: int) -> int | None:
        """Its value in the structure at `base`, of four bytes at most."""
        value = word(base + self.offset)
        return None if value is None else value & ((1 << 8 * min(self.bytes, 4)) - 1)


Places = dict[str, dict[str, Place]]
_KNOWN: Final[dict[tuple[str, frozenset[str]], Places]] = {}
"""By an image's digest: points that differ in the board's timing alone have one image."""
_MOST_KNOWN: Final = 256
_SHOWN: Final = 12
"""Of the members that there are, how many a sentence names."""
_UNION: Final = "DW_TAG_union_type"
_HOLDERS: Final = ("DW_TAG_structure_type", _UNION)
_MOST_MEMBERS: Final = 10_000
"""Of one structure, with those of structures inside."""


def places(image: bytes, structures: Iterable[str]) -> Places:
    """Structure -> member -> place; a structure that the image does not know is left out."""
    wanted = frozenset(structures)
    key = hashlib.sha256(image).hexdigest(), wanted
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[key] = _read(image, set(wanted))
    return _KNOWN[key]


def _read(image: bytes, wanted: set[str]) -> Places:
    found: Places = {}
    try:
        with debug(image, "the image", ImageFileError) as elf:
            _fill(found, wanted, elf)
    except ImageFileError:
        return {}
    return found


def _fill(found: Places, wanted: set[str], elf: "ELFFile") -> None:
    if not wanted or not elf.has_dwarf_info():
        return
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        if not _may_name(dwarf, unit, wanted):
            continue
        for die in children(unit.get_top_DIE()):
            structure = _structure(die) if _name(die) in wanted else None
            if structure is not None:
                found[_name(die)] = _counted(_members(structure))
                wanted.discard(_name(die))
        if not wanted:
            return


def _may_name(dwarf: "DWARFInfo", unit: "CompileUnit", names: Iterable[str]) -> bool:
    """Whether the bytes of a unit hold one of these names, or where it is among the strings (DWARF 5, 7.5.5): to read
    the entries of a unit takes a hundred times as long as to find that none is in it."""
    elsewhere = (dwarf.debug_str_offsets_sec, dwarf.debug_sup_sec, dwarf.gnu_debugaltlink_sec)
    info, text = dwarf.debug_info_sec, dwarf.debug_str_sec
    if info is None or text is None or any(section is not None for section in elsewhere):
        return True
    info.stream.seek(unit.cu_offset)
    held = info.stream.read(unit.size)
    text.stream.seek(0)
    strings = text.stream.read()
    texts = [name.encode() + b"\0" for name in names]
    places = (found.start() for text in texts for found in re.finditer(re.escape(text), strings))
    return any(text in held for text in texts) or any(struct.pack("<I", place) in held for place in places)


def _name(die: DIE) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _structure(die: DIE) -> DIE | None:
    """The structure of this name, or the one that has no name but this."""
    if die.tag == "DW_TAG_typedef" and "DW_AT_type" in die.attributes:
        named = die.get_DIE_from_attribute("DW_AT_type")
        return _structure(named) if not _name(named) else None
    return die if die.tag == "DW_TAG_structure_type" and die.has_children else None


def _members(structure: DIE, before: str = "", base: int = 0, depth: int = 0) -> Iterator[tuple[str, Place]]:
    """Of structures and unions inside, too: `outer.inner`; of those without a name as if they were of the outer one, as
    in C. Raises ValueError for a structure in itself."""
    if depth > DEPTH:
        raise ValueError("a structure of it holds itself")
    for each in children(structure):
        place = each.attributes.get("DW_AT_data_member_location")
        if each.tag != "DW_TAG_member" or (place is None and structure.tag != _UNION):
            continue
        offset = base + (place.value if place else 0)
        kind, is_array = _sized(each)
        own = _name(each)
        if own:
            yield before + own, Place(offset, kind.attributes["DW_AT_byte_size"].value if kind else 4, is_array)
        if kind is not None and kind.tag in _HOLDERS and not is_array:
            yield from _members(kind, f"{before}{own}." if own else before, offset, depth + 1)


def _counted(members: Iterator[tuple[str, Place]]) -> dict[str, Place]:
    """By name. Raises ValueError: a structure that holds itself twice doubles with every level."""
    found = dict(islice(members, _MOST_MEMBERS + 1))
    if len(found) > _MOST_MEMBERS:
        raise ValueError(f"a structure of it has more than {_MOST_MEMBERS:,} members")
    return found


def _sized(member: DIE) -> tuple[DIE | None, bool]:
    """The type that tells a member's size, behind names for it, and whether the member is an array of that type."""
    kind, is_array = member, False
    for _ in range(DEPTH):
        if "DW_AT_byte_size" in kind.attributes:
            return kind, is_array
        if "DW_AT_type" not in kind.attributes:
            return None, is_array
        kind = kind.get_DIE_from_attribute("DW_AT_type")
        is_array |= kind.tag == "DW_TAG_array_type"
    raise ValueError("a type of it is a name for itself")


def _named(kernel: Kernel) -> Iterator[tuple[str, str, list[str]]]:
    """Table of kernel.toml, structure, members that it names."""
    for name, facts in kernel.objects.items():
        yield f"objects.{name}", facts.type, list(facts.members.values())
    block = kernel.memory.task_block if kernel.memory else None
    if block is not None:
        asked = (block.name, block.stack, block.stack_pointer, block.bytes, block.words, block.priority, block.number)
        yield "memory.task_block", block.type, [each for each in asked if each]


def _demand_members(kernel: str, table: str, structure: str, names: Iterable[str], there: Places) -> None:
    members = there.get(structure)
    lacking = [each for each in names if members is not None and each not in members]
    if members is not None and lacking:
        raise SymbolError(
            f"[{table}] of {kernel}'s kernel.toml names {', '.join(lacking)}, which the structure {structure} of the "
            f"image does not have; it has {', '.join(sorted(each for each in members if each)[:_SHOWN])}. Correct it, "
            "or say under [[earlier]] what this version of the kernel has."
        )


class Structures:
    """The structures of one image whose members kernel.toml names.

    Raises SymbolError for a member that the structure does not have. A structure that is not in the image is not used
    there.
    """

    def __init__(self, image: bytes, kernel: Kernel) -> None:
        self._kernel = kernel
        self._block = kernel.memory.task_block if kernel.memory else None
        types = [each.type for each in kernel.objects.values()]
        self._members = places(image, [*types, *([self._block.type] if self._block else [])])
        for table, kind, names in _named(kernel):
            _demand_members(kernel.id, table, kind, names, self._members)

    def priorities(self, word: Word, blocks: Iterable[int]) -> dict[int, int]:
        """Control block -> priority in the kernel's own numbers; nothing if kernel.toml does not name the member."""
        return self._of_blocks(self._block.priority if self._block else None, word, blocks)

    def numbers(self, word: Word, blocks: Iterable[int]) -> dict[int, int]:
        """Control block -> the number that the kernel's calls know the task by; likewise."""
        return self._of_blocks(self._block.number if self._block else None, word, blocks)

    def _of_blocks(self, member: str | None, word: Word, blocks: Iterable[int]) -> dict[int, int]:
        if self._block is None or member is None:
            return {}
        place = self._members.get(self._block.type, {}).get(member)
        found = {each: place.read(word, each) for each in sorted(blocks) if each} if place is not None else {}
        return {block: value for block, value in found.items() if value is not None}

    def objects(self, word: Word, calls: Mapping[str, Iterable[int]]) -> dict[tuple[str, int], dict[str, int]]:
        """(kind, address) -> facts, for every kind of object that a called function may be of. `calls`: function ->
        the first arguments it was called with."""
        found: dict[tuple[str, int], dict[str, int]] = {}
        for kind, facts in self._kernel.objects.items():
            members = self._members.get(facts.type, {})
            called = {each for name in self._functions(kind) & calls.keys() for each in calls[name]}
            for address in sorted(called):  # a set of names has another order in every process
                told = {name: members[member].read(word, address) for name, member in facts.members.items() if members}
                found[kind, address] = {name: value for name, value in told.items() if value is not None}
        return found

    def _functions(self, kind: str) -> set[str]:
        services = self._kernel.symbols.items()
        return {name for service, names in services if service.startswith(f"{kind}_") for name in names}
