"""Calls gone through again: what single calls spent their cycles on, and what ran in their place meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RunError
from rtoslab.instruments.call_counts import cycles_of
from rtoslab.instruments.names import Names
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.records import NO_NODE, NODE, ROW
from rtoslab.instruments.session import CHUNK_CYCLES, Progress
from rtoslab.instruments.subject import Subject
from rtoslab.targets import apply_settings, load_image, make_machine, simulator_errors

ITSELF: Final = "itself"
Step = tuple[int, int]
"""First address of a function. Number of the exception whose handler it is, 0 if it was called."""


@dataclass(frozen=True, slots=True)
class Window:
    """One call: where and when."""

    start: int
    until: int
    core: int
    path: tuple[Step, ...]
    undisturbed: int
    """Cycles that it took itself, with all that it called."""
    stayed: bool
    """No other thread ran in between, so that it stayed on its core."""

    @property
    def head(self) -> tuple[Step, ...]:
        """All paths of the call begin so: its caller's, for it may continue as another function by a tail call."""
        return self.path[:-1] or self.path


@dataclass(frozen=True, slots=True)
class Spending:
    """Returns the use of one call's cycles, the most first."""

    inside: Mapping[str, int]
    """The function itself and those that it called directly, each with all that it called in turn."""
    beside: Mapping[str, int]
    """Handlers and threads that ran on its core meanwhile, by their first function."""
    problem: str = ""
    """Why what is inside cannot be told. Empty if it can."""


def window_of(call: Any, nodes: "NDArray[np.void]") -> Window:
    """The window of a measured call."""
    node = int(call["node"])
    return Window(
        int(call["start"]),
        int(call["until"]),
        int(call["core"]),
        _path(nodes, node),
        int(cycles_of(call)["undisturbed"]),
        not call["away"],
    )


def spendings(subject: Subject, windows: Sequence[Window], progress: Progress) -> dict[Window, Spending]:
    """Runs the subject again up to the end of the last window."""
    machine = cast("ObservedMachine", make_machine(subject.board, cores=subject.cores))
    apply_settings(machine, subject.settings)
    load_image(machine, subject.image, subject.elf.name)
    edges = sorted({edge for window in windows for edge in (window.start, window.until)})
    sums: dict[Window, dict[tuple[int, int], int]] = {window: {} for window in windows}
    nodes = np.empty(0, dtype=NODE)
    with simulator_errors(RunError):
        machine.observe(True)
        for edge in edges:
            run_to(machine, edge, edges[-1], progress)
            observed = machine.observed()
            nodes = np.frombuffer(observed["nodes"], dtype=NODE)
            inside = [window for window in windows if window.start < edge <= window.until]
            for core, account in enumerate(observed["cores"][: subject.cores] if inside else ()):
                rows = np.frombuffer(account["rows"], dtype=ROW)
                cycles = rows["cycles"].sum(axis=1)
                for node, spent in zip(rows["node"].tolist(), cycles.tolist(), strict=True):
                    for call in inside:
                        sums[call][core, node] = sums[call].get((core, node), 0) + int(spent)
    names = Names(subject.elf, machine.symbols(), nodes, ())
    return {window: _spending(window, sums[window], nodes, names) for window in windows}


def run_to(machine: ObservedMachine, cycle: int, last: int, progress: Progress) -> None:
    """Runs to a cycle that is known to come. `last` is the one at which all is done. Raises RunError."""
    while machine.cycle() < cycle:
        before = machine.cycle()
        machine.run(min(CHUNK_CYCLES, cycle - before))
        machine.take_uart()
        machine.take_events()
        progress("greatest calls", machine.cycle() / last)
        if machine.cycle() == before:
            raise RunError(f"The board stopped at cycle {before:,}, before cycle {cycle:,} that it had reached before.")


def _spending(
    window: Window, spent: Mapping[tuple[int, int], int], nodes: "NDArray[np.void]", names: Names
) -> Spending:
    depth, inside, beside = len(window.head), dict[str, int](), dict[str, int]()
    for (core, node), cycles in spent.items():
        path = _path(nodes, node)
        if path[:depth] == window.head and (core == window.core or not window.stayed):
            rest = path[depth:] if len(window.path) > 1 else path[depth - 1 :]
            name = ITSELF if rest == window.path[-1:] else names.function(_callee(rest, window)[0])
            inside[name] = inside.get(name, 0) + cycles
        elif core == window.core:
            entry, exception = path[0]
            name = names.function(entry) + (f" [exception {exception}]" if exception else "")
            beside[name] = beside.get(name, 0) + cycles
    total = sum(inside.values())
    if total != window.undisturbed:
        problem = f"while it waited, {total - window.undisturbed:,} cycles passed on the same path in other tasks"
        return Spending({}, _most_first(beside), problem)
    return Spending(_most_first(inside), _most_first(beside))


def _callee(rest: tuple[Step, ...], window: Window) -> Step:
    """Returns the called function of a path that begins at the call, or the function that the call continued as."""
    return rest[1] if len(rest) > 1 and rest[0] == window.path[-1] else rest[0] if rest else window.path[-1]


def _most_first(cycles: Mapping[str, int]) -> dict[str, int]:
    return dict(
        sorted(
            ((name, cycles_of) for name, cycles_of in cycles.items() if cycles_of), key=lambda item: (-item[1], item[0])
        )
    )


def _path(nodes: "NDArray[np.void]", node: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    while node != NO_NODE and node < len(nodes):
        parent, entry, exception = nodes[node].tolist()
        steps.append((entry, exception))
        node = parent
    return tuple(reversed(steps))
