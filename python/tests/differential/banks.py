"""All registers of unicorn's that a test sets and reads, at once: its Python face makes an object for each of them each
time, which took a third of the time of all these tests."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import unicorn


class Bank:
    """Registers of an engine, in this order."""

    def __init__(self, engine: Any, numbers: Sequence[int]) -> None:
        """`numbers`: unicorn's, each of a register of 32 bits."""
        count = len(numbers)
        self._engine, self._count = engine, ctypes.c_int(count)
        self._numbers = (ctypes.c_int * count)(*numbers)
        self._words = (ctypes.c_uint32 * count)()
        first, bytes_each = ctypes.addressof(self._words), ctypes.sizeof(ctypes.c_uint32)
        self._places = (ctypes.c_void_p * count)(*range(first, first + count * bytes_each, bytes_each))

    def write(self, words: Sequence[int]) -> None:
        """One for each register. Raises ValueError for more or fewer, UcError for what the engine does not take."""
        self._words[:] = words
        _look(self._engine._do_reg_write_batch(self._numbers, self._places, self._count))

    def read(self) -> list[int]:
        """One of each register. Raises UcError for what the engine does not give."""
        _look(self._engine._do_reg_read_batch(self._numbers, self._places, self._count))
        return self._words[:]


def _look(status: int) -> None:
    if status != unicorn.UC_ERR_OK:
        raise unicorn.UcError(status)
