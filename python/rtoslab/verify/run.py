"""All that one folder holds: a run directory's plan and points, or a sweep of phases."""

from collections.abc import Iterator
from pathlib import Path

from rtoslab.base import RtoslabError
from rtoslab.catalogue import Catalogue
from rtoslab.store import JOURNAL_FILE, PLAN, RunDirectory, read_sessions
from rtoslab.verify.point import VerifiedPoint, verify_point
from rtoslab.worst_case import is_sweep, recompute


def verify_folder(catalogue: Catalogue, folder: Path) -> Iterator[VerifiedPoint]:
    """Each part of a run directory or of a sweep's folder as it is checked. Raises StoreError for another folder."""
    if is_sweep(folder):
        yield VerifiedPoint(folder, tuple(recompute(folder)))
        return
    run = RunDirectory.open(folder)
    for name, read in ((PLAN, run.plan), (JOURNAL_FILE, lambda: read_sessions(folder))):
        try:
            read()
        except RtoslabError as cause:
            yield VerifiedPoint(folder / name, (str(cause),))
    for path in run.folders():
        yield verify_point(catalogue, path)
