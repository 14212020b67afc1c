"""Two sides compared: every figure of every pair with its verdict, by effect."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rtoslab.analyses import CYCLES, Metric
from rtoslab.compare.attribution import only_moved
from rtoslab.compare.baseline import brief_manifest, same_settings
from rtoslab.compare.differences import Difference, differences
from rtoslab.compare.matching import Matching, Pair, match
from rtoslab.compare.noise import Shift, claims, shift, too_few
from rtoslab.compare.placed import interval, is_bound
from rtoslab.compare.sides import Side


class Verdict(StrEnum):
    """What may be said of a figure. Less is better for every one of them."""

    WORSE = "worse"
    BETTER = "better"
    SAME = "same"
    PLACEMENT = "placement"
    """The bands of the two sides' placements overlap, or the same code lies elsewhere: its place may be worth the
    difference."""
    ONE_PLACEMENT = "one placement"
    """They differ, in one placement each, where the place matters: what of it is the place's nobody knows."""
    UNCLEAR = "not told apart"
    """Noise covers whatever difference there may be."""
    TOO_FEW = "too few samples"


@dataclass(frozen=True, slots=True)
class Change:
    """One figure on both sides."""

    pair: Pair
    before: Metric
    after: Metric
    verdict: Verdict
    noisy: Shift | None = None
    """What the samples say; None for exact figures, where any difference beyond their resolution is real."""
    placed: tuple[float, float] | None = None
    """Of figures in several placements the least and the most difference that they allow."""

    @property
    def delta(self) -> float:
        """In the metric's unit; more is worse."""
        return self.after.value - self.before.value

    @property
    def percent(self) -> float:
        """Of the first side's figure; infinite where that is zero."""
        if not self.delta:
            return 0.0
        return 100 * self.delta / abs(self.before.value) if self.before.value else math.copysign(math.inf, self.delta)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second side against the first."""

    before: Side
    after: Side
    matching: Matching
    differences: Sequence[Difference]
    changes: Sequence[Change]
    """Real differences first, the largest share first; then what cannot be told; then what is the same."""

    @property
    def real(self) -> list[Change]:
        """Those that are worse or better."""
        return [each for each in self.changes if each.verdict in {Verdict.WORSE, Verdict.BETTER}]

    @property
    def shown(self) -> list[Change]:
        """Those, and what differs in one placement each."""
        wanted = {Verdict.WORSE, Verdict.BETTER, Verdict.ONE_PLACEMENT}
        alone = [each for each in self.changes if each.verdict is Verdict.PLACEMENT and each.placed is None]
        return [*(each for each in self.changes if each.verdict in wanted), *alone]

    @property
    def without_figures(self) -> list[Pair]:
        """Pairs of which a side has no number, though the other has."""
        return [each for each in self.matching.pairs if bool(each.before.missing) != bool(each.after.missing)]


def compare(before: Side, after: Side, *, is_gate: bool = False) -> Comparison:
    """Every figure that both sides have.

    A gate asks for the same axes, so nothing is compared over a kernel, say; and in the same placement each, to the
    cycle, so any difference is one of these images. Its sides have brief manifests.
    """
    matching = match(before, after, same_axes=is_gate)
    figures = [
        (pair, metric, pair.after.metrics[name])
        for pair in matching.pairs
        for name, metric in pair.before.metrics.items()
        if name in pair.after.metrics
    ]
    changes = [_exact(*each, is_gate=is_gate) for each in figures if _is_exact(each[0])]
    changes += _noisy([each for each in figures if not _is_exact(each[0])])
    return Comparison(before, after, matching, differences(matching.pairs), sorted(changes, key=_rank))


def _is_exact(pair: Pair) -> bool:
    return pair.before.exact and pair.after.exact


def _exact(pair: Pair, before: Metric, after: Metric, *, is_gate: bool) -> Change:
    delta = after.value - before.value
    grain = max(before.resolution, after.resolution) * (1 + 1e-9)  # a tick is not more than a tick for rounding
    if before.band or after.band:
        low, high = interval(before, after)
        apart = low > grain or high < -grain
        open_verdict = Verdict.SAME if max(-low, high) <= grain else Verdict.PLACEMENT
        return Change(pair, before, after, _direction(delta) if apart else open_verdict, placed=(low, high))
    if abs(delta) <= grain:
        return Change(pair, before, after, Verdict.SAME)
    moved = before.unit == CYCLES and _is_moved(pair, is_gate=is_gate)
    bound = not is_gate and is_bound(before.id, pair.before.tree, pair.after.tree)
    verdict = Verdict.PLACEMENT if moved else Verdict.ONE_PLACEMENT if bound else _direction(delta)
    return Change(pair, before, after, verdict)


def _is_moved(pair: Pair, *, is_gate: bool) -> bool:
    """Whether of two points in one placement each all code that was executed is the same, and all settings are."""
    first, second = pair.before, pair.after
    if is_gate:  # a baseline keeps one digest of the code, no addresses
        return bool(first.code) and first.code == second.code and same_settings(first.manifest, second.manifest)
    if first.result is None or second.result is None or not only_moved(first.result, second.result):
        return False
    return same_settings(brief_manifest(first.manifest), brief_manifest(second.manifest))


def _direction(delta: float) -> Verdict:
    return Verdict.WORSE if delta > 0 else Verdict.BETTER if delta < 0 else Verdict.SAME


def _noisy(figures: Sequence[tuple[Pair, Metric, Metric]]) -> list[Change]:
    """Medians by their samples; bytes are no matter of chance; other figures of noisy samples allow no verdict."""
    found = [Change(*each, _direction(each[2].value - each[1].value)) for each in figures if each[1].unit == "bytes"]
    sampled = [each for each in figures if each[1].unit != "bytes" and _is_median(each[1])]
    shifts = [shift(one.samples or [one.value], other.samples or [other.value]) for _, one, other in sampled]
    for (pair, one, other), told, claimed in zip(sampled, shifts, claims(shifts), strict=True):
        if too_few(told, len(shifts)):
            verdict = Verdict.TOO_FEW
        else:
            verdict = _direction(told.difference) if claimed else Verdict.UNCLEAR
        found.append(Change(pair, one, other, verdict, told))
    return found


def _is_median(metric: Metric) -> bool:
    return bool(metric.samples) or "." not in metric.id


def _rank(change: Change) -> tuple[int, float, str, str]:
    order = (
        Verdict.WORSE,
        Verdict.BETTER,
        Verdict.ONE_PLACEMENT,
        Verdict.TOO_FEW,
        Verdict.UNCLEAR,
        Verdict.PLACEMENT,
        Verdict.SAME,
    )
    group = 0 if order.index(change.verdict) < 2 else order.index(change.verdict)
    return group, -abs(change.percent), change.pair.label, change.before.id
