"""Faults of the image on a virtual board: the core's state, and the stacks from which its callers are read.

A fault is seen as its handler begins. Then the core has just stored the frame that says where it came from, and the
handler has not yet touched a register (Armv7-M Architecture Reference Manual, DDI 0403E.e, B1.5.6).
"""

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rtoslab.targets.board import simulator_module
from rtoslab.targets.event_kinds import KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT
from rtoslab.targets.machine import VirtualBoardMachine

FAULT_NAMES: Final = {3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault"}
_EVENT: Final = struct.Struct("<Q8xHBB4x")
"""Cycle, identity, kind and core of a packed event."""
_IDENT_AT: Final = 16
_FAULT_IDENT: Final = re.compile(b"[%s]" % bytes(FAULT_NAMES))
"""Found in the lowest bytes of all events' identities, because a run has many events and few faults."""
_FRAME: Final = ("r0", "r1", "r2", "r3", "r12", "lr", "pc", "xpsr")
_FRAME_BYTES: Final = 32
_FLOAT_BYTES: Final = 72
"""S0 to S15, FPSCR and a reserved word above the other eight."""
_ALIGNED: Final = 1 << 9
"""In the stored xPSR: four bytes above the frame are padding."""
_ON_PROCESS_STACK: Final = 1 << 2
_NO_FLOATS: Final = 1 << 4
"""In EXC_RETURN: the frame is on the process stack; it has no floating-point registers."""
_NO_FRAME: Final = 1 << 3 | 1 << 4 | 1 << 11 | 1 << 12 | 1 << 18
"""In CFSR (DDI 0403E.e, B3.2.15): a frame could not be written or read (MUNSTKERR, MSTKERR, UNSTKERR, STKERR), or the
return from an exception was not valid (INVPC). Then no frame contains the registers of the code that failed."""
_STATUS: Final = {"CFSR": 0xE000_ED28, "HFSR": 0xE000_ED2C, "MMFAR": 0xE000_ED34, "BFAR": 0xE000_ED38}
_STACK_BYTES: Final = 16 * 1024
"""The part of each stack that is copied. Callers further out are not reported."""
_STEP: Final = 256
_EXCEPTION: Final = 0x1FF
"""The bits of xPSR that number the exception."""
_FIRST_HANDLER: Final = 2
_NOT_FETCHED: Final = 1 << 0 | 1 << 8
"""IACCVIOL and IBUSERR."""
_LEAST_EXC_RETURN: Final = 0xFFFF_FF00
_PAGE_BYTES: Final = 4096
"""Every memory of a board begins at a multiple of this."""
_BREAKPOINT: Final = 0xBE00


@dataclass(frozen=True, slots=True)
class BoardMemoryCopy:
    """A copy of a part of the board's memory."""

    start: int
    content: bytes

    def read_word(self, address: int) -> int | None:
        """Returns the word at an address in the copy. None outside the copy."""
        at = address - self.start
        return int.from_bytes(self.content[at : at + 4], "little") if 0 <= at <= len(self.content) - 4 else None


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the firmware (such as a HardFault) and the state of its core, as the fault's handler begins."""

    core: int
    exception: int
    cycle: int
    registers: Mapping[str, int]
    """r0 to r12, sp, lr, pc and xpsr as the faulting instruction had them. pc is that instruction's address. lr is 0 if
    no frame could be stored."""
    stacks: tuple[BoardMemoryCopy, ...]
    status: Mapping[str, int]
    """The fault status registers, by name. Empty on a core that has none."""
    opcode: int
    """The halfword at pc; 0 where there is no memory."""
    empty_vector: tuple[int, int] | None = None
    """Exception number and content of the vector that the core jumped to, if no code is there."""

    @property
    def exception_name(self) -> str:
        """Returns the exception's name: HardFault, MemManage, BusFault, UsageFault."""
        return FAULT_NAMES[self.exception]

    @property
    def is_breakpoint_instruction(self) -> bool:
        """Whether the instruction is a BKPT, on which a C library parks a program that returned."""
        return self.opcode & 0xFF00 == _BREAKPOINT


def fault_handler_entries(events: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields core, exception number and cycle of each entry into a fault handler, from packed events of the board."""
    yield from _fault_handler_events(events, KIND_EXCEPTION_ENTER)


def first_fault_handler_return_cycles(events: bytes) -> dict[tuple[int, int], int]:
    """Returns the cycle of the first return from each fault handler, by core and exception number, from packed
    events."""
    returns: dict[tuple[int, int], int] = {}
    for core, number, cycle in _fault_handler_events(events, KIND_EXCEPTION_EXIT):
        returns.setdefault((core, number), cycle)
    return returns


def _fault_handler_events(events: bytes, kind: int) -> Iterator[tuple[int, int, int]]:
    """Yields core, exception number and cycle of the packed events of one kind (entry or return) that belong to a
    fault."""
    for match in _FAULT_IDENT.finditer(events[_IDENT_AT :: _EVENT.size]):
        cycle, ident, its_kind, core = _EVENT.unpack_from(events, match.start() * _EVENT.size)
        if its_kind == kind and ident in FAULT_NAMES:
            yield core, ident, cycle


def read_processor_fault(machine: VirtualBoardMachine, core: int, exception: int, cycle: int) -> Fault:
    """Returns the state of a core that is about to execute the first instruction of a fault's handler."""
    now = machine.registers(core)
    exc_return = now["lr"]
    frame = now["psp"] if exc_return & _ON_PROCESS_STACK else now["msp"]
    status = _read_fault_status(machine, core)
    stored = dict(zip(_FRAME, _read_words(machine, frame, len(_FRAME)), strict=False))
    if status.get("CFSR", 0) & _NO_FRAME:
        stored = {"pc": now["exception_origin"], "lr": 0}
    floats = 0 if exc_return & _NO_FLOATS else _FLOAT_BYTES
    size = _FRAME_BYTES + floats + (4 if stored.get("xpsr", 0) & _ALIGNED else 0)
    registers = {name: stored.get(name, now.get(name, 0)) for name in (*_general_register_names(), "lr", "pc", "xpsr")}
    registers |= {"sp": frame + size, "pc": registers["pc"] & ~1}
    opcode = _read_words(machine, registers["pc"] & ~3, 1)
    half = opcode[0] >> 8 * (registers["pc"] & 2) & 0xFFFF if opcode else 0
    stacks = tuple(_copy_stack_memory(machine, now[name]) for name in ("msp", "psp"))
    empty_vector = _find_empty_vector(machine, now["vtor"], registers, status.get("CFSR", 0))
    return Fault(core, exception, cycle, registers, stacks, status, half, empty_vector)


def _find_empty_vector(
    machine: VirtualBoardMachine, table: int, registers: Mapping[str, int], cfsr: int
) -> tuple[int, int] | None:
    """Returns the exception number and the content of its vector, if the core faulted because there is no code at the
    vector's address. `registers` are those at the fault."""
    number = registers["xpsr"] & _EXCEPTION
    if number < _FIRST_HANDLER or registers["lr"] < _LEAST_EXC_RETURN:
        return None
    vector = _read_words(machine, table + 4 * number, 1)
    if not vector or vector[0] & ~1 != registers["pc"]:
        return None
    is_code = vector[0] & 1 and not cfsr & _NOT_FETCHED and _read_words(machine, registers["pc"] & ~3, 1)
    return None if is_code else (number, vector[0])


def core_state_as_fault(machine: VirtualBoardMachine, core: int) -> Fault:
    """Returns the present state of a core as a `Fault` without a cause, so that its call path can be shown."""
    registers = machine.registers(core)
    stacks = tuple(_copy_stack_memory(machine, registers[name]) for name in ("msp", "psp"))
    return Fault(core, 0, machine.cycle(), {**registers, "pc": registers["pc"] & ~1}, stacks, {}, 0)


def registers_of_exception_frame(stacks: Iterable[BoardMemoryCopy], frame: int, exc_return: int) -> dict[str, int]:
    """Returns the registers that an exception stacked at address `frame`, and the sp above them. Empty if the frame is
    outside `stacks`.

    `exc_return` is the handler's LR, which says whether the frame has floating-point registers.
    """
    for stack in stacks:
        words = [stack.read_word(frame + 4 * number) for number in range(len(_FRAME))]
        if None not in words:
            stored = {name: word for name, word in zip(_FRAME, words, strict=True) if word is not None}
            floats = 0 if exc_return & _NO_FLOATS else _FLOAT_BYTES
            return {**stored, "sp": frame + _FRAME_BYTES + floats + (4 if stored["xpsr"] & _ALIGNED else 0)}
    return {}


def _general_register_names() -> Iterator[str]:
    """Yields the names r0 to r12."""
    yield from (f"r{number}" for number in range(13))


def _read_fault_status(machine: VirtualBoardMachine, core: int) -> dict[str, int]:
    """Returns the fault status registers of a core by name. Empty if the core has none."""
    status = machine.read_registers(core, list(_STATUS.values()))
    return {name: word for name, word in zip(_STATUS, status, strict=True) if word is not None}


def _read_words(machine: VirtualBoardMachine, address: int, count: int) -> list[int]:
    """Returns `count` words of the board's memory. Empty outside memory."""
    try:
        content = machine.read(address, 4 * count)
    except (simulator_module().SimError, OverflowError):
        return []
    return [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]


def _copy_stack_memory(machine: VirtualBoardMachine, pointer: int) -> BoardMemoryCopy:
    """Returns a copy of the memory from a stack pointer upwards, at most 16 KiB and as far as there is memory. A stack
    that grew out of memory begins at the next page."""
    if not _read_words(machine, pointer & ~3, 1):
        pointer = pointer + _PAGE_BYTES & ~(_PAGE_BYTES - 1) & 0xFFFF_FFFF
    content = b""
    with suppress(simulator_module().SimError, OverflowError):
        while len(content) < _STACK_BYTES:
            content += machine.read(pointer + len(content), _STEP)
    return BoardMemoryCopy(pointer, content)
