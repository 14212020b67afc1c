"""`rtoslab measure`: functions of any image, call by call."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, PROJECT_FILE, ImageFileError, PlanError, find_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.ended import EndedError, answer, keeping
from rtoslab.cli.names import Duration
from rtoslab.cli.own_project import project_folder, said
from rtoslab.cli.plain import PlainConsole
from rtoslab.instruments import (
    EndedMeasureError,
    MeasuredCalls,
    MeasuredIntervals,
    Stretch,
    Subject,
    call_heading,
    call_notes,
    call_table,
    call_told,
    calls_as_json,
    interval_as_json,
    interval_table,
    interval_told,
    make_subject,
    measure_calls,
    measure_intervals,
    rich_table,
)
from rtoslab.intake import is_file, shown_path
from rtoslab.project import (
    build_image,
    found_function,
    interval_over_budget,
    over_budget,
    project_subject,
    read_project,
)

_WIDTH = 80
_STRETCH = ("board", "cores", "length_ms", "start", "end", "intervals")
"""Options that a project says itself."""


@click.command("measure")
@click.argument("functions", nargs=-1, metavar="FUNCTION...")
@click.option(
    "--image", type=click.Path(path_type=Path), metavar="FILE", help="The image, ELF or UF2, built by anybody."
)
@board_option
@click.option("--cores", type=click.IntRange(1, 8), help="Cores released from reset; all of the board's by default.")
@click.option(
    "--for",
    "length_ms",
    type=Duration(),
    default="1s",
    show_default=True,
    help="Longest time to measure, at the board's usual clock.",
)
@click.option("--from", "start", metavar="SYMBOL|0xADDR|CYCLES", help="Start measuring there, not at reset.")
@click.option(
    "--until", "end", metavar="SYMBOL|0xADDR|CYCLES", help="Stop measuring there, if that comes before --for is over."
)
@click.option(
    "--interval",
    "intervals",
    nargs=2,
    multiple=True,
    metavar="FROM TO",
    help="Also measure from one place to another: each a symbol, a 0x address, or file.c:line.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.pass_context
def command(
    context: click.Context,
    functions: tuple[str, ...],
    image: Path | None,
    board: str,
    cores: int | None,
    length_ms: int,
    start: str | None,
    end: str | None,
    intervals: tuple[tuple[str, str], ...],
    as_json: bool,
) -> int:
    """Measure every call of each FUNCTION of an image: a symbol, a 0x address, or file.c:line.

    Shows the number of calls and the cycles per call (minimum, median, p99, maximum), inclusive and exclusive. What
    interrupts and other tasks took is shown separately. For the longest call it shows the cycle, the call path and what
    the cycles were spent on. Also shows the depth of the stack. Nothing is added to the image. Exit code 3 if the part
    asked for was not executed to its end.

    Without arguments it measures all that rtoslab.toml, in this folder or above it, names. Each budget that is
    exceeded gives a line, and exit code 3.
    """
    catalogue = Catalogue(find_root())
    folder = project_folder() if not functions and image is None else None
    if folder is not None:
        if said(context, *_STRETCH):
            raise PlanError(
                f"{PROJECT_FILE} says of each image how it is run; say it there, or name functions and --image."
            )
        return _project(catalogue, folder, as_json=as_json)
    if image is None or not (functions or intervals):
        raise PlanError(
            "Say which functions to measure, and of what: `rtoslab measure FUNCTION... --image fw.elf`; "
            f"without both, in a folder with {PROJECT_FILE}, or below it."
        )
    if not is_file(image):
        raise ImageFileError(f"There is no image {shown_path(image)}; check the path, or build it.")
    cycles = length_ms * catalogue.board(board).facts.clock.sys_hz // 1000
    stretch = Stretch(start=start, end=end, cycles=cycles)
    subject = make_subject(catalogue, str(image), board=board, cores=cores, stretch=stretch)
    found, between = _measured(subject, functions, intervals, as_json=as_json)
    if as_json:
        answer(_as_json(found, between))
    else:
        _show_all(found, between)
    return EXIT_OK if _is_measured(found, between) and not _cut(found, between) else EXIT_POINT_FAILED


def _is_measured(found: MeasuredCalls | None, between: MeasuredIntervals | None) -> bool:
    """Whether a call was seen or an interval ended. Says so on stderr where there was none."""
    calls = any(function.tally.calls or function.open for function in (found.functions if found else ()))
    if calls or any(interval.count for interval in (between.intervals if between else ())):
        return True
    click.echo("Nothing was measured: no function was called and no interval ended.", err=True)
    return False


def _measured(
    subject: Subject, functions: Sequence[str], intervals: Sequence[tuple[str, str]], *, as_json: bool
) -> tuple[MeasuredCalls | None, MeasuredIntervals | None]:
    try:
        found = measure_calls(subject, functions) if functions else None
    except EndedMeasureError as cause:
        if not as_json:
            _show(cause.begun)
        raise EndedError(cause, calls_as_json(cause.begun)) from None
    with keeping(lambda: calls_as_json(found) if found is not None else {}):
        return found, measure_intervals(subject, intervals) if intervals else None


def _cut(found: MeasuredCalls | None, between: MeasuredIntervals | None) -> str:
    return next((each.cut for each in (found, between) if each is not None and each.cut), "")


def _as_json(found: MeasuredCalls | None, between: MeasuredIntervals | None) -> dict[str, Any]:
    calls = calls_as_json(found) if found is not None else {"cut": _cut(found, between) or None}
    return calls | ({"intervals": [interval_as_json(interval) for interval in between.intervals]} if between else {})


def _project(catalogue: Catalogue, folder: Path, *, as_json: bool) -> int:
    """All images of the project in a folder, held against their budgets."""
    project = read_project(folder)
    answers: dict[str, Any] = {}
    over: list[str] = []
    measured = False
    for name, image in project.image.items():
        wanted = [function for function in project.function if function.image == name]
        between = [interval for interval in project.interval if interval.image == name]
        build_image(name, image, folder)
        subject = project_subject(catalogue, image, folder)
        places = [(interval.start, interval.until) for interval in between]
        calls, intervals = _measured(subject, [function.name for function in wanted], places, as_json=as_json)
        answers[name] = _as_json(calls, intervals)
        measured |= _is_measured(calls, intervals)
        cut = _cut(calls, intervals)
        over += [f"{name}: {cut}"] if cut else []
        if calls is not None:
            over += [
                line for function in wanted for line in over_budget(function, calls, found_function(calls, function))
            ]
        if intervals is not None:
            pairs = zip(between, intervals.intervals, strict=True)
            over += [line for each, mine in pairs for line in interval_over_budget(each, mine, intervals.cut)]
        if not as_json:
            _show_all(calls, intervals)
            click.echo()
    if as_json:
        answer({"images": answers, "over": over})
    for line in over:
        click.echo(line, err=as_json)
    return EXIT_POINT_FAILED if over or not measured else EXIT_OK


def _show_all(found: MeasuredCalls | None, between: MeasuredIntervals | None) -> None:
    if found is not None:
        _show(found)
    for interval in between.intervals if between is not None else ():
        click.echo()
        _say(f"From {interval.begin} to {interval.end}, in cycles:")
        if interval.cycles is not None:
            PlainConsole().print(rich_table(interval_table(interval)))
        for line in interval_told(interval):
            _say(line)
    if found is None and between is not None and between.cut:
        _say(f"Not all was measured: {between.cut}.")


def _show(found: MeasuredCalls) -> None:
    console = PlainConsole()
    cycles = found.end_cycle - found.start_cycle
    cut = f"; {found.cut}" if found.cut else ""
    _say(
        f"{found.label} on {found.board}: {cycles:,} cycles ({cycles * 1000 / found.clock_hz:,.3f} ms "
        f"at {found.clock_hz / 1e6:g} MHz) from cycle {found.start_cycle:,}{cut}."
    )
    for function in found.functions:
        click.echo()
        _say(call_heading(function))
        if function.cycles:
            console.print(rich_table(call_table(function)))
        for greatest in function.greatest:
            for line in call_told(greatest):
                _say(line)
        for note in call_notes(function):
            _say(note)


def _say(line: str) -> None:
    indent = " " * 10 if line.startswith("  ") else ""
    click.echo(textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
