"""Stored points as subjects of the lint. Each is named by its difference from the others."""

from collections.abc import Mapping, Sequence

from rtoslab.analyses import PLACEMENT, distinct_point_names, results_depending_on_addresses
from rtoslab.catalogue import Catalogue
from rtoslab.parity.costs import configuration_costs_from_points, read_configuration_change_costs
from rtoslab.parity.unfairness import (
    ComparedMeasuredPoint,
    UnfairDifference,
    group_comparable_measurements,
    unfair_differences_in_groups,
)
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import StoredMeasurementPoint

_MEASURING_OPTIONS = ("instrument", "samples", PLACEMENT)
"""Options that say how something was measured, not what."""


def label_points_for_comparison(
    points: Sequence[StoredMeasurementPoint], run_name: str = ""
) -> list[ComparedMeasuredPoint]:
    """Returns the measured points as sides of a comparison, each named by how it differs from the others.

    The first of several placements counts. `run_name`: begins each name.
    """
    unique = _points_by_build_identity(points)
    names = distinct_point_names([point for point, _ in unique], with_cores=False)
    return [
        ComparedMeasuredPoint(
            ", ".join(part for part in (run_name, name) if part) or point.kernel,
            point,
            stored.manifest,
            _board_settings_at_measurement_start(stored),
        )
        for (point, stored), name in zip(unique, names, strict=True)
    ]


def _board_settings_at_measurement_start(stored: StoredMeasurementPoint) -> Mapping[str, str | int]:
    """Returns the board's settings as they were when the point's measurement window opened. Empty if the point was not
    measured."""
    return stored.result.state if isinstance(stored.result, MeasuredPoint) else {}


def _points_by_build_identity(points: Sequence[StoredMeasurementPoint]) -> list[tuple[PointId, StoredMeasurementPoint]]:
    """Returns the measured points, each with its identity without the options that only say how it was measured.

    The first of several points that differ in these options only stays.
    """
    by_key: dict[tuple[str, str], tuple[PointId, StoredMeasurementPoint]] = {}
    for stored_point in points:
        if isinstance(stored_point.result, MeasuredPoint):
            point = stored_point.result.point
            config = {key: text for key, text in point.config.items() if key not in _MEASURING_OPTIONS}
            instrument = point.config.get("instrument", "")
            plain = point.model_copy(update={"config": config})
            by_key.setdefault((plain.model_dump_json(), instrument), (plain, stored_point))
    return list(by_key.values())


def find_unfair_differences(catalogue: Catalogue, points: Sequence[StoredMeasurementPoint]) -> list[UnfairDifference]:
    """Returns the unfair differences between a report's points (conditions that were not equal), with what they are
    known to cost.

    Costs come from these points and from the stored files.
    """
    costs_of_points = configuration_costs_from_points(
        [point.result for point in points if isinstance(point.result, MeasuredPoint)],
        results_depending_on_addresses(points),
    )
    return unfair_differences_in_groups(
        catalogue,
        group_comparable_measurements(label_points_for_comparison(points)),
        [*costs_of_points, *read_configuration_change_costs(catalogue.root)],
    )


def has_comparable_points(points: Sequence[StoredMeasurementPoint]) -> bool:
    """Whether two or more measured points have the same benchmark, board and number of cores."""
    places = [(point.benchmark, point.board, point.cores) for point, _ in _points_by_build_identity(points)]
    return len(set(places)) < len(places)
