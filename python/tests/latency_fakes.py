"""Test code only: the events, records and points of a small latency benchmark made by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rtoslab.catalogue.benchmark import EMPTY_SERIES, Benchmark
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.results import results
from rtoslab.targets.event_kinds import (
    IDENT_CALL,
    IDENT_CURRENT,
    IDENT_MARK,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_PIN,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.intervals import decode_measured_intervals_from_events
from rtoslab.targets.observe import MeasurementWindowObservations
from tests.fakes import Fields, board, decoded_run, kernel, measured_point

PIN = 8
Row = tuple[int, int, int, int]
"""(cycle, kind, ident, value)"""


def start(cycle: int, series: int) -> Row:
    return cycle, KIND_EXEC, IDENT_MARK + 2 * series, 0


def stop(cycle: int, series: int) -> Row:
    return cycle, KIND_EXEC, IDENT_MARK + 2 * series + 1, 0


def switch(cycle: int, task: int) -> Row:
    return cycle, KIND_WRITE, IDENT_CURRENT, task


def call(cycle: int, service: int = 0) -> Row:
    return cycle, KIND_EXEC, IDENT_CALL + service, 0


def enter(cycle: int, exception: int = 15) -> Row:
    return cycle, KIND_EXCEPTION_ENTER, exception, 0


def leave(cycle: int, exception: int = 15) -> Row:
    return cycle, KIND_EXCEPTION_EXIT, exception, 0


def edge(cycle: int, level: int, pin: int = PIN) -> Row:
    return cycle, KIND_PIN, pin, level


def raw(rows: Sequence[Row]) -> bytes:
    built = np.zeros(len(rows), dtype=EVENT)
    for index, (cycle, kind, ident, value) in enumerate(rows):
        built[index] = (cycle, value, 0, ident, kind, 0, 0)
    return built.tobytes()


def benchmark(proof: Sequence[dict[str, Any]]) -> Benchmark:
    series = {"title": "give", "starts": "-", "ends": "-"}
    return Benchmark.model_validate({
        "id": "b", "title": "B", "question": "?", "kind": "latency", "tasks_per_core": 2, "stack_bytes": 1024,
        "inside": "-", "outside": "-", "services": [], "samples": 2,
        "series": [{"id": "give", **series}], "proof": list(proof),
    })  # fmt: skip


def orderly(cycles: Sequence[int] = (100, 120), inside: Sequence[Row] = (), empty: int = 0) -> list[Row]:
    """Empty intervals, then those of series 1 with `inside` (cycles from each start) in every one."""
    rows = [row for at in range(len(cycles)) for row in (start(500 * at, 0), stop(500 * at + empty, 0))]
    for index, length in enumerate(cycles):
        at = 10_000 * (index + 1)
        middle = [(at + cycle, *rest) for cycle, *rest in inside]
        rows += [start(at, 1), *middle, stop(at + length, 1)]  # type: ignore[list-item]
    return rows


def counter_records(empty: str = "7x2", give: str = "107,127") -> list[tuple[str, Fields]]:
    """The records of an image with the instrument `counter`."""
    return [
        ("param", {"name": "instrument", "value": "counter"}),
        ("param", {"name": "samples", "value": "2"}),
        ("sample", {"metric": EMPTY_SERIES, "values": empty, "n": 2}),
        ("sample", {"metric": "give", "values": give, "n": 2}),
    ]


def records_of_instrument(instrument: str) -> list[tuple[str, Fields]]:
    """The records of an image with another instrument."""
    return [("param", {"name": "instrument", "value": instrument}), ("param", {"name": "samples", "value": "2"})]


def evidence(
    rule: dict[str, Any],
    rows: Sequence[Row] | None = None,
    body: list[tuple[str, Fields]] | None = None,
    *,
    probes: bool = True,
    slices: bool = False,
) -> BenchmarkProofEvidence:
    result = decode_measured_intervals_from_events(
        raw(orderly() if rows is None else rows), ("semaphore_give",), {0: 1}, PIN
    )
    observed = MeasurementWindowObservations(intervals=result) if probes else None
    return BenchmarkProofEvidence(
        decoded_run(body or counter_records()),
        observed,
        benchmark([rule]),
        board(),
        kernel(time_slice_ticks=int(slices)),
        2,
    )


def latency_point(
    instrument: str, cycles: Sequence[int], *, empty: int = 0, marks: Sequence[int] | None = None, **series: Any
) -> results.MeasuredPoint:
    """A verified latency point of one series; the marks are the samples less the empty interval unless given."""
    point = measured_point()
    identity = point.point.model_copy(update={"config": {"instrument": instrument, "samples": str(len(cycles))}})
    between = tuple(cycle - empty for cycle in cycles) if marks is None else tuple(marks)
    common = {"instrument": instrument, "comparable": True}
    nothing = results.SeriesSamples(
        id=EMPTY_SERIES, title="empty", cycles=(empty,) * len(cycles), mark_cycles=(0,) * len(cycles), **common
    )
    give = results.SeriesSamples(id="give", title="give", cycles=tuple(cycles), mark_cycles=between, **common, **series)
    return point.model_copy(update={"point": identity, "series": (nothing, give)})
