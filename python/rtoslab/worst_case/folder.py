"""A sweep on disk: result.json, arrivals.parquet (one row an arrival), manifest.json, report.html."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rtoslab.files import make_folder, write_whole
from rtoslab.manifest import canonical
from rtoslab.worst_case.arrivals import UNANSWERED, Span
from rtoslab.worst_case.finding import Finding
from rtoslab.worst_case.scenario import Scenario

ARRIVALS: Final = "arrivals.parquet"
RESULT: Final = "result.json"
MANIFEST: Final = "manifest.json"
REPORT: Final = "report.html"


def manifest_of(scenario: Scenario, span: Span) -> dict[str, Any]:
    """Everything that can change a number of the sweep; the image by its hash."""
    image = hashlib.sha256(scenario.elf.read_bytes()).hexdigest()
    sweep = {
        "first_cycle": scenario.snapshot.cycle(),
        "span_cycles": span.cycles,
        "offsets": list(span.offsets) if span.offsets is not None else "all",
        "exception": scenario.exception,
        "core": scenario.core,
        "task": scenario.task,
    }
    return {**scenario.manifest, "elf_sha256": image, "sweep": sweep}


def default_folder(root: Path, name: str, manifest: dict[str, Any]) -> Path:
    """`runs/worst-case-<name>-<hash of the manifest>`."""
    return root / "runs" / f"worst-case-{name}-{hashlib.sha256(canonical(manifest).encode()).hexdigest()[:8]}"


def write(folder: Path, finding: Finding, arrivals: NDArray[np.void], manifest: dict[str, Any], report: str) -> None:
    """The same sweep gives the same bytes. Raises StoreError."""
    make_folder(folder)
    write_whole(folder / ARRIVALS, to_parquet(arrivals, finding.first_cycle), "the sweep's arrivals")
    write_whole(folder / MANIFEST, canonical(manifest), "the sweep's manifest")
    write_whole(folder / REPORT, report, "the sweep's report")
    write_whole(folder / RESULT, json.dumps(finding.as_json(), indent=1) + "\n", "the sweep's result")


def to_parquet(arrivals: NDArray[np.void], first_cycle: int) -> bytes:
    """Columns offset, handler_cycles, task_cycles (null without a task), pc, asleep."""
    unwoken = arrivals["task"] == UNANSWERED
    table = pa.table(
        {
            "offset": pa.array(arrivals["cycle"] - np.uint64(first_cycle), pa.uint64()),
            "handler_cycles": pa.array(arrivals["handler"], pa.uint64()),
            "task_cycles": pa.array(arrivals["task"], pa.uint64(), mask=unwoken),
            "pc": pa.array(arrivals["pc"], pa.uint32()),
            "asleep": pa.array(arrivals["asleep"] != 0, pa.bool_()),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()
