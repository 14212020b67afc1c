"""Counts the pieces of free memory in a kernel's heap as the window opens, by the heap's own list.

A heap that is left in many pieces makes each allocation search longer or shorter. Counted calls do not show such a
heap, because pieces are also made by other means."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rtoslab.catalogue import HeapBlockChain, HeapFreeList, Kernel
from rtoslab.targets.machine import VirtualBoardMachine
from rtoslab.targets.structures import ReadWord, find_structure_members

HEAP_PIECES: Final = "heap.free_pieces"
_MOST_PIECES: Final = 1 << 16
"""More than any board's memory has room for. A list that is longer goes round in a circle."""


def count_free_heap_blocks(
    machine: VirtualBoardMachine, read_word: ReadWord, image: bytes, kernel: Kernel
) -> dict[str, int]:
    """Returns the number of free pieces in the kernel's heap, under the key HEAP_PIECES. Empty if it is unknown.

    It is unknown if kernel.toml describes no list, the image has none, or the list is not in the order of addresses,
    as that of another allocator.
    """
    memory = kernel.memory
    pieces = None
    if memory and memory.free_list:
        pieces = _count_pieces_in_free_list(
            _HeapReader(machine, read_word, image, memory.free_list.type), memory.free_list
        )
    elif memory and memory.block_chain:
        pieces = _count_free_blocks_in_chain(
            _HeapReader(machine, read_word, image, memory.block_chain.type), memory.block_chain
        )
    return {} if pieces is None else {HEAP_PIECES: pieces}


class _HeapReader:
    """Reads a kernel's heap in the board's memory: variables, and members of the heap's blocks."""

    def __init__(self, machine: VirtualBoardMachine, word: ReadWord, image: bytes, structure: str) -> None:
        self._machine = machine
        self._members = find_structure_members(image, [structure]).get(structure, {})
        self.read_word = word

    def symbol_address(self, symbol: str) -> int | None:
        """Returns the address of a symbol. None if the image does not have it."""
        return self._machine.symbol(symbol) if symbol else None

    def read_variable(self, symbol: str) -> int | None:
        """Returns the value of a variable of the heap. None if the image does not have it."""
        address = self.symbol_address(symbol)
        return None if address is None else self.read_word(address)

    def read_member(self, block: int, name: str) -> int | None:
        """Returns the value of a member of the heap block at address `block`. None if there is no such member, or no
        memory."""
        place = self._members.get(name)
        return place.read_member(self.read_word, block) if place is not None else None


def _count_pieces_in_free_list(heap: _HeapReader, facts: HeapFreeList) -> int | None:
    """Returns the number of pieces in a heap's linked list of free memory. None if it is unknown."""
    head = heap.symbol_address(facts.head)
    if head is None:
        return None
    pieces = list(_addresses_in_free_list(heap, head, facts.next, heap.read_variable(facts.mask) or 0))
    in_order = all(first < second for first, second in pairwise(pieces))
    return len(pieces) - 1 if pieces and in_order and heap.read_word(pieces[-1]) is not None else None


def _addresses_in_free_list(heap: _HeapReader, head: int, member: str, mask: int) -> Iterator[int]:
    """Yields the addresses in a linked list of free memory. The last one marks the end and is no free piece. `mask` is
    combined with each pointer by XOR."""
    address = head
    for _ in range(_MOST_PIECES):
        following = heap.read_member(address, member)
        if not following or following == mask:
            return
        address = following ^ mask
        yield address


def _count_free_blocks_in_chain(heap: _HeapReader, facts: HeapBlockChain) -> int | None:
    """Returns the number of free blocks in a heap that chains all its blocks, used or free. None if it is unknown."""
    first, last = heap.read_variable(facts.first), heap.read_variable(facts.last)
    block, pieces = first, 0
    while first and last and block is not None and block < last:
        following, used = heap.read_member(block, facts.next), heap.read_member(block, facts.used)
        if following is None or used is None or first + following <= block:
            return None
        pieces += used == 0
        block = first + following
    return pieces if first and block == last else None
