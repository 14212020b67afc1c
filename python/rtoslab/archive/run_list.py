"""The list of run directories with their contents, from their plans and the names of their points' folders.

It reads no point and loads neither numpy nor the data models, so that a list of many runs appears at once. The seals of
the points are checked where points are read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rtoslab.base import StoreError
from rtoslab.intake import STORED_BYTES, parse_json_object, read_bytes
from rtoslab.store import (
    PLAN,
    POINTS,
    RunJournalSession,
    measurement_folder_name_prefix,
    runs_with_newest_journal_sessions,
)

if TYPE_CHECKING:
    from rtoslab.archive.index import ArchivedMeasuredPoint

_Axes = tuple[str, str, str]
"""Kernel, board and benchmark of a point."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run directory with the kernels, boards and benchmarks of its finished points, each once."""

    run: Path
    session: RunJournalSession
    """The last session of its run directory."""
    kernels: tuple[str, ...]
    boards: tuple[str, ...]
    benchmarks: tuple[str, ...]
    points: int
    """The number of finished points."""


def summarize_runs(run_folders: Iterable[Path]) -> Iterator[RunSummary]:
    """Yields a summary of each run directory with a finished point, oldest first. `run_folders`: run directories, or
    folders of them."""
    for run, session in runs_with_newest_journal_sessions(run_folders):
        axes = _identities_of_finished_measurements(run)
        if axes:
            yield _make_run_summary(run, session, axes)


def summarize_archived_runs(points: "Iterable[ArchivedMeasuredPoint]") -> Iterator[RunSummary]:
    """Yields a summary of each run directory of these points, with these points alone."""
    for run, group in groupby(points, key=lambda point: point.run):
        own = list(group)
        yield _make_run_summary(run, own[0].session, [_kernel_board_benchmark_of_point(point) for point in own])


def _make_run_summary(run: Path, session: RunJournalSession, axes: Sequence[_Axes]) -> RunSummary:
    """Returns the summary of a run directory, from the axes of its points."""
    kernels, boards, benchmarks = (tuple(dict.fromkeys(names)) for names in zip(*axes, strict=True))
    return RunSummary(run, session, kernels, boards, benchmarks, len(axes))


def _kernel_board_benchmark_of_point(point: "ArchivedMeasuredPoint") -> _Axes:
    """Returns kernel, board and benchmark of a point."""
    identity = point.point_id
    return identity.kernel, identity.board, identity.benchmark


def _identities_of_finished_measurements(run: Path) -> list[_Axes]:
    """Returns kernel, board and benchmark of each finished point.

    If the plan cannot be read or lacks a point, the points themselves are read.
    """
    folders = sorted(path.name for path in (run / POINTS).glob("[!.]*"))
    try:
        planned = _experiment_axes_by_folder_prefix(run / PLAN)
        return [planned[name.rsplit("-", 2)[0]] for name in folders]
    except (StoreError, ValueError, KeyError, TypeError):
        from rtoslab.archive.index import StoredPointFilters, find_stored_points  # noqa: PLC0415 (slow)

        return [_kernel_board_benchmark_of_point(point) for point in find_stored_points([run], StoredPointFilters())]


def _experiment_axes_by_folder_prefix(plan: Path) -> dict[str, _Axes]:
    """Returns kernel, board and benchmark of the points in a plan.json, by the start of their folders' names.

    Raises StoreError, ValueError, KeyError or TypeError if it is no plan. A changed plan does no harm, because its
    names must be those of the folders.
    """
    points = parse_json_object(read_bytes(plan, STORED_BYTES, "the plan", StoreError))["points"]
    return {
        measurement_folder_name_prefix(point["benchmark"], point["kernel"], point["board"], point["cores"]): (
            point["kernel"], point["board"], point["benchmark"],
        )
        for point in points
    }  # fmt: skip
