"""`rtoslab new`: folders from templates."""

from collections.abc import Callable
from pathlib import Path

import click

from rtoslab.base import EXIT_OK, find_checkout_root
from rtoslab.catalogue import DEFAULT_BOARD, PORTS_VARIABLE, Catalogue, kernel_port_folders
from rtoslab.cli.console import path_from_working_directory
from rtoslab.cli.lazy_group import LazyCommandGroup
from rtoslab.cli.names import CatalogueNameParam, Command
from rtoslab.scaffold import NewCatalogueFolder, make_new_folder

_NEXT = {
    "benchmark": "`rtoslab run {name} --window 20ms` measures it and checks its proofs",
    "kernel": "`rtoslab kernel conformance --kernel {name}` shows which checks the port passes",
    "board": "`rtoslab kernel conformance --board {name}` runs the conformance suite on it",
    "paper": "`rtoslab paper {name}` measures its suite and compares the results with the published figures",
}


@click.group("new", cls=LazyCommandGroup, modules={"project": "new_project"})
def new_command() -> None:
    """Create a benchmark, a kernel's port, a board or a paper from a template, or rtoslab.toml for your own firmware.

    A new folder builds and passes its checks before you change anything in it. CONTRIBUTING.md describes the next
    steps.
    """


def _add_title_option_to_command(function: Command) -> Command:
    """Adds the option `--title` to a command, and returns it."""
    return click.option("--title", default="", help="Its title in tables and reports.  [default: NAME]")(function)


def _print_new_folder(kind: str, name: str, created: NewCatalogueFolder) -> int:
    """Prints the files in a new folder, and the next step for a thing of this kind. Returns the exit code."""
    folder = path_from_working_directory(created.folder)
    click.echo(f"Made {folder}:")
    for path in created.files:
        click.echo(f"  {path_from_working_directory(path)}")
    ports = created.folder.parent.absolute()
    if kind == "kernel" and ports not in kernel_port_folders(find_checkout_root()):
        click.echo(f"First: `export {PORTS_VARIABLE}={ports}`, so that every command finds this port.")
    click.echo(f"Next: {_NEXT[kind].format(name=name)}; CONTRIBUTING.md has the next steps.")
    return EXIT_OK


def _add_subcommand_for_template(kind: str, about: str) -> Callable[[], None]:
    """Adds a subcommand of `rtoslab new` for a kind of folder that needs only a name and a title. `about`: its help."""

    @new_command.command(kind, help=about, short_help=f"Create a {kind}.")
    @click.argument("name")
    @_add_title_option_to_command
    def create_from_template(name: str, title: str) -> int:
        """Makes the folder and prints its files. Returns the exit code."""
        return _print_new_folder(kind, name, make_new_folder(Catalogue(find_checkout_root()), kind, name, title=title))

    return create_from_template


_add_subcommand_for_template(
    "benchmark",
    ("Create the benchmark NAME: an example loop, its proofs, and three mutants that the proofs must reject."),
)
_add_subcommand_for_template(
    "paper", "Create the paper NAME with examples of conditions, published figures, statements and a suite."
)


@new_command.command("kernel", short_help="Create the port of a kernel.")
@click.argument("name")
@_add_title_option_to_command
@click.option(
    "--in", "folder", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Your folder of ports, which RTOSLAB_PORTS must name.  [default: the folder of the checkout]",
)  # fmt: skip
def new_kernel_command(name: str, title: str, folder: Path | None) -> int:
    """Create the port NAME of a kernel, at first with a semaphore and without tasks. Then add services one by one."""
    return _print_new_folder(
        "kernel", name, make_new_folder(Catalogue(find_checkout_root()), "kernel", name, title=title, folder=folder)
    )


@new_command.command("board", short_help="Create a board from another one with the same chip.")
@click.argument("name")
@_add_title_option_to_command
@click.option(
    "--like", type=CatalogueNameParam("boards"), default=DEFAULT_BOARD, show_default=True,
    help="The board to copy: one with the same chip.",
)  # fmt: skip
def new_board_command(name: str, title: str, like: str) -> int:
    """Create the board NAME as a copy of a board with the same chip. Then correct its facts by its manual."""
    return _print_new_folder(
        "board", name, make_new_folder(Catalogue(find_checkout_root()), "board", name, title=title, copied_board=like)
    )
