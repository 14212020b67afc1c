"""A store of points: it returns, complete, the sealed files that it got under a name.

A run directory is one, the cache of results another. A carrier of points needs nothing else from them and builds no
paths."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from rtoslab.base import StoreError
from rtoslab.images import LOG
from rtoslab.records import SEAL_FILE

_MAY_DIFFER: Final = frozenset({LOG, SEAL_FILE})
"""What a compiler prints bears the order in which its processes ended. The seal has a digest of it."""


class PointStore(Protocol):
    """Files of points by name. The name is the store's own: a folder, a key."""

    def has(self, name: str) -> bool:
        """Whether a point of that name was stored, whole or altered since."""
        ...

    def get(self, name: str) -> dict[str, bytes] | None:
        """A point's files by their names. None if there is none. Raises AlteredError for what was not stored so."""
        ...

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        """Stores a point's files, all or none of them. Raises StoreError if the disk refuses."""
        ...

    def place(self, name: str) -> Path:
        """Returns the path of a point, to tell a person."""
        ...


def store_point(store: PointStore, name: str, files: Mapping[str, bytes]) -> bool:
    """Stores a point. False where the store has the same already.

    Raises StoreError where it has another under that name: the same manifest must give the same bytes. AlteredError.
    """
    known = store.get(name)
    if known is None:
        store.put(name, files)
        return True
    others = [item for item in known if item not in _MAY_DIFFER and known[item] != files.get(item)]
    if others:
        raise StoreError(
            f"{store.place(name)} was measured again under the same manifest and gave another {', '.join(others)}; the "
            "virtual board must not do that, please report it with both run directories."
        )
    return False
