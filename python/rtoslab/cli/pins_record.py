"""`rtoslab pins record`: a board's pins in a logic analyzer's file form, the virtual board's or a real one's."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, STANDARD_OUTPUT, PlanError, count_with_noun, find_checkout_root
from rtoslab.captures import (
    capture_format_modules,
    record_pins_of_virtual_board,
    resample_as_logic_analyzer,
    write_capture,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import bench_option, board_option, config_option, kernel_option, target_option
from rtoslab.cli.live_capture import LiveCaptureSetup, capture_running_benchmark
from rtoslab.cli.names import CatalogueNameParam, FrequencyParam
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
    edges = len(recording.capture.channels[0].level_changes()[0])
    click.echo(f"{recording.title}: {count_with_noun(edges, 'edge')} in {output}.", err=output == STANDARD_OUTPUT)
    return EXIT_OK
