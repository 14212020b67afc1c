"""Recognises a run that ended in a handler that nobody wrote: the endless loop of start-up code for free vectors.

All free vectors name this handler, so its name does not show which interrupt came. The exception's number shows it.
"""

from collections.abc import Iterable
from typing import Final

from rtoslab.base import without_thumb_bit
from rtoslab.targets.board import SymbolIndex, first_symbol_per_address
from rtoslab.targets.exceptions import FIRST_EXTERNAL
from rtoslab.targets.faults import FAULT_NAMES
from rtoslab.targets.machine import VirtualBoardMachine
from rtoslab.targets.vector_table import read_exception_vectors, read_little_endian

_EXCEPTION: Final = 0x1FF
"""The bits of xPSR that number the exception."""
_FIRST_HANDLER: Final = 2
_VECTORS: Final = 64
"""The number of vectors that are compared: more than start-up code leaves free on any chip."""
_LOOP_BYTES: Final = 32
"""The longest endless loop."""
_EMPTY: Final = frozenset({0xBE, 0xBF})
"""The upper bytes of the opcodes of BKPT and of hints."""
_BRANCH: Final = 0xE000
"""The opcode of `B` in 16 bits, without its 11 bits of offset."""


def cores_in_default_handlers(machine: VirtualBoardMachine, cores: int) -> list[str]:
    """Returns a sentence for each core that hangs in the default handler of an exception without a handler."""
    by_core = (_core_in_default_handler_sentence(machine, core) for core in range(cores))
    return [item for item in by_core if item]


def cores_in_endless_handlers(machine: VirtualBoardMachine, cores: int) -> list[str]:
    """Returns a sentence for each core that hangs in a default handler, or in the endless loop of a fault's handler."""
    by_core = (
        _core_in_default_handler_sentence(machine, core) or _core_in_fault_handler_sentence(machine, core)
        for core in range(cores)
    )
    return [item for item in by_core if item]


def _core_in_fault_handler_sentence(machine: VirtualBoardMachine, core: int) -> str:
    """Returns a sentence if a core hangs in the handler of a fault, or in a function that it called. Else an empty
    text."""
    registers = machine.registers(core)
    name = FAULT_NAMES.get(registers["xpsr"] & _EXCEPTION)
    pc = without_thumb_bit(registers["pc"])
    if name is None or not _is_endless_loop(machine, pc, pc - _LOOP_BYTES):
        return ""
    symbol = SymbolIndex(first_symbol_per_address(machine.symbols())).find_symbol(pc)
    place = f"{pc:#010x}" if symbol is None else symbol[2]
    return f"Core {core} took a {name}, and ended in {place}, the endless loop of its handler."


def _core_in_default_handler_sentence(machine: VirtualBoardMachine, core: int) -> str:
    """Returns a sentence if a core hangs in a default exception handler, else an empty text."""
    registers = machine.registers(core)
    number = registers["xpsr"] & _EXCEPTION
    if number < _FIRST_HANDLER:
        return ""
    table = registers["vtor"]
    vectors = read_exception_vectors(machine, table, max(number + 1, FIRST_EXTERNAL + _VECTORS))
    if number >= len(vectors):
        return ""
    handler = without_thumb_bit(vectors[number])
    pc = without_thumb_bit(registers["pc"])
    shared = sum(without_thumb_bit(vector) == handler for vector in vectors[_FIRST_HANDLER:] if vector)
    if shared < 2 or not 0 <= pc - handler < _LOOP_BYTES or not _is_endless_loop(machine, pc, handler, is_empty=True):
        return ""
    source = f"interrupt {number - FIRST_EXTERNAL}" if number >= FIRST_EXTERNAL else "an exception"
    return (
        f"Core {core} ended in {_symbol_name(machine.symbols(), handler)}, an endless loop that {shared} vectors "
        f"share: {source} (exception {number}, vector at {table + 4 * number:#010x}) has no handler."
    )


def _is_endless_loop(machine: VirtualBoardMachine, pc: int, start: int, *, is_empty: bool = False) -> bool:
    """Whether the code at `pc` is an endless loop: the next unconditional branch leads back to `start` or after it, at
    or before `pc`. `is_empty`: only if the loop has nothing but hints (NOP, WFI) and BKPT besides."""
    for at in range(0, _LOOP_BYTES, 2):
        opcode = read_little_endian(machine, pc + at, 2)
        if opcode is None:
            return False
        if opcode & 0xF800 == _BRANCH:
            offset = (opcode & 0x7FF) - (opcode & 0x400) * 2
            target = pc + at + 4 + 2 * offset
            body = [read_little_endian(machine, address, 2) for address in range(target, pc + at, 2)]
            is_work = any(word is None or word >> 8 not in _EMPTY for word in body)
            return start <= target <= pc and not (is_empty and is_work)
        if opcode >> 12 == 0xD or opcode & 0xFF00 == 0xBD00 or opcode & 0xFF80 == 0x4700:
            return False  # a condition, or the handler's return
    return False


def _symbol_name(symbols: Iterable[tuple[int, int, str]], address: int) -> str:
    """Returns the name of the symbol at an address, or the address as text."""
    return next((name for start, _, name in first_symbol_per_address(symbols) if start == address), f"{address:#010x}")
