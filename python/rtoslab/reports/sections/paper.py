"""A paper's statements, computed again."""

from collections.abc import Collection, Sequence
from typing import Final

from rtoslab.analyses import PLACEMENT, TOLD, PlacedPoint, joined_verdicts, judge_claims, points_by_place
from rtoslab.catalogue import PaperFolder, Suite
from rtoslab.reports.table import Section, TableData

_SHOWN: Final = {*TOLD, PLACEMENT}


def paper_section(
    points: Sequence[PlacedPoint], suite: Suite | None, paper: PaperFolder | None, kernels: Collection[str]
) -> Section | None:
    """What of the paper's statements this run can tell, and what to know of it; None if it can tell none."""
    if suite is None:
        return None
    judged = [
        judge_claims(paper.claims, place, kernels, resolution=paper.facts.resolution)
        for place in points_by_place(points)
        if paper is not None
    ]
    told = [each for each in joined_verdicts(judged) if each.outcome in _SHOWN]
    if not told:
        return None  # of another board, another number of cores: the paper's notes would be about nothing here
    rows = [[each.claim.section, each.claim.says, each.threshold, each.outcome, each.seen] for each in told]
    columns = ("section", "the paper says", "judged by", "here", "seen")
    tables = [TableData(f"{suite.paper}: its statements and this run", columns, rows)]
    return Section("paper", "Against the paper", suite.notes, (), tables)
