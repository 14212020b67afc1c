"""Figures over the placements of a point, looked up by the one point that represents them."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rtoslab.analyses.bands import CodePlacementValueRange, MeasuredValueRatio
from rtoslab.analyses.counts_per_second import MulticoreGain, counts_per_second_of_point
from rtoslab.analyses.latency import MeasuredLatencySeries, latencies_of_point
from rtoslab.analyses.middle_placement import MeasuredPointInCodePlacements
from rtoslab.results import MeasuredPoint


class CodePlacementLookup:
    """Finds all placements (addresses of code) of a measured point by the point that represents them."""

    def __init__(self, placed: Iterable[MeasuredPointInCodePlacements] = ()) -> None:
        self._place = {id(point.middle): point for point in placed}
        self._latencies: dict[int, Mapping[str, MeasuredLatencySeries]] = {}

    @property
    def has_several_placements(self) -> bool:
        """Whether any point was measured in more than one placement of its code."""
        return any(len(point.placements) > 1 for point in self._place.values())

    def results_in_all_code_placements(self, point: MeasuredPoint) -> Sequence[MeasuredPoint]:
        """Returns the results of a point in all placements of its code. An unknown point is returned alone."""
        placed = self._place.get(id(point))
        return placed.placements if placed is not None else [point]

    def range_of_measured_values(
        self, point: MeasuredPoint, figure: Callable[[MeasuredPoint], float]
    ) -> CodePlacementValueRange:
        """Returns the range of a point's figure over the placements of its code."""
        return CodePlacementValueRange([figure(item) for item in self.results_in_all_code_placements(point)])

    def latency_series_value_range(
        self, latency: MeasuredLatencySeries, figure: Callable[[MeasuredLatencySeries], float]
    ) -> CodePlacementValueRange:
        """Returns the range of a latency's figure over the placements of its code."""
        series = [
            self._latency_series_by_id(item).get(latency.series.id)
            for item in self.results_in_all_code_placements(latency.point)
        ]
        return CodePlacementValueRange([figure(item) for item in series if item is not None])

    def median_between_marker_events_range(
        self, latency: MeasuredLatencySeries | None
    ) -> CodePlacementValueRange | None:
        """Returns the range of a latency's median between marks, as the virtual board saw it. None on a real board."""
        if latency is None or latency.mark_spread is None:
            return None
        return self.latency_series_value_range(latency, lambda latency: latency.median_between_marker_events or 0.0)

    def multicore_gain_ratio(self, pair: MulticoreGain) -> MeasuredValueRatio:
        """Returns the total rate with all cores divided by that with one, with its range over placements of the
        code."""
        many, one = (
            self.range_of_measured_values(point.point, _counts_per_second_of_all_cores)
            for point in (pair.many_cores, pair.one_core)
        )
        return many.ratio_to(one)

    def _latency_series_by_id(self, point: MeasuredPoint) -> Mapping[str, MeasuredLatencySeries]:
        """Returns the latencies of a measured point by series id."""
        if id(point) not in self._latencies:
            self._latencies[id(point)] = {latency.series.id: latency for latency in latencies_of_point(point)}
        return self._latencies[id(point)]


def _counts_per_second_of_all_cores(point: MeasuredPoint) -> float:
    """Returns the counts per second of all cores together."""
    return counts_per_second_of_point(point).total_hz
