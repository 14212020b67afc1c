"""Measures from one instruction to another of any image: every interval, and the paths at both ends of the longest.

The image runs twice, as in `measured_calls`: the first run stamps every arrival at both places, the second goes through
the longest interval again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RunError
from rtoslab.instruments.call_counts import Distribution, Spread
from rtoslab.instruments.call_replay import run_to
from rtoslab.instruments.functions import Functions
from rtoslab.instruments.names import Names
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import ARRIVAL, NODE, ROW
from rtoslab.instruments.session import ObservationRequest, Progress, Recording, cut_of, record
from rtoslab.instruments.subject import Subject
from rtoslab.targets import KIND_EXEC, apply_settings, load_image, make_machine, simulator_errors

_STEPS_MOST: Final = 4096
"""Cycles within which an instruction that is about to execute has executed, waits for memory included."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An instruction about to execute."""

    cycle: int
    core: int
    address: int
    instructions: int | None = None
    """Completed on its core before it. None if it was not completed in the stretch."""


@dataclass(frozen=True, slots=True)
class LongestInterval:
    """The first of the longest ones."""

    begin: Arrival
    end: Arrival
    begin_path: tuple[str, ...]
    """Outermost function first. A handler's first function carries its exception's number."""
    end_path: tuple[str, ...]
    spent: dict[str, int]
    """Cycles of the core on which it ended, by function, the most first."""


@dataclass(frozen=True, slots=True)
class MeasuredInterval:
    """All intervals between two places in a stretch."""

    begin: str
    """As it was named."""
    end: str
    count: int
    cycles: Spread | None
    """None if none ended."""
    begun_again: int
    """Arrivals at the begin while an interval was under way: it continues, from its first arrival."""
    is_open: bool
    """One was under way as the stretch ended."""
    longest: LongestInterval | None = None
    instructions: Spread | None = None
    """The instructions of the core, with those of interrupts. None if one began on another core than it ended."""


@dataclass(frozen=True, slots=True)
class MeasuredIntervals:
    """The intervals of one section of the run."""

    cut: str
    """Why the stretch is not the one asked for. Empty if it is."""
    intervals: tuple[MeasuredInterval, ...]
    ran: frozenset[str]
    """All functions that ran since reset."""


@dataclass(slots=True)
class _Pairing:
    begins: frozenset[int]
    ends: frozenset[int]
    open: Arrival | None = None
    begun_again: int = 0
    seen: Distribution = field(default_factory=Distribution)
    executed: Distribution | None = field(default_factory=Distribution)
    """Instructions. None once an interval's cannot be told."""
    longest: tuple[Arrival, Arrival] | None = None

    def arrive(self, at: Arrival) -> None:
        """An arrival that ends an interval may begin the next one."""
        if at.address in self.ends and self.open is not None:
            length = at.cycle - self.open.cycle
            self.seen.add(np.array([length], dtype=np.uint64))
            self._count(self.open, at)
            if self.longest is None or length > self.longest[1].cycle - self.longest[0].cycle:
                self.longest = (self.open, at)
            self.open = None
        if at.address in self.begins:
            if self.open is None:
                self.open = at
            else:
                self.begun_again += 1

    def _count(self, begin: Arrival, end: Arrival) -> None:
        if self.executed is None or begin.instructions is None or end.instructions is None or begin.core != end.core:
            self.executed = None
        else:
            self.executed.add(np.array([end.instructions - begin.instructions], dtype=np.uint64))


def measure_intervals(
    subject: Subject, pairs: Sequence[tuple[str, str]], progress: Progress = lambda *_: None
) -> MeasuredIntervals:
    """Runs the subject and measures every interval from the first to the second place of each pair.

    A place is a symbol, an address or `file.c:line`. An interval begins as its first instruction is about to execute
    and ends as the second's is, on whichever core. Raises SymbolError, RunError, ImageFileError.
    """
    pairings: list[_Pairing] = []

    def request(machine: ObservedMachine) -> ObservationRequest:
        known = Functions(subject.elf, machine)
        pairings.extend(_Pairing(frozenset(known.places(a)), frozenset(known.places(b))) for a, b in pairs)
        places = sorted({place for pairing in pairings for place in pairing.begins | pairing.ends})
        return ObservationRequest(executed={place: number for number, place in enumerate(places)})

    recording = record(subject, request, progress)
    _pair(recording, pairings)
    windows = [pairing.longest for pairing in pairings if pairing.longest is not None]
    replayed = _again(subject, windows, progress) if windows else {}
    nodes = np.frombuffer(recording.observed["nodes"], dtype=NODE)
    return MeasuredIntervals(
        cut_of(recording),
        tuple(
            MeasuredInterval(
                begin, end, sum(item.seen.counts.values()), item.seen.spread(), item.begun_again, item.open is not None,
                None if item.longest is None else replayed[item.longest],
                None if item.executed is None else item.executed.spread(),
            )
            for (begin, end), item in zip(pairs, pairings, strict=True)
        ),
        Names(subject.elf, recording.symbols, nodes, ()).below(nodes, lambda *_: True),
    )  # fmt: skip


def _pair(recording: Recording, pairings: Sequence[_Pairing]) -> None:
    events = recording.events
    mine = events[(events["kind"] == KIND_EXEC) & (events["cycle"] >= recording.start_cycle)]
    completed = np.frombuffer(recording.observed["arrivals"], dtype=ARRIVAL)
    at_place = {
        (core, address): completed[(completed["core"] == core) & (completed["pc"] == address)]
        for core, address in {(int(core), int(address)) for core, address in zip(mine["core"], mine["pc"], strict=True)}
    }
    for cycle, core, address in zip(*(mine[name].tolist() for name in ("cycle", "core", "pc")), strict=True):
        for pairing in pairings:
            if address in pairing.begins or address in pairing.ends:
                pairing.arrive(Arrival(cycle, core, address, _instructions_before(at_place[core, address], cycle)))


def _instructions_before(completed: "NDArray[np.void]", cycle: int) -> int | None:
    """Returns the instructions before the one that was about to execute in a cycle, from the records of its place."""
    at = int(np.searchsorted(completed["until"], cycle, side="right"))
    return int(completed["instructions"][at]) if at < len(completed) else None


def _again(
    subject: Subject, windows: Sequence[tuple[Arrival, Arrival]], progress: Progress
) -> dict[tuple[Arrival, Arrival], LongestInterval]:
    """Runs the subject once more for each window: windows may overlap, and both ends of each are stepped through."""
    return {window: _longest(subject, window, progress) for window in dict.fromkeys(windows)}


def _longest(subject: Subject, window: tuple[Arrival, Arrival], progress: Progress) -> LongestInterval:
    begin, end = window
    machine = cast("ObservedMachine", make_machine(subject.board, cores=subject.cores))
    apply_settings(machine, subject.settings)
    load_image(machine, subject.image, subject.elf.name)
    with simulator_errors(RunError):
        machine.observe(True)
        run_to(machine, begin.cycle, end.cycle, progress)
        machine.observed()
        spent: dict[int, int] = {}
        nodes_at = [_step(machine, begin, spent, end.core)]
        run_to(machine, end.cycle, end.cycle, progress)
        _add(machine, spent, end.core)
        nodes_at.append(_step(machine, end, {}, end.core))
        nodes = np.frombuffer(machine.observed()["nodes"], dtype=NODE)
    names = Names(subject.elf, machine.symbols(), nodes, ())
    by_function: dict[str, int] = {}
    for node, cycles in spent.items():
        name = names.function(int(nodes[node]["entry"])) if node < len(nodes) else "?"
        by_function[name] = by_function.get(name, 0) + cycles
    begin_path, end_path = (
        names.stack(node, entry.address) if node is not None else (names.function(entry.address),)
        for node, entry in zip(nodes_at, window, strict=True)
    )
    ordered = sorted(
        ((name, entry) for name, entry in by_function.items() if entry), key=lambda item: (-item[1], item[0])
    )
    return LongestInterval(begin, end, begin_path, end_path, dict(ordered))


def _add(machine: ObservedMachine, spent: dict[int, int], core: int) -> list[tuple[int, int, int]]:
    """Adds what a core spent since it was last asked; (core, node, address) of all that executed."""
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


def _step(machine: ObservedMachine, at: Arrival, spent: dict[int, int], core: int) -> int | None:
    """Executes the instruction that an arrival is at, and tells the node of its call path."""
    for _ in range(_STEPS_MOST):
        machine.run(1)
        machine.take_events()
        for number, node, pc in _add(machine, spent, core):
            if number == at.core and pc == at.address:
                return node
    return None
