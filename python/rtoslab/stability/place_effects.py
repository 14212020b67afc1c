"""The effect of the code's place on figures and on rankings of kernels, from the placements of reference results.

Every point is in several placements: the same compiled functions in another order. Placements of two kernels are drawn
independently, so each placement of one kernel is compared with each of the other.

Only rivals form a pair. A ranking does not compare two versions of one kernel, or today's version of one kernel with an
old version of another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median, quantiles
from typing import Final

from rtoslab.catalogue import PaperFolder
from rtoslab.reference import ReferenceResultsFile
from rtoslab.results import MeasuredPoint

ALL_GROUPS: Final = "all"
"""The name of the row over all papers or boards."""
_STATISTICS: Final = ("median", "cycles_per_count")
"""One statistic of each series. The minimum and the mean change with it."""
_DECILES: Final = 10
_LEAST_PLACEMENTS: Final = 2


@dataclass(frozen=True, slots=True)
class MeasuredValueInCodePlacements:
    """One figure of one kernel in all placements of its code, from the reference results."""

    paper: str
    board: str
    quantity: str
    """Benchmark, cores, configuration, metric and statistic. Figures of several kernels with the same quantity are
    rivals."""
    kernel: str
    role: str
    """The kernel of the paper that this kernel is a version of."""
    ages: frozenset[str]
    """Whether the paper measured this version (authors), or it is today's (today), or both."""
    values: tuple[float, ...]

    @property
    def relative_spread_over_code_placements(self) -> float:
        """Returns by which share the slowest placement of the code takes longer than the quickest: 0.1 is 10 %."""
        return max(self.values) / min(self.values) - 1


@dataclass(frozen=True, slots=True)
class BoardCodePlacementSpread:
    """How far the placement of code changes the figures of one board."""

    board: str
    figures: int
    median_spread: float
    """The median spread."""
    ninth_decile: float
    """The spread that nine figures in ten do not exceed."""
    largest: float


@dataclass(frozen=True, slots=True)
class ReversedKernelPairCounts:
    """Counts of the pairs of kernels whose order changes with the placement of the code."""

    name: str
    pairs: int
    turned: int
    """The pairs with one order in some placements and the opposite one in others."""
    close: int
    """The pairs whose medians differ by less than a tenth."""
    close_turned: int
    minority_chance: float
    """The mean chance that one build of each kernel of a turned pair shows the order of the minority."""
    kernels: tuple[str, ...]
    """The kernels of the pairs."""


def reference_values_over_code_placements(
    papers: Mapping[str, PaperFolder], references: Sequence[ReferenceResultsFile]
) -> list[MeasuredValueInCodePlacements]:
    """Returns every reference figure that was measured in several placements of the code. Figures of zero are left out,
    because they have no ratio."""
    figures: list[MeasuredValueInCodePlacements] = []
    for reference in references:
        if reference.paper in papers:
            figures += _reference_values_in_code_placements(papers[reference.paper], reference, references)
    return figures


def _reference_values_in_code_placements(
    paper: PaperFolder, reference: ReferenceResultsFile, references: Sequence[ReferenceResultsFile]
) -> Iterator[MeasuredValueInCodePlacements]:
    """Yields the figures of one reference file that were measured in several placements of the code."""
    roles = paper.facts.paper_kernel_by_source_tree
    role = roles.get(reference.kernel, reference.kernel)
    if role not in paper.facts.kernels:
        return  # what a paper sets beside kernels is none
    rivals = {item.kernel for item in references if item.paper == paper.key}
    has_older = any(roles.get(name) == role for name in rivals if name != reference.kernel)
    ages = {"authors"} if reference.kernel in roles else {"today"} if has_older else {"authors", "today"}
    points = {
        stored_point.result.run_id: stored_point.result.point
        for stored_point in reference.points
        if isinstance(stored_point.result, MeasuredPoint)
    }
    for placed in reference.placed:
        point = points.get(placed.run_id)
        if point is None:
            continue
        config = ", ".join(f"{key}={value}" for key, value in sorted(point.config.items()) if key != "samples")
        for (metric, stat, unit, occurrence), values in placed.by_name.items():
            if stat in _STATISTICS and len(values) >= _LEAST_PLACEMENTS and min(values) > 0:
                cores = f"{point.cores} cores" if point.cores > 1 else "1 core"
                what = f"{point.benchmark} {cores} {config}: {metric} {stat} {unit} {occurrence}"
                yield MeasuredValueInCodePlacements(
                    paper.key, point.board, what, reference.kernel, role, frozenset(ages), tuple(values)
                )


def placement_spread_by_board(figures: Sequence[MeasuredValueInCodePlacements]) -> list[BoardCodePlacementSpread]:
    """Returns, for each board, how far the placement of the code changes its figures, the largest effect first."""
    result = []
    for board in dict.fromkeys(figure.board for figure in figures):
        spreads = [figure.relative_spread_over_code_placements for figure in figures if figure.board == board]
        ninth = quantiles(spreads, n=_DECILES)[-1] if len(spreads) > 1 else spreads[0]
        result.append(BoardCodePlacementSpread(board, len(spreads), median(spreads), ninth, max(spreads)))
    return sorted(result, key=lambda spread: -spread.median_spread)


def count_reversed_kernel_pairs(
    figures: Sequence[MeasuredValueInCodePlacements], by: str
) -> list[ReversedKernelPairCounts]:
    """Returns how many pairs of kernels change their order with the placement of the code, for each paper or board and
    for all."""
    groups: dict[str, list[tuple[MeasuredValueInCodePlacements, MeasuredValueInCodePlacements]]] = {}
    for pair in _comparable_kernel_pairs(figures):
        groups.setdefault(getattr(pair[0], by), []).append(pair)
    rows = [_count_reversed_kernel_pairs(name, pairs) for name, pairs in sorted(groups.items())]
    everything = [pair for pairs in groups.values() for pair in pairs]
    return [*rows, _count_reversed_kernel_pairs(ALL_GROUPS, everything)] if len(rows) > 1 else rows


def _comparable_kernel_pairs(
    figures: Sequence[MeasuredValueInCodePlacements],
) -> Iterator[tuple[MeasuredValueInCodePlacements, MeasuredValueInCodePlacements]]:
    """Yields the pairs of figures that compare two kernels of one paper: the same quantity, in versions of the same
    age."""
    alike: dict[tuple[str, str, str], list[MeasuredValueInCodePlacements]] = {}
    for figure in figures:
        alike.setdefault((figure.paper, figure.board, figure.quantity), []).append(figure)
    for group in alike.values():
        for one, other in combinations(group, 2):
            if one.role != other.role and one.ages & other.ages:
                yield one, other


def _count_reversed_kernel_pairs(
    name: str, pairs: Sequence[tuple[MeasuredValueInCodePlacements, MeasuredValueInCodePlacements]]
) -> ReversedKernelPairCounts:
    """Returns how many of the pairs of a group (a paper or board) change their order with the placement of the code."""
    minorities = [share_of_placements_with_rarer_ranking(one.values, other.values) for one, other in pairs]
    close = [_medians_differ_by_less_than_tenth(one, other) for one, other in pairs]
    turned = [minority for minority in minorities if minority > 0]
    return ReversedKernelPairCounts(
        name=name,
        pairs=len(pairs),
        turned=len(turned),
        close=sum(close),
        close_turned=sum(near and share > 0 for near, share in zip(close, minorities, strict=True)),
        minority_chance=sum(turned) / len(turned) if turned else 0.0,
        kernels=tuple(sorted({figure.role for pair in pairs for figure in pair})),
    )


def share_of_placements_with_rarer_ranking(one: Sequence[float], other: Sequence[float]) -> float:
    """Returns the share of all pairs of placements in which two figures have the less frequent order. A tie is neither
    order."""
    less = sum(mine < theirs for mine in one for theirs in other)
    more = sum(mine > theirs for mine in one for theirs in other)
    return min(less, more) / (len(one) * len(other))


def _medians_differ_by_less_than_tenth(
    one: MeasuredValueInCodePlacements, other: MeasuredValueInCodePlacements
) -> bool:
    """Whether the medians of two figures differ by less than a tenth."""
    first, second = sorted((median(one.values), median(other.values)))
    return second < first * 1.1
