"""A paper's statements, computed again."""

from collections.abc import Collection, Sequence

from rtoslab.analyses import TOLD, judge_claims
from rtoslab.catalogue import PaperFolder, Suite
from rtoslab.reports.table import Section, TableData
from rtoslab.results import Measured


def paper_section(
    points: Sequence[Measured], suite: Suite | None, paper: PaperFolder | None, kernels: Collection[str]
) -> Section | None:
    """What of the paper's statements this run can tell, and what to know of it; None if it can tell none."""
    if suite is None:
        return None
    verdicts = (
        judge_claims(paper.claims, points, kernels, resolution=paper.facts.resolution) if paper is not None else ()
    )
    told = [each for each in verdicts if each.outcome in TOLD]
    if not told:
        return None  # of another board, another number of cores: the paper's notes would be about nothing here
    rows = [[each.claim.section, each.claim.says, each.threshold, each.outcome, each.seen] for each in told]
    columns = ("section", "the paper says", "judged by", "here", "seen")
    tables = [TableData(f"{suite.paper}: its statements and this run", columns, rows)]
    return Section("paper", "Against the paper", suite.notes, (), tables)
