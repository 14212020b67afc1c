"""The figures of one point in all its placements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtoslab.analyses import (
    CodePlacementValueRange,
    cycles_by_function,
    noun_of_measured_event,
    primary_speed_values_of_point,
)
from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.images import build_measurement_point_image, read_elf
from rtoslab.measure import MeasurementPointOutcome
from rtoslab.placements.moved_functions import FunctionInCodePlacements, functions_affected_by_code_placement
from rtoslab.plan import MeasurementPlan, PlannedPoint
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement, PointId

LEAST_MOVED = 0.01
"""Cycles per count or per sample. A function that changed less is left out."""


@dataclass(frozen=True, slots=True)
class CodePlacementStudy:
    """The figures and functions of one benchmark on one board in each placement of the code."""

    point: PointId
    """The point in placement 0."""
    unit: str
    """The unit of functions' cycles: a count or a sample."""
    placements: Sequence[int]
    """The placements that were measured."""
    run_ids: Sequence[str]
    bands: Mapping[str, CodePlacementValueRange]
    functions: Sequence[FunctionInCodePlacements]
    line_bytes: int
    deviations: Mapping[str, str] = field(default_factory=dict)
    """The deviations of the kernel from the port contract, as it declares."""


def make_code_placement_studies(
    catalogue: Catalogue, plan: MeasurementPlan, outcomes: Sequence[MeasurementPointOutcome]
) -> list[CodePlacementStudy]:
    """Returns, for each point that was measured in several placements of the code, how they change its figures.

    Raises PlanError if there is none.
    """
    groups: dict[str, list[tuple[PlannedPoint, MeasuredPoint]]] = {}
    for point, outcome in zip(plan.points, outcomes, strict=True):
        if isinstance(outcome.result, MeasuredPoint):
            groups.setdefault(repr(replace(point, placement=0)), []).append((point, outcome.result))
    studies = [_make_code_placement_study(catalogue, group) for group in groups.values() if len(group) > 1]
    if not studies:
        why = _reasons_for_missing_measurements(outcomes)
        raise PlanError(f"No point was measured in two placements, so nothing can be compared{why}.")
    return studies


def _reasons_for_missing_measurements(outcomes: Sequence[MeasurementPointOutcome]) -> str:
    """Returns why points were not measured, as a clause. Empty if no reason is known."""
    results = [outcome.result for outcome in outcomes]
    for result in results:
        if isinstance(result, NotApplicableMeasurement):
            return f": {result.reason}"
    first = next((result for result in results if isinstance(result, FailedMeasurement)), None)
    return f": {first.message.rstrip('.')}" if first else ""


def _make_code_placement_study(
    catalogue: Catalogue, measured: Sequence[tuple[PlannedPoint, MeasuredPoint]]
) -> CodePlacementStudy:
    """Returns how the placement of the code changes the figures of one point. `measured`: the point in each
    placement."""
    points = [point for point, _ in measured]
    results = [result for _, result in measured]
    figures = [{metric.id: metric for metric in primary_speed_values_of_point(result)} for result in results]
    bands = {
        name: CodePlacementValueRange(
            [figure[name].value for figure in figures], max(figure[name].resolution for figure in figures)
        )
        for name in figures[0]
        if all(name in figure for figure in figures)
    }
    cycles = [cycles_by_function(item) for item in results]
    line_bytes = catalogue.find_board(points[0].board).facts.memory.line_bytes
    symbols = [read_elf(build_measurement_point_image(catalogue, item).elf_path).symbols for item in points]
    whole = [sum(cycle.values()) for cycle in cycles]
    first = results[0].point
    return CodePlacementStudy(
        first.model_copy(update={"config": {key: first.config[key] for key in first.config if key != "placement"}}),
        noun_of_measured_event(results[0]),
        [item.placement for item in points],
        [item.run_id for item in results],
        bands,
        functions_affected_by_code_placement(cycles, symbols, whole, line_bytes, LEAST_MOVED),
        line_bytes,
        results[0].deviations,
    )
