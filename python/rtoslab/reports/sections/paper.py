"""A paper's statements, computed again."""

from collections.abc import Sequence

from rtoslab.analyses import MeasuredPointInCodePlacements, judge_claims, median_values_over_code_placements
from rtoslab.catalogue import MeasurementSuite, PaperFolder
from rtoslab.reports.table import ReportSection, TableData


def paper_comparison_report_section(
    points: Sequence[MeasuredPointInCodePlacements], suite: MeasurementSuite | None, paper: PaperFolder | None
) -> ReportSection | None:
    """Returns the report section that compares the paper's statements with this run. None if this run can judge none of
    them."""
    if suite is None or paper is None:
        return None
    values = median_values_over_code_placements(points)
    claims = [
        claim
        for claim in judge_claims(paper.claims, values, paper.facts.resolution)
        if claim.outcome_of_all_statement_cases != "not computed"
    ]
    if not claims:
        return None  # of another board, another number of cores: the paper's notes would be about nothing here
    rows = [
        [
            verdict.claim.section,
            verdict.claim.says,
            verdict.claim_outcome_with_count_text,
            verdict.text_of_compared_claim_numbers,
            verdict.threshold,
        ]
        for verdict in claims
    ]
    columns = ("section", "the paper says", "here", "seen", "judged by")
    tables = [TableData(f"{suite.paper}: its statements and this run", columns, rows)]
    return ReportSection("paper", "Comparison with the paper", suite.notes, (), tables)
