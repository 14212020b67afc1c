"""The common parts of all charts: colours, width, order of names, names that wrap.

Colours are the Okabe-Ito set, told apart by readers with any colour vision. A kernel has its own colour in every chart.
Other differences (cores, configuration) are lighter and lighter. Series also differ in shape or order."""

import json
import re
import textwrap
import zlib
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

SERIES_COLOURS: Final = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
PUBLISHED: Final = "paper"
"""The series of values that a paper prints. So is a row with `published`."""
PUBLISHED_COLOUR: Final = "#000000"
WIDTH: Final = 840
_LETTER: Final = 0.56
"""Width of a letter of Arial, of its size."""
_LIGHTEST: Final = 0.65
"""How much white the lightest series of a kernel has."""
Drawn = alt.LayerChart | alt.FacetChart | alt.VConcatChart


def order(rows: Sequence[dict[str, Any]], key: str) -> list[str]:
    """The distinct texts of a column, in the order of their first appearance."""
    return list(dict.fromkeys(str(row[key]) for row in rows))


def data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=[dict(row) for row in rows])


def is_published(row: dict[str, Any]) -> bool:
    """Whether a row is what a paper prints: it gets a mark of its own, above all others."""
    return bool(row.get("published")) or row.get("series") == PUBLISHED


def series_colours(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """One colour per series: of its kernel, where rows name one; a kernel's further series are lighter. Else in their
    order, and again from the first after the seventh."""
    kernels: dict[str, str] = {}
    for row in rows:
        kernels.setdefault(str(row["series"]), str(row.get("kernel") or ""))
    published = set(kernels) - {str(row["series"]) for row in rows if not is_published(row)}
    own = [item for item in kernels if item not in published]
    if all(kernels[item] for item in own):
        hues = _hues(list(dict.fromkeys(kernels[item] for item in own)))
    else:
        kernels.update({item: item for item in own})
        hues = {item: SERIES_COLOURS[place % len(SERIES_COLOURS)] for place, item in enumerate(own)}
    colours = {}
    for item, kernel in kernels.items():
        alike = [other for other in own if kernels[other] == kernel]
        if item in published:
            colours[item] = PUBLISHED_COLOUR
        else:
            share = _LIGHTEST * alike.index(item) / max(1, len(alike) - 1)
            colours[item] = _lighter(hues[kernel], share)
    return colours


def _preferred_colour(kernel: str) -> str:
    """Returns the colour that a kernel has in every chart in which no other kernel has it: by its name's first word."""
    name = re.split(r"[ ,(]", kernel.lower())[0]
    return SERIES_COLOURS[zlib.crc32(name.encode()) % len(SERIES_COLOURS)]


def _hues(kernels: Sequence[str]) -> dict[str, str]:
    """Each kernel's own colour where it is free. Others take the next free one."""
    hues: dict[str, str] = {}
    for kernel in kernels:
        if _preferred_colour(kernel) not in hues.values():
            hues[kernel] = _preferred_colour(kernel)
    free = [series_colour for series_colour in SERIES_COLOURS if series_colour not in hues.values()]
    others = [kernel for kernel in kernels if kernel not in hues]
    for number, item in enumerate(others):
        hues[item] = (free or SERIES_COLOURS)[number % len(free or SERIES_COLOURS)]
    return hues


def _lighter(colour: str, share: float) -> str:
    """A colour with a share of white in it."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * share):02X}" for part in parts)


def colour(rows: Sequence[dict[str, Any]], *, legend: bool = True) -> alt.Color:
    """The colours of `series_colours` with their legend. A chart of one series has none."""
    colours = series_colours(rows)
    columns = _columns(list(colours)) if colours else 1
    limit = WIDTH // columns - 24
    shown = alt.Legend(columns=columns, labelLimit=limit, symbolOpacity=1) if legend and len(colours) > 1 else None
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("series:N", sort=list(colours), scale=scale, legend=shown)


def _columns(names: Sequence[str]) -> int:
    """How many entries of a legend are beside each other."""
    widest = max(map(len, names)) * 12 * _LETTER + 34
    return max(1, min(len(names), int(WIDTH // widest)))


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in pixels."""
    return len(text) * size * _LETTER


def line_count(names: Sequence[str], pixels: float, size: float = 12) -> int:
    """Into how many lines the longest of names is broken."""
    return max((len(_lines(name, _letters(pixels, size))) for name in names), default=1)


def wrap_expression(names: Sequence[str], pixels: float, size: float = 12) -> str:
    """The expression of an axis or a header that breaks its names into lines of so many pixels."""
    lines = {name: _lines(name, _letters(pixels, size)) for name in names}
    return f"({json.dumps(lines, ensure_ascii=False)})[datum.label]"


def _letters(pixels: float, size: float) -> int:
    return max(6, int(pixels / (size * _LETTER)))


def _lines(name: str, letters: int) -> list[str]:
    return textwrap.wrap(name, letters, break_long_words=False) or [name]


def bands(base: alt.Chart, rows: Sequence[dict[str, Any]], axis: str = "y") -> list[alt.Chart]:
    """A line from `low` to `high` at the mark of each row that has them. No layer where none has."""
    if not any(row.get("low") != row.get("high") for row in rows):
        return []
    place = base.encoding[axis].copy()
    place.shorthand = "low:Q"
    lines = base.transform_filter("isValid(datum.low) && datum.low != datum.high").mark_rule(
        color="#333", strokeWidth=2, opacity=0.7
    )
    return [lines.encode(**{axis: place, f"{axis}2": "high:Q"})]
