"""`rtoslab measure`: functions of any image, call by call."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, ImageFileError, PlanError, find_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.ended import EndedError, answer
from rtoslab.cli.names import Duration
from rtoslab.cli.plain import PlainConsole
from rtoslab.instruments import (
    PROJECT_FILE,
    EndedMeasureError,
    MeasuredCalls,
    Stretch,
    build_image,
    call_heading,
    call_notes,
    call_table,
    call_told,
    calls_as_json,
    make_subject,
    measure_calls,
    over_budget,
    read_project,
    rich_table,
)
from rtoslab.intake import is_file, shown_path

_WIDTH = 80
_STRETCH = ("board", "cores", "length_ms", "start", "end")
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
    as_json: bool,
) -> int:
    """Measure every call of each FUNCTION of an image: a symbol, a 0x address, or file.c:line.

    Shows the number of calls and the cycles per call (minimum, median, p99, maximum), inclusive and exclusive. What
    interrupts and other tasks took is shown separately. For the longest call it shows the cycle, the call path and what
    the cycles were spent on. Also shows the depth of the stack. Nothing is added to the image. Exit code 3 if the part
    asked for was not executed to its end.

    Without arguments it measures all that rtoslab.toml in this folder names. Each budget that is exceeded gives a
    line, and exit code 3.
    """
    catalogue = Catalogue(find_root())
    if not functions and image is None and is_file(Path(PROJECT_FILE)):
        said = [each for each in _STRETCH if context.get_parameter_source(each) is ParameterSource.COMMANDLINE]
        if said:
            raise PlanError(
                f"{PROJECT_FILE} says of each image how it is run; say it there, or name functions and --image."
            )
        return _project(catalogue, as_json=as_json)
    if not functions or image is None:
        raise PlanError(
            "Say which functions to measure, and of what: `rtoslab measure FUNCTION... --image fw.elf`; "
            f"without both, in a folder with {PROJECT_FILE}."
        )
    cycles = length_ms * catalogue.board(board).facts.clock.sys_hz // 1000
    stretch = Stretch(start=start, end=end, cycles=cycles)
    found = _measured(catalogue, image, functions, board, cores, stretch, as_json=as_json)
    if as_json:
        answer(calls_as_json(found))
    else:
        _show(found)
    return EXIT_POINT_FAILED if found.cut else EXIT_OK


def _measured(
    catalogue: Catalogue,
    image: Path,
    functions: Sequence[str],
    board: str,
    cores: int | None,
    stretch: Stretch,
    *,
    as_json: bool,
) -> MeasuredCalls:
    if not is_file(image):
        raise ImageFileError(f"There is no image {shown_path(image)}; check the path, or build it.")
    subject = make_subject(catalogue, str(image), board=board, cores=cores, stretch=stretch)
    try:
        return measure_calls(subject, functions)
    except EndedMeasureError as cause:
        if not as_json:
            _show(cause.begun)
        raise EndedError(cause, calls_as_json(cause.begun)) from None


def _project(catalogue: Catalogue, *, as_json: bool) -> int:
    """All images of the project in this folder, held against their budgets."""
    project = read_project(Path())
    found: dict[str, MeasuredCalls] = {}
    over: list[str] = []
    for name, image in project.image.items():
        wanted = [each for each in project.function if each.image == name]
        build_image(name, image, Path())
        cycles = image.for_ms * catalogue.board(image.board).facts.clock.sys_hz // 1000
        stretch = Stretch(start=image.start, end=image.until, cycles=cycles)
        names = [each.name for each in wanted]
        measured = _measured(catalogue, Path(image.elf), names, image.board, image.cores, stretch, as_json=as_json)
        found[name] = measured
        if measured.cut:
            over.append(f"{name}: {measured.cut}")
        for each in wanted:
            mine = next(one for one in measured.functions if each.name in one.function.asked)
            over += over_budget(each, measured, mine)
        if not as_json:
            _show(measured)
            click.echo()
    if as_json:
        answer({"images": {name: calls_as_json(each) for name, each in found.items()}, "over": over})
    for line in over:
        click.echo(line, err=as_json)
    return EXIT_POINT_FAILED if over else EXIT_OK


def _show(found: MeasuredCalls) -> None:
    console = PlainConsole()
    cycles = found.end_cycle - found.start_cycle
    cut = f"; {found.cut}" if found.cut else ""
    _say(
        f"{found.label} on {found.board}: {cycles:,} cycles ({cycles * 1000 / found.clock_hz:,.3f} ms "
        f"at {found.clock_hz / 1e6:g} MHz) from cycle {found.start_cycle:,}{cut}."
    )
    for each in found.functions:
        click.echo()
        _say(call_heading(each))
        if each.cycles:
            console.print(rich_table(call_table(each)))
        for greatest in each.greatest:
            for line in call_told(greatest):
                _say(line)
        for note in call_notes(each):
            _say(note)


def _say(line: str) -> None:
    indent = " " * 10 if line.startswith("  ") else ""
    click.echo(textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
