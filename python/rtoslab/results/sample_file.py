"""Raw samples on disk: one Parquet file beside a point's result.json, one row a sample, in the order they were taken.

Columns: series (its id), index (from 0), then those of `results.SeriesSamples`. Any tool that reads Parquet can take
it; the same samples give the same bytes.
"""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rtoslab.results.results import SeriesSamples

SAMPLES_FILE: Final = "samples.parquet"
COLUMNS: Final = ("cycles", "mark_cycles", "start_cycle", "switches", "ticks", "interrupts")


def write_samples(series: Sequence[SeriesSamples]) -> bytes:
    """The file's content. A column that a target could not fill is null."""
    counts = [len(each.cycles) for each in series]
    ids = [each.id for each, count in zip(series, counts, strict=True) for _ in range(count)]
    data: dict[str, Any] = {
        "series": pa.array(ids, pa.dictionary(pa.int16(), pa.string())),
        "index": pa.array([index for count in counts for index in range(count)], pa.uint32()),
    }
    for name in COLUMNS:
        values: list[int | None] = []
        for each, count in zip(series, counts, strict=True):
            values += getattr(each, name) or [None] * count
        data[name] = pa.array(values, pa.uint64())
    out = io.BytesIO()
    pq.write_table(pa.table(data), out, compression="zstd")
    return out.getvalue()


def read_samples(content: bytes) -> dict[str, dict[str, tuple[int, ...]]]:
    """Series id -> column -> samples. Raises ValueError if rows are missing or out of order."""
    try:
        rows = read_columns(content)
    except pa.ArrowException as cause:
        raise ValueError(str(cause)) from None
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    seen: Counter[str] = Counter()
    for ident, index in zip(rows["series"], rows["index"], strict=True):
        if index != seen[ident]:
            raise ValueError(f"sample {seen[ident]} of {ident} is missing")
        seen[ident] += 1
    for ident in seen:
        mine = [place for place, each in enumerate(rows["series"]) if each == ident]
        found[ident] = {name: _column(rows[name], mine) for name in COLUMNS}
    return found


def read_columns(content: bytes) -> dict[str, list[Any]]:
    """A Parquet file's columns. Raises pyarrow.ArrowException.

    On this thread alone: `pq.read_table` leaves threads behind that at times abort the process as it ends.
    """
    return pq.ParquetFile(io.BytesIO(content), pre_buffer=False).read(use_threads=False).to_pydict()  # type: ignore[no-any-return]


def _column(values: Sequence[int | None], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(value for place in places if (value := values[place]) is not None)


def join(series: Sequence[Mapping[str, Any]], content: bytes) -> list[dict[str, Any]]:
    """The series of a result.json with their samples put back. Raises ValueError if one has none."""
    found = read_samples(content)
    missing = [each["id"] for each in series if each["id"] not in found]
    if missing or len(found) != len(series):
        raise ValueError(f"no samples of {', '.join(missing) or 'a known series'}")
    return [{**each, **found[each["id"]]} for each in series]
