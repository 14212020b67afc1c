"""Measures each call of functions of any image (`rtoslab measure`).

The image runs twice. The first run counts every call. The second replays the greatest ones and shows their use of
cycles. Both take the same cycles, for observing costs none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.instruments.call_counts import CallStatistics, FunctionCallTally, ValueDistribution, call_cycles_by_metric
from rtoslab.instruments.call_replay import (
    FunctionCallCycleBreakdown,
    ReplayedFunctionCall,
    replay_longest_calls,
    time_range_and_path_of_call,
)
from rtoslab.instruments.functions import ImageFunction, ImageFunctions
from rtoslab.instruments.names import ImageAddressNameFinder
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import CALL, NODE
from rtoslab.instruments.session import (
    ObservationRequest,
    ObservedRunRecording,
    Progress,
    RecordingInterruptedError,
    find_early_observation_end_reason,
    record_observed_run,
)
from rtoslab.instruments.subject import ObservedImage
from rtoslab.targets import read_startup_board_settings

if TYPE_CHECKING:
    from rtoslab._sim import Observed

GREATEST: Final = ("inclusive", "undisturbed")
"""Measures whose greatest call is replayed."""
_FIRST_THREAD: Final = 1
"""Number of the thread that the board begins with."""


@dataclass(frozen=True, slots=True)
class LongestFunctionCall:
    """The first of a function's longest calls, by one or both measures."""

    measures: tuple[str, ...]
    """The measures by which it is the greatest."""
    start: int
    """Cycle since reset."""
    core: int
    path: tuple[str, ...]
    """Outermost function first, to the function itself. A handler's first function carries its exception's number."""
    cycles: dict[str, int]
    """Keyed by measure."""
    interruptions: int
    stack_bytes: int
    spending: FunctionCallCycleBreakdown | None = None
    """None if it was not replayed."""


@dataclass(frozen=True, slots=True)
class UnreturnedCall:
    """A call that had not returned at the end of the measurement, with its cycles until then."""

    start: int
    core: int
    path: tuple[str, ...]
    cycles: dict[str, int]
    """Keyed by measure, up to its last instruction."""
    stack_bytes: int | None
    """None of the function that the board begins with at reset: that sets the stack pointer itself."""


@dataclass(frozen=True, slots=True)
class MeasuredFunction:
    """All calls of one function during the measurement."""

    function: ImageFunction
    source: str
    """`file:line` of its first instruction. Empty if the image does not say."""
    tally: FunctionCallTally
    cycles: dict[str, CallStatistics]
    """Keyed by measure. Empty if no call returned."""
    instructions: dict[str, CallStatistics] = field(default_factory=dict)
    """Likewise: `inclusive` and `exclusive`."""
    greatest: tuple[LongestFunctionCall, ...] = ()
    open: tuple[UnreturnedCall, ...] = ()
    ran: frozenset[str] = frozenset()
    """Functions that ran since reset below it on a call path, itself included."""


@dataclass(frozen=True, slots=True)
class MeasuredCalls:
    """The measured functions of an image, over one section of its run."""

    label: str
    board: str
    cores: int
    clock_hz: int
    """The core's clock at the end of the run, as the image set it up. `--for` counts by the board's usual clock."""
    start_cycle: int
    end_cycle: int
    cut_reason: str
    """Why the observed span is not the requested one. Empty if it is."""
    functions: tuple[MeasuredFunction, ...]
    ran: frozenset[str] = frozenset()
    """All functions that ran since reset."""
    handled: frozenset[str] = frozenset()
    """Those of them that ran in exceptions' handlers."""
    state: Mapping[str, int] = field(default_factory=dict)
    """The board's settings at the end of the run, by name."""


class MeasurementInterruptedError(KeyboardInterrupt):
    """Raised if the user interrupts a measurement of calls. Contains what was measured so far."""

    def __init__(self, cause: KeyboardInterrupt, begun: MeasuredCalls) -> None:
        super().__init__(*cause.args)
        self.partial = begun


def measure_function_calls(
    subject: ObservedImage, functions: Sequence[str], progress: Progress = lambda *_: None
) -> MeasuredCalls:
    """Runs an image and measures each call of the requested functions. Raises SymbolError, RunError, ImageFileError."""
    first = _CallCounter(subject, functions)
    try:
        recording = record_observed_run(subject, first.make_observation_request, progress)
    except RecordingInterruptedError as cause:
        raise MeasurementInterruptedError(
            cause, first.measured_functions_result(cause.recording, "the command was ended", {})
        ) from None
    windows = first.longest_call_replay_windows(recording)
    return first.measured_functions_result(
        recording, find_early_observation_end_reason(recording), replay_longest_calls(subject, windows, progress)
    )


class _CallCounter:
    """Counts the calls of the requested functions in a run."""

    def __init__(self, subject: ObservedImage, functions: Sequence[str]) -> None:
        self.subject = subject
        self.names = functions
        self.functions: list[ImageFunction] = []
        self.tallies: list[FunctionCallTally] = []

    def make_observation_request(self, machine: ObservedMachine) -> ObservationRequest:
        """Returns what the virtual board must observe to count calls. Raises SymbolError."""
        known = ImageFunctions(self.subject.elf, machine)
        by_address: dict[int, ImageFunction] = {}
        for name in dict.fromkeys(self.names):
            function = known.find_function(name)
            before = by_address.get(function.address)
            by_address[function.address] = (
                function if before is None else replace(before, requested=(*before.requested, name))
            )
        self.functions = list(by_address.values())
        self.tallies = [FunctionCallTally() for _ in self.functions]
        return ObservationRequest(
            measured={address: number for number, address in enumerate(by_address)},
            on_piece=self.count_function_calls_in_run_part,
        )

    def count_function_calls_in_run_part(self, observed: "Observed", stretch_start: int) -> None:
        """Adds the calls in a piece of the run. `stretch_start` is the cycle at which the observation began."""
        calls = np.frombuffer(observed["calls"], dtype=CALL)
        for number, tally in enumerate(self.tallies):
            tally.add_ended_calls(calls[calls["id"] == number], stretch_start)

    def longest_call_replay_windows(self, recording: ObservedRunRecording) -> list[ReplayedFunctionCall]:
        """Returns the times and call paths of each function's longest calls, which are to be replayed."""
        self.count_function_calls_in_run_part(recording.observed, recording.start_cycle)
        nodes = np.frombuffer(recording.observed["nodes"], dtype=NODE)
        greatest = [tally.greatest[name] for tally in self.tallies for name in GREATEST if name in tally.greatest]
        return list(dict.fromkeys(time_range_and_path_of_call(window, nodes) for window in greatest))

    def measured_functions_result(
        self,
        recording: ObservedRunRecording,
        cut: str,
        spent: Mapping[ReplayedFunctionCall, FunctionCallCycleBreakdown],
    ) -> MeasuredCalls:
        """Returns the measured functions. `cut` says why the observation ended early. `spent` is how the longest calls
        spent their cycles."""
        nodes = np.frombuffer(recording.observed["nodes"], dtype=NODE)
        addresses = [item.address for item in self.functions]
        names = ImageAddressNameFinder(recording.subject.elf, recording.symbols, nodes, addresses)
        still_open = np.frombuffer(recording.observed["open_calls"], dtype=CALL)
        functions = []
        for number, (function, tally) in enumerate(zip(self.functions, self.tallies, strict=True)):
            functions.append(
                MeasuredFunction(
                    function=function,
                    source=names.source_line_at(function.address).line,
                    tally=tally,
                    cycles=_distribution_statistics(tally.cycles),
                    instructions=_distribution_statistics(tally.instructions),
                    greatest=_longest_calls(function, tally, names, nodes, spent),
                    ran=names.functions_called_from(nodes, _make_function_entry_predicate(function.address)),
                    open=tuple(
                        _make_unreturned_call(item, _call_path_names(function, item, names))
                        for item in still_open[still_open["id"] == number]
                    ),
                )
            )
        subject = recording.subject
        return MeasuredCalls(
            subject.label, subject.board.id, subject.cores, recording.clock_hz,
            recording.start_cycle, recording.end_cycle, cut, tuple(functions),
            names.functions_called_from(nodes, lambda *_: True),
            names.functions_called_from(nodes, lambda _, exception: exception != 0),
            read_startup_board_settings(recording.machine, subject.board, subject.cores),
        )  # fmt: skip


def _distribution_statistics(distributions: Mapping[str, ValueDistribution]) -> dict[str, CallStatistics]:
    """Returns the statistics of those distributions that have values, by name."""
    spreads = {name: item.value_statistics() for name, item in distributions.items()}
    return {name: spread for name, spread in spreads.items() if spread is not None}


def _make_function_entry_predicate(address: int) -> Callable[[int, int], bool]:
    """Returns a function that tells whether an entry on a call path is the function at this address."""
    return lambda entry, _: entry == address


def _make_unreturned_call(call: "np.void", path: tuple[str, ...]) -> UnreturnedCall:
    """Returns a call that has not returned, from its packed record."""
    cycles = {name: int(value) for name, value in call_cycles_by_metric(call).items()}
    at_reset = int(call["thread"]) == _FIRST_THREAD and len(path) == 1
    return UnreturnedCall(int(call["start"]), int(call["core"]), path, cycles, None if at_reset else int(call["stack"]))


def _call_path_names(function: ImageFunction, call: "np.void", names: ImageAddressNameFinder) -> tuple[str, ...]:
    """Returns the call path of a measured call, outermost function first. It ends with the function's name as the user
    wrote it."""
    *callers, last = names.call_path(int(call["node"]), function.address)
    return (*callers, function.name + "".join(last.partition(" [")[1:]))


def _longest_calls(
    function: ImageFunction,
    tally: FunctionCallTally,
    names: ImageAddressNameFinder,
    nodes: "NDArray[np.void]",
    spent: Mapping[ReplayedFunctionCall, FunctionCallCycleBreakdown],
) -> tuple[LongestFunctionCall, ...]:
    """Returns the longest calls of a function, with how they spent their cycles."""
    by_window: dict[ReplayedFunctionCall, tuple[list[str], np.void]] = {}
    for name in GREATEST:
        if name in tally.greatest:
            call = tally.greatest[name]
            by_window.setdefault(time_range_and_path_of_call(call, nodes), ([], call))[0].append(name)
    return tuple(
        LongestFunctionCall(
            measures=tuple(by),
            start=window.start,
            core=window.core,
            path=_call_path_names(function, call, names),
            cycles={name: int(value) for name, value in call_cycles_by_metric(call).items()},
            interruptions=int(call["interruptions"]),
            stack_bytes=int(call["stack"]),
            spending=spent.get(window),
        )
        for window, (by, call) in by_window.items()
    )
