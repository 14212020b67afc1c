"""The list of run directories with their contents, from their plans and the names of their points' folders.

It reads no point and loads neither numpy nor the data models, so that a list of many runs appears at once. The seals of
the points are checked where points are read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import StoreError
from rtoslab.intake import STORED_BYTES, parse_json_object, read_bytes
from rtoslab.store import JournalSession, newest_session, run_directories

_AXES = ("kernel", "board", "benchmark")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run directory with the kernels, boards and benchmarks of its finished points, each once."""

    run: Path
    session: JournalSession
    """The last session of its run directory."""
    kernels: tuple[str, ...]
    boards: tuple[str, ...]
    benchmarks: tuple[str, ...]
    points: int
    """The number of finished points."""


def summarize_runs(run_folders: Iterable[Path]) -> Iterator[RunSummary]:
    """Yields a summary of each run directory with a finished point, oldest first. `run_folders`: run directories, or
    folders of them."""
    for run in run_directories(run_folders):
        folders = sorted(path.name for path in (run / "points").glob("[!.]*"))
        axes = _axes_of_finished_points(run, folders)
        if axes:
            kernels, boards, benchmarks = (tuple(dict.fromkeys(names)) for names in zip(*axes, strict=True))
            yield RunSummary(run, newest_session(run), kernels, boards, benchmarks, len(axes))


def _axes_of_finished_points(run: Path, folders: list[str]) -> list[tuple[str, str, str]]:
    """Returns kernel, board and benchmark of each finished point. `folders`: the names of their folders.

    If the plan cannot be read or lacks a point, the points themselves are read.
    """
    try:
        planned = _axes_by_folder_start(run / "plan.json")
        return [planned[name.rsplit("-", 2)[0]] for name in folders]
    except (StoreError, ValueError, KeyError, TypeError):
        from rtoslab.archive.index import PointFilters, find_stored_points  # noqa: PLC0415 (slow)

        points = [item.point_id for item in find_stored_points([run], PointFilters())]
        return [(point.kernel, point.board, point.benchmark) for point in points]


def _axes_by_folder_start(plan: Path) -> dict[str, tuple[str, str, str]]:
    """Returns kernel, board and benchmark of the points in a plan.json, by the start of their folders' names.

    Raises StoreError, ValueError, KeyError or TypeError if it is no plan. A changed plan does no harm, because its
    names must be those of the folders.
    """
    points = parse_json_object(read_bytes(plan, STORED_BYTES, "the plan", StoreError))["points"]
    return {
        f"{point['benchmark']}-{point['kernel']}-{point['board']}-{point['cores']}c": (
            point["kernel"], point["board"], point["benchmark"],
        )
        for point in points
    }  # fmt: skip
