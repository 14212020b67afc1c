"""`rtoslab profile`: where every cycle went, and who held interrupts and locks."""

import json
from pathlib import Path
from typing import Any

import click

from rtoslab.base import EXIT_OK, PlanError, TitledTable, find_checkout_root, write_file_atomically
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import InterruptedWithResultsError, print_json_answer, report_if_interrupted
from rtoslab.cli.names import CatalogueNameParam
from rtoslab.cli.observation import add_run_observation_options, exit_code_of_run
from rtoslab.instruments import (
    ImageObservationOptions,
    Profile,
    ProfileInterruptedError,
    all_profile_tables,
    brief_profile_tables,
    find_observed_image,
    folded_stacks,
    profile_difference_tables,
    profile_image,
    profile_summary_text,
    read_execution_profile_file,
    render_profile_page,
    speedscope_profile,
    table_for_terminal,
)

_FILE = click.Path(path_type=Path)
_FIRST = ("cores", "functions", "masked", "locks")
"""Tables that the terminal shows by default."""


@click.command("profile")
@click.argument("subject", required=False)
@add_run_observation_options
@click.option("--against-kernel", type=CatalogueNameParam("kernels"), help="Show the difference from another kernel.")
@click.option(
    "--against-cores", type=click.IntRange(1, 8), help=("Show the difference from a run on this number of cores.")
)
@click.option(
    "--diff", nargs=2, type=_FILE, metavar="A B", help="Show the differences between two stored profiles, B - A."
)
@click.option(
    "--table",
    "chosen",
    multiple=True,
    help=("Show only this table, with all rows: functions, paths, lines, masked ..."),
)
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Number of rows of each table.")
@click.option("--save", type=_FILE, metavar="FILE", help="Store the profile in FILE, for --diff.")
@click.option("--html", "page", type=_FILE, metavar="FILE", help="Write a page with flame graphs and all tables.")
@click.option("--folded", "folded_file", type=_FILE, metavar="FILE", help="Write folded stacks for flame graph tools.")
@click.option("--speedscope", "speedscope_file", type=_FILE, metavar="FILE", help="Write a file for speedscope.app.")
@click.option("--json", "as_json", is_flag=True, help="Print all tables as one JSON object on stdout.")
def profile_command(
    subject: str | None,
    choice: ImageObservationOptions,
    against_kernel: str | None,
    against_cores: int | None,
    diff: tuple[Path, Path] | None,
    chosen: tuple[str, ...],
    top: int,
    save: Path | None,
    page: Path | None,
    folded_file: Path | None,
    speedscope_file: Path | None,
    as_json: bool,
) -> int:
    """Show where every cycle of a SUBJECT was spent. A SUBJECT is a benchmark (its window), or any ELF image.

    Cycles are shown by core, function, call path and source line, split into execution, waits for buses, flash and
    spinlocks, sleep, and exception entry and exit. Also shows how long interrupts were masked and spinlocks held, and
    by which code. The image is not changed. The cycles of each core add up to the observed time. Exit code 3 if a core
    ended in an unimplemented handler. If Ctrl-C or a signal ends the command, it stores and shows the executed part,
    with exit code 130.
    """
    if diff is not None:
        _print_tables(
            profile_difference_tables(read_execution_profile_file(diff[0]), read_execution_profile_file(diff[1])),
            chosen,
            top,
            (),
            as_json=as_json,
        )
        return EXIT_OK
    if subject is None:
        raise PlanError(
            "There is nothing to profile; name a benchmark (`rtoslab list` shows them) or an image, or give --diff A B."
        )
    catalogue = Catalogue(find_checkout_root())
    ended: ProfileInterruptedError | None = None
    try:
        result = profile_image(find_observed_image(catalogue, subject, **choice))
    except ProfileInterruptedError as cause:
        ended, result = cause, cause.partial
    _write_profile_files(result, save, page, folded_file, speedscope_file)
    if ended is not None:
        if not as_json:
            _print_profile(result, chosen, top)
        raise InterruptedWithResultsError(ended, _profile_tables_as_json(all_profile_tables(result), chosen))
    if against_kernel is not None or against_cores is not None:
        against = choice.copy()
        against["kernel"] = against_kernel or choice["kernel"]
        against["cores"] = against_cores or choice["cores"]
        with report_if_interrupted(lambda: _profile_tables_as_json(all_profile_tables(result), chosen)):
            other = profile_image(find_observed_image(catalogue, subject, **against))
        _print_tables(profile_difference_tables(other, result), chosen, top, (), as_json=as_json)
    elif as_json:
        print_json_answer(_profile_tables_as_json(all_profile_tables(result), chosen))
    else:
        _print_profile(result, chosen, top)
    return exit_code_of_run(result.unhandled)


def _print_profile(profile: Profile, chosen: tuple[str, ...], top: int) -> None:
    """Prints the tables of a profile that the user chose, or its summary and brief tables. `top`: the number of
    rows."""
    if chosen:
        _print_tables(all_profile_tables(profile), chosen, top, _FIRST, as_json=False)
        return
    click.echo(f"{profile.label}. {profile_summary_text(profile)}")
    brief = {table.name: table for table in brief_profile_tables(profile)}
    _print_tables(
        tuple(brief.get(table.name, table) for table in all_profile_tables(profile)), chosen, top, _FIRST, as_json=False
    )


def _write_profile_files(
    profile: Profile, save: Path | None, page: Path | None, stacks: Path | None, scope: Path | None
) -> None:
    """Writes a profile to those files that the user asked for (not None): itself, a page, folded stacks, speedscope."""
    texts = (
        (page, render_profile_page),
        (stacks, folded_stacks),
        (scope, lambda table: json.dumps(speedscope_profile(table)) + "\n"),
    )
    if save is not None:
        profile.save(save)
    for path, text in texts:
        if path is not None:
            write_file_atomically(path, text(profile), "the profile")


def _require_known_tables(tables: tuple[TitledTable, ...], chosen: tuple[str, ...]) -> list[str]:
    """Returns the names of all tables. Raises PlanError if a chosen one is not among them."""
    known = [table.name for table in tables]
    for name in chosen:
        if name not in known:
            raise PlanError(f"There is no table {name!r}; known: {', '.join(known)}.")
    return known


def _profile_tables_as_json(tables: tuple[TitledTable, ...], chosen: tuple[str, ...]) -> dict[str, Any]:
    """Returns the chosen tables of a profile (or all) as a JSON object."""
    known = _require_known_tables(tables, chosen)
    return {table.name: table.as_json() for table in tables if table.name in (chosen or known)}


def _print_tables(
    tables: tuple[TitledTable, ...], chosen: tuple[str, ...], top: int, first: tuple[str, ...], *, as_json: bool
) -> None:
    """Prints the chosen tables. Without a choice, those in `first`, or all if that is empty."""
    if as_json:
        print_json_answer(_profile_tables_as_json(tables, chosen))
        return
    known = _require_known_tables(tables, chosen)
    shown = [table for table in tables if (table.name in chosen if chosen else not first or table.name in first)]
    console = PlainConsole()
    for table in shown:
        if table.rows:
            console.print(table_for_terminal(table, None if chosen else top))
    rest = [name for name in known if name not in {table.name for table in shown}]
    if not chosen and rest:
        console.print(
            f"--table NAME shows a whole table ({', '.join(known)}). --html FILE shows all, with flame graphs."
        )
