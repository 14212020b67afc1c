"""Points without a number."""

from collections.abc import Sequence

from rtoslab.analyses import series_names, short_test
from rtoslab.reports.table import Section, TableData
from rtoslab.results import Failed, Measured, NotApplicable

_PROSE = (
    "A point whose proof fails, whose kernel's port does not conform, or whose records are damaged, gives no number. "
    "A point that cannot exist, because kernel or board lacks what it needs, is n/a."
)


def not_measured(
    measured: Sequence[Measured], failed: Sequence[Failed], missing: Sequence[NotApplicable]
) -> Section | None:
    """What gave no number, first, because a reader must not overlook it."""
    absent: list[Failed | NotApplicable] = [*failed, *missing]
    names = series_names([each.point for each in (*absent, *measured)])
    rows = [[short_test(each.point), name, *_outcome(each)] for each, name in zip(absent, names, strict=False)]
    if not rows:
        return None
    table = TableData("Points without a number", ("test", "run with", "outcome", "why"), rows)
    return Section(
        "missing",
        "Not measured",
        (_PROSE,),
        (),
        (table,),
    )


def _outcome(result: Failed | NotApplicable) -> tuple[str, str]:
    if isinstance(result, Failed):
        return f"failed ({result.stage})", result.message
    return "n/a", result.reason
