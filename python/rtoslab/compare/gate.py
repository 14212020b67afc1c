"""New figures held against a baseline: what passes its limits, what is missing, what else differs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rtoslab.base import PlanError, count_with_noun
from rtoslab.catalogue import Catalogue, Experiment
from rtoslab.compare.baseline import Baseline, baseline_as_comparison_side, with_shortened_manifests
from rtoslab.compare.brief_manifest import COMPILER
from rtoslab.compare.causes import DifferenceCause
from rtoslab.compare.comparison import ChangeVerdict, FigureChange, MeasurementRunComparison, compare_runs_or_baselines
from rtoslab.compare.document import comparison_document, metric_change_text, number_with_decimals_text
from rtoslab.compare.matching import MeasuredPointPair
from rtoslab.compare.rules import MeasuredValueLimits, MetricGrowthLimit
from rtoslab.compare.sides import ComparedMeasurementSet
from rtoslab.measure import identity_of_point
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions, experiment_points
from rtoslab.reports import ReportDocument, ReportSection, TableData

_CLAUSES: Final = 3
"""The number of clauses in the last line."""


@dataclass(frozen=True, slots=True)
class RegressionGateResult:
    """The result of `rtoslab gate`, the comparison of a run with a baseline."""

    comparison: MeasurementRunComparison
    regressions: Sequence[tuple[FigureChange, MetricGrowthLimit]]
    moved: Sequence[tuple[FigureChange, MetricGrowthLimit]]
    """Regressions in cycles where only the place of the code changed: see `causes`."""
    unmatched: Sequence[str]
    """Points and figures that only the baseline or only the run has, each as a clause."""

    @property
    def differing_compilers(self) -> tuple[str, str] | None:
        """Returns the compilers of the baseline and of the run, if they differ. Else None."""
        compilers = [difference for difference in self.comparison.differences if difference.key == COMPILER]
        return (compilers[0].before, compilers[0].after) if compilers else None


def compare_run_with_baseline(
    baseline: Baseline, name: str, run: ComparedMeasurementSet, rules: MeasuredValueLimits
) -> RegressionGateResult:
    """Compares every figure of a baseline with a run's, and applies the limits. `name` is the baseline's."""
    comparison = compare_runs_or_baselines(
        baseline_as_comparison_side(baseline, name), with_shortened_manifests(run), is_gate=True
    )
    differing = [item for item in comparison.changes if item.verdict is not ChangeVerdict.SAME]
    broken = [(item, limit) for item in differing if (limit := rules.first_exceeded_limit(item)) is not None]
    lost = [f"{label} was not measured" for label in comparison.matching.only_before]
    lost += [
        f"{item.label} has no figure ({item.after.missing_reason})"
        for item in comparison.point_pairs_without_measured_values
    ]
    for pair in comparison.matching.pairs:
        lost += [] if pair.after.missing_reason else _figures_without_pair(pair)
    lost += [f"{label} is not in the baseline" for label in comparison.matching.only_after]
    if not baseline.point:
        lost = ["nothing was measured, because the baseline has no point"]
    moved = [(change, limit) for change, limit in broken if change.verdict is ChangeVerdict.PLACEMENT]
    return RegressionGateResult(comparison, broken, moved, lost)


def _figures_without_pair(pair: MeasuredPointPair) -> list[str]:
    """Returns a clause for each figure that only the baseline or only the run has."""
    before, after = pair.before.metrics, pair.after.metrics
    gone = [f"{pair.label} no longer has the figure {key}" for key in before if key not in after]
    return gone + [f"{pair.label}: figure {key} is not in the baseline" for key in after if key not in before]


def without_moved_code_regressions(judgement: RegressionGateResult) -> RegressionGateResult:
    """Returns the gate's result without regressions whose code is the same at other addresses."""
    rest = [regression for regression in judgement.regressions if regression not in judgement.moved]
    return replace(judgement, regressions=rest, moved=())


def measurement_plan_for_baseline(catalogue: Catalogue, baseline: Baseline) -> MeasurementPlan:
    """Returns the plan that measures the baseline's points again. Raises PlanError for a point that does not exist
    here."""
    points: list[PlannedPoint] = []
    for point in baseline.point:
        experiment = Experiment(
            benchmarks=(point.benchmark,),
            kernels=(point.kernel,),
            boards=(point.board,),
            cores=(point.cores,),
            config=point.config,
        )
        built = experiment_points(catalogue, experiment, PlanOptions(window_ms=point.window_ms))
        fitting = [
            one
            for one in built
            if identity_of_point(catalogue, one).model_copy(update={"title": point.benchmark}) == point.point_id
        ]
        if not fitting:
            raise PlanError(
                f"The baseline has the point {point.benchmark} {point.kernel} {point.board} {point.config or ''}, "
                "which does not exist in this checkout; correct its [[point]], or write the baseline again."
            )
        points += fitting
    return MeasurementPlan(tuple(points), None)


def gate_verdict_text(judgement: RegressionGateResult) -> str:
    """Returns the gate's result in one sentence."""
    pairs = len(judgement.comparison.matching.pairs)
    figures = f"{count_with_noun(len(judgement.comparison.changes), 'figure')} of {count_with_noun(pairs, 'point')}"
    if judgement.unmatched:
        return f"The gate has no result: {shorten_clause_list_to_three(judgement.unmatched)}."
    if judgement.regressions:
        change, limit = judgement.regressions[0]
        return (
            f"Regression: {len(judgement.regressions)} of {figures} exceeded their limits; the largest: "
            f"{metric_change_text(change)}, allowed "
            f"{limit}.{_moved_code_sentence(judgement) or _regression_cause_text(judgement)}"
        )
    better = [
        item
        for item in judgement.comparison.changes
        if item.change_in_unit < 0 and item.verdict is not ChangeVerdict.SAME
    ]
    moved = sum(item.verdict is ChangeVerdict.PLACEMENT for item in better)
    by = f", {moved} of these by placement: the executed code is the same, but at other addresses" if moved else ""
    return f"Same or better: {figures} within their limits, {len(better)} of them better{by}."


def shorten_clause_list_to_three(lost: Sequence[str]) -> str:
    """Returns the first three clauses of a list, and the number of further ones, as text."""
    more = f"; and {len(lost) - _CLAUSES} more" if len(lost) > _CLAUSES else ""
    return "; ".join(lost[:_CLAUSES]) + more


def _moved_code_sentence(judgement: RegressionGateResult) -> str:
    """Returns a sentence on the regressions whose code is the same at other addresses. Empty without any."""
    if not judgement.moved:
        return ""
    which = "All" if len(judgement.moved) == len(judgement.regressions) else str(len(judgement.moved))
    return f" {which} of them by placement: the executed code is the same, but at other addresses."


def _regression_cause_text(judgement: RegressionGateResult) -> str:
    """Returns a sentence on the cause of the first regression that has one. Empty without one."""
    reason = next((change.reason for change, _ in judgement.regressions if change.reason is not None), None)
    return "" if reason is None else f" Cause{'' if reason.cause is DifferenceCause.UNKNOWN else ':'} {reason.text}."


def regression_gate_document(judgement: RegressionGateResult) -> ReportDocument:
    """Returns the gate's result as a report, with the broken limits first."""
    rows = [
        [
            regression.pair.label,
            regression.before.id,
            number_with_decimals_text(regression.before.value),
            number_with_decimals_text(regression.after.value),
            f"{regression.change_in_unit:+,.2f}".rstrip("0").rstrip("."),
            str(limit),
            "" if regression.reason is None else regression.reason.text,
        ]
        for regression, limit in judgement.regressions
    ]
    columns = ("point", "figure", ">before", ">after", ">change", ">allowed", "cause")
    tables = [TableData("Exceeded their limits", columns, rows)] if rows else []
    section = ReportSection("gate", "Gate", (gate_verdict_text(judgement),), (), tables)
    return comparison_document([judgement.comparison], [section])
