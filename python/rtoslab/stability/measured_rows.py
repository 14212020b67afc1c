"""Turns the points of a run into rows of a stability file, with only the values that a statement needs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rtoslab.analyses import MeasuredValue, Selector, select_values_by_coordinates
from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.measure import identity_of_point
from rtoslab.reference import StoredPointValues, make_stored_row_of_code_placements
from rtoslab.results import FailedMeasurement, MeasuredPoint
from rtoslab.stability.build_points import (
    PlannedBuildInCodePlacements,
    StatementStabilityPlan,
    selectors_of_paper_statements,
)
from rtoslab.stability.values_file import PaperClaimStabilityFile
from rtoslab.store import AnyResult, StoredMeasurementPoint


def stored_rows_of_run(
    catalogue: Catalogue,
    paper: PaperFolder,
    plan: StatementStabilityPlan,
    placements: int,
    stored: Sequence[StoredMeasurementPoint],
    results: Sequence[AnyResult],
) -> PaperClaimStabilityFile:
    """Returns the results of a run as the content of a stability file. A row without a measured placement has the
    reason.

    `stored` are the run's points with their manifests, `results` the results of every point of the plan.
    """
    by_point = {point.result.point.model_dump_json(): point for point in stored}
    failures = {result.point.model_dump_json(): result for result in results if isinstance(result, FailedMeasurement)}
    places = selectors_of_paper_statements(paper)
    rows = tuple(_make_stability_file_row(catalogue, row, by_point, failures, places) for row in plan.rows)
    manifests = [point.manifest for point in stored if isinstance(point.result, MeasuredPoint)]
    return PaperClaimStabilityFile(
        paper.key,
        placements,
        plan.factors,
        plan.builds,
        plan.rows_by_build,
        rows,
        _tool_versions(manifests[0]) if manifests else {},
    )


def _make_stability_file_row(
    catalogue: Catalogue,
    row: PlannedBuildInCodePlacements,
    by_point: Mapping[str, StoredMeasurementPoint],
    failures: Mapping[str, FailedMeasurement],
    places: Sequence[Selector],
) -> StoredPointValues:
    """Returns the values of one point in its placements, as a stability file stores them."""
    names = [identity_of_point(catalogue, point).model_dump_json() for point in row.points]
    results = [by_point[name] for name in names if name in by_point]
    failed = next((failures[name] for name in names if name in failures), None)
    reason = failed.message if failed else "it was not measured"
    whole = make_stored_row_of_code_placements(row.stands_for, row.points[0].kernel, results, reason)
    return replace(whole, values=_values_needed_by_paper_claim(whole.values, places))


def _values_needed_by_paper_claim(
    values: Sequence[MeasuredValue], places: Sequence[Selector]
) -> tuple[MeasuredValue, ...]:
    """Returns the values that a statement of the paper needs. `places` are the coordinates of such values."""
    chosen = {id(value) for place in places for value in select_values_by_coordinates(values, place)}
    return tuple(value for value in values if id(value) in chosen)


def _tool_versions(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Returns the versions of the virtual board and the compiler that a manifest names."""
    compiler = manifest["build"]["compiler"]
    return {
        "virtual board": f"timing version {manifest['target'].get('timing_version')}",
        "compiler": f"{compiler['id']} {compiler['version']}",
    }
