"""Facts of the processors' architecture that no board and no kernel changes: firmware/cpus/cortexm/arch.toml.

The firmware reads the same file, so an exception has one number for both.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Final

from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.base.strict import StrictFileSchemaModel

_FILE: Final = Path("firmware") / "cpus" / "cortexm" / "arch.toml"


class CodeAddressEncoding(StrictFileSchemaModel):
    """The table `code` of arch.toml: how to read the address of a piece of code."""

    state_bits: int
    """The bits of a code address that say the execution state (Thumb), not the place."""
    exception_return_from: int
    """The lowest value of a program counter that is a return from an exception."""


class ExceptionNumbers(StrictFileSchemaModel):
    """The table `exception` of arch.toml: the numbers of the exceptions."""

    nmi: int
    hardfault: int
    svcall: int
    pendsv: int
    systick: int
    first_line: int
    """The chip's interrupt line 0. Line n is this plus n."""


class InterruptPriorityBitField(StrictFileSchemaModel):
    """The table `priority` of arch.toml: the width of an interrupt's priority field."""

    field_bits: int
    """Its width. A chip implements the uppermost bits of it."""


class ArchitectureFacts(StrictFileSchemaModel):
    """The content of arch.toml, the facts that hold for all Cortex-M boards."""

    tool_prefix: str
    """The beginning of the tool chain's program names, such as `arm-none-eabi-`."""
    code: CodeAddressEncoding
    exception: ExceptionNumbers
    priority: InterruptPriorityBitField

    def interrupt_priorities(self, priority_bits: int) -> tuple[int, ...]:
        """Returns the values of interrupt priorities that a chip with so many priority bits can have, the most urgent
        first."""
        whole = 1 << self.priority.field_bits
        return tuple(range(0, whole, whole >> priority_bits))


@cache
def load_architecture_facts() -> ArchitectureFacts:
    """Returns the facts in arch.toml of the checkout in use. Raises CatalogueError, which names the file."""
    return read_architecture(find_checkout_root())


def without_thumb_bit(address: int) -> int:
    """Returns the address of code without the bit that only says Thumb state."""
    return address & _thumb_state_mask()


@cache
def _thumb_state_mask() -> int:
    """Returns the mask that clears the state bits. It is cached, because readers of events ask for each event."""
    return ~load_architecture_facts().code.state_bits


def cross_compiler_tool_name(name: str) -> str:
    """Returns the name of a tool chain program with its prefix, such as `arm-none-eabi-gcc` for `gcc`."""
    return load_architecture_facts().tool_prefix + name


def read_architecture(root: Path) -> ArchitectureFacts:
    """Returns the facts in arch.toml of the checkout `root`. Raises CatalogueError, which names the file."""
    path = root / _FILE
    try:
        return ArchitectureFacts.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as cause:
        raise CatalogueError(
            f"{path} is not a valid description of an architecture ({type(cause).__name__}); restore it from the "
            "repository."
        ) from None
