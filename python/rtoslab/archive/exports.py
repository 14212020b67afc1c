"""Stored points as one flat table for other tools: Parquet, CSV or JSON lines. One row a figure or a raw sample."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from rtoslab.analyses import code_placement_number_text, comparable_values_of_measurement_point
from rtoslab.archive.index import ArchivedMeasuredPoint
from rtoslab.intake import encode_parquet, escape_csv_cell, make_parquet_column
from rtoslab.results import COLUMNS, MeasuredPoint

AXIS_COLUMNS: Final = (
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
FIGURE_COLUMNS: Final = (*AXIS_COLUMNS, ("metric", None), ("value", np.float64), ("unit", None))
SAMPLE_COLUMNS: Final = (
    *AXIS_COLUMNS,
    ("series", None),
    ("index", np.int64),
    *((name, np.int64) for name in COLUMNS),
)
Row = dict[str, Any]
Columns = tuple[tuple[str, Any], ...]


def export_rows_of_measured_values(points: Iterable[ArchivedMeasuredPoint]) -> Iterator[Row]:
    """Yields a row for each figure of each measured point. A point without a number has one row without a figure."""
    for point in points:
        axes = _point_identity_cells(point)
        result = point.result
        if not isinstance(result, MeasuredPoint):
            yield {**axes, "metric": None, "value": None, "unit": None}
            continue
        for metric in comparable_values_of_measurement_point(result):
            yield {**axes, "metric": metric.id, "value": metric.value, "unit": metric.unit}


def table_rows_of_latency_samples(points: Iterable[ArchivedMeasuredPoint]) -> Iterator[Row]:
    """Yields a row for each raw sample of each latency point, with the columns of samples.parquet."""
    for point in points:
        axes = _point_identity_cells(point)
        result = point.result
        for series in result.series if isinstance(result, MeasuredPoint) else ():
            for index in range(len(series.cycles)):
                values = {name: (getattr(series, name) or {index: None})[index] for name in COLUMNS}
                yield {**axes, "series": series.id, "index": index, **values}


def _point_identity_cells(result: ArchivedMeasuredPoint) -> Row:
    """Returns the cells of a row that identify the point and its run."""
    point = result.point_id
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
        "placement": int(code_placement_number_text(point)),
        "run_id": result.result.run_id,
        "status": result.result.status,
        "deviations": "; ".join(result.result.deviations) if isinstance(result.result, MeasuredPoint) else "",
    }


def rows_as_parquet(rows: Iterable[Row], columns: Columns) -> bytes:
    """Returns the rows as a Parquet file. `columns`: names and types of the columns, where None is for texts."""
    listed = list(rows)
    return encode_parquet({name: make_parquet_column([row[name] for row in listed], dtype) for name, dtype in columns})


def rows_as_csv(rows: Iterable[Row], columns: Columns) -> bytes:
    """Returns the rows as CSV with a first line of column names."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [name for name, _ in columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: escape_csv_cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue().encode()


def rows_as_jsonl(rows: Iterable[Row], columns: Columns) -> bytes:  # noqa: ARG001 (one face for all forms)
    """Returns the rows as JSON lines: one JSON object on each line."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


EXPORTERS: Final[dict[str, Callable[[Iterable[Row], Columns], bytes]]] = {
    "parquet": rows_as_parquet,
    "csv": rows_as_csv,
    "jsonl": rows_as_jsonl,
}
