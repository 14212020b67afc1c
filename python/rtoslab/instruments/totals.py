"""Sums over a profile: by core, function, call path, source line, class."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from rtoslab.instruments.profiler import PathCycles, Profile, function_of
from rtoslab.instruments.records import WAYS

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class Sum:
    """Cycles by `records.WAYS`, instructions, calls."""

    cycles: list[int] = field(default_factory=lambda: [0] * len(WAYS))
    executions: int = 0
    calls: int = 0

    @property
    def total(self) -> int:
        """All cycles."""
        return sum(self.cycles)

    def add(self, item: PathCycles) -> None:
        """Counts one entry in."""
        for way, cycles in enumerate(item.cycles):
            self.cycles[way] += cycles
        self.executions += item.executions
        self.calls += item.calls


def sums(spent: Iterable[PathCycles], key: Callable[[PathCycles], Key]) -> dict[Key, Sum]:
    """Returns the sums by key, most cycles first."""
    by_key: dict[Key, Sum] = defaultdict(Sum)
    for entry in spent:
        by_key[key(entry)].add(entry)
    return dict(sorted(by_key.items(), key=lambda item: (-item[1].total, str(item[0]))))


def by_function(profile: Profile) -> dict[tuple[int, str], Sum]:
    """(core, function) -> what its own instructions cost, those inlined into it with it."""
    return sums(profile.spent, lambda spent: (spent.core, function_of(spent.stack)))


def by_class(profile: Profile) -> dict[str, Sum]:
    """The kernel's classes of functions, `library` and `application`. An image without a kernel has only `image`."""
    return sums(profile.spent, lambda spent: profile.classes.get(function_of(spent.stack), "image"))


def with_callees(profile: Profile) -> Counter[tuple[int, str]]:
    """(core, function) -> cycles of it and of all it called, each cycle once however it recurs."""
    counts: Counter[tuple[int, str]] = Counter()
    for spent in profile.spent:
        for name in {name.partition(" [")[0] for name in spent.stack}:
            counts[spent.core, name] += spent.total
    return counts
