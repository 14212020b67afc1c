"""Reads the content of source files once, and again only after a change. A sweep needs the same ones at each point.

A file counts as unchanged while its inode, size and times are. The trap: two writes of equal length within one step of
the file system's clock leave the same times; so a file written just now is read each time.

To ask whether hundreds of files changed takes longer than all else that names an image. So a plan of a thousand points
takes `one_look` at them."""

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

Stamp = tuple[int, ...]
Row = tuple[tuple[str, ...], str]
"""A file's path from a folder on, and its line in a listing."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(slots=True)
class _Look:
    seen: dict[Any, Any] = field(default_factory=dict)
    since_s: float = field(default_factory=time.monotonic)


_LOOK: Final[ContextVar[_Look | None]] = ContextVar("look", default=None)
"""The one that lasts."""
PACKAGE: Final = Path(__file__).parents[1]
CLOCK_STEP_NS = 50_000_000
"""More than any file system's that is met. FAT's are no place for a checkout."""


def stamp(path: Path | str) -> Stamp:
    """Returns what changes when a file does. Raises OSError."""
    status, now = os.stat(path), time.time_ns()  # noqa: PTH116 (a third of the time)
    just_now = (now,) if now - status.st_mtime_ns < CLOCK_STEP_NS else ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, *just_now


@contextmanager
def one_look() -> Iterator[None]:
    """While the block lasts, what is `looked_at` is asked once for the same, unless `look_again` says otherwise."""
    if _LOOK.get() is not None:
        yield
        return
    before = _LOOK.set(_Look())
    try:
        yield
    finally:
        _LOOK.reset(before)


def look_again(older_than_s: float = 0.0) -> None:
    """Forgets the earlier checks. Call it after time in which files may have changed."""
    look = _LOOK.get()
    if look is not None and time.monotonic() - look.since_s >= older_than_s:
        look.seen, look.since_s = {}, time.monotonic()


def memoize_by_contents(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Caches a function that reads files and takes hashable arguments, for as long as `one_look` lasts."""

    @wraps(function)
    def look_up(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        look = _LOOK.get()
        if look is None:
            return function(*args, **kwargs)
        key = function, args, *kwargs.items()
        if key not in look.seen:
            look.seen[key] = function(*args, **kwargs)
        result: Result = look.seen[key]
        return result

    return look_up


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
        path for path in files_below(str(package)) if path.endswith((".py", ".toml")) and not path.startswith(lab)
    )
    return hashlib.sha256(listing(package, map(Path, sources)).encode()).hexdigest()


def listing(base: Path, paths: Iterable[Path]) -> str:
    """A line for each file, in order: its path from `base` on, and the SHA-256 of its content. Raises OSError."""
    return join_listing(rows(base, paths))


def rows(base: Path, paths: Iterable[Path | str]) -> tuple[Row, ...]:
    """Lines of a listing, in no order. Raises OSError."""
    skip = len(str(base)) + 1
    rows_ = ((tuple(str(path)[skip:].split(os.sep)), path) for path in paths)  # noqa: PTH206 (a third of the time)
    return tuple((parts, f"{'/'.join(parts)} {sha256_of(path)}\n") for parts, path in rows_)


def files_below(folder: str) -> Iterator[str]:
    """Every file, but none by way of a link to a folder. Raises OSError."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from files_below(entry.path)
            elif entry.is_file():
                yield entry.path


def join_listing(listing: Iterable[Row]) -> str:
    """The listing of these lines."""
    return "".join(line for _, line in sorted(listing))


def sha256_of(path: Path | str) -> str:
    """Returns the digest of a file's content. Raises OSError."""
    return _sha256(str(path), stamp(path))


@cache
def _sha256(path: str, _: Stamp) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
