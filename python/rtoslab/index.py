"""Finding stored points again: over many run directories, by kernel, board, benchmark, configuration, date or hash."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtoslab.errors import StoreError
from rtoslab.journal import Session, last_session
from rtoslab.results import PointId
from rtoslab.store import MANIFEST, PLAN, POINTS, RESULT


@dataclass(frozen=True, slots=True)
class Found:
    """One stored point, not yet read whole."""

    run: Path
    session: Session
    """When its run directory was last worked on."""
    folder: Path
    status: str
    run_id: str
    point: PointId


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; what is empty does not matter."""

    kernels: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    """Beginnings of ids."""
    cores: tuple[int, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    """Of what was asked for (`opt=-O3`), or any macro's final value as the manifest has it."""
    since: str = ""
    """ISO date, included; `until` too."""
    until: str = ""
    hash: str = ""
    """The beginning of a run id, of the image's hash or of the kernel package's."""


def run_directories(places: Iterable[Path]) -> list[Path]:
    """The run directories among `places` and their direct subfolders, oldest first by their journals."""
    found = []
    for place in places:
        folders = [place] if (place / PLAN).is_file() else sorted(each.parent for each in place.glob(f"*/{PLAN}"))
        found += folders
    return sorted(dict.fromkeys(found), key=lambda each: (last_session(each).date, each.name))


def find(places: Iterable[Path], wanted: Wanted) -> Iterator[Found]:
    """Matching points, by run directory. Raises StoreError naming a damaged file."""
    for run in run_directories(places):
        session = last_session(run)
        if wanted.since and session.date < wanted.since:
            continue
        if wanted.until and session.date[: len(wanted.until)] > wanted.until:
            continue
        for folder in sorted((run / POINTS).glob("[!.]*")):
            found = _head(run, session, folder)
            if _matches(found, wanted):
                yield found


def _head(run: Path, session: Session, folder: Path) -> Found:
    stored = _json(folder / RESULT)
    try:
        point = PointId.model_validate(stored["point"])
        return Found(run, session, folder, str(stored["status"]), str(stored["run_id"]), point)
    except (KeyError, ValueError):
        raise StoreError(f"{folder / RESULT} is damaged; delete {folder} and run again.") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise StoreError(f"{path} is damaged ({type(cause).__name__}); delete its folder and run again.") from None
    return stored


def _matches(found: Found, wanted: Wanted) -> bool:
    point = found.point
    axes = (
        (wanted.kernels, point.kernel),
        (wanted.boards, point.board),
        (wanted.benchmarks, point.benchmark),
    )
    if any(names and not value.startswith(names) for names, value in axes):
        return False
    if wanted.cores and point.cores not in wanted.cores:
        return False
    if all(point.config.get(key) == value for key, value in wanted.config.items()) and not wanted.hash:
        return True
    manifest = _json(found.folder / MANIFEST)
    build = manifest.get("build", {})
    final = {**build.get("kernel_config", {}), **point.config}
    if any(final.get(key) != value for key, value in wanted.config.items()):
        return False
    hashes = (found.run_id, manifest.get("elf_sha256", ""), build.get("kernel_package", {}).get("sha256", ""))
    return any(each.startswith(wanted.hash) for each in hashes)
