"""Two kernels at the same time against one core alone and against one kernel on both cores, by figures made by hand."""

import io

import pytest
from rich.console import Console

from rtoslab.analyses.pair_rates import kernel_pairs, mean_cycles_per_benchmark_count
from rtoslab.reports.sections.two_kernels import concurrent_kernels_report_section
from rtoslab.reports.terminal import print_point_results
from rtoslab.results import MeasuredPoint
from tests.fakes import measured_point


def on_core(core: int, kernel: str, beside: str, per_core: int, **config: str) -> MeasuredPoint:
    config = {"beside": beside, "core": str(core), **config}
    return measured_point(1, per_core, kernel=kernel, config=dict(sorted(config.items())))


ALONE = measured_point(1, 1000, kernel="k")
OTHER_ALONE = measured_point(1, 500, kernel="other")
SHARED = measured_point(2, 400, kernel="k")
SAME = [on_core(0, "k", "k", 900), on_core(1, "k", "k", 800)]
MIXED = [on_core(0, "k", "other", 900), on_core(1, "other", "k", 250)]


def test_a_pair_keeps_parts_of_what_its_kernels_do_alone() -> None:
    (pair,) = kernel_pairs([ALONE, SHARED, *SAME])
    assert pair.kernel_names == "k+k"
    assert list(pair.kernel_rates_hz) == [3600, 3200]
    assert list(pair.kernel_speeds_relative_to_running_alone) == [pytest.approx(0.9), pytest.approx(0.8)]
    assert pair.work_in_single_core_units == pytest.approx(1.7)
    assert pair.gain_over_shared_kernel == pytest.approx(1700 / 800)


def test_of_two_kernels_each_is_compared_with_itself() -> None:
    (pair,) = kernel_pairs([ALONE, OTHER_ALONE, SHARED, *MIXED])
    assert pair.kernel_names == "k+other"
    assert pair.work_in_single_core_units == pytest.approx(0.9 + 0.5)
    assert pair.gain_over_shared_kernel is None  # no kernel of the two runs on both cores


def test_without_the_points_of_one_core_there_is_no_gain() -> None:
    (pair,) = kernel_pairs(SAME)
    assert pair.work_in_single_core_units is None
    assert pair.gain_over_shared_kernel is None


def test_a_point_without_its_partner_is_no_pair() -> None:
    assert kernel_pairs([ALONE, SAME[0]]) == []
    assert kernel_pairs([SAME[0], on_core(1, "k", "k", 800, code="sram")]) == []


def test_the_division_of_the_sram_is_no_condition_of_the_kernel_alone() -> None:
    banks = [on_core(0, "k", "k", 900, ram="banks"), on_core(1, "k", "k", 900, ram="banks")]
    (pair,) = kernel_pairs([ALONE, *banks])
    assert pair.configuration_text == "ram=banks"
    assert pair.work_in_single_core_units == pytest.approx(1.8)


def test_the_cycles_of_a_count_and_its_waits() -> None:
    cycles = mean_cycles_per_benchmark_count(SHARED)
    assert cycles is not None
    assert (cycles.cycles, cycles.bus_wait, cycles.flash_wait, cycles.lock_wait) == (78_125, 1000, 250, 0)


def test_report_and_terminal_show_the_pair() -> None:
    section = concurrent_kernels_report_section([ALONE, SHARED, *SAME])
    assert section is not None
    assert (
        "Two cores do 1.70 times the work of one core if each runs a separate k, and 0.80 times if one k runs on both"
        in section.prose[0]
    )
    assert section.tables[0].rows[0][3:] == ["3,600 (90.0%)", "3,200 (80.0%)", "170.0%", "x 2.12"]
    assert [row[1] for row in section.tables[1].rows] == ["k, one core", "k, both cores", "k+k, core 0", "k+k, core 1"]
    assert concurrent_kernels_report_section([ALONE, SHARED]) is None
    console = Console(width=120, record=True, file=io.StringIO())
    print_point_results([ALONE, SHARED, *SAME], console)
    shown = console.export_text()
    assert "Two kernels, one on each core, at the same time" in shown
    assert "6,800" in shown
    assert "170%" in shown
    assert "212%" in shown
