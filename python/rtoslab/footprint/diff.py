"""Two images side by side: which symbols and object files came, went, grew or shrank."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rtoslab.footprint.attribute import KINDS, Footprint, Item


@dataclass(frozen=True, slots=True)
class Change:
    """One owner's bytes of one kind, before and after. A static function may bear a name twice in an object file."""

    object: str
    symbol: str
    kind: str
    before: int
    after: int

    @property
    def change(self) -> int:
        """Bytes gained. Negative: lost."""
        return self.after - self.before


@dataclass(frozen=True)
class Difference:
    """`after` less `before`."""

    before: Footprint
    after: Footprint
    changes: tuple[Change, ...]
    """Only owners whose bytes differ, the largest difference first. They add up to the difference of the images."""

    def total(self, kind: str) -> int:
        """Bytes of that kind gained."""
        return self.after.total(kind) - self.before.total(kind)

    def by_object(self) -> tuple[Change, ...]:
        """Object files whose bytes of a kind differ."""
        return _changes(_owners(self.before.items, symbols=False), _owners(self.after.items, symbols=False))


def difference(before: Footprint, after: Footprint) -> Difference:
    """Returns the difference by symbol."""
    return Difference(before, after, _changes(_owners(before.items), _owners(after.items)))


_Owner = tuple[str, str, str]


def _owners(items: Iterable[Item], *, symbols: bool = True) -> Counter[_Owner]:
    owners: Counter[_Owner] = Counter()
    for item in items:
        owners[item.object or item.symbol, item.symbol if symbols else "", item.kind] += item.size
    return owners


def _changes(before: Counter[_Owner], after: Counter[_Owner]) -> tuple[Change, ...]:
    changed = [Change(*owner, before[owner], after[owner]) for owner in before.keys() | after.keys()]
    changed = [change for change in changed if change.change]
    return tuple(
        sorted(
            changed, key=lambda change: (-abs(change.change), KINDS.index(change.kind), change.object, change.symbol)
        )
    )
