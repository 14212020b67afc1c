"""Raw samples on disk: one Parquet file beside a point's result.json, one row a sample, in the order they were taken.

Columns: series (its id), index (from 0), then those of `results.SeriesSamples`. Any tool that reads Parquet can take
it. The same samples give the same bytes.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rtoslab.intake import TABLE_VALUES
from rtoslab.results.column import Column
from rtoslab.results.results import SeriesSamples

SAMPLES_FILE: Final = "samples.parquet"
COLUMNS: Final = ("cycles", "mark_cycles", "start_cycle", "switches", "ticks", "interrupts")


def write_samples(series: Sequence[SeriesSamples]) -> bytes:
    """The file's content. A column that a target could not fill is null."""
    counts = [len(samples.cycles) for samples in series]
    ids = np.repeat(np.arange(len(series)), counts)
    indices = [np.arange(count) for count in counts]
    data: dict[str, Any] = {
        "series": _names([samples.id for samples in series], ids),
        "index": pa.array(np.concatenate([np.empty(0, int), *indices]), pa.uint32()),
    }
    for name in COLUMNS:
        parts = [_fill(getattr(pair, name), count) for pair, count in zip(series, counts, strict=True)]
        data[name] = pa.concat_arrays([pa.array([], pa.uint64()), *parts])
    out = io.BytesIO()
    pq.write_table(pa.table(data), out, compression="zstd")
    return out.getvalue()


def _names(ids: Sequence[str], places: NDArray[Any]) -> pa.DictionaryArray:
    """The id at each place. Those that have samples, in the order in which they come."""
    held = sorted(set(places.tolist()))
    return pa.DictionaryArray.from_arrays(
        pa.array(np.searchsorted(held, places), pa.int16()), pa.array([ids[place] for place in held], pa.string())
    )


def _fill(values: Sequence[int], count: int) -> pa.Array:
    return pa.array(np.asarray(values), pa.uint64()) if len(values) else pa.nulls(count, pa.uint64())


def read_samples(content: bytes) -> dict[str, dict[str, Column]]:
    """Series id -> column -> samples. Raises ValueError if rows are missing or out of order."""
    try:
        rows = _table(content)
        names = rows.column("series").combine_chunks().dictionary_encode()
        indices = rows.column("index").to_numpy()
        columns = {name: rows.column(name).combine_chunks() for name in COLUMNS}
    except (pa.ArrowException, KeyError) as cause:
        raise ValueError(str(cause)) from None
    codes, columns_read = names.indices.to_numpy(zero_copy_only=False), {}
    for code, ident in enumerate(names.dictionary.to_pylist()):
        places = np.flatnonzero(codes == code)
        missing = np.flatnonzero(indices[places] != np.arange(len(places)))
        if missing.size:
            raise ValueError(f"sample {missing[0]} of {ident} is missing")
        mine = pa.array(places)
        columns_read[ident] = {
            name: Column(column.take(mine).drop_null().to_numpy()) for name, column in columns.items()
        }
    return columns_read


def _table(content: bytes) -> pa.Table:
    """Reads a table on this thread alone. `pq.read_table` leaves threads that at times abort the process as it ends.

    Raises ValueError for what is damaged, which pyarrow calls an OSError mostly, and for what is too large."""
    try:
        file = pq.ParquetFile(io.BytesIO(content), pre_buffer=False)
        if file.metadata.num_rows * file.metadata.num_columns > TABLE_VALUES:
            raise ValueError(f"it holds more than {TABLE_VALUES:,} values")
        return file.read(use_threads=False)
    except (pa.ArrowException, OSError) as cause:
        raise ValueError(str(cause)) from None


def read_columns(content: bytes) -> dict[str, list[Any]]:
    """A Parquet file's columns. Raises ValueError."""
    return _table(content).to_pydict()  # type: ignore[no-any-return]


def join(series: Sequence[Mapping[str, Any]], content: bytes) -> list[dict[str, Any]]:
    """The series of a result.json with their samples put back. Raises ValueError if one has none."""
    result = read_samples(content)
    missing = [mapping["id"] for mapping in series if mapping["id"] not in result]
    if missing or len(result) != len(series):
        raise ValueError(f"no samples of {', '.join(missing) or 'a known series'}")
    return [{**mapping, **result[mapping["id"]]} for mapping in series]
