"""`rtoslab measure`: functions of any image, call by call."""

import textwrap
from pathlib import Path

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, ImageFileError, PlanError, find_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.ended import EndedError, answer
from rtoslab.cli.names import Duration
from rtoslab.cli.plain import PlainConsole
from rtoslab.instruments import (
    EndedMeasureError,
    MeasuredCalls,
    Stretch,
    call_heading,
    call_notes,
    call_table,
    call_told,
    calls_as_json,
    make_subject,
    measure_calls,
    rich_table,
)
from rtoslab.intake import is_file, shown_path

_WIDTH = 80


@click.command("measure")
@click.argument("functions", nargs=-1, metavar="FUNCTION...")
@click.option("--image", type=click.Path(path_type=Path), metavar="FILE", help="The image: ELF or UF2, anybody's.")
@board_option
@click.option("--cores", type=click.IntRange(1, 8), help="Cores released from reset; all of the board's by default.")
@click.option(
    "--for",
    "length_ms",
    type=Duration(),
    default="1s",
    show_default=True,
    help="At most so long, at the board's usual clock.",
)
@click.option("--from", "start", metavar="SYMBOL|0xADDR|CYCLES", help="Measure from there, not from reset.")
@click.option("--until", "end", metavar="SYMBOL|0xADDR|CYCLES", help="Until there, if it comes before --for is over.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
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

    Calls, cycles per call (minimum, median, p99, maximum), inclusive and exclusive, and apart what interrupts and other
    tasks took; the greatest call with its cycle, the path that led there and what it spent; the stack reached. Nothing
    is added to the image, and no cycle of it moves. Exit code 3 if the stretch asked for did not come to its end.
    """
    if not functions or image is None:
        raise PlanError("Say which functions to measure, and of what: `rtoslab measure FUNCTION... --image fw.elf`.")
    if not is_file(image):
        raise ImageFileError(f"There is no image {shown_path(image)}; check the path.")
    catalogue = Catalogue(find_root())
    cycles = length_ms * catalogue.board(board).facts.clock.sys_hz // 1000
    stretch = Stretch(start=start, end=end, cycles=cycles)
    subject = make_subject(catalogue, str(image), board=board, cores=cores, stretch=stretch)
    try:
        found = measure_calls(subject, functions)
    except EndedMeasureError as cause:
        if not as_json:
            _show(cause.begun)
        raise EndedError(cause, calls_as_json(cause.begun)) from None
    if as_json:
        answer(calls_as_json(found))
    else:
        _show(found)
    return EXIT_POINT_FAILED if found.cut else EXIT_OK


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
