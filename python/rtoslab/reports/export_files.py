r"""Every chart of a report as SVG, every table as CSV and as LaTeX (booktabs), one file each, for a thesis or a sheet.

The LaTeX files are `tabular` environments to be read with `\input`; they need the package booktabs.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from rtoslab.base import disk_error, write_whole
from rtoslab.intake import one_line, sheet
from rtoslab.reports.deviations import MARK
from rtoslab.reports.drawing import drawn_alone
from rtoslab.reports.table import Document, TableData

_OURS = re.compile(r"[\w.-]*-figure\d+\.svg|[\w.-]*-table\d+-[a-z0-9-]*\.(csv|tex)|deviations\.txt")
"""Names of the files of an export: no other is removed from a folder."""
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "\N{MICRO SIGN}": r"\textmu{}", "\N{GREEK SMALL LETTER MU}": r"\textmu{}",
    "\N{MULTIPLICATION SIGN}": r"$\times$", "\N{MIDDLE DOT}": r"$\cdot$", "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{EN DASH}": "--", "\N{EM DASH}": "---", "\N{MINUS SIGN}": "$-$", "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$", "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{ALMOST EQUAL TO}": r"$\approx$", "\n": " ", MARK: r"\dag{}",
}  # fmt: skip


def export(document: Document, folder: Path) -> list[Path]:
    """Writes all files, replacing those of an earlier export; same document, same bytes. Raises StoreError."""
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if _OURS.fullmatch(old.name):
                old.unlink()
        for name, text in files(document):
            write_whole(folder / name, text, "the export")
            written.append(folder / name)
    except OSError as cause:
        raise disk_error("export to", folder, cause) from None
    return written


def files(document: Document) -> Iterator[tuple[str, str]]:
    """(file name, content) of every chart and table, in the report's order; and what the mark on kernels means, for
    tables that have no place to say it."""
    for section in document.sections:
        for number, chart in enumerate(section.charts, start=1):
            yield f"{section.id}-figure{number}.svg", drawn_alone(chart) + "\n"
        for number, table in enumerate(section.tables, start=1):
            stem = f"{section.id}-table{number}-{slug(table.title)}"
            yield f"{stem}.csv", to_csv(table)
            yield f"{stem}.tex", to_latex(table)
    noted = (each.footnote for section in document.sections for each in section.tables)
    if explained := next(filter(None, noted), ""):
        yield "deviations.txt", f"{explained}\n"


def slug(title: str) -> str:
    """A title as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].rstrip("-")


def to_csv(table: TableData) -> str:
    """The table as it is read in the report."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([sheet(name) for name, _ in table.heads])
    writer.writerows([sheet(cell) for cell in row] for row in table.rows)
    return out.getvalue()


def to_latex(table: TableData) -> str:
    """A booktabs `tabular`; numbers to the right, long texts in columns that wrap."""
    specs = []
    for index, (_, number) in enumerate(table.heads):
        wide = max((len(row[index]) for row in table.rows), default=0) > 40
        specs.append("r" if number else "p{0.3\\linewidth}" if wide else "l")
    note = table.footnote
    below = rf"\multicolumn{{{len(specs)}}}{{p{{0.9\linewidth}}}}{{\footnotesize {latex(note)}}} \\"
    lines = [
        f"% {one_line(table.title)}",
        rf"\begin{{tabular}}{{{''.join(specs)}}}",
        r"\toprule",
        " & ".join(latex(name) for name, _ in table.heads) + r" \\",
        r"\midrule",
        *(" & ".join(latex(cell) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        *([below] if note else []),
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Text with every character that LaTeX takes for something else escaped."""
    return "".join(_LATEX.get(char, char) for char in one_line(text.replace("\n", " ")))
