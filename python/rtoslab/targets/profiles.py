"""Sums cycles by address to cycles by function, and sorts functions into classes (the kernel's, or application)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rtoslab.base import without_thumb_bit
from rtoslab.catalogue import Kernel
from rtoslab.targets.board import SymbolIndex
from rtoslab.targets.current_task import idle_code_label_at
from rtoslab.targets.observe import BlockingCalls, CoreLoad

PROFILE: Final = np.dtype(
    [("address", "<u4"), ("zero", "<u4"), ("cycles", "<u8"), ("executions", "<u8"), ("wait", "<u8")]
)
"""One record of the virtual board's profile, 32 bytes. See `_sim.pyi`."""

CORE_INTERRUPT: Final = "core_interrupt"
"""Counted like a service: the function by which the kernel's cores interrupt each other."""
APPLICATION: Final = "application"
IDLE: Final = "idle"
LIBRARY: Final = "library"
"""C library and compiler helpers, whose callers are unknown."""
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
    """The cycles that one function took on one core in the measurement window. `cycles` includes `wait_cycles_by_cause`
    (bus and flash)."""

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


def cycles_by_function(
    raw: Mapping[int, bytes],
    symbols: list[tuple[int, int, str]],
    kernel: Kernel,
    idling: Sequence[tuple[int, int, str]] = (),
) -> tuple[FunctionCycles, ...]:
    """Returns the cycles of each function that ran, sorted by core, most cycles first. `raw` are the packed profiles by
    core. `idling`: see `idle_code_ranges`."""
    index = SymbolIndex(symbols)
    labels = {name for _, _, name in idling}
    functions: list[FunctionCycles] = []
    for core, data in sorted(raw.items()):
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        records = np.frombuffer(data, dtype=PROFILE)
        columns = (records[name].tolist() for name in ("address", "cycles", "wait", "executions"))
        for address, spent, waited, executions in zip(*columns, strict=True):
            label = idle_code_label_at(idling, address)
            name, is_entry = _function_name_at(address, index) if label is None else (label, False)
            total = totals[name]
            total[0] += spent
            total[1] += waited
            total[2] += executions if is_entry else 0
            total[3] += executions
        functions += [
            FunctionCycles(
                core, name, IDLE if name in labels else function_category(name, kernel), cycles, wait, entries, executed
            )
            for name, (cycles, wait, entries, executed) in totals.items()
        ]
    return tuple(sorted(functions, key=lambda cycles: (cycles.core, -cycles.cycles, cycles.name)))


def _function_name_at(address: int, index: SymbolIndex) -> tuple[str, bool]:
    """Returns the name of the function at an address, and whether the address is its first instruction."""
    symbol = index.find_symbol(address)
    return (f"{address & ~0xFF:#010x}", False) if symbol is None else (symbol[2], address == symbol[0])


def function_category(name: str, kernel: Kernel) -> str:
    """Returns the class of a function by its name's prefix: a class that kernel.toml lists, else `library` or
    `application`."""
    for kind, prefixes in kernel.classes.items():
        if name.startswith(prefixes):
            return kind
    return LIBRARY if name.startswith(_LIBRARY_PREFIXES) else APPLICATION


def compiler_clone_addresses(name: str, symbols: Iterable[tuple[int, int, str]]) -> list[int]:
    """Returns the addresses of the compiler's clones of a function (`f.part.0`, `f.constprop.0`). With LTO the image
    may contain a function under such names alone."""
    return sorted({without_thumb_bit(address) for address, _, own in symbols if own.startswith(f"{name}.")})


def count_service_calls(functions: tuple[FunctionCycles, ...], kernel: Kernel) -> Counter[tuple[int, str]]:
    """Returns how often each service's kernel functions were executed, by (core, service). CORE_INTERRUPT, by which
    cores interrupt each other, is counted too."""
    entries = _FunctionEntryCounts(functions)
    counted = dict(kernel.symbols)
    if kernel.several_cores.interrupt:
        counted[CORE_INTERRUPT] = kernel.several_cores.interrupt
    return Counter(
        {
            (core, service): entries.count_function_entries(core, names)
            for core in sorted({function.core for function in functions})
            for service, names in counted.items()
        }
    )


def count_blocking_calls(
    functions: tuple[FunctionCycles, ...], kernel: Kernel, cores: Iterable[int]
) -> dict[int, BlockingCalls]:
    """Returns each core's counts of calls that found no free object and had to wait. Empty if the kernel has no
    functions that show it."""
    if kernel.waits is None:
        return {}
    entries, names = _FunctionEntryCounts(functions), kernel.waits
    return {
        core: BlockingCalls(
            entries.count_function_entries(core, names.collided),
            entries.count_function_entries(core, names.failed),
            entries.count_function_entries(core, names.blocked),
        )
        for core in cores
    }


def load_of_each_core(
    functions: Iterable[FunctionCycles], asleep: Mapping[int, int], cycles: Mapping[int, int]
) -> dict[int, CoreLoad]:
    """Returns the load of each core: its cycles, idle cycles and application instructions. `asleep` are the cycles
    asleep by core."""
    every = list(functions)
    return {
        core: CoreLoad(
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


class _FunctionEntryCounts:
    """Counts how often functions were entered, by core and name.
    The compiler may have moved a whole function into a clone (`name.constprop.0`): a clone counts only if `name` never
    ran.
    """

    def __init__(self, functions: tuple[FunctionCycles, ...]) -> None:
        self._whole: Counter[tuple[int, str]] = Counter()
        self._clones: Counter[tuple[int, str]] = Counter()
        for function in functions:
            self._whole[function.core, function.name] += function.entries
            self._clones[function.core, function.name.partition(".")[0]] += (
                function.entries if "." in function.name else 0
            )

    def count_function_entries(self, core: int, names: tuple[str, ...]) -> int:
        """Returns how often a core entered the functions with these names, in total."""
        return sum(self._whole[core, name] or self._clones[core, name] for name in names)
