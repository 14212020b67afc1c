"""`rtoslab report` and what it shares with `show`."""

from pathlib import Path

import click

from rtoslab.api import load
from rtoslab.base import ReportError, find_root, write_whole
from rtoslab.catalogue import Catalogue
from rtoslab.reference import stand_ins
from rtoslab.reports import Document, make_document, report_formats
from rtoslab.store import RunDirectory

FORMATS = ("html", "md", "csv", "json")
READ = ("html", "md")
"""Those that are read by people."""


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output without it (not for html)."
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default from the file's suffix, else html.")
@click.option(
    "--reference/--no-reference",
    default=True,
    help="With or without the reference results of kernels that the runs do not hold; CSV and JSON: always without.",
)
def command(runs: tuple[Path, ...], output: Path | None, form: str | None, *, reference: bool) -> None:
    """Write a report of one or more run directories: HTML (self-contained), Markdown, CSV or JSON."""
    suffix = output.suffix.lstrip(".").lower() if output else ""
    chosen = form or (suffix if suffix in FORMATS else "html")
    if output is None and chosen == "html":
        raise ReportError("An HTML report needs a file; add -o report.html, or choose --format md.")
    text = report_formats()[chosen](load_document(runs, reference=reference and chosen in READ))
    if output is None:
        click.echo(text, nl=False)
        return
    write(text, output)


def write(text: str, output: Path) -> None:
    """Writes the whole report or none of it, and says where."""
    write_whole(output, text, "the report")
    click.echo(f"The report is {output} ({len(text.encode()) / 1024:,.0f} kB).", err=True)


def load_document(runs: tuple[Path, ...], *, reference: bool = False) -> Document:
    """The document of several run directories together; the suite is told only if all are of one."""
    suites = {RunDirectory.open(path).plan().suite for path in runs}
    points = load(*runs)
    beside = stand_ins(find_root(), points) if reference else ()
    return make_document(Catalogue(find_root()), points, suites.pop() if len(suites) == 1 else None, beside)
