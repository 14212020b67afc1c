"""`rtoslab trace`: what ran when, as a Perfetto trace or as VCD, and answers to questions about it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table

from rtoslab.base import EXIT_OK, PlanError, UnknownNameError, find_checkout_root, write_file_atomically
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import options_given_on_command_line
from rtoslab.cli.observation import OBSERVATION_PARAMETERS, add_run_observation_options, exit_code_of_run
from rtoslab.instruments import (
    NAMED_QUERIES,
    ImageObservationOptions,
    Timeline,
    TraceDatabase,
    find_observed_image,
    perfetto_trace,
    read_trace_file,
    record_timeline,
    table_for_terminal,
    timeline_as_trace_file_contents,
)

_LATENCY = "latency"
_TRACE_SUFFIX = ".pftrace"
_SUFFIXES = {_TRACE_SUFFIX, ".vcd"}


@click.command("trace")
@click.argument("subject")
@click.argument("question", required=False)
@click.argument("names", nargs=-1)
@click.option(
    "-o", "--output", "outputs", type=click.Path(path_type=Path), multiple=True, metavar="FILE.pftrace|FILE.vcd",
    help="Perfetto (.pftrace) or VCD (.vcd); may be repeated.",
)  # fmt: skip
@add_run_observation_options
@click.option(
    "--within",
    "limit_cycles",
    type=click.IntRange(1, 2**62),
    default=2**62,
    help=("For `latency`: show only latencies up to this many cycles."),
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="Number of rows to show of an answer. --json prints all.",
)
@click.option("--json", "as_json", is_flag=True, help="All rows of an answer as JSON on stdout.")
@click.pass_context
def trace_command(
    context: click.Context,
    subject: str,
    question: str | None,
    names: tuple[str, ...],
    outputs: tuple[Path, ...],
    choice: ImageObservationOptions,
    limit_cycles: int,
    top: int,
    *,
    as_json: bool,
) -> int:
    """Show what ran when in a SUBJECT: a benchmark (its window), any ELF image, or a trace file that -o wrote.

    Shows tasks, handlers, kernel calls, spinlocks and pins. The image is not changed. Open a .pftrace file in
    ui.perfetto.dev, a .vcd file in GTKWave or PulseView. Without -o, only a summary of each track is shown. Exit code 3
    if a core ended in an unimplemented handler.

    A QUESTION is the name of a query, or SQL:

    \b
    load          cycles and share of each core, by task and handler
    switches      the longest intervals from one switch to the next
    calls         each task's kernel calls
    locks         spinlocks: times held and waited for
    latency A B   times from the begin of each A to that of the next B
    "SELECT ..."  SQLite. Tables:
                  slice(track_group, track, name, depth, start_cycle,
                    end_cycle, cycles, own_cycles, start_ns, ended)
                  pin(name, cycle, level)
                  trace(label, clock_hz, start_cycle, end_cycle)
    """
    for path in outputs:
        if path.suffix not in _SUFFIXES:
            raise PlanError(f"{path} has no known format; let it end in .pftrace or .vcd.")
    if as_json and question is None:
        raise PlanError("--json prints the answer to a question; name one, such as `load`.")
    _require_known_trace_query(question, names)
    if Path(subject).suffix == _TRACE_SUFFIX:
        given = options_given_on_command_line(context, *OBSERVATION_PARAMETERS)
        if given:
            raise PlanError(f"{subject} is a trace already; leave --{given[0].replace('_', '-')} out.")
        if question is None or outputs:
            raise PlanError(f"{subject} is a trace already; ask it a question, such as `load`, without -o.")
        _print_trace_query_result(
            TraceDatabase(read_trace_file(Path(subject))), question, names, limit_cycles, top, as_json=as_json
        )
        return EXIT_OK
    result = record_timeline(find_observed_image(Catalogue(find_checkout_root()), subject, **choice))
    for path in outputs:
        write_file_atomically(
            path, perfetto_trace(result) if path.suffix == _TRACE_SUFFIX else _timeline_as_vcd(result), "the trace"
        )
    if question is None:
        _print_timeline(result)
    else:
        database = TraceDatabase(timeline_as_trace_file_contents(result))
        _print_trace_query_result(database, question, names, limit_cycles, top, as_json=as_json)
    if result.cut and not result.unhandled:
        click.echo(f"warning: The trace ends early: {result.cut}.", err=True)
    return exit_code_of_run(result.unhandled)


def _require_known_trace_query(question: str | None, names: tuple[str, ...]) -> None:
    """Raises PlanError or UnknownNameError for the unknown name of a query, or a wrong number of slices' names."""
    if names and question != _LATENCY:
        raise PlanError("Only `latency` takes names of slices; put a SELECT statement into quotation marks.")
    if question == _LATENCY and len(names) != 2:
        raise PlanError(
            '`latency` needs two names of slices, its begin and its end; `rtoslab trace FILE.pftrace "SELECT '
            'DISTINCT name FROM slice"` lists them.'
        )
    if question is not None and question.isidentifier() and question not in {*NAMED_QUERIES, _LATENCY}:
        raise UnknownNameError("question", question, [*NAMED_QUERIES, _LATENCY])


def _print_trace_query_result(
    database: TraceDatabase, question: str, names: tuple[str, ...], limit_cycles: int, top: int, *, as_json: bool
) -> None:
    """Prints the answer to a question about a trace, as a table of `top` rows or as JSON."""
    if question == _LATENCY:
        table = database.latency_between_trace_slices_table(names[0], names[1], limit_cycles)
    elif question in NAMED_QUERIES:
        table = database.answer_predefined_query(question)
    else:
        table = database.run_sql_query_on_trace(question)
    if as_json:
        print_json_answer(table.as_json())
        return
    PlainConsole().print(table_for_terminal(table, top))
    if len(table.rows) > top:
        click.echo(f"... and {len(table.rows) - top:,} more rows; --top N shows more, --json shows all.")


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
        spans = result.spans_of_timeline_track(track.group, track.name)
        often = ", ".join(f"{name} x {count}" for name, count in Counter(item.name for item in spans).most_common(3))
        cycles = sum(item.end - item.start for item in spans)
        table.add_row(track.group, track.name, f"{len(spans):,}", often, f"{cycles:,}")
    for pin, count in sorted(Counter(edge.pin for edge in result.edges).items()):
        table.add_row("pins", pin, f"{count:,}", "edges", "")
    console.print(table)
    load = TraceDatabase(timeline_as_trace_file_contents(result)).answer_predefined_query("load")
    if load.rows:
        console.print(table_for_terminal(replace(load, title="Load: cycles of each core, tasks without handlers")))
