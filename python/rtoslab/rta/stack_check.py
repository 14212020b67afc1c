"""Whether a task's stack ran over in a run: what is overwritten then makes the kernel do anything at all."""

from __future__ import annotations

from rtoslab.footprint import structure_members
from rtoslab.rta.firmware import Firmware
from rtoslab.targets import VirtualMachine

_END_BYTES = 32
"""At the far end of each stack, an exception's frame. Who has written into them has no room for another. The last words
may stay as they were while a call runs over: unoptimised code leaves gaps in its frames."""


def stack_ends(machine: VirtualMachine, firmware: Firmware, blocks: set[int]) -> dict[int, bytes]:
    """Control block -> the far end of its stack. Empty for a kernel that does not say where its stacks are."""
    block = firmware.kernel.memory.task_block if firmware.kernel.memory else None
    if block is None:
        return {}
    offset = structure_members(firmware.build.elf, block.type)[block.stack].offset
    bases = {item: int.from_bytes(machine.read(item + offset, 4), "little") for item in blocks}
    return {item: bytes(machine.read(base, _END_BYTES)) for item, base in bases.items()}


def overrun_stacks(before: dict[int, bytes], after: dict[int, bytes]) -> int:
    """How many stacks were used up to the room of an exception, or further."""
    return sum(before[item] != after.get(item) for item in before)
