"""Finds the word that points at the running task, and the names of tasks in their control blocks."""

from collections.abc import Iterable
from contextlib import suppress

from rtoslab.base import ImageFileError, RunError, SymbolError
from rtoslab.catalogue import Kernel
from rtoslab.footprint import structure_member_offsets
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.session import ObservedRunRecording
from rtoslab.targets import (
    StructureMemberLayout,
    convert_simulator_errors,
    current_task_addresses,
    read_structure_member_text,
)


def current_task_pointers(machine: ObservedMachine, kernel: Kernel | None, cores: int) -> dict[int, int]:
    """Returns, for each core, the address of the kernel's pointer to the current task. Empty if it is unknown. Raises
    ImageFileError if the board has no memory there.

    If an image runs on two cores but its kernel was built for one, the result has only that kernel's pointer.
    """
    words: dict[int, int] = {}
    for number in (cores, 1):
        with suppress(SymbolError):
            words = current_task_addresses(machine, kernel, number) if kernel else {}
            break
    for address in words.values():
        _require_board_memory(machine, address)
    return words


def _require_board_memory(machine: ObservedMachine, address: int) -> None:
    """Raises ImageFileError if the board has no memory at an address of the kernel's variables."""
    try:
        with convert_simulator_errors(RunError):
            machine.read(address, 4)
    except RunError:
        raise ImageFileError(
            f"The image has its kernel's variables at {address:#010x}, where the board has no memory; name the board "
            "that it is linked for with --board."
        ) from None


def task_names_by_control_block(recording: ObservedRunRecording, blocks: Iterable[int]) -> dict[int, str]:
    """Returns the name of each task by its control block, read from memory at the end of a recorded run."""
    result = {block: _task_name(recording, block) for block in sorted(blocks) if block}
    names = list(result.values())
    return {block: name if names.count(name) == 1 else f"{name} {block:#x}" for block, name in result.items()}


def _task_name(recording: ObservedRunRecording, block: int) -> str:
    """Returns the task's name from its control block, or a name made of the block's address."""
    facts = recording.subject.kernel.memory if recording.subject.kernel else None
    if facts is None or facts.task_block is None:
        return f"task {block:#x}"
    text = ""
    with suppress(SymbolError), convert_simulator_errors(SymbolError):
        members = _structure_members(recording, facts.task_block.type)
        text = read_structure_member_text(members, facts.task_block.name, block, recording.machine.read)
    return text or f"task {block:#x}"


_CACHE: dict[tuple[str, str], dict[str, StructureMemberLayout]] = {}


def _structure_members(recording: ObservedRunRecording, structure: str) -> dict[str, StructureMemberLayout]:
    """Returns the place of each member of a C structure, cached by image."""
    key = (str(recording.subject.elf), structure)
    if key not in _CACHE:
        _CACHE[key] = structure_member_offsets(recording.subject.elf, structure)
    return _CACHE[key]
