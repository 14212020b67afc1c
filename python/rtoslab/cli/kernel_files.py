"""`rtoslab kernel files`: the files that a kernel with its own build system needs."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, CatalogueError, find_checkout_root, make_folder, write_file_atomically
from rtoslab.catalogue import DEFAULT_OPT, Catalogue
from rtoslab.cli.names import CatalogueNameParam
from rtoslab.trees import OPTIMISATIONS, kernel_build_configuration_files


@click.command("files", short_help="Write the files that the kernel's own build system needs.")
@click.argument("ident", metavar="KERNEL", type=CatalogueNameParam("kernels"))
@click.option("--board", required=True, type=CatalogueNameParam("boards"), help="The board that the kernel is for.")
@click.option(
    "--smp", "needs", flag_value="smp", multiple=True, help=("Write them for all cores of the board instead of one.")
)
@click.option(
    "--inherit", "needs", flag_value="inherit", multiple=True, help="Configure mutexes with priority inheritance."
)
@click.option(
    "--work-queue",
    "needs",
    flag_value="work",
    multiple=True,
    help="Configure a queue of functions that a task of the kernel calls.",
)
@click.option(
    "--opt",
    type=click.Choice(OPTIMISATIONS),
    default=DEFAULT_OPT,
    show_default=True,
    help="Optimisation level of that build.",
)
@click.option("--version", help="An earlier version of the kernel, such as 11.0.  [default: the port's version]")
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(path_type=Path), help="Folder to write them to."
)
def kernel_files_command(
    ident: str, board: str, needs: tuple[str, ...], opt: str, version: str | None, folder: Path
) -> int:
    """Write the files that your own build of KERNEL needs: its configuration, and a README with instructions."""
    catalogue = Catalogue(find_checkout_root())
    entry, place = catalogue.find_kernel(ident), catalogue.find_board(board).id
    unknown = set(needs) - set(entry.facts.export.lacks if entry.facts.export else ())
    if entry.facts.export is not None and unknown:
        raise CatalogueError(f"{entry.facts.title} has no option {', '.join(sorted(unknown))}; leave it out.")
    written, read_me = kernel_build_configuration_files(entry, place, needs, opt, folder.absolute(), version)
    make_folder(folder)
    for name, text in written.items():
        write_file_atomically(folder / name, text, "a file for the kernel's build")
    write_file_atomically(folder / "README.md", read_me, "what to do")
    click.echo(f"{folder / 'README.md'} explains how to use {', '.join(str(folder / name) for name in written)}.")
    return EXIT_OK
