"""A store of points: it takes sealed files under a name, and returns them complete.

A run directory is one, the cache of results another. Code that copies points needs nothing else from them and builds no
paths."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from rtoslab.base import StoreError
from rtoslab.images import LOG
from rtoslab.records import SEAL_FILE

_MAY_DIFFER: Final = frozenset({LOG, SEAL_FILE})
"""The files that may differ between equal points: the order of a compiler's output depends on its processes, and the
seal has the digest of it."""


class MeasuredPointStore(Protocol):
    """The interface of a store of points. The name of a point is the store's own: a folder, a key."""

    def contains_point(self, name: str) -> bool:
        """Whether the store contains a point of that name, unchanged or altered since."""
        ...

    def read_point_files(self, name: str) -> dict[str, bytes] | None:
        """Returns a point's files by their names. None if there is none. Raises AlteredFileError for an altered
        point."""
        ...

    def store_point_files(self, name: str, files: Mapping[str, bytes]) -> None:
        """Stores a point's files, all or none of them. Raises StoreError if the disk refuses."""
        ...

    def point_path(self, name: str) -> Path:
        """Returns the path of a point, for messages."""
        ...


def store_point_files(store: MeasuredPointStore, name: str, files: Mapping[str, bytes]) -> bool:
    """Stores a point's files in a store under a name. Returns False if the store has the same already.

    Raises StoreError if it has other files under that name: the same manifest must give the same bytes.
    AlteredFileError if its own were changed.
    """
    known = store.read_point_files(name)
    if known is None:
        store.store_point_files(name, files)
        return True
    others = [item for item in known if item not in _MAY_DIFFER and known[item] != files.get(item)]
    if others:
        raise StoreError(
            f"{store.point_path(name)} was measured again under the same manifest and gave another "
            f"{', '.join(others)}; this is an error in the virtual board, please report it with both run "
            "directories."
        )
    return False
