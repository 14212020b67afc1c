"""Heap and stacks."""

from collections.abc import Sequence

from rtoslab.analyses import fragmentation
from rtoslab.reports.sections.naming import named
from rtoslab.reports.table import ChartData, Section, TableData
from rtoslab.results import Measured


def memory_section(points: Sequence[Measured]) -> Section | None:
    """Heap peaks, like the paper's figure 19, and stacks."""
    rows, data, stacks, pieces = [], [], [], []
    for test, series, point in named(points):
        if point.heap:
            data.append({"test": test, "series": series, "bytes": point.heap.peak_bytes})
            rows.append(
                [
                    point.point.title,
                    series,
                    f"{point.heap.peak_bytes:,}",
                    f"{point.heap.size_bytes:,}",
                    "not counted" if point.heap.allocations is None else f"{point.heap.allocations:,}",
                ]
            )
        left = fragmentation(point)
        if left is not None:
            figures = (left.live_bytes, left.free_bytes, left.largest_free_bytes, left.free_pieces)
            pieces.append([test, series, *(f"{each:,}" for each in figures), f"{left.share:.1%}"])
        stacks += [
            [test, series, str(each.core), each.name, f"{each.used_bytes:,}", f"{each.size_bytes:,}"]
            for each in point.stacks
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
    charts = (
        (ChartData("heap", data, "Highest use of the kernel's heap in bytes, by test and number of cores."),)
        if data
        else ()
    )
    return Section("memory", "Memory", (), charts, tables)
