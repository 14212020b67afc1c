"""CSV in long form, for a data frame: one value per row, with its unit. Only verified points have rows with values.

A row is of one placement, by its number. For a point in several placements, further rows give each value's median,
least and most, and name them instead of a number."""

import csv as writer
import io
from collections.abc import Iterator

from rtoslab.analyses import (
    SPREAD_FIGURES,
    CodePlacementValueRange,
    MeasuredPointInCodePlacements,
    code_placement_number_text,
    counts_per_second_of_point,
    cycle_use_of_cores,
    group_points_over_code_placements,
    latencies_of_point,
    measurement_id_without_code_placement,
    spinlock_costs,
)
from rtoslab.intake import escape_csv_cell
from rtoslab.reports.table import ReportDocument
from rtoslab.results import FailedMeasurement, MeasuredPoint, PointId

SUFFIX = "csv"
COLUMNS = (
    "benchmark",
    "kernel",
    "board",
    "cores",
    "config",
    "placement",
    "window_ms",
    "run_id",
    "status",
    "core",
    "quantity",
    "value",
    "unit",
    "reason",
    "deviations",
)


def render_report(document: ReportDocument) -> str:
    """Returns the report as CSV, with one value in each row. A point without a number has one row with the reason."""
    out = io.StringIO()
    table = writer.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for stored in document.points:
        result = stored.result
        front = (
            *_point_identity_cells(result.point, code_placement_number_text(result.point)),
            result.run_id,
            result.status,
        )
        if isinstance(result, MeasuredPoint):
            for core, quantity, value, unit in _csv_values_of_measurement(result):
                table.writerow(
                    map(escape_csv_cell, (*front, core, quantity, value, unit, "", "; ".join(result.deviations)))
                )
            for absent in result.absent_series:
                row = (*front, "", f"latency.{absent.id}", "", "", f"n/a: {absent.reason}", "")
                table.writerow(map(escape_csv_cell, row))
        else:
            reason = result.message if isinstance(result, FailedMeasurement) else result.reason
            table.writerow(map(escape_csv_cell, (*front, "", "", "", "", reason, "")))
    for placed in group_points_over_code_placements(document.list_measured_points):
        if len(placed.placements) > 1:
            for values in _code_placement_range_rows(placed):
                table.writerow(map(escape_csv_cell, values))
    return out.getvalue()


def _point_identity_cells(point: PointId, where: str) -> tuple[str | int, ...]:
    """Returns the first cells of a point's CSV rows: benchmark, kernel, board, cores, configuration, `where`,
    measurement window.

    `where`: the number of its placement of the code, or the figure over placements (such as `median`).
    """
    config = " ".join(f"{key}={value}" for key, value in measurement_id_without_code_placement(point).config.items())
    return point.benchmark, point.kernel, point.board, point.cores, config, where, point.window_ms


def _code_placement_range_rows(placed: MeasuredPointInCodePlacements) -> Iterator[tuple[str | int | float, ...]]:
    """Yields CSV rows with median, least and most over placements, for each value that all placements of a point
    have."""
    bands: dict[tuple[int | str, str, str], list[float]] = {}
    for placed_point in placed.placements:
        for core, quantity, value, unit in _csv_values_of_measurement(placed_point):
            bands.setdefault((core, quantity, unit), []).append(value)
    for (core, quantity, unit), values in bands.items():
        if len(values) == len(placed.placements):
            band = CodePlacementValueRange(values)
            for name, value in (("median", band.median), ("least", band.smallest), ("most", band.largest)):
                front = (*_point_identity_cells(placed.middle.point, name), "", placed.middle.status)
                yield (*front, core, quantity, value, unit, "", "; ".join(placed.middle.deviations))


def _csv_values_of_measurement(point: MeasuredPoint) -> Iterator[tuple[int | str, str, int | float, str]]:
    """Yields core, quantity, value and unit for each figure of a measured point."""
    return _csv_values_of_latencies(point) if point.has_latency_samples else _csv_values_of_counting_benchmark(point)


def _csv_values_of_latencies(point: MeasuredPoint) -> Iterator[tuple[int | str, str, int | float, str]]:
    """Yields core, quantity, value and unit for each figure of a latency point."""
    for latency in latencies_of_point(point):
        figures = latency.spread
        for name in SPREAD_FIGURES:
            value = getattr(figures, name)
            yield 0, f"latency.{latency.series.id}.{name}", value, "cycles"
            yield 0, f"latency.{latency.series.id}.{name}", latency.to_nanoseconds(value), "ns"
        yield 0, f"latency.{latency.series.id}.samples", figures.n, "1"
        yield 0, f"latency.{latency.series.id}.maximum_at", figures.maximum_at, "1"
        yield 0, f"latency.{latency.series.id}.with_a_tick", latency.tick_samples, "1"
        yield 0, f"latency.{latency.series.id}.instrument_cost", latency.instrument_cost, "cycles"


def _csv_values_of_counting_benchmark(point: MeasuredPoint) -> Iterator[tuple[int | str, str, int | float, str]]:
    """Yields core, quantity, value and unit for each figure of a point that counts: rates, heap, stacks, cycles and
    locks."""
    rate = counts_per_second_of_point(point)
    yield "", "throughput", rate.total_hz, f"{point.unit}/s"
    yield "", "cycles_per_count", rate.cycles_per_count, "cycles"
    yield "", "fairness", rate.fairness, "1"
    yield "", "least_over_most", rate.slowest_to_fastest_core_rate_ratio, "1"
    for core, value in rate.per_core_hz.items():
        yield core, "throughput", value, f"{point.unit}/s"
        yield core, "share", rate.benchmark_counter_share_by_core[core], "1"
    for counter in point.counters:
        yield counter.core, f"count.task{counter.index}", counter.count, point.unit
    if point.heap:
        yield "", "heap_peak", point.heap.peak_bytes, "bytes"
    for stack in point.stacks:
        yield stack.core, f"stack_used.{stack.name}", stack.used_bytes, "bytes"
    for share in cycle_use_of_cores(point):
        yield share.core, "window", share.cycles, "cycles"
        for part, cycles in share.parts.items():
            yield share.core, f"cycles.{part.replace(' ', '_')}", cycles, "cycles"
    yield from _csv_observed_values(point)
    for cost in spinlock_costs(point):
        for name in ("acquisitions", "contended", "failed_reads"):
            yield cost.use.core, f"lock{cost.use.lock}.{name}", getattr(cost.use, name), "1"
        for name in ("wait_cycles", "hold_cycles"):
            yield cost.use.core, f"lock{cost.use.lock}.{name}", getattr(cost.use, name), "cycles"


def _csv_observed_values(point: MeasuredPoint) -> Iterator[tuple[int | str, str, int | float, str]]:
    """Yields core, quantity, value and unit for each figure that only the virtual board observes. None on other
    boards."""
    if point.virtual is None:
        return
    for use in point.virtual.critical:
        yield use.core, "critical.sections", use.sections, "1"
        yield use.core, "critical.cycles", use.cycles, "cycles"
        yield use.core, "critical.longest", use.longest_cycles, "cycles"
    for waits in point.virtual.waits:
        for name in ("collided", "failed", "blocked"):
            yield waits.core, f"waits.{name}", getattr(waits, name), "1"
