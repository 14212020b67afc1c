"""Options of commands that observe a benchmark's window or a section of an image's run."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, PlanError
from rtoslab.catalogue import DEFAULT_KERNEL
from rtoslab.cli.choices import board_option, config_option
from rtoslab.cli.image_options import attach_option, parse_devices
from rtoslab.cli.names import CatalogueNameParam, DurationParam
from rtoslab.instruments import DEFAULT_CYCLES, ImageObservationOptions, ObservedRunSection


def exit_code_of_run(unhandled: str) -> int:
    """Returns the exit code of a command that ran an image: 3 if a core took an exception that has no handler.

    `unhandled` is a sentence on these exceptions, which is printed, or empty.
    """
    if unhandled:
        click.echo(f"warning: {unhandled}", err=True)
    return EXIT_POINT_FAILED if unhandled else EXIT_OK


_OPTIONS = (
    click.option(
        "--kernel",
        type=CatalogueNameParam("kernels"),
        help=f"The kernel.  [default: {DEFAULT_KERNEL}; for an image, found by its functions]",
    ),
    board_option,
    click.option("--cores", type=click.IntRange(1, 8), help="Cores in use."),
    config_option,
    click.option(
        "--for",
        "--window",
        "window_ms",
        type=DurationParam(),
        help="Length of a benchmark's window, or of an image's run at the board's default clock.  [default: 20ms; "
        "for samples 250ms]",
    ),
    click.option(
        "--from",
        "start",
        metavar="SYMBOL|CYCLES",
        help=("For an image: start observing at this place instead of at reset."),
    ),
    click.option("--until", "end", metavar="SYMBOL|CYCLES", help="For an image: stop observing at this place."),
    click.option(
        "--max-cycles",
        type=click.IntRange(1, 2**63 - 1),
        help=f"For an image: the same as --for, in cycles.  [default: {DEFAULT_CYCLES:,}]",
    ),
    attach_option,
)


OBSERVATION_PARAMETERS = ("kernel", "board", "cores", "config", "window_ms", "start", "end", "max_cycles", "attached")
"""The parameters of these options."""


def add_run_observation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the command with added options that choose a run to observe. It gets their values as `choice`."""

    @wraps(command)
    def call_with_observation_options(
        *args: Any,
        kernel: str | None,
        board: str,
        cores: int | None,
        config: tuple[tuple[str, str], ...],
        window_ms: int | None,
        start: str | None,
        end: str | None,
        max_cycles: int | None,
        attached: tuple[str, ...],
        **options: Any,
    ) -> Any:
        """Calls the command with the values of these options as `choice`."""
        if max_cycles and window_ms:
            raise PlanError("--for and --max-cycles both limit the length; give only one of them.")
        choice = ImageObservationOptions(
            kernel=kernel, board=board, cores=cores, config=dict(config), window_ms=window_ms
        )
        if attached:
            choice["devices"] = parse_devices(attached)
        if start or end or max_cycles:
            choice["stretch"] = ObservedRunSection(start=start, end=end, cycles=max_cycles or DEFAULT_CYCLES)
        return command(*args, choice=choice, **options)

    for option in reversed(_OPTIONS):
        call_with_observation_options = option(call_with_observation_options)
    return call_with_observation_options
