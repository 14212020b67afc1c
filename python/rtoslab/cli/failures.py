"""Points that failed, named at a command's end."""

from collections.abc import Iterable

import click

from rtoslab.reports import label
from rtoslab.results import Failed
from rtoslab.store import AnyResult


def tell_failures(results: Iterable[AnyResult]) -> None:
    """Each by all that tells it from the others, with the stage and the reason."""
    for each in results:
        if isinstance(each, Failed):
            click.echo(f"failed: {label(each)} ({each.stage}): {each.message}")
