"""Fits a table to the terminal's width without breaking words. Columns are narrowed first, then frame and margins
left out.

A cell that still finds no room is printed below its row, after the column's name."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, ConsoleRenderable
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_UNLIMITED: Final = 100_000
_GAPS: Final = (2, 1)
"""Blanks between columns without a frame. The widest that fits is used."""
_INDENT: Final = 4
"""Blanks before cells that are printed below their row."""
_WIDE: Final = 16
"""A column whose longest cell is shorter stays in the row while there are longer ones."""
_SQUEEZE: Final = 3
"""The most lines that a cell of a row takes, approximately."""


def fit_table_to_width(console: Console, table: Table) -> ConsoleRenderable:
    """Returns a table in the form that fits the console's width best: narrower columns, or no frame and some cells
    below their row."""
    if not table.columns:
        return table
    cells = [[_cell_text(console, cell) for cell in column.cells] for column in table.columns]
    heads = [_cell_text(console, column.header) for column in table.columns]
    columns = [_measure_column_widths(console, [head, *below]) for head, below in zip(heads, cells, strict=True)]
    whole = Measurement.get(console, console.options.update(max_width=_UNLIMITED), table).maximum
    room = console.width - (whole - sum(measurement.maximum for measurement in columns))
    if sum(measurement.maximum for measurement in columns) <= room:
        return table
    if sum(measurement.minimum for measurement in columns) <= room:
        for column, width in zip(table.columns, _column_widths(columns, room), strict=True):
            column.width, column.no_wrap = width, False  # or a head of several words is cut
        return table
    return _UnframedTable(table, heads, cells, columns)


class _UnframedTable:
    """A table for narrow terminals: rows without a frame, with the cells that do not fit below each row."""

    def __init__(
        self, table: Table, heads: Sequence[Text], cells: Sequence[Sequence[Text]], columns: Sequence[Measurement]
    ) -> None:
        """`heads`: the columns' names. `cells`: by column, then by row. `columns`: the least and the greatest width of
        each."""
        self._table = table
        self._heads = heads
        self._cells = cells
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yields the lines of the table, for Rich."""
        columns = self._columns_that_fit_width(options.max_width)
        gap = self._widest_gap_between_columns(columns, options.max_width)
        widths = _column_widths(
            [self._columns[column] for column in columns], options.max_width - gap * (len(columns) - 1)
        )
        if self._table.title:
            yield Text(str(self._table.title), style="italic")
        if self._table.show_header:
            heads = [self._heads[column].copy() for column in columns]
            for head in heads:
                head.stylize("bold")
            yield from self._render_table_row_lines(console, columns, heads, widths, gap)
            yield Text("━" * (sum(widths) + gap * (len(columns) - 1)))
        for row in range(self._table.row_count):
            yield from self._render_table_row_lines(
                console, columns, [self._cells[column][row] for column in columns], widths, gap
            )
            yield from self._render_cells_below_row(console, columns, row, options.max_width - _INDENT)

    def _columns_that_fit_width(self, width: int) -> list[int]:
        """Returns the numbers of the columns that fit into a row of this width.

        Those with the longest cells leave it first, except the first column.
        """
        columns = list(range(len(self._columns)))
        while self._minimum_width_of_columns(columns, _GAPS[-1]) > width and len(columns) > 1:
            wide = [column for column in columns[1:] if self._columns[column].maximum >= _WIDE]
            columns.remove(max(wide, key=lambda column: self._columns[column].maximum) if wide else columns[-1])
        while squeezed := self._find_too_narrow_column(columns, width):
            columns.remove(squeezed)
        return columns

    def _minimum_width_of_columns(self, columns: Sequence[int], gap: int) -> int:
        """Returns the width of these columns if each is only as wide as its longest word."""
        return sum(self._columns[column].minimum for column in columns) + gap * (len(columns) - 1)

    def _widest_gap_between_columns(self, columns: Sequence[int], width: int) -> int:
        """Returns the widest gap between these columns that leaves room for them in this width."""
        return next((gap for gap in _GAPS if self._minimum_width_of_columns(columns, gap) <= width), _GAPS[-1])

    def _find_too_narrow_column(self, columns: Sequence[int], width: int) -> int | None:
        """Returns a column of sentences whose lines have room for only a word or two. None if there is none. Never the
        first column."""
        chosen_columns = [self._columns[item] for item in columns]
        widths = _column_widths(
            chosen_columns, width - self._widest_gap_between_columns(columns, width) * (len(columns) - 1)
        )
        rows = zip(columns[1:], chosen_columns[1:], widths[1:], strict=True)
        return next((place for place, item, given in rows if item.maximum > _SQUEEZE * given), None)

    def _render_table_row_lines(
        self, console: Console, columns: Sequence[int], cells: Sequence[Text], widths: Sequence[int], gap: int
    ) -> Iterator[Text]:
        """Yields the lines of one row of the table. `cells`: those of the columns that stay in the row."""
        wrapped = [list(cell.wrap(console, width)) for cell, width in zip(cells, widths, strict=True)]
        for number in range(max(map(len, wrapped), default=0)):
            line = Text()
            for place, lines, width in zip(columns, wrapped, widths, strict=True):
                part = lines[number].copy() if number < len(lines) else Text()
                part.rstrip()
                part.align("right" if self._table.columns[place].justify == "right" else "left", width)
                line.append_text(part).append(" " * gap)
            line.rstrip()
            yield line

    def _render_cells_below_row(self, console: Console, columns: Sequence[int], row: int, width: int) -> Iterator[Text]:
        """Yields the lines below a row, with the cells that do not fit into it."""
        line = Text()
        for place, cells in enumerate(self._cells):
            if place in columns or not cells[row].plain:
                continue
            head = self._heads[place].plain
            cell = Text.assemble(f"{head}: " if head else "", cells[row])
            if line and len(line) + len(cell) + 2 > width:
                yield from _indent_lines(console, line, width)
                line = Text()
            line = Text("; ").join([line, cell]) if line else cell
        yield from _indent_lines(console, line, width)


def _indent_lines(console: Console, text: Text, width: int) -> Iterator[Text]:
    """Yields the lines of a text that is wrapped to this width, and indented."""
    for line in text.wrap(console, max(width, 1)) if text else ():
        line.rstrip()
        yield Text(" " * _INDENT).append_text(line)


def _cell_text(console: Console, cell: object) -> Text:
    """Returns a table's cell as Rich's text."""
    return cell if isinstance(cell, Text) else console.render_str(str(cell))


def _measure_column_widths(console: Console, cells: Sequence[Text]) -> Measurement:
    """Returns the widths of a table's column: that of its longest word, and that of its longest cell."""
    options = console.options.update(max_width=_UNLIMITED)
    measurements = [Measurement.get(console, options, cell) for cell in cells]
    return Measurement(
        max(measurement.minimum for measurement in measurements),
        max(measurement.maximum for measurement in measurements),
    )


def _column_widths(columns: Sequence[Measurement], room: int) -> list[int]:
    """Returns the widths of columns that fit into `room` together, in characters.

    The widest columns are narrowed first, and each keeps its longest word. A single one is cut to the room.
    """
    widths = [column.maximum for column in columns]
    while sum(widths) > room:
        free = [place for place, item in enumerate(columns) if widths[place] > item.minimum]
        if not free:
            break
        widths[max(free, key=lambda place: widths[place])] -= 1
    return [min(width, max(room, 1)) for width in widths]
