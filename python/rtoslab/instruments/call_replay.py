"""Replays the greatest calls: what they spent their cycles on, and what ran in their place meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RunError
from rtoslab.instruments.call_counts import call_cycles_by_metric
from rtoslab.instruments.names import ImageAddressNameFinder
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import NO_NODE, NODE, ROW
from rtoslab.instruments.session import CHUNK_CYCLES, Progress, open_board_with_image
from rtoslab.instruments.subject import ObservedImage
from rtoslab.targets import convert_simulator_errors

ITSELF: Final = "itself"
PathStep = tuple[int, int]
"""First address of a function. Number of the exception whose handler it is, 0 if it was called."""


@dataclass(frozen=True, slots=True)
class ReplayedFunctionCall:
    """The time and the call path of one call that is to be replayed."""

    start: int
    until: int
    core: int
    path: tuple[PathStep, ...]
    undisturbed: int
    """Cycles that it took itself, with all that it called."""
    stayed: bool
    """Whether no other thread ran in between, so that it stayed on its core."""

    @property
    def caller_call_path(self) -> tuple[PathStep, ...]:
        """Returns the call path up to the call's caller. The called function may change by a tail call."""
        return self.path[:-1] or self.path


@dataclass(frozen=True, slots=True)
class FunctionCallCycleBreakdown:
    """How one call spent its cycles, by function, and what ran in its place meanwhile."""

    inside: Mapping[str, int]
    """The function itself and those that it called directly, each with all that it called in turn."""
    beside: Mapping[str, int]
    """Handlers and threads that ran on its core meanwhile, by their first function."""
    problem: str = ""
    """Why the cycles inside are not known. Empty if they are."""


def time_range_and_path_of_call(call: Any, nodes: "NDArray[np.void]") -> ReplayedFunctionCall:
    """Returns the time and the call path of a measured call, from its packed record and the packed call paths."""
    node = int(call["node"])
    return ReplayedFunctionCall(
        int(call["start"]),
        int(call["until"]),
        int(call["core"]),
        _call_path_of_node(nodes, node),
        int(call_cycles_by_metric(call)["undisturbed"]),
        not call["away"],
    )


def replay_longest_calls(
    subject: ObservedImage, windows: Sequence[ReplayedFunctionCall], progress: Progress
) -> dict[ReplayedFunctionCall, FunctionCallCycleBreakdown]:
    """Runs an image again up to the last of these calls. Returns how each call spent its cycles."""
    machine = open_board_with_image(subject)
    edges = sorted({edge for window in windows for edge in (window.start, window.until)})
    sums: dict[ReplayedFunctionCall, dict[tuple[int, int], int]] = {window: {} for window in windows}
    nodes = np.empty(0, dtype=NODE)
    with convert_simulator_errors(RunError):
        machine.observe(True)
        for edge in edges:
            run_to_cycle(machine, edge, edges[-1], progress)
            observed = machine.observed()
            nodes = np.frombuffer(observed["nodes"], dtype=NODE)
            inside = [window for window in windows if window.start < edge <= window.until]
            for core, account in enumerate(observed["cores"][: subject.cores] if inside else ()):
                rows = np.frombuffer(account["rows"], dtype=ROW)
                cycles = rows["cycles"].sum(axis=1)
                for node, spent in zip(rows["node"].tolist(), cycles.tolist(), strict=True):
                    for call in inside:
                        sums[call][core, node] = sums[call].get((core, node), 0) + int(spent)
    names = ImageAddressNameFinder(subject.elf, machine.symbols(), nodes, ())
    return {window: _replayed_call_cycles(window, sums[window], nodes, names) for window in windows}


def run_to_cycle(machine: ObservedMachine, cycle: int, last: int, progress: Progress) -> None:
    """Runs the board to a cycle that an earlier run reached. `last` is the last cycle of the replay, for the progress.
    Raises RunError if the board stops before."""
    while machine.cycle() < cycle:
        before = machine.cycle()
        machine.run(min(CHUNK_CYCLES, cycle - before))
        machine.take_uart()
        machine.take_events()
        progress("greatest calls", machine.cycle() / last)
        if machine.cycle() == before:
            raise RunError(
                f"The board stopped at cycle {before:,}, but in the first run it reached cycle "
                f"{cycle:,}; this is an error in rtoslab, please report it with the image."
            )


def _replayed_call_cycles(
    window: ReplayedFunctionCall,
    spent: Mapping[tuple[int, int], int],
    nodes: "NDArray[np.void]",
    names: ImageAddressNameFinder,
) -> FunctionCallCycleBreakdown:
    """Returns how a call spent its cycles. `spent` are the cycles of each call path, by core and number of the path."""
    depth, inside, beside = len(window.caller_call_path), dict[str, int](), dict[str, int]()
    for (core, node), cycles in spent.items():
        path = _call_path_of_node(nodes, node)
        if path[:depth] == window.caller_call_path and (core == window.core or not window.stayed):
            rest = path[depth:] if len(window.path) > 1 else path[depth - 1 :]
            name = (
                ITSELF
                if rest == window.path[-1:]
                else names.function_name_at(_next_function_on_call_path(rest, window)[0])
            )
            inside[name] = inside.get(name, 0) + cycles
        elif core == window.core:
            entry, exception = path[0]
            name = names.function_name_at(entry) + (f" [exception {exception}]" if exception else "")
            beside[name] = beside.get(name, 0) + cycles
    total = sum(inside.values())
    if total != window.undisturbed:
        problem = f"while it waited, {total - window.undisturbed:,} cycles passed on the same path in other tasks"
        return FunctionCallCycleBreakdown({}, _sort_names_by_descending_cycles(beside), problem)
    return FunctionCallCycleBreakdown(
        _sort_names_by_descending_cycles(inside), _sort_names_by_descending_cycles(beside)
    )


def _next_function_on_call_path(rest: tuple[PathStep, ...], window: ReplayedFunctionCall) -> PathStep:
    """Returns the function that a call entered next. `rest` is the call path below the caller."""
    return rest[1] if len(rest) > 1 and rest[0] == window.path[-1] else rest[0] if rest else window.path[-1]


def _sort_names_by_descending_cycles(cycles: Mapping[str, int]) -> dict[str, int]:
    """Returns names with their cycles, the most cycles first."""
    return dict(
        sorted(
            ((name, cycles_of) for name, cycles_of in cycles.items() if cycles_of), key=lambda item: (-item[1], item[0])
        )
    )


def _call_path_of_node(nodes: "NDArray[np.void]", node: int) -> tuple[PathStep, ...]:
    """Returns the call path with this number from the packed paths, outermost function first."""
    steps: list[PathStep] = []
    while node != NO_NODE and node < len(nodes):
        parent, entry, exception = nodes[node].tolist()
        steps.append((entry, exception))
        node = parent
    return tuple(reversed(steps))
