"""A profile: every cycle of a stretch with its core, call path, source line and what it was spent on; the intervals
with interrupts masked; spinlocks. Plain values that can be stored as JSON and read back.

The cycles of a core add up to the cycles it was observed for: nothing is sampled, nothing is left over.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from rtoslab.base import ReportError, load_architecture_facts, to_canonical_json, write_file_atomically
from rtoslab.instruments.names import INLINED, ImageAddressNameFinder
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import INTERVAL, LOCK, MASKED, NODE, ROW, WAYS
from rtoslab.instruments.session import (
    ObservationRequest,
    ObservedRunRecording,
    Progress,
    RecordingInterruptedError,
    record_observed_run,
)
from rtoslab.instruments.subject import ObservedImage
from rtoslab.intake import first_validation_problem, printable_path, read_json_object
from rtoslab.targets import function_category

FORMAT: Final = 2
STILL_MASKED: Final = "(still masked at the end)"
"""Instead of the code that ended an interval with masked interrupts."""
Stack = tuple[str, ...]
Count = Annotated[int, Field(ge=0, strict=True)]
_FORM: Final = with_config(ConfigDict(extra="forbid"))
"""What is stored is read strictly."""


@_FORM
@dataclass(frozen=True, slots=True)
class CallPathCycles:
    """The cycles of one core in the last function of one call path, on one source line."""

    core: Count
    stack: Stack
    """Outermost function first. A handler's first function carries its exception's number."""
    line: str
    """`file:line`. Empty where the image does not say."""
    cycles: tuple[Count, ...]
    """Ordered by `records.WAYS`."""
    executions: Count
    """Instructions completed."""
    calls: Count
    """Executions of the first instruction of the last function that is not inlined."""

    @property
    def total_cycles(self) -> int:
        """Returns the sum of the cycles, whatever they were spent on."""
        return sum(self.cycles)


@_FORM
@dataclass(frozen=True, slots=True)
class InterruptMaskingIntervals:
    """The intervals in which interrupts of a priority were masked between the same two places in the code."""

    priority: Count
    core: Count
    opener: Stack
    opener_line: str
    """In the function whose code it is, as all places of this record and the next."""
    closer: Stack
    closer_line: str
    count: Count
    total_cycles: Count
    longest_cycles: Count
    longest_start: Count
    """The cycle in which the longest began."""


@_FORM
@dataclass(frozen=True, slots=True)
class SpinlockUse:
    """How long a core held a spinlock, or waited for it, between the same two places in the code."""

    lock: Count
    name: str
    core: Count
    waited: Annotated[bool, Field(strict=True)]
    start: Stack
    start_line: str
    end: Stack
    """Where it was released. Of a wait, where its holder had taken it."""
    end_line: str
    count: Count
    total_cycles: Count
    longest_cycles: Count
    longest_start: Count


@_FORM
@dataclass(frozen=True, slots=True)
class Profile:
    """A profile of an image: every cycle of a run by core, call path, source line and what it was spent on."""

    label: str
    axes: Mapping[str, str]
    clock_hz: Annotated[int, Field(gt=0, strict=True)]
    observed_cycles: tuple[Count, ...]
    """Ordered by core."""
    operations: Count | None
    """The count of a benchmark in the window. None if it does not count."""
    spent: tuple[CallPathCycles, ...]
    held: tuple[InterruptMaskingIntervals, ...]
    locks: tuple[SpinlockUse, ...]
    classes: Mapping[str, str] = field(default_factory=dict)
    """Function -> class of the kernel's kernel.toml, where a kernel is known."""
    masked_at_end: tuple[InterruptMaskingIntervals, ...] = ()
    """The intervals with masked interrupts that had not ended, and are longer than all of `held` of the priority and
    core."""
    unhandled: str = ""
    """Sentences about cores that ended in a handler that nobody wrote."""

    def save(self, path: Path) -> None:
        """Writes the profile as JSON. The same profile gives the same bytes."""
        fields = {"format": FORMAT, "ways": WAYS, **asdict(self)}
        write_file_atomically(
            path, json.dumps({**fields, "sha256": profile_digest(fields)}, indent=0) + "\n", "the profile"
        )


def profile_digest(fields: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of a stored profile's fields, which the file has as `sha256`."""
    return hashlib.sha256(to_canonical_json(dict(fields)).encode()).hexdigest()


_STORED: Final = TypeAdapter(Profile)


def read_execution_profile_file(path: Path) -> Profile:
    """Returns the profile of a file written by `Profile.save`. Raises ReportError."""
    return parse_profile(read_json_object(path, "the profile", ReportError), printable_path(path))


def parse_profile(stored: dict[str, Any], source: str) -> Profile:
    """Returns a profile from its JSON object. `source` names the file. Raises ReportError, also for a changed file."""
    if stored.get("format") != FORMAT or stored.get("ways") != list(WAYS):
        raise ReportError(
            f"{source} is not a stored profile of this version; `rtoslab profile ... --save FILE` writes one."
        )
    fields = {key: value for key, value in stored.items() if key != "sha256"}
    if stored.get("sha256") != profile_digest(fields):
        raise ReportError(f"{source} was changed after it was stored; profile again with --save.")
    try:
        result = _STORED.validate_python({key: value for key, value in fields.items() if key not in {"format", "ways"}})
    except ValidationError as cause:
        raise ReportError(
            f"{source} is not a stored profile ({first_validation_problem(cause)}); `rtoslab profile ... --save FILE` "
            "writes one."
        ) from None
    spent = [0] * len(result.observed_cycles)
    for item in result.spent:
        if item.core < len(spent) and len(item.cycles) == len(WAYS):
            spent[item.core] += item.total_cycles
        else:
            raise ReportError(
                f"{source} refers to cores or call paths that it does not contain; profile again with --save."
            )
    if tuple(spent) != result.observed_cycles:
        raise ReportError(f"{source} was changed, because its cycles do not add up; profile again with --save.")
    return result


class ProfileInterruptedError(KeyboardInterrupt):
    """Raised if the user interrupts the measurement of a profile. Contains the profile so far."""

    def __init__(self, cause: KeyboardInterrupt, begun: Profile) -> None:
        super().__init__(*cause.args)
        self.partial = begun


def profile_image(subject: ObservedImage, progress: Progress = lambda *_: None) -> Profile:
    """Runs an image and returns the profile of its cycles. Raises RunError, ImageFileError, SymbolError."""

    def make_observation_request(_: ObservedMachine) -> ObservationRequest:
        """Returns what the virtual board must record for a profile."""
        return ObservationRequest(
            priorities=load_architecture_facts().interrupt_priorities(subject.board.irq.priority_bits)
        )

    try:
        return profile_of_recording(record_observed_run(subject, make_observation_request, progress))
    except RecordingInterruptedError as cause:
        result = profile_of_recording(cause.recording)
        cycles = cause.recording.end_cycle - cause.recording.start_cycle
        raise ProfileInterruptedError(
            cause, replace(result, label=f"{result.label}, interrupted after {cycles:,} cycles")
        ) from None


def profile_of_recording(recording: ObservedRunRecording) -> Profile:
    """Returns the profile of a recorded run, with names and source lines."""
    subject, observed = recording.subject, recording.observed
    accounts = observed["cores"][: subject.cores]
    rows = [np.frombuffer(account["rows"], dtype=ROW) for account in accounts]
    masked, locks = np.frombuffer(observed["masked"], dtype=MASKED), np.frombuffer(observed["locks"], dtype=LOCK)
    pcs = {int(pc) for row in rows for pc in row["pc"]}
    still_masked = np.frombuffer(observed["open_intervals"], dtype=INTERVAL)
    for places in (masked, locks, still_masked):
        pcs |= {int(pc) for name in ("opener_pc", "closer_pc") for pc in places[name]}
    names = ImageAddressNameFinder(
        subject.elf, recording.symbols, np.frombuffer(observed["nodes"], dtype=NODE), sorted(pcs)
    )
    spent = tuple(item for core, core_rows in enumerate(rows) for item in _cycles_by_call_path(core, core_rows, names))
    held = tuple(_masked_intervals_of_record(item, names) for item in masked)
    functions = {name.partition(" [")[0] for item in spent for name in item.stack}
    kernel = subject.kernel
    return Profile(
        label=subject.label,
        axes=dict(subject.axes),
        clock_hz=recording.clock_hz,
        observed_cycles=tuple(account["until_cycle"] - account["from_cycle"] for account in accounts),
        operations=_count_benchmark_operations(recording),
        spent=spent,
        held=held,
        masked_at_end=tuple(_longer_masked_intervals(still_masked, held, names, subject.cores)),
        locks=tuple(_spinlock_use_of_record(lock, names, kernel.locks if kernel else {}) for lock in locks),
        classes={name: function_category(name, kernel) for name in sorted(functions)} if kernel else {},
        unhandled=recording.unhandled,
    )


def _cycles_by_call_path(
    core: int, rows: "np.ndarray[Any, Any]", names: ImageAddressNameFinder
) -> list[CallPathCycles]:
    """Returns the cycles of a core by call path and source line, the most first, from packed records."""
    sums: dict[tuple[Stack, str], list[int]] = {}
    for node, pc, cycles, executions, entries in rows.tolist():
        total = sums.setdefault((names.call_path(node, pc), names.source_line_at(pc).line), [0] * (len(WAYS) + 2))
        for way, count in enumerate(cycles):
            total[way] += int(count)
        total[-2] += executions
        total[-1] += entries if names.is_function_start(pc) else 0
    return [
        CallPathCycles(core, stack, line, tuple(total[:-2]), total[-2], total[-1])
        for (stack, line), total in sorted(sums.items(), key=lambda item: (-sum(item[1][:-2]), item[0]))
    ]


def _masked_intervals_of_record(row: "np.void", names: ImageAddressNameFinder) -> InterruptMaskingIntervals:
    """Returns the intervals with masked interrupts of one packed record."""
    opener, closer = ((int(row[f"{name}_node"]), int(row[f"{name}_pc"])) for name in ("opener", "closer"))
    return InterruptMaskingIntervals(
        int(row["priority"]), int(row["core"]),
        names.call_path(*opener), names.source_line_at(opener[1]).outer_line,
        names.call_path(*closer), names.source_line_at(closer[1]).outer_line,
        int(row["count"]), int(row["total"]), int(row["end"]) - int(row["start"]), int(row["start"]),
    )  # fmt: skip


def _longer_masked_intervals(
    still_masked: "np.ndarray[Any, Any]",
    held: Sequence[InterruptMaskingIntervals],
    names: ImageAddressNameFinder,
    cores: int,
) -> Iterator[InterruptMaskingIntervals]:
    """Yields the intervals with masked interrupts in progress at the end that are longer than all that ended."""
    for row in still_masked:
        priority, core, start = (int(row[name]) for name in ("priority", "core", "start"))
        opener = int(row["opener_node"]), int(row["opener_pc"])
        cycles = int(row["end"]) - start
        ended = (item.longest_cycles for item in held if (item.priority, item.core) == (priority, core))
        if core < cores and cycles > max(ended, default=0):
            path, line = names.call_path(*opener), names.source_line_at(opener[1]).outer_line
            yield InterruptMaskingIntervals(priority, core, path, line, (STILL_MASKED,), "", 1, cycles, cycles, start)


def _spinlock_use_of_record(row: "np.void", names: ImageAddressNameFinder, known: Mapping[int, str]) -> SpinlockUse:
    """Returns the use of a spinlock from one packed record. `known` has the kernel's names of locks, by number."""
    start, end = ((int(row[f"{name}_node"]), int(row[f"{name}_pc"])) for name in ("opener", "closer"))
    number = int(row["lock"])
    return SpinlockUse(
        number, known.get(number, f"spinlock {number}"), int(row["core"]), bool(row["waited"]),
        names.call_path(*start), names.source_line_at(start[1]).outer_line,
        names.call_path(*end), names.source_line_at(end[1]).outer_line,
        int(row["count"]), int(row["total"]), int(row["longest"]), int(row["start"]),
    )  # fmt: skip


def _count_benchmark_operations(recording: ObservedRunRecording) -> int | None:
    """Returns the number of operations that a benchmark counted in its measurement window. None if it does not
    count."""
    decoded = recording.decoded
    if decoded is None:
        return None
    return sum(count.close - count.open for count in decoded.counts) or None


def innermost_function(stack: Stack) -> str:
    """Returns the last function of a call path, without inlined functions."""
    return next(name.partition(" [")[0] for name in reversed(stack) if not name.endswith(INLINED))
