"""Points without a number."""

from collections.abc import Mapping, Sequence

from rtoslab.analyses import distinct_point_names, group_measurement_points_without_values, point_id_without_instrument
from rtoslab.base import count_with_noun
from rtoslab.reports.sections.naming import short_test_title
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement

_PROSE = (
    "A point has no figure if a proof fails, if the kernel's port does not conform, or if its records are "
    "damaged. A point is n/a if the kernel or the board does not have what it needs."
)


def report_section_of_unmeasured_points(
    measured: Sequence[MeasuredPoint], failed: Sequence[FailedMeasurement], missing: Sequence[NotApplicableMeasurement]
) -> ReportSection | None:
    """Returns the report section on points that failed or do not apply. None without any.

    It comes early, so that nobody overlooks it.
    """
    groups = [
        (group, point_id_without_instrument(point))
        for group, point in group_measurement_points_without_values([*failed, *missing], measured)
    ]
    if not groups:
        return None
    names = distinct_point_names(
        [*(point for _, point in groups), *(point_id_without_instrument(result.point) for result in measured)]
    )
    tests: dict[tuple[str, str, str], list[str]] = {}
    for (group, point), name in zip(groups, names, strict=False):
        test = tests.setdefault(
            (_series_name_with_placement_count(name, len(group)), *_outcome_and_reason_of_missing_value(group[0])), []
        )
        test += [] if short_test_title(point) in test else [short_test_title(point)]
    rows = [
        [", ".join(alike), "; ".join(where), *why]
        for (alike, *why), where in _group_configurations_by_missing_tests(tests).items()
    ]
    table = TableData("Points without a number", ("test", "run with", "outcome", "why"), rows)
    return ReportSection(
        "missing",
        "Not measured",
        (_PROSE,),
        (),
        (table,),
    )


def _group_configurations_by_missing_tests(
    tests: Mapping[tuple[str, str, str], Sequence[str]],
) -> dict[tuple[tuple[str, ...], str, str], list[str]]:
    """Groups the series (a kernel on a board, with cores and configuration) that lack the same tests for the same
    reason.

    `tests`: the tests that lack a figure, by (series, outcome, reason). Returns the series by (tests, outcome, reason).
    """
    groups: dict[tuple[tuple[str, ...], str, str], list[str]] = {}
    for (where, outcome, why), named_tests in tests.items():
        groups.setdefault((tuple(named_tests), outcome, why), []).append(where)
    return groups


def _outcome_and_reason_of_missing_value(result: FailedMeasurement | NotApplicableMeasurement) -> tuple[str, str]:
    """Returns the outcome of a point without a number, such as `n/a`, and the reason."""
    if isinstance(result, FailedMeasurement):
        return f"failed ({result.stage})", result.message
    return "n/a", result.reason


def _series_name_with_placement_count(name: str, placements: int) -> str:
    """Returns a series' name, with the number of placements if there are several."""
    return name if placements == 1 else f"{name}, {count_with_noun(placements, 'placement')}"
