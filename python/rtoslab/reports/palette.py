"""What all charts share: colours, width, order of names.

Colours are the Okabe-Ito set, told apart by readers with any colour vision; series also differ in shape or order.
"""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

SERIES_COLOURS: Final = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
WIDTH: Final = 840
Drawn = alt.LayerChart | alt.FacetChart


def order(rows: Sequence[dict[str, Any]], key: str) -> list[str]:
    """The distinct texts of a column, in the order of their first appearance."""
    return list(dict.fromkeys(str(row[key]) for row in rows))


def data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=[dict(row) for row in rows])


def colour(series: list[str]) -> alt.Color:
    """One colour per series, in their order; the colours repeat after the seventh."""
    colours = [SERIES_COLOURS[index % len(SERIES_COLOURS)] for index in range(len(series))]
    return alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=colours))


def bands(base: alt.Chart, rows: Sequence[dict[str, Any]], axis: str = "y") -> list[alt.Chart]:
    """A line from `low` to `high` at the mark of each row that has them; no layer where none has."""
    if not any(row.get("low") != row.get("high") for row in rows):
        return []
    place = base.encoding[axis].copy()
    place.shorthand = "low:Q"
    lines = base.transform_filter("isValid(datum.low) && datum.low != datum.high").mark_rule(
        color="#333", strokeWidth=2, opacity=0.7
    )
    return [lines.encode(**{axis: place, f"{axis}2": "high:Q"})]
