"""`rtoslab capture`: the virtual board's pins in a logic analyzer's file form."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, STANDARD_OUTPUT, find_root
from rtoslab.captures import capture_forms, record, sampled, write_capture
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option, config_option, kernel_option
from rtoslab.cli.names import CatalogueName, Frequency
from rtoslab.plan import Options


@click.command("capture")
@click.argument("benchmark", type=CatalogueName("benchmarks"))
@kernel_option
@board_option
@config_option
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option(
    "--form", type=click.Choice(sorted(capture_forms())), help="Format of the file; by default from its suffix."
)
@click.option("--sample-rate", type=Frequency(), help="Write what an analyzer of this rate would record, e.g. 8MHz.")
def command(
    benchmark: str,
    kernel: str,
    board: str,
    config: tuple[tuple[str, str], ...],
    output: Path,
    form: str | None,
    sample_rate: int | None,
) -> int:
    """Run a latency benchmark's image on the virtual board and write its measurement pin as a capture.

    VCD and Saleae files keep the time of each edge to the cycle unless --sample-rate is given; .sr and PulseView files
    hold samples and need it.
    """
    recording = record(Catalogue(find_root()), benchmark, Options([kernel], [board], [1], None, dict(config)))
    capture = sampled(recording.capture, sample_rate) if sample_rate else recording.capture
    write_capture(capture, output, form)
    edges = len(recording.capture.channels[0].edges()[0])
    click.echo(f"{recording.title}: {edges:,} edges in {output}.", err=output == STANDARD_OUTPUT)
    return EXIT_OK
