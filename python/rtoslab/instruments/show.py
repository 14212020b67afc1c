"""Tables of plain values on a terminal."""

from rich.table import Table as RichTable

from rtoslab.base import TitledTable


def table_for_terminal(table: TitledTable, top: int | None = None) -> RichTable:
    """Returns a table, or its first rows, for the terminal. Columns of numbers are right-aligned."""
    shown = RichTable(title=table.title, title_justify="left")
    for index, name in enumerate(table.columns):
        cells = [str(row[index]) for row in table.rows if row[index] is not None]
        numbers = bool(cells) and all(map(is_numeric_table_text, cells))
        shown.add_column(name, justify="right" if numbers else "left", no_wrap=numbers, overflow="fold")
    for row in table.rows[:top]:
        shown.add_row(*("" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell for cell in row))
    return shown


def is_numeric_table_text(text: str) -> bool:
    """Whether a table's text is a number, or a dash for none."""
    return text == "-" or text.replace(",", "").replace(".", "", 1).lstrip("+-").isdigit()
