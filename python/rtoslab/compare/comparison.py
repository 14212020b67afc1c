"""Two sides compared: every figure of every pair with its verdict, by effect."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from rtoslab.analyses import CYCLES, INSTRUCTIONS, NamedMetricValue, number_of_counts_or_latency_samples
from rtoslab.compare.brief_manifest import shorten_manifest_for_baseline
from rtoslab.compare.causes import (
    CycleDifferenceExplanation,
    DifferenceCause,
    count_instructions_of,
    find_cycle_difference_reason,
    functions_differing_between_builds,
)
from rtoslab.compare.differences import ManifestDifference, manifest_differences
from rtoslab.compare.matching import MatchedPointPairs, MeasuredPointPair, pair_matching_measurement_points
from rtoslab.compare.noise import (
    SampleMedianShiftEstimate,
    are_median_shifts_significant,
    has_shift_test_too_few_samples,
    median_shift_between_samples,
)
from rtoslab.compare.placement_pairs import may_depend_on_placement, value_difference_range
from rtoslab.compare.sides import ComparedMeasurementSet

CHANGED_CODE: Final = "instructions.changed_code"
"""The id of a figure that only a gate has."""


class ChangeVerdict(StrEnum):
    """The verdict on a figure of a comparison. Less is better for every figure."""

    WORSE = "worse"
    BETTER = "better"
    SAME = "same"
    PLACEMENT = "placement"
    """The bands of the two sides overlap, so that the place may make the difference. Or only the place differs."""
    ONE_PLACEMENT = "one placement"
    """They differ in one placement each, and the place may be the reason."""
    UNCLEAR = "no significant difference"
    """Noise hides any difference."""
    TOO_FEW = "too few samples"


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure of a point on both sides of a comparison, with the verdict on its change."""

    pair: MeasuredPointPair
    before: NamedMetricValue
    after: NamedMetricValue
    verdict: ChangeVerdict
    sample_shift: SampleMedianShiftEstimate | None = None
    """The shift between the samples. None for exact figures, where any difference beyond their resolution is real."""
    placement_interval: tuple[float, float] | None = None
    """For figures in several placements: the least and the most difference that they permit."""
    reason: CycleDifferenceExplanation | None = None
    """For exact cycles in one placement each: why they differ."""

    @property
    def change_in_unit(self) -> float:
        """Returns the change of the figure in its unit. A positive change is worse."""
        return self.after.value - self.before.value

    @property
    def change_in_percent(self) -> float:
        """Returns the change in percent of the first side's figure. It is infinite if that figure is zero."""
        if not self.change_in_unit:
            return 0.0
        return (
            100 * self.change_in_unit / abs(self.before.value)
            if self.before.value
            else math.copysign(math.inf, self.change_in_unit)
        )


@dataclass(frozen=True, slots=True)
class MeasurementRunComparison:
    """Two sides (runs or a baseline) compared, figure by figure."""

    before: ComparedMeasurementSet
    after: ComparedMeasurementSet
    matching: MatchedPointPairs
    differences: Sequence[ManifestDifference]
    changes: Sequence[FigureChange]
    """Real differences first, the largest share first. Then what cannot be told. Then what is the same."""

    @property
    def changes_in_all_placements(self) -> list[FigureChange]:
        """Returns the figures that are worse or better on the second side, beyond noise and the placement of the
        code."""
        return [change for change in self.changes if change.verdict in {ChangeVerdict.WORSE, ChangeVerdict.BETTER}]

    @property
    def measurement_changes_for_report(self) -> list[FigureChange]:
        """Returns the changes that reports show: the claimed ones, then those of figures measured in one placement of
        the code."""
        shown_verdicts = {ChangeVerdict.WORSE, ChangeVerdict.BETTER, ChangeVerdict.ONE_PLACEMENT}
        single_placement = [
            change
            for change in self.changes
            if change.verdict is ChangeVerdict.PLACEMENT and change.placement_interval is None
        ]
        return [*(change for change in self.changes if change.verdict in shown_verdicts), *single_placement]

    @property
    def point_pairs_without_measured_values(self) -> list[MeasuredPointPair]:
        """Returns the pairs of points of which only one side has figures."""
        return [
            pair for pair in self.matching.pairs if bool(pair.before.missing_reason) != bool(pair.after.missing_reason)
        ]


def compare_runs_or_baselines(
    before: ComparedMeasurementSet, after: ComparedMeasurementSet, *, is_gate: bool = False
) -> MeasurementRunComparison:
    """Compares every figure that two sides (runs or a baseline) have. With `is_gate`, only points with equal settings
    and placement are compared, every difference in cycles counts, and manifests are brief."""
    matching = pair_matching_measurement_points(before, after, same_axes=is_gate)
    figures = [
        (pair, metric, pair.after.metrics[name])
        for pair in matching.pairs
        for name, metric in pair.before.metrics.items()
        if name in pair.after.metrics
    ]
    exact = [pair for pair in matching.pairs if _is_measured_without_noise(pair)]
    reasons = {pair.label: _why_cycles_differ(pair, is_brief=is_gate) for pair in exact}
    changes = [
        _judge_noise_free_value_change(*figure, reasons[figure[0].label], is_gate=is_gate)
        for figure in figures
        if _is_measured_without_noise(figure[0])
    ]
    changes += _judge_value_changes_by_samples(
        [figure for figure in figures if not _is_measured_without_noise(figure[0])]
    )
    changes += [
        change for pair in exact if is_gate and (change := _instruction_change_of_changed_code(pair)) is not None
    ]
    return MeasurementRunComparison(
        before, after, matching, manifest_differences(matching.pairs), sorted(changes, key=_change_sort_key)
    )


def _is_measured_without_noise(pair: MeasuredPointPair) -> bool:
    """Whether both points of a pair were measured on virtual boards, without noise."""
    return pair.before.is_exact and pair.after.is_exact


def _judge_noise_free_value_change(
    pair: MeasuredPointPair,
    before: NamedMetricValue,
    after: NamedMetricValue,
    reason: CycleDifferenceExplanation,
    *,
    is_gate: bool,
) -> FigureChange:
    """Returns the change of a figure that was measured without noise, with its verdict."""
    delta = after.value - before.value
    grain = max(before.resolution, after.resolution) * (1 + 1e-9)  # tolerates rounding
    if before.band or after.band:
        low, high = value_difference_range(before, after)
        apart = low > grain or high < -grain
        open_verdict = ChangeVerdict.SAME if max(-low, high) <= grain else ChangeVerdict.PLACEMENT
        return FigureChange(
            pair,
            before,
            after,
            _verdict_on_value_change(delta) if apart else open_verdict,
            placement_interval=(low, high),
        )
    if abs(delta) <= grain:
        return FigureChange(pair, before, after, ChangeVerdict.SAME)
    is_time = before.unit == CYCLES
    moved = is_time and reason.cause is DifferenceCause.PLACEMENT
    bound = not is_gate and may_depend_on_placement(before.id, pair.before.manifest_tree, pair.after.manifest_tree)
    verdict = (
        ChangeVerdict.PLACEMENT if moved else ChangeVerdict.ONE_PLACEMENT if bound else _verdict_on_value_change(delta)
    )
    return FigureChange(pair, before, after, verdict, reason=reason if is_time else None)


def _why_cycles_differ(pair: MeasuredPointPair, *, is_brief: bool) -> CycleDifferenceExplanation:
    """Returns why the cycles of a pair of points differ, which were measured without noise. `is_brief` tells that their
    manifests are brief already."""
    if is_brief:
        return find_cycle_difference_reason(pair.before, pair.after)
    first, second = (
        replace(figures, manifest=shorten_manifest_for_baseline(figures.manifest))
        for figures in (pair.before, pair.after)
    )
    return find_cycle_difference_reason(first, second)


def _instruction_change_of_changed_code(pair: MeasuredPointPair) -> FigureChange | None:
    """Returns the change in executed instructions of those functions whose code differs. None if no code differs.

    Instructions do not depend on the place. So they show a slowdown that a better place hides in the cycles.
    """
    first, second = pair.before.functions, pair.after.functions
    names = functions_differing_between_builds(first, second)
    before, after = count_instructions_of(first, names), count_instructions_of(second, names)
    if not names or before is None or after is None:
        return None
    was, now = (NamedMetricValue(CHANGED_CODE, INSTRUCTIONS, round(side, 4)) for side in (before, after))
    events = number_of_counts_or_latency_samples(pair.after.result) if pair.after.result is not None else 0
    grain = max(before, after) / events if events else 0.0  # what the window's end cut of a call
    verdict = ChangeVerdict.SAME if abs(after - before) <= grain else _verdict_on_value_change(after - before)
    return FigureChange(pair, was, now, verdict, reason=find_cycle_difference_reason(pair.before, pair.after))


def _verdict_on_value_change(delta: float) -> ChangeVerdict:
    """Returns the verdict on a figure's change: an increase is worse, a decrease is better."""
    return ChangeVerdict.WORSE if delta > 0 else ChangeVerdict.BETTER if delta < 0 else ChangeVerdict.SAME


def _judge_value_changes_by_samples(
    figures: Sequence[tuple[MeasuredPointPair, NamedMetricValue, NamedMetricValue]],
) -> list[FigureChange]:
    """Returns the changes of figures of real boards, judged by their samples."""
    changes = [
        FigureChange(*figure, _verdict_on_value_change(figure[2].value - figure[1].value))
        for figure in figures
        if figure[1].unit == "bytes"
    ]
    sampled = [figure for figure in figures if figure[1].unit != "bytes" and _does_noise_test_apply_to_value(figure[1])]
    shifts = [
        median_shift_between_samples(one.samples or [one.value], other.samples or [other.value])
        for _, one, other in sampled
    ]
    for (pair, one, other), outcome, claimed in zip(
        sampled, shifts, are_median_shifts_significant(shifts), strict=True
    ):
        if has_shift_test_too_few_samples(outcome, len(shifts)):
            verdict = ChangeVerdict.TOO_FEW
        else:
            verdict = _verdict_on_value_change(outcome.median_difference) if claimed else ChangeVerdict.UNCLEAR
        changes.append(FigureChange(pair, one, other, verdict, outcome))
    return changes


def _does_noise_test_apply_to_value(metric: NamedMetricValue) -> bool:
    """Whether a figure is a median or the cycles per count, to which a test for noise applies."""
    return bool(metric.samples) or "." not in metric.id


def _change_sort_key(change: FigureChange) -> tuple[int, float, str, str]:
    """Returns the sort key of a change in tables: by verdict, then the largest change first."""
    order = (
        ChangeVerdict.WORSE,
        ChangeVerdict.BETTER,
        ChangeVerdict.ONE_PLACEMENT,
        ChangeVerdict.TOO_FEW,
        ChangeVerdict.UNCLEAR,
        ChangeVerdict.PLACEMENT,
        ChangeVerdict.SAME,
    )
    group = 0 if order.index(change.verdict) < 2 else order.index(change.verdict)
    return group, -abs(change.change_in_percent), change.pair.label, change.before.id
