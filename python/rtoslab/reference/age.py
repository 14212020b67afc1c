"""Whether reference results are of today's checkout: the virtual board, and every file of ours in their images."""

from pathlib import Path
from typing import Any

from rtoslab.base import StaleSimulatorError, looked_at, one_look, sha256_of
from rtoslab.reference.reference_file import Reference
from rtoslab.results import Measured
from rtoslab.store import StoredPoint
from rtoslab.targets import simulator_sources


def changed_since(root: Path, point: StoredPoint) -> list[str]:
    """What has changed since a measured point was: files of ours, "the virtual board"; empty if nothing has."""
    return _changed(root, point.manifest)


def _changed(root: Path, manifest: Any) -> list[str]:
    files = {name: digest for name, digest in manifest["build"]["sources"].items() if name.startswith("firmware/")}
    changed = sorted(name for name, digest in files.items() if digest != _today(root, name))
    # What is only weighed runs on no board.
    board = "target" in manifest and manifest["target"]["sources_sha256"] != _virtual_board(root)
    return [*(("the virtual board",) if board else ()), *changed]


def out_of_date(root: Path, reference: Reference) -> list[str]:
    """The same of all points and weights of a file."""
    measured = [each.manifest for each in reference.points if isinstance(each.result, Measured)]
    manifests = [*measured, *(each.manifest for each in reference.weights)]
    with one_look():  # hundreds of points were built of the same files
        return list(dict.fromkeys(change for each in manifests for change in _changed(root, each)))


@looked_at
def _today(root: Path, name: str) -> str:
    path = root / name
    return sha256_of(path) if path.is_file() else ""


def _virtual_board(root: Path) -> str:
    try:
        return simulator_sources(root)
    except StaleSimulatorError:
        return ""  # no board is built of what the checkout holds
