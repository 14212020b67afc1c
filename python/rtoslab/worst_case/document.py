"""The report of a sweep: the claim, latency against offset, the distribution, the code that arrivals interrupted."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import count_with_noun
from rtoslab.reports import (
    ChartData,
    ReportDocument,
    ReportSection,
    TableData,
    add_footnotes_for_deviating_kernels,
    cycle_count_text,
)
from rtoslab.worst_case.worst_case import ArrivalLatency, WorstCaseLatencyResult

PLOTTED: Final = 2500
"""The most places along the offset's axis. Beyond that, each stands for an interval, by its shortest and longest
latency."""
BINS: Final = 60
_METHOD: Final = (
    "The interrupt was raised once at each of these cycles. Each run began with the same snapshot of the running "
    "system, and was observed until the first instruction of the handler and of the woken task. Offset 0 is the "
    "snapshot's cycle."
)
_FROM_GIVE: Final = (
    "The handler wakes another task, which then gives what the woken task waits for. The task's latency counts from "
    "this give."
)
_SINGLE_IMAGE: Final = " In the undisturbed run, the image itself does not raise this interrupt."


def worst_case_latency_report(finding: WorstCaseLatencyResult, arrivals: NDArray[np.void]) -> ReportDocument:
    """Returns the report of a sweep, which raised an interrupt at every cycle. `arrivals` are its latencies
    (`arrivals.ARRIVAL`)."""
    latencies = [("handler", finding.handler), *([("task", finding.task)] if finding.task is not None else [])]
    arrived = count_with_noun(finding.arrivals, "arrival")
    document = ReportDocument(
        title=f"Worst case: {finding.title}",
        subtitle=f"{finding.clock_hz / 1e6:g} MHz · {arrived} over {finding.span} · virtual board",
        summary=finding.claim,
        sections=(
            _latency_statistics_report_section(finding, latencies),
            _latency_by_arrival_report_section(finding, arrivals, latencies),
            _latency_histogram_section(latencies),
            _interrupted_functions_section(finding),
        ),
    )
    return add_footnotes_for_deviating_kernels(document, finding.deviations, all_deviate=bool(finding.deviations))


def _latency_statistics_report_section(
    finding: WorstCaseLatencyResult, latencies: list[tuple[str, ArrivalLatency]]
) -> ReportSection:
    """Returns the report section with the smallest, usual and largest latency of handler and task."""
    rows = [
        [
            finding.latency_labels[name],
            f"{item.minimum_cycles:,}",
            cycle_count_text(item.median_cycles),
            cycle_count_text(item.p99_cycles),
            f"{item.maximum_cycles:,}",
            f"{finding.to_microseconds(item.maximum_cycles):.3f}",
            f"{item.worst_count:,}",
            f"{item.worst_offset:,}",
            ("asleep, then " if item.asleep else "") + str(item.executing),
        ]
        for name, item in latencies
    ]
    columns = ("first instruction of", ">min", ">median", ">p99", ">max", ">max, us", ">arrivals with max",
               ">first at offset", "executing there")  # fmt: skip
    lengths = [
        f"{name} {cycles:,} cycles"
        for name, cycles in (("period of the background", finding.period_cycles), ("tick", finding.tick_cycles))
        if cycles is not None
    ]
    note = "; ".join(lengths)
    return ReportSection(
        "figures",
        "Latency",
        (
            _METHOD + ("" if finding.own_entries else _SINGLE_IMAGE),
            *filter(
                None,
                (
                    _FROM_GIVE if finding.task_counts_from_give else "",
                    finding.span_reason,
                    finding.earlier_arrivals_sentence,
                    finding.firmware_requests_latency_sentence,
                ),
            ),
        ),
        (),
        (TableData("Cycles from the arrival", columns, rows, note),),
    )


def _latency_by_arrival_report_section(
    finding: WorstCaseLatencyResult, arrivals: NDArray[np.void], latencies: list[tuple[str, ArrivalLatency]]
) -> ReportSection:
    """Returns the report section with a chart of the latency by the cycle of the arrival."""
    offsets = (arrivals["cycle"] - np.uint64(finding.first_cycle)).astype(np.int64)
    rows: list[dict[str, Any]] = []
    for name, _ in latencies:
        values = arrivals[name].astype(np.int64)
        for part in np.array_split(np.arange(len(values)), min(len(values), PLOTTED)):
            low, high = int(values[part].min()), int(values[part].max())
            rows.append({"x": int(offsets[part[0]]), "low": low, "high": high, "series": name})
    caption = (
        "Cycles until the first instruction, by the cycle of the arrival. A line reaches from the shortest to the "
        "longest."
    )
    chart = ChartData("sweep", rows, caption, x_title="offset, cycles", y_title="latency, cycles")
    return ReportSection("offset", "Latency against offset", (), (chart,))


def _latency_histogram_section(latencies: list[tuple[str, ArrivalLatency]]) -> ReportSection:
    """Returns the report section with the histogram of the latencies."""
    rows: list[dict[str, Any]] = []
    for name, item in latencies:
        cycles = [value for value, count in item.histogram for _ in range(count)]
        counts, edges = np.histogram(cycles, bins=min(BINS, max(1, item.maximum_cycles - item.minimum_cycles)))
        rows += [
            {"series": name, "low": float(low), "high": float(high), "count": int(count)}
            for low, high, count in zip(edges, edges[1:], counts, strict=False)
            if count
        ]
    chart = ChartData("histogram", rows, "Number of arrivals by latency.")
    return ReportSection("distribution", "Distribution", (), (chart,))


def _interrupted_functions_section(finding: WorstCaseLatencyResult) -> ReportSection:
    """Returns the report section with the functions that the arrivals interrupted, by the longest latency."""
    rows = [
        [
            meeting.function or "no function",
            f"{meeting.arrivals:,}",
            f"{meeting.handler_maximum_cycles:,}",
            "-" if meeting.task_maximum_cycles is None else f"{meeting.task_maximum_cycles:,}",
        ]
        for meeting in finding.met
    ]
    columns = ("executing on arrival", ">arrivals", ">max to handler", ">max to task")
    table = TableData("Functions by the longest wait for the handler", columns, rows)
    return ReportSection("met", "Interrupted code", (), (), (table,))
