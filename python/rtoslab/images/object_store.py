"""Bytes kept under a key, in a folder of bounded size: what was not used for longest goes when a shelf is full.

A stored object contains its digest, is written completely or not at all, and counts as missing if it is incomplete."""

import os
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import exclusive_lock, make_folder, prepend_digest, strip_digest, write_whole

SHARDS: Final = 64
SHARD_BYTES: Final = 8 << 20
"""512 MB in all: objects of some hundred configurations."""
PROCESSES: Final = 8
"""That may fill a shelf side by side: each looks at it again when it has put its part of what was free."""
_ROOM: Final[dict[Path, int]] = {}
"""What is left of that part, by shelf: to look at a shelf takes longer than to put something on it."""


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The folder. Keys are hexadecimal digests, with an ending perhaps."""

    folder: Path

    def exclusive_lock(self, key: str) -> AbstractContextManager[None]:
        """One process at a time. Raises StoreError."""
        return exclusive_lock(self._shard(key) / f".{key[:32]}.lock")

    def get(self, key: str) -> bytes | None:
        """Returns the stored bytes. None if they are missing or incomplete."""
        path = self._shard(key) / key
        try:
            content = strip_digest(path.read_bytes())
            if content is not None:
                os.utime(path)
        except OSError:
            return None
        return content

    def put(self, key: str, content: bytes) -> None:
        """Raises StoreError."""
        shard = self._shard(key)
        make_folder(shard)
        whole = prepend_digest(content)
        write_whole(shard / key, whole, "an object")
        _ROOM[shard] = _ROOM.get(shard, 0) - len(whole)
        if _ROOM[shard] < 0:
            _ROOM[shard] = _make_room(shard) // PROCESSES

    def _shard(self, key: str) -> Path:
        return self.folder / f"{int(key[:8], 16) % SHARDS:02d}"


def _make_room(shard: Path) -> int:
    """How many bytes more there is room for. Another process may do the same meanwhile."""
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
