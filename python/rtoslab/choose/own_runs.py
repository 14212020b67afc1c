"""Figures of a user's own runs in the place of those that come with rtoslab."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rtoslab.analyses import by_placement, unplaced
from rtoslab.reference import StoredRow, row_values
from rtoslab.results import Measured
from rtoslab.store import RunDirectory


def rows_of_runs(runs: Sequence[Path], rows: Mapping[str, Iterable[StoredRow]]) -> dict[str, list[StoredRow]]:
    """Returns the rows by kernel, those of the runs first. Raises StoreError for a folder that is no run.

    A kernel that only a run holds is added. Where a run has the benchmark of a row on its board with as many cores, its
    own figure counts and the one that comes with rtoslab does not.
    """
    own: dict[str, list[StoredRow]] = {}
    for path in runs:
        points = RunDirectory.open(path).points()
        manifests: dict[str, Any] = {
            each.result.run_id: each.manifest for each in points if isinstance(each.result, Measured)
        }
        for group in by_placement(each.result for each in points if isinstance(each.result, Measured)):
            point = unplaced(group[0].point)
            version = str(manifests[group[0].run_id].get("build", {}).get("kernel_version", ""))
            row = StoredRow(point, point.kernel, version, row_values(group, point), deviations=group[0].deviations)
            own.setdefault(point.kernel, []).append(row)
    found = {kernel: [*own.pop(kernel, []), *known] for kernel, known in rows.items()}
    return found | own
