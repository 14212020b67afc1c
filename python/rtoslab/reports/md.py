"""Markdown: the summary and every table; charts are left to the HTML report."""

from rtoslab.reports.document import Document
from rtoslab.reports.table import TableData

SUFFIX = "md"


def render(document: Document) -> str:
    """The whole text."""
    lines = [f"# {document.title}", "", document.subtitle, "", document.summary, ""]
    for section in document.sections:
        lines += [f"## {section.title}", ""]
        for text in section.prose:
            lines += [text, ""]
        for table in section.tables:
            lines += [f"### {table.title}", "", *_table(table), ""]
            if table.note:
                lines += [table.note, ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(table: TableData) -> list[str]:
    head = "| " + " | ".join(name for name, _ in table.heads) + " |"
    rule = "|" + "|".join("---:" if number else "---" for _, number in table.heads) + "|"
    return [
        head,
        rule,
        *("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in table.rows),
    ]
