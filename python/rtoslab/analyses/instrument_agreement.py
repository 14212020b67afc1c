"""The same operation by four instruments: iterations in a window, cycle counter, pin, probe. How far they disagree.

A benchmark of counts may say that one of its counts is made of certain intervals, which a latency benchmark samples.
Its time of a count, less the empty loop, then is beside the sum of their medians. The probe, which costs nothing,
is what the others are held against.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses.bands import CodePlacementValueRange
from rtoslab.analyses.instrument_overhead import measurement_window_lengths
from rtoslab.analyses.latency import SeriesByInstrument, latencies_by_instrument
from rtoslab.analyses.placed_figures import CodePlacementLookup
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.results import MeasuredPoint, PointId

ITERATIONS: Final = "iterations"
"""The name of a window of counts as an instrument."""
ALL_INSTRUMENTS: Final = (ITERATIONS, *INSTRUMENTS)


@dataclass(frozen=True, slots=True)
class InstrumentComparison:
    """The time of one operation under the same conditions, by each instrument that measured it."""

    title: str
    """The titles of the series that it consists of."""
    point: PointId
    by_instrument: Mapping[str, CodePlacementValueRange]
    """Keyed by instrument, each in the placements of its points."""

    def difference_from_virtual_probe(self, instrument: str) -> CodePlacementValueRange | None:
        """Returns the figure of an instrument less that of the virtual board's probe, in cycles. None if one of them is
        missing."""
        return (
            self.by_instrument[instrument].subtract_measured_value(self.by_instrument["probe"])
            if instrument in self.by_instrument and "probe" in self.by_instrument
            else None
        )


def compare_instruments(
    points: Iterable[MeasuredPoint], places: CodePlacementLookup, parts_of: Mapping[str, tuple[str, ...]]
) -> list[InstrumentComparison]:
    """Compares the instruments for each measured point whose counts consist of intervals that a latency benchmark
    measures. `parts_of` has, by benchmark, the series of intervals that one count consists of."""
    agreements = list(points)
    timed = latencies_by_instrument([item for item in agreements if item.has_latency_samples])
    return [
        item
        for point in agreements
        if not point.has_latency_samples and (series := parts_of.get(point.point.benchmark))
        if (item := _compare_instruments_at_point(point, places, series, timed)) is not None
    ]


def _compare_instruments_at_point(
    point: MeasuredPoint, places: CodePlacementLookup, series: tuple[str, ...], timed: list[SeriesByInstrument]
) -> InstrumentComparison | None:
    """Compares the time per count of a measured point with the latencies of its parts. None if a part was not
    measured."""
    parts = [
        comparison
        for ident in series
        for comparison in timed
        if comparison.id == ident and _have_same_measurement_conditions(comparison.point, point.point)
    ]
    if [part.id for part in parts] != list(series):
        return None
    ways = [way for way in INSTRUMENTS if all(way in part.by_instrument for part in parts)]
    by = {
        way: _sum_code_placement_ranges(
            [
                places.latency_series_value_range(part.by_instrument[way], lambda one: one.spread.median)
                for part in parts
            ]
        )
        for way in ways
    }
    counted = [
        _cycles_per_iteration_without_empty_loop(placed) for placed in places.results_in_all_code_placements(point)
    ]
    per_count = [placed for placed in counted if placed is not None]
    if per_count:
        by = {ITERATIONS: CodePlacementValueRange(per_count), **by}
    return InstrumentComparison(" and ".join(part.title for part in parts), point.point, by) if len(by) > 1 else None


def _sum_code_placement_ranges(parts: Sequence[CodePlacementValueRange]) -> CodePlacementValueRange:
    """Returns the sum of figures that were measured in the same placements of the code."""
    return CodePlacementValueRange([sum(values) for values in zip(*(part.values for part in parts), strict=False)])


def _have_same_measurement_conditions(one: PointId, other: PointId) -> bool:
    """Whether two measured points have the same kernel, board, cores and configuration."""
    return (one.kernel, one.board, one.cores, one.config) == (other.kernel, other.board, other.cores, other.config)


def _cycles_per_iteration_without_empty_loop(point: MeasuredPoint) -> float | None:
    """Returns the cycles per count on core 0, without those of an empty loop. None if the empty loop was not
    measured."""
    effect = measurement_window_lengths(point)
    count = sum(
        counter.count for counter in point.counters if counter.index in point.metric_tasks and counter.core == 0
    )
    if effect is None or effect.loop_cycles_per_count is None or not count:
        return None
    return point.window_s * point.clock_hz / count - effect.loop_cycles_per_count
