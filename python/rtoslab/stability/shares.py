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

from rtoslab.analyses import ClaimVerdict, StatementResult, combine_paper_statement_results
from rtoslab.stability.builds import BuildVariationFactor, KernelBuild, kernel_build_of_paper_suites

PLACEMENT: Final = "placement"
_Z95: Final = 1.959964
"""95 % of a normal distribution are within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """The number of builds and placements in which a paper's statement holds, is reversed, or is a tie."""

    held: int
    turned: int
    tied: int

    @property
    def statement_observation_count(self) -> int:
        """Returns the number of observations of the statement: one for each placement of each build."""
        return self.held + self.turned + self.tied

    @property
    def confirming_observation_fraction(self) -> float:
        """Returns the share of observations in which the statement holds. 0 without observations."""
        return self.held / self.statement_observation_count if self.statement_observation_count else 0.0

    @property
    def wilson_interval(self) -> tuple[float, float]:
        """Returns the 95 % interval of the share by Wilson (JASA 22, 1927), for independent observations."""
        n = self.statement_observation_count
        if n == 0:
            return 0.0, 1.0
        centre = (self.confirming_observation_fraction + _Z95**2 / (2 * n)) / (1 + _Z95**2 / n)
        half = (
            _Z95
            / (1 + _Z95**2 / n)
            * sqrt(
                self.confirming_observation_fraction * (1 - self.confirming_observation_fraction) / n
                + _Z95**2 / (4 * n * n)
            )
        )
        return max(0.0, centre - half), min(1.0, centre + half)


def count_verdicts(outcomes: Sequence[StatementResult]) -> VerdictCounts:
    """Returns how often a paper's statement holds, is reversed, or is a tie."""
    counts = Counter(outcomes)
    return VerdictCounts(counts["same"], counts["different"], counts["tie"])


@dataclass(frozen=True, slots=True)
class VerdictReversal:
    """How often one change of the build reverses the verdict on a statement, all else being equal."""

    change: str
    """The text of the change, such as `-O3`. `placement`: another placement of the same build."""
    turned: int
    pairs: int

    @property
    def reversed_build_pair_fraction(self) -> float:
        """Returns the share of pairs of builds in which the change reverses the verdict, from 0 to 1."""
        return self.turned / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class StatementStability:
    """The verdicts on one statement of a paper in all builds and placements."""

    name: str
    by_build: Mapping[KernelBuild, tuple[StatementResult, ...]]
    """The verdict in each placement of each build. Builds in which it could not be computed are left out."""
    factors: tuple[BuildVariationFactor, ...]

    @property
    def verdict_counts_over_all_builds(self) -> VerdictCounts:
        """Returns how often the statement holds over all builds and placements."""
        return count_verdicts(
            [outcome for outcomes_by_place in self.by_build.values() for outcome in outcomes_by_place]
        )

    @property
    def verdict_counts_of_paper_suite_build(self) -> VerdictCounts | None:
        """Returns how often the statement holds over the placements of the build that the paper's suites use. None if
        it was not computed there."""
        outcomes = self.by_build.get(kernel_build_of_paper_suites(self.factors))
        return None if outcomes is None else count_verdicts(outcomes)

    @property
    def statement_verdict_in_suite_build(self) -> StatementResult | None:
        """Returns the verdict in the build that the paper's suites use, in the linker's own order. None if it was not
        computed there."""
        outcomes = self.by_build.get(kernel_build_of_paper_suites(self.factors))
        return None if outcomes is None else outcomes[0]

    def verdict_reversals(self) -> list[VerdictReversal]:
        """Returns how often each change of the build reverses the verdict, the most frequent first."""
        turns = [
            self._claim_reversal_by_code_placement(),
            *(
                self._verdict_reversal_by_build_factor_level(*change)
                for change in self._factor_levels_unused_by_paper_suites()
            ),
        ]
        return sorted((turn for turn in turns if turn.pairs), key=lambda turn: -turn.reversed_build_pair_fraction)

    def fewest_verdict_reversing_changes(self) -> tuple[str, ...] | None:
        """Returns the smallest set of changes to the suites' own build that reverses the verdict. None if nothing that
        was measured reverses it. Another placement counts as one change, and a tie is no reversal."""
        opposite = {"same": "different", "different": "same"}.get(self.statement_verdict_in_suite_build or "")
        base = kernel_build_of_paper_suites(self.factors)
        sets = [
            (*build.differences_from_base_build(base, self.factors), *((f"{PLACEMENT} {number}",) if number else ()))
            for build, outcomes in self.by_build.items()
            for number, item in enumerate(outcomes)
            if item == opposite
        ]
        return min(sets, key=lambda pair: (len(pair), pair), default=None)

    def _claim_reversal_by_code_placement(self) -> VerdictReversal:
        """Returns how often another placement of the same build reverses the verdict."""
        pairs = [pair for outcomes in self.by_build.values() for pair in combinations(outcomes, 2)]
        return VerdictReversal(PLACEMENT, sum(one != other for one, other in pairs), len(pairs))

    def _factor_levels_unused_by_paper_suites(self) -> Iterator[tuple[int, str]]:
        """Yields the number of each factor with each of its levels that is not the suites' own."""
        for number, factor in enumerate(self.factors):
            for level in factor.levels[1:]:
                yield number, level

    def _verdict_reversal_by_build_factor_level(self, number: int, level: str) -> VerdictReversal:
        """Returns how often a level of the factor with this number reverses the verdict, compared with the suites' own
        level."""
        usual = self.factors[number].levels[0]
        turned = pairs = 0
        for build, outcomes in self.by_build.items():
            if build.levels[number] != level:
                continue
            levels = (*build.levels[:number], usual, *build.levels[number + 1 :])
            before = self.by_build.get(KernelBuild(levels), ())
            matched = list(_pair_verdicts_of_two_builds(before, outcomes))
            pairs += len(matched)
            turned += sum(one != other for one, other in matched)
        return VerdictReversal(self.factors[number].text_of_build_factor_value(level), turned, pairs)


def _pair_verdicts_of_two_builds(
    one: Sequence[StatementResult], other: Sequence[StatementResult]
) -> Iterator[tuple[StatementResult, StatementResult]]:
    """Yields pairs of verdicts of two builds in the same placement. A verdict in a single placement is paired with each
    of the other build's."""
    if not one or not other:
        return
    for number in range(max(len(one), len(other))):
        yield one[min(number, len(one) - 1)], other[min(number, len(other) - 1)]


def statement_verdicts(verdict: ClaimVerdict) -> tuple[StatementResult, ...]:
    """Returns a statement's verdict in each placement of the code. Empty if it could not be computed. It is `same` if
    all cases hold, and `different` if one is reversed. Cases that could not be computed do not count."""
    cases = [case_verdict.in_placements for case_verdict in verdict.cases if case_verdict.in_placements]
    count = max((len(case) for case in cases), default=0)
    return tuple(
        combine_paper_statement_results([case[min(number, len(case) - 1)] for case in cases]) for number in range(count)
    )
