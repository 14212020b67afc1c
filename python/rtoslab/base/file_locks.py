"""One process at a time: a lock file that a killed holder frees, and that does not stay behind."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rtoslab.base.errors import disk_error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Holds the lock of that name; its folder is made. Raises StoreError if the disk refuses."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _lock(path)
    except OSError as cause:
        raise disk_error("lock", path, cause) from None
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _lock(path: Path) -> int:
    """The locked file's descriptor. The holder before removed the name: only the file that still bears it counts."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        os.close(descriptor)
