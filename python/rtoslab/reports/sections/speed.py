"""Throughput, and what more cores bring."""

from collections.abc import Iterator, Sequence

from rtoslab.analyses import (
    CodePlacementLookup,
    CodePlacementValueRange,
    counts_per_second_of_point,
    distinct_point_names,
    multicore_throughput_gains,
)
from rtoslab.reports.sections.naming import (
    board_groups_with_table_titles,
    kernel_and_board_chart_entries,
    label_points_with_benchmark_and_series,
    points_by_board,
    record_fields_identifying_point,
)
from rtoslab.reports.table import (
    ChartData,
    Record,
    ReportSection,
    TableData,
    chart_range_ends,
    measured_value_with_range_text,
)
from rtoslab.results import MeasuredPoint


def throughput_section(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> ReportSection | None:
    """Returns the report section on throughput in counts per second, with a table for each board. None without
    points."""
    if not points:
        return None
    groups = points_by_board(points)
    tables = [
        _throughput_table(title, group, places) for title, group in board_groups_with_table_titles("Throughput", groups)
    ]
    return ReportSection("throughput", "Throughput", (), (), tables)


def _throughput_table(title: str, points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> TableData:
    """Returns the table of counts per second on one board."""
    rows = []
    for _, series, point in label_points_with_benchmark_and_series(points):
        total = places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).total_hz)
        cycles = places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).cycles_per_count)
        fairness = places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).fairness)
        rows.append(
            [
                point.point.title,
                series,
                measured_value_with_range_text(total, "{:,.0f}".format),
                ", ".join(
                    _counts_per_second_of_core_text(core, point, places)
                    for core in counts_per_second_of_point(point).per_core_hz
                ),
                measured_value_with_range_text(cycles, "{:,.1f}".format),
                measured_value_with_range_text(fairness, "{:.4f}".format),
                point.unit,
            ]
        )
    note = (
        "Counts per second, with the window measured by the board's timer. Cycles per count are those of one "
        "core. Fairness is Jain's index over the cores: 1 means that all cores counted equally."
    )
    records = [record for point in points for record in _throughput_records(point, places)]
    return TableData(
        title,
        ("test", "run with", ">counts/s, all cores", ">per core", ">cycles per count", ">fairness", "what is counted"),
        rows,
        note,
        records=records,
    )


def _counts_per_second_of_core_text(core: int, point: MeasuredPoint, places: CodePlacementLookup) -> str:
    """Returns a core's counts per second, with their range over placements of the code, as text."""
    return measured_value_with_range_text(_core_throughput_over_placements(core, point, places), "{:,.0f}".format)


def _core_throughput_over_placements(
    core: int, point: MeasuredPoint, places: CodePlacementLookup
) -> CodePlacementValueRange:
    """Returns a core's counts per second, with their range over placements of the code."""
    return places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).per_core_hz[core])


def _throughput_records(point: MeasuredPoint, places: CodePlacementLookup) -> Iterator[Record]:
    """Yields the throughput of a point as records, for all cores together (with `core` empty) and for each core."""
    rate, count = f"{point.unit}/s", len(places.results_in_all_code_placements(point))
    figures: list[tuple[str, str, str, CodePlacementValueRange]] = [
        (
            "throughput",
            "",
            rate,
            places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).total_hz),
        ),
        *(
            ("throughput", str(core), rate, _core_throughput_over_placements(core, point, places))
            for core in counts_per_second_of_point(point).per_core_hz
        ),
        (
            "cycles_per_count",
            "",
            "cycles",
            places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).cycles_per_count),
        ),
        (
            "fairness",
            "",
            "",
            places.range_of_measured_values(point, lambda row: counts_per_second_of_point(row).fairness),
        ),
    ]
    for metric, core, unit, band in figures:
        axes = {**record_fields_identifying_point(point.point), "metric": metric, "core": core}
        yield {**axes, "value": band.median, **chart_range_ends(band), "n": count, "unit": unit}


def multicore_gain_section(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> ReportSection | None:
    """Returns the report section on how much more throughput several cores have than one. None if no test was measured
    on both."""
    pairs = multicore_throughput_gains(points)
    if not pairs:
        return None
    names = distinct_point_names([pair.many_cores.point.point for pair in pairs])
    data, rows = [], []
    for name, item in zip(names, pairs, strict=True):
        gain = places.multicore_gain_ratio(item)
        mark = {
            "test": item.title,
            "series": name,
            "cores": item.cores,
            **kernel_and_board_chart_entries(item.many_cores.point.point),
        }
        data.append({**mark, "gain": gain.value, "text": f"{gain.value:.2f}", **chart_range_ends(gain)})
        rows.append(
            [
                item.title,
                name,
                measured_value_with_range_text(gain, "x {:.3f}".format),
                measured_value_with_range_text(gain.divide_ratio_by_number(item.cores), "{:.1%}".format),
            ]
        )
    table = TableData(
        "Gain over one core",
        ("test", "run with", ">total", ">per core"),
        rows,
        "Total: all cores together divided by one core alone. On two cores, 2 would be perfect, and below 1 the "
        "second core reduces the throughput. Per core: the paper's normalised throughput.",
    )
    chart = ChartData(
        "gain", data, ("Total throughput with two cores divided by that with one. 1 is no gain, 2 is perfect.")
    )
    return ReportSection("gain", "Gain of the second core", (), (chart,), (table,))
