"""The tables of docs/ranking.md, made of the reference results.

cd python && python -m tests.doc_ranking    # writes them anew
"""

from collections.abc import Iterator
from typing import Final

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli.cmd_stability import code_placement_overview_of_papers
from rtoslab.reports import TableData
from tests.doc_parts import replace_part

ROOT: Final = find_checkout_root()
PAGE: Final = ROOT / "docs" / "ranking.md"
_PARTS: Final = ("pairs", "spreads", "builds")


def page(text: str) -> str:
    """The page with its parts written anew."""
    document = code_placement_overview_of_papers(Catalogue(ROOT))
    tables = {section.id: [line for table in section.tables for line in _lines(table)] for section in document.sections}
    text = replace_part(text, "summary", "tests.doc_ranking", [document.summary])
    for name in _PARTS:
        text = replace_part(text, name, "tests.doc_ranking", tables.get(name, ["Not measured yet."]))
    return text


def _lines(table: TableData) -> Iterator[str]:
    yield f"| {' | '.join(column.lstrip('>') for column in table.columns)} |"
    yield "|" + "".join("---:|" if column.startswith(">") else "---|" for column in table.columns)
    yield from (f"| {' | '.join(row)} |" for row in table.rows)
    yield ""


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
