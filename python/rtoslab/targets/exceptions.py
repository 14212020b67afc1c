"""Exceptions by number, as arch.toml has them, and the names that users give them."""

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rtoslab.base import PlanError, load_architecture_facts
from rtoslab.intake import parse_integer, quote_text

if TYPE_CHECKING:
    from rtoslab.catalogue import Board, Kernel

_EXCEPTIONS: Final = load_architecture_facts().exception
NMI: Final = _EXCEPTIONS.nmi
HARDFAULT: Final = _EXCEPTIONS.hardfault
SVCALL: Final = _EXCEPTIONS.svcall
PENDSV: Final = _EXCEPTIONS.pendsv
SYSTICK: Final = _EXCEPTIONS.systick
FIRST_EXTERNAL: Final = _EXCEPTIONS.first_line
"""The chip's interrupt line 0. Line n is this plus n."""

_SWITCHING_BY_NAME: Final = {"pendsv": PENDSV, "svcall": SVCALL, "systick": SYSTICK, "hardfault": HARDFAULT}
_CORE_EXCEPTIONS: Final = {"nmi": NMI, "pendsv": PENDSV, "systick": SYSTICK}


def task_switching_exceptions(kernel: "Kernel") -> frozenset[int]:
    """Returns the numbers of the exceptions in whose handlers the kernel switches tasks, such as PendSV, from
    kernel.toml."""
    return frozenset(_SWITCHING_BY_NAME[exception] for exception in kernel.behaviour.switch_exceptions)


def exception_name(number: int) -> str:
    """Returns an exception's name as a user writes it: `irq5`, `systick`. `exception 7` if it has none."""
    if number >= FIRST_EXTERNAL:
        return f"irq{number - FIRST_EXTERNAL}"
    return next((name for name, known in _CORE_EXCEPTIONS.items() if known == number), f"exception {number}")


def parse_exception_number(name: str, board: "Board") -> int:
    """Returns the number of the exception that a user's text names: `irq5`, `systick`. Raises PlanError."""
    text = name.lower()
    if text in _CORE_EXCEPTIONS:
        return _CORE_EXCEPTIONS[text]
    digits = text.removeprefix("irq")
    with suppress(ValueError):
        return FIRST_EXTERNAL + parse_integer(digits, 0, board.irq.lines - 1)
    raise PlanError(
        f"{board.title} has no interrupt {quote_text(name)}; "
        f"give irq0 to irq{board.irq.lines - 1}, {', '.join(_CORE_EXCEPTIONS)}."
    )
