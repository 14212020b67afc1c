"""Adds up cycles per address to cycles per function, and functions to classes (kernel's classes, else application)."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rtoslab.base import code_address
from rtoslab.catalogue import Kernel
from rtoslab.targets.board import best_names
from rtoslab.targets.current_task import idle_of
from rtoslab.targets.observe import BlockingCalls, Load

PROFILE: Final = np.dtype(
    [("address", "<u4"), ("zero", "<u4"), ("cycles", "<u8"), ("executions", "<u8"), ("wait", "<u8")]
)
"""One record of the virtual board's profile, 32 bytes. See `_sim.pyi`."""

CORE_INTERRUPT: Final = "core_interrupt"
"""Beside services: what the kernel's cores interrupt each other by."""
APPLICATION: Final = "application"
IDLE: Final = "idle"
LIBRARY: Final = "library"
"""C library and compiler helpers: who called them is not known."""
_LIBRARY_PREFIXES: Final = (
    "mem",
    "str",
    "__aeabi_",
    "__udiv",
    "__div",
    "__mul",
    "__gnu_",
    "__clz",
    "__ctz",
    "__popcount",
)


@dataclass(frozen=True, slots=True)
class FunctionCycles:
    """Cycles of one function on one core in the window. `cycles` includes `wait_cycles` (bus and flash)."""

    core: int
    name: str
    kind: str
    """A class of kernel.toml, `library` or `application`."""
    cycles: int
    wait_cycles: int
    entries: int
    """Executions of the function's first instruction."""
    instructions: int = 0
    """Executions of all its instructions."""


def by_function(
    raw: Mapping[int, bytes],
    symbols: list[tuple[int, int, str]],
    kernel: Kernel,
    idling: Sequence[tuple[int, int, str]] = (),
) -> tuple[FunctionCycles, ...]:
    """One entry per core and function that ran, most cycles first. `idling`: see `current_task.idle_ranges`."""
    ordered = best_names(symbols)
    starts = [address for address, _, _ in ordered]
    labels = {name for _, _, name in idling}
    functions: list[FunctionCycles] = []
    for core, data in sorted(raw.items()):
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        records = np.frombuffer(data, dtype=PROFILE)
        columns = (records[name].tolist() for name in ("address", "cycles", "wait", "executions"))
        for address, spent, waited, executions in zip(*columns, strict=True):
            label = idle_of(idling, address)
            name, is_entry = _function(address, ordered, starts) if label is None else (label, False)
            total = totals[name]
            total[0] += spent
            total[1] += waited
            total[2] += executions if is_entry else 0
            total[3] += executions
        functions += [
            FunctionCycles(
                core, name, IDLE if name in labels else kind_of(name, kernel), cycles, wait, entries, executed
            )
            for name, (cycles, wait, entries, executed) in totals.items()
        ]
    return tuple(sorted(functions, key=lambda cycles: (cycles.core, -cycles.cycles, cycles.name)))


def _function(address: int, ordered: list[tuple[int, int, str]], starts: list[int]) -> tuple[str, bool]:
    index = bisect_right(starts, address) - 1
    if index < 0:
        return f"{address & ~0xFF:#010x}", False
    start, size, name = ordered[index]
    if size and address >= start + size:
        return f"{address & ~0xFF:#010x}", False
    return name, address == start


def kind_of(name: str, kernel: Kernel) -> str:
    """The first class of kernel.toml with a prefix that fits. Else library or application."""
    for kind, prefixes in kernel.classes.items():
        if name.startswith(prefixes):
            return kind
    return LIBRARY if name.startswith(_LIBRARY_PREFIXES) else APPLICATION


def clones_of(name: str, symbols: Iterable[tuple[int, int, str]]) -> list[int]:
    """Returns first instructions of compiled parts of a function that the image does not contain under its own name
    (`f.part.0`, `f.constprop.0`): with LTO, of those that only the kernel calls."""
    return sorted({code_address(address) for address, _, own in symbols if own.startswith(f"{name}.")})


def calls_of_services(functions: tuple[FunctionCycles, ...], kernel: Kernel) -> Counter[tuple[int, str]]:
    """(core, service) -> executions of the kernel functions that the service ends in. Also of CORE_INTERRUPT."""
    entries = _Entries(functions)
    counted = dict(kernel.symbols)
    if kernel.several_cores.interrupt:
        counted[CORE_INTERRUPT] = kernel.several_cores.interrupt
    return Counter(
        {
            (core, service): entries.of(core, names)
            for core in sorted({function.core for function in functions})
            for service, names in counted.items()
        }
    )


def waits(functions: tuple[FunctionCycles, ...], kernel: Kernel, cores: Iterable[int]) -> dict[int, BlockingCalls]:
    """Per core, what the kernel's functions say of calls that did not find what they wanted. Empty if they do not."""
    if kernel.waits is None:
        return {}
    entries, names = _Entries(functions), kernel.waits
    return {
        core: BlockingCalls(
            entries.of(core, names.collided), entries.of(core, names.failed), entries.of(core, names.blocked)
        )
        for core in cores
    }


def loads(functions: Iterable[FunctionCycles], asleep: Mapping[int, int], cycles: Mapping[int, int]) -> dict[int, Load]:
    """Per core, from its functions, its cycles asleep, and all its cycles in the window."""
    every = list(functions)
    return {
        core: Load(
            cycles[core],
            asleep[core]
            + sum(
                function_cycles.cycles
                for function_cycles in every
                if (function_cycles.core, function_cycles.kind) == (core, IDLE)
            ),
            sum(
                function_cycles.instructions
                for function_cycles in every
                if (function_cycles.core, function_cycles.kind) == (core, APPLICATION)
            ),
        )
        for core in cycles
    }


class _Entries:
    """Executions by core and name. The compiler may have moved a whole function into a clone (`name.constprop.0`):
    a clone counts only if `name` never ran."""

    def __init__(self, functions: tuple[FunctionCycles, ...]) -> None:
        self._whole: Counter[tuple[int, str]] = Counter()
        self._clones: Counter[tuple[int, str]] = Counter()
        for function in functions:
            self._whole[function.core, function.name] += function.entries
            self._clones[function.core, function.name.partition(".")[0]] += (
                function.entries if "." in function.name else 0
            )

    def of(self, core: int, names: tuple[str, ...]) -> int:
        return sum(self._whole[core, name] or self._clones[core, name] for name in names)
