"""Every number of a run as a value with its axes and unit, so that a paper's figure or claim finds its own.

One function per kind of measurement turns a verified point into values. `EXTRACTORS` lists them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtoslab.analyses.bands import Band
from rtoslab.analyses.counts_per_second import throughput
from rtoslab.analyses.cycles import lock_wait_part, shares
from rtoslab.analyses.latency import latencies
from rtoslab.analyses.losses_by_cause import busiest_lock
from rtoslab.analyses.series import pinning
from rtoslab.analyses.tick_cost import by_loops, tasks_released, tick_model
from rtoslab.plan import USUAL
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
"""Statistic -> its name in `analyses.latency.Spread`."""
Selector = Mapping[str, str | int | Sequence[str | int]]
"""Axis -> the place, or the places, where a value may lie. Axes: those of `Value.axis`."""


@dataclass(frozen=True, slots=True)
class Value:
    """One number of one verified point. `stat` says which number of a spread it is."""

    point: PointId
    run_id: str
    clock_hz: int
    params: Mapping[str, str]
    counted: str
    """Metric id of the benchmark."""
    metric: str
    stat: str
    value: float
    unit: str
    n: int
    band: Band | None = None
    """The band of a value in several placements, whose median it is. In its own unit."""
    stand_in: str = ""
    """What it is of, where it stands for a value that its kernel cannot have."""

    @property
    def placement_band(self) -> Band:
        """The value in each of its placements."""
        return self.band or Band([self.value])

    def axis(self, name: str) -> str:
        """The value's place on an axis, "" if it has none.

        Axes: metric, stat, unit; benchmark, kernel, board, cores, window_ms, clock_mhz; pinning (of several cores:
        `pinned` or `not pinned`); family (how the benchmark's metric id begins); any key of `--config`.
        """
        if name in {"metric", "stat", "unit"}:
            return str(getattr(self, name))
        if name == "family":
            return self.counted.partition(".")[0]
        if name == "clock_mhz":
            return f"{self.clock_hz / 1e6:g}"
        return axis_of_point(self.point, self.params, name)

    def in_unit(self, unit: str) -> float | None:
        """The value in another unit. Cycles and times turn into each other by the point's clock. None if it cannot."""
        return in_unit(self.value, self.unit, unit, self.clock_hz)


def in_unit(value: float, unit: str, required: str, clock_hz: float) -> float | None:
    """Returns a value in another unit. Cycles are those of the clock. None if one cannot become the other."""
    if required == unit:
        return value
    if unit == "cycles" and clock_hz:
        seconds = value / clock_hz
    elif unit in TIME_S:
        seconds = value * TIME_S[unit]
    else:
        return None
    if required == "cycles":
        return seconds * clock_hz
    return seconds / TIME_S[required] if required in TIME_S else None


def axis_of_point(point: PointId, params: Mapping[str, str], name: str) -> str:
    """A point's place on an axis that its id and its parameters tell, "" if it has none."""
    if name in {"benchmark", "kernel", "board", "cores", "window_ms"}:
        return str(getattr(point, name))
    if name == "pinning":
        return pinning(point)
    return point.config.get(name) or params.get(name.removeprefix("param."), "")


def values(points: Iterable[MeasuredPoint]) -> list[Value]:
    """Every value of every point, in the points' order."""
    return [
        Value(
            point=point.point,
            run_id=point.run_id,
            clock_hz=point.clock_hz,
            params=point.params,
            counted=point.metric,
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


def select(values: Iterable[Value], where: Selector) -> list[Value]:
    """Those that lie where `where` says on every axis it names. Axes that a point does not name are as usual."""
    places = {
        axis: {str(option) for option in (required if isinstance(required, list | tuple) else (required,))}
        for axis, required in where.items()
    }
    return [
        value
        for value in values
        if all((value.axis(axis) or USUAL.get(axis, "")) in required for axis, required in places.items())
    ]


def _throughput(point: MeasuredPoint) -> Iterator[Quantity]:
    if not point.counters or point.is_latency:
        return
    rate = throughput(point)
    counts = sum(counter.count for counter in point.counters if counter.index in point.metric_tasks)
    yield "throughput", "total", rate.total_hz, "1/s", counts
    yield "throughput", "per_core", rate.total_hz / len(rate.per_core_hz), "1/s", counts
    yield "throughput", "fairness", rate.fairness, "1", counts
    yield "throughput", "cycles_per_count", rate.cycles_per_count, "cycles", counts


def _heap(point: MeasuredPoint) -> Iterator[Quantity]:
    if point.heap:
        yield "heap", "peak", point.heap.peak_bytes, "bytes", point.heap.allocations or 1


def _latency(point: MeasuredPoint) -> Iterator[Quantity]:
    contained = {samples.overhead for samples in point.series}
    for latency in latencies(point):
        for stat, name in LATENCY_STATS.items():
            yield latency.series.id, stat, getattr(latency.spread, name), "cycles", latency.spread.n
        if latency.series.rounds > 1:
            total = latency.spread.median * latency.series.rounds + latency.overhead
            yield f"{latency.series.id}.total", "total", total, "cycles", latency.spread.n
        elif latency.series.id in contained:
            yield latency.series.id, "total", latency.spread.median, "cycles", latency.spread.n


def _lock(point: MeasuredPoint) -> Iterator[Quantity]:
    counting = [share for share in shares(point) if share.core in point.metric_cores]
    if point.point.cores == 1 or not counting:
        return
    yield "lock", "wait_part", lock_wait_part(counting), "1", len(counting)
    lock = busiest_lock(point)
    if lock is not None:
        yield "lock", "contended_part", lock.contended_part, "1", len(counting)
        yield "lock", "held_part", lock.held_part, "1", len(counting)


def _tick(point: MeasuredPoint) -> Iterator[Quantity]:
    model = tick_model(tasks_released(point))
    if model is None:
        return
    for stat in ("base", "per_task", "mode", "worst", "share", "remainder"):
        value = getattr(model, stat)
        if value is not None:
            yield "tick.model", stat, float(value), "cycles", model.n
    yield "tick.model", "sum", model.per_task * model.worst_count, "cycles", model.n
    by_count = tasks_released(point)
    frequent = Counter(cycles for samples in by_count.values() for cycles in samples).most_common(1)[0][0]
    yield "tick.model", "mode_of_all", float(frequent), "cycles", model.n
    yield "tick.coincidences", "count", float(len(by_count[max(by_count)])), "peaks", model.n


def _search(point: MeasuredPoint) -> Iterator[Quantity]:
    for loops, series in by_loops(point).items():
        cycles = [value for samples in series for value in samples.cycles]
        yield f"select.loops_{loops}", "max", float(max(cycles)), "cycles", len(cycles)
        yield f"select.loops_{loops}", "min", float(min(cycles)), "cycles", len(cycles)


EXTRACTORS: tuple[Callable[[MeasuredPoint], Iterator[Quantity]], ...] = (
    _throughput,
    _heap,
    _lock,
    _latency,
    _tick,
    _search,
)
