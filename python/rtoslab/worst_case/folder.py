"""Stores a sweep: result.json, arrivals.parquet (one row an arrival), manifest.json, report.html, and their seal."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import AlteredFileError, default_runs_folder, make_folder, to_canonical_json, write_file_atomically
from rtoslab.intake import ParquetColumn, encode_parquet, printable_path
from rtoslab.records import add_file_listing_digests, read_and_verify_sealed_folder
from rtoslab.results import decode_parquet_columns
from rtoslab.worst_case.arrivals import UNANSWERED, InterruptSweepCycleRange
from rtoslab.worst_case.scenario import InterruptSweepScenario
from rtoslab.worst_case.worst_case import WorstCaseLatencyResult

ARRIVALS: Final = "arrivals.parquet"
RESULT: Final = "result.json"
MANIFEST: Final = "manifest.json"
REPORT: Final = "report.html"


def sweep_manifest(scenario: InterruptSweepScenario, span: InterruptSweepCycleRange) -> dict[str, Any]:
    """Returns the manifest of a sweep: everything that can change its numbers, with the image by its hash."""
    image = hashlib.sha256(scenario.elf.read_bytes()).hexdigest()
    sweep = {
        "first_cycle": scenario.snapshot.cycle(),
        "span_cycles": span.cycles,
        "offsets": list(span.offsets) if span.offsets is not None else "all",
        "exception": scenario.exception,
        "core": scenario.core,
        "task": scenario.task,
        "earlier_arrivals": scenario.earlier_arrivals,
        **({} if scenario.giver is None else {"giver": scenario.giver}),
    }
    return {**scenario.manifest, "elf_sha256": image, "sweep": sweep}


def default_sweep_folder(name: str, manifest: dict[str, Any]) -> Path:
    """Returns the default folder of a sweep's result: `runs/worst-case-<name>-<hash of the manifest>`."""
    return (
        default_runs_folder()
        / f"worst-case-{name}-{hashlib.sha256(to_canonical_json(manifest).encode()).hexdigest()[:8]}"
    )


def write_sweep_folder(
    folder: Path, finding: WorstCaseLatencyResult, arrivals: NDArray[np.void], manifest: dict[str, Any], report: str
) -> None:
    """Writes the result, the arrivals, the manifest and the report of a sweep into a folder. The same sweep gives the
    same bytes. Raises StoreError."""
    files = {
        ARRIVALS: arrivals_as_parquet(arrivals, finding.first_cycle),
        MANIFEST: to_canonical_json(manifest).encode(),
        REPORT: report.encode(),
        RESULT: (json.dumps(finding.as_json(), indent=1) + "\n").encode(),
    }
    make_folder(folder)
    for name, content in add_file_listing_digests(folder.resolve().name, files).items():
        write_file_atomically(folder / name, content, "the sweep")


def arrivals_as_parquet(arrivals: NDArray[np.void], first_cycle: int) -> bytes:
    """Returns a Parquet file with one row per arrival: offset, handler_cycles, task_cycles (null without a task), pc,
    asleep."""
    woken = arrivals["task"] != UNANSWERED
    return encode_parquet(
        {
            "offset": ParquetColumn(arrivals["cycle"] - np.uint64(first_cycle)),
            "handler_cycles": ParquetColumn(arrivals["handler"]),
            "task_cycles": ParquetColumn(arrivals["task"][woken], valid=woken),
            "pc": ParquetColumn(arrivals["pc"]),
            "asleep": ParquetColumn(arrivals["asleep"] != 0),
        }
    )


def is_sweep_folder(folder: Path) -> bool:
    """Whether a folder contains the result of a sweep for the worst case."""
    return (folder / ARRIVALS).exists() and (folder / RESULT).exists()


def find_inconsistent_sweep_values(folder: Path) -> Iterator[str]:
    """Yields a sentence for each figure of a stored sweep that does not follow from its stored arrivals."""
    try:
        files = read_and_verify_sealed_folder(folder.resolve())
        stored = json.loads(files[RESULT])
        columns = decode_parquet_columns(files[ARRIVALS])
    except AlteredFileError as cause:
        yield str(cause)
        return
    except ValueError as cause:
        yield f"{printable_path(folder)} cannot be read ({cause}); measure it again."
        return
    for name in ("handler", "task"):
        if stored[name] is not None:
            yield from _latency_statistic_differences(name, stored[name], columns["offset"], columns[f"{name}_cycles"])


def _latency_statistic_differences(
    name: str, stored: dict[str, Any], offsets: list[int], cycles: list[int]
) -> Iterator[str]:
    """Yields a sentence for each stored statistic of the latency to `name` (handler or task) that differs from the one
    computed again."""
    values, counts = np.unique(np.array(cycles, dtype=np.int64), return_counts=True)
    again = {
        "minimum_cycles": int(values[0]),
        "median_cycles": float(np.median(cycles)),
        "p99_cycles": float(np.percentile(cycles, 99)),
        "maximum_cycles": int(values[-1]),
        "worst_offset": offsets[cycles.index(int(values[-1]))],
        "worst_count": int(counts[-1]),
        "histogram": [list(pair) for pair in zip(values.tolist(), counts.tolist(), strict=True)],
    }
    for key, value in again.items():
        if stored[key] != value:
            yield f"{name}.{key} is stored as {stored[key]}, computed {value}."
