"""The report of a sweep: options by effect, pairs that interact, small multiples, the quickest configurations."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from rtoslab.analyses import (
    CodePlacementValueRange,
    MeasuredTimeInCodePlacements,
    MeasuredValueRatio,
    results_depending_on_addresses,
)
from rtoslab.base import ReportError, count_with_noun
from rtoslab.reports import (
    ChartData,
    ReportDocument,
    ReportSection,
    TableData,
    add_kernel_deviation_footnotes,
    measured_value_with_range_text,
)
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement
from rtoslab.store import StoredMeasurementPoint
from rtoslab.sweep.effects import OptionValueEffect, SweepObservations, settings_common_to_points

SHOWN_INTERACTIONS = 20
LEAST_INTERACTION = 0.002
MULTIPLES = 12
_ONE_PLACEMENT = (
    "Each point was measured in one placement, although the placement can change its time. So it is not known "
    "whether the option or the placement causes a change. With `placements = 8` in the plan, changes larger than "
    "the bands are reported."
)


def make_sweep_report(title: str, points: Sequence[StoredMeasurementPoint]) -> ReportDocument:
    """Returns the report of a sweep. Raises ReportError if no point was measured, or nothing was varied."""
    measured = [point.result for point in points if isinstance(point.result, MeasuredPoint)]
    if not measured:
        raise ReportError("The sweep has no measured point yet; run it first.")
    observations = SweepObservations(measured, results_depending_on_addresses(points))
    effects = observations.effects_of_option_values()
    if not effects:
        raise ReportError(
            "No option of this sweep has two values at points that are equal in everything else, so "
            "nothing can be ranked; give an option two values."
        )
    sections = [
        _option_ranking_section(observations, effects),
        _option_interactions_section(observations),
        _benchmark_charts_report_section(observations),
        _quickest_configurations_section(observations),
        _report_section_on_unmeasured_points(points),
    ]
    shared = settings_common_to_points(measured)
    document = ReportDocument(
        title=title,
        subtitle=" · ".join([shared.get(name, "several") for name in ("kernel", "board", "cores")]),
        summary=_sweep_summary_text(observations, effects, len(measured), len(points)),
        sections=tuple(section for section in sections if section is not None),
        points=tuple(points),
    )
    return add_kernel_deviation_footnotes(document, measured)


def percent_change_text_of_ratio(ratio: float) -> str:
    """Returns a ratio of times as a change in percent, as text: `+5.0 %` for 1.05."""
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f} %"


def _change_with_range_text(ratio: MeasuredValueRatio) -> str:
    """Returns a ratio of times as a change in percent with its range over placements of the code, as text."""
    return measured_value_with_range_text(ratio, percent_change_text_of_ratio)


def _change_range_ends_in_percent(ratio: MeasuredValueRatio) -> dict[str, float]:
    """Returns `low` and `high` of a change in percent, for a chart's row. Empty if they are equal."""
    return (
        {}
        if ratio.smallest == ratio.largest
        else {"low": 100 * (ratio.smallest - 1), "high": 100 * (ratio.largest - 1)}
    )


def _sweep_summary_text(
    observations: SweepObservations, effects: Sequence[OptionValueEffect], measured: int, requested: int
) -> str:
    """Returns the summary of a sweep's report. `measured` and `requested` are numbers of points."""
    first = next((effect for effect in effects if effect.benchmarks_with_clear_effect), None)
    text = (
        f"{measured} of {requested} points were measured: "
        f"{count_with_noun(len(observations.options), 'option')} on "
        f"{count_with_noun(len(observations.times), 'benchmark')}. "
    )
    if first is not None:
        return (
            f"{text}The option with the largest effect is {first.option_change_label}: "
            f"{_mean_and_largest_effect_text(first, first.benchmarks_with_clear_effect)}."
        )
    open_effect = next((effect for effect in effects if effect.benchmarks_with_unproven_option_effect), None)
    if open_effect is None:
        return f"{text}No option changes the time by more than the placement of the code does."
    return (
        f"{text}In one placement each the largest change is that of {open_effect.option_change_label}: "
        f"{_mean_and_largest_effect_text(open_effect, open_effect.benchmarks_with_unproven_option_effect)}. "
        "The placement of the code may be the cause, so no effect is reported."
    )


def _mean_and_largest_effect_text(effect: OptionValueEffect, targets: Sequence[str]) -> str:
    """Returns an effect's mean change of time, and its largest on one of the benchmarks in `targets`, as text."""
    worst = max(((name, effect.ratios[name]) for name in targets), key=lambda item: abs(math.log(item[1].value)))
    return (
        f"{_change_with_range_text(effect.mean_time_ratio)} of time on average, {_change_with_range_text(worst[1])} "
        f"for {worst[0]}"
    )


def _option_ranking_section(observations: SweepObservations, effects: Sequence[OptionValueEffect]) -> ReportSection:
    """Returns the report section that ranks options by their effect on time."""
    rows = []
    has_open = any(effect.benchmarks_with_unproven_option_effect for effect in effects)
    for effect in effects:
        ordered = sorted(effect.ratios.items(), key=lambda item: item[1].value)
        (least, low), (most, high) = ordered[0], ordered[-1]
        row = [
            effect.option_change_label,
            _change_with_range_text(effect.mean_time_ratio),
            f"{_change_with_range_text(low)} {least}",
            f"{_change_with_range_text(high)} {most}",
            str(effect.pairs),
        ]
        rows.append([*row, _effect_significance_text(effect)] if observations.max_placements > 1 or has_open else row)
    chart = [
        {
            "x": effect.option_change_label,
            "y": 100 * (ratio.value - 1),
            "series": target,
            **_change_range_ends_in_percent(ratio),
        }
        for effect in effects
        for target, ratio in effect.ratios.items()
    ]
    marks = f"one mark for each of {count_with_noun(len(observations.times), 'benchmark')}"
    caption = f"Change of time by option, {marks}; the strongest option first."
    prose = (
        "The change of time if an option has another value than its first one. It is computed over all pairs of points "
        "that are equal in all other options. A negative change is faster."
    )
    columns: tuple[str, ...] = ("option", ">mean", ">least", ">most", ">pairs of points")
    if observations.max_placements > 1 or has_open:
        columns = (*columns, "more than placement")
    if has_open:
        prose += f" {_ONE_PLACEMENT}"
    if observations.max_placements > 1:
        prose += (
            f" The time of a point is the median over up to {observations.max_placements} placements of its code. A "
            "change that another choice of placements would reverse is called `placement`."
        )
    return ReportSection(
        "options",
        "Options by effect",
        (prose,),
        [ChartData("pairs", chart, caption, y_title="change of time, %")],
        [TableData("Strongest first", columns, rows)],
    )


def _effect_significance_text(effect: OptionValueEffect) -> str:
    """Returns whether an option's effect is larger than that of the code's placement, and on which benchmarks, as
    text."""
    claimed, of = effect.benchmarks_with_clear_effect, len(effect.ratios)
    if not claimed and effect.benchmarks_with_unproven_option_effect:
        return "not known: one placement"
    if not claimed:
        return (
            "no: placement"
            if any(ratio.may_code_placement_reverse_value_order for ratio in effect.ratios.values())
            else "no change"
        )
    return "yes" if len(claimed) == of else f"{len(claimed)} of {of}: {', '.join(claimed)}"


def _option_interactions_section(observations: SweepObservations) -> ReportSection | None:
    """Returns the report section on pairs of changes that influence each other. None if there is only one option."""
    off = [
        interaction
        for interaction in observations.interactions_of_option_changes()
        if abs(interaction.ratio.value - 1) >= LEAST_INTERACTION
    ]
    unclear = [
        item
        for item in off
        if item.ratio.differs_in_all_code_placements or item.ratio.is_undecided_with_one_code_placement
    ]
    if len(observations.options) < 2:
        return None
    rows = [
        [
            _name_of_option_change(item.first),
            _name_of_option_change(item.second),
            item.target,
            _change_with_range_text(item.ratio),
            str(item.squares),
        ]
        for item in unclear[:SHOWN_INTERACTIONS]
    ]
    pairs = count_with_noun(len(unclear), "pair", "of changes is", "of changes and benchmarks are")
    prose = (
        "The effect of two changes together, compared with the product of their single effects. At 0 % the effects "
        f"just multiply. {pairs} shown, with a difference of {LEAST_INTERACTION:.1%} or more."
    )
    if any(item.ratio.is_undecided_with_one_code_placement for item in unclear):
        prose += f" {_ONE_PLACEMENT}"
    if len(off) > len(unclear):
        prose += (
            f" {len(off) - len(unclear)} more are not shown, because another choice of placements would reverse them."
        )
    columns = ("one", "other", "benchmark", ">together", ">groups of four points")
    tables = [TableData("Largest first", columns, rows)] if rows else []
    return ReportSection("interactions", "Pairs that interact", (prose,), (), tables)


def _name_of_option_change(change: tuple[str, str, str]) -> str:
    """Returns the name of a change of an option, such as `opt -O2 to -Os`."""
    option, usual, level = change
    return f"{option} {usual} to {level}"


def _benchmark_charts_report_section(observations: SweepObservations) -> ReportSection | None:
    """Returns the report section with a small chart of the measured times for each benchmark. The option with the
    largest effect is along the axis, the second in colours, the rest as spread."""
    ranked = observations.rank_options_by_effect()
    along, series = ranked[0], ranked[1] if len(ranked) > 1 else ranked[0]
    rows: list[dict[str, Any]] = []
    for target in list(observations.times)[:MULTIPLES]:
        times = observations.benchmark_times_by_configuration(target)
        reference = (
            observations.benchmark_time_at_first_option_values(target) or observations.quickest_configuration(target)[1]
        ).seconds.median
        cells: dict[tuple[str, str], list[CodePlacementValueRange]] = {}
        for config, time in times.items():
            levels = dict(zip(observations.options, config, strict=True))
            relative = CodePlacementValueRange([value / reference for value in time.seconds.values])
            cells.setdefault((levels[along], levels[series]), []).append(relative)
        rows += [
            {
                "facet": target,
                "x": x,
                "series": f"{series} {name}",
                "y": fmean(one.median for one in item),
                "low": min(one.smallest for one in item),
                "high": max(one.largest for one in item),
            }
            for (x, name), item in cells.items()
        ]
    caption = (
        f"Time by {along} and {series}, as a multiple of the first configuration; marks are means over all other "
        "options, bars reach from the fastest to the "
        f"slowest{' in any placement' * (observations.max_placements > 1)}."
    )
    chart = ChartData("multiples", rows, caption, x_title=along, y_title="time, multiple")
    return ReportSection("multiples", "Benchmark by benchmark", (), [chart])


def _quickest_configurations_section(observations: SweepObservations) -> ReportSection:
    """Returns the report section on the quickest configuration of each benchmark."""
    rows = []
    for target in observations.times:
        config, time = observations.quickest_configuration(target)
        reference = observations.benchmark_time_at_first_option_values(target)
        changed = [f"{name}={level}" for name, level in config.items() if level != observations.levels[name][0]]
        gain = "" if reference is None else _change_from_reference(time, reference)
        row = [
            target,
            measured_value_with_range_text(time.seconds, _nanoseconds_text),
            gain,
            " ".join(changed) or "the first configuration",
        ]
        rows.append(
            [*row, str(observations.count_equally_quick_configurations(target))]
            if observations.max_placements > 1
            else row
        )
    columns: tuple[str, ...] = ("benchmark", ">ns", ">against the first", "with")
    prose: tuple[str, ...] = ()
    if observations.max_placements > 1:
        columns = (*columns, ">as quick")
        note = (
            "The quickest configuration has the smallest median over the placements. As quick: the number of other "
            "configurations that are at least as fast in some placement, so that the quickest one is not certain."
        )
        prose = (note,)
    return ReportSection("best", "Quickest configurations", prose, (), [TableData("By benchmark", columns, rows)])


def _change_from_reference(time: MeasuredTimeInCodePlacements, reference: MeasuredTimeInCodePlacements) -> str:
    """Returns the change of a time from the reference in percent, as text."""
    return percent_change_text_of_ratio(1.0) if time is reference else _change_with_range_text(time.ratio_to(reference))


def _nanoseconds_text(seconds: float) -> str:
    """Returns seconds as nanoseconds, as text."""
    return f"{1e9 * seconds:,.1f}"


def _report_section_on_unmeasured_points(points: Sequence[StoredMeasurementPoint]) -> ReportSection | None:
    """Returns the report section on points that were not measured, with the reasons. None if there are none."""
    reasons: Counter[tuple[str, str]] = Counter()
    for point in points:
        if isinstance(point.result, NotApplicableMeasurement):
            reasons["skipped", point.result.reason] += 1
        elif isinstance(point.result, FailedMeasurement):
            reasons["failed", point.result.message] += 1
    if not reasons:
        return None
    rows = [[status, str(count), reason] for (status, reason), count in reasons.most_common()]
    table = TableData("Points without a number", ("what", ">points", "why"), rows)
    return ReportSection("absent", "Not measured", (), (), [table])
