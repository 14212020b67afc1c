"""Verifies all parts of a folder: a run directory's plan and points, or a sweep of phases."""

from collections.abc import Iterator
from pathlib import Path

from rtoslab.base import RtoslabError
from rtoslab.catalogue import Catalogue
from rtoslab.store import JOURNAL_FILE, PLAN, RunDirectory, read_journal_sessions
from rtoslab.verify.point import VerifiedPoint, verify_stored_point
from rtoslab.worst_case import find_inconsistent_sweep_values, is_sweep_folder


def verify_run_or_sweep_folder(catalogue: Catalogue, folder: Path) -> Iterator[VerifiedPoint]:
    """Yields the check of each part of a run directory, or of a sweep's folder, against its raw data.

    Raises StoreError for another folder.
    """
    if is_sweep_folder(folder):
        yield VerifiedPoint(folder, tuple(find_inconsistent_sweep_values(folder)))
        return
    run = RunDirectory.open_run_directory(folder)
    for name, read in ((PLAN, run.read_stored_plan), (JOURNAL_FILE, lambda: read_journal_sessions(folder))):
        try:
            read()
        except RtoslabError as cause:
            yield VerifiedPoint(folder / name, (str(cause),))
    for path in run.measurement_point_folders():
        yield verify_stored_point(catalogue, path)
