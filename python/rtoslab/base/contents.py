"""What source files hold, read once and again only where a file changed: a sweep asks for the same ones at each point.

A file counts as unchanged while its inode, size and times are. The trap: two writes of equal length within one step of
the file system's clock leave the same times; so a file written just now is read each time.
"""

import hashlib
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

Stamp = tuple[int, ...]
CLOCK_STEP_NS = 50_000_000
"""More than any file system's that is met; FAT's are no place for a checkout."""


def stamp(path: Path) -> Stamp:
    """What changes when a file does. Raises OSError."""
    found, now = path.stat(), time.time_ns()
    just_now = (now,) if now - found.st_mtime_ns < CLOCK_STEP_NS else ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, *just_now


def listing(base: Path, paths: Iterable[Path]) -> str:
    """A line for each file, in order: its path from `base` on, and the SHA-256 of its content. Raises OSError."""
    skip = len(base.as_posix()) + 1
    return "".join(f"{path.as_posix()[skip:]} {sha256_of(path)}\n" for path in sorted(paths))


def sha256_of(path: Path) -> str:
    """Of a file's content. Raises OSError."""
    return _sha256(path, stamp(path))


@cache
def _sha256(path: Path, _: Stamp) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
