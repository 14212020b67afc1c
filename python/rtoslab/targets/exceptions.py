"""Exceptions by number, and the names that users give them (ARMv6-M and ARMv7-M architecture manuals, B1.5)."""

from contextlib import suppress
from typing import Final

from rtoslab.base import PlanError
from rtoslab.catalogue import Board, Kernel
from rtoslab.intake import shown, whole

NMI: Final = 2
HARDFAULT: Final = 3
SVCALL: Final = 11
PENDSV: Final = 14
SYSTICK: Final = 15
FIRST_EXTERNAL: Final = 16
"""The chip's interrupt line 0; line n is this plus n."""

_SWITCHING: Final = {"pendsv": PENDSV, "svcall": SVCALL, "systick": SYSTICK, "hardfault": HARDFAULT}
_OF_THE_CORE: Final = {"nmi": NMI, "pendsv": PENDSV, "systick": SYSTICK}


def switching_exceptions(kernel: Kernel) -> frozenset[int]:
    """Numbers of the exceptions in which the kernel changes tasks, by its own word."""
    return frozenset(_SWITCHING[each] for each in kernel.behaviour.switch_exceptions)


def exception_number(name: str, board: Board) -> int:
    """The number of an exception that a user names. Raises PlanError."""
    text = name.lower()
    if text in _OF_THE_CORE:
        return _OF_THE_CORE[text]
    digits = text.removeprefix("irq")
    with suppress(ValueError):
        return FIRST_EXTERNAL + whole(digits, 0, board.irq.lines - 1)
    raise PlanError(
        f"{board.title} has no interrupt {shown(name)}; "
        f"give irq0 to irq{board.irq.lines - 1}, {', '.join(_OF_THE_CORE)}."
    )
