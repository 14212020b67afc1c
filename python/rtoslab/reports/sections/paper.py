"""A paper's statements, computed again."""

from collections.abc import Sequence

from rtoslab.analyses import PointOverPlacements, judge_claims, values_of_points_over_placements
from rtoslab.catalogue import PaperFolder, Suite
from rtoslab.reports.table import ReportSection, TableData


def paper_section(
    points: Sequence[PointOverPlacements], suite: Suite | None, paper: PaperFolder | None
) -> ReportSection | None:
    """Returns the report section that compares the paper's statements with this run. None if this run can judge none of
    them."""
    if suite is None or paper is None:
        return None
    values = values_of_points_over_placements(points)
    claims = [
        claim
        for claim in judge_claims(paper.claims, values, paper.facts.resolution)
        if claim.overall_outcome != "not computed"
    ]
    if not claims:
        return None  # of another board, another number of cores: the paper's notes would be about nothing here
    rows = [
        [
            verdict.claim.section,
            verdict.claim.says,
            verdict.outcome_with_count_text,
            verdict.numbers_of_only_case_text,
            verdict.threshold,
        ]
        for verdict in claims
    ]
    columns = ("section", "the paper says", "here", "seen", "judged by")
    tables = [TableData(f"{suite.paper}: its statements and this run", columns, rows)]
    return ReportSection("paper", "Comparison with the paper", suite.notes, (), tables)
