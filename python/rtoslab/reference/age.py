"""Whether reference results are of today's checkout: the timing of virtual boards, and our files in their images."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rtoslab.base import memoize_by_contents, sha256_of
from rtoslab.reference.code_digest import read_code_digests, today_code
from rtoslab.reference.reference_file import Reference
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredPoint
from rtoslab.targets import timing_version


def changed_since(root: Path, point: StoredPoint) -> list[str]:
    """Returns what has changed since a measured point was: files of ours, "the virtual board"; empty if nothing has. A
    change of comments alone is none.

    Points have most files in common: check many of them inside one `contents_cache`."""
    return _changed_files(root, [point.manifest])


def out_of_date(root: Path, reference: Reference) -> list[str]:
    """The same of all points and weights of a file."""
    measured = [point.manifest for point in reference.points if isinstance(point.result, MeasuredPoint)]
    return _changed_files(root, [*measured, *(weight.manifest for weight in reference.weights)])


def _changed_files(root: Path, manifests: Sequence[Any]) -> list[str]:
    files = {
        item
        for manifest in manifests
        for item in manifest["build"]["sources"].items()
        if item[0].startswith("firmware/")
    }
    code_digests = read_code_digests(root)
    changed = sorted(
        {
            name
            for name, digest in files
            if digest != today(root, name) and code_digests.get(digest) != today_code(root, name)
        }
    )
    # What is only weighed runs on no board.
    versions = {manifest["target"].get("timing_version") for manifest in manifests if "target" in manifest}
    return [*(("the virtual board",) if versions - {timing_version()} else ()), *changed]


@memoize_by_contents
def today(folder: Path, name: str) -> str:
    """SHA-256 of a file of the folder as it is now. Empty if it has none of that name."""
    path = folder / name
    return sha256_of(path) if path.is_file() else ""
