"""How much stack a function and all it calls can take, from what the compiler wrote (-fcallgraph-info=su).

A figure is a bound only if the compiler saw everything below: calls through pointers, functions without a frame size
(assembler, the C library) and recursion make it a lower bound, and each is named. An interrupt's frame on a task's
stack, and the registers that the kernel saves there when it switches, are no call and not included."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.intake import MAP_BYTES, read_text

_NODE = re.compile(
    r'^node: \{ title: "([^"]*)" label: "([^"\\]*)\\n[^"]*?(?:\\n(\d+) bytes \(([a-z,]+)\))?"', re.MULTILINE
)
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', re.MULTILINE)
_DIGITS = 10
_DEEPEST = 500
"""Calls in one chain. Python's own stack would not hold many more."""
_INDIRECT = "__indirect_call"


@dataclass(frozen=True, slots=True)
class StaticStackBound:
    """The stack that a function and all functions it calls need. `bytes` is a bound if `unknown` is empty."""

    bytes: int
    unknown: tuple[str, ...]
    """Parts missing in the figure: `calls through pointers in NAME`, `NAME has no frame size`, `NAME recurs` ..."""


@dataclass(slots=True)
class CallGraph:
    """The stack frame and the callees of each function, as the compiler wrote them."""

    names: dict[str, str] = field(default_factory=dict)
    frames: dict[str, int] = field(default_factory=dict)
    variable: set[str] = field(default_factory=set)
    callees: dict[str, set[str]] = field(default_factory=dict)

    def worst_case_stack_bound(self, function: str) -> StaticStackBound | None:
        """Returns how much stack a function and all functions it calls need at most. None if the compiler reported no
        such function."""
        title = next(
            (item for item, name in sorted(self.names.items()) if name == function and item in self.frames), None
        )
        if title is None:
            return None
        unknown: set[str] = set()
        depth = self._stack_bytes_needed_by_function(title, (), unknown, {})
        return StaticStackBound(depth, tuple(sorted(unknown)))

    def _stack_bytes_needed_by_function(
        self, title: str, above: tuple[str, ...], unknown: set[str], known: dict[str, int]
    ) -> int:
        """Returns the stack in bytes that a function and its callees need. Adds to `unknown` what the figure leaves
        out.

        `title`: its id in the graph. `above`: the callers of this chain. `known`: results so far.
        """
        name = self.names.get(title, title)
        if len(above) > _DEEPEST:
            unknown.add(f"{name} is at the end of a chain of {_DEEPEST} calls")
            return 0
        if title in above:
            unknown.add(f"{name} recurs")
            return 0
        if title in known:
            return known[title]
        if title not in self.frames:
            unknown.add(f"{name} has no frame size")
        if title in self.variable:
            unknown.add(f"{name} has a frame of variable size")
        deepest = 0
        for callee in sorted(self.callees.get(title, ())):
            if callee == _INDIRECT:
                unknown.add(f"calls through pointers in {name}")
            else:
                deepest = max(deepest, self._stack_bytes_needed_by_function(callee, (*above, title), unknown, known))
        known[title] = self.frames.get(title, 0) + deepest
        return known[title]


def read_callgraph(path: Path) -> CallGraph:
    """Returns the call graph from a build's file of joined .ci files. A missing file gives an empty graph."""
    return parse_callgraph(read_text(path, "the call graph", ImageFileError, MAP_BYTES) if path.is_file() else "")


def parse_callgraph(text: str) -> CallGraph:
    """Returns the call graph from a text of joined .ci files (GCC's -fcallgraph-info)."""
    graph = CallGraph()
    for title, name, frame, kind in _NODE.findall(text):
        graph.names.setdefault(title, name)
        if frame:
            graph.frames[title] = int(frame[:_DIGITS])
            if kind == "dynamic":
                graph.variable.add(title)
    for caller, callee in _EDGE.findall(text):
        graph.callees.setdefault(caller, set()).add(callee)
    return graph
