"""One operation by iteration count, counter, pin and probe."""

from collections.abc import Mapping, Sequence

from rtoslab.analyses import (
    ALL_INSTRUMENTS,
    CodePlacementLookup,
    InstrumentComparison,
    compare_instruments,
    distinct_point_names,
)
from rtoslab.reports.table import (
    ChartData,
    ReportSection,
    TableData,
    chart_range_ends,
    cycle_count_text,
    measured_value_with_range_text,
)
from rtoslab.results import MeasuredPoint

_PROSE = (
    "The duration of the same calls, measured in four ways. Iterations: the cycles of the window divided by its "
    "counts, minus the empty loop. This includes the checks of results and the kernel's ticks. Counter and pin: the "
    "median minus the median of an empty interval in the same image. Probe: the virtual board measures from outside, "
    "at no cost. The difference between another way and the probe is the probe effect."
)


def probe_effect_section(
    points: Sequence[MeasuredPoint], places: CodePlacementLookup, parts_of: Mapping[str, tuple[str, ...]]
) -> ReportSection | None:
    """Returns the report section on operations that were measured both by counts and by intervals. `parts_of`: for each
    benchmark, the series that make up one count.

    None without any.
    """
    agreements = compare_instruments(points, places, parts_of)
    if not agreements:
        return None
    names = [
        name or item.title
        for item, name in zip(agreements, distinct_point_names([ways.point for ways in agreements]), strict=True)
    ]
    columns = (
        "operation",
        "run with",
        *(f">{way}" for way in ALL_INSTRUMENTS),
        *(f">{way} minus probe" for way in ALL_INSTRUMENTS[:-1]),
    )
    rows = [
        [
            item.title,
            name,
            *(
                measured_value_with_range_text(item.by_instrument[way], cycle_count_text)
                if way in item.by_instrument
                else "-"
                for way in ALL_INSTRUMENTS
            ),
            *(
                "-"
                if (more := item.difference_from_virtual_probe(way)) is None
                else measured_value_with_range_text(more, _signed_number_text)
                for way in ALL_INSTRUMENTS[:-1]
            ),
        ]
        for item, name in zip(agreements, names, strict=True)
    ]
    table = TableData("One operation by four instruments, cycles", columns, rows)
    return ReportSection(
        "probe-effect", "Probe effect", (_PROSE,), _instrument_effect_charts(agreements, names), (table,)
    )


def _instrument_effect_charts(agreements: Sequence[InstrumentComparison], names: Sequence[str]) -> list[ChartData]:
    """Returns the charts of how much longer each operation seems to take by each instrument than by the probe."""
    rows = [
        {
            "x": name,
            "y": round(more.median, 2),
            "series": way,
            "text": _signed_number_text(more.median),
            **chart_range_ends(more),
        }
        for pair, name in zip(agreements, names, strict=True)
        for way in ALL_INSTRUMENTS[:-1]
        if (more := pair.difference_from_virtual_probe(way)) is not None
    ]
    if not rows:
        return []
    return [ChartData("bars", rows, "Additional cycles of each instrument, compared with the probe.",
                      y_title="cycles minus the probe's")]  # fmt: skip


def _signed_number_text(value: float) -> str:
    """Returns a number as text with its sign and one decimal."""
    return f"{value:+,.1f}"
