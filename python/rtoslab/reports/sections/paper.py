"""A paper's statements, computed again."""

from collections.abc import Sequence

from rtoslab.analyses.claims import judge_claims
from rtoslab.reports.table import Section, TableData
from rtoslab.results import Measured
from rtoslab.suites import Suite


def paper_section(points: Sequence[Measured], suite: Suite | None) -> Section | None:
    """The paper's orderings, computed again, and what to know of it."""
    if suite is None:
        return None
    verdicts = judge_claims(suite.claim, points)
    rows = [[each.claim.section, each.claim.says, each.outcome, each.seen] for each in verdicts]
    tables = (
        [TableData(f"{suite.paper}: its statements and this run", ("section", "the paper says", "here", "seen"), rows)]
        if rows
        else []
    )
    return Section("paper", "Against the paper", suite.notes, (), tables)
