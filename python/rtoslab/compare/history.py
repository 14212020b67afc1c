"""The same figures over many run directories, in the order they were measured: when did which one move?

A point that a run holds in several placements counts by each figure's median. A change is called placement and is not
claimed where the bands of the two runs have a value in common, or where the same code is in another place. No change
is claimed either for other code in one placement each, if the place matters. This is shown as `one placement`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

from rtoslab.analyses import CYCLES, PLACEMENT, Metric, metrics, without_placement
from rtoslab.archive import ArchivedPoint
from rtoslab.base import ReportError, count_text
from rtoslab.compare.brief_manifest import brief_manifest
from rtoslab.compare.causes import Cause, find_reason
from rtoslab.compare.comparison import Verdict
from rtoslab.compare.document import figure_text
from rtoslab.compare.matching import axes_of
from rtoslab.compare.placement_pairs import interval, is_bound, over_band
from rtoslab.compare.sides import figures_of
from rtoslab.reports import ChartData, Document, Section, TableData, mark_deviations
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredPoint

USUAL_METRICS = ("cycles_per_count", "*.median", "image.text")
ONE_PLACEMENT = Verdict.ONE_PLACEMENT.value
MOST_LINES = 7
"""The most lines of one chart: there are as many colours."""


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One figure of one point in one run, in one placement or in several."""

    figure: Metric
    """Of several placements the median, with the band."""
    points: Sequence[tuple[MeasuredPoint, Any]]
    """What it was read from, by placement, with the manifests."""

    def reason_unclaimed(self, before: "RunFigure") -> str:
        """Why it is not told that the figure moved: PLACEMENT, ONE_PLACEMENT; empty if it is told."""
        if self._is_placed_apart(before):
            return PLACEMENT
        has_no_bands = self.figure.band is None and before.figure.band is None
        manifests = [manifest for _, manifest in (*self.points, *before.points)]
        return ONE_PLACEMENT if has_no_bands and is_bound(self.figure.id, *manifests) else ""

    def _is_placed_apart(self, before: "RunFigure") -> bool:
        """Whether another place of the code may be all that makes this figure another one than before."""
        if self.figure.band is not None or before.figure.band is not None:
            least, most = interval(before.figure, self.figure)
            return least <= 0 <= most
        sides = [
            replace(figures, manifest=brief_manifest(figures.manifest))
            for figures in (figures_of(StoredPoint(Path(), *seen.points[0])) for seen in (before, self))
        ]
        return self.figure.unit == CYCLES and find_reason(*sides).cause is Cause.PLACEMENT


@dataclass(frozen=True, slots=True)
class Move:
    """A figure that is another one than in the run before."""

    run: int
    change: float
    unclaimed: str
    """Why it is not told that it moved. Empty if it is."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one point over the runs that have it."""

    point: str
    metric: str
    unit: str
    values: dict[int, RunFigure]
    """Keyed by number of the run, from 1."""

    def at(self, run: int) -> float:
        """The figure in a run."""
        return self.values[run].figure.value

    @property
    def changes(self) -> list[Move]:
        """Runs at which it was another one than before, for whatever reason."""
        return [
            Move(run, seen.figure.value - before.figure.value, seen.reason_unclaimed(before))
            for (_, before), (run, seen) in pairwise(sorted(self.values.items()))
            if seen.figure.value != before.figure.value
        ]

    @property
    def moves(self) -> list[Move]:
        """Changes that are claimed."""
        return [change for change in self.changes if not change.unclaimed]


def history_document(points: Sequence[ArchivedPoint], patterns: Sequence[str] = ()) -> Document:
    """Raises ReportError if fewer than two run directories have the same figure."""
    runs = list(dict.fromkeys(item.run for item in points))
    lines = [item for item in _lines(points, patterns or USUAL_METRICS) if len(item.values) > 1]
    if not lines:
        raise ReportError(
            "No figure is in two of these run directories; measure the same points again, or name others."
        )
    sessions = {item.run: item.session for item in points}
    table = TableData(
        "Runs",
        (">run", "directory", "date", "revision"),
        [[str(place), run.name, sessions[run].date, sessions[run].revision] for place, run in enumerate(runs, 1)],
    )
    moved, groups, placed = (sorted(item, key=lambda line: -_largest(line)) for item in _by_claim(lines))
    names = {place: sessions[run].revision or run.name for place, run in enumerate(runs, 1)}
    moves = Section(
        "moves",
        "What moved",
        _never(len(lines), len(moved), len(groups), len(placed)),
        (),
        [
            _move_table(title, group, names)
            for title, group in (("Largest first", moved), (_SINGLE_PLACEMENT, groups), (_PLACED, placed))
            if group
        ],
    )
    charts = [_chart(metric, group) for metric, group in _groups(moved or groups or lines)]
    history = Section("history", "Run by run", (), charts, [table])
    document = Document(
        title=f"{count_text(len(lines), 'figure')} over {count_text(len(runs), 'run')}",
        subtitle=f"from {sessions[runs[0]].date} to {sessions[runs[-1]].date}",
        summary=_summary(moved, groups, placed, names, len(runs)),
        sections=(moves, history),
    )
    return mark_deviations(document, [item.result for item in points if isinstance(item.result, MeasuredPoint)])


_PLACED = "No more than placement"
_SINGLE_PLACEMENT = "In one placement each"


def _by_claim(lines: Sequence[Line]) -> tuple[list[Line], list[Line], list[Line]]:
    """Lines that moved. That differ in one placement. That differ by no more than placement."""
    groups: tuple[list[Line], list[Line], list[Line]] = ([], [], [])
    for line in lines:
        if line.moves:
            groups[0].append(line)
        elif line.changes:
            groups[1 if any(move.unclaimed == ONE_PLACEMENT for move in line.changes) else 2].append(line)
    return groups


def _never(lines: int, moved: int, single: int, placed: int) -> list[str]:
    parts = [f"{lines - moved - single - placed} of {count_text(lines, 'figure')} never moved."]
    if placed:
        parts.append(
            f"{count_text(placed, 'figure')} differed by no more than placement: "
            "the runs' bands have a value in common, "
            "or the same code lies in another place."
        )
    if single:
        parts.append(
            f"{count_text(single, 'figure')} differed in one placement each, of other code: what of it is the code and "
            "what its place is not known. Runs with --placements 8 tell."
        )
    return parts


def _lines(result: Iterable[ArchivedPoint], patterns: Sequence[str]) -> list[Line]:
    lines: dict[tuple[str, str], Line] = {}
    runs: dict[object, int] = {}
    groups: dict[tuple[int, str], list[tuple[MeasuredPoint, Any]]] = {}
    for item in result:
        run = runs.setdefault(item.run, len(runs) + 1)
        if isinstance(item.result, MeasuredPoint):
            axes = axes_of(without_placement(item.point)).items()
            label = " ".join(value if name in _PLAIN else f"{name}={value}" for name, value in axes)
            groups.setdefault((run, label), []).append((item.result, item.stored.manifest))
    for (run, label), points in groups.items():
        for metric in _figures([point for point, _ in points]):
            if any(fnmatchcase(metric.id, pattern) for pattern in patterns):
                line = lines.setdefault((label, metric.id), Line(label, metric.id, metric.unit, {}))
                line.values[run] = RunFigure(metric, points)
    return list(lines.values())


def _figures(points: Sequence[MeasuredPoint]) -> list[Metric]:
    """Those that the point has in all its placements. Several placements give the median and the band."""
    if len(points) == 1:
        return metrics(points[0])
    every = [{metric.id: metric for metric in metrics(point)} for point in points]
    shared = [[figure[name] for figure in every] for name in every[0] if all(name in figure for figure in every)]
    return [over_band(figure) for figure in shared]


_PLAIN = ("benchmark", "kernel", "board", "cores", "window")


def _largest(line: Line) -> float:
    values = [line.at(run) for run in line.values]
    return (max(values) - min(values)) / (abs(min(values)) or 1.0)


def _move_table(title: str, moved: Sequence[Line], names: dict[int, str]) -> TableData:
    rows = [
        [
            line.point,
            line.metric,
            *(figure_text(line.values[run].figure) for run in (min(line.values), max(line.values))),
            "; ".join(_move(move, names) for move in line.changes),
        ]
        for line in moved
    ]
    return TableData(title, ("point", "figure", ">first", ">last", "moves"), rows)


def _move(move: Move, names: dict[int, str]) -> str:
    return f"{move.change:+,.2f} at {names[move.run]}" + (f" ({move.unclaimed})" if move.unclaimed else "")


def _groups(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """Groups the lines by unit, in charts of at most MOST_LINES."""
    groups_ = []
    for unit in dict.fromkeys(line.unit for line in lines):
        mine = [line for line in lines if line.unit == unit]
        groups_ += [(unit, mine[start : start + MOST_LINES]) for start in range(0, len(mine), MOST_LINES)]
    return groups_


def _chart(unit: str, lines: Sequence[Line]) -> ChartData:
    rows = [
        {
            "x": run,
            "y": _percent(seen.figure.value, line),
            "series": f"{line.point} {line.metric}",
            "text": "",
            "low": None if seen.figure.band is None else _percent(seen.figure.band.least, line),
            "high": None if seen.figure.band is None else _percent(seen.figure.band.most, line),
        }
        for line in lines
        for run, seen in sorted(line.values.items())
    ]
    return ChartData(
        "lines",
        rows,
        f"Change of figures in {unit} from the first run that has them; of several placements the median and the band.",
        "run",
        f"change of {unit}, %",
    )


def _percent(value: float, line: Line) -> float:
    """More than the first figure of its line."""
    first = line.at(min(line.values))
    return 100 * (value / first - 1) if first else 0.0


def _summary(
    moved: Sequence[Line], single: Sequence[Line], placed: Sequence[Line], names: dict[int, str], runs: int
) -> str:
    span_text = f"over {count_text(runs, 'run')}"
    if not moved and not single:
        return f"Nothing moved {span_text}{' beyond placement' if placed else ''}."
    first = (moved or single)[0]
    last = (first.moves or first.changes)[-1]
    step = f"most of all {first.point}, {first.metric}: {last.change:+,.2f} {first.unit} at {names[last.run]}."
    if not moved:
        differing = count_text(len(single), "figure")
        return f"Nothing is told to have moved {span_text}; {differing} differed in one placement, {step}"
    return f"{count_text(len(moved), 'figure')} moved {span_text}; {step}"
