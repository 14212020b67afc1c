"""Every figure of a point that may get better or worse, under one stable name and with its unit.

cycles_per_count             of a benchmark that counts
SERIES.median, .maximum ...  of a latency's series, net of its instrument, in cycles
stack.TASK, heap.peak        bytes, as the image saw them
image.text, .data, .bss      bytes of the image
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rtoslab.analyses.bands import CodePlacementValueRange
from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.analyses.latency import MeasuredLatencySeries, latencies_of_point
from rtoslab.results import MeasuredPoint

CYCLES = "cycles"
BYTES = "bytes"
INSTRUCTIONS = "instructions"
COUNTS = "cycles_per_count"
_MEMORY = ("stack", "heap", "image")
_FIGURES = ("minimum", "median", "p99", "maximum")


@dataclass(frozen=True, slots=True)
class NamedMetricValue:
    """One figure of a measured point (such as a median latency), with its stable name and unit. Less is better."""

    id: str
    unit: str
    """CYCLES, BYTES or INSTRUCTIONS."""
    value: float
    samples: Sequence[float] = ()
    """The samples of a median, in the metric's unit. Empty for any other figure."""
    resolution: float = 0.0
    """The resolution of the clock that measured the figure, in its unit."""
    band: CodePlacementValueRange | None = None
    """The band of a figure in several placements, whose median is the value."""


def placement_band(figures: Sequence[NamedMetricValue]) -> CodePlacementValueRange:
    """Returns the range of one figure over the placements of its code."""
    return CodePlacementValueRange([figure.value for figure in figures], max(figure.resolution for figure in figures))


def unit_of_measured_value(metric_id: str) -> str:
    """Returns the unit of a figure by its name: bytes for memory, else cycles."""
    return BYTES if metric_id.partition(".")[0] in _MEMORY else CYCLES


def comparable_values_of_measurement_point(point: MeasuredPoint) -> list[NamedMetricValue]:
    """Returns all figures of a measured point that may get better or worse: time, then memory."""
    return [*_measured_time_values(point), *_memory_use_values_of_measurement(point)]


def primary_speed_values_of_point(point: MeasuredPoint) -> list[NamedMetricValue]:
    """Returns the figures of a measured point's speed: cycles per count, or the median of each series."""
    return [metric for metric in _measured_time_values(point) if metric.id == COUNTS or metric.samples]


def _measured_time_values(point: MeasuredPoint) -> list[NamedMetricValue]:
    """Returns a measured point's figures of time, in cycles."""
    metrics = []
    if point.counters and not point.has_latency_samples:
        # The window is as long as the board's timer says, whose phase against the kernel's tick is by chance: it moves
        # with any byte of the image, the digest of its sources for one.
        cycles = counts_per_second_of_point(point).cycles_per_count
        metrics.append(NamedMetricValue(COUNTS, CYCLES, cycles, resolution=cycles / point.window_ticks))
    for latency in latencies_of_point(point):
        metrics += [_latency_statistic_as_named_value(latency, name) for name in _FIGURES]
    return metrics


def _latency_statistic_as_named_value(latency: MeasuredLatencySeries, name: str) -> NamedMetricValue:
    """Returns one statistic of a latency as a figure. `name` is such as `median`."""
    value = float(getattr(latency.spread, name))
    return NamedMetricValue(
        f"{latency.series.id}.{name}",
        CYCLES,
        value,
        latency.samples_without_instrument_overhead if name == "median" else (),
    )


def _memory_use_values_of_measurement(point: MeasuredPoint) -> list[NamedMetricValue]:
    """Returns a measured point's figures of memory in bytes: stacks, heap, image."""
    used: dict[str, int] = {}
    for stack in point.stacks:
        used[stack.name] = max(used.get(stack.name, 0), stack.used_bytes)
    metrics = [NamedMetricValue(f"stack.{name}", BYTES, float(size)) for name, size in used.items()]
    if point.heap is not None:
        metrics.append(NamedMetricValue("heap.peak", BYTES, float(point.heap.peak_bytes)))
    if point.image is not None:
        sizes = {"text": point.image.text_bytes, "data": point.image.data_bytes, "bss": point.image.bss_bytes}
        metrics += [NamedMetricValue(f"image.{name}", BYTES, float(size)) for name, size in sizes.items()]
    return metrics
