"""The share of builds in which a statement holds, the change that turns it most often, and the fewest changes that
turn it.

A build in one placement of its code is one image of each kernel: one observation. Placements of one build are drawn
independently, so a share over them has an interval. Builds of other flags are chosen and not drawn, so a share over
them is a count and has none. The observations of Mytkowicz et al. (ASPLOS 2009) and of Curtsinger and Berger (ASPLOS
2013) are the reason to look at all: the place of code alone may decide which of two programs is the quicker."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Final

from rtoslab.analyses import ClaimVerdict, StatementResult, combine_results
from rtoslab.stability.builds import Build, Factor, base_build

PLACEMENT: Final = "placement"
_Z95: Final = 1.959964
"""95 % of a normal distribution are within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Share:
    """How often something holds."""

    held: int
    turned: int
    tied: int

    @property
    def observation_count(self) -> int:
        """All observations."""
        return self.held + self.turned + self.tied

    @property
    def part(self) -> float:
        """Held, of all. 0 without observations."""
        return self.held / self.observation_count if self.observation_count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share by Wilson (JASA 22, 1927), for independent observations."""
        n = self.observation_count
        if n == 0:
            return 0.0, 1.0
        centre = (self.part + _Z95**2 / (2 * n)) / (1 + _Z95**2 / n)
        half = _Z95 / (1 + _Z95**2 / n) * sqrt(self.part * (1 - self.part) / n + _Z95**2 / (4 * n * n))
        return max(0.0, centre - half), min(1.0, centre + half)


def share_of(outcomes: Sequence[StatementResult]) -> Share:
    """Returns the share of verdicts."""
    counts = Counter(outcomes)
    return Share(counts["same"], counts["different"], counts["tie"])


@dataclass(frozen=True, slots=True)
class Turn:
    """How often a change turns the verdict: of all pairs of observations that are alike in everything else."""

    change: str
    """`-O3`. `placement`: another one of the same build."""
    turned: int
    pairs: int

    @property
    def part(self) -> float:
        """Turned, of all pairs."""
        return self.turned / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class Stability:
    """One statement over all builds."""

    name: str
    by_build: Mapping[Build, tuple[StatementResult, ...]]
    """The verdict in each placement. Builds in which it could not be computed are left out."""
    factors: tuple[Factor, ...]

    @property
    def whole(self) -> Share:
        """Over all builds and placements: a count, no estimate."""
        return share_of([outcome for outcomes_by_place in self.by_build.values() for outcome in outcomes_by_place])

    @property
    def base(self) -> Share | None:
        """Over the placements of the suites' own build. None if it could not be computed there."""
        outcomes = self.by_build.get(base_build(self.factors))
        return None if outcomes is None else share_of(outcomes)

    @property
    def first(self) -> StatementResult | None:
        """The verdict of the suites' own build in the linker's own order."""
        outcomes = self.by_build.get(base_build(self.factors))
        return None if outcomes is None else outcomes[0]

    def turns(self) -> list[Turn]:
        """Returns how often each change turns the verdict, the most frequent first."""
        turns = [self._placement(), *(self._change(*change) for change in self._changes())]
        return sorted((turn for turn in turns if turn.pairs), key=lambda turn: -turn.part)

    def fewest(self) -> tuple[str, ...] | None:
        """Returns the smallest set of changes to the suites' own build that turns the verdict.

        Another placement counts as one change. None: nothing that was measured turns it. A tie does not turn it.
        """
        opposite = {"same": "different", "different": "same"}.get(self.first or "")
        base = base_build(self.factors)
        sets = [
            (*build.changes(base, self.factors), *((f"{PLACEMENT} {number}",) if number else ()))
            for build, outcomes in self.by_build.items()
            for number, item in enumerate(outcomes)
            if item == opposite
        ]
        return min(sets, key=lambda pair: (len(pair), pair), default=None)

    def _placement(self) -> Turn:
        pairs = [pair for outcomes in self.by_build.values() for pair in combinations(outcomes, 2)]
        return Turn(PLACEMENT, sum(one != other for one, other in pairs), len(pairs))

    def _changes(self) -> Iterator[tuple[int, str]]:
        for number, factor in enumerate(self.factors):
            for level in factor.levels[1:]:
                yield number, level

    def _change(self, number: int, level: str) -> Turn:
        usual = self.factors[number].levels[0]
        turned = pairs = 0
        for build, outcomes in self.by_build.items():
            if build.levels[number] != level:
                continue
            levels = (*build.levels[:number], usual, *build.levels[number + 1 :])
            before = self.by_build.get(Build(levels), ())
            matched = list(_match(before, outcomes))
            pairs += len(matched)
            turned += sum(one != other for one, other in matched)
        return Turn(self.factors[number].words(level), turned, pairs)


def _match(
    one: Sequence[StatementResult], other: Sequence[StatementResult]
) -> Iterator[tuple[StatementResult, StatementResult]]:
    """Verdicts in placements of the same number. A verdict in a single placement is matched with each of the others."""
    if not one or not other:
        return
    for number in range(max(len(one), len(other))):
        yield one[min(number, len(one) - 1)], other[min(number, len(other) - 1)]


def over_cases(verdict: ClaimVerdict) -> tuple[StatementResult, ...]:
    """Returns a statement's verdict in each placement: the same where all of its cases hold, different where one does
    not. Cases that could not be computed do not count. Empty if none could be."""
    cases = [case_verdict.in_placements for case_verdict in verdict.cases if case_verdict.in_placements]
    count = max((len(case) for case in cases), default=0)
    return tuple(combine_results([case[min(number, len(case) - 1)] for case in cases]) for number in range(count))
