"""Finds stacks that overflowed in a run. An overflow overwrites other data, after which the kernel may do anything."""

from __future__ import annotations

from rtoslab.footprint import structure_member_offsets
from rtoslab.rta.firmware import TaskSetFirmware
from rtoslab.targets import VirtualBoardMachine

_END_BYTES = 32
"""The bytes checked at the far end of each stack, the size of an exception's frame. A task that has written into them
has no room for another frame. Not all of them change in an overflow, because unoptimised code leaves gaps in its
frames."""


def read_task_stack_ends(
    machine: VirtualBoardMachine, firmware: TaskSetFirmware, task_blocks: set[int]
) -> dict[int, bytes]:
    """Returns the bytes at the far end of each task's stack, by control block.
    Empty for a kernel that does not declare where its stacks are.
    """
    block = firmware.kernel.memory.task_block if firmware.kernel.memory else None
    if block is None:
        return {}
    offset = structure_member_offsets(firmware.build.elf_path, block.type)[block.stack].offset
    bases = {item: int.from_bytes(machine.read(item + offset, 4), "little") for item in task_blocks}
    return {item: bytes(machine.read(base, _END_BYTES)) for item, base in bases.items()}


def count_overflowed_stacks(before: dict[int, bytes], after: dict[int, bytes]) -> int:
    """Returns the number of task stacks that left no room for an exception's frame."""
    return sum(before[item] != after.get(item) for item in before)
