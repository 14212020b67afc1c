"""The costs of a kernel on a board for the analysis: a small TOML or JSON file, measured or written by hand.

Every `_cycles` value is an upper value: the fit plus the largest observed value above it. The fits themselves are under
`[[fit]]` for the reader. The analysis does not use them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from rtoslab.base import OverheadsFileError, StrictFileSchemaModel, write_file_atomically
from rtoslab.intake import (
    first_missing_key,
    first_validation_problem,
    printable_path,
    read_json_object,
    read_toml_table,
)


class TickCosts(StrictFileSchemaModel):
    """The costs of the tick's handlers: a base, and an amount for each task that is released.
    A kernel that enters its switch handler at every tick has that in the base.
    """

    period_cycles: int = Field(gt=0)
    base_cycles: int = Field(ge=0)
    per_task_cycles: int = Field(ge=0)
    deferred_cycles: int = Field(default=0, ge=0)
    """The further cost of a tick that comes while the scheduler is locked, and is handled later."""
    switch_cycles: int | None = Field(default=None, ge=0)
    """The further cost of a tick that switches to another task. By default an entry and the dearer switch."""
    slice_cycles: int | None = Field(default=None, ge=0)
    """The further cost of a tick that switches between equals that take turns. By default as a tick that switches."""


class InterruptCosts(StrictFileSchemaModel):
    """The costs of an interrupt's entry and of the return from it."""

    entry_cycles: int = Field(default=0, ge=0)
    exit_cycles: int = Field(default=0, ge=0)


class TaskSwitchCosts(StrictFileSchemaModel):
    """The costs of the handler that switches tasks, by kind of switch."""

    up_cycles: int = Field(ge=0)
    down_cycles: int = Field(ge=0)
    down_per_priority_cycles: int = Field(default=0, ge=0)
    to_idle_cycles: int = Field(default=0, ge=0)
    from_idle_cycles: int = Field(default=0, ge=0)


class JobCosts(StrictFileSchemaModel):
    """The kernel's costs at the start and at the end of a job."""

    start_cycles: int = Field(default=0, ge=0)
    work_cycles: int = Field(default=0, ge=0)
    """The most by which undisturbed work lasted longer than calibrated, by a fetch that comes late."""
    end_cycles: int = Field(default=0, ge=0)
    end_per_task_cycles: int = Field(default=0, ge=0)
    """For each task of the set: the kernel walks through the sleeping tasks to insert the one that goes to sleep."""


class MaskingTimes(StrictFileSchemaModel):
    """The longest times for which the kernel delays its tick."""

    masked_cycles: int = Field(default=0, ge=0)
    wait_cycles: int = Field(default=0, ge=0)
    """The longest observed wait of a release for a call of a less urgent task, besides the cost of its tick."""


class EventCosts(StrictFileSchemaModel):
    """The costs of tasks that an interrupt's semaphore releases, and of work under locks, in cycles."""

    handler_cycles: int = Field(default=0, ge=0)
    """The cycles of an interrupt's handler besides its work, entry and exit."""
    give_cycles: int = Field(default=0, ge=0)
    """The further cost of a handler that gives a semaphore: the give, and the switch to the task that it wakes."""
    start_cycles: int = Field(default=0, ge=0)
    """From that switch to the job's first instruction: the way out of the take."""
    end_cycles: int = Field(default=0, ge=0)
    """From the job's last instruction to the handler that switches away: the take that blocks."""
    call_cycles: int = Field(default=0, ge=0)
    """A lock taken or given back, or interrupts masked or unmasked, without contention."""
    contended_cycles: int = Field(default=0, ge=0)
    """The further cost of each such call that leads to a switch: at a lock that is held, or to a task that waits for
    it."""
    handover_cycles: int = Field(default=0, ge=0)
    """The handler that switches in such a call."""


class SendCosts(StrictFileSchemaModel):
    """The costs of a call with which a task releases another one, in cycles.
    They are the largest of those for semaphores, messages and notifications.
    """

    call_cycles: int = Field(default=0, ge=0)
    """From the job's last instruction to the call's return, without a switch."""
    contended_cycles: int = Field(default=0, ge=0)
    """The further cost of the call if it switches to the released task."""
    switch_cycles: int = Field(default=0, ge=0)
    """The handler that switches in such a call."""


class TimerCosts(StrictFileSchemaModel):
    """The costs of the kernel's timer task around the function of a timer, in cycles."""

    start_cycles: int = Field(default=0, ge=0)
    """From the switch to the timer task to the first instruction of the function."""
    end_cycles: int = Field(default=0, ge=0)
    """From the last instruction of the function to the handler that switches away from the timer task."""


class MulticoreInterferenceCosts(StrictFileSchemaModel):
    """The costs that several cores cause to each other. If `cores` is above 1, all values of the file were measured
    with this number of cores.
    """

    cores: int = Field(default=1, ge=1)
    kernels: int = Field(default=1, ge=1)
    """2: each core runs a kernel of its own, and they share only memories. `cores` is then that of each kernel."""
    lock_wait_cycles: int = Field(default=0, ge=0)
    """The longest wait for one of the kernel's locks."""
    release_cycles: int = Field(default=0, ge=0)
    """The longest observed wait of a release for another core, besides its own cost."""
    yield_cycles: int = Field(default=0, ge=0)
    """The handlers by which another core makes this one choose its task again. A switch comes on top."""
    contention_permille: int = Field(default=0, ge=0)
    """By how much the other cores' accesses to the same memories prolong work."""
    remote_give_cycles: int = Field(default=0, ge=0)
    """The further cost of a call in which another core's interrupt releases a task: the scheduler is locked, and the
    end of the call completes the release."""
    contended_cycles: int = Field(default=0, ge=0)
    """The further cost of a call that waits for a task of another core, or ends such a wait."""
    tick_core: int = Field(default=0, ge=0)


class LinearOverheadFit(StrictFileSchemaModel):
    """A line fitted to a cost, with its residuals. `model` is in words, `base` and `slope` in cycles."""

    name: str
    model: str
    samples: int
    base: float
    slope: float = 0.0
    rms: float
    largest_above: float
    """The largest observed value above the fit."""
    largest_observed: int


class KernelOverheads(StrictFileSchemaModel):
    """The content of a file of kernel overheads. Times are in cycles of `clock_hz`."""

    kernel: str = ""
    board: str = ""
    clock_hz: int = Field(gt=0)
    config: Mapping[str, str] = Field(default_factory=dict)
    note: str = ""
    deviations: Mapping[str, str] = Field(default_factory=dict)
    """The conformance checks that the kernel fails as its kernel.toml declares, with the observation and the reason."""
    tick: TickCosts
    switch: TaskSwitchCosts
    interrupt: InterruptCosts = InterruptCosts()
    job: JobCosts = JobCosts()
    masks: MaskingTimes = MaskingTimes()
    events: EventCosts | None = None
    sends: SendCosts | None = None
    timers: TimerCosts | None = None
    smp: MulticoreInterferenceCosts = MulticoreInterferenceCosts()
    equals: Literal["", "fifo", "slices", "any"] = ""
    """How the kernel was observed to order equals: by their releases (fifo), in turns by the tick (slices), otherwise
    (any)."""
    operations: Mapping[str, int] = Field(default_factory=dict)
    """The longest call of each operation, by object, operation and outcome: `mutex_lock_free`."""
    fit: tuple[LinearOverheadFit, ...] = ()

    @property
    def extra_cycles_of_task_switching_tick(self) -> int:
        """Returns the additional cycles of a tick that switches to another task."""
        by_handler = self.interrupt.entry_cycles + max(self.switch.up_cycles, self.switch.from_idle_cycles)
        return by_handler if self.tick.switch_cycles is None else self.tick.switch_cycles

    @property
    def additional_cycles_of_time_slice_tick(self) -> int:
        """Returns the additional cycles of a tick that switches between tasks of equal priority."""
        by_handler = self.interrupt.entry_cycles + max(self.switch.up_cycles, self.switch.down_cycles)
        return by_handler if self.tick.slice_cycles is None else self.tick.slice_cycles


_HINTS: Final = {
    "tick": "a table [tick] with period_cycles, base_cycles and per_task_cycles",
    "switch": "a table [switch] with up_cycles and down_cycles",
    "clock_hz": "clock_hz, the cycles of a second",
}


def read_kernel_overheads(path: Path) -> KernelOverheads:
    """Reads a file of kernel overheads, JSON if it ends in .json, else TOML.
    Raises OverheadsFileError naming file and key.
    """
    read = read_json_object if path.suffix.lower() == ".json" else read_toml_table
    return parse_kernel_overheads(read(path, "the overheads", OverheadsFileError), printable_path(path))


def parse_kernel_overheads(table: Mapping[str, Any], source: str) -> KernelOverheads:
    """Returns the kernel overheads of a parsed table. `source` names its file. Raises OverheadsFileError."""
    try:
        return KernelOverheads.model_validate(table)
    except ValidationError as cause:
        key = first_missing_key(cause)
        if key is not None:
            raise OverheadsFileError(f"{source} does not contain {key}; add {_HINTS.get(key, key)}.") from None
        raise OverheadsFileError(f"{source}, {first_validation_problem(cause)}; correct or remove it.") from None


def write_kernel_overheads(overheads: KernelOverheads, path: Path) -> None:
    """Writes a file of kernel overheads. Raises StoreError."""
    table = overheads.model_dump(mode="json", exclude_none=True)
    text = json.dumps(table, indent=1) + "\n" if path.suffix.lower() == ".json" else table_as_toml(table)
    write_file_atomically(path, text, "the overheads")


def table_as_toml(table: Mapping[str, Any]) -> str:
    """Returns a table as TOML text: plain keys, then tables, then lists of tables."""
    lines = [
        f"{key} = {_format_toml_value(value)}"
        for key, value in table.items()
        if not isinstance(value, Mapping | list | tuple)
    ]
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            lines += [
                "",
                f"[{key}]",
                *(f"{_key_as_toml(name)} = {_format_toml_value(item)}" for name, item in value.items()),
            ]
        elif isinstance(value, list | tuple):
            for item in value:
                lines += [
                    "",
                    f"[[{key}]]",
                    *(f"{_key_as_toml(name)} = {_format_toml_value(part)}" for name, part in item.items()),
                ]
    return "\n".join(lines) + "\n"


def _key_as_toml(name: str) -> str:
    return name if name.replace("_", "").isalnum() else json.dumps(name)


def _format_toml_value(value: object) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else json.dumps(value)
