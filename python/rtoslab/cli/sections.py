"""Prints the sections of any report on the terminal: prose and tables, without the charts."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rtoslab.cli.console import colour_text
from rtoslab.reports import ReportDocument, ReportSection, TableData

_MOODS = {"worse": "red", "better": "green", "too few samples": "yellow"}


def print_report_document(document: ReportDocument, console: Console, most_rows: int = 40) -> None:
    """Prints a report on the terminal, without its charts. `most_rows`: how many rows of each table are shown."""
    console.print(document.subtitle, soft_wrap=True, markup=False)
    console.print(document.summary, soft_wrap=True, markup=False)
    for section in document.sections:
        print_report_section(section, console, most_rows)


def print_report_section(section: ReportSection, console: Console, most_rows: int = 40) -> None:
    """Prints one section of a report on the terminal, without its charts."""
    console.print(f"\n{section.title}", style="bold", markup=False)
    for text in section.prose:
        console.print(text, soft_wrap=True, markup=False)
    for table in section.tables:
        console.print(_rich_table(table, most_rows))
        if len(table.rows) > most_rows:
            console.print(f"... and {len(table.rows) - most_rows} more rows; a report (-o) shows all.")
        if table.note:
            console.print(table.note, soft_wrap=True, markup=False)


def _rich_table(table: TableData, most_rows: int) -> Table:
    """Returns the first `most_rows` rows of a table, in the form for a terminal."""
    shown = Table(title=table.title, title_justify="left")
    for name, numeric in table.column_heads:
        shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows[:most_rows]:
        shown.add_row(*(_with_verdict_colour(cell) for cell in row))
    return shown


def _with_verdict_colour(text: str) -> str | Text:
    """Returns a table's cell. A verdict, such as `worse`, has a colour."""
    return colour_text(text, _MOODS[text]) if text in _MOODS else text
