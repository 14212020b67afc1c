"""Sums over a profile: by core, function, call path, source line, class."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from rtoslab.instruments.profiler import CallPathCycles, Profile, innermost_function
from rtoslab.instruments.records import WAYS

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class CycleUseTotals:
    """Sums of cycles by what they were spent on, and of instructions and calls."""

    cycles: list[int] = field(default_factory=lambda: [0] * len(WAYS))
    executions: int = 0
    calls: int = 0

    @property
    def total_cycles(self) -> int:
        """Returns the sum of the cycles, whatever they were spent on."""
        return sum(self.cycles)

    def add_call_path_cycles(self, item: CallPathCycles) -> None:
        """Adds the cycles of one entry of a profile."""
        for way, cycles in enumerate(item.cycles):
            self.cycles[way] += cycles
        self.executions += item.executions
        self.calls += item.calls


def sum_profile_cycles_by_key(
    spent: Iterable[CallPathCycles], key: Callable[[CallPathCycles], Key]
) -> dict[Key, CycleUseTotals]:
    """Returns the sums of a profile's entries that have the same `key`, most cycles first."""
    by_key: dict[Key, CycleUseTotals] = defaultdict(CycleUseTotals)
    for entry in spent:
        by_key[key(entry)].add_call_path_cycles(entry)
    return dict(sorted(by_key.items(), key=lambda item: (-item[1].total_cycles, str(item[0]))))


def cycle_sums_by_function(profile: Profile) -> dict[tuple[int, str], CycleUseTotals]:
    """Returns the cycles of each function's own instructions, by (core, function)."""
    return sum_profile_cycles_by_key(profile.spent, lambda spent: (spent.core, innermost_function(spent.stack)))


def cycle_sums_by_function_class(profile: Profile) -> dict[str, CycleUseTotals]:
    """Returns the cycles by class of functions: the kernel's classes, `library` and `application`. Without a known
    kernel the only class is `image`."""
    return sum_profile_cycles_by_key(
        profile.spent, lambda spent: profile.classes.get(innermost_function(spent.stack), "image")
    )


def inclusive_cycles(profile: Profile) -> Counter[tuple[int, str]]:
    """Returns the cycles of each function with those of all functions that it called, by (core, function). Recursion
    counts each cycle once."""
    counts: Counter[tuple[int, str]] = Counter()
    for spent in profile.spent:
        for name in {name.partition(" [")[0] for name in spent.stack}:
            counts[spent.core, name] += spent.total_cycles
    return counts
