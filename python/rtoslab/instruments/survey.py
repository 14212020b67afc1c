"""The longest masked interrupts of each call, over several benchmarks and kernels."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rtoslab.base import TitledTable, Value
from rtoslab.instruments.masked_interrupts import function_that_masked_interrupts
from rtoslab.instruments.profiler import InterruptMaskingIntervals, Profile, innermost_function

SurveyRow = tuple[str, Profile, InterruptMaskingIntervals]
"""Benchmark, its profile, one record of it."""


def masked_interrupts_survey_table(profiles: Iterable[Profile], priority: int) -> TitledTable:
    """Returns a table of the longest times with interrupts of a priority masked, by kernel and call, over several
    profiles."""
    calls: dict[tuple[str, str], list[SurveyRow]] = defaultdict(list)
    for profile in profiles:
        for held in (*profile.held, *profile.masked_at_end):
            if held.priority == priority:
                key = (profile.axes.get("kernel", "-"), function_that_masked_interrupts(held.opener, profile))
                calls[key].append((profile.axes.get("benchmark", profile.label), profile, held))
    rows = [(kernel, call, *_longest_interrupt_masking_row(item)) for (kernel, call), item in calls.items()]
    rows.sort(key=lambda row: (row[0], -int(row[2] or 0), row[1]))
    columns = ("kernel", "call", "longest", "longest (us)", "mean", "count", "opened by", "closed by", "in benchmark")
    return TitledTable("masked", f"Interrupts of priority {priority:#04x} masked, cycles", columns, rows)


def _longest_interrupt_masking_row(findings: Sequence[SurveyRow]) -> tuple[Value, ...]:
    """Returns the table row of one call: its longest masked interval, with sums over all benchmarks."""
    benchmark, profile, worst = max(findings, key=lambda finding: finding[2].longest_cycles)
    count, total = (
        sum(finding.count for _, _, finding in findings),
        sum(finding.total_cycles for _, _, finding in findings),
    )
    opened, closed = (
        f"{innermost_function(worst.opener)}, {worst.opener_line}",
        ", ".join(text for text in (innermost_function(worst.closer), worst.closer_line) if text),
    )
    us = f"{worst.longest_cycles * 1e6 / profile.clock_hz:.2f}"
    return worst.longest_cycles, us, f"{total / count:.1f}", count, opened, closed, benchmark
