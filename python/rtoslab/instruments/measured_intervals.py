"""Measures from one instruction to another of any image: every interval, and the call paths at both ends of the
longest.

The image runs twice, as in `measured_calls`: the first run records every arrival at both places, the second replays
the longest interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RunError
from rtoslab.instruments.call_counts import CallStatistics, ValueDistribution
from rtoslab.instruments.call_replay import run_to_cycle
from rtoslab.instruments.functions import ImageFunctions
from rtoslab.instruments.names import ImageAddressNameFinder
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import ARRIVAL, NODE, ROW
from rtoslab.instruments.session import (
    ObservationRequest,
    ObservedRunRecording,
    Progress,
    find_early_observation_end_reason,
    open_board_with_image,
    record_observed_run,
)
from rtoslab.instruments.subject import ObservedImage
from rtoslab.targets import EVENT, KIND_EXEC, convert_simulator_errors, read_startup_board_settings

_STEPS_MOST: Final = 4096
"""Cycles within which an instruction that is about to execute has executed, waits for memory included."""


@dataclass(frozen=True, slots=True)
class WatchedInstructionEvent:
    """A moment at which a watched instruction is about to be executed."""

    cycle: int
    core: int
    address: int
    instructions: int | None = None
    """Completed on its core before it. None if it was not completed in the stretch."""


@dataclass(frozen=True, slots=True)
class LongestInterval:
    """The longest run of a measured interval: both ends with their call paths, and how it spent its cycles."""

    begin: WatchedInstructionEvent
    end: WatchedInstructionEvent
    begin_path: tuple[str, ...]
    """Outermost function first. A handler's first function carries its exception's number."""
    end_path: tuple[str, ...]
    spent: dict[str, int]
    """Cycles of the core on which it ended, by function, the most first."""


@dataclass(frozen=True, slots=True)
class MeasuredInterval:
    """All runs of the code between two places, with their cycles."""

    begin: str
    """As it was named."""
    end: str
    count: int
    cycles: CallStatistics | None
    """None if none ended."""
    begun_again: int
    """Arrivals at the begin inside an interval, which continues from its first arrival."""
    is_open: bool
    """Whether an interval had begun and not ended when the observed span ended."""
    longest: LongestInterval | None = None
    instructions: CallStatistics | None = None
    """The instructions of the core, with those of interrupts. None if one began on another core than it ended."""


@dataclass(frozen=True, slots=True)
class MeasuredRunIntervals:
    """The measured intervals of one section of an image's run."""

    cut_reason: str
    """Why the observed span is not the requested one. Empty if it is."""
    intervals: tuple[MeasuredInterval, ...]
    ran: frozenset[str]
    """All functions that ran since reset."""
    state: Mapping[str, int] = field(default_factory=dict)
    """The board's settings at the end of the run, by name."""


@dataclass(slots=True)
class _IntervalPairing:
    """Pairs the executions of an interval's begin with those of its end."""

    begins: frozenset[int]
    ends: frozenset[int]
    open: WatchedInstructionEvent | None = None
    begun_again: int = 0
    lengths: ValueDistribution = field(default_factory=ValueDistribution)
    executed: ValueDistribution | None = field(default_factory=ValueDistribution)
    """Instructions of the intervals. None once those of one are unknown."""
    longest: tuple[WatchedInstructionEvent, WatchedInstructionEvent] | None = None

    def add_arrival(self, at: WatchedInstructionEvent) -> None:
        """Adds an execution of the begin or end instruction, in the order of time. One that ends an interval may begin
        the next."""
        if at.address in self.ends and self.open is not None:
            length = at.cycle - self.open.cycle
            self.lengths.add_values_to_counts(np.array([length], dtype=np.uint64))
            self._add_interval_instruction_count(self.open, at)
            if self.longest is None or length > self.longest[1].cycle - self.longest[0].cycle:
                self.longest = (self.open, at)
            self.open = None
        if at.address in self.begins:
            if self.open is None:
                self.open = at
            else:
                self.begun_again += 1

    def _add_interval_instruction_count(self, begin: WatchedInstructionEvent, end: WatchedInstructionEvent) -> None:
        """Adds the number of instructions between two executions, unless it is unknown."""
        if self.executed is None or begin.instructions is None or end.instructions is None or begin.core != end.core:
            self.executed = None
        else:
            self.executed.add_values_to_counts(np.array([end.instructions - begin.instructions], dtype=np.uint64))


def measure_intervals(
    subject: ObservedImage, pairs: Sequence[tuple[str, str]], progress: Progress = lambda *_: None
) -> MeasuredRunIntervals:
    """Runs an image and measures every interval from the first to the second place of each pair. Raises SymbolError,
    RunError, ImageFileError.

    A place is a symbol, an address or `file.c:line`. An interval begins when its first instruction is about to execute
    and ends when the second's is, on whichever core.
    """
    pairings: list[_IntervalPairing] = []

    def make_observation_request(machine: ObservedMachine) -> ObservationRequest:
        """Returns what the virtual board must record: the executions of all begins and ends."""
        known = ImageFunctions(subject.elf, machine)
        pairings.extend(
            _IntervalPairing(frozenset(known.instruction_addresses(a)), frozenset(known.instruction_addresses(b)))
            for a, b in pairs
        )
        places = sorted({place for pairing in pairings for place in pairing.begins | pairing.ends})
        return ObservationRequest(executed={place: number for number, place in enumerate(places)})

    recording = record_observed_run(subject, make_observation_request, progress)
    _assign_marker_executions_to_intervals(recording, pairings)
    windows = [pairing.longest for pairing in pairings if pairing.longest is not None]
    replayed = _replay_run_for_measured_intervals(subject, windows, progress) if windows else {}
    nodes = np.frombuffer(recording.observed["nodes"], dtype=NODE)
    return MeasuredRunIntervals(
        find_early_observation_end_reason(recording),
        tuple(
            MeasuredInterval(
                begin, end, sum(item.lengths.counts.values()), item.lengths.value_statistics(), item.begun_again,
                item.open is not None, None if item.longest is None else replayed[item.longest],
                None if item.executed is None else item.executed.value_statistics(),
            )
            for (begin, end), item in zip(pairs, pairings, strict=True)
        ),
        ImageAddressNameFinder(subject.elf, recording.symbols, nodes, ()).functions_called_from(nodes, lambda *_: True),
        read_startup_board_settings(recording.machine, subject.board, subject.cores),
    )  # fmt: skip


def _assign_marker_executions_to_intervals(
    recording: ObservedRunRecording, pairings: Sequence[_IntervalPairing]
) -> None:
    """Adds the recorded executions of begins and ends to the intervals that they belong to."""
    events = np.frombuffer(recording.events, dtype=EVENT)
    mine = events[(events["kind"] == KIND_EXEC) & (events["cycle"] >= recording.start_cycle)]
    completed = np.frombuffer(recording.observed["arrivals"], dtype=ARRIVAL)
    at_place = {
        (core, address): completed[(completed["core"] == core) & (completed["pc"] == address)]
        for core, address in {(int(core), int(address)) for core, address in zip(mine["core"], mine["pc"], strict=True)}
    }
    for cycle, core, address in zip(*(mine[name].tolist() for name in ("cycle", "core", "pc")), strict=True):
        for pairing in pairings:
            if address in pairing.begins or address in pairing.ends:
                pairing.add_arrival(
                    WatchedInstructionEvent(cycle, core, address, _instructions_before(at_place[core, address], cycle))
                )


def _instructions_before(completed: "NDArray[np.void]", cycle: int) -> int | None:
    """Returns how many instructions a core completed before a cycle. `completed` are packed records of executions. None
    if there is none afterwards."""
    at = int(np.searchsorted(completed["until"], cycle, side="right"))
    return int(completed["instructions"][at]) if at < len(completed) else None


def _replay_run_for_measured_intervals(
    subject: ObservedImage,
    windows: Sequence[tuple[WatchedInstructionEvent, WatchedInstructionEvent]],
    progress: Progress,
) -> dict[tuple[WatchedInstructionEvent, WatchedInstructionEvent], LongestInterval]:
    """Runs the image again for each interval (begin, end). Returns the intervals with call paths and the use of their
    cycles."""
    return {window: _rerun_image_for_interval(subject, window, progress) for window in dict.fromkeys(windows)}


def _rerun_image_for_interval(
    subject: ObservedImage, window: tuple[WatchedInstructionEvent, WatchedInstructionEvent], progress: Progress
) -> LongestInterval:
    """Runs the image again to the end of an interval. Returns its call paths and the use of its cycles."""
    begin, end = window
    machine = open_board_with_image(subject)
    with convert_simulator_errors(RunError):
        machine.observe(True)
        run_to_cycle(machine, begin.cycle, end.cycle, progress)
        machine.observed()
        spent: dict[int, int] = {}
        nodes_at = [_step_and_find_call_path(machine, begin, spent, end.core)]
        run_to_cycle(machine, end.cycle, end.cycle, progress)
        _add_cycles_by_call_path(machine, spent, end.core)
        nodes_at.append(_step_and_find_call_path(machine, end, {}, end.core))
        nodes = np.frombuffer(machine.observed()["nodes"], dtype=NODE)
    names = ImageAddressNameFinder(subject.elf, machine.symbols(), nodes, ())
    by_function: dict[str, int] = {}
    for node, cycles in spent.items():
        name = names.function_name_at(int(nodes[node]["entry"])) if node < len(nodes) else "?"
        by_function[name] = by_function.get(name, 0) + cycles
    begin_path, end_path = (
        names.call_path(node, entry.address) if node is not None else (names.function_name_at(entry.address),)
        for node, entry in zip(nodes_at, window, strict=True)
    )
    ordered = sorted(
        ((name, entry) for name, entry in by_function.items() if entry), key=lambda item: (-item[1], item[0])
    )
    return LongestInterval(begin, end, begin_path, end_path, dict(ordered))


def _add_cycles_by_call_path(machine: ObservedMachine, spent: dict[int, int], core: int) -> list[tuple[int, int, int]]:
    """Adds a core's cycles since the last call to `spent`, by number of the call path. Returns (core, call path,
    address) of all that executed."""
    seen = []
    for number, account in enumerate(machine.observed()["cores"]):
        rows = np.frombuffer(account["rows"], dtype=ROW)
        for node, pc, cycles in zip(
            rows["node"].tolist(), rows["pc"].tolist(), rows["cycles"].sum(axis=1).tolist(), strict=True
        ):
            seen.append((number, node, pc))
            if number == core:
                spent[node] = spent.get(node, 0) + int(cycles)
    return seen


def _step_and_find_call_path(
    machine: ObservedMachine, at: WatchedInstructionEvent, spent: dict[int, int], core: int
) -> int | None:
    """Executes the instruction at `at`. Returns the number of its call path, None if it is not executed within some
    thousand cycles."""
    for _ in range(_STEPS_MOST):
        machine.run(1)
        machine.take_events()
        for number, node, pc in _add_cycles_by_call_path(machine, spent, core):
            if number == at.core and pc == at.address:
                return node
    return None
