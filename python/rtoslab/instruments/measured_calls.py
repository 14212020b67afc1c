"""Functions of any image, measured call by call: `rtoslab measure`.

The image runs twice. The first run counts every call. The second goes through the greatest ones again and tells what
they spent their cycles on. Both take the same cycles, for nothing that is observed costs one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.instruments.call_counts import Distribution, Spread, Tally, cycles_of
from rtoslab.instruments.call_replay import Spending, Window, spendings, window_of
from rtoslab.instruments.functions import Function, Functions
from rtoslab.instruments.names import Names
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import CALL, NODE
from rtoslab.instruments.session import EndedRecordingError, ObservationRequest, Progress, Recording, cut_of, record
from rtoslab.instruments.subject import Subject

if TYPE_CHECKING:
    from rtoslab._sim import Observed

GREATEST: Final = ("inclusive", "undisturbed")
"""Measures whose greatest call is gone through again."""
_FIRST_THREAD: Final = 1
"""Number of the thread that the board begins with."""


@dataclass(frozen=True, slots=True)
class GreatestCall:
    """The first of the longest calls."""

    by: tuple[str, ...]
    """The measures by which it is."""
    start: int
    """Cycle since reset."""
    core: int
    path: tuple[str, ...]
    """Outermost function first, to the function itself. A handler's first function carries its exception's number."""
    cycles: dict[str, int]
    """Keyed by measure."""
    interruptions: int
    stack_bytes: int
    spending: Spending | None = None
    """None if it was not gone through again."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that had not returned as the stretch ended, and what it took until then."""

    start: int
    core: int
    path: tuple[str, ...]
    cycles: dict[str, int]
    """Keyed by measure, up to its last instruction."""
    stack_bytes: int | None
    """None of the function that the board begins with at reset: that sets the stack pointer itself."""


@dataclass(frozen=True, slots=True)
class MeasuredFunction:
    """All calls of one function in a stretch."""

    function: Function
    source: str
    """`file:line` of its first instruction. Empty if the image does not say."""
    tally: Tally
    cycles: dict[str, Spread]
    """Keyed by measure. Empty if no call returned."""
    instructions: dict[str, Spread] = field(default_factory=dict)
    """Likewise: `inclusive` and `exclusive`."""
    greatest: tuple[GreatestCall, ...] = ()
    open: tuple[OpenCall, ...] = ()
    ran: frozenset[str] = frozenset()
    """Functions that ran since reset below it on a call path, itself included."""


@dataclass(frozen=True, slots=True)
class MeasuredCalls:
    """Functions of an image, over one section of its run."""

    label: str
    board: str
    cores: int
    clock_hz: int
    """The board's usual clock, by which `--for` counts too. An image may run at another."""
    start_cycle: int
    end_cycle: int
    cut: str
    """Why the stretch is not the one asked for. Empty if it is."""
    functions: tuple[MeasuredFunction, ...]
    ran: frozenset[str] = frozenset()
    """All functions that ran since reset."""
    handled: frozenset[str] = frozenset()
    """Those of them that ran in exceptions' handlers."""


class EndedMeasureError(KeyboardInterrupt):
    """An interrupt in the stretch, with what was measured of it."""

    def __init__(self, cause: KeyboardInterrupt, begun: MeasuredCalls) -> None:
        super().__init__(*cause.args)
        self.begun = begun


def measure_calls(subject: Subject, functions: Sequence[str], progress: Progress = lambda *_: None) -> MeasuredCalls:
    """Runs the subject and measures each call of the functions asked for.

    Raises SymbolError, RunError, ImageFileError. EndedMeasureError in place of a KeyboardInterrupt in the stretch.
    """
    first = _Counting(subject, functions)
    try:
        recording = record(subject, first.request, progress)
    except EndedRecordingError as cause:
        raise EndedMeasureError(cause, first.result(cause.recording, "the command was ended", {})) from None
    windows = first.windows(recording)
    return first.result(recording, cut_of(recording), spendings(subject, windows, progress))


class _Counting:
    """The first run."""

    def __init__(self, subject: Subject, functions: Sequence[str]) -> None:
        self.subject = subject
        self.asked = functions
        self.functions: list[Function] = []
        self.tallies: list[Tally] = []

    def request(self, machine: ObservedMachine) -> ObservationRequest:
        known = Functions(self.subject.elf, machine)
        by_address: dict[int, Function] = {}
        for name in dict.fromkeys(self.asked):
            function = known.find(name)
            before = by_address.get(function.address)
            by_address[function.address] = (
                function if before is None else replace(before, requested=(*before.requested, name))
            )
        self.functions = list(by_address.values())
        self.tallies = [Tally() for _ in self.functions]
        return ObservationRequest(
            measured={address: number for number, address in enumerate(by_address)}, take=self.take
        )

    def take(self, observed: "Observed", stretch_start: int) -> None:
        """Counts the calls of a piece of the stretch."""
        calls = np.frombuffer(observed["calls"], dtype=CALL)
        for number, tally in enumerate(self.tallies):
            tally.add(calls[calls["id"] == number], stretch_start)

    def windows(self, recording: Recording) -> list[Window]:
        """The greatest calls, each once."""
        self.take(recording.observed, recording.start_cycle)
        nodes = np.frombuffer(recording.observed["nodes"], dtype=NODE)
        greatest = [tally.greatest[name] for tally in self.tallies for name in GREATEST if name in tally.greatest]
        return list(dict.fromkeys(window_of(window, nodes) for window in greatest))

    def result(self, recording: Recording, cut: str, spent: Mapping[Window, Spending]) -> MeasuredCalls:
        nodes = np.frombuffer(recording.observed["nodes"], dtype=NODE)
        addresses = [item.address for item in self.functions]
        names = Names(recording.subject.elf, recording.symbols, nodes, addresses)
        still_open = np.frombuffer(recording.observed["open_calls"], dtype=CALL)
        functions = []
        for number, (function, tally) in enumerate(zip(self.functions, self.tallies, strict=True)):
            functions.append(
                MeasuredFunction(
                    function=function,
                    source=names.source(function.address).line,
                    tally=tally,
                    cycles=_spreads(tally.cycles),
                    instructions=_spreads(tally.instructions),
                    greatest=_greatest(function, tally, names, nodes, spent),
                    ran=names.below(nodes, _is(function.address)),
                    open=tuple(
                        _open(item, _path(function, item, names)) for item in still_open[still_open["id"] == number]
                    ),
                )
            )
        subject = recording.subject
        return MeasuredCalls(
            subject.label, subject.board.id, subject.cores, subject.board.clock.sys_hz,
            recording.start_cycle, recording.end_cycle, cut, tuple(functions),
            names.below(nodes, lambda *_: True), names.below(nodes, lambda _, exception: exception != 0),
        )  # fmt: skip


def _spreads(distributions: Mapping[str, Distribution]) -> dict[str, Spread]:
    spreads = {name: item.spread() for name, item in distributions.items()}
    return {name: spread for name, spread in spreads.items() if spread is not None}


def _is(address: int) -> Callable[[int, int], bool]:
    return lambda entry, _: entry == address


def _open(call: "np.void", path: tuple[str, ...]) -> OpenCall:
    cycles = {name: int(value) for name, value in cycles_of(call).items()}
    at_reset = int(call["thread"]) == _FIRST_THREAD and len(path) == 1
    return OpenCall(int(call["start"]), int(call["core"]), path, cycles, None if at_reset else int(call["stack"]))


def _path(function: Function, call: "np.void", names: Names) -> tuple[str, ...]:
    """The call's path, which ends as the function was named, not as other symbols of the same code."""
    *callers, last = names.stack(int(call["node"]), function.address)
    return (*callers, function.name + "".join(last.partition(" [")[1:]))


def _greatest(
    function: Function, tally: Tally, names: Names, nodes: "NDArray[np.void]", spent: Mapping[Window, Spending]
) -> tuple[GreatestCall, ...]:
    by_window: dict[Window, tuple[list[str], np.void]] = {}
    for name in GREATEST:
        if name in tally.greatest:
            call = tally.greatest[name]
            by_window.setdefault(window_of(call, nodes), ([], call))[0].append(name)
    return tuple(
        GreatestCall(
            by=tuple(by),
            start=window.start,
            core=window.core,
            path=_path(function, call, names),
            cycles={name: int(value) for name, value in cycles_of(call).items()},
            interruptions=int(call["interruptions"]),
            stack_bytes=int(call["stack"]),
            spending=spent.get(window),
        )
        for window, (by, call) in by_window.items()
    )
