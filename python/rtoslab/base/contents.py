"""Reads the content of source files once, and again only after a change. A sweep needs the same ones at each point.

A file counts as unchanged while its inode, size and times are. Two writes of equal length within one step of the file
system's clock leave the same times. So a file that was written just now is always read again.

A check whether hundreds of files changed takes longer than all else that names an image. So a plan of many points is
made inside one `file_contents_cache`."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

FileStamp = tuple[int, ...]
ListingRow = tuple[tuple[str, ...], str]
"""A file's path from a folder on, and its line in a listing."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(slots=True)
class _FunctionResultCache:
    """Results by function and arguments, and the time of the last expiry."""

    values: dict[Any, Any] = field(default_factory=dict)
    since_s: float = field(default_factory=time.monotonic)


_CACHE: Final[ContextVar[_FunctionResultCache | None]] = ContextVar("contents_cache", default=None)
"""The cache of the innermost `file_contents_cache`, if one is open."""
PACKAGE: Final = Path(__file__).parents[1]
CLOCK_STEP_NS = 50_000_000
"""Longer than one step of any usual file system's clock. FAT has longer ones, but no checkout is there."""


def file_state_stamp(path: Path | str) -> FileStamp:
    """Returns a file's inode, size and times, which change when its content does. Raises OSError."""
    status, now = os.stat(path), time.time_ns()  # noqa: PTH116 (a third of the time)
    just_now = (now,) if now - status.st_mtime_ns < CLOCK_STEP_NS else ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, *just_now


@contextmanager
def file_contents_cache() -> Iterator[None]:
    """Caches the results of `memoize_by_contents` functions while the block runs, until
    `clear_expired_file_contents_cache`."""
    if _CACHE.get() is not None:
        yield
        return
    token = _CACHE.set(_FunctionResultCache())
    try:
        yield
    finally:
        _CACHE.reset(token)


def clear_expired_file_contents_cache(older_than_s: float = 0.0) -> None:
    """Empties the cache of the open `file_contents_cache` if it is at least this old. Call it when files may have
    changed."""
    cached = _CACHE.get()
    if cached is not None and time.monotonic() - cached.since_s >= older_than_s:
        cached.values, cached.since_s = {}, time.monotonic()


def memoize_by_contents(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Returns the function, which reads files, with its results cached inside `file_contents_cache`.

    Its arguments must be hashable.
    """

    @wraps(function)
    def return_cached_result_or_call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Returns the cached result for these arguments, or calls the function."""
        cached = _CACHE.get()
        if cached is None:
            return function(*args, **kwargs)
        key = function, args, *kwargs.items()
        if key not in cached.values:
            cached.values[key] = function(*args, **kwargs)
        result: Result = cached.values[key]
        return result

    return return_cached_result_or_call


@cache
def package_digest() -> str:
    """Returns the SHA-256 over this package's sources, 64 hex digits.

    It and the simulator's digest name every result that is reused. It takes 30 ms, once in a process.
    """
    return sources_digest(PACKAGE)


def sources_digest(package: Path) -> str:
    """Returns the SHA-256 over all Python and TOML sources of a package, 64 hex digits.

    A wheel has the firmware in the folder `lab`. It is not counted here, because images have digests of their own.
    """
    lab = f"{package / 'lab'}{os.sep}"
    sources = (
        path for path in all_files_below(str(package)) if path.endswith((".py", ".toml")) and not path.startswith(lab)
    )
    return hashlib.sha256(listing_of_file_hashes(package, map(Path, sources)).encode()).hexdigest()


def listing_of_file_hashes(base: Path, paths: Iterable[Path]) -> str:
    """Returns a text with a line for each file, in order: its path relative to `base` and its SHA-256. Raises
    OSError."""
    return join_file_hash_rows(file_digest_listing_rows(base, paths))


def file_digest_listing_rows(base: Path, paths: Iterable[Path | str]) -> tuple[ListingRow, ...]:
    """Returns the rows of a file listing (path relative to `base`, and line), in any order. Raises OSError."""
    skip = len(str(base)) + 1
    rows_ = ((tuple(str(path)[skip:].split(os.sep)), path) for path in paths)  # noqa: PTH206 (a third of the time)
    return tuple((parts, f"{'/'.join(parts)} {sha256_of_file(path)}\n") for parts, path in rows_)


def all_files_below(folder: str) -> Iterator[str]:
    """Yields the path of every file in a folder and its subfolders. Links to folders are not followed.
    Raises OSError.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from all_files_below(entry.path)
            elif entry.is_file():
                yield entry.path


def join_file_hash_rows(listing: Iterable[ListingRow]) -> str:
    """Returns the rows of a file listing as a text, in the order of their paths."""
    return "".join(line for _, line in sorted(listing))


def sha256_of_file(path: Path | str) -> str:
    """Returns the SHA-256 of a file's content. Raises OSError."""
    return _cached_sha256(str(path), file_state_stamp(path))


@cache
def _cached_sha256(path: str, _: FileStamp) -> str:
    """Returns the SHA-256 of a file's content. The file's stamp is only a part of the cache's key."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
