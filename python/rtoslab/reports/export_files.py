r"""Exports each chart of a report as SVG, PDF and CSV, each table as CSV and LaTeX, and the citation of them all.

A LaTeX file is a whole `table` environment with caption and label, to be read with `\input`. `csv_records` describes
the CSV files.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rtoslab.base import make_disk_error, write_file_atomically
from rtoslab.intake import escape_csv_cell, escape_to_one_line
from rtoslab.reports.citation import Citation, citation_of
from rtoslab.reports.csv_records import REFERENCE_MARK, Cell, chart_as_csv_rows, table_as_csv_rows
from rtoslab.reports.deviations import MARK
from rtoslab.reports.drawing import convert_to_pdf, draw_chart_with_footnote
from rtoslab.reports.table import ReportDocument, TableData

_EXPORTED_NAME = re.compile(
    r"[\w.-]*-figure\d+\.(svg|pdf|csv)|[\w.-]*-table\d+-[a-z0-9-]*\.(csv|tex)|deviations\.txt|CITATION\.(bib|txt)"
)
"""Names of exported files. No other file is removed from a folder."""
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "\N{MICRO SIGN}": r"\textmu{}", "\N{GREEK SMALL LETTER MU}": r"\textmu{}",
    "\N{MULTIPLICATION SIGN}": r"$\times$", "\N{MIDDLE DOT}": r"$\cdot$", "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{EN DASH}": "--", "\N{EM DASH}": "---", "\N{MINUS SIGN}": "$-$", "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$", "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{ALMOST EQUAL TO}": r"$\approx$", "\n": " ", MARK: r"\dag{}", REFERENCE_MARK: r"\ddag{}",
}  # fmt: skip


def write_report_charts_and_tables(document: ReportDocument, folder: Path) -> list[Path]:
    """Writes each chart and table of a report as files into a folder. Returns their paths. Files of an earlier export
    are removed. Raises StoreError."""
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if _EXPORTED_NAME.fullmatch(old.name):
                old.unlink()
        for name, text in export_report_files(document):
            write_file_atomically(folder / name, text, "the export")
            written.append(folder / name)
    except OSError as cause:
        raise make_disk_error("export to", folder, cause) from None
    return written


def export_report_files(document: ReportDocument) -> Iterator[tuple[str, str | bytes]]:
    """Yields the name and the content of each file that a report is exported as.

    Then the explanation of the mark on kernels, for which CSV files have no place, and the citation.
    """
    labels: set[str] = set()
    for section in document.shown_sections:
        for number, chart in enumerate(section.charts, start=1):
            drawing = draw_chart_with_footnote(chart)
            yield f"{section.id}-figure{number}.svg", drawing + "\n"
            yield f"{section.id}-figure{number}.pdf", convert_to_pdf(drawing)
            yield f"{section.id}-figure{number}.csv", rows_as_csv_text(chart_as_csv_rows(chart))
        for number, table in enumerate(section.tables, start=1):
            stem = f"{section.id}-table{number}-{title_as_file_name_part(table.title)}"
            yield f"{stem}.csv", rows_as_csv_text(table_as_csv_rows(table))
            yield (
                f"{stem}.tex",
                table_as_latex(
                    table, _unique_label(section.id, title_as_file_name_part(table.title), labels), f"{stem}.tex"
                ),
            )
    noted = [data.footnote for section in document.shown_sections for data in section.tables]
    noted += [data.footnote for section in document.shown_sections for data in section.charts]
    if explained := next(filter(None, noted), ""):
        yield "deviations.txt", f"{explained}\n"
    citation = citation_of(document)
    yield "CITATION.txt", f"{citation.sentence}\n\n{citation.licence}\n"
    yield "CITATION.bib", citation_as_bibtex_file(citation)


def citation_as_bibtex_file(citation: Citation) -> str:
    """Returns a BibTeX file with the citation's entry, and its licence as a comment."""
    return f"% {citation.licence}\n\n{citation.bibtex}"


def _unique_label(section: str, title: str, labels: set[str]) -> str:
    """Returns a LaTeX label for a table, with a number if an earlier table has the same. Adds it to `labels`."""
    plain = label = f"tab:{section}-{title}"
    number = 1
    while label in labels:
        number += 1
        label = f"{plain}-{number}"
    labels.add(label)
    return label


def title_as_file_name_part(title: str) -> str:
    """Returns a title in the form of a part of a file name: lower case, with hyphens, at most 40 characters."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].rstrip("-")


def rows_as_csv_text(cells: Iterable[Iterable[Cell]]) -> str:
    """Returns the rows as CSV text. None is an empty cell. A text is escaped so that no program takes it for a
    formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([escape_csv_cell(cell) for cell in row] for row in cells)
    return out.getvalue()


def table_as_latex(table: TableData, label: str, file_name: str) -> str:
    """Returns a table as a LaTeX `table` environment with booktabs rules. `file_name`: the CSV file with the same
    table."""
    specs = []
    for index, (_, number) in enumerate(table.column_heads):
        wide = max((len(row[index]) for row in table.rows), default=0) > 40
        specs.append("r" if number else "p{0.3\\linewidth}" if wide else "l")
    title = escape_to_one_line(table.title).rstrip(".")
    footnote = "" if table.footnote in table.note else table.footnote
    caption = " ".join(filter(None, (f"{title}.", table.note, footnote)))
    lines = [
        r"% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}.",
        rf"% Include this table with \input{{{file_name}}}, refer to it with \ref{{{label}}}.",
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption[{{{escape_latex(title)}}}]{{{escape_latex(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{''.join(specs)}}}",
        r"\toprule",
        " & ".join(escape_latex(name) for name, _ in table.column_heads) + r" \\",
        r"\midrule",
        *(" & ".join(escape_latex(cell) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Returns the text on one line with all special characters of LaTeX escaped."""
    return "".join(_LATEX.get(char, char) for char in escape_to_one_line(text.replace("\n", " ")))
