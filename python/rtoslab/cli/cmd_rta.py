"""`rtoslab rta`: bounds of a task set's response times, checked against execution; and the search for a broken one."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich import box
from rich.table import Table as RichTable

from rtoslab.base import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_POINT_FAILED,
    PlanError,
    RtoslabError,
    find_checkout_root,
    write_file_atomically,
)
from rtoslab.catalogue import DEFAULT_BOARD, Catalogue
from rtoslab.cli.choices import board_option, config_option, kernel_option
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole, colour_text
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import CatalogueNameParam, DurationParam, FrequencyParam
from rtoslab.reports import TableData
from rtoslab.rta import (
    SHAPES,
    KernelOverheads,
    TaskSet,
    TaskSetStudy,
    read_kernel_overheads,
    read_task_set,
    write_kernel_overheads,
)

_FILE = click.Path(path_type=Path)


@contextmanager
def _give_errors_exit_code_no_answer() -> Iterator[None]:
    """Gives every error inside the block the exit code for "no answer"."""
    try:
        yield
    except RtoslabError as error:
        error.exit_code = EXIT_ERROR
        raise


class _BoundsDefaultCommandGroup(click.Group):
    """A command group whose default subcommand is `bounds`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Inserts `bounds` if the first argument is no subcommand."""
        named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named or not args else ["bounds", *args])


@click.group("rta", cls=_BoundsDefaultCommandGroup)
def rta_command() -> None:
    """Compute bounds of response times: `rtoslab rta TASKS` is short for `rtoslab rta bounds TASKS`."""


@rta_command.command("bounds", short_help="Compute bounds of a task set's response times.")
@click.argument("tasks", type=_FILE)
@click.option(
    "--kernel", type=CatalogueNameParam("kernels"), help="Measure this kernel's overheads on the virtual board."
)
@click.option(
    "--board", type=CatalogueNameParam("boards"), help=f"The virtual board.  [default: {DEFAULT_BOARD}, with --kernel]"
)
@config_option
@click.option(
    "--overheads", "overheads_file", type=_FILE, help=("Read the overheads from this file instead of measuring them.")
)
@click.option("--save-overheads", type=_FILE, help="Write the overheads to this file, as TOML or JSON by its suffix.")
@click.option("--beside", type=_FILE, help="Another file of overheads, shown for comparison.")
@click.option(
    "--clock",
    "clock_hz",
    type=FrequencyParam(),
    help=("Clock frequency for times in cycles, if the overheads do not state one."),
)
@click.option(
    "--check",
    "checked",
    is_flag=True,
    help=("Run the task set on the virtual board and compare every job with its bound."),
)
@click.option(
    "--for", "span_ms", type=DurationParam(), help="How long to run.  [default: whole hyperperiods, 200 to 2000 ticks]"
)
@click.option("--save-image", type=_FILE, help="Write the image of --check, an ELF file that you can flash.")
@click.option("-o", "--output", type=_FILE, help="Write an HTML report with plots.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@_give_errors_exit_code_no_answer()
def rta_bounds_command(
    tasks: Path,
    kernel: str | None,
    board: str | None,
    config: tuple[tuple[str, str], ...],
    overheads_file: Path | None,
    save_overheads: Path | None,
    beside: Path | None,
    clock_hz: int | None,
    checked: bool,
    span_ms: int | None,
    save_image: Path | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Compute bounds of the response times of the task set in TASKS, a TOML or CSV file.

    Without a kernel, this is the textbook analysis, in which the kernel costs nothing. With --kernel, the kernel's
    overheads on the board are measured first (once) and included. --overheads reads them from a file instead. Exit code
    1: no answer, because the task set is invalid, cannot be built or run, or the model does not apply to it. Exit code
    3: a deadline can be missed, or an observation contradicts the bounds.
    """
    from rtoslab.rta import add_sensitivity_to_study, compute_task_set_study, sensitivity_tables_for_terminal  # noqa: PLC0415 (so that help and completion stay quick)
    from rtoslab.rta import study_as_json as json_of  # noqa: PLC0415

    _require_compatible_options(kernel, board, checked=checked, of_a_run=span_ms is not None or save_image is not None)
    board = board or (DEFAULT_BOARD if kernel else None)
    task_set = read_task_set(tasks)
    given = read_kernel_overheads(overheads_file) if overheads_file is not None else None
    bench = _VirtualBoardRuns(kernel, board, dict(config), task_set, quiet=as_json) if kernel and board else None
    overheads = given or (bench.measure_overheads(operations=save_overheads is not None) if bench else None)
    if overheads is None and (save_overheads or beside):
        raise PlanError("There are no overheads to save or to compare; add --kernel or --overheads.")
    study = compute_task_set_study(task_set, overheads, clock_hz)
    if beside is not None and overheads is not None:
        study = replace(study, compared_overheads=read_kernel_overheads(beside))
    if checked and bench is not None:
        study = bench.check_task_set_on_virtual_board(study, span_ms, save_image)
    if save_overheads is not None and overheads is not None:
        write_kernel_overheads(overheads, save_overheads)
    if not as_json:
        _print_response_time_study(study)
    study = add_sensitivity_to_study(study, _progress_printer(quiet=as_json))
    if not as_json:
        _print_tables(sensitivity_tables_for_terminal(study))
    if output is not None:
        from rtoslab.reports import report_formats  # noqa: PLC0415
        from rtoslab.rta import task_set_report  # noqa: PLC0415

        write_report(report_formats()["html"](task_set_report(study)), output)
    if as_json:
        print_json_answer(json_of(study))
    return _exit_code_of_study(study)


@rta_command.command("break", short_help="Search for a task set that breaks its bound.")
@kernel_option
@board_option
@config_option
@click.option(
    "--sets", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="Number of task sets to try."
)
@click.option("--seed", type=click.IntRange(0, 2**63), default=1, show_default=True, help="Seed of the random sets.")
@click.option(
    "--events", is_flag=True, help=("Also use interrupts that release tasks, critical sections and masked sections.")
)
@click.option(
    "--sends", is_flag=True, help=("Everything of --events, and tasks that other tasks release, and late releases.")
)
@click.option("--timers", is_flag=True, help=("Everything of --sends, and timers of the kernel."))
@click.option(
    "--fans",
    is_flag=True,
    help=("Everything of --timers, and tasks that release several tasks, or that several tasks release."),
)
@click.option(
    "--cores",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help=("Number of cores that the tasks are distributed over."),
)
@click.option(
    "--responses-only",
    is_flag=True,
    help=("Check only response times, not each kernel operation against its overhead. This is faster on two cores."),
)
@click.option(
    "--shape", "shapes", type=click.Choice(list(SHAPES)), multiple=True, help="Use only task sets of these shapes."
)
@click.option(
    "--out",
    type=_FILE,
    metavar="FOLDER",
    help=("Folder of the results: a file for each finding, with a task set that is reduced to a small one."),
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@_give_errors_exit_code_no_answer()
def rta_break_command(
    kernel: str,
    board: str,
    config: tuple[tuple[str, str], ...],
    sets: int,
    seed: int,
    events: bool,
    sends: bool,
    timers: bool,
    fans: bool,
    cores: int,
    responses_only: bool,
    shapes: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Search for a task set that breaks its bound on the virtual board.

    Runs random task sets of every shape, then sets similar to those that came closest to their bound. Exit code 3: a
    job took longer than its bound, a kernel operation took longer than its overhead, or the bound of the more
    pessimistic model of the tick (`worst tick`) was below that of the other one (`split tick`).
    """
    from rtoslab.rta import (  # noqa: PLC0415  # noqa: PLC0415
        TaskSetTestBench,
        search_violated_bounds,
        shrink_violating_task_set,
        summarise_bound_violation_search,
        write_bound_violation,
    )

    say = (lambda _: None) if as_json else (lambda text: click.echo(text, err=True))
    catalogue = Catalogue(find_checkout_root())
    level = 4 if fans else 3 if timers else 2 if sends else int(events)
    bench = TaskSetTestBench.build_task_set_test_bench(
        catalogue, kernel, board, dict(config), events=level, cores=cores, progress=say
    )
    bench = replace(bench, has_ledger=not responses_only)
    tried = []
    for attempt in search_violated_bounds(bench, sets, seed, shapes or tuple(SHAPES)):
        tried.append(attempt)
        if not attempt.findings:
            continue
        small = bench.run_task_set_against_bounds(
            *shrink_violating_task_set(bench, attempt.system, attempt.starts), attempt.shape, attempt.seed
        )
        if not as_json:
            click.echo(f"{attempt.shape}, {attempt.seed}: {'; '.join(small.findings)}")
        if out is not None:
            write_bound_violation(bench, small, out / f"{kernel}-{board}-{attempt.seed}-{len(tried)}.toml")
    outcome = summarise_bound_violation_search(bench, tried)
    if as_json:
        print_json_answer(outcome.search_statistics_as_json())
    else:
        click.echo(outcome.bound_search_statistics_as_line())
    return EXIT_OK if not outcome.findings else EXIT_POINT_FAILED


def _exit_code_of_study(study: TaskSetStudy) -> int:
    """Returns the exit code of `rtoslab rta`: 1 if there is no answer, 3 if a deadline can be missed, else 0."""
    if study.is_schedulable:
        return EXIT_OK
    return EXIT_ERROR if study.is_schedulability_undecided else EXIT_POINT_FAILED


def _progress_printer(*, quiet: bool) -> Callable[[str], None]:
    """Returns a function that prints what is being searched for, if stderr is a terminal.
    The answer is printed before the search.
    """
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    return lambda text: click.echo(f"searching {text}", err=True)


def _require_compatible_options(kernel: str | None, board: str | None, *, checked: bool, of_a_run: bool) -> None:
    """Raises PlanError for options of `rtoslab rta` that exclude each other."""
    if kernel is None and board is not None:
        raise PlanError(
            "--board needs --kernel, because overheads are measured for a kernel on a board; add "
            "--kernel, or leave --board out."
        )
    if checked and kernel is None:
        raise PlanError("--check runs the task set with a kernel; add --kernel.")
    if of_a_run and not checked:
        raise PlanError("--for and --save-image only apply to a run; add --check.")


class _VirtualBoardRuns:
    """The parts of `rtoslab rta` that need the virtual board."""

    def __init__(self, kernel: str, board: str, config: dict[str, str], task_set: TaskSet, *, quiet: bool) -> None:
        from rtoslab.rta import TaskSetImages  # noqa: PLC0415

        self.quiet = quiet
        self.catalogue = Catalogue(find_checkout_root())
        homes = [task.core for task in task_set.tasks] + [interrupt.core for interrupt in task_set.interrupts]
        events = task_set.required_feature_level
        self._print_start_of_slow_step(f"building and calibrating {kernel} on {board}")
        self.images = TaskSetImages.build_images(
            self.catalogue, kernel, board, config, events=events, cores=1 + max(homes)
        )

    def _print_start_of_slow_step(self, text: str) -> None:
        """Prints on stderr that a slow step begins."""
        if not self.quiet:
            click.echo(text, err=True)

    def measure_overheads(self, *, operations: bool) -> KernelOverheads:
        """Returns the measured overheads of the kernel.
        With `operations`, which needs more images, also those of the kernel's operations.
        """
        from rtoslab.rta import overheads_with_operation_costs  # noqa: PLC0415

        self._print_start_of_slow_step("measuring the kernel's overheads")
        overheads = self.images.measured_overheads(self.catalogue)
        if not operations:
            return overheads
        self._print_start_of_slow_step("measuring its operations")
        return overheads_with_operation_costs(self.catalogue, self.images.firmware, overheads)

    def check_task_set_on_virtual_board(
        self, study: TaskSetStudy, span_ms: int | None, save_image: Path | None
    ) -> TaskSetStudy:
        """Runs the task set on the virtual board. Returns the study with every job compared with its bound."""
        from rtoslab.rta import (  # noqa: PLC0415
            image_task_rows,
            run_and_check_task_set,
            virtual_interrupt_lines,
        )

        self._print_start_of_slow_step("running the task set")
        firmware, work = self.images.firmware, self.images.work
        ticks = None if span_ms is None else max(1, span_ms * firmware.tick_hz // 1000)
        done = run_and_check_task_set(study.system, firmware, work, ticks)
        if save_image is not None:
            rows = image_task_rows(study.system, firmware, work)
            write_file_atomically(
                save_image,
                firmware.elf_image_with_task_table(rows, virtual_interrupt_lines(study.system, firmware, work, 1)),
                "the image",
            )
        return replace(study, check=done)


def _print_response_time_study(study: TaskSetStudy) -> None:
    """Prints a study's bounds, notes and answer."""
    from rtoslab.rta import study_tables_for_terminal  # noqa: PLC0415

    console = PlainConsole()
    _print_tables(study_tables_for_terminal(study))
    for note in (*study.notes, *(study.check.notes if study.check is not None else ())):
        console.print(colour_text("note", "yellow"), note, soft_wrap=True)
    colour = "green" if study.is_schedulable else "red"
    for line in study.schedulability_answer_sentences():
        console.print(colour_text(line, colour), soft_wrap=True)


def _print_tables(tables: Sequence[TableData]) -> None:
    """Prints tables with their notes."""
    console = PlainConsole()
    for table in tables:
        console.print(_rich_table(table))
        if table.note:
            console.print(table.note, soft_wrap=True)


def _rich_table(table: TableData) -> RichTable:
    """Returns a table for a terminal."""
    shown = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    for name, numeric in table.column_heads:
        shown.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in table.rows:
        shown.add_row(*row)
    return shown
