"""Stores bytes under a key, in a folder of bounded size. The least recently used ones are removed when a shard is
full.

A stored object contains its digest, is written completely or not at all, and counts as missing if it is incomplete."""

import os
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import exclusive_lock, make_folder, prepend_digest_line, strip_digest_line, write_file_atomically

SHARDS: Final = 64
SHARD_BYTES: Final = 8 << 20
"""512 MB in all: objects of some hundred configurations."""
FILLING_PROCESSES: Final = 8
"""Processes that may fill a shard at the same time. Each lists the shard again when it has used its part of the free
space."""
_FREE_BYTES: Final[dict[Path, int]] = {}
"""The rest of that part, by shard: listing a shard takes longer than writing an object."""


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A disk cache of bytes by key, in a folder of bounded size.
    Keys are hexadecimal digests, perhaps with a suffix.
    """

    folder: Path

    def exclusive_lock(self, key: str) -> AbstractContextManager[None]:
        """Locks a key, so that one process at a time works on its content. Raises StoreError."""
        return exclusive_lock(self._shard_folder(key) / f".{key[:32]}.lock")

    def read_cached_bytes_by_key(self, key: str) -> bytes | None:
        """Returns the bytes stored under a key. None if they are missing or incomplete."""
        path = self._shard_folder(key) / key
        try:
            content = strip_digest_line(path.read_bytes())
            if content is not None:
                os.utime(path)
        except OSError:
            return None
        return content

    def store_bytes_under_key(self, key: str, content: bytes) -> None:
        """Stores bytes under a key. Raises StoreError."""
        shard = self._shard_folder(key)
        make_folder(shard)
        whole = prepend_digest_line(content)
        write_file_atomically(shard / key, whole, "an object")
        _FREE_BYTES[shard] = _FREE_BYTES.get(shard, 0) - len(whole)
        if _FREE_BYTES[shard] < 0:
            _FREE_BYTES[shard] = _remove_least_recent_files(shard) // FILLING_PROCESSES

    def _shard_folder(self, key: str) -> Path:
        """Returns the subfolder in which the content of a key is stored."""
        return self.folder / f"{int(key[:8], 16) % SHARDS:02d}"


def _remove_least_recent_files(shard: Path) -> int:
    """Removes the least recently used files from a subfolder of the cache if it is full. Returns how many bytes are
    free.

    Another process may do the same.
    """
    held: list[tuple[int, int, str]] = []
    with suppress(OSError), os.scandir(shard) as entries:
        for entry in entries:
            with suppress(OSError):
                if not entry.name.endswith(".lock"):  # also what a killed process left half written
                    status = entry.stat()
                    held.append((status.st_mtime_ns, status.st_size, entry.path))
    excess = sum(size for _, size, _ in held) - SHARD_BYTES
    for _, size, path in sorted(held):
        if excess <= 0:
            break
        with suppress(OSError):
            Path(path).unlink()
        excess -= size
    return max(0, -excess)
