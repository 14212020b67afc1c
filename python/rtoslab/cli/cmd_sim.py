"""`rtoslab sim`: any image on a virtual board."""

import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table

from rtoslab.base import EXIT_INTERRUPTED, EXIT_OK, EXIT_POINT_FAILED, ImageFileError, PlanError, find_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.ended import answer
from rtoslab.cli.names import KeyValue, integer
from rtoslab.cli.plain import PlainConsole
from rtoslab.intake import read_text
from rtoslab.targets import CYCLES_MOST, SimRequest, SimResult, parse_script, simulate, unescape

_ENTER = {"cr": b"\r", "lf": b"\n", "crlf": b"\r\n"}


@click.command("sim")
@click.argument("image", type=click.Path(path_type=Path))
@board_option
@click.option("--cores", type=click.IntRange(1, 8), help="Cores released from reset; all of the board's by default.")
@click.option(
    "--until", metavar="SYMBOL|0xADDR|CYCLES", help="Stop there; a plain decimal number is cycles since reset."
)
@click.option(
    "--between",
    nargs=2,
    multiple=True,
    metavar="FROM TO",
    help="Cycles from FROM's execution to TO's (symbols or 0x addresses); may be repeated.",
)
@click.option("--uart", "show_uart", is_flag=True, help="With --json: also print the UART as it comes, on stderr.")
@click.option(
    "--type", "typed", multiple=True, metavar="TEXT", help=r"Type TEXT at once; \r \n \t \\ \xHH are understood."
)
@click.option(
    "--script",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Type each line's text, then Enter, when its prompt has appeared; lines are `prompt => text`.",
)
@click.option(
    "--enter", type=click.Choice(list(_ENTER)), default="cr", show_default=True, help="What Enter sends in a script."
)
@click.option(
    "--set",
    "settings",
    type=KeyValue(),
    multiple=True,
    help="Override a setting: clock_hz=N, flash.wait_states=N, timing.KEY=N ...",
)
@click.option("--strict", is_flag=True, help="Stop at the first access to something not modelled.")
@click.option(
    "--max-cycles",
    type=click.IntRange(1, CYCLES_MOST),
    help="Limit if --until names no cycle; 10 virtual seconds by default.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    image: Path,
    board: str,
    cores: int | None,
    until: str | None,
    between: tuple[tuple[str, str], ...],
    show_uart: bool,
    typed: tuple[str, ...],
    script: Path | None,
    enter: str,
    settings: tuple[tuple[str, str], ...],
    strict: bool,
    max_cycles: int | None,
    as_json: bool,
) -> int:
    """Run an IMAGE (ELF or UF2, built by anybody) on a virtual board.

    Prints the UART as it comes, then cycles and instructions per core, and for every --between pair the count,
    minimum, maximum and total cycles. Nothing is added to the image. Exit code 3 if --until was not reached, or a core
    locked up or ended in a handler that nobody wrote. If a signal ends it, it prints what there is, with exit code 130.
    """
    facts = Catalogue(find_root()).board(board).facts
    if cores is not None and cores > facts.cores:
        raise PlanError(
            f"The board {facts.id} has {facts.cores} cores, {cores} were asked for; choose --cores 1 to {facts.cores}."
        )
    request = SimRequest(
        until=until,
        between=between,
        typed=b"".join(unescape(text) for text in typed),
        script=parse_script(_read(script), _ENTER[enter]) if script else (),
        settings={key: integer(value, key) for key, value in settings},
        strict=strict,
        max_cycles=max_cycles,
    )
    stream = sys.stderr.buffer if as_json else sys.stdout.buffer

    def print_uart(data: bytes) -> None:
        stream.write(data)
        stream.flush()

    on_uart = print_uart if show_uart or not as_json else lambda _: None
    result = simulate(image, facts, request, cores=cores, on_uart=on_uart)
    result = _with_places(result, image)
    if as_json:
        answer(result.as_json())
    else:
        _print(result)
    if result.stop == "interrupted":
        return EXIT_INTERRUPTED
    return EXIT_OK if result.reached else EXIT_POINT_FAILED


def _with_places(result: SimResult, image: Path) -> SimResult:
    """With file and line at the addresses that warnings name."""
    if not result.warnings:
        return result
    from rtoslab.instruments import with_places  # noqa: PLC0415 (a run without warnings would wait for it)

    return replace(result, warnings=with_places(result.warnings, image))


def _read(script: Path) -> str:
    return read_text(script, "the script", ImageFileError)


def _print(result: SimResult) -> None:
    console = PlainConsole()
    if result.uart and not result.uart.endswith(b"\n"):
        console.print()
    console.print(f"stop: {result.stop} at cycle {result.cycle:,}. {result.detail}", markup=False)
    cores = Table("core", "cycles", "instructions", "cycles per instruction", title="Cores")
    for number, (cycles, instructions) in enumerate(zip(result.cycles, result.instructions, strict=True)):
        ratio = f"{cycles / instructions:.3f}" if instructions else "-"
        cores.add_row(str(number), f"{cycles:,}", f"{instructions:,}", ratio)
    _right(cores)
    console.print(cores)
    if result.between:
        pairs = Table("from", "to", "count", "min cycles", "max cycles", "total cycles", title="Between")
        for each in result.between:
            low, high = (("-" if value is None else f"{value:,}") for value in (each.min_cycles, each.max_cycles))
            pairs.add_row(each.start, each.end, f"{each.count:,}", low, high, f"{each.total_cycles:,}")
        _right(pairs, first=2)
        console.print(pairs)
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)


def _right(table: Table, first: int = 1) -> None:
    for column in table.columns[first:]:
        column.justify = "right"
