"""The figure of a kernel's speed at a test, with names for readers.

Counts per second of a benchmark that counts. The median of each series of a latency benchmark, in cycles.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from rtoslab.analyses import (
    CodePlacementLookup,
    CodePlacementValueRange,
    MeasuredValueRatio,
    cores_and_pinning_text,
    counts_per_second_of_point,
    distinct_point_names,
    latencies_by_instrument,
    short_test_name,
)
from rtoslab.results import MeasuredPoint, PointId

_OWN: Final = "param."
"""The beginning of the key of a benchmark's own parameter."""
_PINNED: Final = "param.pinned"
"""`cores_and_pinning_text` includes this parameter."""
_TASKS: Final = "tasks"
"""Replaces it among the conditions."""


@dataclass(frozen=True, slots=True)
class ReadableTestName:
    """A test's name for readers, such as `cooperative scheduling (T2)` or `get count (P1, shared=1)`."""

    title: str
    short: str = ""
    """`T2`. Empty for a test without such a name."""
    parameters: str = ""
    """The benchmark's own parameters, where the run has several of them."""

    def with_figure(self, *figures: str) -> str:
        """Returns the test's name with its short name, parameters and these figures in brackets."""
        inside = ", ".join(filter(None, (self.short, self.parameters, *figures)))
        return f"{self.title} ({inside})" if inside else self.title

    @property
    def panel_heading(self) -> str:
        """Returns the name as the heading of a chart's panel: `T2 cooperative scheduling`."""
        return ", ".join(filter(None, (f"{self.short} {self.title}".strip(), self.parameters)))


@dataclass(frozen=True, slots=True)
class KernelSpeed:
    """The speed of one kernel at one test."""

    test: ReadableTestName
    kernel: str
    """Its title."""
    board: str
    """Its title."""
    cores: int
    conditions: str
    """The configuration, as far as it differs within the run, without parameters of benchmarks."""
    series: str
    """Kernel, board, cores and conditions by their ids, as far as they differ."""
    point: MeasuredPoint
    figure: CodePlacementValueRange
    unit: str
    is_rate: bool
    """More is faster: counts per second. Else less is: cycles."""

    def speed_ratio_against(self, other: "KernelSpeed") -> MeasuredValueRatio:
        """Returns how many times as fast this figure is as another one."""
        return self.figure.ratio_to(other.figure) if self.is_rate else other.figure.ratio_to(self.figure)

    @property
    def text_with_unit(self) -> str:
        """Returns the figure as text: a rate with its unit, or cycles with the same time in microseconds."""
        value = self.figure.median
        if self.is_rate:
            return f"{value:,.0f} {self.unit}"
        cycles = f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
        return f"{cycles} {self.unit} ({value * 1e6 / self.point.clock_hz:,.2f} \N{MICRO SIGN}s)"


def readable_test_name(point: PointId, parameters: str = "") -> ReadableTestName:
    """Returns a point's test as named for readers. `parameters`: the benchmark's own parameters as text."""
    short = short_test_name(point)
    if short == point.benchmark:
        return ReadableTestName(point.title, "", parameters)
    return ReadableTestName(point.title.removeprefix(short).strip(), short, parameters)


def speed_figures(
    points: Sequence[MeasuredPoint],
    places: CodePlacementLookup,
    placement_bound: Collection[int],
    titles: Mapping[str, str],
) -> list[KernelSpeed]:
    """Returns a figure of each point's speed at each of its tests, in the order of the points. Figures of 0 are left
    out.

    `placement_bound`: results, by identity, whose figures may depend on the place of their code. `titles`: those of
    kernels and boards, by id.
    """
    series = dict(
        zip(
            map(id, points),
            distinct_point_names([remove_benchmark_parameters_from_point(item.point) for item in points]),
            strict=True,
        )
    )
    conditions = dict(zip(map(id, points), _configuration_difference_texts(points), strict=True))
    parameters = dict(zip(map(id, points), _parameter_texts(points), strict=True))

    def make_kernel_speed_of_point(
        test: ReadableTestName, point: MeasuredPoint, values: Sequence[float], unit: str, *, is_rate: bool
    ) -> KernelSpeed:
        """Returns one figure of a point, with the point's names. `values`: the figure in each placement."""
        known = len(places.results_in_all_code_placements(point)) > 1 or id(point) not in placement_bound
        return KernelSpeed(
            test, titles.get(point.point.kernel, point.point.kernel), titles.get(point.point.board, point.point.board),
            point.point.cores, conditions[id(point)], series[id(point)], point,
            CodePlacementValueRange(values, 0.0, known), unit, is_rate,
        )  # fmt: skip

    figures = []
    for point in points:
        if not point.has_latency_samples:
            rates = places.range_of_measured_values(
                point, lambda item: counts_per_second_of_point(item).total_hz
            ).values
            name = readable_test_name(point.point, parameters[id(point)])
            figures.append(make_kernel_speed_of_point(name, point, rates, f"{point.unit}/s", is_rate=True))
    rows = latencies_by_instrument([item for item in points if item.has_latency_samples])
    homes: dict[str, set[str]] = {}
    for row in rows:
        homes.setdefault(row.title, set()).add(row.point.title)
    for row in rows:
        point = row.latency_by_least_intrusive_instrument.point
        cycles = places.latency_series_value_range(
            row.latency_by_least_intrusive_instrument, attrgetter("spread.median")
        ).values
        words = row.title if len(homes[row.title]) == 1 else f"{row.point.title}: {row.title}"
        name = ReadableTestName(words, "", parameters[id(point)])
        figures.append(make_kernel_speed_of_point(name, point, cycles, "cycles", is_rate=False))
    return [item for item in figures if min(item.figure.values) > 0]


def remove_benchmark_parameters_from_point(point: PointId) -> PointId:
    """Returns a point's identity without the parameters of its benchmark, its instrument and its measurement window."""
    left_out = {"instrument", "samples"}
    config = {
        key: value
        for key, value in point.config.items()
        if key not in left_out and (key == _PINNED or not key.startswith(_OWN))
    }
    return point.model_copy(update={"config": config, "window_ms": 0})


def _configuration_difference_texts(points: Sequence[MeasuredPoint]) -> list[str]:
    """Returns the configuration of each point as text, with only what differs between the points."""
    plain = [remove_benchmark_parameters_from_point(point.point) for point in points]
    alike = [
        point_id.model_copy(
            update={"kernel": "", "board": "", "cores": 1, "config": _configuration_shown_in_sentences(point_id)}
        )
        for point_id in plain
    ]
    return [name.replace(f"{_TASKS}=", f"{_TASKS} ") for name in distinct_point_names(alike, with_cores=False)]


def _configuration_shown_in_sentences(point: PointId) -> dict[str, str]:
    """Returns the configuration entries of a point that sentences may mention.

    On several cores it says if tasks are not pinned.
    """
    config = {key: value for key, value in point.config.items() if key != _PINNED}
    return {**config, _TASKS: "not pinned"} if "not pinned" in cores_and_pinning_text(point) else config


def _parameter_texts(points: Sequence[MeasuredPoint]) -> list[str]:
    """Returns the parameters of each point's benchmark as text, with only those that differ between the points."""
    own = [
        point.point.model_copy(
            update={
                "kernel": "", "board": "", "cores": 1, "window_ms": 0,
                "config": {
                    key: value
                    for key, value in point.point.config.items()
                    if key.startswith(_OWN) and key != _PINNED
                },
            }
        )
        for point in points
    ]  # fmt: skip
    return distinct_point_names(own, with_cores=False)
