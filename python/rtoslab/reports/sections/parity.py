"""The section on whether the results in a report were measured alike."""

from collections.abc import Sequence

from rtoslab.parity import Unfairness
from rtoslab.reports.table import Section, TableData


def parity_section(findings: Sequence[Unfairness], *, several: bool) -> Section | None:
    """Returns the section on unequal conditions of a comparison. None if there is nothing to compare."""
    if not several:
        return None
    if not findings:
        return Section("parity", "Is the comparison fair?", ("What stands side by side here was measured alike.",))
    rows = [
        [
            finding.concept.title,
            "; ".join(f"{words}: {', '.join(who)}" for words, who in finding.values.items()),
            finding.board,
            str(len(finding.benchmarks)),
            finding.concept.why_unfair,
            finding.cost_text,
        ]
        for finding in findings
    ]
    prose = (
        "What stands side by side here was not measured alike. A difference that is the question itself is no fault; "
        "any other may be the reason for a figure."
    )
    columns = ("what differs", "who has what", "board", ">benchmarks", "why it matters", "what it costs")
    return Section("parity", "Is the comparison fair?", (prose,), (), [TableData("Unequal", columns, rows)])
