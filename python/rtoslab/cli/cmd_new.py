"""`rtoslab new`: folders from templates."""

from collections.abc import Callable
from pathlib import Path

import click

from rtoslab.base import EXIT_OK, find_root
from rtoslab.catalogue import DEFAULT_BOARD, PORTS_VARIABLE, Catalogue, port_folders
from rtoslab.cli.display import short_path
from rtoslab.cli.names import CatalogueName, Command
from rtoslab.scaffold import NewFolder, make_new_folder

_NEXT = {
    "benchmark": "`rtoslab run {name} --window 20ms` measures it, with its proofs",
    "kernel": "`rtoslab conformance --kernel {name}` shows what the port does already",
    "board": "`rtoslab conformance --board {name}` runs the conformance suite on it",
    "paper": "`rtoslab paper {name}` measures what its suite names and sets it beside its figures",
}


@click.group("new")
def command() -> None:
    """Make a benchmark, a kernel's port, a board or a paper from a template.

    The new folder builds and passes its checks before you change anything in it. CONTRIBUTING.md continues from there,
    step by step.
    """


def _title_option(function: Command) -> Command:
    """Adds the option `--title`."""
    return click.option("--title", default="", help="What tables and reports call it.  [default: NAME]")(function)


def _print_new_folder(kind: str, name: str, created: NewFolder) -> int:
    """Prints the files that were made and the next step. Returns the exit code."""
    folder = short_path(created.folder)
    click.echo(f"Made {folder}:")
    for path in created.files:
        click.echo(f"  {short_path(path)}")
    ports = created.folder.parent.absolute()
    if kind == "kernel" and ports not in port_folders(find_root()):
        click.echo(f"First: `export {PORTS_VARIABLE}={ports}`, by which every command finds this port.")
    click.echo(f"Next: {_NEXT[kind].format(name=name)}; CONTRIBUTING.md goes on from there.")
    return EXIT_OK


def _add_template_command(kind: str, about: str) -> Callable[[], None]:
    """Adds a subcommand that makes a folder from a name and a title."""

    @command.command(kind, help=about, short_help=f"Make a {kind}.")
    @click.argument("name")
    @_title_option
    def create(name: str, title: str) -> int:
        return _print_new_folder(kind, name, make_new_folder(Catalogue(find_root()), kind, name, title=title))

    return create


_add_template_command(
    "benchmark", "Make the benchmark NAME: a loop to replace, its proofs, and three mistakes that the proofs refuse."
)
_add_template_command(
    "paper", "Make the paper NAME: conditions, published figures, statements and a suite, to be replaced by its own."
)


@command.command("kernel", short_help="Make the port of a kernel.")
@click.argument("name")
@_title_option
@click.option(
    "--in", "folder", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Where it goes: a folder of ports of your own, which RTOSLAB_PORTS must name.  [default: the checkout's]",
)  # fmt: skip
def kernel(name: str, title: str, folder: Path | None) -> int:
    """Make the port NAME of a kernel: without tasks, with a semaphore; you add the services one by one."""
    return _print_new_folder(
        "kernel", name, make_new_folder(Catalogue(find_root()), "kernel", name, title=title, folder=folder)
    )


@command.command("board", short_help="Make a board from one with the same chip.")
@click.argument("name")
@_title_option
@click.option(
    "--like", type=CatalogueName("boards"), default=DEFAULT_BOARD, show_default=True,
    help="The board to copy: one with the same chip.",
)  # fmt: skip
def board(name: str, title: str, like: str) -> int:
    """Make the board NAME: the facts of a board with the same chip, for you to correct by its manual."""
    return _print_new_folder(
        "board", name, make_new_folder(Catalogue(find_root()), "board", name, title=title, copied_board=like)
    )
