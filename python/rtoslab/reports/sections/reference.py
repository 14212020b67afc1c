"""The origin of the reference results in a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtoslab.base import count_with_noun, file_contents_cache
from rtoslab.reference import changes_since_point_was_measured
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredMeasurementPoint

_PROSE = (
    "Kernels marked as reference were not measured in this run. Their results come with rtoslab and were measured "
    "earlier on its virtual board. Results without a band were measured in one placement of the code. If you add the "
    "sources of such a kernel (`rtoslab kernel tree add`), rtoslab measures it. A file that has changed since then "
    "does not always change a figure. `rtoslab kernel reference list` names changed files."
)


def reference_results_report_section(root: Path, beside: Sequence[StoredMeasurementPoint]) -> ReportSection | None:
    """Returns the report section on the origin of reference results: version, commit, compiler flags and age. None
    without any."""
    rows: dict[tuple[str, ...], int] = {}
    with file_contents_cache():
        for point in beside:
            if isinstance(point.result, MeasuredPoint):
                row = (
                    point.result.point.kernel,
                    kernel_version_and_commits_text(point.manifest),
                    " ".join(_manifest_value_at(point.manifest, "build", "flags")),
                    f"timing {_manifest_value_at(point.manifest, 'target').get('timing_version', 'unknown')}",
                    _changes_since_reference_text(changes_since_point_was_measured(root, point)),
                )
                rows[row] = rows.get(row, 0) + 1
    if not rows:
        return None
    columns = ("kernel", "version", "compiled with", "virtual board", "changed since", ">points")
    table = TableData("Reference results", columns, [[*row, str(count)] for row, count in rows.items()])
    return ReportSection("reference", "Not measured here: reference results", (_PROSE,), (), (table,))


def _changes_since_reference_text(changes: Sequence[str]) -> str:
    """Returns the changes since a reference result was measured in a few words. Several files of the firmware are only
    counted."""
    files = [change for change in changes if change.startswith("firmware/")]
    briefly = [f"{count_with_noun(len(files), 'file')} of the firmware"] if len(files) > 1 else files
    return "; ".join([*(change for change in changes if change not in files), *briefly]) or "nothing"


def kernel_version_and_commits_text(manifest: Mapping[str, Any]) -> str:
    """Returns a kernel's version as text, with the known commits of its sources, and whether they were edited."""
    build = manifest["build"]
    repositories = (build.get("tree") or {}).get("repositories", [])
    commits = [
        f"commit {repository['commit'][:12]}{', edited' if repository.get('dirty') else ''}"
        for repository in repositories
        if repository.get("commit")
    ]
    return ", ".join([str(build["kernel_version"]), *commits])


def _manifest_value_at(manifest: Mapping[str, Any], *path: str) -> Any:
    """Returns the value under nested keys of a manifest. Raises KeyError."""
    value: Any = manifest
    for key in path:
        value = value[key]
    return value
