"""What commands say of real boards: the programs they would start, and what is connected."""

from collections.abc import Mapping

import click

from rtoslab.catalogue import Catalogue
from rtoslab.hardware import Target, shown_commands
from rtoslab.images import planned_image
from rtoslab.plan import Plan, Point


def show_commands(catalogue: Catalogue, plan: Plan, targets: Mapping[str, Target]) -> None:
    """Of each point what would be started, as it would be typed; none of it is."""
    for point in plan.points:
        if point.not_applicable is not None:
            continue
        show_target(catalogue, point, targets[point.board])


def show_target(catalogue: Catalogue, point: Point, target: Target) -> None:
    """The same of one point."""
    click.echo(f"# listens on {target.port} at {target.board.uart.baud} baud before it starts")
    for line in shown_commands(target, planned_image(catalogue, point)):
        click.echo(line)
