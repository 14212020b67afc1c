"""What more cores cost, and what stress costs, against figures worked out by hand."""

import pytest

from rtoslab.analyses.collisions import compare_stress_runs, group_runs_by_stress_level
from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.analyses.losses_by_cause import (
    cycles_per_benchmark_count_by_cause,
    longest_held_spinlock,
    multicore_performance_losses,
)
from rtoslab.analyses.placed_figures import CodePlacementLookup
from rtoslab.reports.sections.costs import core_cycles_report_section
from rtoslab.reports.sections.losses import multicore_losses_report_section
from rtoslab.reports.sections.scaling import core_scaling_report_section
from rtoslab.reports.sections.stress import stress_section
from rtoslab.results.results import MeasuredPoint, TaskCount
from rtoslab.results.virtual_result import BlockingCallUse, CriticalSectionUse
from tests.fakes import measured_point


def pattern(cores: int, per_core: int, wait: int = 0, shared: int = 0) -> MeasuredPoint:
    point = measured_point(cores, per_core, wait=wait)
    identity = point.point.model_copy(update={"title": "P2-3 take and give", "config": {"param.shared": str(shared)}})
    update = {"metric": "access_pattern.semaphore", "point": identity, "params": {"shared": str(shared)}}
    return point.model_copy(update=update)


def stress_point(percent: int, pairs: int, seed: int = 1, failed: tuple[int, int] = (0, 0)) -> MeasuredPoint:
    point = measured_point(2, pairs, wait=3_000_000 if percent else 0)
    assert point.virtual is not None
    config = {"param.stress_percent": str(percent), "param.seed": str(seed)}
    waits = tuple(
        BlockingCallUse(core=core, collided=min(1, failure), failed=failure, blocked=0)
        for core, failure in enumerate(failed)
    )
    return point.model_copy(
        update={
            "metric": "stress.semaphore",
            "metric_cores": (0,),
            "counters": (TaskCount(core=0, index=0, count=pairs), TaskCount(core=1, index=0, count=800)),
            "checks": {"accesses": {0: 0, 1: 8 * percent}},
            "params": {"stress_percent": str(percent), "seed": str(seed)},
            "point": point.point.model_copy(update={"title": "C1 stress", "config": config}),
            "virtual": point.virtual.model_copy(update={"waits": waits}),
        }
    )


def test_parts_of_a_loss_add_up_to_it() -> None:
    (loss,) = multicore_performance_losses([pattern(1, 1000), pattern(2, 500, wait=3_000_000)])
    assert loss.one_core.total_cycles == pytest.approx(31_250)
    assert loss.many_cores.total_cycles == pytest.approx(62_500)
    assert sum(loss.multicore_extra_cycles_by_cause.values()) == pytest.approx(31_250)
    assert loss.multicore_extra_cycles_by_cause["spinlock wait"] == 6000
    assert loss.multicore_extra_cycles_by_cause["kernel"] == pytest.approx((19_500_000 - 3_000_000) / 500 - 19_500)


def test_busiest_lock_is_that_of_the_longest_hold_over_all_cores() -> None:
    assert longest_held_spinlock(measured_point(2)) is None
    lock = longest_held_spinlock(measured_point(2, 1000, wait=3_000_000))
    assert lock is not None
    assert lock.held_part == pytest.approx(2 * 5000 / 31_250_000)
    assert (lock.contended_part, lock.wait_cycles_mean, lock.per_count) == (0.5, 30_000, 0.1)


def test_cycles_in_critical_sections_are_per_count() -> None:
    point = measured_point(2, 1000)
    assert point.virtual is not None
    uses = tuple(CriticalSectionUse(core=core, sections=2000, cycles=300_000, longest_cycles=200) for core in (0, 1))
    cost = cycles_per_benchmark_count_by_cause(
        point.model_copy(update={"virtual": point.virtual.model_copy(update={"critical": uses})})
    )
    assert cost is not None
    assert (cost.critical_cycles, cost.section_count) == (300, 2)
    assert cycles_per_benchmark_count_by_cause(point) is not None
    assert cycles_per_benchmark_count_by_cause(point.model_copy(update={"virtual": None})) is None


def test_shares_of_the_cores() -> None:
    uneven = measured_point(2, 1000)
    rate = counts_per_second_of_point(
        uneven.model_copy(update={"counters": (uneven.counters[0], TaskCount(core=1, index=0, count=250))})
    )
    assert rate.benchmark_counter_share_by_core == {0: 0.8, 1: 0.2}
    assert rate.slowest_to_fastest_core_rate_ratio == 0.25


def test_levels_are_normalised_to_the_same_run_without_stress() -> None:
    result = compare_stress_runs(
        [stress_point(0, 1000), stress_point(10, 250), stress_point(0, 500, seed=2), stress_point(10, 250, seed=2)]
    )
    assert [level.normalised for level in result] == [1.0, 0.25, 1.0, 0.5]
    assert [level.accesses for level in result] == [0, 80, 0, 80]
    assert [level.stress_busy for level in result] == [pytest.approx(1 - 10_000_000 / 31_250_000)] * 4
    assert [step.rate_range_relative_to_unstressed_run for step in group_runs_by_stress_level(result)] == [
        (1.0, 1.0, 1.0),
        (0.25, 0.375, 0.5),
    ]
    assert compare_stress_runs([stress_point(10, 250)])[0].normalised is None
    assert compare_stress_runs([measured_point(2)]) == []


def test_stress_section_reports_a_starving_call() -> None:
    calm = stress_section([stress_point(0, 1000), stress_point(10, 250, failed=(3, 20))])
    starved = stress_section([stress_point(0, 1000), stress_point(10, 250, failed=(3, 250))])
    assert calm is not None
    assert starved is not None
    assert "At 10 % the target keeps 25%" not in " ".join(calm.prose), "one level has no first and last"
    assert "starves" not in " ".join(calm.prose)
    assert "In the one run with stress, one core's calls starve" in " ".join(starved.prose)
    assert "250 attempts of core 1 fail in 1 call. These are 1.00 attempts for each take" in " ".join(starved.prose)
    assert [row[:3] for row in starved.tables[0].rows] == [["0", "1", "4,000"], ["10", "1", "1,000"]]
    assert starved.tables[0].rows[1][6:8] == ["12 (1)", "1,000 (1)"]
    assert [mark["y"] for mark in starved.charts[0].rows] == [100, 25]
    assert stress_section([measured_point(2)]) is None


def test_chart_of_cycles_shows_one_run_of_each_seed() -> None:
    points = [stress_point(percent, 1000, seed) for percent in (0, 10) for seed in (1, 2, 3)]
    section = core_cycles_report_section(points)
    assert section is not None
    names = dict.fromkeys(row["row"] for row in section.charts[0].rows)
    assert list(names) == [
        f"2 cores (pinned), stress_percent={percent}, core {core}" for percent in (0, 10) for core in (0, 1)
    ]
    assert len(section.tables[0].rows) == 12


def test_sections_on_access_patterns() -> None:
    points = [pattern(cores, 1000 // cores, shared=shared) for shared in (0, 1) for cores in (1, 2)]
    section = core_scaling_report_section(points, CodePlacementLookup())
    assert section is not None
    assert [(mark["x"], mark["series"], mark["y"]) for mark in section.charts[0].rows] == [
        ("P2-3 take and give", "an object for each core", 50),
        ("P2-3 take and give", "one object for all cores", 50),
    ]
    assert section.tables[0].rows[0][2:4] == ["50.0%", "100.0%"]
    assert core_scaling_report_section([measured_point(1), measured_point(2)], CodePlacementLookup()) is None
    explained = multicore_losses_report_section(points, ())
    assert explained is not None
    assert {row["row"] for row in explained.charts[0].rows} == {
        f"{cores}, shared={shared}" for cores in ("1 core", "2 cores (pinned)") for shared in (0, 1)
    }
    assert multicore_losses_report_section([measured_point(1)], ()) is None
