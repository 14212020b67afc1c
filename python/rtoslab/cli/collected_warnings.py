"""Reports at a command's end what its packages warned of: stored points that were altered, after which no command ends
with 0, and features that an image used and its virtual board does not model."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from rtoslab.base import AlteredPointWarning, UnmodelledFeatureWarning


@contextmanager
def print_warnings_at_end() -> Iterator[list[str]]:
    """Collects each warning once while the block runs, and prints all on stderr at its end.

    Gives the list of the messages about altered points, which is complete at the end.
    """
    altered: dict[str, None] = {}
    unmodelled: dict[str, None] = {}
    show = warnings.showwarning

    def collect_rtoslab_warning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """Collects an AlteredPointWarning or a UnmodelledFeatureWarning, and shows any other warning."""
        if issubclass(category, AlteredPointWarning):
            altered[str(message)] = None
        elif issubclass(category, UnmodelledFeatureWarning):
            unmodelled[str(message)] = None
        else:
            show(message, category, filename, lineno, file, line)

    gathered: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", AlteredPointWarning)
        warnings.simplefilter("always", UnmodelledFeatureWarning)
        warnings.showwarning = collect_rtoslab_warning
        try:
            yield gathered
        finally:
            gathered += altered
            for value in gathered:
                click.echo(f"rtoslab: {value}", err=True)
            for value in unmodelled:
                click.echo(f"warning: {value}", err=True)
