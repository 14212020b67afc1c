"""Times drawn over a run: every sample or the longest of a stretch, and the peaks where all periods coincide."""

import math
from typing import Any

from rtoslab.catalogue.paper_schemas import SampleTraceChart
from rtoslab.papers.over_time import MOST_MARKS, nearly_longest_samples, over_time_chart, times_and_durations_of_samples
from rtoslab.results.results import MeasuredPoint, SeriesSamples
from tests.fakes import measured_point

FIGURE = SampleTraceChart(
    title="Figure 4", where={"benchmark": "t2"}, series="tick.released_", colour="kernel", y_title="tick, µs"
)
CLOCK_HZ = 1_000_000
PERIODS_MS = (4, 6, 10)


def _series(ident: str, times_ms: list[int], cycles: int) -> SeriesSamples:
    facts: dict[str, Any] = {"id": ident, "title": ident, "instrument": "probe", "comparable": True}
    return SeriesSamples(
        **facts, cycles=(cycles,) * len(times_ms), start_cycle=tuple(1000 * times_m + 7000 for times_m in times_ms)
    )


def _run(length_ms: int) -> MeasuredPoint:
    """A tick of 10 µs, and 5 for each of three tasks that it releases; another series is none of the tick's."""
    by_count: dict[int, list[int]] = {}
    for at in range(length_ms):
        by_count.setdefault(sum(at % periods_m == 0 for periods_m in PERIODS_MS), []).append(at)
    series = [_series(f"tick.released_{count}", times, 10 + 5 * count) for count, times in by_count.items()]
    return measured_point(1).model_copy(
        update={"series": (*series, _series("tick.entry", [3], 900)), "clock_hz": CLOCK_HZ, "run_id": "r"}
    )


def test_samples_of_all_series_are_ordered_by_time() -> None:
    result = times_and_durations_of_samples(_run(5), "tick.released_")
    assert result == [(0.0, 25.0), (0.001, 10.0), (0.002, 10.0), (0.003, 10.0), (0.004, 15.0)]


def test_peaks_are_the_coincidences_of_all_periods() -> None:
    together = math.lcm(*PERIODS_MS)
    result = nearly_longest_samples(times_and_durations_of_samples(_run(5 * together), "tick.released_"))
    assert [(round(1000 * at), us) for at, us in result] == [(index * together, 25.0) for index in range(5)]


def test_longest_sample_of_each_interval_is_drawn() -> None:
    drawn = over_time_chart(FIGURE, [_run(20 * MOST_MARKS)])
    assert drawn is not None
    chart, table = drawn
    assert len(chart.rows) <= MOST_MARKS + 1
    assert max(row["high"] for row in chart.rows) == 25.0
    assert sum(row["high"] == 25.0 for row in chart.rows) == 20 * MOST_MARKS / 60 // 1 + 1, "no peak is lost"
    assert [row[2] for row in table.rows] == ["25.000"] * 12


def test_chart_names_its_placement() -> None:
    for several in (False, True):
        drawn = over_time_chart(FIGURE, [_run(5)], in_several_placements=several)
        assert drawn is not None
        assert [("one of them, the linker's own order" in text) for text in (drawn[0].caption, drawn[1].note)] == [
            several
        ] * 2


def test_missing_point_gives_no_chart() -> None:
    assert over_time_chart(FIGURE.model_copy(update={"where": {"benchmark": "t3"}}), [_run(5)]) is None
    assert over_time_chart(FIGURE.model_copy(update={"series": "switch."}), [_run(5)]) is None


def test_reference_result_without_times_is_not_drawn() -> None:
    stored = [series_samples.model_copy(update={"start_cycle": ()}) for series_samples in _run(5).series]
    reference = _run(5).model_copy(update={"series": tuple(stored)})
    assert times_and_durations_of_samples(reference, "tick.released_") == []
    assert over_time_chart(FIGURE, [reference]) is None
