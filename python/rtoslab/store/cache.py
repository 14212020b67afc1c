"""Stores finished points by a hash of everything that can change them, so that none is measured twice on one machine.

    <build>/results/<first two digits>/<key>.point    a line with key and digest, then the files of one stored point,
                                                      as they are in a run directory, as a zip archive

An entry must not contain the result of an older simulator, proof rule or image. So the key is a hash of the whole
manifest, of the point's axes, of the simulator as it was built here and of the code that evaluates a run. An entry is
written beside its place, synced and renamed. One that is not byte for byte what was written is refused.
"""

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rtoslab.base import (
    AlteredFileError,
    cached_results_folder,
    exclusive_lock,
    make_disk_error,
    package_digest,
    to_canonical_json,
)
from rtoslab.intake import CACHED_BYTES, read_bytes
from rtoslab.results import PointId
from rtoslab.targets import simulator_fingerprint

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every file in an entry: the same point gives the same bytes."""


class ResultCache:
    """The cache of finished points in one folder. Any number of processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open_cache_of_checkout(cls, root: Path) -> "ResultCache":
        """Returns the cache of a checkout. RTOSLAB_CACHE names another folder, which several checkouts may share."""
        return cls(cached_results_folder(root))

    def contains_point(self, key: str) -> bool:
        """Whether the cache contains a point under the key."""
        return self.point_path(key).exists()

    def read_point_files(self, key: str) -> dict[str, bytes] | None:
        """Returns the files of the point stored under the key. None if there are none.

        Raises AlteredFileError if they were changed after they were stored.
        """
        path = self.point_path(key)
        if not path.exists():
            return None
        content = read_bytes(path, CACHED_BYTES, "the cached result", AlteredFileError)
        head, _, packed = content.partition(b"\n")
        if head != _cached_file_header(key, packed):
            raise AlteredFileError(f"{path} was changed after it was stored.")
        with zipfile.ZipFile(io.BytesIO(packed)) as stored:
            return {name: stored.read(name) for name in stored.namelist()}

    def store_point_files(self, key: str, files: Mapping[str, bytes]) -> None:
        """Stores the files of a point under the key, in place of earlier ones.
        Raises StoreError if the disk refuses it. The earlier entry then stays.
        """
        path = self.point_path(key)
        work: str | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, work = tempfile.mkstemp(prefix=f".{key[:8]}-", dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                packed = _files_as_zip(files)
                file.write(_cached_file_header(key, packed) + b"\n" + packed)
                file.flush()
                os.fsync(file.fileno())
            Path(work).replace(path)
        except OSError as cause:
            if work is not None:
                Path(work).unlink(missing_ok=True)
            raise make_disk_error("keep the result in the cache", path, cause) from None

    def remove_point(self, key: str) -> None:
        """Removes the point stored under the key. Raises StoreError if the disk refuses it."""
        try:
            self.point_path(key).unlink(missing_ok=True)
        except OSError as cause:
            raise make_disk_error("remove the damaged result", self.point_path(key), cause) from None

    def exclusive_lock(self, key: str) -> AbstractContextManager[None]:
        """Locks a key, so that one process at a time measures its point. The process that waited finds the point
        stored."""
        return exclusive_lock(self.point_path(key).with_suffix(".lock"))

    def point_path(self, key: str) -> Path:
        """Returns the path of the file in which the point of a key is stored."""
        return self.folder / key[:2] / f"{key}.point"


def measurement_result_cache_key(manifest: Mapping[str, Any], identity: PointId) -> str:
    """Returns the key under which a point's result is cached: a SHA-256 (64 hex digits) of everything that can change
    it."""
    axes = identity.model_dump(mode="json")
    everything = [dict(manifest), axes, simulator_fingerprint(), package_digest()]
    return hashlib.sha256(to_canonical_json(everything).encode()).hexdigest()


def _cached_file_header(key: str, packed: bytes) -> bytes:
    """Returns the first line of a cached file: its key, and the digest of the rest. `packed`: this rest."""
    return f"rtoslab point {key} {hashlib.sha256(packed).hexdigest()}".encode()


def _files_as_zip(files: Mapping[str, bytes]) -> bytes:
    """Returns the files as the bytes of a zip file. The same files give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as stored:
        for name, content in sorted(files.items()):
            stored.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
