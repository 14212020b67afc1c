"""`rtoslab new project`: a first rtoslab.toml for somebody's firmware."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from rtoslab.base import (
    EXIT_OK,
    PROJECT_FILE,
    PlanError,
    count_with_noun,
    find_checkout_root,
    format_toml_key,
    toml_value,
    write_file_atomically,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.names import CatalogueNameParam
from rtoslab.instruments import ObservedRunSection, Profile, cycle_sums_by_function, find_observed_image, profile_image
from rtoslab.intake import read_program_image
from rtoslab.targets import APPLICATION, boards_likely_for_image, boards_that_fit_image, boards_with_core_of_image

_LOOKED_AT_S: Final = 0.2
"""The virtual time that shows which functions an application executes often."""
_FUNCTIONS: Final = 5
_CALLS_LEAST: Final = 3
"""A function that is called less often belongs to the start-up."""
_OF_NO_KERNEL: Final = "image"
"""The class of a function of an image whose kernel is not known."""


@click.command("project", short_help="Create rtoslab.toml for your own firmware.")
@click.argument("image", type=click.Path(path_type=Path))
@click.option(
    "--board", type=CatalogueNameParam("boards"), help="The board.  [default: the only one on which the image starts]"
)
def new_project_command(image: Path, board: str | None) -> int:
    """Write rtoslab.toml for the firmware IMAGE, an ELF file: its board and the functions that take most of its time.

    The image must fit the board's memories and core. If it fits several boards, the command runs it on each of them. It
    takes the board on which the image ran without a fault or a sign of another chip, if there is only one. To find the
    functions, runs the image for 0.2 virtual seconds.

    Afterwards `rtoslab measure` measures them, `rtoslab gate --store` stores a baseline, and `rtoslab gate` checks them
    for regressions. An existing rtoslab.toml is not changed.
    """
    path = Path(PROJECT_FILE)
    if path.exists():
        raise PlanError(f"{path} exists already; edit it, or remove it first.")
    catalogue = Catalogue(find_checkout_root())
    chosen = catalogue.find_board(board).id if board else _find_only_fitting_board(image)
    clock_hz = catalogue.find_board(chosen).facts.clock.sys_hz
    subject = find_observed_image(
        catalogue, str(image), board=chosen, stretch=ObservedRunSection(cycles=int(_LOOKED_AT_S * clock_hz))
    )
    functions = list(_hottest_functions(profile_image(subject)))
    write_file_atomically(path, _first_project_file_text(image, chosen, functions), "the project file")
    click.echo(f"Created {path}: {image.name} on {chosen}, {count_with_noun(len(functions), 'function')}.")
    if functions:
        click.echo("Next: add `build`, then `rtoslab measure`, `rtoslab gate --store` and `rtoslab gate`.")
    else:
        click.echo(
            f"No function of the image was called {_CALLS_LEAST} times in {_LOOKED_AT_S:g} s. Next: add a [[function]] "
            "to the file. `rtoslab diagnose` works already."
        )
    return EXIT_OK


def _find_only_fitting_board(image: Path) -> str:
    """Returns the only board that the image fits, or the only one of several on which it starts. Says how it was found.

    Raises PlanError for none and for several.
    """
    content = read_program_image(image)
    boards = boards_that_fit_image(content, image.name)
    if not boards:
        raise PlanError(f"{image} fits none of the boards; `rtoslab list boards` shows them.")
    same_core = boards_with_core_of_image(content, image.name, boards)
    if len(same_core) == 1:
        click.echo(f"The board is {same_core[0]}, the only one with these memories and the core for this code.")
        return same_core[0]
    likely = boards_likely_for_image(content, image.name, boards)
    if len(likely) == 1:
        fitting = count_with_noun(len(same_core), "board")
        click.echo(
            f"The board is {likely[0]}. The image fits {fitting}, but only on this one it starts without a fault or a "
            "sign of another chip. To choose another board, add --board."
        )
        return likely[0]
    how = "starts equally well on several boards" if likely else "fits several boards"
    raise PlanError(f"{image} {how}; choose one with --board: {', '.join(likely or same_core)}.")


def _hottest_functions(profile: Profile) -> Iterator[str]:
    """Yields the application's functions that take most cycles themselves, the most first."""
    names: dict[str, None] = {}
    for (_, name), function in cycle_sums_by_function(profile).items():
        is_own = profile.classes.get(name, _OF_NO_KERNEL) in {APPLICATION, _OF_NO_KERNEL}
        if is_own and function.calls >= _CALLS_LEAST and name.isidentifier():
            names[name] = None
    yield from list(names)[:_FUNCTIONS]


def _first_project_file_text(image: Path, board: str, functions: list[str]) -> str:
    """Returns the content of a first rtoslab.toml, which measures these functions of an image."""
    key = format_toml_key(image.stem)
    lines = [
        "# What rtoslab measures of this firmware. docs/own-project.md of rtoslab explains every key.",
        f"[image.{key}]",
        f"elf = {toml_value(image.as_posix())}",
        f"board = {toml_value(board)}",
        '# build = ["make"]  # the command that builds the image; the gate runs it first',
    ]
    if not functions:
        lines += ["", "# [[function]]", f"# image = {toml_value(image.stem)}", '# name = "the_function_to_measure"']
    for name in functions:
        lines += ["", "[[function]]", f"image = {toml_value(image.stem)}", f"name = {toml_value(name)}"]
    return "\n".join([*lines, ""])
