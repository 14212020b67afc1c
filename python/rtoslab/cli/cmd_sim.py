"""`rtoslab sim`: any image on a virtual board."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtoslab.base import EXIT_INTERRUPTED, EXIT_OK, EXIT_POINT_FAILED, ImageFileError, find_checkout_root
from rtoslab.catalogue import find_board
from rtoslab.cli.choices import board_option
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.image_options import FirmwareOutputWriter, attach_option, parse_devices
from rtoslab.cli.names import DurationParam, KeyValueParam, PinLevelParam, PinVoltageParam, parse_option_integer
from rtoslab.intake import read_text
from rtoslab.targets import (
    MOST_CYCLES,
    DrivenPinLevel,
    SimulationResult,
    SimulationRunOptions,
    parse_pin_number,
    parse_serial_input_script,
    require_board_has_cores,
    simulate_image,
    unescape_text,
)

if TYPE_CHECKING:
    from rich.table import Table

_CODES_MOST = 255
"""Exit codes of the firmware beyond it are no exit codes here."""
_ENTER = {"cr": b"\r", "lf": b"\n", "crlf": b"\r\n"}


@click.command("sim")
@click.argument("image", type=click.Path(path_type=Path))
@board_option
@click.option("--cores", type=click.IntRange(1, 8), help="Number of cores released from reset.  [default: all]")
@click.option(
    "--until", metavar="SYMBOL|0xADDR|CYCLES", help="Stop at this place. A decimal number means cycles since reset."
)
@click.option(
    "--between",
    nargs=2,
    multiple=True,
    metavar="FROM TO",
    help="Measure the cycles from the execution of FROM to that of TO (symbols or 0x addresses). May be repeated.",
)
@click.option(
    "--uart", "show_uart", is_flag=True, help=("With --json: also print the UART output on stderr during the run.")
)
@click.option(
    "--type",
    "typed",
    multiple=True,
    metavar="TEXT",
    help=(
        r"Send TEXT to the UART from the start; \r \n \t \\ "
        r"\xHH are understood."
    ),
)
@click.option(
    "--script",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Script of lines `prompt => text`: when the output contains the prompt, send the text and Enter to the UART.",
)
@click.option(
    "--enter",
    type=click.Choice(list(_ENTER)),
    default="cr",
    show_default=True,
    help="Characters that Enter sends in a script.",
)
@click.option(
    "--drive",
    "drives",
    type=PinLevelParam(),
    multiple=True,
    help=(
        "Drive a pin from outside, from reset or from TIME: PC13=0@10ms. May be repeated. The table [rest] of "
        "board.toml has the levels of the other pins, for instance those of buttons."
    ),
)
@click.option(
    "--voltage",
    "voltages",
    type=PinVoltageParam(),
    multiple=True,
    help="The voltage at a pin that an ADC converts, 0 by default: PA1=1.2. May be repeated.",
)
@attach_option
@click.option(
    "--set",
    "settings",
    type=KeyValueParam(),
    multiple=True,
    help="Override a setting: clock_hz=N, flash.wait_states=N, timing.KEY=N ...",
)
@click.option(
    "--load-address",
    metavar="0xADDR",
    help=("The image is a raw binary, loaded at this address. It begins with its vector table."),
)
@click.option("--strict", is_flag=True, help="Stop at the first access to hardware that is not modelled.")
@click.option(
    "--max-cycles",
    type=click.IntRange(1, MOST_CYCLES),
    help="Limit of the run, if --until is not a cycle.  [default: 10 virtual seconds]",
)
@click.option(
    "--expect", metavar="REGEX", help=("End as soon as the output matches REGEX. Exit code 3 if it never does.")
)
@click.option("--fail", metavar="REGEX", help="End with exit code 3 as soon as the output matches REGEX.")
@click.option(
    "--for", "--timeout", "timeout_ms", type=DurationParam(), help="End after this virtual time, such as 2s or 500ms."
)
@click.option("--type-rtt", "rtt_typed", multiple=True, metavar="TEXT", help="Send TEXT to the first RTT down-buffer.")
@click.option(
    "--type-semihosting",
    "semihosting_typed",
    multiple=True,
    metavar="TEXT",
    help="Text of the semihosting standard input, which then ends.",
)
@click.option("--itm", is_flag=True, help="Enable the ITM's stimulus ports at reset, like a debugger with SWO.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a JUnit file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def sim_command(
    image: Path,
    board: str,
    cores: int | None,
    until: str | None,
    between: tuple[tuple[str, str], ...],
    show_uart: bool,
    typed: tuple[str, ...],
    script: Path | None,
    enter: str,
    drives: tuple[tuple[str, bool, float], ...],
    voltages: tuple[tuple[str, float], ...],
    attached: tuple[str, ...],
    settings: tuple[tuple[str, str], ...],
    load_address: str | None,
    strict: bool,
    max_cycles: int | None,
    expect: str | None,
    fail: str | None,
    timeout_ms: float | None,
    rtt_typed: tuple[str, ...],
    semihosting_typed: tuple[str, ...],
    itm: bool,
    junit: Path | None,
    as_json: bool,
) -> int:
    """Run an IMAGE (an ELF, UF2 or Intel HEX file of any project) on a virtual board.

    Prints the output of UART, SEGGER RTT, defmt, semihosting and ITM. Lines of channels other than UART begin with the
    channel's name. Then prints cycles and instructions per core, and for every --between pair the count, minimum,
    maximum and total cycles. The image is not changed.

    Exit code 3 if --until or --expect was not reached, no --between pair was executed, --fail matched, a core took a
    fault whose handler did not return, locked up, or ended in an unimplemented handler. A fault is reported with its
    cause, function, file and line, and its callers. Firmware that ends by semihosting gives the exit code. If a signal
    ends the command, it prints the results so far, with exit code 130.
    """
    facts = find_board(find_checkout_root(), board).facts
    require_board_has_cores(facts, cores)
    request = SimulationRunOptions(
        until=until,
        between=between,
        typed=b"".join(unescape_text(text) for text in typed),
        script=parse_serial_input_script(_read_script_file(script), _ENTER[enter]) if script else (),
        settings={key: parse_option_integer(value, key) for key, value in settings},
        load_address=None if load_address is None else parse_option_integer(load_address, "--load-address"),
        strict=strict,
        max_cycles=max_cycles,
        drives=[DrivenPinLevel(at_s, parse_pin_number(facts, pin), level) for pin, level, at_s in drives],
        voltages=[(parse_pin_number(facts, pin), volts) for pin, volts in voltages],
        devices=parse_devices(attached),
        expect=expect,
        fail=fail,
        timeout_s=None if timeout_ms is None else timeout_ms / 1000,
        rtt_typed=b"".join(unescape_text(text) for text in rtt_typed),
        itm=itm,
        semihosting_typed=b"".join(unescape_text(text) for text in semihosting_typed),
    )
    stream = sys.stderr.buffer if as_json else sys.stdout.buffer
    show = (
        FirmwareOutputWriter(stream).write_channel_output_to_terminal if show_uart or not as_json else lambda *_: None
    )
    result = _warnings_with_source_lines(simulate_image(image, facts, request, cores=cores, on_output=show), image)
    faults = _fault_sentences(result, image)
    if junit is not None:
        _write_junit(junit, image, facts.id, result, faults)
    if as_json:
        print_json_answer({**result.as_json(), "faults": faults})
    else:
        _print_run_result(result, faults)
    return _exit_code_of_firmware(result)


def _write_junit(path: Path, image: Path, board: str, result: SimulationResult, faults: Sequence[str]) -> None:
    """Writes the result of a run as a JUnit file, which CI systems read. `faults`: sentences on them."""
    from rtoslab.cli.junit import write_junit  # noqa: PLC0415 (a run without it would wait for it)

    why = "" if result.reached else "\n".join([f"{result.stop}: {result.detail}", *faults, *result.warnings])
    write_junit(path, image, board, result, why)


def _exit_code_of_firmware(result: SimulationResult) -> int:
    """Returns the command's exit code: the firmware's own, if it ended with one from 1 to 255, or that of an interrupt.

    Otherwise 0 if the run reached what it was to reach, else 3.
    """
    if result.stop == "interrupted":
        return EXIT_INTERRUPTED
    if result.exit_code is not None and 0 < result.exit_code <= _CODES_MOST:
        return result.exit_code
    if result.between and not any(pair.count for pair in result.between):
        click.echo("Nothing was measured, because no --between pair was executed.", err=True)
        return EXIT_POINT_FAILED
    return EXIT_OK if result.reached else EXIT_POINT_FAILED


def _fault_sentences(result: SimulationResult, image: Path) -> list[str]:
    """Returns sentences on the fault that ended the run, and on faults whose handler returned."""
    faults = [fault for fault in (result.fault, *result.handled) if fault is not None]
    if not faults:
        return []
    from rtoslab.instruments import fault_sentences  # noqa: PLC0415 (a run without faults would wait for it)

    return [line for fault in faults for line in fault_sentences(fault, image, result.symbols)]


def _warnings_with_source_lines(result: SimulationResult, image: Path) -> SimulationResult:
    """Returns the result, in whose warnings each address is followed by its file and line."""
    if not result.warnings:
        return result
    from rtoslab.instruments import add_source_lines_to_warnings  # noqa: PLC0415 (a run without warnings would wait for it)

    return replace(result, warnings=add_source_lines_to_warnings(result.warnings, image))


def _read_script_file(script: Path) -> str:
    """Returns the text in a script file. Raises ImageFileError."""
    return read_text(script, "the script", ImageFileError)


def _print_run_result(result: SimulationResult, faults: Sequence[str]) -> None:
    """Prints why the run stopped, the faults, and tables of cores and intervals."""
    from rich.table import Table  # noqa: PLC0415 (the firmware's output would wait for it)

    from rtoslab.cli.console import PlainConsole  # noqa: PLC0415

    console = PlainConsole()
    if result.uart and not result.uart.endswith(b"\n"):
        console.print()
    console.print(f"stop: {result.stop} at cycle {result.cycle:,}. {result.detail}", markup=False)
    for line in faults:
        console.print(line, markup=False, soft_wrap=True)
    cores = Table("core", "cycles", "instructions", "cycles per instruction", title="Cores")
    for number, (cycles, instructions) in enumerate(zip(result.cycles, result.instructions, strict=True)):
        ratio = f"{cycles / instructions:.3f}" if instructions else "-"
        cores.add_row(str(number), f"{cycles:,}", f"{instructions:,}", ratio)
    _align_columns_right(cores)
    console.print(cores)
    if result.between:
        pairs = Table("from", "to", "count", "min cycles", "max cycles", "total cycles", title="Between")
        for between in result.between:
            low, high = (("-" if value is None else f"{value:,}") for value in (between.min_cycles, between.max_cycles))
            pairs.add_row(between.start, between.end, f"{between.count:,}", low, high, f"{between.total_cycles:,}")
        _align_columns_right(pairs, first=2)
        console.print(pairs)
    for note in result.notes:
        click.echo(f"note: {note}", err=True)
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)


def _align_columns_right(table: "Table", first: int = 1) -> None:
    """Aligns the table's columns to the right, from column `first` on."""
    for column in table.columns[first:]:
        column.justify = "right"
