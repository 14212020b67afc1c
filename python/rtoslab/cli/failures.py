"""Points that failed, named at a command's end, and the exit code that they give."""

from collections.abc import Iterable, Sequence

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED
from rtoslab.reports import point_label
from rtoslab.results import Failed, MeasuredPoint
from rtoslab.store import AnyResult


def print_failures(results: Iterable[AnyResult]) -> None:
    """Each by all that tells it from the others, with the stage and the reason."""
    for result in results:
        if isinstance(result, Failed):
            click.echo(f"failed: {point_label(result)} ({result.stage}): {result.message}")


def points_exit_code(results: Sequence[AnyResult]) -> int:
    """Returns the exit code of a command that measured these points: not 0 where one failed, or where none has a
    number, which a line on stderr says."""
    if any(isinstance(result, Failed) for result in results):
        return EXIT_POINT_FAILED
    if any(isinstance(result, MeasuredPoint) for result in results):
        return EXIT_OK
    click.echo("Nothing was measured: none of the points has a number.", err=True)
    return EXIT_POINT_FAILED
