"""`rtoslab calibrate`: which timing rules silicon confirms, which it refutes, and what it says instead."""

from pathlib import Path
from typing import Any

import click

from rtoslab.api import find_target_for_each_board
from rtoslab.base import EXIT_OK, PlanError, RunError, TitledTable, find_checkout_root
from rtoslab.calibrate import (
    BoardTimingFitResult,
    CalibrationReadings,
    SiliconCalibrationFile,
    build_calibration_firmware,
    calibrate_timing_settings_to_silicon,
    calibration_image_runner,
    calibration_rows_outside_bounds,
    calibration_rows_table,
    counter_difference_cycles,
    make_silicon_calibration_file,
    measure_calibration_on_real_board,
    read_calibration_table,
    read_silicon_calibration_file,
    require_same_rows,
    silicon_comparison_table,
    timing_setting_confidence_grades,
    timing_settings_table,
    write_silicon_calibration_file,
)
from rtoslab.catalogue import Board, Catalogue
from rtoslab.cli.choices import bench_option, jobs_option, kernel_option, out_option, target_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.kernel_figures import (
    change_request_to_stored_calibration,
    compare_silicon_with_virtual_board,
    kernel_value_comparisons_as_json,
    make_kernel_measurement_request,
    measure_kernel_values_on_real_board,
)
from rtoslab.cli.names import CatalogueNameParam, DurationParam
from rtoslab.hardware import flash_command_texts
from rtoslab.instruments import table_for_terminal
from rtoslab.targets import timing_settings

BOARD = "nucleo-f446re"


@click.command("calibrate")
@click.option("--board", type=CatalogueNameParam("boards"), help=f"The board (required), for example {BOARD}.")
@target_option
@bench_option
@click.option("--port", metavar="DEVICE", help="Serial port of the board, if the probe has none.")
@click.option(
    "--from",
    "stored",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fit the timing settings again, to the measurements in this calibration file. No board is needed.",
)
@click.option(
    "--figures",
    metavar="all|BENCHMARK,...",
    help="Also measure these kernel figures, or `all`: the tests T1 to T8, single calls, switches and interrupts.",
)
@kernel_option
@click.option("--for", "--window", "window", type=DurationParam(), help="Length of a kernel figure's measured window.")
@click.option(
    "--repeats",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Number of runs of each kernel figure on silicon.",
)
@out_option
@jobs_option
@click.option("--about", default="", help="Owner, revision and marking of the board, written into the file.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help=("File to write, which you can contribute: silicon.json.")
)
@click.option("--dry-run", is_flag=True, help="Show the commands and measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def calibrate_command(
    board: str | None,
    target: str | None,
    bench: Path | None,
    port: str | None,
    stored: Path | None,
    figures: str | None,
    kernel: str,
    window: int | None,
    repeats: int,
    out: Path | None,
    jobs: int,
    about: str,
    output: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run micro-benchmarks on a real board and on the virtual one, and find the timing rules that differ.

    For each timing rule of the virtual board, shows the values that fit the real board's cycles (docs/calibrate.md).
    Only --target flashes a board.
    """
    _require_one_source(target, stored, bench, port)
    catalogue = Catalogue(find_checkout_root())
    silicon = None if stored is None else read_silicon_calibration_file(stored)
    name = board or (silicon.board if silicon else None)
    on_desk = {} if target is None else find_target_for_each_board(
        catalogue, [name] if name else [], target, port, bench
    )  # fmt: skip
    assert name is not None
    name = catalogue.find_board(name).id
    table = read_calibration_table(catalogue)
    built = build_calibration_firmware(catalogue, table, name, None)
    if dry_run:
        texts = (text for device in on_desk.values() for text in flash_command_texts(device, built.elf_path))
        click.echo("\n".join(texts))
        return EXIT_OK
    request = (
        None if figures is None else make_kernel_measurement_request(figures, name, kernel, window, repeats, jobs, out)
    )
    if request is not None and silicon is not None:
        request = change_request_to_stored_calibration(request, silicon)
    if silicon is None:
        seen = measure_calibration_on_real_board(catalogue, table, built, on_desk[name], _print_on_stderr)
        kernel_figures = measure_kernel_values_on_real_board(request, on_desk) if request else None
    else:
        _require_calibration_of_board(silicon, catalogue.find_board(name).facts, built.elf_sha256)
        about = about or silicon.about
        seen, kernel_figures = silicon.calibration_readings(), silicon.kernel_figures
    runs = calibration_image_runner(catalogue, table, built, name)
    board_facts = catalogue.find_board(name).facts
    defaults = {key: setting for key, setting, _, _ in timing_settings(board_facts.chip) if key.startswith("timing.")}
    require_same_rows(seen, before := runs({}))
    _require_equal_counters(
        counter_difference_cycles(seen, before), calibration_rows_table(table, seen, before, before)
    )
    fit_result = calibrate_timing_settings_to_silicon(table, seen, runs, defaults, _print_on_stderr)
    after = runs(fitted := fit_result.settings)
    grades = timing_setting_confidence_grades(catalogue, name)
    tables = [timing_settings_table(fit_result, grades), calibration_rows_table(table, seen, before, after)]
    compared = compare_silicon_with_virtual_board(request, kernel_figures, fitted) if request and kernel_figures else []
    if compared:
        tables.append(silicon_comparison_table(compared))
    if output is not None:
        image = built.elf_sha256
        write_silicon_calibration_file(output, make_silicon_calibration_file(
            catalogue, name, board_facts.clock.sys_hz, image, about, seen, fit_result, kernel_figures
        ))  # fmt: skip
    missing = kernel_figures.missing if request and kernel_figures else {}
    if as_json:
        answer = _calibration_result_as_json(name, fit_result, tables, seen, after)
        print_json_answer({**answer, **kernel_value_comparisons_as_json(compared, missing)})
    else:
        _print_calibration(fit_result, tables, calibration_rows_outside_bounds(seen, after))
        for benchmark, reason in missing.items():
            click.echo(f"{benchmark} has no figure: {reason}")
    return EXIT_OK


def _require_one_source(target: str | None, stored: Path | None, bench: Path | None, port: str | None) -> None:
    """Raises PlanError if the options name no source of readings, or both a real board and a stored calibration."""
    if target is None and stored is None:
        raise PlanError("No board is given; name the real board with --target, or a stored calibration with --from.")
    if stored is not None:
        options = {"--target": target, "--bench": bench, "--port": port}
        unused = next((option for option, value in options.items() if value is not None), None)
        if unused is not None:
            raise PlanError(f"--from takes the readings from a file, so it excludes {unused}; leave one of them out.")


def _require_calibration_of_board(silicon: SiliconCalibrationFile, board: Board, built_sha256: str) -> None:
    """Raises PlanError if a stored calibration is of another board, chip or clock, or of another image than the current
    one."""
    for what, stored, current in (
        ("board", silicon.board, board.id),
        ("chip", silicon.chip, board.chip),
        ("clock in Hz", silicon.clock_hz, board.clock.sys_hz),
    ):
        if stored != current:
            raise PlanError(
                f"The calibration was measured with the {what} {stored}, not {current}; "
                "choose the file of this board, or calibrate it."
            )
    if silicon.image_sha256 != built_sha256:
        raise PlanError("The calibration was measured with another image than the current one; calibrate again.")


def _require_equal_counters(difference_cycles: float, rows: TitledTable) -> None:
    """Raises RunError if the cycle counters of the two boards differ, after it prints the rows on stderr."""
    if difference_cycles:
        PlainConsole(stderr=True).print(table_for_terminal(rows))
        raise RunError(
            f"The cycle counters of the two boards differ by {difference_cycles:g} in the row that measures nothing, "
            "so the rows do not show any timing rule; check the counter's clock on the real board."
        )


def _calibration_result_as_json(
    board: str,
    fit_result: BoardTimingFitResult,
    tables: list[TitledTable],
    seen: CalibrationReadings,
    after: CalibrationReadings,
) -> dict[str, Any]:
    """Returns the result of a calibration as a JSON object. `seen`: silicon's readings. `after`: the virtual board's
    with the fit."""
    return {
        "board": board,
        "settings": dict(fit_result.settings),
        "differs": [
            finding.key
            for finding in fit_result.findings
            if finding.does_silicon_refute_setting_default and not finding.unexplained_cycles
        ],
        "together": [{"rules": list(group.keys), "differs": group.differs} for group in fit_result.groups],
        "before_cycles": fit_result.before_cycles,
        "after_cycles": fit_result.after_cycles,
        "slack_cycles": fit_result.slack_cycles,
        "unexplained": calibration_rows_outside_bounds(seen, after),
        **{table.name: table.as_json() for table in tables},
    }


def _print_calibration(fit_result: BoardTimingFitResult, tables: list[TitledTable], left: dict[str, float]) -> None:
    """Prints a calibration's tables, the fitted settings, and in which rows differences remain. `left`: row ->
    cycles."""
    console = PlainConsole()
    for table in tables:
        console.print(table_for_terminal(table))
    if fit_result.settings:
        words = " ".join(f"--config {key}={value}" for key, value in sorted(fit_result.settings.items()))
        purpose = "as near to this board as settings allow" if left else "like this board"
        click.echo(f"To run the virtual board {purpose}: rtoslab run ... {words}")
    unexplained = {finding.key for finding in fit_result.findings if finding.unexplained_cycles}
    for group in fit_result.groups:
        rules = ", ".join(group.keys[:-1]) + " and " + group.keys[-1]
        says = "the real board refutes their defaults" if group.differs else "the real board agrees with their defaults"
        says = "no values of theirs explain the rows" if unexplained & set(group.keys) else says
        click.echo(f"The rows show only the common effect of {rules}, not each value: {says}.")
    if left:
        rows = ", ".join(f"{row} ({cycles:g})" for row, cycles in sorted(left.items()))
        click.echo(f"Differences that no setting explains, in cycles: {rows}.")


def _print_on_stderr(text: str) -> None:
    """Prints a line on stderr."""
    click.echo(text, err=True)
