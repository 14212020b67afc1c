"""Runs a project's own build, in one placement or several.

A build cannot be asked from outside to place its code elsewhere, so it gets two variables: RTOSLAB_PLACEMENT is the
placement's number, and RTOSLAB_PLACEMENT_SOURCE names an assembler file which, linked first, moves all that follows it.
The image then shows whether the code has moved."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rtoslab.base import BuildError, ToolMissingError, write_file_atomically
from rtoslab.project.project_file import ProjectImage

_VARIABLES: Final = ("RTOSLAB_PLACEMENT", "RTOSLAB_PLACEMENT_SOURCE")
"""Variables of a build in a placement. A build without one must not get them from the user's environment."""
_STEP_BYTES: Final = 12
_SPAN_BYTES: Final = 64
"""The step and the span have 4 in common, so the first 16 placements are all the multiples of 4 in a span, which is as
long as the longest line of the boards' flash or caches, or a multiple of it."""


def padding_bytes_of_placement(placement: int) -> int:
    """Returns how many bytes of padding move the code in a placement."""
    return placement * _STEP_BYTES % _SPAN_BYTES


@contextmanager
def temporary_padding_source_folder() -> Iterator[Path]:
    """Yields a temporary folder for the source files of the padding that moves the code."""
    with tempfile.TemporaryDirectory(prefix="rtoslab-placement-") as folder:
        yield Path(folder)


def build_project_image(
    name: str, image: ProjectImage, folder: Path, placement: tuple[int, Path] | None = None
) -> None:
    """Builds a user's image with the project's own command. Its output goes to standard error.
    Raises BuildError, and ToolMissingError where it does not start.

    `placement`: its number, and a folder for the padding's source.
    """
    if not image.build:
        return
    command = shlex.join(image.build)
    environment = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    if placement is not None:
        number, source_folder = placement
        source = source_folder / "rtoslab_placement.s"
        write_file_atomically(source, _padding_assembler_code(number), "the placement's source")
        environment |= dict(zip(_VARIABLES, (str(number), str(source)), strict=True))
    try:
        done = subprocess.run(image.build, cwd=folder, stdin=subprocess.DEVNULL, stdout=2, env=environment, check=False)
    except OSError as cause:
        reason = f"`{image.build[0]}` does not start: {(cause.strerror or 'it is not a program').lower()}"
        raise ToolMissingError(
            f"The image {name!r} cannot be built by `{command}` ({reason}); install it, or correct `build` in "
            "rtoslab.toml."
        ) from None
    if done.returncode:
        raise BuildError(f"The image {name!r} was not built: `{command}` ended with {done.returncode}; see its output.")


def _padding_assembler_code(placement: int) -> str:
    """Returns the assembler source of the padding that moves the code in a placement.

    The flag R makes the linker retain it though nothing refers to it.
    """
    size = padding_bytes_of_placement(placement)
    space = f"    .space {size}\n" if size else ""
    return f'    .syntax unified\n    .section .text.rtoslab_placement, "axR", %progbits\n    .balign 4\n{space}'
