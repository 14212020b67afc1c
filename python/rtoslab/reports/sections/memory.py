"""Heap and stacks."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from rtoslab.analyses import CodePlacementLookup, CodePlacementValueRange, distinct_point_names, most_fragmented_heap
from rtoslab.reports.sections.naming import kernel_and_board_chart_entries, label_points_with_benchmark_and_series
from rtoslab.reports.sections.speed_figures import remove_benchmark_parameters_from_point
from rtoslab.reports.table import ChartData, ReportSection, TableData, chart_range_ends, measured_value_with_range_text
from rtoslab.results import MeasuredPoint, StackUse

_PIECES: Final = tuple(map(attrgetter, ("live_bytes", "free_bytes", "largest_free_bytes", "free_pieces")))


def memory_use_report_section(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> ReportSection | None:
    """Returns the report section on the use of heap and stacks. None if nothing was measured."""
    rows, stacks, pieces = [], [], []
    for test, series, point in label_points_with_benchmark_and_series(points):
        if point.heap:
            peak = places.range_of_measured_values(point, lambda item: item.heap.peak_bytes if item.heap else 0)
            rows.append(
                [
                    point.point.title,
                    series,
                    measured_value_with_range_text(peak, _bytes_text),
                    f"{point.heap.size_bytes:,}",
                    "not counted"
                    if point.heap.allocations is None
                    else measured_value_with_range_text(
                        places.range_of_measured_values(point, _heap_allocation_count_of_test), _bytes_text
                    ),
                ]
            )
        left = most_fragmented_heap(point)
        if left is not None:
            fragments = [
                left
                for item in places.results_in_all_code_placements(point)
                if (left := most_fragmented_heap(item)) is not None
            ]
            share = measured_value_with_range_text(
                CodePlacementValueRange([item.unusable_memory_share for item in fragments]), "{:.1%}".format
            )
            pieces.append(
                [
                    test,
                    series,
                    *(
                        measured_value_with_range_text(
                            CodePlacementValueRange([of(item) for item in fragments]), _bytes_text
                        )
                        for of in _PIECES
                    ),
                    share,
                ]
            )
        stacks += [
            [
                test,
                series,
                str(stack.core),
                stack.name,
                measured_value_with_range_text(_stack_use_over_placements(stack, point, places), _bytes_text),
                f"{stack.size_bytes:,}",
            ]
            for stack in point.stacks
        ]
    tables = []
    if rows:
        tables.append(TableData("Heap", ("test", "run with", ">peak, bytes", ">size, bytes", ">allocations"), rows))
    if pieces:
        columns = (">live, bytes", ">free, bytes", ">largest free block, bytes", ">pieces", ">free, but not contiguous")
        tables.append(TableData("Heap at its highest fragmentation", ("test", "run with", *columns), pieces))
    if stacks:
        tables.append(TableData("Stacks", ("test", "run with", "core", "task", ">used, bytes", ">size, bytes"), stacks))
    if not tables:
        return None
    return ReportSection("memory", "Memory", (), _heap_charts(points, places), tables)


def _heap_charts(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> list[ChartData]:
    """Returns the charts of the highest use of the heap in each test. For a test in several variants they show the
    largest."""
    marks: dict[tuple[str, str], dict[str, Any]] = {}
    names = distinct_point_names([remove_benchmark_parameters_from_point(point.point) for point in points])
    for series, pair in zip(names, points, strict=True):
        if pair.heap:
            peak = places.range_of_measured_values(pair, lambda at: at.heap.peak_bytes if at.heap else 0)
            mark = {"test": pair.point.title, "series": series, "bytes": peak.median, "text": _bytes_text(peak.median)}
            known = marks.get((pair.point.title, series))
            if known is None or known["bytes"] < peak.median:
                marks[pair.point.title, series] = {
                    **mark,
                    **kernel_and_board_chart_entries(pair.point),
                    **chart_range_ends(peak),
                }
    caption = "Highest use of the kernel's heap in bytes, by test. For a test with several variants, the largest."
    return [ChartData("heap", list(marks.values()), caption)] if marks else []


def _stack_use_over_placements(
    stack: StackUse, point: MeasuredPoint, places: CodePlacementLookup
) -> CodePlacementValueRange:
    """Returns how many bytes of a stack were used, with their range over the point's placements."""

    def stack_bytes_in_other_placement(other: MeasuredPoint) -> float:
        """Returns the used bytes of the same stack in another placement."""
        return next(use.used_bytes for use in other.stacks if (use.core, use.name) == (stack.core, stack.name))

    return places.range_of_measured_values(point, stack_bytes_in_other_placement)


def _heap_allocation_count_of_test(point: MeasuredPoint) -> float:
    """Returns how often the point's test allocated memory from the heap. 0 if unknown."""
    return (point.heap.allocations or 0) if point.heap else 0


def _bytes_text(value: float) -> str:
    """Returns a number of bytes as text."""
    return f"{value:,.0f}"
