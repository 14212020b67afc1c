"""Markdown: the summary and every table; charts are left to the HTML report."""

from rtoslab.intake import markdown, paragraph
from rtoslab.reports.citation import Citation, citation_of
from rtoslab.reports.table import Document, TableData

SUFFIX = "md"


def render(document: Document) -> str:
    """Returns the text."""
    lines = [f"# {markdown(document.title)}", "", paragraph(document.subtitle), ""]
    for section in document.shown_sections:
        if section.leads:
            lines += [line for text in section.prose for line in (paragraph(text), "")]
    lines += [paragraph(document.summary), ""]
    for section in document.shown_sections:
        if section.leads:
            continue
        lines += [f"## {markdown(section.title)}", ""]
        for text in section.prose:
            lines += [paragraph(text), ""]
        for table in section.tables:
            lines += [f"### {markdown(table.title)}", "", *_table_lines(table), ""]
            if table.note:
                lines += [paragraph(table.note), ""]
    return "\n".join([*lines, *_citation_lines(citation_of(document))]) + "\n"


def _citation_lines(citation: Citation) -> list[str]:
    return [
        "## Cite this",
        "",
        paragraph(citation.sentence),
        "",
        *("```bibtex", *citation.bibtex.splitlines(), "```"),
        "",
        paragraph(citation.licence),
    ]


def _table_lines(table: TableData) -> list[str]:
    head = "| " + " | ".join(markdown(name) for name, _ in table.heads) + " |"
    rule = "|" + "|".join("---:" if number else "---" for _, number in table.heads) + "|"
    return [
        head,
        rule,
        *("| " + " | ".join(map(markdown, row)) + " |" for row in table.rows),
    ]
