"""Points without a number."""

from collections.abc import Sequence

from rtoslab.analyses import numberless, series_names
from rtoslab.base import counted
from rtoslab.reports.sections.naming import brief_test
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
    groups = numberless([*failed, *missing], measured)
    if not groups:
        return None
    names = series_names([*(point for _, point in groups), *(each.point for each in measured)])
    rows = [
        [brief_test(point), _named(name, len(group)), *_outcome(group[0])]
        for (group, point), name in zip(groups, names, strict=False)
    ]
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


def _named(name: str, placements: int) -> str:
    return name if placements == 1 else f"{name}, {counted(placements, 'placement')}"
