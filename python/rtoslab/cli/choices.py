"""Options that many commands share: the same name, the same meaning, the same default everywhere.

`--kernel` and `--board` name what is measured, one of each or several. Without them it is the default kernel on the
default board. `--out` is a folder of results, `-o` a file that is written. `test_command_line.py` checks every
command for that."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from rtoslab.catalogue import DEFAULT_BOARD, DEFAULT_KERNEL
from rtoslab.cli.names import CatalogueNameParam, CatalogueNamesParam, Command, KeyValueParam

SUITES_OWN: Final = "those of the suite, else "
"""Before the default, where a suite may be named too."""

kernel_option = click.option(
    "--kernel", type=CatalogueNameParam("kernels"), default=DEFAULT_KERNEL, show_default=True, help="The kernel."
)
board_option = click.option(
    "--board", type=CatalogueNameParam("boards"), default=DEFAULT_BOARD, show_default=True, help="The virtual board."
)
config_option = click.option(
    "--config",
    type=KeyValueParam(),
    multiple=True,
    help=("A setting as in `rtoslab run`: opt=-O3, param.NAME=N, or a macro of the kernel's configuration."),
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the results. If it contains an earlier run of the same command, that run is resumed.",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help=("Number of points that are measured at the same time."),
)
placements_option = click.option(
    "--placements",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Number of placements (other addresses of the same code) in which each point is measured.",
)
target_option = click.option(
    "--target",
    metavar="auto|SERIAL|NAME",
    help=(
        "Flash a real board and read its serial port: `auto` (the only one connected), the serial number of its "
        "probe, or its name in the hardware map (--bench)."
    ),
)
bench_option = click.option(
    "--bench",
    type=click.Path(path_type=Path),
    metavar="MAP.toml",
    help="The hardware map that contains the board named by --target.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the plan and measure nothing.")


def kernels_option(default: str = DEFAULT_KERNEL) -> Callable[[Command], Command]:
    """Returns a decorator that adds the option `--kernel` for several kernels. `default`: the help's text on the
    default."""
    return click.option("--kernel", "kernels", multiple=True, type=CatalogueNamesParam("kernels"),
                        help=f"Kernels: one, a,b or all.  [default: {default}]")  # fmt: skip


def boards_option(default: str = DEFAULT_BOARD) -> Callable[[Command], Command]:
    """Returns a decorator that adds the option `--board` for several boards. `default`: the help's text on the
    default."""
    return click.option("--board", "boards", multiple=True, type=CatalogueNamesParam("boards"),
                        help=f"Virtual boards: one, a,b or all.  [default: {default}]")  # fmt: skip
