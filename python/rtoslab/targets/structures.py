"""Reads a kernel's objects and control blocks from the board's memory, by the image's debug information."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.base import SymbolError
from rtoslab.catalogue import Kernel
from rtoslab.targets.board import simulator_module

ReadWord = Callable[[int], int | None]
"""Reads a word of the board's memory. None where there is none."""
ReadBytes = Callable[[int, int], bytes]
"""Reads so many bytes from an address of the board's memory. Empty where there is none."""
_TEXT_MOST_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class StructureMemberLayout:
    """The place of a member in its C structure: offset, size, bits."""

    offset: int
    bytes: int
    """The size in bytes. For an array it is that of an element, for a bit field that of the touched bytes."""
    is_array: bool = False
    bits: tuple[int, int] | None = None
    """Of a bit field: its first bit in its first byte, and its width."""

    def read_member(self, read_word: ReadWord, base: int) -> int | None:
        """Returns the value of this member (of at most four bytes) in the C structure at address `base`. None outside
        memory."""
        first, width = self.bits or (0, 8 * self.bytes)
        value, beyond = read_word(base + self.offset), 0
        if self.bits and first + width > _WORD_BITS:
            beyond = read_word(base + self.offset + 4) or 0
        mask = (1 << min(width, _WORD_BITS)) - 1
        return None if value is None else (value | beyond << _WORD_BITS) >> first & mask


_WORD_BITS: Final = 32
_POINTER_BYTES: Final = 4
MemberPlaces = dict[str, dict[str, StructureMemberLayout]]
_SHOWN: Final = 12
"""The most members that an error names."""


def find_structure_members(image: bytes, structures: Iterable[str]) -> MemberPlaces:
    """Returns the place of each member of C structures, by structure and member, from the image's debug information.

    A structure that the image does not have is left out, and all are left out if the debug information is damaged.
    """
    sim = simulator_module()
    try:
        result = sim.structures(image, sorted(set(structures)))
    except sim.ImageError:
        return {}
    return {
        structure: {name: StructureMemberLayout(*member) for name, *member in members} for structure, members in result
    }


def read_structure_member_text(
    members: Mapping[str, StructureMemberLayout], name: str, base: int, read: ReadBytes
) -> str:
    """Returns the text of a member (a character array or a pointer to characters) of the C structure at address `base`.

    Characters end with a zero or where the next member begins: a name that fills its place has no zero. Empty without
    such a member, and where there is no memory.
    """
    place = members.get(name)
    if place is None:
        return ""
    at, most = base + place.offset, _TEXT_MOST_BYTES
    if place.is_array:
        following = [member.offset - place.offset for member in members.values() if member.offset > place.offset]
        most = min([most, *following])
    else:
        at = int.from_bytes(read(at, _POINTER_BYTES), "little")
    content = read(at, most) if at else b""
    return re.sub(r"[^ -~]", "?", content.partition(b"\0")[0].decode("ascii", errors="replace"))


def _structure_members_in_kernel_toml(kernel: Kernel) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the C structure members that kernel.toml names: its table, the structure, the members' names."""
    for name, facts in kernel.objects.items():
        yield f"objects.{name}", facts.type, [*facts.members.values(), *facts.nonzero]
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


def _require_structure_members(
    kernel: str, table: str, structure: str, names: Iterable[str], places: MemberPlaces
) -> None:
    """Raises SymbolError if a C structure of the image lacks a member that kernel.toml names."""
    members = places.get(structure)
    lacking = [name for name in names if members is not None and name not in members]
    if members is not None and lacking:
        raise SymbolError(
            f"[{table}] of {kernel}'s kernel.toml names {', '.join(lacking)}, which the structure {structure} of "
            "the image does not have; it has "
            f"{', '.join(sorted(member for member in members if member)[:_SHOWN])}. Correct it, or add an "
            "[[earlier]] table with the names in this version of the kernel."
        )


def _is_structure_member_nonzero(
    members: Mapping[str, StructureMemberLayout], name: str, word: ReadWord, address: int
) -> int | None:
    """Returns 1 if a member of the C structure at an address is not zero, 0 if it is. None if it cannot be read."""
    value = members[name].read_member(word, address) if members else None
    return None if value is None else int(value != 0)


class KernelStructures:
    """Reads the members of kernel objects and task control blocks that kernel.toml names.

    Raises SymbolError for a member that the structure does not have. A structure that is not in the image is not used
    there.
    """

    def __init__(self, image: bytes, kernel: Kernel) -> None:
        self._kernel = kernel
        self._block = kernel.memory.task_block if kernel.memory else None
        types = [object_.type for object_ in kernel.objects.values()]
        self._members = find_structure_members(image, [*types, *([self._block.type] if self._block else [])])
        for table, kind, names in _structure_members_in_kernel_toml(kernel):
            _require_structure_members(kernel.id, table, kind, names, self._members)

    def read_priorities(self, word: ReadWord, blocks: Iterable[int]) -> dict[int, int]:
        """Returns the priority in each task's control block, as the kernel numbers priorities. `word` reads the board's
        memory."""
        return self._read_control_block_member(self._block.priority if self._block else None, word, blocks)

    def read_task_ids_by_control_block(self, word: ReadWord, blocks: Iterable[int]) -> dict[int, int]:
        """Returns, for each task control block, the number by which the kernel's calls identify the task."""
        return self._read_control_block_member(self._block.number if self._block else None, word, blocks)

    def _read_control_block_member(self, member: str | None, word: ReadWord, blocks: Iterable[int]) -> dict[int, int]:
        """Returns the value of one member of each task control block. Empty if kernel.toml does not name the member."""
        if self._block is None or member is None:
            return {}
        place = self._members.get(self._block.type, {}).get(member)
        values = {item: place.read_member(word, item) for item in sorted(blocks) if item} if place is not None else {}
        return {block: value for block, value in values.items() if value is not None}

    def read_kernel_object_members(
        self, word: ReadWord, calls: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], dict[str, int]]:
        """Returns the members of every kernel object that was the first argument of a call, by (kind, address).

        `calls`: function -> the first arguments of its calls.
        """
        objects: dict[tuple[str, int], dict[str, int]] = {}
        for kind, facts in self._kernel.objects.items():
            members = self._members.get(facts.type, {})
            called = {call for name in self._functions_of_kind(kind) & calls.keys() for call in calls[name]}
            for address in sorted(called):  # the order of a set of names differs from process to process
                values = {
                    name: members[member].read_member(word, address)
                    for name, member in facts.members.items()
                    if members
                }
                values |= {
                    f"nonzero {name}": _is_structure_member_nonzero(members, name, word, address)
                    for name in facts.nonzero
                }
                objects[kind, address] = {name: value for name, value in values.items() if value is not None}
        return objects

    def _functions_of_kind(self, kind: str) -> set[str]:
        """Returns the kernel functions of all services of a kind of object, such as `semaphore`."""
        services = self._kernel.symbols.items()
        return {name for service, names in services if service.startswith(f"{kind}_") for name in names}
