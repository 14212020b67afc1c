"""`rtoslab measure`: functions of any image, call by call."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, PROJECT_FILE, ImageFileError, PlanError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import InterruptedWithResultsError, print_json_answer, report_if_interrupted
from rtoslab.cli.image_options import attach_option, parse_devices
from rtoslab.cli.names import DurationParam, options_given_on_command_line
from rtoslab.cli.own_project import nearest_project_folder
from rtoslab.instruments import (
    MeasuredCalls,
    MeasuredRunIntervals,
    MeasurementInterruptedError,
    ObservedImage,
    ObservedRunSection,
    calls_as_json,
    find_observed_image,
    function_calls_table,
    interval_as_json,
    interval_table,
    longest_call_text_lines,
    longest_interval_lines,
    measure_function_calls,
    measure_intervals,
    notes_on_measured_calls,
    summary_line_of_measured_function,
    table_for_terminal,
)
from rtoslab.intake import is_file_or_pipe, printable_path
from rtoslab.project import (
    build_project_image,
    exceeded_budgets,
    exceeded_interval_budget,
    find_measured_function,
    project_image_run_to_observe,
    read_project,
)

_WIDTH = 80
_STRETCH = ("board", "attached", "cores", "length_ms", "start", "end", "intervals")
"""Options that a project says itself."""


@click.command("measure")
@click.argument("functions", nargs=-1, metavar="FUNCTION...")
@click.option(
    "--image", type=click.Path(path_type=Path), metavar="FILE", help="The image, an ELF or UF2 file of any project."
)
@board_option
@attach_option
@click.option("--cores", type=click.IntRange(1, 8), help="Number of cores released from reset.  [default: all]")
@click.option(
    "--for",
    "length_ms",
    type=DurationParam(),
    default="1s",
    show_default=True,
    help="Longest time to measure, at the board's default clock.",
)
@click.option(
    "--from", "start", metavar="SYMBOL|0xADDR|CYCLES", help="Start measuring at this place instead of at reset."
)
@click.option(
    "--until",
    "end",
    metavar="SYMBOL|0xADDR|CYCLES",
    help=("Stop measuring at this place, if it is reached before the end of --for."),
)
@click.option(
    "--interval",
    "intervals",
    nargs=2,
    multiple=True,
    metavar="FROM TO",
    help="Also measure the cycles from one place to another. A place is a symbol, a 0x address, or file.c:line.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.pass_context
def measure_command(
    context: click.Context,
    functions: tuple[str, ...],
    image: Path | None,
    board: str,
    attached: tuple[str, ...],
    cores: int | None,
    length_ms: int,
    start: str | None,
    end: str | None,
    intervals: tuple[tuple[str, str], ...],
    as_json: bool,
) -> int:
    """Measure every call of each FUNCTION of an image: a symbol, a 0x address, or file.c:line.

    Shows the number of calls and the cycles per call (minimum, median, p99, maximum), inclusive and exclusive. The time
    of interrupts and other tasks is shown separately. For the longest call it shows the cycle, the call path and what
    the cycles were spent on. Also shows the stack use. The image is not changed. Exit code 3 if the part to be measured
    was not executed to its end.

    Without arguments it measures everything that rtoslab.toml names, in this folder or above it. Each exceeded budget
    gives a line, and exit code 3.
    """
    catalogue = Catalogue(find_checkout_root())
    folder = nearest_project_folder() if not functions and image is None else None
    if folder is not None:
        if options_given_on_command_line(context, *_STRETCH):
            raise PlanError(
                f"The images of {PROJECT_FILE} are run as that file says; change the file, or name functions and "
                "--image."
            )
        return _measure_project(catalogue, folder, as_json=as_json)
    if image is None or not (functions or intervals):
        raise PlanError(
            "There is nothing to measure; name functions and an image (`rtoslab measure FUNCTION... --image "
            f"fw.elf`), or run the command in the folder of {PROJECT_FILE} or below it."
        )
    if not is_file_or_pipe(image):
        raise ImageFileError(f"There is no image {printable_path(image)}; check the path, or build it.")
    stretch = ObservedRunSection(start=start, end=end)
    subject = find_observed_image(
        catalogue,
        str(image),
        board=board,
        cores=cores,
        window_ms=length_ms,
        stretch=stretch,
        devices=parse_devices(attached),
    )
    calls, between = _measure_calls_and_intervals(subject, functions, intervals, as_json=as_json)
    if as_json:
        print_json_answer(_measurement_as_json(calls, between))
    else:
        _print_measurement(calls, between)
    return (
        EXIT_OK
        if _has_measured_call_or_interval(calls, between) and not _reason_measurement_ended_early(calls, between)
        else EXIT_POINT_FAILED
    )


def _has_measured_call_or_interval(result: MeasuredCalls | None, between: MeasuredRunIntervals | None) -> bool:
    """Whether a function was called or an interval ended. If not, says so on stderr."""
    calls = any(function.tally.calls or function.open for function in (result.functions if result else ()))
    if calls or any(interval.count for interval in (between.intervals if between else ())):
        return True
    click.echo("Nothing was measured, because no function was called and no interval ended.", err=True)
    return False


def _measure_calls_and_intervals(
    subject: ObservedImage, functions: Sequence[str], intervals: Sequence[tuple[str, str]], *, as_json: bool
) -> tuple[MeasuredCalls | None, MeasuredRunIntervals | None]:
    """Measures the calls of functions, and intervals between two places, in a run of an image. Either is None if not
    requested.

    If it is interrupted, the finished part is reported.
    """
    try:
        calls = measure_function_calls(subject, functions) if functions else None
    except MeasurementInterruptedError as cause:
        if not as_json:
            _print_measured_calls(cause.partial)
        raise InterruptedWithResultsError(cause, calls_as_json(cause.partial)) from None
    with report_if_interrupted(lambda: calls_as_json(calls) if calls is not None else {}):
        return calls, measure_intervals(subject, intervals) if intervals else None


def _reason_measurement_ended_early(calls: MeasuredCalls | None, between: MeasuredRunIntervals | None) -> str:
    """Returns why a measurement ended early, as a clause. Empty if it did not."""
    return next((item.cut_reason for item in (calls, between) if item is not None and item.cut_reason), "")


def _measurement_as_json(result: MeasuredCalls | None, between: MeasuredRunIntervals | None) -> dict[str, Any]:
    """Returns what was measured (calls and intervals) as a JSON object."""
    calls = (
        calls_as_json(result)
        if result is not None
        else {"cut": _reason_measurement_ended_early(result, between) or None}
    )
    return calls | ({"intervals": [interval_as_json(interval) for interval in between.intervals]} if between else {})


def _measure_project(catalogue: Catalogue, folder: Path, *, as_json: bool) -> int:
    """Measures all images of the project in a folder, and prints which budgets they exceed. Returns the exit code."""
    project = read_project(folder)
    answers: dict[str, Any] = {}
    over: list[str] = []
    measured = False
    for name, image in project.image.items():
        functions = [function for function in project.function if function.image == name]
        between = [interval for interval in project.interval if interval.image == name]
        build_project_image(name, image, folder)
        subject = project_image_run_to_observe(catalogue, image, folder)
        places = [(interval.start, interval.until) for interval in between]
        calls, intervals = _measure_calls_and_intervals(
            subject, [function.name for function in functions], places, as_json=as_json
        )
        answers[name] = _measurement_as_json(calls, intervals)
        measured |= _has_measured_call_or_interval(calls, intervals)
        cut = _reason_measurement_ended_early(calls, intervals)
        over += [f"{name}: {cut}"] if cut else []
        if calls is not None:
            over += [
                line
                for function in functions
                for line in exceeded_budgets(function, calls, find_measured_function(calls, function))
            ]
        if intervals is not None:
            pairs = zip(between, intervals.intervals, strict=True)
            over += [
                line for pair, mine in pairs for line in exceeded_interval_budget(pair, mine, intervals.cut_reason)
            ]
        if not as_json:
            _print_measurement(calls, intervals)
            click.echo()
    if as_json:
        print_json_answer({"images": answers, "over": over})
    for line in over:
        click.echo(line, err=as_json)
    return EXIT_POINT_FAILED if over or not measured else EXIT_OK


def _print_measurement(calls: MeasuredCalls | None, between: MeasuredRunIntervals | None) -> None:
    """Prints what was measured: the calls of functions, and intervals."""
    if calls is not None:
        _print_measured_calls(calls)
    for interval in between.intervals if between is not None else ():
        click.echo()
        _print_wrapped(f"From {interval.begin} to {interval.end}, in cycles:")
        if interval.cycles is not None:
            PlainConsole().print(table_for_terminal(interval_table(interval)))
        for line in longest_interval_lines(interval):
            _print_wrapped(line)
    if calls is None and between is not None and between.cut_reason:
        _print_wrapped(f"The measurement is incomplete: {between.cut_reason}.")


def _print_measured_calls(calls: MeasuredCalls) -> None:
    """Prints what was measured of each function's calls."""
    console = PlainConsole()
    cycles = calls.end_cycle - calls.start_cycle
    cut = f"; {calls.cut_reason}" if calls.cut_reason else ""
    _print_wrapped(
        f"{calls.label} on {calls.board}: {cycles:,} cycles ({cycles * 1000 / calls.clock_hz:,.3f} ms "
        f"at {calls.clock_hz / 1e6:g} MHz) from cycle {calls.start_cycle:,}{cut}."
    )
    for function in calls.functions:
        click.echo()
        _print_wrapped(summary_line_of_measured_function(function))
        if function.cycles:
            console.print(table_for_terminal(function_calls_table(function)))
        for greatest in function.greatest:
            for line in longest_call_text_lines(greatest):
                _print_wrapped(line)
        for note in notes_on_measured_calls(function):
            _print_wrapped(note)


def _print_wrapped(line: str) -> None:
    """Prints a line, wrapped at 80 characters."""
    indent = " " * 10 if line.startswith("  ") else ""
    click.echo(textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
