"""Sums over the calls of one function: exact distributions in little memory, whatever their number."""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.instruments.records import ENTERED_BY_JUMP, INSIDE_ITSELF, LEFT, LOST, RETURNED, WENT_ON

MEASURES: Final = ("inclusive", "undisturbed", "exclusive", "interrupts", "other tasks")
"""Cycles of a call: from its first instruction to its return; of these without what interrupts and other tasks took;
of those without functions that it called; what interrupts took; what other tasks took."""


COUNTED: Final = {"inclusive": "instructions", "exclusive": "own_instructions"}
"""Instructions of a call: those that its thread or handler completed in it; of these without functions that it called.
What interrupts and other tasks executed is in neither."""


@dataclass(frozen=True, slots=True)
class CallStatistics:
    """Minimum, median, 99th percentile, maximum and total of the cycles or instructions of a function's calls."""

    minimum: int
    median: float
    p99: int
    """The least that 99 of 100 do not exceed."""
    maximum: int
    total: int


@dataclass(slots=True)
class ValueDistribution:
    """Counts how often each value came, for exact statistics of any number of values."""

    counts: dict[int, int] = field(default_factory=dict)

    def add_values_to_counts(self, values: NDArray[np.uint64]) -> None:
        """Adds an array of values to the counts."""
        for value, count in zip(*(item.tolist() for item in np.unique(values, return_counts=True)), strict=True):
            self.counts[value] = self.counts.get(value, 0) + count

    def value_statistics(self) -> CallStatistics | None:
        """Returns minimum, median, 99th percentile, maximum and total of the values. None for no values."""
        if not self.counts:
            return None
        values = sorted(self.counts)
        number = sum(self.counts.values())
        total = sum(value * count for value, count in self.counts.items())
        ranks = np.cumsum([self.counts[value] for value in values])

        def value_at_rank(rank: int) -> int:
            """Returns the value with this rank among all counted values, the smallest first, from 1."""
            return values[int(np.searchsorted(ranks, rank))]

        median = (value_at_rank((number + 1) // 2) + value_at_rank(number // 2 + 1)) / 2
        return CallStatistics(values[0], median, value_at_rank(math.ceil(0.99 * number)), values[-1], total)


@dataclass(slots=True)
class FunctionCallTally:
    """Counts and distributions over all measured calls of one function, with its longest calls."""

    calls: int = 0
    """That began in the stretch and returned."""
    recursive: int = 0
    """Of these: inside another call of the same function."""
    entered_by_jump: int = 0
    """Of these: by a tail call."""
    went_on: int = 0
    """Of these: ended as another function, by a tail call."""
    left: int = 0
    lost: int = 0
    begun_before: int = 0
    """Ended in the stretch, but began before it."""
    interruptions_most: int = 0
    stack_bytes: int | None = None
    cycles: dict[str, ValueDistribution] = field(
        default_factory=lambda: {name: ValueDistribution() for name in MEASURES}
    )
    instructions: dict[str, ValueDistribution] = field(
        default_factory=lambda: {name: ValueDistribution() for name in COUNTED}
    )
    greatest: dict[str, Any] = field(default_factory=dict)
    """Keyed by measure (inclusive, undisturbed): the record of its first greatest call."""

    def add_ended_calls(self, ended: NDArray[np.void], stretch_start: int) -> None:
        """Adds packed records of calls that have ended, in the order of their ends. Calls that began before cycle
        `stretch_start` are only counted."""
        self.begun_before += int((ended["start"] < stretch_start).sum())
        ended = ended[ended["start"] >= stretch_start]
        self.left += int((ended["end"] == LEFT).sum())
        self.lost += int((ended["end"] == LOST).sum())
        mine = ended[ended["end"] == RETURNED]
        if not len(mine):
            return
        self.calls += len(mine)
        for name, flag in (("recursive", INSIDE_ITSELF), ("entered_by_jump", ENTERED_BY_JUMP), ("went_on", WENT_ON)):
            setattr(self, name, getattr(self, name) + int((mine["flags"] & flag != 0).sum()))
        self.interruptions_most = max(self.interruptions_most, int(mine["interruptions"].max()))
        self.stack_bytes = max(self.stack_bytes or 0, int(mine["stack"].max()))
        for name, column in COUNTED.items():
            self.instructions[name].add_values_to_counts(mine[column])
        for name, values in call_cycles_by_metric(mine).items():
            self.cycles[name].add_values_to_counts(values)
            if name in {"inclusive", "undisturbed"}:
                self._store_longest_call_by_measure(name, mine, values)

    def _store_longest_call_by_measure(self, name: str, mine: NDArray[np.void], values: NDArray[np.uint64]) -> None:
        """Stores the first call with the greatest value of a measure (`name`), unless an earlier chunk had one as
        great."""
        greatest = mine[int(np.argmax(values))]
        before = self.greatest.get(name)
        if before is None or int(values.max()) > int(call_cycles_by_metric(before)[name]):
            self.greatest[name] = greatest.copy()


def call_cycles_by_metric(calls: Any) -> dict[str, Any]:
    """Returns the cycles of a measured call by measure (inclusive, undisturbed and so on), from its packed record or an
    array of records."""
    inclusive = calls["until"] - calls["start"]
    undisturbed = inclusive - calls["interrupts"] - calls["away"]
    values = (inclusive, undisturbed, calls["own"], calls["interrupts"], calls["away"])
    return dict(zip(MEASURES, values, strict=True))
