"""The door to `charts`, whose libraries are heavy: an extra of the package, loaded as the first chart is drawn."""

import re
import textwrap
from typing import Final
from xml.sax.saxutils import escape

from rtoslab.base import from_extra
from rtoslab.reports.table import ChartData


def draw(chart: ChartData) -> str:
    """A chart as SVG. Raises ToolMissingError where the extra `report` is not installed."""
    with from_extra("report", "a report with charts"):
        from rtoslab.reports.charts import svg  # noqa: PLC0415 (altair takes a third of the time that a command starts in)

    return svg(chart)


def pdf_of(drawing: str) -> bytes:
    """Returns a chart's SVG as a PDF page of its size, with text as text. Raises ToolMissingError as `drawn` does."""
    with from_extra("report", "a report with charts"):
        from rtoslab.reports.charts import pdf  # noqa: PLC0415 (see above)

    return pdf(drawing)


_SIZE: Final = re.compile(r'width="(\d+)" height="(\d+)"')
_LINE: Final = 16
"""Pixels from one line of a note to the next."""
_LETTER: Final = 6
"""Pixels that a letter of it is wide, at most of most."""


def draw_for_file(chart: ChartData) -> str:
    """The same for a file of its own: where kernels are marked, what the mark means stands below."""
    text, note = draw(chart), chart.footnote
    size = _SIZE.search(text)
    if not note or size is None:
        return text
    width, height = int(size[1]), int(size[2])
    lines = textwrap.wrap(note, max(20, (width - 2 * _LINE) // _LETTER))
    taller = height + _LINE * (len(lines) + 1)
    below = "".join(
        f'<text x="{_LINE}" y="{height + _LINE * number}" font-family="Arial, Liberation Sans, sans-serif" '
        f'font-size="11">{escape(line)}</text>'
        for number, line in enumerate(lines, start=1)
    )
    for before, now in (
        (f'width="{width}" height="{height}"', f'width="{width}" height="{taller}"'),
        (f'viewBox="0 0 {width} {height}"', f'viewBox="0 0 {width} {taller}"'),
    ):
        text = text.replace(before, now)
    return f"{text.removesuffix('</svg>')}{below}</svg>"
