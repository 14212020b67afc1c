"""`rtoslab report` and what it shares with `show`."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.api import load
from rtoslab.base import ReportError, find_checkout_root, write_file_atomically
from rtoslab.catalogue import Catalogue
from rtoslab.choose import with_kernel_comparison_section
from rtoslab.cli.failures import exit_code_of_stored_points
from rtoslab.cli.names import file_format_by_suffix
from rtoslab.reference import reference_points_for_unmeasured_kernels
from rtoslab.reports import ReportDocument, make_report_document, report_formats
from rtoslab.store import RunDirectory, StoredMeasurementPoint

FORMATS = ("html", "md", "csv", "json")
READ = ("html", "md")
"""Forms for human readers."""


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-o", "--output", "outputs", multiple=True, type=click.Path(path_type=Path),
    help=("File to write; may be repeated for several formats. Without it, the report goes to standard output (not "
         "HTML)."),
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help=("Format.  [default: by the file's suffix, else html]")
)
@click.option(
    "--reference/--no-reference",
    default=True,
    help=(
        "Include the reference results of kernels that the runs do not contain, or not. CSV and JSON never "
        "include them."
    ),
)
def report_command(runs: tuple[Path, ...], outputs: tuple[Path, ...], form: str | None, *, reference: bool) -> int:
    """Write a report of one or more run directories: HTML (self-contained), Markdown, CSV or JSON."""
    if not outputs and (form or "html") == "html":
        raise ReportError("An HTML report is written to a file; add -o report.html, or choose --format md.")
    points = load(*runs)
    documents: dict[bool, ReportDocument] = {}
    for output in outputs or (None,):
        chosen = form or (
            file_format_by_suffix(output) if output and file_format_by_suffix(output) in FORMATS else "html"
        )
        beside = reference and chosen in READ
        if beside not in documents:
            documents[beside] = read_report_document(runs, points, reference=beside)
        text = report_formats()[chosen](documents[beside])
        if output is None:
            click.echo(text, nl=False)
        else:
            write_report(text, output)
    return exit_code_of_stored_points(points)


def write_report(text: str, output: Path) -> None:
    """Writes a report to a file, whole or not at all, and prints the path on stderr. Raises StoreError."""
    write_file_atomically(output, text, "the report")
    click.echo(f"The report is {output} ({len(text.encode()) / 1024:,.0f} kB).", err=True)


def read_report_document(
    runs: tuple[Path, ...], points: Sequence[StoredMeasurementPoint], *, reference: bool = False
) -> ReportDocument:
    """Returns the report on these points of one or more run directories. It names the suite only if all runs are of the
    same.

    `reference`: whether reference results are shown beside them.
    """
    suites = {RunDirectory.open_run_directory(path).read_stored_plan().suite for path in runs}
    beside = reference_points_for_unmeasured_kernels(find_checkout_root(), points) if reference else ()
    catalogue = Catalogue(find_checkout_root())
    document = make_report_document(catalogue, points, suites.pop() if len(suites) == 1 else None, beside)
    return with_kernel_comparison_section(catalogue, document, points)
