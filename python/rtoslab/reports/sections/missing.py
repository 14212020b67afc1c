"""Points without a number."""

from collections.abc import Sequence

from rtoslab.analyses.series import core_words, short_test
from rtoslab.reports.table import Section, TableData
from rtoslab.results import Failed, NotApplicable


def not_measured(failed: Sequence[Failed], missing: Sequence[NotApplicable]) -> Section | None:
    """What gave no number, first, because a reader must not overlook it."""
    rows = [
        [short_test(each.point), core_words(each.point.cores), f"failed ({each.stage})", each.message]
        for each in failed
    ]
    rows += [[short_test(each.point), core_words(each.point.cores), "n/a", each.reason] for each in missing]
    if not rows:
        return None
    table = TableData("Points without a number", ("test", "cores", "outcome", "why"), rows)
    return Section(
        "missing",
        "Not measured",
        ("A point whose proof fails, or whose records are damaged, gives no number.",),
        (),
        (table,),
    )
