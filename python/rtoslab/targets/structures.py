"""The contents of a kernel's objects and control blocks, read from the board's memory by the image's debug
information."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.base import SymbolError
from rtoslab.catalogue import Kernel
from rtoslab.targets.board import simulator

Word = Callable[[int], int | None]
"""Reads a word of the board's memory. None where there is none."""


@dataclass(frozen=True, slots=True)
class Place:
    """Returns the place of a member in its structure."""

    offset: int
    bytes: int
    """The size in bytes. For an array it is that of an element, for a bit field that of the touched bytes."""
    is_array: bool = False
    bits: tuple[int, int] | None = None
    """The bits of a bit field: which bit of its first byte it begins with, and how many it has."""

    def read(self, word: Word, base: int) -> int | None:
        """Its value in the structure at `base`, of four bytes at most."""
        first, width = self.bits or (0, 8 * self.bytes)
        value, beyond = word(base + self.offset), 0
        if self.bits and first + width > _WORD_BITS:
            beyond = word(base + self.offset + 4) or 0
        mask = (1 << min(width, _WORD_BITS)) - 1
        return None if value is None else (value | beyond << _WORD_BITS) >> first & mask


_WORD_BITS: Final = 32
Places = dict[str, dict[str, Place]]
_SHOWN: Final = 12
"""The number of members that a sentence names."""


def places(image: bytes, structures: Iterable[str]) -> Places:
    """Structure -> member -> place. A structure that the image does not know is left out, and all of them of an image
    whose debug information is damaged."""
    sim = simulator()
    try:
        result = sim.structures(image, sorted(set(structures)))
    except sim.ImageError:
        return {}
    return {structure: {name: Place(*member) for name, *member in members} for structure, members in result}


def _named(kernel: Kernel) -> Iterator[tuple[str, str, list[str]]]:
    """Table of kernel.toml, structure, members that it names."""
    for name, facts in kernel.objects.items():
        yield f"objects.{name}", facts.type, list(facts.members.values())
    block = kernel.memory.task_block if kernel.memory else None
    if block is not None:
        structures = (
            block.name,
            block.stack,
            block.stack_pointer,
            block.bytes,
            block.words,
            block.priority,
            block.number,
        )
        yield "memory.task_block", block.type, [item for item in structures if item]


def _require_members(kernel: str, table: str, structure: str, names: Iterable[str], places: Places) -> None:
    members = places.get(structure)
    lacking = [name for name in names if members is not None and name not in members]
    if members is not None and lacking:
        raise SymbolError(
            f"[{table}] of {kernel}'s kernel.toml names {', '.join(lacking)}, which the structure {structure} of the "
            f"image does not have; it has {', '.join(sorted(member for member in members if member)[:_SHOWN])}. "
            "Correct it, or say under [[earlier]] what this version of the kernel has."
        )


class Structures:
    """The structures of one image whose members kernel.toml names.

    Raises SymbolError for a member that the structure does not have. A structure that is not in the image is not used
    there.
    """

    def __init__(self, image: bytes, kernel: Kernel) -> None:
        self._kernel = kernel
        self._block = kernel.memory.task_block if kernel.memory else None
        types = [object_.type for object_ in kernel.objects.values()]
        self._members = places(image, [*types, *([self._block.type] if self._block else [])])
        for table, kind, names in _named(kernel):
            _require_members(kernel.id, table, kind, names, self._members)

    def priorities(self, word: Word, blocks: Iterable[int]) -> dict[int, int]:
        """Control block -> priority in the kernel's own numbers. Nothing if kernel.toml does not name the member."""
        return self._of_blocks(self._block.priority if self._block else None, word, blocks)

    def numbers(self, word: Word, blocks: Iterable[int]) -> dict[int, int]:
        """Control block -> the number that the kernel's calls know the task by. Likewise."""
        return self._of_blocks(self._block.number if self._block else None, word, blocks)

    def _of_blocks(self, member: str | None, word: Word, blocks: Iterable[int]) -> dict[int, int]:
        if self._block is None or member is None:
            return {}
        place = self._members.get(self._block.type, {}).get(member)
        values = {item: place.read(word, item) for item in sorted(blocks) if item} if place is not None else {}
        return {block: value for block, value in values.items() if value is not None}

    def objects(self, word: Word, calls: Mapping[str, Iterable[int]]) -> dict[tuple[str, int], dict[str, int]]:
        """(kind, address) -> facts, for every kind of object that a called function may be of. `calls`: function ->
        the first arguments it was called with."""
        objects: dict[tuple[str, int], dict[str, int]] = {}
        for kind, facts in self._kernel.objects.items():
            members = self._members.get(facts.type, {})
            called = {call for name in self._functions(kind) & calls.keys() for call in calls[name]}
            for address in sorted(called):  # a set of names has another order in every process
                values = {
                    name: members[member].read(word, address) for name, member in facts.members.items() if members
                }
                objects[kind, address] = {name: value for name, value in values.items() if value is not None}
        return objects

    def _functions(self, kind: str) -> set[str]:
        services = self._kernel.symbols.items()
        return {name for service, names in services if service.startswith(f"{kind}_") for name in names}
