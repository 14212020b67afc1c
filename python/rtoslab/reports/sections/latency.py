"""Latencies: figures, how the samples spread, and the instruments beside each other."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from rtoslab.analyses import (
    SPREAD_FIGURES,
    AbsentSeries,
    CodePlacementLookup,
    MeasuredLatencySeries,
    SeriesByInstrument,
    absent_series,
    distinct_point_names,
    histogram_of_samples,
    instrument_overheads_of_measured_points,
    latencies_by_instrument,
    point_id_without_instrument,
)
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.reports.sections.naming import MIDDLE_NOTE, kernel_and_board_chart_entries, record_fields_identifying_point
from rtoslab.reports.table import (
    ChartData,
    Record,
    ReportSection,
    TableData,
    chart_range_ends,
    cycle_count_text,
    measured_value_with_range_text,
)
from rtoslab.results import MeasuredPoint

_MOST_PANELS: Final = 6
"""With more conditions a histogram for each would be longer than a screen."""
NOT_APPLICABLE, NONE = "n/a", "-"
_PROSE = (
    "Each sample is the length of one interval, in cycles of the core's clock. The run directory contains the raw "
    "samples in their order (samples.parquet). Here, the instrument's own cost is subtracted from them: the median of "
    "an empty interval in the same image. Jitter is the longest sample minus the shortest. Samples are counted from 0."
)
_AGREEMENT = (
    "The image reads the counter, or changes the pin, at both ends of an interval. The probe observes from outside "
    "and costs nothing. Left over: how much longer an interval is by the instrument than by the probe in the same "
    "image, although the empty interval is subtracted. Probe effect: how much longer the operation itself takes in "
    "an image with the instrument, which changes the use of registers and the addresses of code."
)


def latency_section(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> ReportSection | None:
    """Returns the report section on latencies: the statistics and histograms of each series. None without any."""
    compared = latencies_by_instrument(points)
    if not compared:
        return None
    absent = absent_series(points)
    names = _series_condition_names([*compared, *absent])[: len(compared)]
    boards = dict.fromkeys(
        [*(comparison.point.board for comparison in compared), *(absence.point.board for absence in absent)]
    )
    tables = [
        _latency_statistics_table(
            f"Latencies, cycles, {board}" if len(boards) > 1 else "Latencies, cycles",
            [comparison for comparison in compared if comparison.point.board == board],
            [absence for absence in absent if absence.point.board == board],
            places,
        )
        for board in boards
    ]
    return ReportSection("latency", "Latencies", (_PROSE,), _latency_charts(compared, names, places), tables)


def _latency_statistics_table(
    title: str, compared: Sequence[SeriesByInstrument], absent: Sequence[AbsentSeries], places: CodePlacementLookup
) -> TableData:
    """Returns the table of latencies on one board. `absent`: series that could not be measured there, which get a row
    each with the reason."""
    together = _series_condition_names([*compared, *absent])
    rows = [_latency_table_row_cells(item, name, places) for item, name in zip(compared, together, strict=False)]
    columns = ("series", "run with", "by", ">n", ">min", ">median", ">mean", ">p99", ">max", ">at sample", ">jitter",
               ">median, us", ">max, us", ">with a tick")  # fmt: skip
    empty = [NONE] * (len(columns) - 3)
    missing = zip(absent, together[len(compared) :], strict=True)
    rows += [[item.title, name, NOT_APPLICABLE, *empty] for item, name in missing]
    note = "; ".join(dict.fromkeys(f"{NOT_APPLICABLE}: {absence.reason}" for absence in absent))
    records = [record for comparison in compared for record in _latency_statistics_records(comparison, places)]
    records += [
        {
            **record_fields_identifying_point(absence.point),
            "metric": absence.title,
            "note": f"{NOT_APPLICABLE}: {absence.reason}",
        }
        for absence in absent
    ]
    return TableData(title, columns, rows, note, records=records)


def instrument_comparison_report_section(
    points: Sequence[MeasuredPoint], places: CodePlacementLookup
) -> ReportSection | None:
    """Returns the report section that compares the medians of all instruments (counter, pin, probe). None if no series
    has several."""
    compared = latencies_by_instrument(points)
    if not any(len(comparison.by_instrument) > 1 for comparison in compared):
        return None
    rows = [
        [
            pair.title,
            name,
            *(_median_with_range_text(pair.by_instrument.get(one), places) for one in INSTRUMENTS),
            *(_instrument_overhead_remainder_text(pair.by_instrument.get(one), places) for one in ("counter", "pin")),
            *(
                _probe_effect_text(pair.by_instrument.get(one), pair.by_instrument.get("probe"), places)
                for one in ("counter", "pin")
            ),
        ]
        for pair, name in zip(compared, _series_condition_names(compared), strict=True)
    ]
    columns = ("series", "run with", ">counter", ">pin", ">probe", ">left over, counter", ">left over, pin",
               ">probe effect, counter", ">probe effect, pin")  # fmt: skip
    note = (
        "A dash: not measured with this instrument, or the operation is the instrument's own (a pin cannot "
        "time its own change)."
    )
    table = TableData("Medians by instrument, cycles", columns, rows, note)
    return ReportSection(
        "instruments", "Three instruments", (_AGREEMENT,), (), (table, _instrument_costs_table(points, places))
    )


def _median_with_range_text(latency: MeasuredLatencySeries | None, places: CodePlacementLookup) -> str:
    """Returns the median of a series in cycles, with its range over placements of the code, as text. A dash for
    None."""
    return (
        NONE
        if latency is None
        else measured_value_with_range_text(
            places.latency_series_value_range(latency, lambda latency: latency.spread.median), cycle_count_text
        )
    )


def _instrument_overhead_remainder_text(latency: MeasuredLatencySeries | None, places: CodePlacementLookup) -> str:
    """Returns, as text, which part of an instrument's cost remains after the empty interval is subtracted. A dash if
    unknown."""
    if latency is None or latency.remaining_instrument_overhead_cycles is None:
        return NONE
    return measured_value_with_range_text(
        places.latency_series_value_range(latency, lambda latency: latency.remaining_instrument_overhead_cycles or 0.0),
        _signed_number_text,
    )


def _probe_effect_text(
    latency: MeasuredLatencySeries | None, by_probe: MeasuredLatencySeries | None, places: CodePlacementLookup
) -> str:
    """Returns, as text, by how many cycles an instrument lengthens the operation itself, compared with the probe. A
    dash if unknown."""
    mine, other = (places.median_between_marker_events_range(one) for one in (latency, by_probe))
    return (
        NONE
        if mine is None or other is None
        else measured_value_with_range_text(mine.subtract_measured_value(other), _signed_number_text)
    )


def _instrument_costs_table(points: Sequence[MeasuredPoint], places: CodePlacementLookup) -> TableData:
    """Returns the table of what each instrument itself costs: the empty interval of every image, in cycles."""
    costs = instrument_overheads_of_measured_points(points)
    names = distinct_point_names([point_id_without_instrument(cost.point.point) for cost in costs], with_cores=False)
    rows = [
        [
            pair.point.point.title,
            name or "-",
            pair.point.instrument,
            *(_empty_interval_statistic_text(pair.point, name, places) for name in ("minimum", "median", "maximum")),
            str(pair.spread.maximum_at),
        ]
        for pair, name in zip(costs, names, strict=True)
    ]
    note = (
        "Intervals with nothing between their ends, measured before the other series. With cold caches, the "
        "first is the longest."
    )
    columns = ("benchmark", "run with", "by", ">min", ">median", ">max", ">at sample")
    return TableData("Cost of the instruments, cycles", columns, rows, note)


def _empty_interval_statistic_text(point: MeasuredPoint, name: str, places: CodePlacementLookup) -> str:
    """Returns a statistic of the empty interval in a point's image, with its range over placements, as text. `name`:
    such as `median`."""
    band = places.range_of_measured_values(
        point, lambda item: getattr(instrument_overheads_of_measured_points([item])[0].spread, name)
    )
    return measured_value_with_range_text(band, cycle_count_text)


def _series_condition_names(compared: Sequence[SeriesByInstrument | AbsentSeries]) -> list[str]:
    """Returns a name for the conditions of each series: kernel, board and configuration as far as they differ."""
    return [name or "-" for name in distinct_point_names([item.point for item in compared], with_cores=False)]


def _latency_table_row_cells(comparison: SeriesByInstrument, name: str, places: CodePlacementLookup) -> list[str]:
    """Returns a row of the table of latencies. `name`: that of the series' conditions."""
    best = comparison.latency_by_least_intrusive_instrument
    of = {one: places.latency_series_value_range(best, attrgetter(f"spread.{one}")) for one in SPREAD_FIGURES}
    at = places.latency_series_value_range(best, attrgetter("spread.maximum_at"))
    return [
        comparison.title,
        name,
        best.instrument,
        str(best.spread.n),
        measured_value_with_range_text(of["minimum"], cycle_count_text),
        measured_value_with_range_text(of["median"], cycle_count_text),
        measured_value_with_range_text(of["mean"], "{:,.1f}".format),
        measured_value_with_range_text(of["p99"], cycle_count_text),
        measured_value_with_range_text(of["maximum"], cycle_count_text),
        measured_value_with_range_text(at, "{:.0f}".format),
        measured_value_with_range_text(of["jitter"], cycle_count_text),
        measured_value_with_range_text(of["median"], lambda cycles: f"{best.to_microseconds(cycles):,.3f}"),
        measured_value_with_range_text(of["maximum"], lambda cycles: f"{best.to_microseconds(cycles):,.3f}"),
        measured_value_with_range_text(
            places.latency_series_value_range(best, attrgetter("tick_samples")), "{:,.0f}".format
        ),
    ]


def _latency_statistics_records(comparison: SeriesByInstrument, places: CodePlacementLookup) -> Iterator[Record]:
    """Yields a record for each statistic of a series, in cycles and once more in microseconds."""
    best = comparison.latency_by_least_intrusive_instrument
    axes = {
        **record_fields_identifying_point(comparison.point),
        "metric": comparison.title,
        "instrument": best.instrument,
        "n": best.spread.n,
    }
    for name in SPREAD_FIGURES:
        band = places.latency_series_value_range(best, attrgetter(f"spread.{name}"))
        for unit, scale in (("cycles", 1.0), ("us", best.to_microseconds(1.0))):
            yield {**axes, "stat": name, "value": scale * band.median, **chart_range_ends(band, scale), "unit": unit}


def _latency_charts(
    compared: Sequence[SeriesByInstrument], names: Sequence[str], places: CodePlacementLookup
) -> list[ChartData]:
    """Returns a chart for each kind of latency: histograms, or only ranges if there are many conditions. `names`: those
    of the conditions."""
    charts = []
    for ident in dict.fromkeys(comparison.id for comparison in compared):
        mine = [(item, name) for item, name in zip(compared, names, strict=True) if item.id == ident]
        drawn = {
            len(places.results_in_all_code_placements(item.latency_by_least_intrusive_instrument.point))
            for item, _ in mine
        }
        middle = f" {MIDDLE_NOTE}" if drawn != {1} else ""
        if len(mine) > _MOST_PANELS:
            charts.append(_latency_ranges_chart(mine, middle))
            continue
        rows = [
            {
                "series": name,
                "low": one.low,
                "high": one.high,
                "count": one.count,
                **kernel_and_board_chart_entries(item.point),
            }
            for item, name in mine
            for one in histogram_of_samples(
                item.latency_by_least_intrusive_instrument.samples_without_instrument_overhead
            )
        ]
        caption = f"{mine[0][0].title}: number of samples by cycles."
        charts.append(ChartData("histogram", rows, caption + middle))
    return charts


def _latency_ranges_chart(compared: Sequence[tuple[SeriesByInstrument, str]], middle: str) -> ChartData:
    """Returns the chart of one kind of latency under many conditions: medians, with lines from the shortest sample to
    the longest."""
    rows = [
        {
            "x": name,
            "series": item.point.kernel,
            "y": item.latency_by_least_intrusive_instrument.spread.median,
            "low": item.latency_by_least_intrusive_instrument.spread.minimum,
            "high": item.latency_by_least_intrusive_instrument.spread.maximum,
            **kernel_and_board_chart_entries(item.point),
        }
        for item, name in compared
    ]
    caption = f"{compared[0][0].title}: the median, and a line from the shortest sample to the longest.{middle}"
    return ChartData("pairs", rows, caption, y_title="cycles")


def _signed_number_text(value: float | None) -> str:
    """Returns a number as text with its sign, and with a decimal unless it is whole. A dash for None."""
    return "-" if value is None else f"{value:+,.0f}" if value == int(value) else f"{value:+,.1f}"
