"""Draws the times of a handler or call over the run, as an analyser's trace shows them.

The peaks of a spread may look random although they occur whenever all periods coincide. Figures over time show this."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rtoslab.analyses import select_values_by_coordinates, values_of_points
from rtoslab.catalogue import SampleTraceChart
from rtoslab.reports import ChartData, TableData
from rtoslab.results import MeasuredPoint

MOST_MARKS: Final = 400
"""The most marks along the axis. Of more samples the longest of each section of time is shown."""
LINKERS_ORDER: Final = "A point in several placements is shown in one of them, the linker's own order."
MOST_PEAKS: Final = 12
"""The most rows of the table."""


def over_time_chart(
    figure: SampleTraceChart, measured: Iterable[MeasuredPoint], *, in_several_placements: bool = False
) -> tuple[ChartData, TableData] | None:
    """Returns a chart of the samples of runs over time, and a table of the longest samples. None if nothing of it was
    measured. `in_several_placements` adds a note that one of several placements is shown."""
    marks: list[dict[str, Any]] = []
    rows: list[list[str]] = []
    for result in measured:
        here, values_ = (
            select_values_by_coordinates(values_of_points([result])[:1], figure.where),
            times_and_durations_of_samples(result, figure.series),
        )
        if not here or not values_:
            continue
        name = f"{figure.colour} {here[0].coordinate_on_axis(figure.colour)}"
        marks += [
            {"series": name, "x": at, "low": 0.0, "high": us} for at, us in _longest_sample_of_each_time_bin(values_)
        ]
        rows += [[name, f"{at:,.3f}", f"{us:,.3f}"] for at, us in nearly_longest_samples(values_)]
    if not marks:
        return None
    caption = " ".join(filter(None, (f"{figure.title}.", figure.note, LINKERS_ORDER if in_several_placements else "")))
    chart = ChartData("sweep", marks, caption, "time since the first sample, s", figure.y_title)
    columns = ("", ">at, s", f">{figure.y_title}")
    return chart, TableData(
        f"{figure.title}: the longest", columns, rows, LINKERS_ORDER if in_several_placements else ""
    )


def times_and_durations_of_samples(measured: MeasuredPoint, series: str) -> list[tuple[float, float]]:
    """Returns the time in seconds (since the first sample) and the length in microseconds of every sample of a measured
    point, by time. The ids of the series begin with `series`.

    Empty for a reference result, which has no times of its samples.
    """
    samples_ = sorted(
        (begin, cycles)
        for series_samples in measured.series
        if series_samples.id.startswith(series) and series_samples.start_cycle
        for begin, cycles in zip(series_samples.start_cycle, series_samples.cycles, strict=True)
    )
    hz = measured.clock_hz
    return [((begin - samples_[0][0]) / hz, 1e6 * cycles / hz) for begin, cycles in samples_]


def nearly_longest_samples(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the samples (time, length) that are nearly as long as the longest, in the order of time, at most
    twelve."""
    longest = max(us for _, us in points)
    high = sorted((point for point in points if point[1] >= 0.95 * longest), key=lambda pair: -pair[1])
    return sorted(high[:MOST_PEAKS])


def _longest_sample_of_each_time_bin(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the longest sample of each section of time, so that a chart has at most some hundred marks."""
    step = (points[-1][0] - points[0][0]) / MOST_MARKS or 1.0
    longest: dict[int, tuple[float, float]] = {}
    for at, us in points:
        place = int(at / step)
        longest[place] = max(longest.get(place, (at, us)), (at, us), key=lambda pair: pair[1])
    return list(longest.values()) if len(points) > MOST_MARKS else list(points)
