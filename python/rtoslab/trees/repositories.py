"""Returns the origin of a tree by its own version control: origin, commit, and whether something was changed since."""

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rtoslab.base import tools
from rtoslab.catalogue import Tree

QUERY_EVERY_S: Final = 5.0
_REMOTE: Final = re.compile(r"(?:[a-z+]+://|[^/@\s]+@[^/:\s]+:)\S+")
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True, slots=True)
class Repository:
    """One that folders of a tree are in."""

    at: str
    """Its place in the tree. `.`: the tree is one, or is in one."""
    origin: str | None
    """None means: none that others could reach."""
    commit: str | None
    """None means: nothing was committed yet."""
    dirty: bool
    """A file under version control was changed since."""


def repositories(tree: Tree) -> tuple[Repository, ...]:
    """Those that the tree's folders are in. Empty: no version control. Asked every few seconds at most."""
    root = Path(tree.path)
    patterns = [source for part in (tree, *tree.cores.values()) for source in (*part.sources, *part.headers)]
    folders = {root} | {_existing(root, pattern.removeprefix("!")) for pattern in patterns}
    return _query(root, tuple(sorted(folders)), int(time.monotonic() / QUERY_EVERY_S))


@lru_cache(maxsize=64)
def _query(root: Path, folders: tuple[Path, ...], _: int) -> tuple[Repository, ...]:
    tops = {top for folder in folders if (top := _git(folder, "rev-parse", "--show-toplevel"))}
    return tuple(_state(root, Path(top)) for top in sorted(tops))


def _existing(root: Path, pattern: str) -> Path:
    """The folder that a pattern begins in."""
    path = root / pattern
    while not path.is_dir() and path != root:
        path = path.parent
    return path


def _state(root: Path, top: Path) -> Repository:
    root = root.resolve()  # as version control tells its own place
    inside = root.is_relative_to(top)
    origin = _git(top, "config", "--get", "remote.origin.url")
    reachable = _REMOTE.fullmatch(origin) and not origin.startswith("file:")
    return Repository(
        at="." if inside else top.relative_to(root).as_posix() if top.is_relative_to(root) else top.name,
        origin=_CREDENTIALS.sub("", origin) if reachable else None,
        commit=_git(top, "rev-parse", "HEAD") or None,
        dirty=bool(_git(top, "status", "--porcelain", "--untracked-files=no", "--", str(root if inside else top))),
    )


def describe_version(path: Path) -> str:
    """The version as tags tell it, or the commit. Empty where there is no version control."""
    return _git(path, "describe", "--tags", "--always")


def _git(folder: Path, *words: str) -> str:
    return tools.successful_output(["git", "-C", folder, *words])
