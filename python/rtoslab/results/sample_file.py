"""Raw samples on disk: one Parquet file beside a point's result.json, one row a sample, in the order they were taken.

Columns: series (its id), index (from 0), then those of `results.SeriesSamples`. Any tool that reads Parquet can read
it. The same samples give the same bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.intake import ParquetColumn, decode_parquet, encode_parquet
from rtoslab.results.column import CompactIntegerSequence
from rtoslab.results.results import SeriesSamples

SAMPLES_FILE: Final = "samples.parquet"
COLUMNS: Final = ("cycles", "mark_cycles", "start_cycle", "switches", "ticks", "interrupts")


def encode_sample_file(series: Sequence[SeriesSamples]) -> bytes:
    """Returns the content of a sample file (Parquet) with the samples of these series. Values that the target could not
    observe are null."""
    counts = [len(samples.cycles) for samples in series]
    indices = [np.arange(count, dtype=np.uint32) for count in counts]
    columns = {
        "series": _id_column([samples.id for samples in series], counts),
        "index": ParquetColumn(np.concatenate([np.empty(0, np.uint32), *indices])),
    }
    for name in COLUMNS:
        parts = [np.asarray(getattr(samples, name), np.uint64) for samples in series]
        has_values = [len(part) > 0 for part in parts]
        valid = None if all(has_values) else np.repeat(has_values, counts)
        columns[name] = ParquetColumn(np.concatenate([np.empty(0, np.uint64), *parts]), valid=valid)
    return encode_parquet(columns)


def _id_column(ids: Sequence[str], counts: Sequence[int]) -> ParquetColumn:
    """Returns the column with each row's series id."""
    filled = [(ident, count) for ident, count in zip(ids, counts, strict=True) if count]
    places = np.repeat(np.arange(len(filled), dtype=np.uint32), [count for _, count in filled])
    return ParquetColumn(places, tuple(ident for ident, _ in filled))


def decode_samples(content: bytes) -> dict[str, dict[str, CompactIntegerSequence]]:
    """Returns the samples in a sample file, by series id and column. Raises ValueError if rows are missing or out of
    order."""
    try:
        table = decode_parquet(content)
        names, indices = table["series"], table["index"].values
        columns = {name: table[name] for name in COLUMNS}
    except KeyError as cause:
        raise ValueError(f"it has no column {cause}") from None
    if names.texts is None or names.valid is not None or len(names.values) != len(indices):
        raise ValueError("not every row names its series")
    result = {}
    for place, ident in enumerate(names.texts):
        rows = np.flatnonzero(names.values == place)
        missing = np.flatnonzero(indices[rows] != np.arange(len(rows)))
        if missing.size:
            raise ValueError(f"sample {missing[0]} of {ident} is missing")
        result[ident] = {
            name: CompactIntegerSequence(_parquet_column_values_in_rows(column, rows))
            for name, column in columns.items()
        }
    return result


def _parquet_column_values_in_rows(column: ParquetColumn, rows: NDArray[np.int_]) -> NDArray[Any]:
    """Returns the values of a column in those of the rows that have one."""
    if column.valid is None:
        return column.values[rows]
    places = np.cumsum(column.valid) - 1
    values: NDArray[Any] = column.values[places[rows[column.valid[rows]]]]
    return values


def decode_parquet_columns(content: bytes) -> dict[str, list[Any]]:
    """Returns a Parquet file's columns, with None where a row has no value. Raises ValueError."""
    return {name: column.parquet_row_items() for name, column in decode_parquet(content).items()}


def join_latency_series_with_samples(series: Sequence[Mapping[str, Any]], content: bytes) -> list[dict[str, Any]]:
    """Returns the series of a result.json with their samples from the sample file `content`. Raises ValueError if a
    series has none."""
    result = decode_samples(content)
    missing = [mapping["id"] for mapping in series if mapping["id"] not in result]
    if missing or len(result) != len(series):
        raise ValueError(f"no samples of {', '.join(missing) or 'a known series'}")
    return [{**mapping, **result[mapping["id"]]} for mapping in series]
