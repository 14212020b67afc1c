"""A table in the terminal's width, every word of it whole: columns are narrowed, then frame and margins left out, and
what still finds no room stands below its row, with the column's name before it."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, ConsoleRenderable
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_UNLIMITED: Final = 100_000
_GAPS: Final = (2, 1)
"""Blanks between columns without a frame: as many as there is room for."""
_INDENT: Final = 4
"""Before what stands below its row."""
_WIDE: Final = 16
"""A column whose longest cell is shorter stays in the row while there are others."""
_SQUEEZE: Final = 3
"""No cell of a row takes more lines than about this."""


def fitted(console: Console, table: Table) -> ConsoleRenderable:
    """The table as it is if it fits, or what comes nearest to it in the console's width."""
    if not table.columns:
        return table
    cells = [[_text(console, cell) for cell in column.cells] for column in table.columns]
    heads = [_text(console, column.header) for column in table.columns]
    columns = [_measured(console, [head, *below]) for head, below in zip(heads, cells, strict=True)]
    whole = Measurement.get(console, console.options.update(max_width=_UNLIMITED), table).maximum
    room = console.width - (whole - sum(measurement.maximum for measurement in columns))
    if sum(measurement.maximum for measurement in columns) <= room:
        return table
    if sum(measurement.minimum for measurement in columns) <= room:
        for column, width in zip(table.columns, _widths(columns, room), strict=True):
            column.width, column.no_wrap = width, False  # or a head of several words is cut
        return table
    return _Unframed(table, heads, cells, columns)


class _Unframed:
    """The rows without a frame, with what has no room below each."""

    def __init__(
        self, table: Table, heads: Sequence[Text], cells: Sequence[Sequence[Text]], columns: Sequence[Measurement]
    ) -> None:
        self._table = table
        self._heads = heads
        self._cells = cells
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        kept = self._kept(options.max_width)
        gap = self._gap(kept, options.max_width)
        widths = _widths([self._columns[each] for each in kept], options.max_width - gap * (len(kept) - 1))
        if self._table.title:
            yield Text(str(self._table.title), style="italic")
        if self._table.show_header:
            heads = [self._heads[each].copy() for each in kept]
            for head in heads:
                head.stylize("bold")
            yield from self._lines(console, kept, heads, widths, gap)
            yield Text("━" * (sum(widths) + gap * (len(kept) - 1)))
        for row in range(self._table.row_count):
            yield from self._lines(console, kept, [self._cells[each][row] for each in kept], widths, gap)
            yield from self._below(console, kept, row, options.max_width - _INDENT)

    def _kept(self, width: int) -> list[int]:
        """The columns that stay in the row: those with the longest cells leave it first, but for the first column."""
        kept = list(range(len(self._columns)))
        while self._least(kept, _GAPS[-1]) > width and len(kept) > 1:
            wide = [each for each in kept[1:] if self._columns[each].maximum >= _WIDE]
            kept.remove(max(wide, key=lambda each: self._columns[each].maximum) if wide else kept[-1])
        while squeezed := self._squeezed(kept, width):
            kept.remove(squeezed)
        return kept

    def _least(self, kept: Sequence[int], gap: int) -> int:
        return sum(self._columns[each].minimum for each in kept) + gap * (len(kept) - 1)

    def _gap(self, kept: Sequence[int], width: int) -> int:
        return next((gap for gap in _GAPS if self._least(kept, gap) <= width), _GAPS[-1])

    def _squeezed(self, kept: Sequence[int], width: int) -> int | None:
        """A column of sentences that has room for a word or two a line, if there is one; not the first."""
        found = [self._columns[each] for each in kept]
        widths = _widths(found, width - self._gap(kept, width) * (len(kept) - 1))
        rows = zip(kept[1:], found[1:], widths[1:], strict=True)
        return next((place for place, each, given in rows if each.maximum > _SQUEEZE * given), None)

    def _lines(
        self, console: Console, kept: Sequence[int], cells: Sequence[Text], widths: Sequence[int], gap: int
    ) -> Iterator[Text]:
        """One row, on as many lines as its highest cell."""
        wrapped = [list(cell.wrap(console, width)) for cell, width in zip(cells, widths, strict=True)]
        for number in range(max(map(len, wrapped), default=0)):
            line = Text()
            for place, lines, width in zip(kept, wrapped, widths, strict=True):
                part = lines[number].copy() if number < len(lines) else Text()
                part.rstrip()
                part.align("right" if self._table.columns[place].justify == "right" else "left", width)
                line.append_text(part).append(" " * gap)
            line.rstrip()
            yield line

    def _below(self, console: Console, kept: Sequence[int], row: int, width: int) -> Iterator[Text]:
        """What has no room in the row: as many cells on a line as it holds, a long one on several."""
        said = Text()
        for place, cells in enumerate(self._cells):
            if place in kept or not cells[row].plain:
                continue
            head = self._heads[place].plain
            cell = Text.assemble(f"{head}: " if head else "", cells[row])
            if said and len(said) + len(cell) + 2 > width:
                yield from _indented(console, said, width)
                said = Text()
            said = Text("; ").join([said, cell]) if said else cell
        yield from _indented(console, said, width)


def _indented(console: Console, text: Text, width: int) -> Iterator[Text]:
    for line in text.wrap(console, max(width, 1)) if text else ():
        line.rstrip()
        yield Text(" " * _INDENT).append_text(line)


def _text(console: Console, cell: object) -> Text:
    return cell if isinstance(cell, Text) else console.render_str(str(cell))


def _measured(console: Console, cells: Sequence[Text]) -> Measurement:
    options = console.options.update(max_width=_UNLIMITED)
    found = [Measurement.get(console, options, cell) for cell in cells]
    return Measurement(
        max(measurement.minimum for measurement in found), max(measurement.maximum for measurement in found)
    )


def _widths(columns: Sequence[Measurement], room: int) -> list[int]:
    """The widest columns give way first, and each keeps its longest word; a single one keeps within the room."""
    widths = [column.maximum for column in columns]
    while sum(widths) > room:
        free = [place for place, each in enumerate(columns) if widths[place] > each.minimum]
        if not free:
            break
        widths[max(free, key=lambda place: widths[place])] -= 1
    return [min(width, max(room, 1)) for width in widths]
