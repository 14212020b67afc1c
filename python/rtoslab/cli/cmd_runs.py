"""`rtoslab runs`: finds stored points, and exports them for other tools."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from rtoslab.base import ReportError, StoreError, count_with_noun, default_runs_folder, write_file_atomically
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.lazy_group import LazyCommandGroup
from rtoslab.cli.names import (
    CatalogueNameParam,
    CoreCountsParam,
    IsoDateParam,
    KeyValueParam,
    file_format_by_suffix,
    report_file_option,
)

if TYPE_CHECKING:
    from rtoslab.archive import ArchivedMeasuredPoint, RunSummary

_NOTHING_FOUND = "No stored point matches these conditions; use fewer, or measure points with `rtoslab run`."
_FILTERS = (
    click.option(
        "--kernel",
        "kernels",
        multiple=True,
        type=CatalogueNameParam("kernels"),
        help="Show only points of this kernel.",
    ),
    click.option(
        "--board", "boards", multiple=True, type=CatalogueNameParam("boards"), help="Show only points on this board."
    ),
    click.option(
        "--benchmark",
        "benchmarks",
        multiple=True,
        type=CatalogueNameParam("benchmarks"),
        help="Show only points of this benchmark.",
    ),
    click.option("--cores", type=CoreCountsParam(), help="Show only points with this number of cores."),
    click.option(
        "--config",
        type=KeyValueParam(),
        multiple=True,
        help=("Show only points with this option (opt=-O3) or value of a macro."),
    ),
    click.option(
        "--since", type=IsoDateParam(), default="", help=("Show only runs whose last session was on this day or later.")
    ),
    click.option(
        "--until", type=IsoDateParam(), default="", help="Show only runs whose last session was on this day or earlier."
    ),
    click.option(
        "--hash",
        "digest",
        default="",
        help=("Show only points whose run id, image hash or kernel package hash begins with this."),
    ),
    click.option(
        "--in",
        "places",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Run directories, or folders that contain them.  [default: runs]",
    ),
)


@dataclass(frozen=True, slots=True)
class _StoredPointSearch:
    """A search for stored points, as the options of a command state it."""

    places: tuple[Path, ...]
    """Run directories, or folders that contain them."""
    filters: dict[str, Any]
    """The fields of StoredPointFilters."""

    def find_matching_stored_points(self) -> "list[ArchivedMeasuredPoint]":
        """Returns the stored points that match."""
        from rtoslab.archive import StoredPointFilters, find_stored_points  # noqa: PLC0415 (a list of runs reads no points)

        return list(find_stored_points(self.places, StoredPointFilters(**self.filters)))


def _with_point_filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the command with added options that filter stored points. It gets them as `search`."""

    @wraps(command)
    def call_with_stored_point_search(
        *args: Any,
        kernels: tuple[str, ...],
        boards: tuple[str, ...],
        benchmarks: tuple[str, ...],
        cores: tuple[int, ...] | None,
        config: tuple[tuple[str, str], ...],
        since: str,
        until: str,
        digest: str,
        places: tuple[Path, ...],
        **options: Any,
    ) -> Any:
        """Calls the command with a search for the stored points that match the filters."""
        for place in places:
            if not place.is_dir():
                raise StoreError(
                    f"There is no folder {place}; give --in a run directory, or a folder that contains some."
                )
        filters = {
            "kernels": kernels, "boards": boards, "benchmarks": benchmarks, "cores": cores or (),
            "config": dict(config),
            "since": since, "until": until, "hash": digest,
        }  # fmt: skip
        return command(*args, search=_StoredPointSearch(places or (default_runs_folder(),), filters), **options)

    for option in reversed(_FILTERS):
        call_with_stored_point_search = option(call_with_stored_point_search)
    return call_with_stored_point_search


@click.group("runs", cls=LazyCommandGroup, modules={"verify": "runs_verify"}, invoke_without_command=True)
@click.option("--points", is_flag=True, help="Print one line for each point instead of each run directory.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list of points on stdout.")
@_with_point_filter_options
@click.pass_context
def runs_command(ctx: click.Context, points: bool, as_json: bool, search: _StoredPointSearch) -> None:
    """Find stored points by kernel, board, benchmark, configuration, date or hash."""
    if ctx.invoked_subcommand is None:
        _print_runs_or_measurement_points(search, points=points, as_json=as_json)


def print_list_of_runs(*, as_json: bool) -> None:
    """Prints the existing runs, or all their points as JSON."""
    _print_runs_or_measurement_points(_StoredPointSearch((default_runs_folder(),), {}), points=False, as_json=as_json)


def _print_runs_or_measurement_points(search: _StoredPointSearch, *, points: bool, as_json: bool) -> None:
    """Prints the runs with points that a search finds, or these points as a table or as JSON."""
    from rtoslab.archive import summarize_archived_runs, summarize_runs  # noqa: PLC0415

    if not (points or as_json or any(search.filters.values())):
        runs = list(summarize_runs(search.places))
        _print_table_of_runs(runs)
        return
    stored_points = search.find_matching_stored_points()
    if as_json:
        print_json_answer([_stored_point_as_json(point) for point in stored_points])
        return
    if not points:
        _print_table_of_runs(list(summarize_archived_runs(stored_points)))
    elif not stored_points:
        click.echo(_NOTHING_FOUND)
    else:
        PlainConsole().print(_table_of_stored_measurement_points(stored_points))


@runs_command.command("export", short_help="Write figures or raw samples as a table.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write.  [default: standard output]")
@click.option(
    "--format",
    "form",
    type=click.Choice(("parquet", "csv", "jsonl")),
    help="Format.  [default: by the file's suffix, else CSV]",
)
@click.option("--samples", is_flag=True, help="Write one row for each raw sample of a latency instead of each figure.")
@_with_point_filter_options
def runs_export_command(output: Path | None, form: str | None, samples: bool, search: _StoredPointSearch) -> None:
    """Write the figures of matching stored points, or their raw samples, as Parquet, CSV or JSON lines."""
    from rtoslab.archive import (  # noqa: PLC0415
        EXPORTERS,
        FIGURE_COLUMNS,
        SAMPLE_COLUMNS,
        export_rows_of_measured_values,
        table_rows_of_latency_samples,
    )

    chosen = form or (file_format_by_suffix(output) if output else "csv")
    if chosen not in EXPORTERS:
        raise ReportError(f"{output} has no known format; let it end in .parquet, .csv or .jsonl, or add --format.")
    stored_points = search.find_matching_stored_points()
    if not stored_points:
        raise StoreError(
            "No stored point matches these conditions, so nothing was exported; `rtoslab runs` lists the stored points."
        )
    rows, columns = (
        (table_rows_of_latency_samples(stored_points), SAMPLE_COLUMNS)
        if samples
        else (export_rows_of_measured_values(stored_points), FIGURE_COLUMNS)
    )
    content = EXPORTERS[chosen](rows, columns)
    if output is None:
        sys.stdout.buffer.write(content)
        return
    write_file_atomically(output, content, "the export")
    click.echo(
        f"{count_with_noun(len(stored_points), 'point', 'is', 'are')} in {output} ({len(content) / 1024:,.0f} kB).",
        err=True,
    )


@runs_command.command("history", short_help="Show how figures changed from run to run.")
@report_file_option("html", "md")
@click.option(
    "--metric",
    "patterns",
    multiple=True,
    help="Figures with this name or pattern (`stack.*`).  [default: times and code size]",
)
@_with_point_filter_options
def runs_history_command(outputs: tuple[Path, ...], patterns: tuple[str, ...], search: _StoredPointSearch) -> None:
    """Show how the figures of the same points changed from run to run."""
    from rtoslab.cli.cmd_report import write_report  # noqa: PLC0415
    from rtoslab.cli.sections import print_report_document  # noqa: PLC0415
    from rtoslab.compare import history_document_of_measured_values  # noqa: PLC0415
    from rtoslab.reports import report_formats  # noqa: PLC0415

    document = history_document_of_measured_values(search.find_matching_stored_points(), patterns)
    if not outputs:
        print_report_document(document, PlainConsole())
    for output in outputs:
        write_report(report_formats()[file_format_by_suffix(output)](document), output)


def _print_table_of_runs(runs: "list[RunSummary]") -> None:
    """Prints a table with a line for each run directory."""
    if not runs:
        click.echo(_NOTHING_FOUND)
        return
    table = Table(box=None)
    for name in ("run directory", "last session", "revision", "kernels", "boards", "benchmarks"):
        table.add_column(name, overflow="fold")
    table.add_column("points", justify="right")
    for item in runs:
        table.add_row(
            str(path_from_working_directory(item.run)),
            item.session.date,
            item.session.revision,
            *(_first_three_names_text(names) for names in (item.kernels, item.boards, item.benchmarks)),
            str(item.points),
        )
    PlainConsole().print(table)


def _first_three_names_text(names: tuple[str, ...]) -> str:
    """Returns the first three names as text, with the number of further ones."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _table_of_stored_measurement_points(points: "list[ArchivedMeasuredPoint]") -> Table:
    """Returns a table with a line for each stored point."""
    table = Table(box=None)
    for name in ("benchmark", "kernel", "board", "cores", "configuration", "status", "run id", "where"):
        table.add_column(name, overflow="fold")
    for item in points:
        point = item.point_id
        config = " ".join(f"{key}={value}" for key, value in point.config.items())
        where = str(path_from_working_directory(item.run))
        table.add_row(
            point.benchmark,
            point.kernel,
            point.board,
            count_with_noun(point.cores, "core"),
            config,
            item.result.status,
            item.result.run_id,
            where,
        )
    return table


def _stored_point_as_json(point: "ArchivedMeasuredPoint") -> dict[str, Any]:
    """Returns a stored point as a JSON object."""
    return {
        "run": str(point.run),
        "date": point.session.date,
        "revision": point.session.revision,
        "folder": point.stored.folder.name,
        "status": point.result.status,
        "run_id": point.result.run_id,
        "point": point.point_id.model_dump(mode="json"),
    }
