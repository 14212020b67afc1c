"""`rtoslab footprint`: what an image, a kernel and its services weigh."""

import csv
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final

import click
from rich.table import Table as RichTable

from rtoslab.base import EXIT_OK, PlanError, TitledTable, find_checkout_root
from rtoslab.catalogue import DEFAULT_BOARD, DEFAULT_KERNEL, Catalogue
from rtoslab.cli.choices import boards_option, config_option, kernels_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import CatalogueNameParam, KeyValueParam, options_given_on_command_line, split_names
from rtoslab.footprint import (
    ImageFootprint,
    ServiceSizeSurvey,
    board_memory_regions,
    build_footprint_program,
    compare_footprints,
    image_size_tables,
    minimal_image_sizes_table,
    read_image_footprint,
    service_survey_tables,
    size_difference_tables,
    survey_service_sizes,
)

_FILE = click.Path(path_type=Path)
_LARGE = "symbols"


_OF_KERNELS: Final = {
    "kernels": "--kernel", "cores": "--cores", "config": "--config", "programs": "--program",
    "against_kernel": "--against-kernel", "against_config": "--against-config",
}  # fmt: skip
"""Options by the names of their parameters that have no effect on an image of the user's."""


@click.command("footprint")
@click.argument("image", required=False, type=_FILE)
@click.option("--map", "map_file", type=_FILE, help="The linker's map file of IMAGE.  [default: the one next to it]")
@kernels_option()
@boards_option()
@click.option(
    "--cores", type=click.IntRange(1, 8), default=1, show_default=True, help="Number of cores that the kernel runs on."
)
@config_option
@click.option(
    "--program", "programs", multiple=True, help=("Measure only this program of firmware/footprint/. May be repeated.")
)
@click.option("--against", type=_FILE, help="Another image: show the differences between IMAGE and it.")
@click.option("--against-kernel", type=CatalogueNameParam("kernels"), help="Compare the minimal images of two kernels.")
@click.option("--against-config", type=KeyValueParam(), multiple=True, help="Compare with another configuration.")
@click.option("--table", "tables", multiple=True, help="Show only this table: symbols, objects, sections, services ...")
@click.option("--csv", "as_csv", is_flag=True, help="Print one table (--table) as CSV on stdout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.pass_context
def footprint_command(
    context: click.Context,
    image: Path | None,
    map_file: Path | None,
    kernels: tuple[str, ...],
    boards: tuple[str, ...],
    cores: int,
    config: tuple[tuple[str, str], ...],
    programs: tuple[str, ...],
    against: Path | None,
    against_kernel: str | None,
    against_config: tuple[tuple[str, str], ...],
    tables: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
) -> int:
    """Show the size of an IMAGE, byte by byte. Or build a kernel with each of its services, and show the size of each.

    An IMAGE is any ELF file. With its map file, every byte is assigned to an object file. Without an IMAGE, builds
    images for --kernel and --board: a minimal one (the started kernel with its idle task), then one for each service.
    """
    catalogue = Catalogue(find_checkout_root())
    kernels = split_names(kernels, catalogue.buildable_kernels) or (() if image else (DEFAULT_KERNEL,))
    boards = split_names(boards, catalogue.boards) or (() if image else (DEFAULT_BOARD,))
    if image is not None:
        _refuse_options_of_kernels(context, boards)
        result = _image_size_tables(catalogue, image, map_file, boards, against)
    elif against is not None or map_file is not None:
        raise PlanError("--against and --map need an IMAGE; give one.")
    elif against_kernel is not None or against_config:
        result = _program_size_difference_tables(
            catalogue, kernels, boards, cores, dict(config), against_kernel, dict(against_config), programs
        )
    else:
        quiet = as_csv or as_json
        result = _kernel_footprints(catalogue, kernels, boards, cores, dict(config), programs, quiet=quiet)
    _print_tables(_select_tables_by_name(result, tables), listed=bool(tables), as_csv=as_csv, as_json=as_json)
    return EXIT_OK


def _refuse_options_of_kernels(context: click.Context, boards: Sequence[str]) -> None:
    """Raises PlanError if the user gave options with an IMAGE that only have an effect on images that are built."""
    ignored = options_given_on_command_line(context, *_OF_KERNELS)
    if ignored or len(boards) > 1:
        option = _OF_KERNELS[ignored[0]] if ignored else "a second --board"
        raise PlanError(f"{option} has no effect on an IMAGE, which is built already; leave it out.")


def _image_size_tables(
    catalogue: Catalogue, image: Path, map_file: Path | None, boards: Sequence[str], against: Path | None
) -> Sequence[TitledTable]:
    """Returns the tables of an image's size, or of how it differs in size from the image `against`."""
    regions = board_memory_regions(catalogue.find_board(boards[0]).facts) if boards else ()
    weighed = read_image_footprint(image, map_file, regions)
    if against is None:
        return image_size_tables(weighed)
    return size_difference_tables(compare_footprints(read_image_footprint(against, None, regions), weighed))


def _program_size_difference_tables(
    catalogue: Catalogue,
    kernels: Sequence[str],
    boards: Sequence[str],
    cores: int,
    config: dict[str, str],
    against_kernel: str | None,
    against_config: dict[str, str],
    programs: Sequence[str],
) -> Sequence[TitledTable]:
    """Returns the tables of how the size of a program differs between two kernels or two configurations."""
    if len(kernels) != 1 or len(boards) != 1 or len(programs) > 1:
        raise PlanError("A comparison needs one --kernel, one --board and at most one --program.")
    program = programs[0] if programs else "minimal"

    def size_of_measured_program(kernel: str, chosen: dict[str, str]) -> ImageFootprint:
        """Returns the sizes in the program, built for a kernel with a configuration."""
        return build_footprint_program(
            catalogue, kernel, boards[0], program=program, cores=cores, config=chosen
        ).footprint

    before = size_of_measured_program(against_kernel or kernels[0], {**config, **against_config})
    return size_difference_tables(compare_footprints(before, size_of_measured_program(kernels[0], config)))


def _kernel_footprints(
    catalogue: Catalogue,
    kernels: Sequence[str],
    boards: Sequence[str],
    cores: int,
    config: dict[str, str],
    programs: Sequence[str],
    *,
    quiet: bool,
) -> Sequence[TitledTable]:
    """Builds the programs that measure sizes, for each kernel on each board. Returns the tables of their sizes."""
    surveys: list[ServiceSizeSurvey] = []
    for kernel, board in product(kernels, boards):
        surveys.append(
            survey_service_sizes(
                catalogue, kernel, board, programs=programs or None, cores=cores, config=config,
                progress=lambda label: None if quiet else click.echo(f"building and running {label}", err=True),
            )
        )  # fmt: skip
    single = (
        image_size_tables(surveys[0].minimal.footprint) if len(surveys) == 1 else (minimal_image_sizes_table(surveys),)
    )
    return (*single, *service_survey_tables(surveys))


def _select_tables_by_name(tables: Sequence[TitledTable], names: Sequence[str]) -> Sequence[TitledTable]:
    """Returns the tables with these names, or all if there are none. Raises PlanError for an unknown name."""
    known = [table.name for table in tables]
    for name in names:
        if name not in known:
            raise PlanError(f"There is no table {name!r}; known: {', '.join(known)}.")
    return [table for table in tables if not names or table.name in names]


def _print_tables(tables: Sequence[TitledTable], *, listed: bool, as_csv: bool, as_json: bool) -> None:
    """Prints the tables as JSON, as CSV or for a terminal. `listed`: whether the user named them."""
    if as_json:
        print_json_answer({table.name: table.as_json() for table in tables})
    elif as_csv:
        if len(tables) != 1:
            raise PlanError(
                f"CSV output contains one table; choose it with --table: {', '.join(table.name for table in tables)}."
            )
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(tables[0].columns)
        writer.writerows(tables[0].rows)
    else:
        console = PlainConsole()
        for table in tables:
            if (listed or table.name != _LARGE) and table.rows:
                console.print(_rich_table(table))
        if not listed and any(table.name == _LARGE for table in tables):
            console.print(f"`--table {_LARGE}` shows every symbol.")


_PLACE = ("kernel", "board")


def _rich_table(table: TitledTable) -> RichTable:
    """Returns a table in the form for a terminal. If all rows have the same kernel and board, its title names these
    instead."""
    shown = RichTable(title=table.title, title_justify="left")
    everywhere = table.columns[:2] == _PLACE and len({tuple(row[:2]) for row in table.rows}) == 1
    first = 2 if everywhere else 0
    if everywhere:
        shown.title = f"{table.title}: {table.rows[0][0]} on {table.rows[0][1]}"
    for index, name in enumerate(table.columns[first:], first):
        numeric = any(isinstance(row[index], int) for row in table.rows)
        shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*("" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell for cell in row[first:]))
    return shown
