"""A paper's figures redrawn from our values: the paper's text has no numbers for them, so ours stand alone."""

from collections.abc import Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any

from rtoslab.analyses import Band, Ratio, Value, cores_of, select, short_test
from rtoslab.catalogue import Figure
from rtoslab.reports import ChartData, TableData


def replot(
    figure: Figure, found: Sequence[Value], titles: Mapping[str, str] = MappingProxyType({})
) -> tuple[ChartData, TableData] | None:
    """The figure and its values as a table; None if nothing of it is measured.

    Where several runs lie at one place (they differ in what the figure does not show, as a seed), their median stands,
    with the lowest and the highest beside it, in any placement. `titles` are the names of kernels and boards by id.
    """
    places: dict[tuple[str, str], list[tuple[Value, Band | Ratio]]] = {}
    for each in select(found, figure.where):
        y = _percent(figure, each, found) if figure.percent_of else _in_unit(figure.unit, each)
        if y is not None:
            places.setdefault((each.axis(figure.x), each.axis(figure.series)), []).append((each, y))
    if not places:
        return None
    marks = [_mark(figure, runs[0][0], [y for _, y in runs], titles) for runs in places.values()]
    caption = f"{figure.title}. {figure.note}".strip()
    return ChartData(figure.kind, marks, caption, figure.x_title, figure.y_title, figure.log), _table(figure, marks)


def _mark(figure: Figure, value: Value, heights: Sequence[Band | Ratio], titles: Mapping[str, str]) -> dict[str, Any]:
    x, y = value.axis(figure.x), median(each.median for each in heights)
    return {
        "x": float(x) if figure.kind == "lines" else _label(figure, figure.x, value, titles),
        "series": _label(figure, figure.series, value, titles),
        "y": y,
        "low": min(each.least for each in heights),
        "high": max(each.most for each in heights),
        "text": _number(y),
    }


def _in_unit(unit: str, value: Value) -> Band | None:
    one = value.in_unit(unit)
    if one is None:
        return None
    scale = one / value.value if value.value else 1.0
    return Band([scale * each for each in value.placed.values])


def _percent(figure: Figure, value: Value, found: Sequence[Value]) -> Ratio | None:
    """The value in percent of the one at `percent_of` that is like it in everything else."""
    axes = {"benchmark", "kernel", "board", "cores", "window_ms", "clock_mhz", "metric", "stat", *value.point.config}
    alike = {axis: value.axis(axis) for axis in axes - set(figure.percent_of)}
    base = select(found, {**alike, **figure.percent_of})
    if len(base) != 1 or not base[0].value:
        return None
    return Ratio(100.0, 100.0, 100.0) if base[0] is value else value.placed.over(base[0].placed).by(0.01)


def _label(figure: Figure, axis: str, value: Value, titles: Mapping[str, str]) -> str:
    place = value.axis(axis)
    if place in figure.labels:
        return figure.labels[place]
    if axis == "benchmark":
        return short_test(value.point)
    if axis in {"kernel", "board"}:
        return titles.get(place, place)
    return cores_of(value.point) if axis == "cores" else place


def _table(figure: Figure, marks: Sequence[dict[str, Any]]) -> TableData:
    series = list(dict.fromkeys(str(mark["series"]) for mark in marks))
    rows: dict[str, dict[str, str]] = {}
    for mark in marks:
        x = f"{mark['x']:g}" if figure.kind == "lines" else str(mark["x"])
        least, most = _number(mark["low"]), _number(mark["high"])
        spread = "" if least == most else f" ({least} to {most})"
        rows.setdefault(x, {})[str(mark["series"])] = _number(mark["y"]) + spread
    body = [[x, *(cells.get(name, "") for name in series)] for x, cells in rows.items()]
    return TableData(
        f"{figure.title}: values, {figure.y_title}",
        (figure.x_title or figure.x, *(f">{name}" for name in series)),
        body,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"
