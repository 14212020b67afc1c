"""`rtoslab trace`: what ran when, as a Perfetto trace or as VCD."""

from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rtoslab.catalogue import Catalogue
from rtoslab.cli.names import CatalogueName, Duration, KeyValue
from rtoslab.errors import EXIT_OK, PlanError, disk_error
from rtoslab.instruments.perfetto import perfetto_trace
from rtoslab.instruments.subject import DEFAULT_CYCLES, Stretch, make_subject
from rtoslab.instruments.timeline import Timeline, timeline
from rtoslab.instruments.vcd import vcd_text
from rtoslab.paths import find_root


@click.command("trace")
@click.argument("subject")
@click.option(
    "-o", "--output", "outputs", type=click.Path(path_type=Path), multiple=True, metavar="FILE.pftrace|FILE.vcd",
    help="Perfetto (.pftrace) or VCD (.vcd); may be repeated.",
)  # fmt: skip
@click.option(
    "--kernel",
    type=CatalogueName("kernels"),
    help="The benchmark's kernel, else the one with most services; of an image, whose tasks it has.",
)
@click.option("--board", type=CatalogueName("boards"), help="The board; pico if nothing is said.")
@click.option("--cores", type=click.IntRange(1, 8), help="Cores in use.")
@click.option("--config", type=KeyValue(), multiple=True, help="As in `run`.")
@click.option(
    "--window", "window_ms", type=Duration(), help="A benchmark's window.   [default: 20ms; for samples 250ms]"
)
@click.option("--from", "start", metavar="SYMBOL|CYCLES", help="Of an image: from there, not from reset.")
@click.option("--until", "end", metavar="SYMBOL|CYCLES", help="Of an image: until there.")
@click.option(
    "--max-cycles", type=click.IntRange(1), help=f"Of an image: at most so many; {DEFAULT_CYCLES:,} if not said."
)
def command(
    subject: str,
    outputs: tuple[Path, ...],
    kernel: str | None,
    board: str | None,
    cores: int | None,
    config: tuple[tuple[str, str], ...],
    window_ms: int | None,
    start: str | None,
    end: str | None,
    max_cycles: int | None,
) -> int:
    """Show what ran when in a SUBJECT: a benchmark's window, or a stretch of any ELF image.

    Tasks, handlers, kernel calls, spinlocks and pins, from outside: nothing is compiled into the image. A .pftrace
    opens in ui.perfetto.dev, a .vcd in GTKWave and PulseView. Without -o only what is on each track is told.
    """
    for path in outputs:
        if path.suffix not in {".pftrace", ".vcd"}:
            raise PlanError(f"{path} ends in neither .pftrace nor .vcd, which say what to write; choose one.")
    stretch = Stretch(start=start, end=end, cycles=max_cycles or DEFAULT_CYCLES) if start or end or max_cycles else None
    catalogue = Catalogue(find_root())
    options = {"kernel": kernel, "board": board, "cores": cores}
    made = make_subject(catalogue, subject, config=dict(config), window_ms=window_ms, stretch=stretch, **options)  # type: ignore[arg-type]
    found = timeline(made)
    for path in outputs:
        data = perfetto_trace(found) if path.suffix == ".pftrace" else vcd_text(found).encode()
        try:
            path.write_bytes(data)
        except OSError as cause:
            raise disk_error("write", path, cause) from None
    _print(found)
    return EXIT_OK


def _print(found: Timeline) -> None:
    console = Console(highlight=False)
    length = found.end - found.start
    milliseconds = length * 1000 / found.clock_hz
    console.print(
        f"{found.label}: {length:,} cycles, {milliseconds:.3f} ms from cycle {found.start:,} on.", markup=False
    )
    table = Table("of", "track", "spans", "most often", "cycles", title="Tracks", title_justify="left")
    for column in (2, 4):
        table.columns[column].justify = "right"
    tracks = sorted({span.track for span in found.spans}, key=lambda track: (track.group, track.name))
    for track in tracks:
        spans = found.on(track.group, track.name)
        often = ", ".join(f"{name} x {count}" for name, count in Counter(each.name for each in spans).most_common(3))
        cycles = sum(each.end - each.start for each in spans)
        table.add_row(track.group, escape(track.name), f"{len(spans):,}", escape(often), f"{cycles:,}")
    for pin, count in sorted(Counter(edge.pin for edge in found.edges).items()):
        table.add_row("pins", pin, f"{count:,}", "edges", "")
    console.print(table)
