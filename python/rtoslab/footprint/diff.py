"""Two images side by side: which symbols and object files came, went, grew or shrank."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rtoslab.footprint.attribute import KINDS, ImageFootprint, OwnedImageBytes


@dataclass(frozen=True, slots=True)
class SymbolSizeChange:
    """The bytes of one owner and kind in two images. Static functions of one name in an object file are added up."""

    object: str
    symbol: str
    kind: str
    before: int
    after: int

    @property
    def added_bytes(self) -> int:
        """Returns by how many bytes the size grew. Negative if it shrank."""
        return self.after - self.before


@dataclass(frozen=True)
class ImageDifference:
    """The differences in size between two images."""

    before: ImageFootprint
    after: ImageFootprint
    changes: tuple[SymbolSizeChange, ...]
    """Only owners whose bytes differ, the largest difference first. They add up to the difference of the images."""

    def added_bytes(self, kind: str) -> int:
        """Returns by how many bytes of one kind (such as text) the second image is larger. Negative if it is
        smaller."""
        return self.after.total_bytes(kind) - self.before.total_bytes(kind)

    def size_changes_by_object_file(self) -> tuple[SymbolSizeChange, ...]:
        """Returns the changes in size of each object file and kind, the largest first."""
        return _size_changes_by_symbol_and_object(
            _byte_count_by_symbol_owner(self.before.items, symbols=False),
            _byte_count_by_symbol_owner(self.after.items, symbols=False),
        )


def compare_footprints(before: ImageFootprint, after: ImageFootprint) -> ImageDifference:
    """Returns the differences in size between two images, by symbol and object file."""
    return ImageDifference(
        before,
        after,
        _size_changes_by_symbol_and_object(
            _byte_count_by_symbol_owner(before.items), _byte_count_by_symbol_owner(after.items)
        ),
    )


_Owner = tuple[str, str, str]


def _byte_count_by_symbol_owner(items: Iterable[OwnedImageBytes], *, symbols: bool = True) -> Counter[_Owner]:
    """Returns the number of bytes by (object file, symbol, kind). `symbols`: False to add up all symbols of an object
    file."""
    owners: Counter[_Owner] = Counter()
    for item in items:
        owners[item.object or item.symbol, item.symbol if symbols else "", item.kind] += item.size
    return owners


def _size_changes_by_symbol_and_object(before: Counter[_Owner], after: Counter[_Owner]) -> tuple[SymbolSizeChange, ...]:
    """Returns the owners (object file, symbol, kind) whose sizes differ, the largest changes first."""
    changed = [SymbolSizeChange(*owner, before[owner], after[owner]) for owner in before.keys() | after.keys()]
    changed = [change for change in changed if change.added_bytes]
    return tuple(
        sorted(
            changed,
            key=lambda change: (-abs(change.added_bytes), KINDS.index(change.kind), change.object, change.symbol),
        )
    )
