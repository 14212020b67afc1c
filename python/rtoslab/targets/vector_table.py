"""The vector table that a core uses, and the exceptions of a handler by its name."""

from itertools import takewhile
from typing import Final

from rtoslab.base import PlanError, count_with_noun, without_thumb_bit
from rtoslab.catalogue import Board
from rtoslab.targets.board import find_symbol_address, simulator_module
from rtoslab.targets.exceptions import FIRST_EXTERNAL, NMI, PENDSV, SYSTICK, exception_name, parse_exception_number
from rtoslab.targets.machine import VirtualBoardMachine

_RAISED: Final = frozenset({NMI, PENDSV, SYSTICK})
"""Exceptions of the core that can be raised from outside. The others follow an instruction."""
_MOST_NAMED: Final = 4


def read_little_endian(machine: VirtualBoardMachine, address: int, size: int) -> int | None:
    """Returns a little-endian number of `size` bytes in memory. None where there is no memory."""
    try:
        return int.from_bytes(machine.read(address, size), "little")
    except (simulator_module().SimError, OverflowError):
        return None


def read_exception_vectors(machine: VirtualBoardMachine, table: int, count: int) -> list[int]:
    """Returns up to `count` vectors of the exception table at address `table`, as far as they are in memory."""
    words = (read_little_endian(machine, table + 4 * number, 4) for number in range(count))
    return list(takewhile(lambda word: word is not None, words))  # type: ignore[arg-type]


def find_exception_number(machine: VirtualBoardMachine, board: Board, core: int, name: str) -> int:
    """Returns the number of an exception from its name (`irq5`, `systick`), or from its handler as symbol or 0x
    address. A handler is looked up in the vector table that the core uses now. Raises PlanError, SymbolError."""
    try:
        return parse_exception_number(name, board)
    except PlanError:
        if name.lower().removeprefix("irq").lstrip("-").isdigit():
            raise
    address = find_symbol_address(machine, name)
    table = machine.registers(core)["vtor"]
    vectors = read_exception_vectors(machine, table, FIRST_EXTERNAL + board.irq.lines)
    numbers = [number for number, vector in enumerate(vectors) if number > 1 and without_thumb_bit(vector) == address]
    possible = [number for number in numbers if number >= FIRST_EXTERNAL or number in _RAISED]
    if len(possible) == 1:
        return possible[0]
    if not numbers:
        raise PlanError(
            f"{name} ({address:#010x}) is in no entry of the vector table at {table:#010x} where the sweep begins, "
            "perhaps because it is called by another handler; give the interrupt's number, such as irq5."
        )
    if not possible:
        raise PlanError(
            f"{name} is the handler of exception {numbers[0]}, which no interrupt raises; give an interrupt."
        )
    named = ", ".join(exception_name(number) for number in possible[:_MOST_NAMED])
    more = " and others" if len(possible) > _MOST_NAMED else ""
    raise PlanError(
        f"{name} is the handler of {count_with_noun(len(possible), 'interrupt')} ({named}{more}), as a default "
        "handler is; give the interrupt's number, such as irq5."
    )
