"""All registers of unicorn's that a test sets and reads, at once: its Python face makes an object for each of them each
time, which took a quarter of the time of all these tests."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import unicorn
from unicorn import arm_const

CORE_REGISTERS = (
    *(getattr(arm_const, f"UC_ARM_REG_R{n}") for n in range(13)),
    arm_const.UC_ARM_REG_SP,
    arm_const.UC_ARM_REG_LR,
)


class Bank:
    """Registers of an engine, in this order."""

    def __init__(self, engine: Any, numbers: Sequence[int]) -> None:
        """`numbers`: unicorn's, each of a register of 32 bits."""
        count = len(numbers)
        self._engine, self._count = engine, ctypes.c_int(count)
        self._numbers = (ctypes.c_int * count)(*numbers)
        self._form = struct.Struct(f"={count}I")
        self._words = ctypes.create_string_buffer(self._form.size)
        first = ctypes.addressof(self._words)
        self._places = (ctypes.c_void_p * count)(*range(first, first + self._form.size, 4))

    def write(self, words: Sequence[int]) -> None:
        """One for each register. Raises struct.error for more or fewer, UcError for what the engine does not take."""
        self._form.pack_into(self._words, 0, *words)
        _look(self._engine._do_reg_write_batch(self._numbers, self._places, self._count))

    def read(self) -> list[int]:
        """One of each register. Raises UcError for what the engine does not give."""
        _look(self._engine._do_reg_read_batch(self._numbers, self._places, self._count))
        return [*self._form.unpack_from(self._words)]


def _look(status: int) -> None:
    if status != unicorn.UC_ERR_OK:
        raise unicorn.UcError(status)
