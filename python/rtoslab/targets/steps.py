"""The steps of a benchmark's tasks and handlers, from the probes: calls with their arguments, results and ends,
switches with the call that caused them, interrupts, marks.

They reveal a test whose totals are right, but whose order, objects or causes are wrong. Only the window's first
MOST_EVENTS events become steps: code that repeats every few hundred cycles shows there, and memory stays flat.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

MOST_EVENTS: Final = 6_000
MOST_LATENCY_EVENTS: Final = 40_000
"""Of a latency benchmark: its round may be as long as several ticks."""
HANDLER: Final = 1
"""In place of a task's control block: an interrupt's handler, the tick's among them."""
CALL, SWITCH, START, STOP, FILL, TICK, INTERRUPT, PIN = (
    "call", "switch", "start", "stop", "fill", "tick", "interrupt", "pin",
)  # fmt: skip


@dataclass(slots=True)
class ObservedBenchmarkStep:
    """One observed step of a benchmark run: a call, switch, mark, interrupt or pin edge on a core."""

    cycle: int
    core: int
    kind: str
    who: int
    """Control block of the running task (of a switch: of the one that ends), or HANDLER."""
    name: str = ""
    """Of a call the kernel's function. Of a switch the function in progress, if there was one."""
    first: int = 0
    """First argument of a call. Of a switch the control block of the task that begins. Of a mark the series. Of an
    interrupt its exception number. Of a heap block that is filled to its end the block (the second: its size)."""
    second: int = 0
    """Second argument."""
    result: int | None = None
    """The value that a call returned. None: it has not returned, or its return address was not known."""
    end_cycle: int | None = None
    """When the call returned."""
    own_cycles: int | None = None
    """The own cycles before a call, a mark or a fill: since the step before or the end of a call, whatever came last,
    without the kernel's own handlers; None: not known."""


@dataclass(frozen=True, slots=True)
class ProbeTargetsByNumber:
    """The meanings of the numbers of the probes: functions, addresses, blocks of memory."""

    functions: Sequence[str]
    """Ordered by IDENT_SYMBOL."""
    addresses: Sequence[int]
    """The addresses of these functions."""
    return_addresses: Sequence[int]
    """Ordered by IDENT_BEHIND: addresses at which callers continue."""
    blocks: Sequence[tuple[int, int]]
    """Ordered by IDENT_FILL: address and bytes of a heap block."""
    is_in_kernel: Callable[[int], bool]
    """Whether an address is in a function of the kernel."""
    pin: int = -1
    """The number of the measurement's pin."""
    bracket_functions: frozenset[str] = frozenset()
    """Functions that the kernel requires at the begin and end of a handler."""
    completes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Function -> the functions whose call is a whole service only with a call of it afterwards."""
    resumes_in_thread: bool = False
    """Whether a handler may return to code of the kernel, which resumes the interrupted code by another exception."""
