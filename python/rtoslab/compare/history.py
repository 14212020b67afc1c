"""The same figures over many run directories, in the order they were measured: when did which one move?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

from rtoslab.analyses import metrics
from rtoslab.archive import Found
from rtoslab.base import ReportError, counted
from rtoslab.compare.document import number
from rtoslab.compare.matching import axes_of
from rtoslab.reports import ChartData, Document, Section, TableData
from rtoslab.results import Measured

USUAL_METRICS = ("cycles_per_count", "*.median", "image.text")
MOST_LINES = 7
"""Of one chart: there are as many colours."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one point over the runs that have it."""

    point: str
    metric: str
    unit: str
    values: dict[int, float]
    """Number of the run, from 1 -> value."""

    @property
    def moves(self) -> list[tuple[int, float]]:
        """Runs at which it changed, with the change."""
        ordered = sorted(self.values.items())
        return [(run, value - before) for (_, before), (run, value) in pairwise(ordered) if value != before]


def history_document(found: Sequence[Found], patterns: Sequence[str] = ()) -> Document:
    """Raises ReportError if fewer than two run directories have the same figure."""
    runs = list(dict.fromkeys(each.run for each in found))
    lines = [each for each in _lines(found, patterns or USUAL_METRICS) if len(each.values) > 1]
    if not lines:
        raise ReportError(
            "No figure is in two of these run directories; measure the same points again, or name others."
        )
    sessions = {each.run: each.session for each in found}
    table = TableData(
        "Runs",
        (">run", "directory", "date", "revision"),
        [[str(place), run.name, sessions[run].date, sessions[run].revision] for place, run in enumerate(runs, 1)],
    )
    moved = sorted((each for each in lines if each.moves), key=lambda each: -_largest(each))
    names = {place: sessions[run].revision or run.name for place, run in enumerate(runs, 1)}
    moves = Section(
        "moves",
        "What moved",
        (f"{len(lines) - len(moved)} of {counted(len(lines), 'figure')} never moved.",),
        (),
        [_move_table(moved, names)] if moved else [],
    )
    charts = [_chart(metric, group) for metric, group in _groups(moved or lines)]
    history = Section("history", "Run by run", (), charts, [table])
    return Document(
        title=f"{counted(len(lines), 'figure')} over {counted(len(runs), 'run')}",
        subtitle=f"from {sessions[runs[0]].date} to {sessions[runs[-1]].date}",
        summary=_summary(moved, names, len(runs)),
        sections=(moves, history),
    )


def _lines(found: Iterable[Found], patterns: Sequence[str]) -> list[Line]:
    lines: dict[tuple[str, str], Line] = {}
    places: dict[object, int] = {}
    for each in found:
        place = places.setdefault(each.run, len(places) + 1)
        result = each.result
        if not isinstance(result, Measured):
            continue
        label = " ".join(value if name in _PLAIN else f"{name}={value}" for name, value in axes_of(each.point).items())
        for metric in metrics(result):
            if any(fnmatchcase(metric.id, pattern) for pattern in patterns):
                line = lines.setdefault((label, metric.id), Line(label, metric.id, metric.unit, {}))
                line.values[place] = metric.value
    return list(lines.values())


_PLAIN = ("benchmark", "kernel", "board", "cores", "window")


def _largest(line: Line) -> float:
    values = list(line.values.values())
    return (max(values) - min(values)) / (abs(min(values)) or 1.0)


def _move_table(moved: Sequence[Line], names: dict[int, str]) -> TableData:
    rows = [
        [
            each.point,
            each.metric,
            number(each.values[min(each.values)]),
            number(each.values[max(each.values)]),
            "; ".join(f"{change:+,.2f} at {names[run]}" for run, change in each.moves),
        ]
        for each in moved
    ]
    return TableData("Largest first", ("point", "figure", ">first", ">last", "moves"), rows)


def _groups(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """By unit, in charts of at most MOST_LINES."""
    found = []
    for unit in dict.fromkeys(each.unit for each in lines):
        mine = [each for each in lines if each.unit == unit]
        found += [(unit, mine[start : start + MOST_LINES]) for start in range(0, len(mine), MOST_LINES)]
    return found


def _chart(unit: str, lines: Sequence[Line]) -> ChartData:
    rows = [
        {
            "x": run,
            "y": 100 * (value / first - 1) if (first := each.values[min(each.values)]) else 0.0,
            "series": f"{each.point} {each.metric}",
            "text": "",
            "low": None,
            "high": None,
        }
        for each in lines
        for run, value in sorted(each.values.items())
    ]
    return ChartData(
        "lines",
        rows,
        f"Change of figures in {unit} from the first run that has them.",
        "run",
        f"change of {unit}, %",
    )


def _summary(moved: Sequence[Line], names: dict[int, str], runs: int) -> str:
    if not moved:
        return f"Nothing moved over {counted(runs, 'run')}."
    first = moved[0]
    run, change = first.moves[-1]
    step = f"{change:+,.2f} {first.unit} at {names[run]}"
    said = f"{counted(len(moved), 'figure')} moved over {counted(runs, 'run')}"
    return f"{said}; most of all {first.point}, {first.metric}: {step}."
