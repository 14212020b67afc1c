"""Counting switches and their causes, and keeping the first events, in one chunk or in many."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.targets.event_kinds import IDENT_CALL, IDENT_CURRENT, IDENT_MARK, IDENT_NESTING, KIND_EXEC, KIND_WRITE
from rtoslab.targets.events import EVENT, sorted_distinct_values
from rtoslab.targets.observe import MeasurementWindowObservations, MeasurementWindowObserver, TaskSwitch
from rtoslab.targets.steps import ObservedBenchmarkStep
from rtoslab.targets.watch import StepRecorder
from tests.fakes import events

SERVICES = ("give", "take")
Row = tuple[int, int, int, int]


def naive(rows: list[Row], current: dict[int, int]) -> Counter[TaskSwitch]:
    """The same, one event at a time."""
    now, cause, result = dict(current), dict.fromkeys(current, ""), Counter[TaskSwitch]()
    for kind, ident, core, value in rows:
        if kind == KIND_EXEC:
            cause[core] = SERVICES[ident - IDENT_CALL]
            continue
        owner = ident - IDENT_CURRENT
        if value != now[owner]:
            result[TaskSwitch(owner, now[owner], value, cause[owner])] += 1
            now[owner], cause[owner] = value, ""
    return result


row = st.one_of(
    st.tuples(st.just(KIND_EXEC), st.sampled_from([IDENT_CALL, IDENT_CALL + 1]), st.integers(0, 1), st.just(0)),
    st.tuples(
        st.just(KIND_WRITE), st.sampled_from([IDENT_CURRENT, IDENT_CURRENT + 1]), st.integers(0, 1), st.integers(1, 3)
    ),
)


@given(st.lists(row, max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_counts_do_not_depend_on_chunk_size(rows: list[Row], cuts: list[int]) -> None:
    observer = MeasurementWindowObserver(SERVICES, {0: 1, 1: 2})
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for start, end in pairwise(edges):
        observer.add_events(events(rows[start:end]))
    result = observer.window_observations({})
    assert result.switches == naive(rows, {0: 1, 1: 2})
    assert result.event_count == len(rows)


def test_write_of_the_same_task_is_not_a_switch() -> None:
    observer = MeasurementWindowObserver(SERVICES, {0: 7})
    observer.add_events(events([(KIND_WRITE, IDENT_CURRENT, 0, 7)]))
    assert not observer.window_observations({}).switches


def test_object_of_a_call_is_its_first_argument() -> None:
    observer = MeasurementWindowObserver(SERVICES, {0: 1, 1: 1})
    take, give = IDENT_CALL + 1, IDENT_CALL
    observer.add_events(events([(KIND_EXEC, take, 0, 0x2000_0000), (KIND_EXEC, take, 1, 0x2000_0000)]))
    observer.add_events(events([(KIND_EXEC, take, 0, 0x2000_0000), (KIND_EXEC, give, 1, 0x2000_0010)]))
    assert observer.window_observations({}).objects == {
        (0, "take", 0x2000_0000): 2, (1, "take", 0x2000_0000): 1, (1, "give", 0x2000_0010): 1,
    }  # fmt: skip


def test_distinct_values_are_found_without_masked_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "ma", None)  # whose import takes longer than many a window
    result = sorted_distinct_values(np.array([7, 3, 7, 0xFFFF_FFFF], dtype=np.uint32))
    assert (result.tolist(), result.dtype) == ([3, 7, 0xFFFF_FFFF], np.dtype(np.uint32))


def test_first_events_of_steps_are_kept_for_any_chunk_size() -> None:
    unused: Any = None
    many, every = 20_000, 16
    marks = range(every - 1, many, every)
    mark, other = (KIND_EXEC, IDENT_MARK, 0, 0), (KIND_WRITE, IDENT_NESTING, 0, 1)
    whole, size = events([mark if index in marks else other for index in range(many)]), EVENT.itemsize

    def observe_steps(most: int, chunk: int) -> tuple[list[ObservedBenchmarkStep], bool]:
        watch, observed = StepRecorder(unused, b"", unused, 1, -1, most), MeasurementWindowObservations()
        for first in range(0, many, chunk):
            watch.add_events(whole[first * size : (first + chunk) * size])
        watch.store_recorded_benchmark_steps(observed)
        return list(observed.steps), observed.steps_cut

    for most, cut in ((many, False), (len(marks), True), (700, True)):
        steps = observe_steps(most, many)
        assert ([step.cycle for step in steps[0]], steps[1]) == (list(marks[:most]), cut)
        assert observe_steps(most, 777) == steps
