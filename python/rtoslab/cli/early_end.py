"""Prints a command's answer as JSON, or after an interrupt the reason and the finished part.

An interrupt between the answer and the end of the process would print a second JSON object. So only this module prints
answers, and it ignores signals afterwards."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from rtoslab import interrupts


class InterruptedWithResultsError(KeyboardInterrupt):
    """Raised in place of a user's interrupt. Contains the results that were finished before it."""

    def __init__(self, cause: KeyboardInterrupt, stored: dict[str, Any]) -> None:
        super().__init__(*cause.args)
        self.finished = stored


@contextmanager
def report_if_interrupted(finished: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """If the block is interrupted, lets the command report its finished part as JSON. `finished`: returns this part."""
    try:
        yield
    except KeyboardInterrupt as cause:
        raise InterruptedWithResultsError(cause, finished()) from None


def print_json_answer(value: Any, indent: int | None = None) -> None:
    """Prints a command's answer as the only JSON value on standard output."""
    interrupts.stop_handling_signals()
    click.echo(json.dumps(value, indent=indent))


def report_command_interruption(cause: BaseException | None) -> None:
    """Prints that the command was interrupted. A command that prints JSON adds its finished part."""
    if interrupts.is_json_output_requested():
        stored = cause.finished if isinstance(cause, InterruptedWithResultsError) else {}
        with suppress(OSError):
            print_json_answer(
                {"stop": "interrupted", "detail": interrupts.reason_of_process_interruption(cause), **stored}
            )
        return
    interrupts.stop_handling_signals()
    with suppress(OSError):
        click.echo(interrupts.user_interruption_message(cause), err=True)
