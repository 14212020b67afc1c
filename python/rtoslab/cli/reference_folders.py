"""Common parts of the commands that renew reference results: the number of placements, and the folder of a new run."""

from pathlib import Path
from typing import Final

import click

from rtoslab.base import CatalogueError

_PLACEMENTS: Final = 8

reference_placements = click.option(
    "--placements",
    type=click.IntRange(1, 64),
    default=_PLACEMENTS,
    show_default=True,
    help="Number of placements of the code, if the placement can change the time.",
)


def free_run_folder_path(folder: Path) -> Path:
    """Returns a path for a new run directory: that of `folder` with the first free number.

    Earlier measurements come from the cache if they are still valid.
    """
    for number in range(10_000):
        path = folder.with_name(f"{folder.name}-{number}")
        if not path.exists():
            return path
    raise CatalogueError(f"{folder.parent} contains too many runs; delete it.")
