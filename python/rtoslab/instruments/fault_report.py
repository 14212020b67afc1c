"""Describes a fault in words: the instruction and its function, the cause, and the callers.

Callers are read by the image's call frame information (DWARF 5, section 6.4), from the stack as it was. Code without
it, as of an assembler source, ends the path. So does a return address that no call precedes: a kernel gives each task
one, of the function that ends it.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rtoslab.base import ImageFileError
from rtoslab.instruments.lines import InlinedSourceLine, find_source_lines
from rtoslab.intake import open_elf_file, read_program_image
from rtoslab.targets import (
    FIRST_EXTERNAL,
    BoardMemoryCopy,
    Fault,
    SymbolIndex,
    VirtualBoardMachine,
    core_state_as_fault,
    registers_of_exception_frame,
)

Symbols = Sequence[tuple[int, int, str]]
_SP: Final = 13
_LR: Final = 14
_EXC_RETURN: Final = 0xFFFF_FF00
"""A return address from here on is no address: the caller was interrupted by an exception."""
_CALLERS_MOST: Final = 64
_EXECUTABLE: Final = 4
"""A section's flag."""
_NAMES: Final = {**{number: f"r{number}" for number in range(13)}, _SP: "sp", _LR: "lr"}
_RESET: Final = 0xFFFF_FFFF
"""LR as the core is released from reset: nobody called."""
# DDI 0403E.e, B3.2.15: bits of CFSR.
_CFSR: Final = {
    0: "the memory map or the MPU forbids the execution of this address",
    1: "the MPU forbids the access to this data",
    3: "the frame could not be read on return from an exception (MPU)",
    4: "the frame could not be written on entry to an exception (MPU)",
    5: "the MPU forbade the lazy saving of floating-point registers",
    8: "an instruction could not be fetched",
    9: "a data access failed",
    10: "a store failed, some instructions earlier",
    11: "the frame could not be read on return from an exception",
    12: "the frame could not be written on entry to an exception",
    13: "lazy saving of floating-point registers failed",
    16: "the instruction is undefined",
    17: "the core left the Thumb state, because the called address is even",
    18: "the return from an exception is not valid",
    19: "the coprocessor is off or absent: the FPU was not enabled",
    24: "the address is not aligned",
    25: "division by zero",
}
_MMFAR_VALID: Final = 1 << 7
_BFAR_VALID: Final = 1 << 15
_NOT_STACKED: Final = 1 << 4 | 1 << 12
"""MSTKERR and STKERR."""
_VECTOR_READ: Final = 1 << 1
"""HFSR.VECTTBL."""


def fault_sentences(fault: Fault, image: Path, symbols: Symbols) -> list[str]:
    """Returns sentences on a fault of the firmware: its place and cause, then one sentence for each caller."""
    path = [(fault.registers["pc"], True), *DwarfCallerFinder(image).callers(fault)]
    # A return address is that of the instruction after the call.
    inside = [address if is_interrupted else address - 2 for address, is_interrupted in path]
    places = find_source_lines(image, inside)
    index = SymbolIndex(symbols)
    frames = [
        _address_with_function_text(address, at, places, index) for (address, _), at in zip(path, inside, strict=True)
    ]
    first = (
        f"core {fault.core} took a {fault.exception_name} at cycle {fault.cycle:,} in {frames[0]}: "
        f"{_fault_cause_text(fault)}"
    )
    words = ["interrupted" if is_interrupted else "called from" for _, is_interrupted in path]
    return [first, *(f"  {word} {frame}" for word, frame in zip(words[1:], frames[1:], strict=True))]


def _address_with_function_text(
    address: int, inside: int, places: Mapping[int, InlinedSourceLine], symbols: SymbolIndex
) -> str:
    """Returns an address with function and source line as text. `inside` is the address of the instruction that they
    belong to."""
    symbol, line = symbols.find_symbol(inside), places[inside].line
    name = symbol[2] if symbol is not None else ""
    where = f"{name} at {address:#010x}" if name else f"{address:#010x}, which is not a function of the image"
    return f"{where} ({line})" if line else where


def _fault_cause_text(fault: Fault) -> str:
    """Returns the cause of a fault in words, from the fault status registers."""
    cfsr = fault.status.get("CFSR", 0)
    causes = [message for bit, message in _CFSR.items() if cfsr >> bit & 1]
    if fault.status.get("HFSR", 0) & _VECTOR_READ:
        causes.append("the vector table could not be read")
    text = "; ".join(causes) or "the core does not report the reason"
    if fault.empty_vector is not None:
        number, vector = fault.empty_vector
        text = f"{_exception_text(number)} has no handler, because its vector is {vector:#010x}"
    for valid, name in ((_MMFAR_VALID, "MMFAR"), (_BFAR_VALID, "BFAR")):
        if cfsr & valid:
            text += f" (address {fault.status[name]:#010x})"
    if cfsr & _NOT_STACKED:
        text += (
            f"; the stack pointer was {fault.registers['sp']:#010x}, so the stack overflowed, or its pointer was "
            "overwritten"
        )
    return f"{text}."


def _exception_text(number: int) -> str:
    """Returns an exception in words, such as `interrupt 27 (exception 43)`."""
    external = f"interrupt {number - FIRST_EXTERNAL} (exception {number})"
    return external if number >= FIRST_EXTERNAL else f"exception {number}"


class DwarfCallerFinder:
    """Finds the callers of a halted core's function by the call frame information (DWARF) of an image."""

    def __init__(self, image: Path) -> None:
        self._entries, self._code = _read_call_frames_and_machine_code(image)

    def callers(self, fault: Fault) -> list[tuple[int, bool]]:
        """Returns an address in each function in progress at a fault, the innermost first: the return address of its
        call or, if an exception interrupted it (True), the next instruction."""
        return list(_unwind_callers(self._entries, self._code, fault)) if self._entries else []

    def call_path(self, machine: VirtualBoardMachine, core: int) -> list[tuple[int, bool]]:
        """Returns an address in each function on a halted core's call path, the innermost first, and whether an
        exception interrupted the function, which then did not call the next inner one."""
        state = core_state_as_fault(machine, core)
        callers = [
            (address if is_interrupted else address - 2, is_interrupted)
            for address, is_interrupted in self.callers(state)
        ]
        return [(state.registers["pc"], False), *callers]


def _read_call_frames_and_machine_code(image: Path) -> tuple[list[Any], list[BoardMemoryCopy]]:
    """Returns an image's call frame entries that have an address, and its code. Both are empty if there are none, or if
    they are damaged."""
    try:
        content = read_program_image(image)
        with open_elf_file(content, image.name, ImageFileError) as elf:
            if not elf.has_dwarf_info():
                return [], []
            entries = _call_frame_entries(elf.get_dwarf_info())
            addressed = [entry for entry in entries if hasattr(entry, "header") and "initial_location" in entry.header]
            executable = [item for item in elf.iter_sections() if item["sh_flags"] & _EXECUTABLE]
            return addressed, [BoardMemoryCopy(item["sh_addr"], item.data()) for item in executable]
    except ImageFileError:
        return [], []


def _call_frame_entries(info: Any) -> Iterator[Any]:
    """Yields the entries of DWARF call frame information."""
    if info.has_CFI():
        yield from info.CFI_entries()
    if info.has_EH_CFI():
        yield from info.EH_CFI_entries()


def _is_return_address(code: Sequence[BoardMemoryCopy], address: int) -> bool:
    """Whether the instruction before an address is a call (BL or BLX). True where the image has no code, because the
    boot ROM calls, too.

    Armv7-M Architecture Reference Manual, A7.7.18 and A7.7.19.
    """
    word = next((word for part in code if (word := part.read_word(address - 4)) is not None), None)
    if word is None:
        return True
    first, second = word & 0xFFFF, word >> 16
    return (first & 0xF800 == 0xF000 and second & 0xD000 == 0xD000) or second & 0xFF80 == 0x4780


def _unwind_callers(
    entries: Sequence[Any], code: Sequence[BoardMemoryCopy], fault: Fault
) -> Iterator[tuple[int, bool]]:
    """Yields the return addresses of the functions in progress at a fault, from its registers and stacks, the innermost
    first, and whether an exception interrupted the function. Then the address is that of its next instruction."""
    registers = {number: fault.registers[name] for number, name in _NAMES.items()}
    pc = fault.registers["pc"]
    for number in range(_CALLERS_MOST):
        # A call may be the last instruction of its function: then the address after it is another's.
        caller = _caller_registers(entries, pc - (2 if number else 0), registers, fault.stacks)
        if caller is None and number == 0:
            caller = {**registers, _LR: registers[_LR]}  # a leaf without frame information: it returns by LR
        if caller is None:
            return
        registers, returns = caller, caller[_LR]
        if returns == _RESET:
            return
        if returns >= _EXC_RETURN:
            frame = registers_of_exception_frame(fault.stacks, registers[_SP], returns)
            if not frame.get("pc"):
                return
            registers = {number: frame.get(name, registers[number]) for number, name in _NAMES.items()}
            pc = frame["pc"] & ~1
            yield pc, True
            continue
        if not returns or returns & ~1 == pc:
            return
        pc = returns & ~1
        if not _is_return_address(code, pc):
            return
        yield pc, False


def _caller_registers(
    entries: Sequence[Any], pc: int, registers: dict[int, int], stacks: Sequence[BoardMemoryCopy]
) -> dict[int, int] | None:
    """Returns the registers of the calling function, with its return address in LR, by DWARF number. None if no entry
    describes the code at `pc`, or if the stack is unknown."""
    entry = next((item for item in entries if 0 <= pc - item["initial_location"] < item["address_range"]), None)
    if entry is None:
        return None
    rows = [row for row in entry.get_decoded().table if row["pc"] <= pc]
    if not rows or rows[-1]["cfa"].reg is None:
        return None
    row = rows[-1]
    frame = registers[row["cfa"].reg] + row["cfa"].offset & 0xFFFF_FFFF
    registers_ = dict(registers)
    for number in _NAMES:
        rule = row.get(number)
        if rule is not None and rule.type == "OFFSET":
            words = (stack.read_word(frame + rule.arg) for stack in stacks)
            word = next((item for item in words if item is not None), None)
            if word is None:
                return None
            registers_[number] = word
        elif number == _LR and rule is not None and rule.type == "UNDEFINED":
            return None
    return {**registers_, _SP: frame}
