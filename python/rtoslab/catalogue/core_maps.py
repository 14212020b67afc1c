"""The maps that divide a board between two kernels, one on each core: `firmware/amp/<board>/map.toml`.

The linker scripts are made of the same file. A map whose parts overlap, or leave the board's memories, is refused."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from pydantic import Field, model_validator

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue.schemas import Board

MAP_FILE: Final = "map.toml"
PAIR_CORES: Final = 2
"""The cores of a board that two kernels share, and so the images on it."""
DIVISIONS: Final = ("banks", "striped")
"""The ways to divide the SRAM."""
_ALIAS: Final = {"rp2040": (0x2100_0000, 0x4_0000)}
"""Chip -> the start and bytes of an alias of its SRAM."""


class CoreImageLayout(StrictFileSchemaModel):
    """The place of one core's image in the flash, its stack, and its FIFO's interrupt."""

    flash_start: int
    flash_bytes: int
    stack_start: int
    stack_bytes: int
    fifo_irq: int
    """The interrupt line of the words that the other core sends."""


class SramDivision(StrictFileSchemaModel):
    """A division of the SRAM between two cores, with the page that both use."""

    core0_start: int
    core0_bytes: int
    core1_start: int
    core1_bytes: int
    shared_start: int
    shared_bytes: int


class SpinlockAssignment(StrictFileSchemaModel):
    """The hardware spinlocks of a map: which number is for messages, which ones belong to core 1."""

    message: int
    core1_last_word: int


class PeripheralMap(StrictFileSchemaModel):
    """The core that alone sets up or uses each shared part of the chip."""

    clocks: int = Field(ge=0, le=1)
    serial_port: int = Field(ge=0, le=1)
    boot_block: int = Field(ge=0, le=1)


class DualKernelMemoryMap(StrictFileSchemaModel):
    """The content of `firmware/amp/<board>/map.toml`."""

    core0: CoreImageLayout
    core1: CoreImageLayout
    banks: SramDivision
    striped: SramDivision
    spinlocks: SpinlockAssignment
    peripherals: PeripheralMap

    @model_validator(mode="after")
    def _require_disjoint_image_resources(self) -> "DualKernelMemoryMap":
        """Raises ValueError if the memories of two images overlap, if both cores have one interrupt line, or if a
        spinlock has two uses."""
        for name in DIVISIONS:
            parts = list(self.memory_map_regions(name))
            for (one, start, size), (two, other_start, other_size) in combinations(parts, 2):
                if start < other_start + other_size and other_start < start + size:
                    raise ValueError(f"{one} and {two} overlap at {max(start, other_start):#010x} in [{name}]")
        if self.core0.fifo_irq == self.core1.fifo_irq:
            raise ValueError(f"both cores have the interrupt line {self.core0.fifo_irq}")
        if self.spinlocks.message == self.spinlocks.core1_last_word:
            raise ValueError(f"the spinlock {self.spinlocks.message} has two uses")
        return self

    @property
    def core_image_layouts(self) -> tuple[CoreImageLayout, CoreImageLayout]:
        """Returns the places of the images of core 0 and core 1."""
        return self.core0, self.core1

    def find_sram_partition(self, name: str) -> SramDivision:
        """Returns the division of the SRAM between the cores of this name (`banks` or `striped`)."""
        division: SramDivision = getattr(self, name)
        return division

    def memory_map_regions(self, name: str) -> Iterator[tuple[str, int, int]]:
        """Yields the name, start and size in bytes of every memory part of the map. `name` is the division of the
        SRAM."""
        for core, image in enumerate(self.core_image_layouts):
            yield f"core{core}.flash", image.flash_start, image.flash_bytes
            yield f"core{core}.stack", image.stack_start, image.stack_bytes
        division = self.find_sram_partition(name)
        yield f"{name}.core0", division.core0_start, division.core0_bytes
        yield f"{name}.core1", division.core1_start, division.core1_bytes
        yield f"{name}.shared", division.shared_start, division.shared_bytes


def require_core_map_fits_board(core_map: DualKernelMemoryMap, board: Board, source: str) -> None:
    """Raises CatalogueError if a part of the map is outside the board's memories or an interrupt line is taken.
    `source` is the map's file."""
    memories = [
        (board.memory.flash_start, board.memory.flash_bytes),
        (board.memory.sram_start, board.memory.sram_bytes),
    ]
    if board.chip in _ALIAS:
        memories.append(_ALIAS[board.chip])
    for name in DIVISIONS:
        for part, start, size in core_map.memory_map_regions(name):
            if not any(first <= start and start + size <= first + length for first, length in memories):
                raise CatalogueError(
                    f"{source}: {part} from {start:#010x} on, {size:#x} bytes, is outside the memories of "
                    f"{board.title}; correct the map."
                )
    lines = [(f"core{core}.fifo_irq", image.fifo_irq) for core, image in enumerate(core_map.core_image_layouts)]
    for part, line in lines:
        if not 0 <= line < board.irq.lines or line in {board.irq.soft, board.irq.asynchronous, board.pins.in_irq}:
            raise CatalogueError(
                f"{source}: {part} = {line} is no free interrupt line of {board.title}; correct the map."
            )
