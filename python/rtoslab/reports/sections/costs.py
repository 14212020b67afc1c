"""The use of cycles: by cause, by spinlock, by kernel function. Virtual boards only."""

from collections.abc import Sequence

from rtoslab.analyses import CYCLE_PARTS, VISIBLE_PART, cycle_use_of_cores, functions_with_most_cycles, spinlock_costs
from rtoslab.reports.sections.naming import (
    kernel_and_board_chart_entries,
    label_points_with_benchmark_and_series,
    remove_points_with_repeated_seeds,
)
from rtoslab.reports.table import ChartData, ReportSection, TableData
from rtoslab.results import MeasuredPoint

TOP_FUNCTIONS = 8
SMALLEST_FUNCTION = 0.005
"""A function with a smaller share of all cycles is not listed."""


def core_cycles_report_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on what each core used its cycles for. None if no point was measured on a virtual
    board."""
    rows = [
        [test, series, str(share.core), *(_percent_text(share.parts[part] / share.cycles) for part in CYCLE_PARTS)]
        for test, series, point in label_points_with_benchmark_and_series(points)
        for share in cycle_use_of_cores(point)
    ]
    if not rows:
        return None
    used = [index for index in range(len(CYCLE_PARTS)) if any(row[3 + index] != "-" for row in rows)]
    table = TableData(
        "Cycles of the window by cause",
        ("test", "run with", "core", *(f">{CYCLE_PARTS[index]}" for index in used)),
        [[*row[:3], *(row[3 + index] for index in used)] for row in rows],
        "Observed by the virtual board, without any change of the image. Kernel: its functions without the waits "
        "in the other columns. Spinlock wait: from the first failed read of a lock to the successful one. Causes "
        "below 0.05 % of every core's cycles are left out here, but are in the CSV and JSON formats.",
    )
    return ReportSection("cycles", "Where the cycles went", (), (_cycles_chart(points),), (table,))


def _percent_text(value: float) -> str:
    """Returns a share in percent as text. A dash if it is too small to show."""
    return f"{value:.1%}" if value >= VISIBLE_PART else "-"


def _cycles_chart(points: Sequence[MeasuredPoint]) -> ChartData:
    """Returns the chart of the uses of each core's cycles."""
    charted = remove_points_with_repeated_seeds(points)
    data = [
        {
            "row": f"{series}, core {share.core}" if point.point.cores > 1 else series,
            "part": part,
            "order": CYCLE_PARTS.index(part),
            "share": share.parts[part] / share.cycles,
            "test": point.point.title,
            **kernel_and_board_chart_entries(point.point),
        }
        for _, series, point in label_points_with_benchmark_and_series(charted)
        for share in cycle_use_of_cores(point)
        for part in CYCLE_PARTS
    ]
    caption = "Share of each core's cycles in the window by cause."
    repeated = " Of runs with different seeds, only the first is shown." if len(charted) < len(points) else ""
    return ChartData("cycles", data, caption + repeated)


def spinlocks_report_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on the kernel's spinlocks: how often each core took and waited for each. None without
    any."""
    rows = []
    for test, series, point in label_points_with_benchmark_and_series(points):
        for cost in spinlock_costs(point):
            use = cost.use
            rows.append(
                [
                    test,
                    series,
                    str(use.core),
                    f"{use.lock} ({use.name})",
                    f"{use.acquisitions:,}",
                    f"{cost.contended_part:.1%}",
                    f"{use.wait_cycles:,}",
                    f"{cost.wait_cycles_per_count:,.1f}",
                    f"{cost.hold_cycles_mean:,.1f}",
                ]
            )
    if not rows:
        return None
    table = TableData(
        "Hardware spinlocks",
        (
            "test",
            "run with",
            "core",
            "lock",
            ">acquisitions",
            ">contended",
            ">wait cycles",
            ">wait cycles per count",
            ">mean hold cycles",
        ),
        rows,
        "Contended: the share of acquisitions that had to wait because the lock was taken.",
    )
    return ReportSection("locks", "Waiting for spinlocks", (), (), (table,))


def kernel_functions_report_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on the kernel functions that take the most cycles in each test. None if no cycles were
    counted."""
    rows, leading = [], []
    for test, series, point in label_points_with_benchmark_and_series(points):
        total = sum(core.cycles for core in point.virtual.cores) if point.virtual else 0
        counts = sum(share.counts for share in cycle_use_of_cores(point))
        functions = [
            function
            for function in functions_with_most_cycles(point, TOP_FUNCTIONS)
            if function.cycles / total >= SMALLEST_FUNCTION
        ]
        leading.append(
            [
                test,
                series,
                ", ".join(f"{use.name} {use.cycles / total:.0%}" for use in functions[:3]) or "none above 0.5 %",
            ]
        )
        rows += [
            [
                test,
                series,
                use.name,
                use.kind,
                f"{use.cycles / total:.1%}",
                f"{use.cycles / counts:,.1f}",
                f"{use.entries / counts:,.2f}",
                f"{use.cycles / use.entries:,.1f}" if use.entries else "-",
            ]
            for use in functions
        ]
    if not rows:
        return None
    brief = TableData(
        "The three functions with the most cycles",
        ("test", "run with", "function and its share of all cycles"),
        leading,
    )
    table = TableData(
        "Kernel functions in full",
        (
            "test",
            "run with",
            "function",
            "class",
            ">of all cycles",
            ">cycles per count",
            ">calls per count",
            ">cycles per call",
        ),
        rows,
        "All cores together, including waits. Functions below 0.5 % are left out.",
    )
    return ReportSection("functions", "Kernel functions", (), (), (brief, table))
