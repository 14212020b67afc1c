"""Exceptions by number, as arch.toml has them, and the names that users give them."""

from contextlib import suppress
from typing import Final

from rtoslab.base import PlanError, architecture
from rtoslab.catalogue import Board, Kernel
from rtoslab.intake import quote, whole

_NUMBERS: Final = architecture().exception
NMI: Final = _NUMBERS.nmi
HARDFAULT: Final = _NUMBERS.hardfault
SVCALL: Final = _NUMBERS.svcall
PENDSV: Final = _NUMBERS.pendsv
SYSTICK: Final = _NUMBERS.systick
FIRST_EXTERNAL: Final = _NUMBERS.first_line
"""The chip's interrupt line 0. Line n is this plus n."""

_SWITCHING: Final = {"pendsv": PENDSV, "svcall": SVCALL, "systick": SYSTICK, "hardfault": HARDFAULT}
_OF_THE_CORE: Final = {"nmi": NMI, "pendsv": PENDSV, "systick": SYSTICK}


def switching_exceptions(kernel: Kernel) -> frozenset[int]:
    """Numbers of the exceptions in which the kernel changes tasks, by its own word."""
    return frozenset(_SWITCHING[exception] for exception in kernel.behaviour.switch_exceptions)


def exception_number(name: str, board: Board) -> int:
    """The number of an exception that a user names. Raises PlanError."""
    text = name.lower()
    if text in _OF_THE_CORE:
        return _OF_THE_CORE[text]
    digits = text.removeprefix("irq")
    with suppress(ValueError):
        return FIRST_EXTERNAL + whole(digits, 0, board.irq.lines - 1)
    raise PlanError(
        f"{board.title} has no interrupt {quote(name)}; "
        f"give irq0 to irq{board.irq.lines - 1}, {', '.join(_OF_THE_CORE)}."
    )
