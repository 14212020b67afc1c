"""Stage 5: the run directory. Points are added whole or not at all, and never overwritten.

    <run>/plan.json                       the points asked for, in the order they are reported
    <run>/points/<point>-<run id>/        one folder per finished point:
        result.json manifest.json conformance.json uart.txt build.log, of latencies samples.parquet, of the virtual
        board evidence.json.zst (what proofs are judged by), and seal.json: the digest of each of them
    <run>/journal.jsonl                   when points were asked for, and on which revision of the checkout

A point is written into a folder beside its final place and renamed, so an interruption or a full disk leaves either a
whole point or none. A run directory can be copied and archived. All paths in it are relative. A point that is not what
its seal says counts as failed, with a warning that names the file. The others stay readable.
"""

import glob
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rtoslab.base import (
    AlteredFileError,
    AlteredPointWarning,
    StoreError,
    exclusive_lock,
    make_disk_error,
    try_exclusive_lock,
)
from rtoslab.records import read_and_verify_sealed_folder, require_files_match_seal
from rtoslab.results import PointId
from rtoslab.store.folder_names import PLAN, POINTS
from rtoslab.store.plan_file import PlanFile, read_plan_file
from rtoslab.store.stored_point import (
    AnyResult,
    StoredMeasurementPoint,
    add_digests_to_point_files,
    failed_result_for_altered_files,
    point_folder_name_start,
    read_point_folder,
)

LOCK = ".lock"
"""Held while a run directory is created."""
_UNFINISHED = ".unfinished-"
_WORK_LOCK = ".lock"
_PLAN_IN_WORK = f".{PLAN}.tmp"


class RunDirectory:
    """A run directory, which contains the results of the points of a plan."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create_run_directory(cls, path: Path, suite: str | None, points: list[PointId]) -> "RunDirectory":
        """Creates a run directory for these points of a suite, or opens it if it was created for the same points.
        Raises StoreError if it was created for others."""
        if _is_no_run_directory(path):
            raise StoreError(f"{path} exists and is not a run directory; choose another --out.")
        run = cls(path)
        try:
            (path / POINTS).mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            raise make_disk_error("make the run directory", path, cause) from None
        with exclusive_lock(path / LOCK):
            if not (path / PLAN).is_file():
                try:
                    text = PlanFile.make_plan_file(suite, points).model_dump_json(indent=1)
                    _write_and_sync(path / _PLAN_IN_WORK, f"{text}\n".encode())
                    (path / _PLAN_IN_WORK).replace(path / PLAN)
                except OSError as cause:
                    raise make_disk_error("make the run directory", path, cause) from None
            elif run.read_stored_plan().points != points:
                raise StoreError(
                    f"{path} contains a run of other points; choose another --out, or use the same options as "
                    "before to resume it."
                )
        return run

    @classmethod
    def open_run_directory(cls, path: Path) -> "RunDirectory":
        """Opens an existing run directory. Raises StoreError if it is none."""
        if not (path / PLAN).is_file():
            raise StoreError(f"{path} is not a run directory (no {PLAN}); give one that `rtoslab run` wrote.")
        return cls(path)

    def read_stored_plan(self) -> PlanFile:
        """Returns the plan of the run directory. Raises StoreError if it cannot be read, AlteredFileError if it was
        changed."""
        return read_plan_file(self.path / PLAN)

    def contains_point(self, folder_name: str) -> bool:
        """Whether the run directory contains a point in a folder of that name."""
        return self.point_path(folder_name).is_dir()

    def find_measurement_with_other_manifest(self, folder_name: str) -> Path | None:
        """Returns the folder of the same point measured with another manifest, so another image or board. None if there
        is none."""
        point = folder_name.rpartition("-")[0]
        builds = [
            path
            for path in (self.path / POINTS).glob(f"{glob.escape(point)}-*")
            if path.name.rpartition("-")[0] == point
        ]
        return next((build for build in builds if build.name != folder_name), None)

    def add_measurement_point_to_store(
        self, folder_name: str, result: AnyResult, manifest: Mapping[str, object], files: Mapping[str, bytes]
    ) -> Path:
        """Stores a point's result and files, and returns their folder. Raises StoreError if the point exists already,
        or the disk refuses it."""
        self.store_point_files(folder_name, add_digests_to_point_files(folder_name, result, manifest, files))
        return self.point_path(folder_name)

    def store_point_files(self, folder_name: str, files: Mapping[str, bytes]) -> None:
        """Stores the sealed files of a whole point unchanged.

        Raises StoreError if it exists already, or the disk refuses it, AlteredFileError for files that do not fit their
        seal.
        """
        final = self.point_path(folder_name)
        require_files_match_seal(folder_name, files, final)
        if final.exists():
            raise StoreError(f"{final} exists already; results are never overwritten, choose another --out.")
        try:
            with _temporary_measurement_folder(self.path / POINTS) as work:
                for name, content in files.items():
                    _write_and_sync(work / name, content)
                work.chmod(0o755)
                work.rename(final)
        except OSError as cause:
            raise make_disk_error("store the point in", final, cause) from None

    def read_point_files(self, folder_name: str) -> dict[str, bytes] | None:
        """Returns a finished point's files by their names. None if there is none. Raises AlteredFileError, which names
        the file."""
        return read_and_verify_sealed_folder(self.point_path(folder_name)) if self.contains_point(folder_name) else None

    def point_path(self, folder_name: str) -> Path:
        """Returns the folder of a point, whether it exists or not."""
        return self.path / POINTS / folder_name

    def read_measured_point(self, folder_name: str) -> StoredMeasurementPoint:
        """Returns one finished point. Raises AlteredFileError, which names the file that was changed."""
        return read_point_folder(self.point_path(folder_name))

    def read_measured_points(self) -> list[StoredMeasurementPoint]:
        """Returns every finished point, in the order of the plan.

        One that was altered counts as failed, with an AlteredPointWarning.
        """
        plan = self._read_planned_points()
        points = [
            item
            for folder in self.measurement_point_folders()
            if (item := self._read_point_or_mark_as_failed(folder, plan)) is not None
        ]
        order = {point.model_dump_json(): index for index, point in enumerate(plan)}
        return sorted(
            points, key=lambda point: (order.get(point.result.point.model_dump_json(), len(order)), point.folder.name)
        )

    def read_unaltered_measured_points(self) -> Iterator[StoredMeasurementPoint]:
        """Yields every finished point, in the order of their folders' names. One that was altered is left out, with an
        AlteredPointWarning."""
        for folder in self.measurement_point_folders():
            try:
                yield read_point_folder(folder)
            except AlteredFileError as cause:
                warnings.warn(str(cause), AlteredPointWarning, stacklevel=2)

    def measurement_point_folders(self) -> list[Path]:
        """Returns the folders of the run directory's points."""
        return sorted((self.path / POINTS).glob("[!.]*"))

    def _read_planned_points(self) -> list[PointId]:
        """Returns the points that the run directory was made for. Empty if the plan was altered, with an
        AlteredPointWarning."""
        try:
            return self.read_stored_plan().points
        except StoreError as cause:
            warnings.warn(str(cause), AlteredPointWarning, stacklevel=3)
            return []

    def _read_point_or_mark_as_failed(self, folder: Path, plan: list[PointId]) -> StoredMeasurementPoint | None:
        """Returns the point in a folder. If its files were altered, it counts as failed, or None is returned if the
        plan does not have it."""
        try:
            return read_point_folder(folder)
        except AlteredFileError as cause:
            warnings.warn(str(cause), AlteredPointWarning, stacklevel=3)
            known = next(
                (point_id for point_id in plan if folder.name.startswith(f"{point_folder_name_start(point_id)}-")), None
            )
            return (
                None
                if known is None
                else StoredMeasurementPoint(folder, failed_result_for_altered_files(known, cause), {})
            )


def remove_leftover_temporary_folders(path: Path) -> None:
    """Removes the temporary folders that interrupted writers left in a run directory. Files of a living writer stay."""
    for leftover in (path / POINTS).glob(f"{_UNFINISHED}*"):
        # A lock alone is of a writer that ended between giving its folder a name and taking the lock's away.
        work = leftover.with_suffix("") if leftover.suffix == _WORK_LOCK else leftover
        with try_exclusive_lock(_temporary_folder_lock_path(work)) as is_free:
            if is_free:
                shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _temporary_measurement_folder(points: Path) -> Iterator[Path]:
    """Yields a temporary folder to write a point into. It is locked as long as its writer lives.

    It is removed unless it was renamed.
    """
    while True:
        work = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=points))
        with exclusive_lock(_temporary_folder_lock_path(work)):
            if not work.exists():  # another process swept it before it was locked
                continue
            try:
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
            return


def _temporary_folder_lock_path(work: Path) -> Path:
    """Returns the path of the file that locks a temporary folder."""
    return work.with_name(work.name + _WORK_LOCK)


def _is_no_run_directory(path: Path) -> bool:
    """Whether a path exists and is not a run directory, nor an unfinished one."""
    if not path.exists() or (path / PLAN).is_file():
        return False
    return not path.is_dir() or any(item.name not in {POINTS, LOCK, _PLAN_IN_WORK} for item in path.iterdir())


def _write_and_sync(path: Path, content: bytes) -> None:
    """Writes a file and waits until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
