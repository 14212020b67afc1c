"""Latency benchmarks on virtual boards: the instruments tell the same, and what is stored is what was measured."""

from pathlib import Path

from rtoslab import api
from rtoslab.analyses.latency import latencies_by_instrument
from rtoslab.results.results import MeasuredPoint


def measure_points(name: str, out: Path, board: str, kernel: str, **config: str) -> list[MeasuredPoint]:
    outcomes = api.run(name, kernels=[kernel], boards=[board], config=config, out=out)
    results = [outcome.result for outcome in outcomes]
    assert all(isinstance(result, MeasuredPoint) for result in results), results
    return [result for result in results if isinstance(result, MeasuredPoint)]


def test_three_instruments_agree(tmp_path: Path) -> None:
    points = measure_points("preemption", tmp_path / "run", "pico", "freertos", samples="20")
    result = latencies_by_instrument(points)
    assert len(result) == 4
    for comparison in result:
        assert list(comparison.by_instrument) == ["counter", "pin", "probe"]
        apart = comparison.largest_median_difference_cycles
        assert apart is not None
        assert apart <= 12, f"{comparison.id}: {apart}"
        left_over = comparison.by_instrument["counter"].remaining_instrument_overhead_cycles
        assert left_over is not None
        assert abs(left_over) <= 3, comparison.id
        assert set(comparison.by_instrument["probe"].series.switches) == {1}


def test_same_point_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        measure_points("call_times", tmp_path / name, "nucleo-l073rz", "bare", samples="9", instrument="counter")
    (first,), (second,) = (sorted((tmp_path / name / "points").iterdir()) for name in ("one", "two"))
    assert first.name == second.name
    for file in ("result.json", "samples.parquet", "uart.txt"):
        assert (first / file).read_bytes() == (second / file).read_bytes()
    assert b"values=" in (first / "uart.txt").read_bytes()


def test_edge_interrupts_at_once_whatever_the_core_does(tmp_path: Path) -> None:
    """The interrupted task spins: nothing but the edge itself makes the core look."""
    (point,) = measure_points("task_activation", tmp_path / "run", "pico", "freertos", samples="10", instrument="probe")
    (handler, task) = latencies_by_instrument([point])
    assert 16 <= handler.latency_by_least_intrusive_instrument.spread.maximum <= 60
    assert (
        handler.latency_by_least_intrusive_instrument.spread.maximum
        < task.latency_by_least_intrusive_instrument.spread.minimum
    )
