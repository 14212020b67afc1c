"""One operation by four instruments: who agrees, by how much, and where there is nothing to compare."""

from pathlib import Path

import rtoslab
from rtoslab.analyses.instrument_agreement import ITERATIONS, compare_instruments
from rtoslab.analyses.placed_figures import CodePlacementLookup
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.reports.sections.probe_effect import probe_effect_section
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.store import RunDirectory

TAKE_AND_GIVE = {"t7_synchronisation": ("semaphore.take.available", "semaphore.give.no_waiter")}


def test_benchmark_declares_the_calls_of_a_count() -> None:
    catalogue = Catalogue(find_checkout_root())
    assert {name: item.facts.metric.intervals for name, item in catalogue.benchmarks.items()
            if item.facts.metric.intervals} == TAKE_AND_GIVE  # fmt: skip
    known = {series for benchmark in catalogue.benchmarks.values() for series in benchmark.facts.latency_series_ids}
    assert known >= set(TAKE_AND_GIVE["t7_synchronisation"])


def test_operation_is_compared_by_iterations_counter_pin_and_probe(tmp_path: Path) -> None:
    outcomes = rtoslab.run("t7", "call_times", kernels=["freertos"], boards=["nucleo-f446re"], cores=[1], window_ms=20,
                           config={"samples": "20"}, out=tmp_path / "run")  # fmt: skip
    points = [outcome.result for outcome in outcomes if isinstance(outcome.result, MeasuredPoint)]
    assert len(points) == 4, [outcome.result for outcome in outcomes]
    (result,) = compare_instruments(points, CodePlacementLookup(), TAKE_AND_GIVE)
    assert set(result.by_instrument) == {ITERATIONS, "counter", "pin", "probe"}
    for way in ("counter", "pin"):
        more = result.difference_from_virtual_probe(way)
        assert more is not None
        assert abs(more.median) <= 24, way
    # The tests of both results, and the tick, are in the iterations: they must tell more, but not another operation.
    extra = result.difference_from_virtual_probe(ITERATIONS)
    assert extra is not None
    assert 0 < extra.median < 0.2 * result.by_instrument["probe"].median
    section = probe_effect_section(points, CodePlacementLookup(), TAKE_AND_GIVE)
    assert section is not None
    assert [row["series"] for row in section.charts[0].rows] == [ITERATIONS, "counter", "pin"]
    assert RunDirectory.open_run_directory(tmp_path / "run").read_measured_points()
    single = [point for point in points if not point.has_latency_samples]
    assert compare_instruments(single, CodePlacementLookup(), TAKE_AND_GIVE) == []
    assert probe_effect_section(single, CodePlacementLookup(), TAKE_AND_GIVE) is None
    other = [point if point.has_latency_samples else point.model_copy(update={"point": point.point.model_copy(
        update={"kernel": "another"})}) for point in points]  # fmt: skip
    assert compare_instruments(other, CodePlacementLookup(), TAKE_AND_GIVE) == []
