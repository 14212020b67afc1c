"""Which points a latency benchmark becomes: one by each instrument, as many samples as the board has memory for."""

import pytest

from rtoslab.api.real_boards import mark_unreadable_points
from rtoslab.base.errors import PlanError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli.names import split_names
from rtoslab.plan.plan import MeasurementPlan, PlannedPoint, PlanOptions, make_measurement_plan

CATALOGUE = Catalogue(find_checkout_root())
TIMED = "call_times"


def latency_plan(
    name: str = TIMED, board: str = "nucleo-f446re", cores: int = 1, *, full: bool = False, **config: str
) -> MeasurementPlan:
    options = PlanOptions(["freertos"], [board], [cores], config=config, full=full)
    return make_measurement_plan(CATALOGUE, [name], options)


def latency_point(
    name: str = TIMED, board: str = "nucleo-f446re", cores: int = 1, *, full: bool = False, **config: str
) -> PlannedPoint:
    (point,) = latency_plan(name, board, cores, full=full, instrument="counter", **config).points
    return point


def test_every_instrument_is_used_by_default() -> None:
    assert [point.instrument for point in latency_plan().points] == ["counter", "pin", "probe"]
    assert [point.instrument for point in latency_plan(instrument="probe,counter").points] == ["probe", "counter"]
    with pytest.raises(UnknownNameError, match="no instrument named 'sundial'"):
        latency_plan(instrument="sundial")


def test_kind_selects_all_its_benchmarks() -> None:
    timed = {benchmark.id for benchmark in CATALOGUE.benchmarks.values() if benchmark.facts.kind == "latency"}
    assert {point.benchmark for point in latency_plan("latency").points} == timed
    assert TIMED in timed
    assert all(point.instrument is None and point.samples is None for point in latency_plan("counts").points)


def test_window_is_as_long_as_proofs_need_by_default() -> None:
    least = CATALOGUE.find_benchmark("switch_pairs").facts.window_ms
    assert [point.window_ms for point in latency_plan("switch_pairs").points] == [least]
    assert least > {point.benchmark: point.window_ms for point in latency_plan("counts").points}["t7_synchronisation"]
    request = PlanOptions(["freertos"], ["pico"], [1], window_ms=20)
    assert [point.window_ms for point in make_measurement_plan(CATALOGUE, ["switch_pairs"], request).points] == [20]


def test_number_of_samples_comes_from_benchmark_paper_or_user() -> None:
    facts = CATALOGUE.find_benchmark(TIMED).facts
    assert (latency_point().samples, latency_point(full=True).samples, latency_point(samples="7").samples) == (
        facts.samples,
        facts.full_samples,
        7,
    )
    with pytest.raises(PlanError, match="at least one"):
        latency_point(samples="0")


def test_small_board_limits_samples_and_reports_it() -> None:
    limit = CATALOGUE.find_board("nucleo-l053r8").facts.limits.sample_bytes
    assert limit is not None
    series = len(CATALOGUE.find_benchmark(TIMED).facts.latency_series_ids)
    fits = latency_point(TIMED, "nucleo-l053r8")
    assert fits.samples is not None
    assert 4 * series * fits.samples <= limit < 4 * series * (fits.samples + 1)
    assert fits.not_applicable is None
    assert "has memory for" in str(latency_point(TIMED, "nucleo-l053r8", samples=str(fits.samples + 1)).not_applicable)


def test_samples_of_whole_blocks_are_required() -> None:
    facts = CATALOGUE.find_benchmark("timer_jitter").facts
    assert facts.samples_multiple > 1
    assert facts.samples % facts.samples_multiple == facts.full_samples % facts.samples_multiple == 0
    assert latency_point("timer_jitter", samples="40").not_applicable is None
    assert latency_point("timer_jitter", samples="100").not_applicable == (
        "the number of samples must be a multiple of 8, for example 96 or 104, not 100"
    )
    fits = latency_point("timer_jitter", "nucleo-l053r8").samples
    assert fits is not None
    assert fits % facts.samples_multiple == 0


def test_latencies_are_measured_on_one_core() -> None:
    assert latency_point(TIMED, "pico", cores=2).not_applicable == "latencies are measured on one core"


def test_real_board_uses_its_cycle_counter() -> None:
    readable = {point.instrument: point.not_applicable for point in mark_unreadable_points(latency_plan()).points}
    assert readable["counter"] is None
    assert "cycle counter" in str(readable["pin"])
    assert "cycle counter" in str(readable["probe"])
    assert all(point.not_applicable is None for point in mark_unreadable_points(latency_plan("t7")).points)


def test_names_of_an_option_may_be_listed() -> None:
    assert split_names((), ["a", "b"]) is None
    assert split_names(("b,a", "b"), ["a", "b"]) == ("b", "a")
    assert split_names(("all",), ["a", "b"]) == ("a", "b")
