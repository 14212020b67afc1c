"""The table of latencies on a terminal: a row for each series and condition, medians by instrument, the spread."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Final

from rich.table import Table

from rtoslab.analyses import (
    PlacementBand,
    PlacementLookup,
    SeriesLatency,
    absent_series,
    distinct_point_names,
    latencies_by_instrument,
)
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.reports.deviations import declared_deviations, mark_deviating_names
from rtoslab.reports.table import cycle_count_text, figure_with_band_text
from rtoslab.results import MeasuredPoint

WIDE: Final = 110
"""Characters that a line needs for every column. A narrower table has the most important ones."""

_FormatCell = Callable[[SeriesLatency, Callable[[str], PlacementBand]], str]
"""Formats a cell from the series of the best instrument and a function that returns its figures by name."""
_SPREAD: Final[tuple[tuple[str, bool, _FormatCell], ...]] = (
    ("n", False, lambda best, _: str(best.spread.n)),
    ("min", True, lambda _, of: figure_with_band_text(of("minimum"), cycle_count_text)),
    ("p99", False, lambda _, of: figure_with_band_text(of("p99"), cycle_count_text)),
    ("max", True, lambda _, of: figure_with_band_text(of("maximum"), cycle_count_text)),
    ("at", False, lambda _, of: figure_with_band_text(of("maximum_at"), "{:.0f}".format)),
    ("jitter", False, lambda _, of: figure_with_band_text(of("jitter"), cycle_count_text)),
    (
        "us",
        True,
        lambda best, of: figure_with_band_text(of("median"), lambda cycles: f"{best.to_microseconds(cycles):,.3f}"),
    ),
)
"""Head, whether a narrow table has the column too, and its cells."""


def make_latency_table(measured: Sequence[MeasuredPoint], places: PlacementLookup, width: int) -> Table:
    """Returns a table of latencies for a terminal. `width`: its characters in a line. A narrow one gets fewer
    columns."""
    compared = latencies_by_instrument(measured)
    absent = absent_series(measured)
    together = distinct_point_names(
        [*(comparison.point for comparison in compared), *(absence.point for absence in absent)], with_cores=False
    )
    names = together[: len(compared)]
    used = [name for name in INSTRUMENTS if any(name in comparison.by_instrument for comparison in compared)]
    spread = [(head, cell) for head, narrow, cell in _SPREAD if narrow or width >= WIDE]
    table = Table(title="Latencies, cycles of the core's clock, the instrument's own cost subtracted")
    table.title_justify = "left"
    table.add_column("series")
    if any(together):
        table.add_column("run with")
    for head in (*used, *(head for head, _ in spread)):
        table.add_column(head, justify="right", no_wrap=not places.has_several_placements)
    kernels = declared_deviations(measured)
    for pair, name in zip(compared, names, strict=True):
        of = partial(_figure_band, pair.by_least_disturbing_instrument, places)
        medians = [_median_with_range_text(pair.by_instrument.get(one), places) for one in used]
        where = [mark_deviating_names(name, kernels)] if any(together) else []
        table.add_row(
            pair.title, *where, *medians, *(cell(pair.by_least_disturbing_instrument, of) for _, cell in spread)
        )
    for gone, name in zip(absent, together[len(compared) :], strict=True):
        where = [mark_deviating_names(name, kernels)] if any(together) else []
        table.add_row(gone.title, *where, *("n/a" for _ in used), *("-" for _ in spread))
    table.caption = f"{', '.join(used)}: medians. All other columns: by the probe, else the counter. us: the median."
    table.caption_justify = "left"
    return table


def _median_with_range_text(latency: SeriesLatency | None, places: PlacementLookup) -> str:
    """Returns the median of a series in cycles, with its range over placements of the code, as text. A dash for
    None."""
    return "-" if latency is None else figure_with_band_text(_figure_band(latency, places, "median"), cycle_count_text)


def _figure_band(latency: SeriesLatency, places: PlacementLookup, name: str) -> PlacementBand:
    """Returns the statistic `name` of a series of latencies, with its range over placements of the code."""
    return places.series_band(latency, attrgetter(f"spread.{name}"))
