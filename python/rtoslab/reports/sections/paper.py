"""A paper's statements, computed again."""

from collections.abc import Collection, Sequence

from rtoslab.analyses.claims import judge_claims
from rtoslab.reports.table import Section, TableData
from rtoslab.results import Measured
from rtoslab.suites import Claim, Suite


def paper_section(
    points: Sequence[Measured], suite: Suite | None, claims: Sequence[Claim], kernels: Collection[str]
) -> Section | None:
    """What of the paper's statements this run can tell, and what to know of it."""
    if suite is None:
        return None
    verdicts = judge_claims(claims, points, kernels)
    told = [each for each in verdicts if each.outcome in {"same", "different"}]
    rows = [[each.claim.section, each.claim.says, each.outcome, each.seen] for each in told]
    columns = ("section", "the paper says", "here", "seen")
    tables = [TableData(f"{suite.paper}: its statements and this run", columns, rows)] if rows else []
    return Section("paper", "Against the paper", suite.notes, (), tables)
