"""A sweep as a report: options by effect, pairs that interact, small multiples, the quickest configurations."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from rtoslab.base import ReportError
from rtoslab.reports import ChartData, Document, Section, TableData, flagged
from rtoslab.results import Failed, Measured, NotApplicable
from rtoslab.store import StoredPoint
from rtoslab.sweep.effects import Effect, Observations, common_levels

SHOWN_INTERACTIONS = 20
LEAST_INTERACTION = 0.002
MULTIPLES = 12


def sweep_document(title: str, points: Sequence[StoredPoint]) -> Document:
    """Raises ReportError if no point was measured, or nothing was varied."""
    measured = [each.result for each in points if isinstance(each.result, Measured)]
    if not measured:
        raise ReportError("The sweep has no measured point yet; run it first.")
    seen = Observations(measured)
    effects = seen.effects()
    if not effects:
        raise ReportError("No option of this sweep took two values on points alike in all else; nothing can be ranked.")
    sections = [
        _ranking(seen, effects),
        _interactions(seen),
        _multiples(seen),
        _best(seen),
        _absent(points),
    ]
    shared = common_levels(measured)
    document = Document(
        title=title,
        subtitle=" · ".join([shared.get(name, "several") for name in ("kernel", "board", "cores")]),
        summary=_summary(seen, effects, len(measured), len(points)),
        sections=tuple(each for each in sections if each is not None),
        points=tuple(points),
    )
    return flagged(document, measured)


def percent(ratio: float) -> str:
    """A ratio of times as a change."""
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f} %"


def _summary(seen: Observations, effects: Sequence[Effect], measured: int, asked: int) -> str:
    first = next((each for each in effects if each.claimed), None)
    said = (
        f"{measured} of {asked} points were measured: "
        f"{_counted(len(seen.options), 'option')} on {_counted(len(seen.times), 'benchmark')}. "
    )
    if first is None:
        return f"{said}No option changes the time by more than the place of the code does."
    worst = max(((name, first.by_target[name]) for name in first.claimed), key=lambda item: abs(math.log(item[1])))
    return (
        f"{said}What matters most is {first.name}: {percent(first.mean)} of time on average, {percent(worst[1])} for "
        f"{worst[0]}."
    )


def _ranking(seen: Observations, effects: Sequence[Effect]) -> Section:
    rows = []
    for each in effects:
        ordered = sorted(each.by_target.items(), key=lambda item: item[1])
        (least, low), (most, high) = ordered[0], ordered[-1]
        row = [each.name, percent(each.mean), f"{percent(low)} {least}", f"{percent(high)} {most}", str(each.pairs)]
        rows.append([*row, _beyond(each)] if seen.most_placements > 1 else row)
    chart = [
        {"x": each.name, "y": 100 * (ratio - 1), "series": target}
        for each in effects
        for target, ratio in each.by_target.items()
    ]
    caption = (
        f"Change of time by option, one mark for each of {len(seen.times)} benchmarks; the strongest option first."
    )
    prose = (
        "The change of time when one option leaves its first value, over every two points that are alike in all "
        "others. Less is faster."
    )
    columns: tuple[str, ...] = ("option", ">mean", ">least", ">most", ">pairs of points")
    if seen.most_placements > 1:
        columns = (*columns, "more than placement")
        prose += (
            f" Each point counts by the median of up to {seen.most_placements} placements of its code; a change that "
            "some choice of places would undo is called placement."
        )
    return Section(
        "options",
        "Options by effect",
        (prose,),
        [ChartData("pairs", chart, caption, y_title="change of time, %")],
        [TableData("Strongest first", columns, rows)],
    )


def _beyond(effect: Effect) -> str:
    """On which benchmarks an effect is more than what the place of the code is worth."""
    claimed, of = effect.claimed, len(effect.ratios)
    if not claimed:
        return "no: placement" if any(each.is_placement for each in effect.ratios.values()) else "no change"
    return "yes" if len(claimed) == of else f"{len(claimed)} of {of}: {', '.join(claimed)}"


def _interactions(seen: Observations) -> Section | None:
    found = [each for each in seen.interactions() if abs(each.ratio - 1) >= LEAST_INTERACTION]
    if len(seen.options) < 2:
        return None
    rows = [
        [_change(each.first), _change(each.second), each.target, percent(each.ratio), str(each.squares)]
        for each in found[:SHOWN_INTERACTIONS]
    ]
    prose = (
        "How far two changes together are from what each does alone: 0 % would say that their effects multiply. "
        f"{len(found)} pairs of changes and benchmarks are off by {LEAST_INTERACTION:.1%} or more."
    )
    columns = ("one", "other", "benchmark", ">together", ">squares of points")
    tables = [TableData("Largest first", columns, rows)] if rows else []
    return Section("interactions", "Pairs that interact", (prose,), (), tables)


def _change(change: tuple[str, str, str]) -> str:
    option, usual, level = change
    return f"{option} {usual} to {level}"


def _multiples(seen: Observations) -> Section | None:
    """One small chart for each benchmark: the strongest option along, the second as colours, the rest as spread."""
    ranked = seen.ranked_options()
    along, series = ranked[0], ranked[1] if len(ranked) > 1 else ranked[0]
    rows: list[dict[str, Any]] = []
    for target, times in list(seen.times.items())[:MULTIPLES]:
        reference = seen.reference_ns(target) or min(times.values())
        cells: dict[tuple[str, str], list[float]] = {}
        for config, time_ns in times.items():
            levels = dict(zip(seen.options, config, strict=True))
            cells.setdefault((levels[along], levels[series]), []).append(time_ns / reference)
        rows += [
            {
                "facet": target,
                "x": x,
                "series": f"{series} {name}",
                "y": fmean(each),
                "low": min(each),
                "high": max(each),
            }
            for (x, name), each in cells.items()
        ]
    caption = (
        f"Time by {along} and {series}, as a multiple of the first configuration; marks are means over all other "
        "options, bars reach from the quickest to the slowest."
    )
    chart = ChartData("multiples", rows, caption, x_title=along, y_title="time, multiple")
    return Section("multiples", "Benchmark by benchmark", (), [chart])


def _best(seen: Observations) -> Section:
    rows = []
    for target in seen.times:
        config, time_ns = seen.best(target)
        reference = seen.reference_ns(target)
        changed = [f"{name}={level}" for name, level in config.items() if level != seen.levels[name][0]]
        gain = percent(time_ns / reference) if reference else ""
        rows.append([target, f"{time_ns:,.1f}", gain, " ".join(changed) or "the first configuration"])
    columns = ("benchmark", ">ns", ">against the first", "with")
    return Section("best", "Quickest configurations", (), (), [TableData("By benchmark", columns, rows)])


def _absent(points: Sequence[StoredPoint]) -> Section | None:
    reasons: Counter[tuple[str, str]] = Counter()
    for each in points:
        if isinstance(each.result, NotApplicable):
            reasons["skipped", each.result.reason] += 1
        elif isinstance(each.result, Failed):
            reasons["failed", each.result.message] += 1
    if not reasons:
        return None
    rows = [[status, str(count), reason] for (status, reason), count in reasons.most_common()]
    table = TableData("Points without a number", ("what", ">points", "why"), rows)
    return Section("absent", "Not measured", (), (), [table])


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
