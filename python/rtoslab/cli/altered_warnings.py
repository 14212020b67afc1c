"""Reports stored points that were altered. Any command that reads one says so, and does not end with 0."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from rtoslab.base import AlteredWarning


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collects the message of each AlteredWarning once, and prints all on stderr at the end."""
    sentences: dict[str, None] = {}
    show = warnings.showwarning

    def gather(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, AlteredWarning):
            sentences[str(message)] = None
        else:
            show(message, category, filename, lineno, file, line)

    gathered: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", AlteredWarning)
        warnings.showwarning = gather
        try:
            yield gathered
        finally:
            gathered += sentences
            for value in gathered:
                click.echo(f"rtoslab: {value}", err=True)
