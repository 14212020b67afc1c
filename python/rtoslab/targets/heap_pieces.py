"""Counts the pieces of free memory in a kernel's heap as the window opens, by the heap's own list.

The trap it prevents: a heap that is left in many pieces makes each allocation search longer or shorter. Counted calls
do not show it, since pieces are also made by other means."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rtoslab.catalogue import BlockChain, FreeList, Kernel
from rtoslab.targets.machine import VirtualMachine
from rtoslab.targets.structures import Word, places

HEAP_PIECES: Final = "heap.free_pieces"
_MOST_PIECES: Final = 1 << 16
"""More than any board's memory has room for. A list that is longer goes round in a circle."""


def free_pieces(machine: VirtualMachine, word: Word, image: bytes, kernel: Kernel) -> dict[str, int]:
    """Returns the number by its key, or nothing where it cannot be read surely.

    That is so if kernel.toml describes no list, the image has none, or the list is not in the order of addresses, as
    that of another allocator.
    """
    memory = kernel.memory
    pieces = None
    if memory and memory.free_list:
        pieces = _count_list(_Heap(machine, word, image, memory.free_list.type), memory.free_list)
    elif memory and memory.block_chain:
        pieces = _count_chain(_Heap(machine, word, image, memory.block_chain.type), memory.block_chain)
    return {} if pieces is None else {HEAP_PIECES: pieces}


class _Heap:
    """A heap's variables, and its blocks by the members of their structure."""

    def __init__(self, machine: VirtualMachine, word: Word, image: bytes, structure: str) -> None:
        self._machine = machine
        self._members = places(image, [structure]).get(structure, {})
        self.word = word

    def address(self, symbol: str) -> int | None:
        return self._machine.symbol(symbol) if symbol else None

    def value(self, symbol: str) -> int | None:
        """Reads a variable. None: the image does not have it."""
        address = self.address(symbol)
        return None if address is None else self.word(address)

    def member(self, block: int, name: str) -> int | None:
        """Reads a member of a block. None: there is no such member, or no memory."""
        place = self._members.get(name)
        return place.read(self.word, block) if place is not None else None


def _count_list(heap: _Heap, facts: FreeList) -> int | None:
    """Counts a list of free pieces."""
    head = heap.address(facts.head)
    if head is None:
        return None
    pieces = list(_pieces(heap, head, facts.next, heap.value(facts.mask) or 0))
    in_order = all(first < second for first, second in pairwise(pieces))
    return len(pieces) - 1 if pieces and in_order and heap.word(pieces[-1]) is not None else None


def _pieces(heap: _Heap, head: int, member: str, mask: int) -> Iterator[int]:
    """Yields the addresses in the list after its head. The last one ends the list and is no memory to be given."""
    address = head
    for _ in range(_MOST_PIECES):
        following = heap.member(address, member)
        if not following or following == mask:
            return
        address = following ^ mask
        yield address


def _count_chain(heap: _Heap, facts: BlockChain) -> int | None:
    """Counts the free ones in a chain of all blocks."""
    first, last = heap.value(facts.first), heap.value(facts.last)
    block, pieces = first, 0
    while first and last and block is not None and block < last:
        following, used = heap.member(block, facts.next), heap.member(block, facts.used)
        if following is None or used is None or first + following <= block:
            return None
        pieces += used == 0
        block = first + following
    return pieces if first and block == last else None
