"""The registers of a task that does not run, read from the frame that its kernel left on its stack.

Kernels and their versions differ in what they store, and an image does not say which of the ways it was built with. So
each way that a kernel is known to have is tried, and counts only if what comes out can be a task: code at the program
counter, the Thumb bit set, no exception in progress, a stack pointer inside the stack.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from rtoslab.base import without_thumb_bit

Word = Callable[[int], int | None]
"""Reads a word of the board's memory. None where there is none."""

_CORE_FRAME: Final = ("r0", "r1", "r2", "r3", "r12", "lr", "pc", "xpsr")
_CORE_FRAME_BYTES: Final = 32
_FLOAT_FRAME_BYTES: Final = 104
_FLOATS: Final = tuple(f"s{number}" for number in range(16))
_HIGH_FLOATS: Final = tuple(f"s{number}" for number in range(16, 32))
_ALIGNED: Final = 1 << 9
"""In the stored xPSR: four bytes above the frame are padding."""
_THUMB: Final = 1 << 24
_EXCEPTION: Final = 0x1FF
_EXC_RETURN: Final = 0xFFFF_FF00
_THREAD: Final = 1 << 3
_PROCESS_STACK: Final = 1 << 2
_NO_FLOATS: Final = 1 << 4


@dataclass(frozen=True, slots=True)
class SuspendedTaskStack:
    """The stack of a task that is not running, with the frame that its kernel saved there."""

    frame: int
    """Address of the lowest word that the kernel stored."""
    stack: range
    """Addresses of the stack. Empty if it is unknown."""
    exc_return: int | None = None
    """From the control block, where the kernel keeps it there."""


def registers_from_saved_frame(
    task: SuspendedTaskStack, frames: Iterable[str], word: Word, is_code: Callable[[int], bool]
) -> dict[str, int]:
    """Returns the registers of a task that is not running, by name, from the frame that the kernel saved on its stack.
    Empty if no layout fits.

    `frames` are the layouts to try, as in `KernelTasks.frames`. `is_code` tells whether an address is code.
    """
    for frame in frames:
        registers = _read_saved_register_frame(task, frame.split(), word)
        if registers is not None and _can_be_waiting_task_registers(registers, task.stack, is_code):
            return registers
    return {}


def _can_be_waiting_task_registers(registers: dict[str, int], stack: range, is_code: Callable[[int], bool]) -> bool:
    """Whether these can be the registers of a task that is not running, by its stack and code."""
    state, address, pointer = registers["xpsr"], registers["pc"], registers["sp"]
    in_stack = not stack or stack.start <= pointer <= stack.stop
    return state & _THUMB != 0 and state & _EXCEPTION == 0 and address & 1 == 0 and is_code(address) and in_stack


def _read_saved_register_frame(task: SuspendedTaskStack, parts: Iterable[str], word: Word) -> dict[str, int] | None:
    """Returns the registers that a saved frame with this layout contains. None if the frame cannot have this layout."""
    registers: dict[str, int] = {}
    at, exc_return = task.frame, task.exc_return
    has_floats = exc_return is not None and not exc_return & _NO_FLOATS
    for part in parts:
        for name in _saved_register_names(part, has_floats=has_floats):
            value = word(at)
            if value is None:
                return None
            at += 4
            if name in {"exc", "flag"}:
                state = _says_float_registers_saved(name, value)
                if state is None:
                    return None
                has_floats = state
            elif name == "return":
                return _restore_return_address(registers, value, at)
            elif name != "skip":
                registers[name] = value
    return _with_exception_frame_registers(registers, at, word, has_floats=has_floats)


def _says_float_registers_saved(name: str, value: int) -> bool | None:
    """Whether a word of a saved frame says that floating-point registers were saved. None if it cannot be such a
    word."""
    if name == "flag":
        return value == 1 if value <= 1 else None
    returns_to_task = value & _EXC_RETURN == _EXC_RETURN and value & _THREAD and value & _PROCESS_STACK
    return not value & _NO_FLOATS if returns_to_task else None


def _saved_register_names(part: str, *, has_floats: bool) -> Iterable[str]:
    """Returns the register names of one part of a saved frame's layout, such as `r4-r11`."""
    registers = re.fullmatch(r"([rs])(\d+)-\1(\d+)", part)
    if registers is not None:
        return [f"{registers[1]}{number}" for number in range(int(registers[2]), int(registers[3]) + 1)]
    if part == "float":
        return _HIGH_FLOATS if has_floats else ()
    return (*_FLOATS, *_HIGH_FLOATS, "fpscr") if part == "float-all" else (part,)


def _restore_return_address(registers: dict[str, int], address: int, pointer: int) -> dict[str, int] | None:
    """Returns the registers of a task that a function has left, and that continues at the address it returns to.
    None if that is no Thumb address. `pointer`: the stack pointer then.
    """
    if address == without_thumb_bit(address):
        return None
    return {**registers, "lr": address, "pc": without_thumb_bit(address), "sp": pointer, "psp": pointer, "xpsr": _THUMB}


def _with_exception_frame_registers(
    registers: dict[str, int], at: int, word: Word, *, has_floats: bool
) -> dict[str, int] | None:
    """Returns the registers with those that the core itself stored at address `at`. None outside memory.

    Armv7-M Architecture Reference Manual, B1.5.6.
    """
    names = (*_CORE_FRAME, *(*_FLOATS, "fpscr") * has_floats)
    values = [word(at + 4 * number) for number in range(len(names))]
    if None in values:
        return None
    stored = {name: value for name, value in zip(names, values, strict=True) if value is not None}
    size = _FLOAT_FRAME_BYTES if has_floats else _CORE_FRAME_BYTES
    pointer = at + size + (4 if stored["xpsr"] & _ALIGNED else 0)
    return {**registers, **stored, "sp": pointer, "psp": pointer, "xpsr": stored["xpsr"] & ~_ALIGNED}
