"""Compares reference results with today's checkout: the timing of virtual boards, and the project's files in their
images."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtoslab.base import memoize_by_contents, sha256_of_file
from rtoslab.catalogue import PAGE_SUFFIX
from rtoslab.reference.code_digest import (
    oldest_code_digest_equivalent_to_file,
    oldest_equal_code_digest,
    read_code_digests,
)
from rtoslab.reference.reference_file import ReferenceResultsFile
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredMeasurementPoint
from rtoslab.targets import timing_version


def changes_since_point_was_measured(root: Path, point: StoredMeasurementPoint) -> list[str]:
    """Returns what has changed since a point was measured: files of the firmware, or `the virtual board`. Empty if
    nothing has.

    A change of comments alone does not count. Points share most files, so call it for many of them within one cache
    scope.
    """
    return _find_changed_firmware_files(root, [point.manifest])


def changes_since_reference(root: Path, reference: ReferenceResultsFile) -> list[str]:
    """Returns what has changed since the points and sizes in a reference file were measured."""
    measured = [point.manifest for point in reference.points if isinstance(point.result, MeasuredPoint)]
    return _find_changed_firmware_files(root, [*measured, *(weight.manifest for weight in reference.weights)])


def _find_changed_firmware_files(root: Path, manifests: Sequence[Any]) -> list[str]:
    """Returns the firmware's files that differ from those in the manifests, and `the virtual board` if its timing
    does."""
    files = {
        item
        for manifest in manifests
        for item in manifest["build"]["sources"].items()
        if item[0].startswith("firmware/") and Path(item[0]).suffix != PAGE_SUFFIX
    }
    code_digests = read_code_digests(root)
    changed = sorted(
        {
            name
            for name, digest in files
            if digest != digest_of_file_now(root, name)
            and oldest_equal_code_digest(code_digests, digest) != oldest_code_digest_equivalent_to_file(root, name)
        }
    )
    # What is only weighed runs on no board.
    targets = [manifest["target"] for manifest in manifests if "target" in manifest]
    return [*(("the virtual board",) if any(map(_has_virtual_board_timing_changed, targets)) else ()), *changed]


def _has_virtual_board_timing_changed(target: Mapping[str, Any]) -> bool:
    """Returns whether a virtual board takes other cycles than its manifest's `target`, or that does not say which."""
    version = target.get("timing_version")
    return version is None or "chip" not in target or version != timing_version(target["chip"])


@memoize_by_contents
def digest_of_file_now(folder: Path, name: str) -> str:
    """Returns the SHA-256 of a file as it is now. Empty if the folder does not have it."""
    path = folder / name
    return sha256_of_file(path) if path.is_file() else ""
