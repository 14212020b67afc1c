"""Prints failed points at a command's end, and gives the exit code."""

from collections.abc import Iterable, Sequence

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED
from rtoslab.reports import measured_point_label
from rtoslab.results import FailedMeasurement, MeasuredPoint
from rtoslab.store import AnyResult, StoredMeasurementPoint


def print_failed_measurements(results: Iterable[AnyResult]) -> None:
    """Prints each failed point (benchmark, kernel, board, cores, configuration), the stage and the reason."""
    for result in results:
        if isinstance(result, FailedMeasurement):
            click.echo(f"failed: {measured_point_label(result)} ({result.stage}): {result.message}")


def exit_code_of_points(results: Sequence[AnyResult]) -> int:
    """Returns the exit code of a command that measured these points: 3 if one failed, or if none has a number."""
    if any(isinstance(result, FailedMeasurement) for result in results):
        return EXIT_POINT_FAILED
    if any(isinstance(result, MeasuredPoint) for result in results):
        return EXIT_OK
    click.echo("No point was measured successfully; the lines above give the reasons.", err=True)
    return EXIT_POINT_FAILED


def exit_code_of_stored_points(points: Sequence[StoredMeasurementPoint]) -> int:
    """Returns the exit code of a command that shows stored points: 3 if none has a figure, which is also said on
    stderr."""
    if any(isinstance(point.result, MeasuredPoint) for point in points):
        return EXIT_OK
    click.echo("None of the stored points has a figure: each failed or is n/a, and says why.", err=True)
    return EXIT_POINT_FAILED
