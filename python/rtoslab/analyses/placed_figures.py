"""Figures over the placements of a point, looked up by the one point that represents them."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rtoslab.analyses.bands import Band, Ratio
from rtoslab.analyses.counts_per_second import Gain, throughput
from rtoslab.analyses.latency import Latency, latencies
from rtoslab.analyses.middle_placement import PlacedPoint
from rtoslab.results import MeasuredPoint


class Places:
    """Points by the placement in the middle of each. A point that it does not know is in one placement."""

    def __init__(self, placed: Iterable[PlacedPoint] = ()) -> None:
        self._place = {id(point.middle): point for point in placed}
        self._latencies: dict[int, Mapping[str, Latency]] = {}

    @property
    def are_several(self) -> bool:
        """Whether any point is in more than one placement."""
        return any(len(point.all) > 1 for point in self._place.values())

    def of(self, point: MeasuredPoint) -> Sequence[MeasuredPoint]:
        """The point in all its placements."""
        placed = self._place.get(id(point))
        return placed.all if placed is not None else [point]

    def band(self, point: MeasuredPoint, figure: Callable[[MeasuredPoint], float]) -> Band:
        """A figure of a point in all its placements."""
        return Band([figure(item) for item in self.of(point)])

    def of_series(self, latency: Latency, figure: Callable[[Latency], float]) -> Band:
        """A figure of one series of its point, in all the placements that have the series."""
        series = [self._series(item).get(latency.series.id) for item in self.of(latency.point)]
        return Band([figure(item) for item in series if item is not None])

    def between_marks(self, latency: Latency | None) -> Band | None:
        """Returns what a series takes with no instrument inside. None on a real board."""
        if latency is None or latency.marks is None:
            return None
        return self.of_series(latency, lambda latency: latency.between_marks or 0.0)

    def gain(self, pair: Gain) -> Ratio:
        """Total throughput with all cores over that with one, in whichever places."""
        many, one = (self.band(point.point, _total) for point in (pair.many, pair.one))
        return many.over(one)

    def _series(self, point: MeasuredPoint) -> Mapping[str, Latency]:
        if id(point) not in self._latencies:
            self._latencies[id(point)] = {latency.series.id: latency for latency in latencies(point)}
        return self._latencies[id(point)]


def _total(point: MeasuredPoint) -> float:
    return throughput(point).total_hz
