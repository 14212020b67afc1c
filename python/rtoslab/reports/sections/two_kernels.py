"""Two kernels, one on each core, beside one core alone and one kernel on both cores."""

from collections.abc import Sequence
from typing import Any

from rtoslab.analyses import (
    CoreCyclesPerBenchmarkCount,
    KernelPair,
    kernel_pairs,
    mean_cycles_per_benchmark_count,
    short_test_name,
)
from rtoslab.reports.sections.wording import join_items_for_sentence
from rtoslab.reports.table import ChartData, ReportSection, TableData, cycle_count_text
from rtoslab.results import MeasuredPoint

_PROSE = (
    "Each core runs a separate kernel, in a separate image with separate memory. Both run the same test at the same "
    "time. They share no lock. They share only the buses, the flash with its cache, and the peripherals."
)
_NOTE = (
    "Kept: the core's rate, relative to the rate of the same kernel alone on the board on one core. In all: the sum "
    "over both cores; 200 % would be perfect. Against two cores: the counts of both kernels, relative to those of "
    "one kernel that runs on both cores and protects all its data by a lock."
)
_CYCLES_NOTE = (
    "Cycles of a core for one count of that core. Bus: waiting for a bank of the SRAM or another slave that the other "
    "core uses. Flash: waiting for lines that the cache did not have. Locks: waiting for the kernel's spinlocks."
)


def concurrent_kernels_report_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on two kernels that run at the same time, one on each core. None if no point has
    two."""
    pairs = kernel_pairs(points)
    if not pairs:
        return None
    chart = ChartData(
        "bars",
        _kernel_pair_chart_rows(pairs),
        "Counts per second of both cores together, in percent of one core alone.",
        "test",
        "counts, % of one core alone",
    )
    answer = _lock_cost_sentence(pairs)
    return ReportSection(
        "two-kernels",
        "Two kernels, one on each core",
        (*([answer] if answer else []), _PROSE),
        (chart,),
        (_kernel_pair_rates_table(pairs), _cycles_per_loop_pass_table(pairs)),
    )


def _lock_cost_sentence(pairs: Sequence[KernelPair]) -> str:
    """Returns the sentence that compares two kernels with one kernel on both cores, whose cores share a lock. Empty if
    this was not measured."""
    compared = [
        pair
        for pair in pairs
        if pair.gain_over_shared_kernel is not None and pair.work_in_single_core_units is not None
    ]
    if not compared:
        return ""
    gains = [pair.work_in_single_core_units for pair in compared if pair.work_in_single_core_units is not None]
    shared = [
        pair.single_kernel_speedup_over_one_core
        for pair in compared
        if pair.single_kernel_speedup_over_one_core is not None
    ]
    ratios = [pair.gain_over_shared_kernel for pair in compared if pair.gain_over_shared_kernel is not None]
    kernels = join_items_for_sentence(sorted({pair.cores[0].point.kernel for pair in compared}))
    return (
        f"Two cores do {_value_range_text(gains)} times the work of one core if each runs a separate {kernels}, and "
        f"{_value_range_text(shared)} times if one {kernels} runs on both. So two kernels do "
        f"{_value_range_text(ratios)} times the work of one kernel with a lock for both cores."
    )


def _value_range_text(values: Sequence[float]) -> str:
    """Returns the range of some values as text. One value if both ends look alike."""
    least, most = f"{min(values):.2f}", f"{max(values):.2f}"
    return least if least == most else f"{least} to {most}"


def _kernel_pair_chart_rows(pairs: Sequence[KernelPair]) -> list[dict[str, Any]]:
    """Returns a row of the chart for each pair of kernels, and for each kernel on both cores: the bar's length is
    percent of one core's rate."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    several = len({pair.configuration_text for pair in pairs}) > 1
    for pair in pairs:
        test = short_test_name(pair.cores[0].point)
        if pair.single_kernel_speedup_over_one_core is not None:
            _add_chart_bar(
                rows,
                test,
                f"{pair.cores[0].point.kernel} on both cores",
                100 * pair.single_kernel_speedup_over_one_core,
            )
        if pair.work_in_single_core_units is not None:
            name = (
                f"{pair.kernel_names}, {pair.configuration_text}"
                if several and pair.configuration_text
                else pair.kernel_names
            )
            _add_chart_bar(rows, test, name, 100 * pair.work_in_single_core_units)
    return list(rows.values())


def _add_chart_bar(rows: dict[tuple[str, str], dict[str, Any]], test: str, series: str, percent: float) -> None:
    """Adds a bar to the chart's rows."""
    rows.setdefault((test, series), {"x": test, "series": series, "y": percent, "text": f"{percent:.0f}"})


def _kernel_pair_rates_table(pairs: Sequence[KernelPair]) -> TableData:
    """Returns the table of how fast each pair of kernels runs."""
    rows = []
    for pair in pairs:
        cells = [
            f"{rate:,.0f} ({_percent_text(part)})"
            for rate, part in zip(pair.kernel_rates_hz, pair.kernel_speeds_relative_to_running_alone, strict=True)
        ]
        against = "-" if pair.gain_over_shared_kernel is None else f"x {pair.gain_over_shared_kernel:.2f}"
        rows.append(
            [
                pair.test_title,
                pair.kernel_names,
                pair.configuration_text or "-",
                *cells,
                _percent_text(pair.work_in_single_core_units),
                against,
            ]
        )
    columns = (
        "test",
        "kernels",
        "configuration",
        ">core 0, counts/s (kept)",
        ">core 1, counts/s (kept)",
        ">in all",
        ">against two cores",
    )
    return TableData("Two kernels at the same time", columns, rows, _NOTE)


def _percent_text(part: float | None) -> str:
    """Returns a share in percent as text. A dash for None."""
    return "-" if part is None else f"{part:.1%}"


def _cycles_per_loop_pass_table(pairs: Sequence[KernelPair]) -> TableData:
    """Returns the table of the cycles that one count takes, in each pair of kernels and on one core."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for pair in pairs:
        points = [
            *((f"{item.point.kernel}, one core", "", item) for item in pair.single if item is not None),
            *((f"{item.point.kernel}, both cores", "", item) for item in [pair.shared] if item is not None),
            *(
                (f"{pair.kernel_names}, core {core}", pair.configuration_text, item)
                for core, item in enumerate(pair.cores)
            ),
        ]
        for name, conditions, point in points:
            cycles = mean_cycles_per_benchmark_count(point)
            if cycles is not None:
                rows.setdefault(
                    (pair.test_title, name, conditions),
                    _cycles_per_loop_pass_row(pair.test_title, name, conditions, cycles),
                )
    columns = ("test", "run with", "configuration", ">cycles per count", ">bus", ">flash", ">locks")
    return TableData("What a count takes", columns, list(rows.values()), _CYCLES_NOTE)


def _cycles_per_loop_pass_row(title: str, name: str, conditions: str, cycles: CoreCyclesPerBenchmarkCount) -> list[str]:
    """Returns the table row with the cycles that one count takes on one core, and the waits among them."""
    values = (cycles.cycles, cycles.bus_wait, cycles.flash_wait, cycles.lock_wait)
    return [title, name, conditions or "-", *(cycle_count_text(round(value, 1)) for value in values)]
