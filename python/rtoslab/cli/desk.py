"""Prints what commands would do with real boards: the programs that they would start."""

from collections.abc import Mapping

import click

from rtoslab.catalogue import Catalogue
from rtoslab.hardware import ConnectedBoard, flash_command_texts
from rtoslab.images import planned_image_path
from rtoslab.plan import MeasurementPlan, PlannedPoint


def print_flash_commands(catalogue: Catalogue, plan: MeasurementPlan, targets: Mapping[str, ConnectedBoard]) -> None:
    """Prints the commands that would flash the image of each point of a plan. Nothing is started. `targets`: real
    boards by board name."""
    for point in plan.points:
        if point.not_applicable is not None:
            continue
        print_flash_commands_of_point(catalogue, point, targets[point.board])


def print_flash_commands_of_point(catalogue: Catalogue, point: PlannedPoint, target: ConnectedBoard) -> None:
    """Prints the commands that would flash one point's image onto a real board."""
    click.echo(f"# reads {target.port} at {target.board.uart.baud} baud before it starts")
    for line in flash_command_texts(target, planned_image_path(catalogue, point)):
        click.echo(line)
