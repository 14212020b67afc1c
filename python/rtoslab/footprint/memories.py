"""Which memory an address is in: those of board.toml, or without a board the regions every Cortex-M has."""

from collections.abc import Iterable
from dataclasses import dataclass

from rtoslab.catalogue import Board


@dataclass(frozen=True, slots=True)
class MemoryRegion:
    """A memory of a board: its name, first address and size in bytes."""

    name: str
    start: int
    size: int

    @property
    def is_flash(self) -> bool:
        """Whether the memory is flash. All address ranges of one flash count as one memory."""
        return self.name.startswith(("flash", "code"))


_ARCHITECTURE = (MemoryRegion("code region", 0, 0x2000_0000), MemoryRegion("SRAM region", 0x2000_0000, 0x2000_0000))
"""ARMv6-M and ARMv7-M architecture reference manuals, B3.1: the system address map."""
_ELSEWHERE = MemoryRegion("elsewhere", 0, 1 << 32)


def board_memory_regions(board: Board) -> tuple[MemoryRegion, ...]:
    """Returns the board's memories, the smallest first: where two overlap, the smaller one is meant."""
    facts = board.memory.model_dump()
    names = [key.removesuffix("_start") for key, value in facts.items() if key.endswith("_start") and value is not None]
    regions = [MemoryRegion(name, facts[f"{name}_start"], facts[f"{name}_bytes"]) for name in names]
    return tuple(sorted(regions, key=lambda region: region.size))


def find_memory_region(address: int, regions: Iterable[MemoryRegion]) -> MemoryRegion:
    """Returns the first of these memories that contains the address, or the region of the Cortex-M architecture that
    does."""
    for region in (*regions, *_ARCHITECTURE):
        if region.start <= address < region.start + region.size:
            return region
    return _ELSEWHERE
