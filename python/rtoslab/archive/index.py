"""Finding stored points again: over many run directories, by kernel, board, benchmark, configuration, date or hash.

A point that is not what was stored is left out, with an AlteredPointWarning that names the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtoslab.plan import config_with_defaults
from rtoslab.results import PointId
from rtoslab.store import (
    AnyResult,
    RunDirectory,
    RunJournalSession,
    StoredMeasurementPoint,
    runs_with_newest_journal_sessions,
)


@dataclass(frozen=True, slots=True)
class ArchivedMeasuredPoint:
    """A stored point with the run directory and session in which it was measured."""

    run: Path
    session: RunJournalSession
    """The last session of its run directory."""
    stored: StoredMeasurementPoint

    @property
    def result(self) -> AnyResult:
        """Returns the result of the point: measured, failed or not applicable."""
        return self.stored.result

    @property
    def point_id(self) -> PointId:
        """Returns the point's identity: benchmark, kernel, board, cores and configuration."""
        return self.result.point


@dataclass(frozen=True, slots=True)
class StoredPointFilters:
    """The conditions of a search for stored points. Empty ones do not matter."""

    kernels: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    """Beginnings of ids, as for kernels and boards."""
    cores: tuple[int, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    """The config of what was asked for (`opt=-O3`), or any macro's final value as the manifest has it."""
    since: str = ""
    """ISO date, included. `until` too."""
    until: str = ""
    hash: str = ""
    """The beginning of a run id, of the image's hash or of the kernel package's."""


def find_stored_points(run_folders: Iterable[Path], filters: StoredPointFilters) -> Iterator[ArchivedMeasuredPoint]:
    """Yields the stored points that match the filters, one run directory after the other. `run_folders`: run
    directories, or folders of them."""
    for run, session in runs_with_newest_journal_sessions(run_folders):
        if filters.since and session.date < filters.since:
            continue
        if filters.until and session.date[: len(filters.until)] > filters.until:
            continue
        for stored in RunDirectory.open_run_directory(run).read_unaltered_measured_points():
            point = ArchivedMeasuredPoint(run, session, stored)
            if _does_point_match_filters(point, filters):
                yield point


def _does_point_match_filters(result: ArchivedMeasuredPoint, filters: StoredPointFilters) -> bool:
    """Whether a stored point satisfies all conditions of a search except the dates."""
    point = result.point_id
    axes = (
        (filters.kernels, point.kernel),
        (filters.boards, point.board),
        (filters.benchmarks, point.benchmark),
    )
    if any(names and not value.startswith(names) for names, value in axes):
        return False
    if filters.cores and point.cores not in filters.cores:
        return False
    config = config_with_defaults(point.config)
    if all(config.get(key) == value for key, value in filters.config.items()) and not filters.hash:
        return True
    manifest: Mapping[str, Any] = result.stored.manifest
    build = manifest.get("build", {})
    final = {**build.get("kernel_config", {}), **config}
    if any(final.get(key) != value for key, value in filters.config.items()):
        return False
    hashes = (result.result.run_id, manifest.get("elf_sha256", ""), build.get("kernel_package", {}).get("sha256", ""))
    return any(hash_.startswith(filters.hash) for hash_ in hashes)
