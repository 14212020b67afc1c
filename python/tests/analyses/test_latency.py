"""Latencies: from marks and events to intervals, from samples to figures, and to disk and back."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.analyses.axis_values import values_of_points
from rtoslab.analyses.latency import (
    histogram_of_samples,
    instrument_overheads_of_measured_points,
    latencies_by_instrument,
    latencies_of_point,
    sample_statistics,
)
from rtoslab.base.errors import DecodeError, ImageFileError
from rtoslab.records.decoder import decode_records
from rtoslab.records.wire import expand_repeat_counts
from rtoslab.results.sample_file import (
    SAMPLES_FILE,
    decode_samples,
    encode_sample_file,
    join_latency_series_with_samples,
)
from rtoslab.store.store import RunDirectory
from rtoslab.targets.intervals import decode_measured_intervals_from_events
from rtoslab.targets.marks import IntervalMarkerAddress, read_interval_marker_addresses
from tests.fakes import EXPECTED, WIRE, Fields, stream
from tests.latency_fakes import PIN, Row, edge, enter, latency_point, raw, start, stop, switch

SAMPLE_LISTS = st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([13, 140]), min_size=1, max_size=60)


def runs(values: list[int]) -> str:
    """As the firmware writes them."""
    text: list[str] = []
    index = 0
    while index < len(values):
        length = 1
        while index + length < len(values) and values[index + length] == values[index]:
            length += 1
        text.append(f"{values[index]}x{length}" if length > 1 else str(values[index]))
        index += length
    return ",".join(text)


@given(SAMPLE_LISTS)
def test_runs_are_the_samples_in_their_order(values: list[int]) -> None:
    assert expand_repeat_counts(runs(values)) == tuple(values)


@given(SAMPLE_LISTS)
def test_record_of_runs_is_decoded(values: list[int]) -> None:
    text = runs(values[:8])
    record: tuple[str, Fields] = ("sample", {"metric": "m", "values": text, "n": len(values[:8])})
    assert decode_records(stream([record]), WIRE, EXPECTED).samples[0].values == tuple(values[:8])


@pytest.mark.parametrize(
    "text", ["13x1", "13x0", "13x", "x3", "13x03", "13x2x2", "13*2", "", "13x9999999", "1,,2", str(2**64)]
)
def test_malformed_run_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match=r"runs value|not a record line"):
        decode_records(stream([("sample", {"metric": "m", "values": text, "n": 2})]), WIRE, EXPECTED)


def test_number_of_samples_counts_repeats() -> None:
    with pytest.raises(DecodeError, match="n=2 but 3 values"):
        decode_records(stream([("sample", {"metric": "m", "values": "5x3", "n": 2})]), WIRE, EXPECTED)


def elf(section: bytes, name: bytes = b".bench_marks") -> bytes:
    """The least ELF file with one section of that name and content."""
    names = b"\0" + name + b"\0"
    offsets = struct.pack("<II", 0, 52) + bytes(10) + struct.pack("<HHH", 40, 3, 2)
    header = b"\x7fELF\x01\x01" + bytes(10) + struct.pack("<HHII", 2, 40, 1, 0) + offsets
    at = 52 + 3 * 40
    rows = [
        (0,) * 10,
        (1, 1, 0, 0, at, len(section), 0, 0, 0, 0),
        (0, 3, 0, 0, at + len(section), len(names), 0, 0, 0, 0),
    ]
    return header + b"".join(struct.pack("<10I", *row) for row in rows) + section + names


def test_marks_are_read_from_the_image() -> None:
    words = struct.pack("<IIII", 0x0800_0101, 2, 0x0800_0110, 3)
    assert read_interval_marker_addresses(elf(words), "image") == (
        IntervalMarkerAddress(0x0800_0100, 1, is_end=False),
        IntervalMarkerAddress(0x0800_0110, 1, is_end=True),
    )
    assert read_interval_marker_addresses(elf(words, b".other"), "image") == ()


@pytest.mark.parametrize("image", [b"", b"UF2", elf(b"\0" * 8)[:60], elf(b"\0" * 9)])
def test_damaged_image_is_refused(image: bytes) -> None:
    with pytest.raises(ImageFileError):
        read_interval_marker_addresses(image, "image.elf")


def test_only_events_inside_an_interval_are_counted() -> None:
    rows: list[Row] = [
        switch(5, 2),
        enter(6),
        start(1_000, 1),
        switch(1_010, 1),
        switch(1_011, 1),
        enter(1_020),
        enter(1_030, 22),
    ]
    rows += [enter(1_040, 14), stop(1_100, 1), switch(2_000, 2), enter(2_000)]
    (result,) = decode_measured_intervals_from_events(raw(rows), (), {0: 1}, PIN).intervals
    assert (result.start_cycle, result.cycles) == (1_000, 100)
    assert (result.switches, result.ticks, result.interrupts, result.touched) == (1, 1, 1, False)
    (result,) = decode_measured_intervals_from_events(raw(rows), (), {0: 1}, PIN, deferred_tick=22).intervals
    assert (result.ticks, result.interrupts) == (1, 0), "the kernel does the work of its tick in this interrupt"


def test_pulses_of_other_pins_are_ignored() -> None:
    rows = [
        edge(0, 0),
        start(10, 0),
        edge(11, 1),
        edge(12, 1, pin=PIN + 1),
        edge(14, 0, pin=PIN + 1),
        stop(15, 0),
        edge(16, 0),
    ]
    result = decode_measured_intervals_from_events(raw(rows), (), {}, PIN)
    assert result.pulse_lengths_of_series(0) == [5]


def test_figures_of_series_do_not_mix() -> None:
    result = sample_statistics([30, 10, 50, 20, 50])
    assert (result.n, result.minimum, result.median, result.mean, result.maximum) == (5, 10, 30, 32, 50)
    assert (result.maximum_at, result.jitter, result.p99) == (2, 40, 50)


@pytest.mark.parametrize(
    ("n", "longest", "p99"), [(100, 1, 1), (100, 2, 9), (101, 1, 1), (200, 2, 1), (200, 3, 9), (1, 1, 9)]
)
def test_p99_is_exceeded_by_one_in_a_hundred_at_most(n: int, longest: int, p99: int) -> None:
    assert sample_statistics([1] * (n - longest) + [9] * longest).p99 == p99


@given(st.lists(st.integers(0, 10**6), min_size=1), st.integers(1, 60))
def test_histogram_contains_every_sample_once(samples: list[int], bins: int) -> None:
    result = histogram_of_samples(samples, bins)
    assert sum(bin_.count for bin_ in result) == len(samples)
    for bin_ in result:
        assert bin_.count == sum(bin_.low <= sample < bin_.high for sample in samples)
    assert (max(samples) - min(samples)) // (result[0].high - result[0].low) < bins


def test_instruments_own_cost_is_subtracted() -> None:
    (result,) = latencies_of_point(latency_point("counter", [107, 127, 107], empty=7))
    assert list(result.samples_without_instrument_overhead) == [100, 120, 100]
    assert result.instrument_cost == 7
    assert result.to_microseconds(125) == 1.0


def test_instrument_cost_is_reported_for_each_image() -> None:
    result = instrument_overheads_of_measured_points(
        [latency_point("counter", [107, 127], empty=7), latency_point("pin", [103, 123], empty=3)]
    )
    assert [(cost.point.instrument, cost.spread.median) for cost in result] == [("counter", 7), ("pin", 3)]


def test_contained_series_is_subtracted() -> None:
    point = latency_point("counter", [107, 127, 107], empty=7)
    shuffle = point.series[1].model_copy(update={"id": "shuffle", "overhead": "give", "cycles": (407, 427, 407)})
    result = latencies_of_point(point.model_copy(update={"series": (*point.series, shuffle)}))
    assert list(result[1].samples_without_instrument_overhead) == [300, 320, 300]
    assert result[1].overhead == 100


def test_interval_of_several_rounds_gives_the_time_of_one() -> None:
    point = latency_point("counter", [107, 127, 107], empty=7)
    passing = {"id": "pass", "overhead": "give", "cycles": (1107, 1207, 1107), "rounds": 10}
    point = point.model_copy(update={"series": (*point.series, point.series[1].model_copy(update=passing))})
    assert list(latencies_of_point(point)[1].samples_without_instrument_overhead) == [100, 110, 100]
    result = {(value.metric, value.stat): value.value for value in values_of_points([point])}
    assert (result["pass", "mean"], result["pass.total", "total"], result["give", "total"]) == (310 / 3, 1100, 100)
    assert not any(value.metric == "throughput" for value in values_of_points([point])), "its counters mean nothing"


def test_instruments_are_compared_in_one_table() -> None:
    counter = latency_point("counter", [109, 109], empty=7, marks=[101, 101])
    probe = latency_point("probe", [99, 99])
    (result,) = latencies_by_instrument([counter, probe])
    assert list(result.by_instrument) == ["counter", "probe"]
    assert result.latency_by_least_intrusive_instrument.instrument == "probe"
    assert result.largest_median_difference_cycles == 3
    assert result.by_instrument["counter"].remaining_instrument_overhead_cycles == 1
    assert [latency.median_between_marker_events for latency in result.by_instrument.values()] == [101, 99]


def test_instrument_gives_no_figure_for_what_it_cannot_measure() -> None:
    point = latency_point("pin", [5, 5], empty=3)
    blind = point.series[1].model_copy(update={"comparable": False})
    assert latencies_of_point(point.model_copy(update={"series": (point.series[0], blind)})) == []


def test_samples_survive_their_file(tmp_path: Path) -> None:
    point = latency_point("counter", [107, 127, 107], empty=7, start_cycle=(1, 2, 3), switches=(0, 1, 0))
    run = RunDirectory.create_run_directory(tmp_path / "run", None, [point.point])
    folder = run.add_measurement_point_to_store("p-1", point, {}, {})
    assert "107" not in (folder / "result.json").read_text()
    assert (folder / SAMPLES_FILE).read_bytes() == encode_sample_file(point.series)
    assert run.read_measured_points()[0].result == point


@given(st.lists(st.integers(0, 2**63), min_size=1, max_size=20))
def test_sample_file_keeps_order_and_missing_series(values: list[int]) -> None:
    (nothing, give) = latency_point("counter", values).series
    result = decode_samples(encode_sample_file((nothing, give)))
    assert result["give"]["cycles"] == tuple(values)
    assert result["give"]["ticks"] == ()


def test_sample_file_without_a_series_is_refused() -> None:
    point = latency_point("counter", [1, 2])
    content = encode_sample_file(point.series[:1])
    with pytest.raises(ValueError, match="no samples of give"):
        join_latency_series_with_samples([{"id": samples.id} for samples in point.series], content)
    with pytest.raises(ValueError, match=r"Parquet|parquet"):
        decode_samples(b"nothing")


def test_reading_samples_starts_no_threads(tmp_path: Path) -> None:
    """Those of a library that are still there as a process ends may abort it, whatever it has printed."""
    (tmp_path / "samples").write_bytes(encode_sample_file(latency_point("counter", list(range(100))).series))
    program = (
        "import os, pathlib, sys\n"
        "from rtoslab.results import sample_file\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "sample_file.decode_samples(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "print(len(os.listdir('/proc/self/task')) - before)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "samples")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
