"""Observations that only a virtual board can make of a point: cycles by cause, by lock and by function."""

from pydantic import AliasChoices, Field

from rtoslab.results.stored_model import StoredResultModel


class CoreCycles(StoredResultModel):
    """The cycles of one core in the window, by cause."""

    core: int
    cycles: int
    instructions: int
    sleep_cycles: int
    bus_wait_cycles: int
    flash_wait_cycles: int
    xip_misses: int
    exception_cycles: int
    exceptions: dict[int, int]
    float_frames: int = 0
    """Exceptions whose frame has room for floating-point state: what they interrupted had used the FPU."""


class LockUse(StoredResultModel):
    """The use of one hardware spinlock by one core in the window."""

    lock: int
    name: str
    core: int
    acquisitions: int
    contended: int
    failed_reads: int
    wait_cycles: int
    hold_cycles: int


class FunctionExecutionCycles(StoredResultModel):
    """The executions and cycles of one function on one core in the window. `cycles` includes `wait_cycles_by_cause`."""

    core: int
    name: str
    kind: str
    cycles: int
    wait_cycles: int
    entries: int
    instructions: int | None = None
    """Executions of all its instructions. None of points that were stored before they were counted."""


class BlockingCallUse(StoredResultModel):
    """Counts of the calls of one core in the window that had to wait."""

    core: int
    collided: int
    failed: int
    blocked: int


class SleepCyclesDuringLockWait(StoredResultModel):
    """The cycles in the window that a core slept while it waited for the kernel's lock."""

    core: int
    cycles: int


class CriticalSectionUse(StoredResultModel):
    """The number and the cycles of the critical sections of one core in the window.
    The waiting for their locks is outside.
    """

    core: int
    sections: int
    cycles: int
    longest_cycles: int


class VirtualBoardObservations(StoredResultModel):
    """Observations of a point that only a virtual board can make: cycles by cause, lock and function."""

    cores: tuple[CoreCycles, ...]
    locks: tuple[LockUse, ...]
    functions: tuple[FunctionExecutionCycles, ...]
    waits: tuple[BlockingCallUse, ...] = ()
    """Empty if the kernel's functions do not report them."""
    lock_sleeps: tuple[SleepCyclesDuringLockWait, ...] = ()
    """The sleeps in waits for the lock, of cores that did not idle, where the kernel waits for its lock asleep. Of
    others it cannot be told."""
    critical: tuple[CriticalSectionUse, ...] = ()
    """Empty if the kernel does not count the nesting of critical sections."""
    event_count: int
    event_digest: str = Field(validation_alias=AliasChoices("event_digest", "event_sha256"))
    """XXH3 of 128 bits of the events. Of results from before 2026-11-27 SHA-256."""
    warnings: tuple[str, ...]
