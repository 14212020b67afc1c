"""Cycles in critical sections, in one chunk or in many."""

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.targets.event_kinds import IDENT_NESTING, KIND_WRITE
from rtoslab.targets.events import EVENT
from rtoslab.targets.observe import CriticalSectionCycles, MeasurementWindowObserver
from tests.fakes import events

OPENED = 1000


def count(writes: list[tuple[int, int]], cuts: list[int], depth: int = 0) -> CriticalSectionCycles:
    """`writes`: (cycles since the write before, depth)."""
    report = np.zeros(len(writes), dtype=EVENT)
    report["cycle"] = list(accumulate((gap for gap, _ in writes), initial=OPENED))[1:]
    report["value"], report["id"], report["kind"] = [item for _, item in writes], IDENT_NESTING, KIND_WRITE
    observer = MeasurementWindowObserver((), {}, {0: (OPENED, depth)})
    for start, end in pairwise(sorted({0, *cuts, len(writes)})):
        observer.add_events(report[start:end].tobytes())
    return observer.window_observations({}).critical[0]


@pytest.mark.parametrize(
    ("writes", "depth", "expected"),
    [
        ([], 0, CriticalSectionCycles(0, 0, 0)),
        ([(5, 1), (7, 0)], 0, CriticalSectionCycles(1, 7, 7)),
        ([(5, 1), (7, 2), (9, 1), (1, 0), (3, 1), (2, 0)], 0, CriticalSectionCycles(2, 19, 17)),
        ([(5, 0), (4, 1), (8, 0)], 1, CriticalSectionCycles(2, 13, 8)),  # the window opened inside a section
        ([(5, 1)], 0, CriticalSectionCycles(0, 0, 0)),  # and closed inside one
        ([(5, 2), (4, 0), (8, 0)], 0, CriticalSectionCycles(1, 4, 4)),  # set down to nothing and written again
    ],
)
def test_critical_section_lasts_to_the_end_of_the_outermost(
    writes: list[tuple[int, int]], depth: int, expected: CriticalSectionCycles
) -> None:
    assert count(writes, [], depth) == expected


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 2)), max_size=30), st.lists(st.integers(0, 30)))
def test_totals_do_not_depend_on_chunk_size(writes: list[tuple[int, int]], cuts: list[int]) -> None:
    assert count(writes, [cut for cut in cuts if cut < len(writes)]) == count(writes, [])


def test_each_core_has_its_own_sections() -> None:
    observer = MeasurementWindowObserver((), {}, dict.fromkeys((0, 1), (0, 0)))
    rows = [(KIND_WRITE, IDENT_NESTING, 0, 1), (KIND_WRITE, IDENT_NESTING + 1, 1, 1), (KIND_WRITE, IDENT_NESTING, 0, 0)]
    observer.add_events(events(rows))
    assert observer.window_observations({}).critical == {
        0: CriticalSectionCycles(1, 2, 2),
        1: CriticalSectionCycles(0, 0, 0),
    }
