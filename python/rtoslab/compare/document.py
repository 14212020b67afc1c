"""A comparison as a report: what differs first, then what became worse or better, then where the cycles went."""

from collections.abc import Iterable, Sequence

from rtoslab.analyses import BYTES, CYCLES, INSTRUCTIONS, NamedMetricValue, noun_of_measured_event
from rtoslab.base import all_items_phrase, count_with_noun
from rtoslab.compare.attribution import cycle_differences_by_function
from rtoslab.compare.comparison import ChangeVerdict, FigureChange, MeasurementRunComparison
from rtoslab.compare.differences import shorten_manifest_differences
from rtoslab.compare.matching import MeasuredPointPair
from rtoslab.compare.noise import ALPHA
from rtoslab.reports import (
    ReportDocument,
    ReportSection,
    TableData,
    add_kernel_deviation_footnotes,
    measured_value_with_range_text,
)

_ONE_PLACEMENT = (
    "Each side was measured in one placement of its code. On boards where code waits for its memory, another "
    "placement gives other times and other stack depths. The placement also changes the padding of the image and "
    "of heap blocks. The differences are exact for these two images, but nobody knows which part of them is due to "
    "the placement. So no figure is called worse or better. With --placements 8, a figure is called worse or better "
    "if its difference is larger than the bands."
)
SHOWN_PARTS = 12
ATTRIBUTED = 12
"""The number of pairs with the largest effect that are attributed by function."""
FEW_SAMPLES = 20


def comparison_document(
    comparisons: Sequence[MeasurementRunComparison], extra: Sequence[ReportSection] = ()
) -> ReportDocument:
    """Returns the report on comparisons of runs with one reference. `extra` are further sections."""
    reference = comparisons[0].before.name
    names = ", ".join(comparison.after.name for comparison in comparisons)
    sections: list[ReportSection] = []
    for index, item in enumerate(comparisons):
        sections += _comparison_sections(item, f"-{index}" if len(comparisons) > 1 else "")
    document = ReportDocument(
        title=f"{names} against {reference}",
        subtitle=_comparison_subtitle(comparisons),
        summary=" ".join(comparison_summary_text(comparison) for comparison in comparisons),
        sections=(*sections, *extra),
    )
    figures = [figure for one in comparisons for side in (one.before, one.after) for figure in side.figures]
    return add_kernel_deviation_footnotes(document, [figure.result for figure in figures if figure.result is not None])


def comparison_summary_text(comparison: MeasurementRunComparison) -> str:
    """Returns one or two sentences that sum up a comparison: how many points are worse or better."""
    pairs = len(comparison.matching.pairs)
    if not pairs:
        return f"{comparison.after.name} and {comparison.before.name} have no point in common."
    worse = [item for item in comparison.changes_in_all_placements if item.verdict is ChangeVerdict.WORSE]
    better = len(comparison.changes_in_all_placements) - len(worse)
    figures = count_with_noun(len(comparison.changes), "figure")
    single_placement = _value_changes_with_verdict(comparison, ChangeVerdict.ONE_PLACEMENT)
    verdict_text_ = (
        f"{len(worse)} of {figures} {'is' if len(worse) == 1 else 'are'} worse and {better} better"
        if comparison.changes_in_all_placements
        else f"no figure of {len(comparison.changes)} differs"
        if all(change.verdict is ChangeVerdict.SAME for change in comparison.changes)
        else f"none of {figures} is clearly worse or better"
    )
    if single_placement:
        differ = "differs" if len(single_placement) == 1 else "differ"
        verdict_text_ += (
            f"; {len(single_placement)} {differ} in one placement each, so it is not known whether "
            "the code or its placement is the cause"
        )
    largest = [
        item for item in (*comparison.changes_in_all_placements, *single_placement) if item.before.unit == CYCLES
    ][:1]
    largest_text = (
        f" The largest{' difference' if largest[0] in single_placement else ''}: {metric_change_text(largest[0])}."
        if largest
        else ""
    )
    verdict_text_ = f"of {count_with_noun(pairs, 'point')} {verdict_text_}"
    return f"{comparison.after.name} against {comparison.before.name}: {verdict_text_}.{largest_text}"


def fastest_and_slowest_sentence(comparison: MeasurementRunComparison) -> str:
    """Returns a sentence on the points in which the second side of a comparison is fastest and slowest. Only claimed
    differences in time count.

    A side is called by what is compared (such as a kernel's name) if that is one thing, else by its run.
    """
    over = list(comparison.matching.over.values())
    first, second = over[0] if len(over) == 1 else (comparison.before.name, comparison.after.name)
    ratios = [
        (change.before.value / change.after.value, f"{change.pair.label}, {change.before.id}")
        for change in comparison.changes_in_all_placements
        if change.before.unit == CYCLES and change.before.value > 0 and change.after.value > 0
    ]
    faster = max((ratio for ratio in ratios if ratio[0] > 1), default=None)
    slower = min((ratio for ratio in ratios if ratio[0] < 1), default=None)
    sentences = []
    if faster is not None:
        sentences.append(f"is up to {faster[0]:.2f} times as fast as {first} ({faster[1]})")
    if slower is not None:
        sentences.append(
            f"takes up to {1 / slower[0]:.2f} times as long{'' if faster else f' as {first}'} ({slower[1]})"
        )
    return (
        f"{second} {' and '.join(sentences)}."
        if sentences
        else f"No difference in time between {first} and {second} is certain."
    )


def _value_changes_with_verdict(comparison: MeasurementRunComparison, verdict: ChangeVerdict) -> list[FigureChange]:
    """Returns those changes of a comparison that have this verdict."""
    return [change for change in comparison.changes if change.verdict is verdict]


def metric_change_text(change: FigureChange) -> str:
    """Returns a figure's change in a few words: point, figure, difference."""
    unit = change.before.unit
    band = (
        ""
        if change.placement_interval is None
        else (
            f"; {_signed_number_text(change.placement_interval[0])} to "
            f"{_signed_number_text(change.placement_interval[1])}"
        )
    )
    return (
        f"{change.pair.label}, {change.before.id}: {signed_change_text(change)} {unit} "
        f"({percent_change_text(change)}{band})"
    )


def _comparison_subtitle(comparisons: Sequence[MeasurementRunComparison]) -> str:
    """Returns the subtitle of a comparison's report: the shared settings, and whether figures are exact."""
    pairs = [change.pair for comparison in comparisons for change in comparison.changes]
    exact = {pair.before.is_exact and pair.after.is_exact for pair in pairs}
    placed = any(change.placement_interval is not None for comparison in comparisons for change in comparison.changes)
    single_placement = any(
        _value_changes_with_verdict(comparison, ChangeVerdict.ONE_PLACEMENT) for comparison in comparisons
    )
    words = {
        frozenset({True}): "virtual boards in several placements: a difference is real where the bands do not overlap"
        if placed
        else "virtual boards in one placement each: exact, but other placements may give other times"
        if single_placement
        else "virtual boards: every difference is exact",
        frozenset({False}): f"noisy samples: at most {ALPHA:.0%} false alarms",
        frozenset({True, False}): "virtual boards exactly, real ones by their samples",
    }
    common = [value for comparison in comparisons for value in comparison.matching.common]
    return " · ".join([*dict.fromkeys(common), words.get(frozenset(exact), "")])


def _comparison_sections(comparison: MeasurementRunComparison, suffix: str) -> list[ReportSection]:
    """Returns the report sections on one comparison. `suffix` makes their ids different from those of other
    comparisons."""
    against = f": {comparison.after.name}" if suffix else ""
    parts = [
        _value_changes_report_section(comparison, f"changes{suffix}", against),
        _undecided_differences_section(comparison, f"undecided{suffix}", against),
        _single_code_placement_report_section(comparison, f"one-placement{suffix}", against),
        _code_placement_differences_section(comparison, f"placement{suffix}", against),
        _function_cycles_section(comparison, f"where{suffix}", against),
        _report_section_on_missing_measurements(comparison, f"missing{suffix}", against),
        _differences_section(comparison, f"differs{suffix}", against),
    ]
    return [part for part in parts if part is not None]


def _differences_section(comparison: MeasurementRunComparison, ident: str, against: str) -> ReportSection | None:
    """Returns the report section on the differences between the manifests of the two sides. `ident` is its id,
    `against` the end of its title."""
    over = [[name, *values, "all"] for name, values in comparison.matching.over.items()]
    rows = [
        [difference.key, difference.before, difference.after, str(difference.points or "")]
        for difference in shorten_manifest_differences(comparison.differences)
    ]
    if not over and not rows:
        return None
    prose = "The two sides also differ in these settings, sources and tools. Each may be the cause of a changed figure."
    columns = ("what", comparison.before.name, comparison.after.name, ">points")
    return ReportSection(
        ident, f"What differs{against}", (prose,), (), [TableData("Manifests", columns, [*over, *rows])]
    )


def _value_changes_report_section(comparison: MeasurementRunComparison, ident: str, against: str) -> ReportSection:
    """Returns the report section on figures that are worse or better. `ident` is its id, `against` the end of its
    title."""
    tables = _change_tables_by_unit(comparison.changes_in_all_placements, "largest effect first")
    same = sum(change.verdict is ChangeVerdict.SAME for change in comparison.changes)
    prose = [f"{same} figures are the same."] if same else []
    if not comparison.changes_in_all_placements:
        prose.insert(0, "No figure is clearly worse or better.")
    return ReportSection(ident, f"Worse and better{against}", prose, (), tables)


def _single_code_placement_report_section(
    comparison: MeasurementRunComparison, ident: str, against: str
) -> ReportSection | None:
    """Returns the report section on changes of figures that were measured in one placement of the code. None without
    any."""
    changes = _value_changes_with_verdict(comparison, ChangeVerdict.ONE_PLACEMENT)
    if not changes:
        return None
    tables = _change_tables_by_unit(changes, "largest difference first")
    return ReportSection(ident, f"Differences in one placement{against}", (_ONE_PLACEMENT,), (), tables)


def _change_tables_by_unit(changes: Sequence[FigureChange], order: str) -> list[TableData]:
    """Returns a table of changes for each unit that occurs. `order` is said in the title."""
    columns = ("point", "figure", ">before", ">after", ">change", ">%", "verdict")
    tables = []
    for unit, title in (
        (CYCLES, "Time, in cycles"),
        (INSTRUCTIONS, "Instructions of changed code, per count or sample"),
        (BYTES, "Memory, in bytes"),
    ):
        rows = [_table_row_of_measured_value_change(change) for change in changes if change.before.unit == unit]
        tables += [TableData(f"{title}, {order}", columns, rows)] if rows else []
    return tables


def _table_row_of_measured_value_change(change: FigureChange) -> list[str]:
    """Returns one change as a row of a report's table."""
    result = change.placement_interval if change.sample_shift is None else change.sample_shift.interval
    interval = (
        "" if result is None else f" [{number_with_decimals_text(result[0])} to {number_with_decimals_text(result[1])}]"
    )
    return [
        change.pair.label,
        change.before.id,
        metric_with_range_text(change.before),
        metric_with_range_text(change.after),
        signed_change_text(change) + interval,
        percent_change_text(change),
        change.verdict.value,
    ]


def metric_with_range_text(metric: NamedMetricValue) -> str:
    """Returns a figure as text: its value, or over several placements of the code the median with its range."""
    return (
        number_with_decimals_text(metric.value)
        if metric.band is None
        else measured_value_with_range_text(metric.band, number_with_decimals_text)
    )


def _undecided_differences_section(
    comparison: MeasurementRunComparison, ident: str, against: str
) -> ReportSection | None:
    """Returns the report section on differences that may be noise. None without noisy figures."""
    open_ones = [
        change for change in comparison.changes if change.verdict in {ChangeVerdict.TOO_FEW, ChangeVerdict.UNCLEAR}
    ]
    noisy = [change.sample_shift for change in comparison.changes if change.sample_shift is not None]
    if not noisy:
        return None
    rule = (
        "Samples of real boards contain noise. A difference counts if two conditions hold: it is significant in the "
        f"Mann-Whitney test at a level of {ALPHA:.0%} over {all_items_phrase(len(noisy), 'comparison')} together, and "
        "the confidence interval of the difference of medians does not contain zero."
    )
    prose = [rule]
    few = sum(min(shift.counts) < FEW_SAMPLES for shift in noisy)
    if few:
        prose.append(f"Warning: {few} of these comparisons have fewer than {FEW_SAMPLES} samples on one side.")
    columns = ("point", "figure", ">before", ">after", ">change [interval]", ">%", "verdict")
    rows = [_table_row_of_measured_value_change(one) for one in open_ones]
    tables = [TableData("No significant difference", columns, rows)] if rows else []
    return ReportSection(ident, f"Differences within noise{against}", prose, (), tables)


def _code_placement_differences_section(
    comparison: MeasurementRunComparison, ident: str, against: str
) -> ReportSection | None:
    """Returns the report section on differences that the placement of the code may explain. None without any."""
    placed = [change for change in comparison.changes if change.placement_interval is not None]
    moved = [
        item
        for item in _value_changes_with_verdict(comparison, ChangeVerdict.PLACEMENT)
        if item.placement_interval is None
    ]
    if not placed and not moved:
        return None
    rule = (
        "A figure that was measured in several placements is shown as their median. Its band reaches from the smallest "
        "to the largest value. A difference counts only if the bands of the two sides do not overlap. If one side has "
        "only one placement, its band is assumed to be as wide as that of the other side. The interval contains "
        "every difference between a placement of one side and a placement of the other."
    )
    elsewhere = (
        "Points that were measured in one placement: on both sides, every executed function has the same code, and "
        "some of it is at another address. The settings are the same. The state of the board at the beginning of the "
        "window is also the same, or everything that determines this state is. So only the placement differs."
    )
    rows = [
        _table_row_of_measured_value_change(item)
        for item in _value_changes_with_verdict(comparison, ChangeVerdict.PLACEMENT)
    ]
    columns = ("point", "figure", ">before", ">after", ">change [interval]", ">%", "verdict")
    tables = [TableData("Not more than placement", columns, rows)] if rows else []
    prose = [*([rule] if placed else []), *([elsewhere] if moved else [])]
    return ReportSection(ident, f"Differences within placement{against}", prose, (), tables)


def _function_cycles_section(comparison: MeasurementRunComparison, ident: str, against: str) -> ReportSection | None:
    """Returns the report section on the functions in which cycles differ. None if nothing can be attributed."""
    tables = [
        table
        for pair in _measurement_pairs_with_different_times(comparison.measurement_changes_for_report)
        if (table := _differing_functions_table(pair)) is not None
    ]
    if not tables:
        return None
    prose = (
        "Cycles of each function in the window, divided by the number of counts. They include the waits for buses and "
        "flash. The differences of all functions add up to the difference of the point. For a point in several "
        "placements, each value is the mean over them."
    )
    return ReportSection(ident, f"Where the cycles went{against}", (prose,), (), tables[:ATTRIBUTED])


def _measurement_pairs_with_different_times(changes: Iterable[FigureChange]) -> list[MeasuredPointPair]:
    """Returns the pairs of points whose times differ, each once, in the order of the changes."""
    pairs: dict[str, MeasuredPointPair] = {}
    for change in changes:
        if change.before.unit == CYCLES:
            pairs.setdefault(change.pair.label, change.pair)
    return list(pairs.values())


def _differing_functions_table(pair: MeasuredPointPair) -> TableData | None:
    """Returns a table of the functions in which the cycles of a pair of points differ. None without profiles."""
    parts = cycle_differences_by_function(pair)
    if not parts or pair.before.result is None:
        return None
    per = noun_of_measured_event(pair.before.result)
    rows = [
        [
            part.function,
            number_with_decimals_text(part.before),
            number_with_decimals_text(part.after),
            _signed_number_text(part.additional_function_cycles),
            "" if part.additional_cycles_per_call is None else _signed_number_text(part.additional_cycles_per_call),
            part.code,
        ]
        for part in parts[:SHOWN_PARTS]
    ]
    notes = ["Moved: the same code at another address."] * any(part.code == "moved" for part in parts[:SHOWN_PARTS])
    notes += [f"{len(parts) - SHOWN_PARTS} smaller parts are left out."] * (len(parts) > SHOWN_PARTS)
    columns = ("function", ">before", ">after", f">change per {per}", ">change per call", "code")
    return TableData(f"{pair.label}: cycles per {per}", columns, rows, " ".join(notes))


def _report_section_on_missing_measurements(
    comparison: MeasurementRunComparison, ident: str, against: str
) -> ReportSection | None:
    """Returns the report section on points that lack a figure on one side of the comparison. None without any. `ident`
    is the section's id, and `against` the end of its title, which names the second side."""
    rows = [[label, "only in " + comparison.before.name, ""] for label in comparison.matching.only_before]
    rows += [[label, "only in " + comparison.after.name, ""] for label in comparison.matching.only_after]
    for pair in comparison.point_pairs_without_measured_values:
        side = comparison.before.name if pair.before.missing_reason else comparison.after.name
        rows.append([pair.label, f"no figure in {side}", pair.before.missing_reason or pair.after.missing_reason])
    if not rows:
        return None
    table = TableData("Points on one side only", ("point", "where", "why"), rows)
    return ReportSection(ident, f"Not compared{against}", (), (), [table])


def number_with_decimals_text(value: float) -> str:
    """Returns a number as text, with two decimals unless it is whole."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def signed_change_text(change: FigureChange) -> str:
    """Returns a figure's change with its sign, in the figure's unit, as text."""
    return _signed_number_text(change.change_in_unit)


def _signed_number_text(value: float) -> str:
    """Returns a number with its sign as text, with two decimals unless it is whole."""
    return f"{value:+,.0f}" if value == int(value) else f"{value:+,.2f}"


def percent_change_text(change: FigureChange) -> str:
    """Returns a figure's change in percent with its sign as text, or `new` if the figure was 0 before."""
    return "new" if abs(change.change_in_percent) == float("inf") else f"{change.change_in_percent:+.2f} %"
