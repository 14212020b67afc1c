"""A plan's points, each in several placements of its code and data."""

from dataclasses import replace

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.plan.obstacles import MAX_PLACEMENT, linker_obstacle
from rtoslab.plan.plan import Plan, Point


def plan_with_placements(catalogue: Catalogue, plan: Plan, count: int) -> Plan:
    """Returns the plan with each point repeated in `count` placements (orders of code and data), numbered from 0.
    Raises PlanError.

    A kernel that is linked by its own script has only the first placement. Its others cannot be measured.
    """
    if not 1 <= count <= MAX_PLACEMENT + 1:
        raise PlanError(f"{count} placements are not possible; choose 1 to {MAX_PLACEMENT + 1}.")
    given = next((item for item in plan.points if item.placement), None)
    if given is not None:
        raise PlanError(f"--placements and --config placement={given.placement} exclude each other; leave one out.")
    points = (_point_in_placement(catalogue, point, number) for point in plan.points for number in range(count))
    return replace(plan, points=tuple(points))


def _point_in_placement(catalogue: Catalogue, point: Point, number: int) -> Point:
    """Returns the point in one placement, with the reason if it cannot be linked so."""
    why = point.not_applicable or linker_obstacle(catalogue.find_kernel(point.kernel).facts, number)
    return replace(point, placement=number, not_applicable=why)
