"""Every number of a run as a value with its axes and unit, so that a paper's figure or claim finds its own.

One function per kind of measurement turns a verified point into values. `EXTRACTORS` lists them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtoslab.analyses.bands import CodePlacementValueRange
from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.analyses.cycles import cycle_use_of_cores, lock_wait_share
from rtoslab.analyses.latency import latencies_of_point
from rtoslab.analyses.losses_by_cause import longest_held_spinlock
from rtoslab.analyses.series import pinning_text
from rtoslab.analyses.tick_cost import cycles_by_released_tasks, fit_tick_cost_model, scheduler_search_duration_samples
from rtoslab.plan import DEFAULTS
from rtoslab.results import MeasuredPoint, PointId

Quantity = tuple[str, str, float, str, int]
"""(metric, statistic, value, unit, number of samples or counts it rests on)"""

TIME_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
LATENCY_STATS = {
    "min": "minimum",
    "median": "median",
    "mean": "mean",
    "p99": "p99",
    "max": "maximum",
    "jitter": "jitter",
}
"""Statistic -> its name in `analyses.latency.SampleStatistics`."""
Selector = Mapping[str, str | int | Sequence[str | int]]
"""Axis -> the place or places that a value may have on it. Axes: those of `MeasuredValue.coordinate_on_axis`."""


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """One number of a measured point (one benchmark with kernel, board and settings), with its metric, statistic, unit
    and axes."""

    point: PointId
    run_id: str
    clock_hz: int
    params: Mapping[str, str]
    benchmark_metric: str
    """Metric id of the benchmark."""
    metric: str
    stat: str
    value: float
    unit: str
    n: int
    band: CodePlacementValueRange | None = None
    """The values in several placements, whose median is `value`, in its unit."""
    substitute_text: str = ""
    """The operation that was measured, if it substitutes one that the kernel lacks."""

    @property
    def placement_band(self) -> CodePlacementValueRange:
        """Returns the range of this number over the placements (addresses) of the code. With one placement, it is the
        number alone."""
        return self.band or CodePlacementValueRange([self.value])

    def coordinate_on_axis(self, name: str) -> str:
        """Returns the value's coordinate on an axis such as `kernel` or `cores`, as text. Empty if it has none.

        Axes: metric, stat, unit; benchmark, kernel, board, cores, window_ms, clock_mhz; pinning (of several cores:
        `pinned` or `not pinned`); family (how the benchmark's metric id begins); any key of `--config`.
        """
        if name in {"metric", "stat", "unit"}:
            return str(getattr(self, name))
        if name == "family":
            return self.benchmark_metric.partition(".")[0]
        if name == "clock_mhz":
            return f"{self.clock_hz / 1e6:g}"
        return axis_value_of_measured_point(self.point, self.params, name)

    def axis_value_in_unit(self, target_unit: str) -> float | None:
        """Returns the number in another unit. Cycles are those of the point's clock. None if it cannot be converted."""
        return convert_unit(self.value, self.unit, target_unit, self.clock_hz)


def convert_unit(value: float, unit: str, target_unit: str, clock_hz: float) -> float | None:
    """Returns a number in another unit of time, or in cycles of a clock. None if it cannot be converted."""
    if target_unit == unit:
        return value
    if unit == "cycles" and clock_hz:
        seconds = value / clock_hz
    elif unit in TIME_S:
        seconds = value * TIME_S[unit]
    else:
        return None
    if target_unit == "cycles":
        return seconds * clock_hz
    return seconds / TIME_S[target_unit] if target_unit in TIME_S else None


def axis_value_of_measured_point(point: PointId, params: Mapping[str, str], name: str) -> str:
    """Returns a measured point's coordinate on an axis of its identity or parameters, as text. Empty if it has none."""
    if name in {"benchmark", "kernel", "board", "cores", "window_ms"}:
        return str(getattr(point, name))
    if name == "pinning":
        return pinning_text(point)
    return point.config.get(name) or params.get(name.removeprefix("param."), "")


def values_of_points(points: Iterable[MeasuredPoint]) -> list[MeasuredValue]:
    """Returns every number of every measured point, in the points' order."""
    return [
        MeasuredValue(
            point=point.point,
            run_id=point.run_id,
            clock_hz=point.clock_hz,
            params=point.params,
            benchmark_metric=point.metric,
            metric=metric,
            stat=stat,
            value=value,
            unit=unit,
            n=n,
        )
        for point in points
        for extract in EXTRACTORS
        for metric, stat, value, unit, n in extract(point)
    ]


def select_values_by_coordinates(values: Iterable[MeasuredValue], where: Selector) -> list[MeasuredValue]:
    """Returns the values with the coordinates that `where` names. A value without a coordinate on an axis has the
    default one."""
    places = {
        axis: {str(option) for option in (required if isinstance(required, list | tuple) else (required,))}
        for axis, required in where.items()
    }
    return [
        value
        for value in values
        if all(
            (value.coordinate_on_axis(axis) or DEFAULTS.get(axis, "")) in required for axis, required in places.items()
        )
    ]


def _throughput_values(point: MeasuredPoint) -> Iterator[Quantity]:
    """Yields a point's counts per second, fairness and cycles per count. Nothing for a latency benchmark."""
    if not point.counters or point.has_latency_samples:
        return
    rate = counts_per_second_of_point(point)
    counts = sum(counter.count for counter in point.counters if counter.index in point.metric_tasks)
    yield "throughput", "total", rate.total_hz, "1/s", counts
    yield "throughput", "per_core", rate.total_hz / len(rate.per_core_hz), "1/s", counts
    yield "throughput", "fairness", rate.fairness, "1", counts
    yield "throughput", "cycles_per_count", rate.cycles_per_count, "cycles", counts


def _peak_heap_bytes_of_point(point: MeasuredPoint) -> Iterator[Quantity]:
    """Yields the peak use of a point's heap in bytes."""
    if point.heap:
        yield "heap", "peak", point.heap.peak_bytes, "bytes", point.heap.allocations or 1


def _latency_values(point: MeasuredPoint) -> Iterator[Quantity]:
    """Yields the statistics of each latency of a point, in cycles."""
    contained = {samples.overhead for samples in point.series}
    for latency in latencies_of_point(point):
        for stat, name in LATENCY_STATS.items():
            yield latency.series.id, stat, getattr(latency.spread, name), "cycles", latency.spread.n
        if latency.series.rounds > 1:
            total = latency.spread.median * latency.series.rounds + latency.overhead
            yield f"{latency.series.id}.total", "total", total, "cycles", latency.spread.n
        elif latency.series.id in contained:
            yield latency.series.id, "total", latency.spread.median, "cycles", latency.spread.n


def _spinlock_share_values(point: MeasuredPoint) -> Iterator[Quantity]:
    """Yields the shares of a point's cycles that several cores spend on spinlocks."""
    counting = [share for share in cycle_use_of_cores(point) if share.core in point.metric_cores]
    if point.point.cores == 1 or not counting:
        return
    yield "lock", "wait_part", lock_wait_share(counting), "1", len(counting)
    lock = longest_held_spinlock(point)
    if lock is not None:
        yield "lock", "contended_part", lock.contended_part, "1", len(counting)
        yield "lock", "held_part", lock.held_part, "1", len(counting)


def _tick_cost_model_values(point: MeasuredPoint) -> Iterator[Quantity]:
    """Yields the parameters of the cost model of a point's tick handler, in cycles."""
    model = fit_tick_cost_model(cycles_by_released_tasks(point))
    if model is None:
        return
    parameters = {
        "base": model.base,
        "per_task": model.per_task,
        "mode": model.mode,
        "worst": model.worst,
        "share": model.cycles_per_released_task,
        "remainder": model.longest_tick_cycles_above_fitted_model,
    }
    for stat, value in parameters.items():
        if value is not None:
            yield "tick.model", stat, float(value), "cycles", model.n
    yield "tick.model", "sum", model.per_task * model.worst_count, "cycles", model.n
    by_count = cycles_by_released_tasks(point)
    frequent = Counter(cycles for samples in by_count.values() for cycles in samples).most_common(1)[0][0]
    yield "tick.model", "mode_of_all", float(frequent), "cycles", model.n
    yield "tick.coincidences", "count", float(len(by_count[max(by_count)])), "peaks", model.n


def _shortest_and_longest_scheduler_search(point: MeasuredPoint) -> Iterator[Quantity]:
    """Yields the shortest and longest search for the next task in cycles, by the number of the search's loops."""
    for loops, series in scheduler_search_duration_samples(point).items():
        cycles = [value for samples in series for value in samples.cycles]
        yield f"select.loops_{loops}", "max", float(max(cycles)), "cycles", len(cycles)
        yield f"select.loops_{loops}", "min", float(min(cycles)), "cycles", len(cycles)


EXTRACTORS: tuple[Callable[[MeasuredPoint], Iterator[Quantity]], ...] = (
    _throughput_values,
    _peak_heap_bytes_of_point,
    _spinlock_share_values,
    _latency_values,
    _tick_cost_model_values,
    _shortest_and_longest_scheduler_search,
)
