"""Heap and stacks."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from rtoslab.analyses import Band, Places, fragmentation, series_names
from rtoslab.reports.sections.naming import axes, named
from rtoslab.reports.sections.speed_figures import plain_axes
from rtoslab.reports.table import ChartData, Section, TableData, band_text, ends
from rtoslab.results import MeasuredPoint, StackUse

_PIECES: Final = tuple(map(attrgetter, ("live_bytes", "free_bytes", "largest_free_bytes", "free_pieces")))


def memory_section(points: Sequence[MeasuredPoint], places: Places) -> Section | None:
    """Heap peaks, like the paper's figure 19, and stacks."""
    rows, stacks, pieces = [], [], []
    for test, series, point in named(points):
        if point.heap:
            peak = places.band(point, lambda item: item.heap.peak_bytes if item.heap else 0)
            rows.append(
                [
                    point.point.title,
                    series,
                    band_text(peak, _bytes),
                    f"{point.heap.size_bytes:,}",
                    "not counted"
                    if point.heap.allocations is None
                    else band_text(places.band(point, _allocations), _bytes),
                ]
            )
        left = fragmentation(point)
        if left is not None:
            fragments = [left for item in places.of(point) if (left := fragmentation(item)) is not None]
            share = band_text(Band([item.share for item in fragments]), "{:.1%}".format)
            pieces.append(
                [test, series, *(band_text(Band([of(item) for item in fragments]), _bytes) for of in _PIECES), share]
            )
        stacks += [
            [
                test,
                series,
                str(stack.core),
                stack.name,
                band_text(_used(stack, point, places), _bytes),
                f"{stack.size_bytes:,}",
            ]
            for stack in point.stacks
        ]
    tables = []
    if rows:
        tables.append(TableData("Heap", ("test", "run with", ">peak, bytes", ">size, bytes", ">allocations"), rows))
    if pieces:
        columns = (">live, bytes", ">free, bytes", ">largest free piece, bytes", ">pieces", ">free, but not at once")
        tables.append(TableData("Heap as it lay in the most pieces", ("test", "run with", *columns), pieces))
    if stacks:
        tables.append(TableData("Stacks", ("test", "run with", "core", "task", ">used, bytes", ">size, bytes"), stacks))
    if not tables:
        return None
    return Section("memory", "Memory", (), _heap_charts(points, places), tables)


def _heap_charts(points: Sequence[MeasuredPoint], places: Places) -> list[ChartData]:
    """The peaks of the heap. A test in several variants (its own parameters, instruments) shows the highest."""
    marks: dict[tuple[str, str], dict[str, Any]] = {}
    names = series_names([plain_axes(point.point) for point in points])
    for series, pair in zip(names, points, strict=True):
        if pair.heap:
            peak = places.band(pair, lambda at: at.heap.peak_bytes if at.heap else 0)
            mark = {"test": pair.point.title, "series": series, "bytes": peak.median, "text": _bytes(peak.median)}
            known = marks.get((pair.point.title, series))
            if known is None or known["bytes"] < peak.median:
                marks[pair.point.title, series] = {**mark, **axes(pair.point), **ends(peak)}
    caption = "Highest use of the kernel's heap in bytes, by test; of a test in several variants, the most."
    return [ChartData("heap", list(marks.values()), caption)] if marks else []


def _used(stack: StackUse, point: MeasuredPoint, places: Places) -> Band:
    def same(other: MeasuredPoint) -> float:
        return next(use.used_bytes for use in other.stacks if (use.core, use.name) == (stack.core, stack.name))

    return places.band(point, same)


def _allocations(point: MeasuredPoint) -> float:
    return (point.heap.allocations or 0) if point.heap else 0


def _bytes(value: float) -> str:
    return f"{value:,.0f}"
