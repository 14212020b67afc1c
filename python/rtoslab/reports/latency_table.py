"""Latencies on the terminal: a line for each series and condition, medians by instrument, then the spread."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.table import Table

from rtoslab.analyses import Comparison, absences, comparisons, series_names
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.reports.deviations import deviating, marked
from rtoslab.reports.table import cycles_text
from rtoslab.results import Measured

WIDE: Final = 110
"""Characters a line must have for every column; a narrower one gets those without which the rest says nothing."""

_Cell = Callable[[Comparison], str]
_SPREAD: Final[tuple[tuple[str, bool, _Cell], ...]] = (
    ("n", False, lambda each: str(each.best.spread.n)),
    ("min", True, lambda each: cycles_text(each.best.spread.minimum)),
    ("p99", False, lambda each: cycles_text(each.best.spread.p99)),
    ("max", True, lambda each: cycles_text(each.best.spread.maximum)),
    ("at", False, lambda each: str(each.best.spread.maximum_at)),
    ("jitter", False, lambda each: cycles_text(each.best.spread.jitter)),
    ("us", True, lambda each: f"{each.best.us(each.best.spread.median):,.3f}"),
)
"""Head, whether it stands in a narrow table too, and what stands in it."""


def latency_table(measured: Sequence[Measured], width: int) -> Table:
    """The table for a terminal of `width` characters."""
    found = comparisons(measured)
    absent = absences(measured)
    together = series_names([*(each.point for each in found), *(each.point for each in absent)], with_cores=False)
    names = together[: len(found)]
    used = [name for name in INSTRUMENTS if any(name in each.by for each in found)]
    spread = [(head, cell) for head, narrow, cell in _SPREAD if narrow or width >= WIDE]
    table = Table(title="Latencies, cycles of the core's clock, the instrument's own cost subtracted")
    table.title_justify = "left"
    table.add_column("series")
    if any(together):
        table.add_column("run with")
    for head in (*used, *(head for head, _ in spread)):
        table.add_column(head, justify="right", no_wrap=True)
    kernels = deviating(measured)
    for each, name in zip(found, names, strict=True):
        medians = [cycles_text(each.by[one].spread.median) if one in each.by else "-" for one in used]
        named = [marked(name, kernels)] if any(together) else []
        table.add_row(each.title, *named, *medians, *(cell(each) for _, cell in spread))
    for gone, name in zip(absent, together[len(found) :], strict=True):
        named = [marked(name, kernels)] if any(together) else []
        table.add_row(gone.title, *named, *("n/a" for _ in used), *("-" for _ in spread))
    table.caption = f"{', '.join(used)}: medians; all else by the probe, else the counter; us: the median."
    table.caption_justify = "left"
    return table
