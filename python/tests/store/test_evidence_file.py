"""Stored evidence: the same text for the same run, the same run back, and nothing that is not of this version."""

import json
from collections import Counter
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pytest

from rtoslab.store import decode_evidence_file, encode_board_observations
from rtoslab.targets import (
    HandlerRunColumns,
    LatencyBenchmarkIntervals,
    MeasurementWindowObservations,
    ObservedBenchmarkStep,
    RunOutput,
)
from rtoslab.targets.intervals import MeasuredCodeInterval
from rtoslab.targets.observe import BlockingCalls, TaskSwitch
from rtoslab.targets.profiles import FunctionCycles

INTERVALS = (
    MeasuredCodeInterval(1, 4, 10, calls=Counter({"take": 2, "give": 1}), touched=True),
    MeasuredCodeInterval(2, 20),
)
OBSERVED = MeasurementWindowObservations(
    switches=Counter({TaskSwitch(0, 1, 2, "yield"): 3}),
    objects=Counter({(0, "take", 5): 7}),
    waits={1: BlockingCalls(collided=1, failed=2, blocked=3)},
    exceptions={0: {15: 4}},
    intervals=LatencyBenchmarkIntervals(INTERVALS, (3, 4), ("it's",), {15: frozenset({9, 1, 5})}),
    handled=HandlerRunColumns(exception=[15], cycles=[2**40]),
    steps=(
        ObservedBenchmarkStep(5, 0, "call", 0x2000_0000, "xQueueSend", 1, 2, None, 9, 4),
        ObservedBenchmarkStep(6, 1, "tick", 1, result=0),
    ),
    objects_at_open={("queue", 4): {"length": 1}},
)
FUNCTION = FunctionCycles(0, 'né"%s', "kernel", 9, 1, 2)
STATS: Any = {"cores": [{"cycles": 5}]}
RUN = RunOutput(b"\xff", None, OBSERVED, STATS, (FUNCTION,), ("slow",))


def decompress_json(content: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())


def compress_json(plain: object) -> bytes:
    return bytes(pa.compress(json.dumps(plain).encode(), codec="zstd", asbytes=True))


def test_run_output_survives_its_file() -> None:
    content = encode_board_observations(RUN)
    again = decode_evidence_file(content, b"\xff")
    assert again == RUN
    assert again.observed is not None
    assert type(again.observed.switches) is Counter
    assert encode_board_observations(again) == content


def test_stored_text_is_unchanged() -> None:
    """Points of today are compared byte for byte with those that were stored before."""
    small = RunOutput(b"", None, None, STATS, (FUNCTION,), ("slow",))
    assert decompress_json(encode_board_observations(small)) == (
        b'{"failure":null,"observed":null,"stats":{"cores":[{"cycles":5}]},"functions":[{"core":0,"name":"n\\u00e9\\"%s",'
        b'"kind":"kernel","cycles":9,"wait_cycles":1,"entries":2,"instructions":0}],"warnings":["slow"]}'
    )
    plain = json.loads(decompress_json(encode_board_observations(RUN)))
    seen = plain["observed"]
    assert plain.keys() == {field.name for field in fields(RunOutput)} - {"uart"}
    assert seen["switches"] == [[{"core": 0, "before": 1, "after": 2, "cause": "yield"}, 3]]
    assert seen["objects"] == [[[0, "take", 5], 7]]
    assert seen["exceptions"] == [[0, [[15, 4]]]]
    assert seen["intervals"]["resumed"] == [[15, [1, 5, 9]]]
    assert seen["intervals"]["intervals"][0]["calls"] == [["take", 2], ["give", 1]]
    assert decompress_json(encode_board_observations(RUN)) == json.dumps(plain, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("observed", "event_count"), None, "observed.event_count: Field required"),
        (("warnings",), None, "warnings: Field required"),
        (("observed", "more"), 1, "observed.more: Unexpected keyword argument"),
        (("observed", "event_count"), True, "observed.event_count: Input should be a valid integer"),
        (("observed", "event_count"), "1", "observed.event_count: Input should be a valid integer"),
        (("observed", "waits"), {"1": 2}, "observed.waits: Input should be a valid list"),
        (("observed", "exceptions"), [[0, 1, 2]], "observed.exceptions.0: Tuple should have at most 2 items"),
        (("observed", "exceptions"), [["0", []]], "observed.exceptions.0.0: Input should be a valid integer"),
        (("observed", "handled", "cycles"), [1.0], "observed.handled.cycles.0: Input should be a valid integer"),
        (("functions",), [7], "functions.0: Input should be a dictionary"),
    ],
)
def test_malformed_evidence_is_refused(path: tuple[str, ...], value: object, says: str) -> None:
    plain = json.loads(decompress_json(encode_board_observations(RUN)))
    *above, key = path
    table = plain
    for name in above:
        table = table[name]
    if value is None:
        del table[key]
    else:
        table[key] = value
    with pytest.raises(ValueError, match=f"the evidence cannot be read .{says}"):
        decode_evidence_file(compress_json(plain), b"")
