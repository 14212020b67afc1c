"""The same operation by four instruments: iterations in a window, cycle counter, pin, probe. How far they disagree.

A benchmark of counts may say that one of its counts is made of certain intervals, which a latency benchmark samples.
Its time of a count, less the empty loop, then is beside the sum of their medians. The probe, which costs nothing,
is what the others are held against.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses.bands import Band
from rtoslab.analyses.instrument_overhead import probe_effect
from rtoslab.analyses.latency import Comparison, comparisons
from rtoslab.analyses.placed_figures import Places
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.results import MeasuredPoint, PointId

ITERATIONS: Final = "iterations"
"""Name of the instrument that a window of counts is."""
WAYS: Final = (ITERATIONS, *INSTRUMENTS)


@dataclass(frozen=True, slots=True)
class FourWays:
    """One operation under the same conditions, in cycles, by each instrument that measured it."""

    title: str
    """The series that it is made of."""
    point: PointId
    by: Mapping[str, Band]
    """Each in the placements of its points."""

    def more_than_probe(self, way: str) -> Band | None:
        """Disagreement with the probe, in cycles."""
        return self.by[way].less(self.by["probe"]) if way in self.by and "probe" in self.by else None


def four_ways(
    points: Iterable[MeasuredPoint], places: Places, parts_of: Mapping[str, tuple[str, ...]]
) -> list[FourWays]:
    """`parts_of`: benchmark -> the series that one count of it is made of. One entry for each point that has them."""
    agreements = list(points)
    timed = comparisons([item for item in agreements if item.is_latency])
    return [
        item
        for point in agreements
        if not point.is_latency and (series := parts_of.get(point.point.benchmark))
        if (item := _four_ways(point, places, series, timed)) is not None
    ]


def _four_ways(
    point: MeasuredPoint, places: Places, series: tuple[str, ...], timed: list[Comparison]
) -> FourWays | None:
    parts = [
        comparison
        for ident in series
        for comparison in timed
        if comparison.id == ident and _alike(comparison.point, point.point)
    ]
    if [part.id for part in parts] != list(series):
        return None
    ways = [way for way in INSTRUMENTS if all(way in part.by for part in parts)]
    by = {way: _sum([places.of_series(part.by[way], lambda one: one.spread.median) for part in parts]) for way in ways}
    counted = [_cycles_per_count(placed) for placed in places.of(point)]
    per_count = [placed for placed in counted if placed is not None]
    if per_count:
        by = {ITERATIONS: Band(per_count), **by}
    return FourWays(" and ".join(part.title for part in parts), point.point, by) if len(by) > 1 else None


def _sum(parts: Sequence[Band]) -> Band:
    """Adds up parts that were measured in the same placements."""
    return Band([sum(values) for values in zip(*(part.values for part in parts), strict=False)])


def _alike(one: PointId, other: PointId) -> bool:
    return (one.kernel, one.board, one.cores, one.config) == (other.kernel, other.board, other.cores, other.config)


def _cycles_per_count(point: MeasuredPoint) -> float | None:
    """Returns the cycles per count on one core, without those of the empty loop. None where they were not measured."""
    effect = probe_effect(point)
    count = sum(
        counter.count for counter in point.counters if counter.index in point.metric_tasks and counter.core == 0
    )
    if effect is None or effect.loop_cycles_per_count is None or not count:
        return None
    return point.window_s * point.clock_hz / count - effect.loop_cycles_per_count
