"""`rtoslab gdb`: any image on a virtual board, under a debugger that goes backwards too."""

import sys
from pathlib import Path

import click

from rtoslab.base import EXIT_OK, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import board_option
from rtoslab.cli.image_options import FirmwareOutputWriter, attach_option, parse_devices
from rtoslab.cli.names import KeyValueParam, parse_option_integer
from rtoslab.targets import require_board_has_cores, serve_gdb


@click.command("gdb")
@click.argument("image", type=click.Path(path_type=Path))
@board_option
@click.option("--cores", type=click.IntRange(1, 8), help="Number of cores released from reset.  [default: all]")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="127.0.0.1:3333",
    show_default=True,
    help="Address where gdb can connect. Port 0 selects a free one.",
)
@click.option("--until", metavar="SYMBOL|0xADDR", help="Run to this place first. Backward execution goes back to it.")
@attach_option
@click.option(
    "--set",
    "settings",
    type=KeyValueParam(),
    multiple=True,
    help="Override a setting: clock_hz=N, flash.wait_states=N, timing.KEY=N ...",
)
@click.option("--strict", is_flag=True, help="Stop at the first access to hardware that is not modelled.")
def gdb_command(
    image: Path,
    board: str,
    cores: int | None,
    listen: str,
    until: str | None,
    attached: tuple[str, ...],
    settings: tuple[tuple[str, str], ...],
    strict: bool,
) -> int:
    """Debug an IMAGE (an ELF file of any project) on a virtual board with gdb, forwards and backwards.

    Waits for gdb's `target remote`. Each core is a thread, and so is each task if the kernel is known. All runs are
    equal, so reverse-step, reverse-next, reverse-continue and backward watchpoints are exact. The firmware's output
    appears here. Ends when gdb kills the board, or with Ctrl-C. After a detach, gdb can connect again.
    """
    from rtoslab.instruments import KernelTaskLister  # noqa: PLC0415 (it takes a moment, and an error of the command none)

    catalogue = Catalogue(find_checkout_root())
    facts = catalogue.find_board(board).facts
    require_board_has_cores(facts, cores)

    def print_gdb_connect_command(address: str) -> None:
        """Prints the command with which gdb connects."""
        click.echo(f"Waiting for gdb: gdb-multiarch {image} -ex 'target remote {address}'", err=True)

    lines = FirmwareOutputWriter(sys.stdout.buffer)

    serve_gdb(
        image,
        facts,
        listen,
        cores=cores,
        settings={key: parse_option_integer(value, key) for key, value in settings},
        strict=strict,
        until=until,
        devices=parse_devices(attached),
        ready=print_gdb_connect_command,
        on_text=lambda channel, text: lines.write_channel_output_to_terminal(channel or "uart", text),
        note=lambda sentence: click.echo(sentence, err=True),
        tasks=KernelTaskLister(catalogue, image, facts.cpu, cores or facts.cores).list_tasks_at_snapshot,
    )
    return EXIT_OK
