"""Samples are kept in few bytes and read as before; statistics of many are those of Python's own arithmetic."""

import copy
import math
import tracemalloc
from statistics import fmean, median

import numpy as np
import pytest
from pydantic import ValidationError

from rtoslab.analyses.latency import (
    OverheadFreeLatencySamples,
    histogram_of_samples,
    latencies_of_point,
    sample_statistics,
)
from rtoslab.results.column import CompactIntegerSequence
from rtoslab.results.results import SeriesSamples
from rtoslab.results.sample_file import COLUMNS, decode_parquet_columns, decode_samples, encode_sample_file
from tests.fakes import measured_point

MANY = 300_000


def series(ident: str, count: int, **changes: object) -> SeriesSamples:
    draw = np.random.default_rng(count)
    most = {"start_cycle": 90_000_000_000}
    columns = {name: draw.integers(0, most.get(name, 700), count) for name in COLUMNS}
    return SeriesSamples(id=ident, title=ident, instrument="probe", comparable=True, **{**columns, **changes})


@pytest.mark.parametrize(
    ("values", "kept_bytes"), [((), 0), ((0, 255), 2), ((0, 256), 4), ((1 << 16,), 4), ((1 << 32, 1), 16)]
)
def test_column_behaves_like_a_tuple_in_less_memory(values: tuple[int, ...], kept_bytes: int) -> None:
    column = CompactIntegerSequence(values)
    assert column.memory_size_bytes == kept_bytes
    assert column == values
    assert (list(column), len(column), bool(column)) == (list(values), len(values), bool(values))
    assert hash(column) == hash(values)
    assert copy.deepcopy(column) == column
    assert np.asarray(column).dtype == np.int64
    assert column[1:] == values[1:]
    assert column != (*values, 1)


@pytest.mark.parametrize("values", [[-1], [1.5], ["1"], [True], [[1], [2]], [1 << 64], 1, "1", {1: 1}])
def test_invalid_samples_are_refused(values: object) -> None:
    with pytest.raises(ValidationError):
        series("a", 0, cycles=values)


def test_samples_survive_their_file_and_are_stored_as_rows() -> None:
    whole, blind = series("a", 5), series("b", 3, mark_cycles=(), ticks=())
    content = encode_sample_file([whole, blind])
    result = decode_samples(content)
    for samples in (whole, blind):
        assert result[samples.id] == {name: getattr(samples, name) for name in COLUMNS}
    rows = decode_parquet_columns(content)
    assert rows["series"] == ["a"] * 5 + ["b"] * 3
    assert rows["index"] == [0, 1, 2, 3, 4, 0, 1, 2]
    assert rows["ticks"] == [*whole.ticks, None, None, None]


def test_damaged_file_with_valid_seal_is_refused() -> None:
    content, refused = encode_sample_file([series("a", 5)]), 0
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 255
        for read in (decode_samples, decode_parquet_columns):
            try:
                read(bytes(damaged))
            except ValueError:
                refused += 1
    assert refused > len(content) / 7, "a good half of what is damaged shows"


def test_reading_many_samples_needs_little_extra_memory() -> None:
    """As tuples of integers they took 15 million bytes and more, and five times that on the way."""
    content = encode_sample_file([series("a", MANY)])
    tracemalloc.start()
    result = decode_samples(content)
    stored, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(column.memory_size_bytes for column in result["a"].values()) <= MANY * (8 + 5 * 2)
    assert stored < 25 * MANY
    assert peak < 100 * MANY


def test_statistics_equal_those_of_all_single_samples() -> None:
    draw = np.random.default_rng(1)
    for count in (1, 2, 3, 100, 1001):
        samples = (draw.choice((5, 7.5, 900), count) + draw.integers(0, 40, count) / 3).tolist()
        result, ordered = sample_statistics(samples), sorted(samples)
        assert (result.n, result.minimum, result.maximum) == (count, ordered[0], ordered[-1])
        assert (result.median, result.mean) == (median(samples), fmean(samples))
        assert result.p99 == ordered[math.ceil(0.99 * count) - 1]
        assert result.maximum_at == samples.index(max(samples))
        bins = histogram_of_samples(samples)
        assert [item.count for item in bins] == [
            sum(one.low <= sample < one.high for sample in samples) for one in bins
        ]
        assert sum(item.count for item in bins) == count


def test_net_samples_are_computed_and_not_stored() -> None:
    (result,) = latencies_of_point(
        measured_point().model_copy(update={"series": (series("a", 4, cycles=(10, 12, 14, 16), rounds=2),)})
    )
    assert isinstance(result.samples_without_instrument_overhead, OverheadFreeLatencySamples)
    assert list(result.samples_without_instrument_overhead) == [5, 6, 7, 8]
    assert (
        result.samples_without_instrument_overhead[1],
        result.samples_without_instrument_overhead[2:],
        len(result.samples_without_instrument_overhead),
    ) == (6, [7, 8], 4)
    assert result.spread.median == 6.5
