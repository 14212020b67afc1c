"""Statistics of the samples of each series, by each instrument, and the agreement of the instruments.

Samples are raw: what the instrument costs itself is in them. The empty interval of the same image says how much that
is, and its median is subtracted here, openly. The probe costs nothing, so its samples are the operation as it is. A
hardware timer's stamp holds nothing of the instrument either.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtoslab.catalogue import EMPTY_SERIES, INSTRUMENTS
from rtoslab.results import MeasuredPoint, PointId, SeriesSamples

MAX_BINS = 48
SPREAD_FIGURES = ("minimum", "median", "mean", "p99", "maximum", "jitter")
"""The figures of `SampleStatistics`, by name."""
BEST_FIRST = ("probe", "counter", "pin")
"""The instruments in the order of preference for one figure: the one that disturbs least is first."""


@dataclass(frozen=True, slots=True)
class SampleStatistics:
    """Statistics of the samples of a latency benchmark, in the samples' unit."""

    n: int
    minimum: float
    median: float
    mean: float
    p99: float
    """The smallest sample that at least 99 % of all do not exceed."""
    maximum: float
    maximum_at: int
    """Index of the first longest sample, from 0."""

    @property
    def jitter(self) -> float:
        """Returns the longest minus the shortest sample."""
        return self.maximum - self.minimum


def sample_statistics(samples: ArrayLike) -> SampleStatistics:
    """Returns the statistics of samples, of which there must be at least one."""
    taken = np.asarray(samples)
    ordered = np.sort(taken)
    n, half = len(ordered), len(ordered) // 2
    middle = ordered[half].item() if n % 2 else (ordered[half - 1].item() + ordered[half].item()) / 2
    return SampleStatistics(
        n=n,
        minimum=ordered[0].item(),
        median=middle,
        mean=fmean(taken),
        p99=ordered[math.ceil(0.99 * n) - 1].item(),
        maximum=ordered[-1].item(),
        maximum_at=int(taken.argmax()),
    )


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """A bin of a histogram: samples from `low` up to, but not with, `high`."""

    low: float
    high: float
    count: int


def histogram_of_samples(samples: ArrayLike, bins: int = MAX_BINS) -> list[HistogramBin]:
    """Returns a histogram of the samples: at most `bins` bins of equal, integral width, without the empty ones."""
    taken = np.asarray(samples)
    low = math.floor(taken.min())
    width = max(1, math.ceil((math.floor(taken.max()) + 1 - low) / bins))
    places, counts = np.unique(np.floor((taken - low) / width).astype(np.int64), return_counts=True)
    return [
        HistogramBin(low + place * width, low + (place + 1) * width, count)
        for place, count in zip(places.tolist(), counts.tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class OverheadFreeLatencySamples(Sequence[float]):
    """The samples of a measured series in cycles, less the cost of the instrument and of a contained series.

    They are computed on each access, because a long window has millions of them.
    """

    series: SeriesSamples
    cost: float
    overhead: float

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        net = (np.asarray(self.series.cycles) - self.cost - self.overhead) / self.series.rounds
        return net if dtype is None else net.astype(dtype)

    def __len__(self) -> int:
        return len(self.series.cycles)

    def __iter__(self) -> Iterator[float]:
        return iter(np.asarray(self).tolist())

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[float]: ...
    def __getitem__(self, place: int | slice) -> float | Sequence[float]:
        return np.asarray(self)[place].tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class MeasuredLatencySeries:
    """The latency in one measured series of a point (one kind of interval), by the point's instrument, in cycles."""

    point: MeasuredPoint
    series: SeriesSamples
    instrument_cost: float
    """Median of the empty interval, subtracted from every sample."""
    overhead: float
    """Median of the series that this one contains by design, subtracted too. 0 if there is none."""
    spread: SampleStatistics
    """The spread of `net`."""
    mark_spread: SampleStatistics | None
    """The same intervals between their marks, with no instrument inside. None on a real board."""
    tick_samples: int
    """Samples into which a tick fell."""

    @property
    def samples_without_instrument_overhead(self) -> "OverheadFreeLatencySamples":
        """Returns the samples in cycles, less the cost of the instrument and of a contained series. If an interval
        repeats its operation, they are per repetition."""
        return OverheadFreeLatencySamples(self.series, self.instrument_cost, self.overhead)

    @property
    def instrument(self) -> str:
        """Returns the name of the instrument that measured the series: `counter`, `pin` or `probe`."""
        return self.series.instrument

    @property
    def remaining_instrument_overhead_cycles(self) -> float | None:
        """Returns the remaining cost of the instrument: by how many cycles the net median exceeds that between the
        marks. None on a real board."""
        if self.mark_spread is None:
            return None
        return self.spread.median * self.series.rounds + self.overhead - self.mark_spread.median

    @property
    def median_between_marker_events(self) -> float | None:
        """Returns the median in cycles of the same intervals between their marks, as the virtual board saw them. None
        on a real board."""
        return None if self.mark_spread is None else self.mark_spread.median

    def to_microseconds(self, cycles: float) -> float:
        """Returns cycles as microseconds at the point's clock."""
        return cycles * 1e6 / self.point.clock_hz

    def to_nanoseconds(self, cycles: float) -> float:
        """Returns cycles as nanoseconds at the point's clock."""
        return cycles * 1e9 / self.point.clock_hz


def latencies_of_point(point: MeasuredPoint) -> list[MeasuredLatencySeries]:
    """Returns the latencies of a measured point, without the empty interval and those that its instrument cannot
    measure."""
    raw = {samples.id: samples for samples in point.series}
    cost = median(raw[EMPTY_SERIES].cycles) if EMPTY_SERIES in raw else 0.0
    return [
        _latency_of_sample_series(point, samples, 0.0 if samples.stamped else cost, raw)
        for samples in point.series
        if samples.comparable and samples.cycles and samples.id != EMPTY_SERIES
    ]


def _latency_of_sample_series(
    point: MeasuredPoint, series: SeriesSamples, cost: float, raw: dict[str, SeriesSamples]
) -> MeasuredLatencySeries:
    """Returns the latency in one series of a measured point. `cost` is that of the instrument in cycles."""
    overhead = median(raw[series.overhead].cycles) - cost if series.overhead is not None else 0.0
    return MeasuredLatencySeries(
        point=point,
        series=series,
        instrument_cost=cost,
        overhead=overhead,
        spread=sample_statistics(OverheadFreeLatencySamples(series, cost, overhead)),
        mark_spread=sample_statistics(series.mark_cycles) if series.mark_cycles else None,
        tick_samples=int(np.count_nonzero(np.asarray(series.ticks))),
    )


@dataclass(frozen=True, slots=True)
class SeriesByInstrument:
    """One measured series under the same conditions, by several instruments."""

    point: PointId
    """The conditions, without the instrument."""
    id: str
    title: str
    by_instrument: dict[str, MeasuredLatencySeries]
    """Keyed by instrument, in the order of INSTRUMENTS."""

    @property
    def latency_by_least_intrusive_instrument(self) -> MeasuredLatencySeries:
        """Returns the latency by that instrument which disturbs least: the probe, else the counter, else the pin."""
        return next(self.by_instrument[name] for name in BEST_FIRST if name in self.by_instrument)

    @property
    def largest_median_difference_cycles(self) -> float | None:
        """Returns the difference in cycles between the largest and the smallest median of the instruments. None for
        only one."""
        medians = [latency.spread.median for latency in self.by_instrument.values()]
        return max(medians) - min(medians) if len(medians) > 1 else None


def point_id_without_instrument(point: PointId) -> PointId:
    """Returns the identity of a measured point without the instrument and the number of samples."""
    config = {key: value for key, value in point.config.items() if key not in {"instrument", "samples"}}
    return point.model_copy(update={"config": config})


def latencies_by_instrument(points: Iterable[MeasuredPoint]) -> list[SeriesByInstrument]:
    """Groups the latencies of all points by series and conditions, each with the instruments that measured it."""
    by_key: dict[tuple[str, str, str], SeriesByInstrument] = {}
    for point in points:
        alike = point_id_without_instrument(point.point)
        for latency in latencies_of_point(point):
            key = (alike.model_dump_json(), point.point.config.get("samples", ""), latency.series.id)
            known = by_key.setdefault(key, SeriesByInstrument(alike, latency.series.id, latency.series.title, {}))
            known.by_instrument[latency.instrument] = latency
    return [
        SeriesByInstrument(
            comparison.point,
            comparison.id,
            comparison.title,
            {name: comparison.by_instrument[name] for name in INSTRUMENTS if name in comparison.by_instrument},
        )
        for comparison in by_key.values()
    ]


@dataclass(frozen=True, slots=True)
class AbsentSeries:
    """A kind of interval that cannot be measured with a kernel, and why, such as a missing service."""

    point: PointId
    """The conditions, without the instrument."""
    title: str
    reason: str


def absent_series(points: Iterable[MeasuredPoint]) -> list[AbsentSeries]:
    """Returns the kinds of intervals that could not be measured, with their reasons, in the order of the points."""
    by_series = {
        (point_id_without_instrument(point.point).model_dump_json(), series.id): AbsentSeries(
            point_id_without_instrument(point.point), series.title, series.reason
        )
        for point in points
        for series in point.absent_series
    }
    return list(by_series.values())


@dataclass(frozen=True, slots=True)
class MeasurementInstrumentOverhead:
    """The cycles that an instrument adds to every sample, from the empty intervals of one point."""

    point: MeasuredPoint
    spread: SampleStatistics


def instrument_overheads_of_measured_points(points: Iterable[MeasuredPoint]) -> list[MeasurementInstrumentOverhead]:
    """Returns the cost of each point's instrument, from its empty intervals, in the order of the points."""
    return [
        MeasurementInstrumentOverhead(point, sample_statistics(samples.cycles))
        for point in points
        for samples in point.series
        if samples.id == EMPTY_SERIES and samples.cycles
    ]
