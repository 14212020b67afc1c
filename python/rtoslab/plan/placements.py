"""A plan's points, each in several placements of its code and data."""

from dataclasses import replace

from rtoslab.base import PlanError
from rtoslab.plan.obstacles import MOST_PLACEMENT
from rtoslab.plan.plan import Plan


def placed(plan: Plan, count: int) -> Plan:
    """Every point in the placements from 0, the linker's own order, to count - 1. Raises PlanError."""
    if not 1 <= count <= MOST_PLACEMENT + 1:
        raise PlanError(f"{count} placements cannot be asked for; there are 1 to {MOST_PLACEMENT + 1}.")
    given = next((each for each in plan.points if each.placement), None)
    if given is not None:
        raise PlanError(f"Either so many placements or the one of --config placement={given.placement}; leave one out.")
    points = (replace(point, placement=number) for point in plan.points for number in range(count))
    return replace(plan, points=tuple(points))
