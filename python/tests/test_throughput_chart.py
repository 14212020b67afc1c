"""Where the throughput chart puts its numbers: on sides of their marks where they do not run into each other."""

import re
from itertools import pairwise

import pytest

from rtoslab.reports.charts import svg
from rtoslab.reports.table import ChartData

SERIES = ("a", "b", "c", "d")


def heights(rates: tuple[int, ...]) -> list[float]:
    """Of each number, in pixels from the top of the chart, as drawn."""
    rows = [{"test": "T", "series": series, "rate": rate} for series, rate in zip(SERIES, rates, strict=False)]
    rows += [{"test": "U", "series": "a", "rate": rate} for rate in (10_000, 1_000_000)]
    drawn = svg(ChartData("throughput", rows, ""))
    number = r'<text[^>]*translate\([\d.]+,([-\d.]+)\)[^>]*font-size="10px"[^>]*>([\d.]+k)</text>'
    by_number = {text: float(height) for height, text in re.findall(number, drawn)}
    return [by_number[f"{rate // 1000}k"] for rate in rates]


@pytest.mark.parametrize(
    "rates",
    [(514_000, 367_000, 391_000, 477_000), (154_000, 94_000, 99_000), (110_000, 113_000), (637_000, 334_000, 230_000)],
)
def test_numbers_beside_each_other_are_apart(rates: tuple[int, ...]) -> None:
    drawn = heights(rates)
    assert all(abs(one - other) >= 9 for one, other in pairwise(drawn)), drawn


def test_where_there_is_room_they_are_above() -> None:
    high, low = heights((900_000, 20_000))
    assert high < 300 * (1 - 1.954 / 2)
    assert low < 300 * (1 - 0.301 / 2)
