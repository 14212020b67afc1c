"""A plan's points, each in several placements of its code and data."""

from dataclasses import replace

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.plan.obstacles import MAX_PLACEMENT, reason_code_placement_cannot_link
from rtoslab.plan.plan import MeasurementPlan, PlannedPoint


def repeat_plan_in_code_placements(catalogue: Catalogue, plan: MeasurementPlan, count: int) -> MeasurementPlan:
    """Returns the plan with each point repeated in `count` placements (orders of code and data), numbered from 0.
    Raises PlanError.

    A kernel that is linked by its own script has only the first placement. Its others cannot be measured.
    """
    if not 1 <= count <= MAX_PLACEMENT + 1:
        raise PlanError(f"{count} placements are not possible; choose 1 to {MAX_PLACEMENT + 1}.")
    given = next((item for item in plan.points if item.placement), None)
    if given is not None:
        raise PlanError(f"--placements and --config placement={given.placement} exclude each other; leave one out.")
    points = (
        _plan_measurement_in_code_placement(catalogue, point, number)
        for point in plan.points
        for number in range(count)
    )
    return replace(plan, points=tuple(points))


def _plan_measurement_in_code_placement(catalogue: Catalogue, point: PlannedPoint, number: int) -> PlannedPoint:
    """Returns the point in one placement, with the reason if it cannot be linked so."""
    why = point.not_applicable or reason_code_placement_cannot_link(catalogue.find_kernel(point.kernel).facts, number)
    return replace(point, placement=number, not_applicable=why)
