"""One process at a time: a lock file that a killed holder frees, and that does not stay behind (`filelock`)."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from rtoslab.base.errors import make_disk_error

_ASK_AGAIN_S: Final = 0.01


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Waits until no other process has the lock file, and holds it while the block runs. Raises StoreError if the disk
    refuses."""
    lock = FileLock(path, poll_interval=_ASK_AGAIN_S)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as cause:
        raise make_disk_error("lock", path, cause) from None
    try:
        yield
    finally:
        _remove_and_release_lock_file(lock, path)


@contextmanager
def try_exclusive_lock(path: Path) -> Iterator[bool]:
    """Tries to take the lock file without waiting, and yields whether the block holds it. Raises StoreError."""
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    except OSError as cause:
        raise make_disk_error("lock", path, cause) from None
    try:
        yield True
    finally:
        _remove_and_release_lock_file(lock, path)


def _remove_and_release_lock_file(lock: FileLock, path: Path) -> None:
    """Removes a lock file, then releases the lock. A process that waits for the removed file tries again with a new
    one."""
    with suppress(OSError):  # Windows removes no file that is open
        path.unlink()
    lock.release()
