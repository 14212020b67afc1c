"""Cycles in critical sections, in one chunk or in many, against the same counted one event at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.run.critical import IDENT_ENTER, IDENT_LEAVE, CriticalCycles, CriticalSections
from rtoslab.run.observe import KIND_EXEC, Observer

from .fakes import events

OPENED = 1000


def count(calls: list[tuple[int, bool]], cuts: list[int]) -> CriticalCycles:
    """`calls`: (cycles since the call before, whether it begins a section)."""
    times = OPENED + np.cumsum([gap for gap, _ in calls], dtype=np.uint64)
    enters = np.array([enter for _, enter in calls], dtype=bool)
    sections = CriticalSections(OPENED)
    for start, end in pairwise(sorted({0, *cuts, len(calls)})):
        sections.feed(times[start:end].astype(np.uint64), enters[start:end])
    return sections.total()


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([], CriticalCycles(0, 0, 0)),
        ([(5, True), (7, False)], CriticalCycles(1, 7, 7)),
        ([(5, True), (7, True), (9, False), (1, False), (3, True), (2, False)], CriticalCycles(2, 19, 17)),
        ([(5, False), (4, True), (8, False)], CriticalCycles(2, 13, 8)),  # the window opened inside a section
        ([(5, True)], CriticalCycles(0, 0, 0)),  # and closed inside one
    ],
)
def test_a_section_lasts_from_the_outermost_call_to_its_end(
    calls: list[tuple[int, bool]], expected: CriticalCycles
) -> None:
    assert count(calls, []) == expected


@given(st.lists(st.integers(1, 50), max_size=30), st.lists(st.booleans(), max_size=30), st.lists(st.integers(0, 30)))
def test_totals_do_not_depend_on_chunks(gaps: list[int], turns: list[bool], cuts: list[int]) -> None:
    depth, calls = 0, []
    for gap, turn in zip(gaps, turns, strict=False):  # a program that never leaves what it did not enter
        enter = turn or depth == 0
        depth += 1 if enter else -1
        calls.append((gap, enter))
    assert count(calls, [each for each in cuts if each < len(calls)]) == count(calls, [])


def test_each_core_has_its_own_sections() -> None:
    observer = Observer((), {}, {core: CriticalSections(0) for core in (0, 1)})
    rows = [(KIND_EXEC, IDENT_ENTER, 0, 0), (KIND_EXEC, IDENT_ENTER, 1, 0), (KIND_EXEC, IDENT_LEAVE, 0, 0)]
    observer.feed(events(rows))
    assert observer.finish({}).critical == {0: CriticalCycles(1, 2, 2), 1: CriticalCycles(0, 0, 0)}
