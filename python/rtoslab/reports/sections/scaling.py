"""The speed per core that each access pattern keeps, with an object for each core and with one for all."""

from collections.abc import Sequence

from rtoslab.analyses import (
    CodePlacementLookup,
    counts_per_second_of_point,
    distinct_point_names,
    multicore_throughput_gains,
)
from rtoslab.reports.sections.naming import kernel_and_board_chart_entries
from rtoslab.reports.sections.speed_figures import remove_benchmark_parameters_from_point
from rtoslab.reports.table import ChartData, ReportSection, TableData, chart_range_ends, measured_value_with_range_text
from rtoslab.results import MeasuredPoint

FAMILY = "access_pattern."
"""The beginning of the metric ids of these benchmarks."""
_PROSE = (
    "One task on each core, pinned to it, repeats the calls of a pattern. Each core has its own object "
    "(shared=0), or all cores use the same one (shared=1)."
)
_NOTE = (
    "Per core: the mean rate of a core divided by the rate of one core alone, which the paper calls normalised "
    "throughput. 100 % means that a core loses nothing. In all: both cores together, where 200 % would be "
    "perfect. Slowest core / fastest: the ratio of their rates, 1 if all cores are equally fast."
)


def core_scaling_report_section(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> ReportSection | None:
    """Returns the report section on how much of its speed each core keeps, with objects of its own and with a shared
    one. None without such points."""
    pairs = [item for item in multicore_throughput_gains(points) if item.many_cores.point.metric.startswith(FAMILY)]
    if not pairs:
        return None
    names = distinct_point_names(
        [remove_benchmark_parameters_from_point(pair.many_cores.point.point) for pair in pairs]
    )
    several = len(set(names)) > 1
    rows, marks = [], []
    for item, name in zip(pairs, names, strict=True):
        point = item.many_cores.point
        objects = "one object for all cores" if point.params.get("shared") == "1" else "an object for each core"
        series = f"{name}, {objects}" if several else objects
        parts = ", ".join(
            _core_share_of_throughput_text(core, point, places)
            for core in item.many_cores.benchmark_counter_share_by_core
        )
        gain = places.multicore_gain_ratio(item)
        total = places.range_of_measured_values(point, lambda one: counts_per_second_of_point(one).total_hz)
        evenness = places.range_of_measured_values(
            point, lambda one: counts_per_second_of_point(one).slowest_to_fastest_core_rate_ratio
        )
        rates = [
            *(
                measured_value_with_range_text(one, "{:.1%}".format)
                for one in (gain.divide_ratio_by_number(item.cores), gain)
            ),
            measured_value_with_range_text(total, "{:,.0f}".format),
        ]
        rows.append([item.title, series, *rates, parts, measured_value_with_range_text(evenness, "{:.3f}".format)])
        percent = gain.divide_ratio_by_number(item.cores / 100)
        mark = {"x": item.title, "series": series, "y": percent.value, "text": f"{percent.value:.0f}"}
        marks.append({**mark, **kernel_and_board_chart_entries(point.point), **chart_range_ends(percent)})
    columns = (
        "access pattern",
        "objects",
        ">per core, one core = 100 %",
        ">in all",
        ">counts/s, all cores",
        ">share of each core",
        ">slowest core / fastest",
    )
    chart = ChartData(
        "bars",
        marks,
        "Throughput per core by access pattern, in percent of the same calls on one core alone.",
        "access pattern",
        "throughput per core, % of one core alone",
    )
    table = TableData("Access patterns with all cores against one", columns, rows, _NOTE)
    return ReportSection("scaling", "Access patterns: throughput per core", (_PROSE,), (chart,), (table,))


def _core_share_of_throughput_text(core: int, point: MeasuredPoint, places: CodePlacementLookup) -> str:
    """Returns the share of all counts that this core has, with its range over placements of the code, as text."""
    return measured_value_with_range_text(
        places.range_of_measured_values(
            point, lambda row: counts_per_second_of_point(row).benchmark_counter_share_by_core[core]
        ),
        "{:.1%}".format,
    )
