"""`rtoslab trace`: what ran when, as a Perfetto trace or as VCD."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table

from rtoslab.base import PlanError, find_checkout_root, write_file_atomically
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.observation import exit_code_of_run, observation_options
from rtoslab.instruments import (
    ObservedImageOptions,
    Timeline,
    TraceDatabase,
    find_observed_image,
    perfetto_trace,
    record_timeline,
    table_for_terminal,
    timeline_as_trace_contents,
)


@click.command("trace")
@click.argument("subject")
@click.option(
    "-o", "--output", "outputs", type=click.Path(path_type=Path), multiple=True, metavar="FILE.pftrace|FILE.vcd",
    help="Perfetto (.pftrace) or VCD (.vcd); may be repeated.",
)  # fmt: skip
@observation_options
def trace_command(
    subject: str,
    outputs: tuple[Path, ...],
    choice: ObservedImageOptions,
) -> int:
    """Show what ran when in a SUBJECT: a benchmark (its window), or any ELF image.

    Shows tasks, handlers, kernel calls, spinlocks and pins. The image is not changed. Open a .pftrace file in
    ui.perfetto.dev, a .vcd file in GTKWave or PulseView. Without -o, only a summary of each track is shown. Exit code 3
    if a core ended in an unimplemented handler.
    """
    for path in outputs:
        if path.suffix not in {".pftrace", ".vcd"}:
            raise PlanError(f"{path} has no known format; let it end in .pftrace or .vcd.")
    result = record_timeline(find_observed_image(Catalogue(find_checkout_root()), subject, **choice))
    for path in outputs:
        write_file_atomically(
            path, perfetto_trace(result) if path.suffix == ".pftrace" else _timeline_as_vcd(result), "the trace"
        )
    _print_timeline(result)
    if result.cut and not result.unhandled:
        click.echo(f"warning: The trace ends early: {result.cut}.", err=True)
    return exit_code_of_run(result.unhandled)


def _timeline_as_vcd(timeline: Timeline) -> bytes:
    """Returns a timeline as the content of a VCD file."""
    from rtoslab.instruments import timeline_as_vcd  # noqa: PLC0415 (a slim installation may lack its package)

    return timeline_as_vcd(timeline).encode()


def _print_timeline(result: Timeline) -> None:
    """Prints a summary of each track in a timeline, and the load of each core."""
    console = PlainConsole()
    length = result.end - result.start
    milliseconds = length * 1000 / result.clock_hz
    console.print(
        f"{result.label}: {length:,} cycles, {milliseconds:.3f} ms from cycle {result.start:,} on.", markup=False
    )
    table = Table("of", "track", "spans", "most often", "cycles", title="Tracks", title_justify="left")
    for column in (2, 4):
        table.columns[column].justify = "right"
    tracks = sorted({span.track for span in result.spans}, key=lambda track: (track.group, track.name))
    for track in tracks:
        spans = result.track_spans(track.group, track.name)
        often = ", ".join(f"{name} x {count}" for name, count in Counter(item.name for item in spans).most_common(3))
        cycles = sum(item.end - item.start for item in spans)
        table.add_row(track.group, track.name, f"{len(spans):,}", often, f"{cycles:,}")
    for pin, count in sorted(Counter(edge.pin for edge in result.edges).items()):
        table.add_row("pins", pin, f"{count:,}", "edges", "")
    console.print(table)
    load = TraceDatabase(timeline_as_trace_contents(result)).answer_predefined_query("load")
    if load.rows:
        console.print(table_for_terminal(replace(load, title="Load: cycles of each core, tasks without handlers")))
