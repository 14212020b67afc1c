"""The section on whether the results in a report were measured alike."""

from collections.abc import Sequence

from rtoslab.parity import UnfairDifference
from rtoslab.reports.table import ReportSection, TableData


def measurement_fairness_report_section(findings: Sequence[UnfairDifference], *, several: bool) -> ReportSection | None:
    """Returns the report section on whether the compared points were measured under equal conditions. `several`:
    whether there are points to compare. None if not."""
    if not several:
        return None
    if not findings:
        return ReportSection(
            "parity", "Is the comparison fair?", (("All compared points were measured under equal conditions."),)
        )
    rows = [
        [
            finding.concept.title,
            "; ".join(f"{words}: {', '.join(who)}" for words, who in finding.values.items()),
            finding.board,
            str(len(finding.benchmarks)),
            finding.concept.why_unfair,
            finding.unfair_difference_cost_text,
        ]
        for finding in findings
    ]
    prose = (
        "Some compared points were measured under different conditions. Unless you want to compare these "
        "conditions, figures may differ only because of them."
    )
    columns = ("what differs", "who has what", "board", ">benchmarks", "why it matters", "its cost")
    return ReportSection("parity", "Is the comparison fair?", (prose,), (), [TableData("Unequal", columns, rows)])
