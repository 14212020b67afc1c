"""One self-contained HTML file: no font, no link to anywhere, no script but our own; charts are inline SVG."""

import re

from markupsafe import Markup

from rtoslab.base import __version__, html_page_style_and_script, render_template
from rtoslab.reports.citation import citation_of
from rtoslab.reports.drawing import draw_chart_as_svg
from rtoslab.reports.table import ChartData, ReportDocument

SUFFIX = "html"
_GOOD = frozenset({"holds", "same", "better"})
_BAD = frozenset({"fails", "different", "worse"})
_BAND = re.compile(r" (\([^()]* to [^()]*\))")
_CODE = re.compile(r"`([^`]+)`")
_WAITING = ("n/a", "not yet measured", "not computed", "bring your own")


def render_report(document: ReportDocument) -> str:
    """Returns the report as an HTML page that needs no other file."""
    return render_template(
        "rtoslab.reports",
        "formats/templates/report.html.j2",
        document=document,
        citation=citation_of(document),
        page=html_page_style_and_script(),
        version=__version__,
        svg=_inline_svg,
        mood=_verdict_css_class,
        cell_text=_cell_as_html,
        sentences=_sentences_as_html,
    )


def _inline_svg(chart: ChartData) -> Markup:
    """Returns a chart as an SVG element, which a screen reader takes for an image with the caption as its name."""
    label = Markup.escape(chart.caption)
    text = draw_chart_as_svg(chart).replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return Markup(text)  # noqa: S704 (drawn by the charting library, which escapes the data)


def _cell_as_html(cell: str) -> Markup:
    """Returns a table's cell as HTML. A line may break before the range of a number, but not within it."""
    return Markup(_BAND.sub(r' <span class="band">\1</span>', str(Markup.escape(cell))))  # noqa: S704 (escaped)


def _sentences_as_html(text: str) -> Markup:
    """Returns sentences as HTML, with commands and names between backticks in the font of code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(Markup.escape(text))))  # noqa: S704 (escaped)


def _verdict_css_class(cell: str) -> str:
    """Returns the CSS class of a table's cell by the verdict in it: `good`, `bad` or `waiting`. Empty without a
    verdict."""
    if cell in _GOOD:
        return "good"
    if cell in _BAD or cell.startswith("failed"):
        return "bad"
    return "waiting" if cell.startswith(_WAITING) else ""
