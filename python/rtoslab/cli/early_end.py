"""A command's last words: its answer as JSON, or, where it is ended by Ctrl-C or a signal, why and what it has by then.

The trap: an interrupt between the answer and the end of the process would make a second object of it. So the answer is
given here alone, and nothing is heard after it.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from rtoslab import interrupts


class EndedError(KeyboardInterrupt):
    """An interrupt with what was finished before it."""

    def __init__(self, cause: KeyboardInterrupt, stored: dict[str, Any]) -> None:
        super().__init__(*cause.args)
        self.finished = stored


@contextmanager
def report_if_interrupted(finished: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """Ended within, `--json` also tells what `finished` gives."""
    try:
        yield
    except KeyboardInterrupt as cause:
        raise EndedError(cause, finished()) from None


def print_answer(value: Any, indent: int | None = None) -> None:
    """Prints the command's answer, the one JSON value on standard output."""
    interrupts.stop_handling_signals()
    click.echo(json.dumps(value, indent=indent))


def report_interrupt(cause: BaseException | None) -> None:
    """Says that the command was ended, and what is kept of it."""
    if interrupts.wants_json():
        stored = cause.finished if isinstance(cause, EndedError) else {}
        with suppress(OSError):
            print_answer({"stop": "interrupted", "detail": interrupts.interrupt_reason(cause), **stored})
        return
    interrupts.stop_handling_signals()
    with suppress(OSError):
        click.echo(interrupts.interrupt_message(cause), err=True)
