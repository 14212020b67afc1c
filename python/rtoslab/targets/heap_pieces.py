"""In how many pieces the free memory of a kernel's heap is as the window opens, by the heap's own list.

The trap it prevents: a heap that is left in many pieces makes each allocation search longer or shorter. Calls that are
counted do not tell of it, since pieces are also made by other means.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rtoslab.catalogue import Kernel
from rtoslab.targets.machine import VirtualMachine
from rtoslab.targets.structures import Place, Word, places

HEAP_PIECES: Final = "heap.free_pieces"
_MOST_PIECES: Final = 1 << 16
"""More than any board's memory has room for. A list that is longer goes round in a circle."""


def free_pieces(machine: VirtualMachine, word: Word, image: bytes, kernel: Kernel) -> dict[str, int]:
    """Returns the number by its key, or nothing where it cannot be read surely.

    That is so if kernel.toml describes no list, the image has none, or the list is not in the order of addresses, as
    that of another allocator.
    """
    facts = kernel.memory.free_list if kernel.memory else None
    if facts is None:
        return {}
    next_piece = places(image, [facts.type]).get(facts.type, {}).get(facts.next)
    head = machine.symbol(facts.head)
    if next_piece is None or head is None:
        return {}
    masked_by = machine.symbol(facts.mask) if facts.mask else None
    mask = 0 if masked_by is None else word(masked_by)
    pieces = list(_pieces(word, head, next_piece, mask or 0))
    in_order = all(first < second for first, second in pairwise(pieces))
    if not pieces or not in_order or word(pieces[-1]) is None:
        return {}
    return {HEAP_PIECES: len(pieces) - 1}


def _pieces(word: Word, head: int, next_piece: Place, mask: int) -> Iterator[int]:
    """Yields the addresses in the list behind its head. The last one ends the list and is no memory to be given."""
    address = head
    for _ in range(_MOST_PIECES):
        following = next_piece.read(word, address)
        if not following or following == mask:
            return
        address = following ^ mask
        yield address
