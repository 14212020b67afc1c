"""Loads `charts` with the first chart, because its libraries are heavy. They are an extra of the package."""

import re
import textwrap
from typing import Final
from xml.sax.saxutils import escape

from rtoslab.base import guard_optional_package_imports
from rtoslab.reports.table import ChartData


def draw_chart_as_svg(chart: ChartData) -> str:
    """Returns a chart as SVG. Raises ToolMissingError if the extra `report` of the package is not installed."""
    with guard_optional_package_imports("report", "a report with charts"):
        from rtoslab.reports.charts import render_svg  # noqa: PLC0415 (altair takes a third of the time that a command starts in)

    return render_svg(chart)


def convert_to_pdf(drawing: str) -> bytes:
    """Returns a chart's SVG as a PDF page of the same size, in which text stays text. Raises ToolMissingError as
    `draw_chart_as_svg` does."""
    with guard_optional_package_imports("report", "a report with charts"):
        from rtoslab.reports.charts import convert_to_pdf  # noqa: PLC0415 (see above)

    return convert_to_pdf(drawing)


_SIZE: Final = re.compile(r'width="(\d+)" height="(\d+)"')
_LINE: Final = 16
"""Pixels from one line of a note to the next."""
_LETTER: Final = 6
"""The width of most of a note's letters, in pixels."""


def draw_chart_with_footnote(chart: ChartData) -> str:
    """Returns a chart as SVG for a file of its own. If a mark is on deviating kernels, a footnote below explains it."""
    text, note = draw_chart_as_svg(chart), chart.footnote
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
