"""The use of a core's cycles. The parts add up to the window exactly. A cause that cannot be distinguished is named
`other`.

Spinlock wait is counted from the first failed read of a lock to the successful one. It is inside the kernel's own
functions and is taken out of them. Some kernels sleep while they wait for their lock. This is reported of cores that
did not idle. The C library (memcpy, division) is named apart, for its caller is not known. Bus and flash waits are
those of data and fetch, wherever they happened."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rtoslab.results import FunctionExecutionCycles, LockUse, MeasuredPoint
from rtoslab.targets import APPLICATION, IDLE, LIBRARY

CYCLE_PARTS = (
    "application",
    "kernel",
    "C library",
    "idle",
    "spinlock wait",
    "asleep for a lock",
    "bus wait",
    "flash wait",
    "exception entry and exit",
    "sleep",
    "other",
)

VISIBLE_PART = 0.0005
"""A report shows only causes that take at least this share of some core's cycles."""


@dataclass(frozen=True, slots=True)
class CoreCycleUse:
    """How one core of a measured point spent its cycles, by the causes in CYCLE_PARTS."""

    point: MeasuredPoint
    core: int
    cycles: int
    parts: dict[str, int]
    counts: int
    """Counts of the metric on this core, to turn cycles into cycles per count."""


def lock_wait_cycles(parts: Mapping[str, float]) -> float:
    """Returns the cycles (or shares) in which a core waited for locks, awake or asleep. `parts` are cycles by cause."""
    return parts["spinlock wait"] + parts["asleep for a lock"]


def lock_wait_share(shares: Collection[CoreCycleUse]) -> float:
    """Returns the share of the cores' cycles in which they waited for locks, from 0 to 1."""
    return sum(lock_wait_cycles(share.parts) for share in shares) / sum(share.cycles for share in shares)


def cycle_use_of_cores(point: MeasuredPoint) -> list[CoreCycleUse]:
    """Returns how each core of a measured point spent its cycles: executing, waiting, asleep. Empty for a real
    board."""
    if point.virtual is None:
        return []
    result = []
    asleep = {sleep.core: sleep.cycles for sleep in point.virtual.lock_sleeps}
    for core in point.virtual.cores:
        functions = [function for function in point.virtual.functions if function.core == core.core]
        own = {kind: _execution_cycles_of_function_kind(functions, kind) for kind in (APPLICATION, IDLE, LIBRARY)}
        kernel = sum(function.cycles - function.wait_cycles for function in functions) - sum(own.values())
        spinning = min(kernel, sum(lock.wait_cycles for lock in point.virtual.locks if lock.core == core.core))
        waits = sum(function.wait_cycles for function in functions)
        flash = min(waits, core.flash_wait_cycles)
        parts = {
            "application": own[APPLICATION],
            "kernel": kernel - spinning,
            "C library": own[LIBRARY],
            "idle": own[IDLE],
            "spinlock wait": spinning,
            "asleep for a lock": asleep.get(core.core, 0),
            "bus wait": waits - flash,
            "flash wait": flash,
            "exception entry and exit": core.exception_cycles,
            "sleep": core.sleep_cycles - asleep.get(core.core, 0),
        }
        parts["other"] = core.cycles - sum(parts.values())
        counts = sum(
            counter.count
            for counter in point.counters
            if counter.core == core.core and counter.index in point.metric_tasks
        )
        result.append(CoreCycleUse(point, core.core, core.cycles, parts, counts))
    return result


def _execution_cycles_of_function_kind(functions: list[FunctionExecutionCycles], kind: str) -> int:
    """Returns the cycles of the functions of one kind (such as kernel), without their bus and flash waits."""
    return sum(function.cycles - function.wait_cycles for function in functions if function.kind == kind)


@dataclass(frozen=True, slots=True)
class SpinlockCost:
    """The cost of one spinlock on one core, in all and per count of the benchmark. Cycles are of the system clock."""

    point: MeasuredPoint
    use: LockUse
    contended_part: float
    wait_cycles_per_count: float
    hold_cycles_mean: float


def spinlock_costs(point: MeasuredPoint) -> list[SpinlockCost]:
    """Returns the cost of every spinlock that was taken in the measurement window, sorted by core and number."""
    if point.virtual is None:
        return []
    counts = {share.core: share.counts for share in cycle_use_of_cores(point)}
    return [
        SpinlockCost(
            point=point,
            use=lock,
            contended_part=lock.contended / lock.acquisitions if lock.acquisitions else 0.0,
            wait_cycles_per_count=lock.wait_cycles / counts[lock.core] if counts.get(lock.core) else 0.0,
            hold_cycles_mean=lock.hold_cycles / lock.acquisitions if lock.acquisitions else 0.0,
        )
        for lock in sorted(point.virtual.locks, key=lambda use: (use.core, use.lock))
    ]


def functions_with_most_cycles(point: MeasuredPoint, limit: int) -> list[FunctionExecutionCycles]:
    """Returns the `limit` functions with the most cycles over all cores, without those of the application."""
    if point.virtual is None:
        return []
    merged: dict[str, FunctionExecutionCycles] = {}
    for function in point.virtual.functions:
        if function.kind == APPLICATION:
            continue
        known = merged.get(function.name)
        merged[function.name] = (
            function
            if known is None
            else known.model_copy(
                update={
                    "cycles": known.cycles + function.cycles,
                    "wait_cycles": known.wait_cycles + function.wait_cycles,
                    "entries": known.entries + function.entries,
                }
            )
        )
    return sorted(merged.values(), key=lambda use: (-use.cycles, use.name))[:limit]
