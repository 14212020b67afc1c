"""A plan's points, each in several placements of its code and data."""

from dataclasses import replace

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.plan.obstacles import MOST_PLACEMENT, linker_lacks
from rtoslab.plan.plan import Plan, Point


def in_placements(catalogue: Catalogue, plan: Plan, count: int) -> Plan:
    """Every point in the placements from 0, the linker's own order, to count - 1. Raises PlanError.

    A kernel that is linked by a script of its port has the first alone. Its others are n/a.
    """
    if not 1 <= count <= MOST_PLACEMENT + 1:
        raise PlanError(f"{count} placements cannot be asked for; there are 1 to {MOST_PLACEMENT + 1}.")
    given = next((item for item in plan.points if item.placement), None)
    if given is not None:
        raise PlanError(f"Either so many placements or the one of --config placement={given.placement}; leave one out.")
    points = (_at(catalogue, point, number) for point in plan.points for number in range(count))
    return replace(plan, points=tuple(points))


def _at(catalogue: Catalogue, point: Point, number: int) -> Point:
    why = point.not_applicable or linker_lacks(catalogue.kernel(point.kernel).facts, number)
    return replace(point, placement=number, not_applicable=why)
