"""The common parts of all charts: colours, width, order of names, names that wrap.

Colours are the Okabe-Ito set, which readers with any colour vision can distinguish. A kernel has its own colour in
every chart. Its further series (cores, configuration) are lighter and lighter. Series also differ in shape or order."""

import json
import re
import textwrap
import zlib
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

SERIES_COLOURS: Final = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
PUBLISHED: Final = "paper"
"""The series of a paper's values. A row with `published` is one, too."""
PUBLISHED_COLOUR: Final = "#000000"
WIDTH: Final = 840
_LETTER: Final = 0.56
"""The mean width of a letter of Arial, as a part of its size."""
_LIGHTEST: Final = 0.65
"""The share of white in the lightest series of a kernel."""
Drawn = alt.LayerChart | alt.FacetChart | alt.VConcatChart


def distinct_row_texts(rows: Sequence[dict[str, Any]], key: str) -> list[str]:
    """Returns the distinct texts that the rows have under a key, in the order of their first appearance."""
    return list(dict.fromkeys(str(row[key]) for row in rows))


def make_inline_chart_data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Returns rows as the data of a Vega chart, which are part of the chart itself."""
    return alt.InlineData(values=[dict(row) for row in rows])


def is_published_value(row: dict[str, Any]) -> bool:
    """Whether a chart's row is a paper's value. It gets a mark of its own above all others."""
    return bool(row.get("published")) or row.get("series") == PUBLISHED


def series_colours(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Returns a colour for each series of a chart: that of its kernel, lighter for further series of the kernel.

    Without kernels in the rows colours go by order, and begin again after the seventh series.
    """
    kernels: dict[str, str] = {}
    for row in rows:
        kernels.setdefault(str(row["series"]), str(row.get("kernel") or ""))
    published = set(kernels) - {str(row["series"]) for row in rows if not is_published_value(row)}
    own = [item for item in kernels if item not in published]
    if all(kernels[item] for item in own):
        hues = _kernel_colours(list(dict.fromkeys(kernels[item] for item in own)))
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
            colours[item] = _lighten_colour(hues[kernel], share)
    return colours


def _preferred_colour(kernel: str) -> str:
    """Returns the colour that a kernel has in every chart where no other kernel has taken it. It depends on the name
    only."""
    name = re.split(r"[ ,(]", kernel.lower())[0]
    return SERIES_COLOURS[zlib.crc32(name.encode()) % len(SERIES_COLOURS)]


def _kernel_colours(kernels: Sequence[str]) -> dict[str, str]:
    """Returns a colour for each kernel: its preferred one if that is free, else the next free one."""
    hues: dict[str, str] = {}
    for kernel in kernels:
        if _preferred_colour(kernel) not in hues.values():
            hues[kernel] = _preferred_colour(kernel)
    free = [series_colour for series_colour in SERIES_COLOURS if series_colour not in hues.values()]
    others = [kernel for kernel in kernels if kernel not in hues]
    for number, item in enumerate(others):
        hues[item] = (free or SERIES_COLOURS)[number % len(free or SERIES_COLOURS)]
    return hues


def _lighten_colour(colour: str, share: float) -> str:
    """Returns a colour (`#RRGGBB`) mixed with white. `share`: the part of white, from 0 to 1."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * share):02X}" for part in parts)


def series_colour_encoding(rows: Sequence[dict[str, Any]], *, legend: bool = True) -> alt.Color:
    """Returns the Vega encoding that gives each series of a chart its colour, with a legend if there are several
    series."""
    colours = series_colours(rows)
    columns = _legend_columns(list(colours)) if colours else 1
    limit = WIDTH // columns - 24
    shown = alt.Legend(columns=columns, labelLimit=limit, symbolOpacity=1) if legend and len(colours) > 1 else None
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("series:N", sort=list(colours), scale=scale, legend=shown)


def _legend_columns(names: Sequence[str]) -> int:
    """Returns into how many columns the names of a chart's legend fit."""
    widest = max(map(len, names)) * 12 * _LETTER + 34
    return max(1, min(len(names), int(WIDTH // widest)))


def estimate_text_width(text: str, size: float) -> float:
    """Returns about how many pixels wide a text is in a font of `size` pixels."""
    return len(text) * size * _LETTER


def wrapped_line_count(names: Sequence[str], pixels: float, size: float = 12) -> int:
    """Returns the largest number of lines that one of the names takes when wrapped within `pixels`. `size`: of the
    font, in pixels."""
    return max(
        (len(_wrap_name_into_lines(name, _count_letters_fitting_width(pixels, size))) for name in names), default=1
    )


def label_wrap_expression(names: Sequence[str], pixels: float, size: float = 12) -> str:
    """Returns the Vega expression by which an axis or heading wraps its names within `pixels`. `size`: of the font, in
    pixels."""
    lines = {name: _wrap_name_into_lines(name, _count_letters_fitting_width(pixels, size)) for name in names}
    return f"({json.dumps(lines, ensure_ascii=False)})[datum.label]"


def _count_letters_fitting_width(pixels: float, size: float) -> int:
    """Returns how many letters of a font of `size` pixels fit into a width. The least answer is six."""
    return max(6, int(pixels / (size * _LETTER)))


def _wrap_name_into_lines(name: str, letters: int) -> list[str]:
    """Returns a name as lines of at most `letters` letters. Words are never broken."""
    return textwrap.wrap(name, letters, break_long_words=False) or [name]


def value_range_chart_layers(base: alt.Chart, rows: Sequence[dict[str, Any]], axis: str = "y") -> list[alt.Chart]:
    """Returns the chart layer with a line from `low` to `high` at each mark, along this axis. Empty if no row has
    them."""
    if not any(row.get("low") != row.get("high") for row in rows):
        return []
    place = base.encoding[axis].copy()
    place.shorthand = "low:Q"
    lines = base.transform_filter("isValid(datum.low) && datum.low != datum.high").mark_rule(
        color="#333", strokeWidth=2, opacity=0.7
    )
    return [lines.encode(**{axis: place, f"{axis}2": "high:Q"})]
