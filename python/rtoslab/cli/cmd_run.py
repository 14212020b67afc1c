"""`rtoslab run`: an experiment from its plan to its stored points."""

from pathlib import Path

import click

from rtoslab.api import (
    default_run_directory,
    find_target_for_each_board,
    load,
    mark_unreadable_points,
    measure_on_connected_boards,
    measure_over_serial_port,
)
from rtoslab.base import EXIT_OK, PlanError, find_checkout_root, require_optional_packages
from rtoslab.catalogue import DEFAULT_BOARD, DEFAULT_KERNEL, Catalogue
from rtoslab.choose import kernel_comparison_section
from rtoslab.cli.choices import (
    SUITES_OWN,
    bench_option,
    boards_option,
    dry_run_option,
    jobs_option,
    kernels_option,
    out_option,
    placements_option,
    target_option,
)
from rtoslab.cli.cmd_report import read_report_document, write_report
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.desk import print_flash_commands
from rtoslab.cli.display import measurement_run_as_json, print_plan_before_measuring, print_reused_points, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points
from rtoslab.cli.image_options import board_and_timing_settings_of_image
from rtoslab.cli.names import (
    CatalogueNameParam,
    CoreCountsParam,
    DurationParam,
    FrequencyParam,
    KeyValueParam,
    split_names,
)
from rtoslab.cli.sections import print_report_section
from rtoslab.hardware import ConnectedBoard
from rtoslab.measure import MeasurementPointOutcome, MeasureOptions, measure_points_of_plan, measure_user_elf_image
from rtoslab.plan import CONFIG_HELP, PlanOptions, make_measurement_plan, repeat_plan_in_code_placements
from rtoslab.reports import print_point_results, report_formats
from rtoslab.store import RunDirectory


@click.command("run")
@click.argument("names", nargs=-1, type=CatalogueNameParam("suites", "benchmarks"), metavar="SUITE|BENCHMARK...")
@kernels_option(f"{SUITES_OWN}{DEFAULT_KERNEL}")
@boards_option(f"{SUITES_OWN}{DEFAULT_BOARD}")
@click.option("--cores", type=CoreCountsParam(), help="Numbers of cores to run with.")
@click.option(
    "--for", "--window", "window", type=DurationParam(), help=("Length of the window in which operations are counted.")
)
@click.option(
    "--samples", type=click.IntRange(1, 10**6), help=("Number of samples of each series of a latency benchmark.")
)
@click.option("--instrument", metavar="counter,pin,probe", help="Instruments that measure latencies.  [default: all]")
@click.option("--clock", type=FrequencyParam(), help="The boards' clock, one of those in board.toml.")
@click.option("--config", type=KeyValueParam(), multiple=True, help=CONFIG_HELP)
@placements_option
@click.option(
    "--full", is_flag=True, help=("Use the paper's own durations and numbers of samples, if the suite has them.")
)
@out_option
@jobs_option
@dry_run_option
@click.option(
    "--image",
    type=click.Path(path_type=Path),
    metavar="ELF",
    help="An image that you built and that contains rtoslab's runner.",
)
@click.option(
    "--port",
    metavar="DEVICE",
    help="Measure on a real board on this serial port; without --target you flash each image yourself.",
)
@target_option
@bench_option
@click.option(
    "--fresh", is_flag=True, help=("Measure points again that were measured before. The results must be the same.")
)
@click.option("--report", is_flag=True, help="Also write report.html into the run directory.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, no progress.")
def run_command(
    names: tuple[str, ...],
    kernels: tuple[str, ...],
    boards: tuple[str, ...],
    cores: tuple[int, ...] | None,
    window: int | None,
    samples: int | None,
    instrument: str | None,
    clock: int | None,
    config: tuple[tuple[str, str], ...],
    placements: int,
    full: bool,
    out: Path | None,
    jobs: int,
    dry_run: bool,
    image: Path | None,
    port: str | None,
    target: str | None,
    bench: Path | None,
    fresh: bool,
    report: bool,
    as_json: bool,
) -> int:
    """Measure suites or benchmarks on a virtual board. Each point is stored as soon as it is finished.

    With --image it measures an ELF file that contains rtoslab's runner, built elsewhere with any kernel. With --target
    it measures on a real board: `rtoslab run t1 --board nucleo-f446re --target auto` (docs/boards.md).

    A name may be shortened (t1). `latency` means every latency benchmark. To resume an interrupted run, give the same
    command again.
    """
    root = find_checkout_root()
    if image is not None:
        if names or kernels or cores or window or samples or instrument or clock or port or target or placements > 1:
            raise PlanError(
                "The image contains its benchmark and kernel; with --image, give only --board, --config and --out."
            )
        board, timing = board_and_timing_settings_of_image(Catalogue(root), boards, dict(config))
        folder, outcome = measure_user_elf_image(root, image, board, out, timing)
        return _print_point_outcomes(folder, [outcome], report=report, as_json=as_json)
    if not names:
        raise click.UsageError(
            "There is nothing to measure; name a suite or a benchmark (`rtoslab list` shows them), or give --image."
        )
    catalogue = Catalogue(root)
    settings = {"clock_hz": clock, "samples": samples, "instrument": instrument}
    chosen = {**dict(config), **{key: str(value) for key, value in settings.items() if value is not None}}
    kernel_names, board_names = split_names(kernels, catalogue.buildable_kernels), split_names(boards, catalogue.boards)
    options = PlanOptions(kernel_names, board_names, cores, window, chosen, full)
    plan = make_measurement_plan(catalogue, names, options)
    if placements > 1:
        plan = repeat_plan_in_code_placements(catalogue, plan, placements)
    on_desk = _find_connected_boards(catalogue, board_names, target, port, bench)
    if on_desk:
        plan = mark_unreadable_points(plan)
    folder = out or default_run_directory(root, plan, [*names, "board"] if on_desk or port else names)
    if dry_run and on_desk and not as_json:
        print_flash_commands(catalogue, plan, on_desk)
    if print_plan_before_measuring(catalogue, plan, folder, jobs, dry_run=dry_run, as_json=as_json):
        return EXIT_OK
    _require_chart_packages(report)
    if on_desk or port is not None:
        if placements > 1:
            raise PlanError("On a real board images are flashed one by one; choose one with --config placement=N.")
        folder, outcomes = _run_on_real_board(names, options, on_desk, port, out)
        return _print_point_outcomes(folder, outcomes, report=report, as_json=as_json)
    with show_progress(plan.points, folder, quiet=as_json) as display:
        outcomes = measure_points_of_plan(
            root,
            plan,
            folder,
            jobs=jobs,
            listener=display.show_measurement_point_progress,
            options=MeasureOptions(again=fresh),
        )
    return _print_point_outcomes(folder, outcomes, report=report, as_json=as_json)


def _require_chart_packages(report: bool) -> None:
    """Raises ToolMissingError if a report is wanted, but the packages that draw its charts are not installed."""
    if report:
        require_optional_packages("report", "a report with charts")


def _find_connected_boards(
    catalogue: Catalogue, boards: tuple[str, ...] | None, target: str | None, port: str | None, bench: Path | None
) -> dict[str, ConnectedBoard]:
    """Returns the connected real boards that the user asks for, by board name. Empty if none was asked for. Raises
    PlanError."""
    if target is not None:
        return find_target_for_each_board(catalogue, boards or (), target, port, bench)
    if bench is not None:
        raise PlanError("--bench needs --target NAME, a target of the hardware map, or --target auto; add one.")
    return {}


def _run_on_real_board(
    names: tuple[str, ...], options: PlanOptions, on_desk: dict[str, ConnectedBoard], port: str | None, out: Path | None
) -> tuple[Path, list[MeasurementPointOutcome]]:
    """Measures on real boards. Returns the run directory, and how each point ended. `on_desk`: boards to flash, or
    empty for a board on `port`."""
    return (
        measure_on_connected_boards(names, options, on_desk, out)
        if on_desk
        else measure_over_serial_port(names, options, str(port), out)
    )


def _print_kernel_comparison(folder: Path, outcomes: list[MeasurementPointOutcome]) -> None:
    """Prints a comparison of the kernels in a run, if there are several."""
    if len({outcome.result.point.kernel for outcome in outcomes}) > 1:
        section = kernel_comparison_section(
            Catalogue(find_checkout_root()), RunDirectory.open_run_directory(folder).read_measured_points()
        )
        if section is not None:
            print_report_section(section, PlainConsole())


def _print_point_outcomes(folder: Path, outcomes: list[MeasurementPointOutcome], *, report: bool, as_json: bool) -> int:
    """Prints how each point of a run ended, and writes the report if asked for. Returns the exit code."""
    if as_json:
        print_json_answer(measurement_run_as_json(folder, outcomes))
    else:
        print_reused_points(outcomes)
        print_point_results([outcome.result for outcome in outcomes], PlainConsole())
        _print_kernel_comparison(folder, outcomes)
        hint = (
            ""
            if report
            else f"; `rtoslab report {path_from_working_directory(folder)} -o report.html` writes the report"
        )
        click.echo(f"Stored in {path_from_working_directory(folder)}{hint}.")
    if report and any(outcome.folder != folder for outcome in outcomes):
        write_report(
            report_formats()["html"](read_report_document((folder,), load(folder), reference=True)),
            path_from_working_directory(folder) / "report.html",
        )
    return exit_code_of_points([outcome.result for outcome in outcomes])
