"""Finds the origin of a tree by its own version control: remote, commit, and whether files were changed since."""

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rtoslab.base import tools
from rtoslab.catalogue import SourceTree

QUERY_EVERY_S: Final = 5.0
_REMOTE: Final = re.compile(r"(?:[a-z+]+://|[^/@\s]+@[^/:\s]+:)\S+")
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True, slots=True)
class SourceRepository:
    """A version control repository that contains folders of a kernel's source tree."""

    at: str
    """Its folder, relative to the tree. `.`: the repository contains the whole tree."""
    origin: str | None
    """The remote. None: there is none that others could reach."""
    commit: str | None
    """None: nothing was committed yet."""
    dirty: bool
    """Whether a file under version control was changed since."""


def find_repositories(tree: SourceTree) -> tuple[SourceRepository, ...]:
    """Returns the git repositories that contain the folders of a kernel's source tree. The answer is cached for a few
    seconds."""
    root = Path(tree.path)
    patterns = [source for part in (tree, *tree.cores.values()) for source in (*part.sources, *part.headers)]
    folders = {root} | {_deepest_existing_folder(root, pattern.removeprefix("!")) for pattern in patterns}
    return _find_git_repositories(root, tuple(sorted(folders)), int(time.monotonic() / QUERY_EVERY_S))


@lru_cache(maxsize=64)
def _find_git_repositories(root: Path, folders: tuple[Path, ...], _: int) -> tuple[SourceRepository, ...]:
    """Returns the git repositories of these folders.

    The last argument changes every few seconds, so that older cached answers are not used.
    """
    tops = {top for folder in folders if (top := _git_output(folder, "rev-parse", "--show-toplevel"))}
    return tuple(_read_git_repository(root, Path(top)) for top in sorted(tops))


def _deepest_existing_folder(root: Path, pattern: str) -> Path:
    """Returns the deepest folder in a file pattern that exists."""
    path = root / pattern
    while not path.is_dir() and path != root:
        path = path.parent
    return path


def _read_git_repository(root: Path, top: Path) -> SourceRepository:
    """Returns the origin and state of the git repository at `top`. `root`: the folder of the source tree."""
    root = root.resolve()  # git reports resolved paths
    inside = root.is_relative_to(top)
    origin = _git_output(top, "config", "--get", "remote.origin.url")
    reachable = _REMOTE.fullmatch(origin) and not origin.startswith("file:")
    return SourceRepository(
        at="." if inside else top.relative_to(root).as_posix() if top.is_relative_to(root) else top.name,
        origin=_CREDENTIALS.sub("", origin) if reachable else None,
        commit=_git_output(top, "rev-parse", "HEAD") or None,
        dirty=bool(
            _git_output(top, "status", "--porcelain", "--untracked-files=no", "--", str(root if inside else top))
        ),
    )


def version_from_git(path: Path) -> str:
    """Returns a name of the version in a source tree: the last git tag, or the commit. Empty without git."""
    return _git_output(path, "describe", "--tags", "--always")


def _git_output(folder: Path, *words: str) -> str:
    """Returns the output of a git command that runs in a folder. Empty if it fails."""
    return tools.output_of_successful_command(["git", "-C", folder, *words])
