"""Stored points as one flat table for other tools: Parquet, CSV or JSON lines. One row a figure or a raw sample."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from rtoslab.analyses import metrics, placement
from rtoslab.archive.index import ArchivedPoint
from rtoslab.intake import column_of, sheet, write_parquet
from rtoslab.results import COLUMNS, MeasuredPoint

AXES: Final = (
    ("run", None),
    ("date", None),
    ("revision", None),
    ("benchmark", None),
    ("kernel", None),
    ("board", None),
    ("cores", np.int32),
    ("window_ms", np.int64),
    ("config", None),
    ("placement", np.int32),
    ("run_id", None),
    ("status", None),
    ("deviations", None),
)
FIGURE_COLUMNS: Final = (*AXES, ("metric", None), ("value", np.float64), ("unit", None))
SAMPLE_COLUMNS: Final = (
    *AXES,
    ("series", None),
    ("index", np.int64),
    *((name, np.int64) for name in COLUMNS),
)
Row = dict[str, Any]
Columns = tuple[tuple[str, Any], ...]


def figure_rows(points: Iterable[ArchivedPoint]) -> Iterator[Row]:
    """A row for each metric of each measured point. A point without a number has one row without a metric."""
    for point in points:
        axes = _axes(point)
        result = point.result
        if not isinstance(result, MeasuredPoint):
            yield {**axes, "metric": None, "value": None, "unit": None}
            continue
        for metric in metrics(result):
            yield {**axes, "metric": metric.id, "value": metric.value, "unit": metric.unit}


def sample_rows(points: Iterable[ArchivedPoint]) -> Iterator[Row]:
    """A row for each raw sample of each latency point, as samples.parquet has it."""
    for point in points:
        axes = _axes(point)
        result = point.result
        for series in result.series if isinstance(result, MeasuredPoint) else ():
            for index in range(len(series.cycles)):
                values = {name: (getattr(series, name) or {index: None})[index] for name in COLUMNS}
                yield {**axes, "series": series.id, "index": index, **values}


def _axes(result: ArchivedPoint) -> Row:
    point = result.point
    return {
        "run": result.run.name,
        "date": result.session.date,
        "revision": result.session.revision,
        "benchmark": point.benchmark,
        "kernel": point.kernel,
        "board": point.board,
        "cores": point.cores,
        "window_ms": point.window_ms,
        "config": json.dumps(point.config, sort_keys=True),
        "placement": int(placement(point)),
        "run_id": result.result.run_id,
        "status": result.result.status,
        "deviations": "; ".join(result.result.deviations) if isinstance(result.result, MeasuredPoint) else "",
    }


def as_parquet(rows: Iterable[Row], columns: Columns) -> bytes:
    """Typed columns, compressed."""
    listed = list(rows)
    return write_parquet({name: column_of([row[name] for row in listed], dtype) for name, dtype in columns})


def as_csv(rows: Iterable[Row], columns: Columns) -> bytes:
    """A head line, then a line a row."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [name for name, _ in columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: sheet(value) for name, value in row.items()} for row in rows)
    return out.getvalue().encode()


def as_jsonl(rows: Iterable[Row], columns: Columns) -> bytes:  # noqa: ARG001 (one face for all forms)
    """One JSON object a line."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


FORMS: Final[dict[str, Callable[[Iterable[Row], Columns], bytes]]] = {
    "parquet": as_parquet,
    "csv": as_csv,
    "jsonl": as_jsonl,
}
