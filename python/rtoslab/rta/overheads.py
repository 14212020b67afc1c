"""The costs of a kernel on a board, as the analysis needs them: a small TOML or JSON file, measured or written by
hand.

Every `_cycles` value is an upper value: what was fitted plus the largest observed above the fit. The fits themselves
stand under `[[fit]]`, for the reader. The analysis does not use them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from rtoslab.base import OverheadsError, Strict, write_whole
from rtoslab.intake import missing_key, path_text, read_object, read_table, validation_problem


class Tick(Strict):
    """The tick's handlers, from the first cycle of the first to the last one's return: a base, and so much for each
    task that is released. A kernel that enters its switch handler at every tick has that in the base."""

    period_cycles: int = Field(gt=0)
    base_cycles: int = Field(ge=0)
    per_task_cycles: int = Field(ge=0)
    deferred_cycles: int = Field(default=0, ge=0)
    """What a tick costs more that arrives while the kernel has its scheduler locked, and is made up for later."""
    switch_cycles: int | None = Field(default=None, ge=0)
    """What it costs more if it hands over to another task. By default an entry and the dearer switch."""
    slice_cycles: int | None = Field(default=None, ge=0)
    """The same between equals, in turns. By default as dear."""


class Interrupt(Strict):
    """Round a handler: from the exception's recognition to the first cycle, and from the return to the work again."""

    entry_cycles: int = Field(default=0, ge=0)
    exit_cycles: int = Field(default=0, ge=0)


class Switch(Strict):
    """The handler that switches contexts, by kind: to a more urgent task, to a less urgent one (so much, and so much
    for each priority between them), to and from the idle task."""

    up_cycles: int = Field(ge=0)
    down_cycles: int = Field(ge=0)
    down_per_priority_cycles: int = Field(default=0, ge=0)
    to_idle_cycles: int = Field(default=0, ge=0)
    from_idle_cycles: int = Field(default=0, ge=0)


class Job(Strict):
    """Round a job: from the switch's return to its first instruction; from its last to the first of the handler that
    switches."""

    start_cycles: int = Field(default=0, ge=0)
    work_cycles: int = Field(default=0, ge=0)
    """What work was seen to last longer, undisturbed, than it was calibrated to: a fetch that comes late."""
    end_cycles: int = Field(default=0, ge=0)
    end_per_task_cycles: int = Field(default=0, ge=0)
    """For each task of the set: the kernel walks through those that sleep to find a place for the one that goes to."""


class Kernel(Strict):
    """The longest that the kernel masks its tick: seen as a tick that waits, or by the interrupts-off record."""

    masked_cycles: int = Field(default=0, ge=0)
    wait_cycles: int = Field(default=0, ge=0)
    """The longest that a release was seen to wait for a call of a less urgent task, beside what its tick costs."""


class Events(Strict):
    """The costs of tasks that an interrupt's semaphore releases, and of work under locks, in cycles."""

    handler_cycles: int = Field(default=0, ge=0)
    """The cycles of an interrupt's handler beside its work, entry and exit."""
    give_cycles: int = Field(default=0, ge=0)
    """More, if it gives a semaphore: the give, and the switch to the task it wakes."""
    start_cycles: int = Field(default=0, ge=0)
    """From that switch to the job's first instruction: the way out of the take."""
    end_cycles: int = Field(default=0, ge=0)
    """From the job's last instruction to the handler that switches away: the take that blocks."""
    call_cycles: int = Field(default=0, ge=0)
    """A lock taken or given back, interrupts masked or not, if nobody is in the way."""
    contended_cycles: int = Field(default=0, ge=0)
    """More, each time that such a call leads to a switch: a lock that is held, a holder that hands over."""
    handover_cycles: int = Field(default=0, ge=0)
    """The handler of that switch."""


class Smp(Strict):
    """The costs of several cores to each other. The other values of a file with `cores` were measured with so many."""

    cores: int = Field(default=1, ge=1)
    lock_wait_cycles: int = Field(default=0, ge=0)
    """The longest wait for one of the kernel's locks."""
    release_cycles: int = Field(default=0, ge=0)
    """The longest that a release was seen to wait for another core, beside what it costs."""
    yield_cycles: int = Field(default=0, ge=0)
    """The handlers by which a core, asked to by another one, looks for who is to run. A switch comes on top."""
    contention_permille: int = Field(default=0, ge=0)
    """What work lasts longer for the other cores' accesses to the same memories."""
    tick_core: int = Field(default=0, ge=0)


class Fit(Strict):
    """How one model fits its samples. `model` is in words, `base` and `slope` in cycles."""

    name: str
    model: str
    samples: int
    base: float
    slope: float = 0.0
    rms: float
    largest_above: float
    """The largest observed value above the fit."""
    largest_observed: int


class Overheads(Strict):
    """The file. Lengths of time in cycles of `clock_hz`."""

    kernel: str = ""
    board: str = ""
    clock_hz: int = Field(gt=0)
    config: Mapping[str, str] = Field(default_factory=dict)
    note: str = ""
    deviations: Mapping[str, str] = Field(default_factory=dict)
    """Conformance checks that the kernel fails as its kernel.toml declares -> what was seen, with the reason."""
    tick: Tick
    switch: Switch
    interrupt: Interrupt = Interrupt()
    job: Job = Job()
    masks: Kernel = Kernel()
    events: Events | None = None
    smp: Smp = Smp()
    equals: Literal["", "fifo", "slices", "any"] = ""
    """How the kernel was seen to let equals take turns: in the order of their releases; by the tick; otherwise."""
    operations: Mapping[str, int] = Field(default_factory=dict)
    """Longest call of an operation, by object, operation and outcome: `mutex_lock_free`."""
    fit: tuple[Fit, ...] = ()

    @property
    def tick_switch(self) -> int:
        """Returns what a tick costs more if it hands over to another task, in cycles."""
        by_handler = self.interrupt.entry_cycles + max(self.switch.up_cycles, self.switch.from_idle_cycles)
        return by_handler if self.tick.switch_cycles is None else self.tick.switch_cycles

    @property
    def tick_slice(self) -> int:
        """The same, from a task to its equal."""
        by_handler = self.interrupt.entry_cycles + max(self.switch.up_cycles, self.switch.down_cycles)
        return by_handler if self.tick.slice_cycles is None else self.tick.slice_cycles


_HINTS: Final = {
    "tick": "a table [tick] with period_cycles, base_cycles and per_task_cycles",
    "switch": "a table [switch] with up_cycles and down_cycles",
    "clock_hz": "clock_hz, the cycles of a second",
}


def read_overheads(path: Path) -> Overheads:
    """Reads a file, JSON if it ends in .json, else TOML. Raises OverheadsError naming file and key."""
    read = read_object if path.suffix.lower() == ".json" else read_table
    return parse_overheads(read(path, "the overheads", OverheadsError), path_text(path))


def parse_overheads(table: Mapping[str, Any], source: str) -> Overheads:
    """The same of a table. `source` names its file. Raises OverheadsError."""
    try:
        return Overheads.model_validate(table)
    except ValidationError as cause:
        lacks = missing_key(cause)
        if lacks is not None:
            raise OverheadsError(f"{source} lacks {lacks}; add {_HINTS.get(lacks, lacks)}.") from None
        raise OverheadsError(f"{source}, {validation_problem(cause)}; correct or remove it.") from None


def write_overheads(overheads: Overheads, path: Path) -> None:
    """Writes what `read_overheads` reads. Raises StoreError."""
    table = overheads.model_dump(mode="json", exclude_none=True)
    text = json.dumps(table, indent=1) + "\n" if path.suffix.lower() == ".json" else to_toml(table)
    write_whole(path, text, "the overheads")


def to_toml(table: Mapping[str, Any]) -> str:
    """Plain keys, then tables, then lists of tables: all that the file needs of TOML."""
    lines = [
        f"{key} = {_value(value)}" for key, value in table.items() if not isinstance(value, Mapping | list | tuple)
    ]
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            lines += ["", f"[{key}]", *(f"{_key(name)} = {_value(item)}" for name, item in value.items())]
        elif isinstance(value, list | tuple):
            for item in value:
                lines += ["", f"[[{key}]]", *(f"{_key(name)} = {_value(part)}" for name, part in item.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else json.dumps(name)


def _value(value: object) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else json.dumps(value)
