"""Markdown: the summary and every table; charts are left to the HTML report."""

from rtoslab.intake import escape_markdown, escape_paragraph
from rtoslab.reports.citation import Citation, citation_of
from rtoslab.reports.table import ReportDocument, TableData

SUFFIX = "md"


def render_report(document: ReportDocument) -> str:
    """Returns the report as Markdown. It has no charts."""
    lines = [f"# {escape_markdown(document.title)}", "", escape_paragraph(document.subtitle), ""]
    for section in document.shown_sections:
        if section.leads:
            lines += [line for text in section.prose for line in (escape_paragraph(text), "")]
    lines += [escape_paragraph(document.summary), ""]
    for section in document.shown_sections:
        if section.leads:
            continue
        lines += [f"## {escape_markdown(section.title)}", ""]
        for text in section.prose:
            lines += [escape_paragraph(text), ""]
        for table in section.tables:
            lines += [f"### {escape_markdown(table.title)}", "", *_table_markdown_lines(table), ""]
            if table.note:
                lines += [escape_paragraph(table.note), ""]
    return "\n".join([*lines, *_citation_markdown_lines(citation_of(document))]) + "\n"


def _citation_markdown_lines(citation: Citation) -> list[str]:
    """Returns the report's citation as lines of Markdown."""
    return [
        "## Cite this",
        "",
        escape_paragraph(citation.sentence),
        "",
        *("```bibtex", *citation.bibtex.splitlines(), "```"),
        "",
        escape_paragraph(citation.licence),
    ]


def _table_markdown_lines(table: TableData) -> list[str]:
    """Returns a table as lines of Markdown."""
    head = "| " + " | ".join(escape_markdown(name) for name, _ in table.column_heads) + " |"
    rule = "|" + "|".join("---:" if number else "---" for _, number in table.column_heads) + "|"
    return [
        head,
        rule,
        *("| " + " | ".join(map(escape_markdown, row)) + " |" for row in table.rows),
    ]
