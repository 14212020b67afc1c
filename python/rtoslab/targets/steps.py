"""The steps of a benchmark's tasks and handlers, from the probes: calls with their arguments, results and ends,
switches with the call that caused them, interrupts, marks.

The trap it prevents: a test whose totals are right and whose order, objects or causes are not. Steps are kept of the
window's first EVENTS events only: what is repeated every few hundred cycles shows itself there, and memory stays flat.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

EVENTS: Final = 6_000
EVENTS_OF_LATENCIES: Final = 40_000
"""A round of theirs may be as long as several ticks."""
HANDLER: Final = 1
"""In place of a task's control block: an interrupt's handler, the tick's among them."""
CALL, SWITCH, START, STOP, FILL, TICK, INTERRUPT, PIN = (
    "call", "switch", "start", "stop", "fill", "tick", "interrupt", "pin",
)  # fmt: skip


@dataclass(slots=True)
class Step:
    """One thing that happened on a core."""

    cycle: int
    core: int
    kind: str
    who: int
    """Control block of the running task (of a switch: of the one that ends), or HANDLER."""
    name: str = ""
    """The name of a call: the kernel's function; of a switch: the function it came out of, if one was in progress."""
    first: int = 0
    """First argument of a call. Of a switch the control block of the task that begins. Of a mark the series. Of an
    interrupt its exception number. Of a heap block that is filled to its end the block (the second: its size)."""
    second: int = 0
    """Second argument."""
    result: int | None = None
    """What a call gave, once it has returned. None: it has not, or where it returns to was not known."""
    end_cycle: int | None = None
    """When it returned."""
    own_cycles: int | None = None
    """The own cycles before a call, a mark or a fill: since the step before or the end of a call, whatever came last,
    without the kernel's own handlers; None: not known."""


@dataclass(frozen=True, slots=True)
class Watching:
    """The meaning of the probes' identifiers."""

    functions: Sequence[str]
    """Ordered by IDENT_SYMBOL."""
    addresses: Sequence[int]
    """Of these functions."""
    behind: Sequence[int]
    """Ordered by IDENT_BEHIND: addresses behind calls."""
    blocks: Sequence[tuple[int, int]]
    """Ordered by IDENT_FILL: address and bytes of a heap block."""
    is_kernels: Callable[[int], bool]
    """Whether an address is in a function of the kernel."""
    pin: int = -1
    """The measurement's."""
    brackets: frozenset[str] = frozenset()
    """Functions that a handler begins and ends with, where the kernel wants that."""
    completes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Function -> those that are no whole service without a call of it behind theirs."""
