"""`rtoslab query`: questions to a trace that was written."""

from pathlib import Path

import click

from rtoslab.base import EXIT_OK, PlanError, UnknownNameError
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.instruments import NAMED_QUERIES, TraceDatabase, read_trace_file, table_for_terminal


@click.command("query")
@click.argument("trace", type=click.Path(path_type=Path), metavar="FILE.pftrace")
@click.argument("question")
@click.argument("names", nargs=-1)
@click.option(
    "--within",
    "limit_cycles",
    type=click.IntRange(1, 2**62),
    default=2**62,
    help=("For `latency`: show only latencies up to this many cycles."),
)
@click.option(
    "--top", type=click.IntRange(1), default=40, show_default=True, help="Number of rows to show. --json prints all."
)
@click.option("--json", "as_json", is_flag=True, help="All rows as JSON on stdout.")
def query_command(
    trace: Path, question: str, names: tuple[str, ...], limit_cycles: int, top: int, *, as_json: bool
) -> int:
    """Query a trace that `rtoslab trace -o` wrote, by the name of a query or in SQL.

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
    if names and question != "latency":
        raise PlanError("Only `latency` takes names of slices; put a SELECT statement into quotation marks.")
    if question == "latency" and len(names) != 2:
        raise PlanError(
            '`latency` needs two names of slices, its begin and its end; `rtoslab query TRACE "SELECT '
            'DISTINCT name FROM slice"` lists them.'
        )
    if question.isidentifier() and question not in {*NAMED_QUERIES, "latency"}:
        raise UnknownNameError("question", question, [*NAMED_QUERIES, "latency"])
    database = TraceDatabase(read_trace_file(trace))
    if question == "latency":
        table = database.answer_latency(names[0], names[1], limit_cycles)
    elif question in NAMED_QUERIES:
        table = database.answer_predefined_query(question)
    else:
        table = database.answer_query(question)
    if as_json:
        print_json_answer(table.as_json())
        return EXIT_OK
    console = PlainConsole()
    console.print(table_for_terminal(table, top))
    if len(table.rows) > top:
        click.echo(f"... and {len(table.rows) - top:,} more rows; --top N shows more, --json shows all.")
    return EXIT_OK
