"""The terminal: prints text as it is. No external name is taken for markup, an emoji or a control code."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rtoslab.cli.table_width import fit_table_to_width
from rtoslab.intake import escape_unprintable


class PlainConsole(Console):
    """Rich's console without its markup, so that text is printed as it is. `colour_text` gives a text a colour."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def print(self, *shown: Any, **options: Any) -> None:
        """Prints objects. Tables are fitted to the terminal's width without breaking words."""
        super().print(
            *(fit_table_to_width(self, item) if isinstance(item, Table) else item for item in shown), **options
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """Returns a string as Rich's text, with escapes for characters that cannot be printed. Also used for a table's
        cells."""
        return super().render_str(escape_unprintable(text), **options)


def colour_text(text: str, style: str) -> Text:
    """Returns the text in a style of Rich, such as a colour."""
    return Text(escape_unprintable(text), style=style)


def path_from_working_directory(folder: Path) -> Path:
    """Returns the path relative to the working directory if it is in it. Otherwise it is unchanged."""
    try:
        return folder.resolve().relative_to(Path.cwd())
    except ValueError:
        return folder
