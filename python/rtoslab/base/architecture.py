"""Facts of the processors' architecture that no board and no kernel changes: firmware/cpus/cortexm/arch.toml.

The firmware reads the same file, so an exception has one number for both.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_root

_FILE: Final = Path("firmware") / "cpus" / "cortexm" / "arch.toml"


@dataclass(frozen=True, slots=True)
class Exceptions:
    """Exceptions by number."""

    nmi: int
    hardfault: int
    svcall: int
    pendsv: int
    systick: int
    first_line: int
    """The chip's interrupt line 0; line n is this plus n."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """One arch.toml."""

    tool_prefix: str
    """What the programs of the tool chain are called by, before their own name."""
    code_state_bits: int
    """Of an address of code, what says in which state it executes and not where it lies."""
    exception_return_from: int
    """From here on a program counter is a return from an exception."""
    exception: Exceptions
    priority_field_bits: int
    """Width of a priority, of which a part has the uppermost bits."""

    def priorities(self, bits: int) -> tuple[int, ...]:
        """What an interrupt's priority can be on a part that has `bits` of them, the most urgent first."""
        whole = 1 << self.priority_field_bits
        return tuple(range(0, whole, whole >> bits))


@cache
def architecture() -> Architecture:
    """Of the checkout in use. Raises CatalogueError naming the file."""
    return read_architecture(find_root())


def code_address(address: int) -> int:
    """Where code lies, of an address that may say as well how it executes (Thumb)."""
    return address & ~architecture().code_state_bits


def cross_tool(name: str) -> str:
    """What a program of the tool chain is called: `gcc`, `objdump`."""
    return architecture().tool_prefix + name


def read_architecture(root: Path) -> Architecture:
    """Of a checkout. Raises CatalogueError naming the file."""
    path = root / _FILE
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        code, numbers = table["code"], Exceptions(**table["exception"])
        return Architecture(
            table["tool_prefix"],
            code["state_bits"],
            code["exception_return_from"],
            numbers,
            table["priority"]["field_bits"],
        )
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise CatalogueError(
            f"{path} cannot be read as facts of an architecture ({type(cause).__name__}: {cause}); restore it from the "
            "repository."
        ) from None
