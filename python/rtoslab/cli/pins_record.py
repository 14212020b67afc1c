"""`rtoslab pins record`: a board's pins in a logic analyzer's file form, the virtual board's or a real one's."""

from dataclasses import dataclass
from pathlib import Path

import click

from rtoslab.api import find_target_for_each_board
from rtoslab.base import EXIT_OK, STANDARD_OUTPUT, CaptureError, PlanError, count_with_noun, find_checkout_root
from rtoslab.captures import (
    OUT,
    LiveCaptureRun,
    PinEdgeRecording,
    capture_format_modules,
    choose_capture_format,
    parse_analyzer_wires,
    pin_latency_measurement_point,
    raw_recording_path,
    record_pins_of_real_board,
    record_pins_of_virtual_board,
    resample_as_logic_analyzer,
    write_capture,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import bench_option, board_option, config_option, kernel_option, target_option
from rtoslab.cli.desk import print_flash_commands_of_point
from rtoslab.cli.names import CatalogueNameParam, FrequencyParam
from rtoslab.hardware import LogicAnalyzer, recording_command_text
from rtoslab.plan import PlanOptions


@click.command("record", short_help="Write the edges of a pin to a capture file.")
@click.argument("benchmark", type=CatalogueNameParam("benchmarks"))
@kernel_option
@board_option
@config_option
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option(
    "--form", type=click.Choice(sorted(capture_format_modules())), help="Format of the file.  [default: by its suffix]"
)
@click.option(
    "--sample-rate",
    type=FrequencyParam(),
    help=("Write the samples that a logic analyzer with this rate would record, such as 8MHz."),
)
@click.option(
    "--sigrok",
    metavar="DRIVER[:conn=...]",
    help="Record a real board with sigrok-cli at --sample-rate. DRIVER is the analyzer's driver, such as fx2lafw.",
)
@click.option(
    "--wire",
    "wires",
    multiple=True,
    metavar="CHANNEL[=PIN]",
    help="Which channel of the analyzer is connected to which pin.  [default: D0 at the measurement's pin]",
)
@target_option
@bench_option
@click.option("--port", metavar="DEVICE", help="The board's serial port.  [default: the probe's]")
@click.option("--dry-run", is_flag=True, help="Show the commands for a real board and run none of them.")
@click.pass_context
def pins_record_command(
    context: click.Context,
    benchmark: str,
    kernel: str,
    board: str,
    config: tuple[tuple[str, str], ...],
    output: Path,
    form: str | None,
    sample_rate: int | None,
    sigrok: str | None,
    wires: tuple[str, ...],
    target: str | None,
    bench: Path | None,
    port: str | None,
    dry_run: bool,
) -> int:
    """Run a latency benchmark on the virtual board and write the edges of its measurement pin to a capture file.

    VCD and Saleae files contain the exact time of each edge, unless --sample-rate is given. sigrok (.sr) and PulseView
    files contain samples and need --sample-rate.

    With --sigrok and --target, the image is flashed onto a real board, and a logic analyzer records its pin until the
    end of the run (docs/captures.md).
    """
    options = PlanOptions([kernel], [board], [1], None, dict(config))
    if sigrok is not None:
        named = context.get_parameter_source("board") is not click.core.ParameterSource.DEFAULT
        desk = LiveCaptureSetup(
            sigrok, sample_rate, wires, target, bench, port, board if named else None, dry_run=dry_run
        )
        return capture_running_benchmark(benchmark, options, output, form, desk)
    if wires or target or bench or port or dry_run:
        raise PlanError(
            "The pins of a real board are recorded by a logic analyzer; add --sigrok DRIVER, such as fx2lafw."
        )
    recording = record_pins_of_virtual_board(Catalogue(find_checkout_root()), benchmark, options)
    capture = resample_as_logic_analyzer(recording.capture, sample_rate) if sample_rate else recording.capture
    write_capture(capture, output, form)
    edges = len(recording.capture.channels[0].logic_level_changes()[0])
    click.echo(f"{recording.title}: {count_with_noun(edges, 'edge')} in {output}.", err=output == STANDARD_OUTPUT)
    return EXIT_OK


@dataclass(frozen=True, slots=True)
class LiveCaptureSetup:
    """The board, the logic analyzer and the wires between them, as the user names them."""

    driver: str
    sample_rate_hz: int | None
    wires: tuple[str, ...]
    target: str | None
    bench: Path | None
    port: str | None
    board: str | None
    """None if it was not named. Then nothing is flashed."""
    dry_run: bool


def capture_running_benchmark(
    benchmark: str, options: PlanOptions, output: Path, form: str | None, desk: LiveCaptureSetup
) -> int:
    """Records the pins of a real board with a logic analyzer while a benchmark runs on it, and checks the record.
    Returns the exit code.

    Raises PlanError, CaptureError, and errors of the board.
    """
    if desk.sample_rate_hz is None:
        raise PlanError("The sample rate is missing; add --sample-rate, such as 24MHz.")
    if desk.target is None:
        raise PlanError(
            "The board to record is missing; add --target auto, or --target with the serial number of "
            "a probe (`rtoslab list targets`)."
        )
    if output == STANDARD_OUTPUT:
        raise PlanError("A live capture is written to a file; name it with -o, such as pins.sr.")
    form = choose_capture_format(output, form)
    catalogue = Catalogue(find_checkout_root())
    targets = find_target_for_each_board(
        catalogue, [desk.board] if desk.board else [], desk.target, desk.port, desk.bench
    )
    (target,) = targets.values()
    analyzer = LogicAnalyzer(desk.driver, desk.sample_rate_hz, parse_analyzer_wires(target.board, desk.wires))
    live = LiveCaptureRun(pin_latency_measurement_point(catalogue, benchmark, options), target, analyzer)
    if desk.dry_run:
        click.echo("# records from before the board is flashed to the end of its run")
        click.echo(recording_command_text(analyzer, live.time_limit_s, raw_recording_path(output)))
        print_flash_commands_of_point(catalogue, live.point, target)
        return EXIT_OK
    virtual = record_pins_of_virtual_board(catalogue, benchmark, options)
    _warn_of_short_pulses(virtual, analyzer)
    capture = record_pins_of_real_board(catalogue, live, output)
    write_capture(capture, output, form)
    raw_recording_path(output).unlink()
    channel = capture.find_logic_channel(OUT)
    try:
        pulses = virtual.pulses_by_series(channel, capture)
    except CaptureError as cause:
        raise CaptureError(f"{cause} The capture is in {output}.") from None
    seen = sum(len(pulse.width_ticks) for pulse in pulses.values())
    click.echo(
        f"{virtual.title}, recorded by {analyzer.driver}: "
        f"{count_with_noun(len(channel.logic_level_changes()[0]), 'edge')} in "
        f"{output}; {count_with_noun(seen, 'pulse', 'is', 'are')} in the measured window, where the image generates "
        f"{len(virtual.pulse_series):,}."
    )
    return EXIT_OK


def _warn_of_short_pulses(virtual: PinEdgeRecording, analyzer: LogicAnalyzer) -> None:
    """Warns on stderr if the run has pulses that are shorter than the time between two samples of the analyzer."""
    short, count = virtual.count_pulses_shorter_than(1 / analyzer.rate_hz)
    if short:
        are = "is" if short == 1 else "are"
        click.echo(
            f"{short:,} of the image's {count_with_noun(count, 'pulse')} {are} shorter than a sample of "
            f"{1e9 / analyzer.rate_hz:.0f} ns and may be missing; use a higher --sample-rate.",
            err=True,
        )
