"""The same figures over many run directories, in the order of measurement: which figure moved, and when.

A point that a run holds in several placements counts by each figure's median. A change is called placement and is not
claimed where the bands of the two runs have a value in common, or where the same code is in another place. No change
is claimed either for other code in one placement each, if the place matters. This is shown as `one placement`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

from rtoslab.analyses import (
    CYCLES,
    PLACEMENT,
    NamedMetricValue,
    comparable_values_of_measurement_point,
    measurement_id_without_code_placement,
)
from rtoslab.archive import ArchivedMeasuredPoint
from rtoslab.base import ReportError, count_with_noun
from rtoslab.compare.brief_manifest import shorten_manifest_for_baseline
from rtoslab.compare.causes import DifferenceCause, find_cycle_difference_reason
from rtoslab.compare.comparison import ChangeVerdict
from rtoslab.compare.document import metric_with_range_text
from rtoslab.compare.matching import measurement_point_coordinates_by_name
from rtoslab.compare.placement_pairs import (
    may_depend_on_placement,
    median_value_over_code_placements,
    value_difference_range,
)
from rtoslab.compare.sides import values_of_stored_measurement
from rtoslab.reports import ChartData, ReportDocument, ReportSection, TableData, add_kernel_deviation_footnotes
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredMeasurementPoint

USUAL_METRICS = ("cycles_per_count", "*.median", "image.text")
ONE_PLACEMENT = ChangeVerdict.ONE_PLACEMENT.value
MOST_LINES = 7
"""The most lines of a chart, as many as there are colours."""


@dataclass(frozen=True, slots=True)
class RunMeasuredValue:
    """One figure of one measured point in one run, over the placements of the code."""

    figure: NamedMetricValue
    """The figure, for several placements the median with the band."""
    points: Sequence[tuple[MeasuredPoint, Any]]
    """The measured points by placement, each with its manifest."""

    def reason_value_change_is_not_asserted(self, before: "RunMeasuredValue") -> str:
        """Returns why a change of the figure since the run `before` is not claimed, such as `placement`. Empty if it is
        claimed."""
        if self._may_code_placement_explain_value_change(before):
            return PLACEMENT
        has_no_bands = self.figure.band is None and before.figure.band is None
        manifests = [manifest for _, manifest in (*self.points, *before.points)]
        return ONE_PLACEMENT if has_no_bands and may_depend_on_placement(self.figure.id, *manifests) else ""

    def _may_code_placement_explain_value_change(self, before: "RunMeasuredValue") -> bool:
        """Whether the placement of the code alone may have changed the figure since the run `before`."""
        if self.figure.band is not None or before.figure.band is not None:
            least, most = value_difference_range(before.figure, self.figure)
            return least <= 0 <= most
        sides = [
            replace(figures, manifest=shorten_manifest_for_baseline(figures.manifest))
            for figures in (
                values_of_stored_measurement(StoredMeasurementPoint(Path(), *seen.points[0])) for seen in (before, self)
            )
        ]
        return self.figure.unit == CYCLES and find_cycle_difference_reason(*sides).cause is DifferenceCause.PLACEMENT


@dataclass(frozen=True, slots=True)
class ValueChangeBetweenRuns:
    """The change of a figure from one run to the next."""

    run: int
    change: float
    unclaimed: str
    """Why the change is not claimed. Empty if it is."""


@dataclass(frozen=True, slots=True)
class FigureHistory:
    """One figure of one point over all runs that have it."""

    point: str
    metric: str
    unit: str
    values: dict[int, RunMeasuredValue]
    """Keyed by number of the run, from 1."""

    def measured_value_in_run(self, run: int) -> float:
        """Returns the figure's value in the run with this number."""
        return self.values[run].figure.value

    @property
    def changes_between_runs(self) -> list[ValueChangeBetweenRuns]:
        """Returns all changes of the figure from run to run, claimed or not."""
        return [
            ValueChangeBetweenRuns(
                run, seen.figure.value - before.figure.value, seen.reason_value_change_is_not_asserted(before)
            )
            for (_, before), (run, seen) in pairwise(sorted(self.values.items()))
            if seen.figure.value != before.figure.value
        ]

    @property
    def changes_in_all_placements(self) -> list[ValueChangeBetweenRuns]:
        """Returns those changes of the figure that placement of the code does not explain."""
        return [change for change in self.changes_between_runs if not change.unclaimed]


def history_document_of_measured_values(
    points: Sequence[ArchivedMeasuredPoint], patterns: Sequence[str] = ()
) -> ReportDocument:
    """Returns a report of figures over many runs. `patterns` select figures by name. Raises ReportError if no figure is
    in two runs."""
    runs = list(dict.fromkeys(item.run for item in points))
    lines = [item for item in _value_histories_over_runs(points, patterns or USUAL_METRICS) if len(item.values) > 1]
    if not lines:
        raise ReportError(
            "These run directories have no figure in common; measure the same points again, or name other run "
            "directories."
        )
    sessions = {item.run: item.session for item in points}
    table = TableData(
        "Runs",
        (">run", "directory", "date", "revision"),
        [[str(place), run.name, sessions[run].date, sessions[run].revision] for place, run in enumerate(runs, 1)],
    )
    moved, groups, placed = (
        sorted(item, key=lambda line: -_largest_relative_change(line)) for item in _split_histories_by_claim(lines)
    )
    names = {place: sessions[run].revision or run.name for place, run in enumerate(runs, 1)}
    moves = ReportSection(
        "moves",
        "What moved",
        _sentences_on_unchanged_values(len(lines), len(moved), len(groups), len(placed)),
        (),
        [
            _value_history_table(title, group, names)
            for title, group in (("Largest first", moved), (_SINGLE_PLACEMENT, groups), (_PLACED, placed))
            if group
        ],
    )
    charts = [
        _history_chart(metric, group) for metric, group in _group_value_histories_by_unit(moved or groups or lines)
    ]
    history = ReportSection("history", "Run by run", (), charts, [table])
    document = ReportDocument(
        title=f"{count_with_noun(len(lines), 'figure')} over {count_with_noun(len(runs), 'run')}",
        subtitle=f"from {sessions[runs[0]].date} to {sessions[runs[-1]].date}",
        summary=_run_history_report_summary(moved, groups, placed, names, len(runs)),
        sections=(moves, history),
    )
    return add_kernel_deviation_footnotes(
        document, [item.result for item in points if isinstance(item.result, MeasuredPoint)]
    )


_PLACED = "Within placement"
_SINGLE_PLACEMENT = "In one placement each"


def _split_histories_by_claim(
    lines: Sequence[FigureHistory],
) -> tuple[list[FigureHistory], list[FigureHistory], list[FigureHistory]]:
    """Splits figures into those that changed, those that differ in one placement of the code, and those that differ by
    placement only."""
    groups: tuple[list[FigureHistory], list[FigureHistory], list[FigureHistory]] = ([], [], [])
    for line in lines:
        if line.changes_in_all_placements:
            groups[0].append(line)
        elif line.changes_between_runs:
            groups[1 if any(move.unclaimed == ONE_PLACEMENT for move in line.changes_between_runs) else 2].append(line)
    return groups


def _sentences_on_unchanged_values(lines: int, moved: int, single: int, placed: int) -> list[str]:
    """Returns sentences on the figures without a claimed change. The arguments are numbers of figures."""
    parts = [f"{lines - moved - single - placed} of {count_with_noun(lines, 'figure')} never changed."]
    if placed:
        parts.append(
            f"{count_with_noun(placed, 'figure')} differed by no more than the placement of the code can explain: "
            "the bands of the runs overlap, or the same code is at other addresses."
        )
    if single:
        parts.append(
            f"{count_with_noun(single, 'figure')} differed between runs in one placement each, whose code differs. "
            "The cause may be the code or its placement; runs with --placements 8 show which."
        )
    return parts


def _value_histories_over_runs(result: Iterable[ArchivedMeasuredPoint], patterns: Sequence[str]) -> list[FigureHistory]:
    """Returns the history over all runs of each figure whose name matches a pattern."""
    lines: dict[tuple[str, str], FigureHistory] = {}
    runs: dict[object, int] = {}
    groups: dict[tuple[int, str], list[tuple[MeasuredPoint, Any]]] = {}
    for item in result:
        run = runs.setdefault(item.run, len(runs) + 1)
        if isinstance(item.result, MeasuredPoint):
            axes = measurement_point_coordinates_by_name(measurement_id_without_code_placement(item.point_id)).items()
            label = " ".join(value if name in _UNNAMED_AXES else f"{name}={value}" for name, value in axes)
            groups.setdefault((run, label), []).append((item.result, item.stored.manifest))
    for (run, label), points in groups.items():
        for metric in _metrics_in_all_code_placements([point for point, _ in points]):
            if any(fnmatchcase(metric.id, pattern) for pattern in patterns):
                line = lines.setdefault((label, metric.id), FigureHistory(label, metric.id, metric.unit, {}))
                line.values[run] = RunMeasuredValue(metric, points)
    return list(lines.values())


def _metrics_in_all_code_placements(placements: Sequence[MeasuredPoint]) -> list[NamedMetricValue]:
    """Returns the figures that a point has in all its placements, each as a median with its range."""
    if len(placements) == 1:
        return comparable_values_of_measurement_point(placements[0])
    every = [{metric.id: metric for metric in comparable_values_of_measurement_point(point)} for point in placements]
    shared = [[figure[name] for figure in every] for name in every[0] if all(name in figure for figure in every)]
    return [median_value_over_code_placements(figure) for figure in shared]


_UNNAMED_AXES = ("benchmark", "kernel", "board", "cores", "window")


def _largest_relative_change(line: FigureHistory) -> float:
    """Returns the largest difference between two values of a figure, as a share of the smallest value."""
    values = [line.measured_value_in_run(run) for run in line.values]
    return (max(values) - min(values)) / (abs(min(values)) or 1.0)


def _value_history_table(title: str, moved: Sequence[FigureHistory], names: dict[int, str]) -> TableData:
    """Returns a table of figures with their changes from run to run. `names` are the runs' names by number."""
    rows = [
        [
            line.point,
            line.metric,
            *(metric_with_range_text(line.values[run].figure) for run in (min(line.values), max(line.values))),
            "; ".join(_value_change_text_with_run_name(move, names) for move in line.changes_between_runs),
        ]
        for line in moved
    ]
    return TableData(title, ("point", "figure", ">first", ">last", "moves"), rows)


def _value_change_text_with_run_name(move: ValueChangeBetweenRuns, names: dict[int, str]) -> str:
    """Returns one change of a figure and the run in which it appeared, as text."""
    return f"{move.change:+,.2f} at {names[move.run]}" + (f" ({move.unclaimed})" if move.unclaimed else "")


def _group_value_histories_by_unit(lines: Sequence[FigureHistory]) -> list[tuple[str, list[FigureHistory]]]:
    """Groups figures by unit, with at most seven in a group, which is one chart."""
    groups_ = []
    for unit in dict.fromkeys(line.unit for line in lines):
        mine = [line for line in lines if line.unit == unit]
        groups_ += [(unit, mine[start : start + MOST_LINES]) for start in range(0, len(mine), MOST_LINES)]
    return groups_


def _history_chart(unit: str, lines: Sequence[FigureHistory]) -> ChartData:
    """Returns a chart of figures over runs, in percent of their first values."""
    rows = [
        {
            "x": run,
            "y": _percent_change_since_first_run(seen.figure.value, line),
            "series": f"{line.point} {line.metric}",
            "text": "",
            "low": None
            if seen.figure.band is None
            else _percent_change_since_first_run(seen.figure.band.smallest, line),
            "high": None
            if seen.figure.band is None
            else _percent_change_since_first_run(seen.figure.band.largest, line),
        }
        for line in lines
        for run, seen in sorted(line.values.items())
    ]
    return ChartData(
        "lines",
        rows,
        f"Change of figures in {unit} since the first run that has them. Several placements: the median and the band.",
        "run",
        f"change of {unit}, %",
    )


def _percent_change_since_first_run(value: float, line: FigureHistory) -> float:
    """Returns a value's change in percent since the figure's first value."""
    first = line.measured_value_in_run(min(line.values))
    return 100 * (value / first - 1) if first else 0.0


def _run_history_report_summary(
    moved: Sequence[FigureHistory],
    single: Sequence[FigureHistory],
    placed: Sequence[FigureHistory],
    names: dict[int, str],
    runs: int,
) -> str:
    """Returns the summary of a report over many runs. `runs` is their number, `names` are their names."""
    span_text = f"over {count_with_noun(runs, 'run')}"
    if not moved and not single:
        return f"Nothing changed {span_text}{' beyond placement' if placed else ''}."
    first = (moved or single)[0]
    last = (first.changes_in_all_placements or first.changes_between_runs)[-1]
    step = f"most of all {first.point}, {first.metric}: {last.change:+,.2f} {first.unit} at {names[last.run]}."
    if not moved:
        differing = count_with_noun(len(single), "figure")
        return f"No certain change {span_text}; {differing} differed in one placement, {step}"
    return f"{count_with_noun(len(moved), 'figure')} changed {span_text}; {step}"
