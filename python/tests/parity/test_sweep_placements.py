"""Effects and costs of points in several placements: what some choice of places would undo is not claimed."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.analyses.middle_placement import group_points_over_code_placements
from rtoslab.analyses.place_matters import results_depending_on_addresses
from rtoslab.analyses.placed_times import main_point_times_in_code_placements
from rtoslab.base.errors import PlanError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.strict_files import read_validated_toml
from rtoslab.parity.concepts import CONCEPTS
from rtoslab.parity.costs import (
    ConfigurationChangeCost,
    ConfigurationCostFile,
    configuration_costs_from_points,
    read_configuration_change_costs,
    update_configuration_cost_file,
)
from rtoslab.parity.unfairness import UnfairDifference
from rtoslab.reports import make_report_document, print_point_results, report_formats
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.stored_point import StoredMeasurementPoint
from rtoslab.sweep.effects import SweepObservations
from rtoslab.sweep.plan import plan_sweep_points, read_sweep_plan
from rtoslab.sweep.report import make_sweep_report
from tests.sweep.test_sweep import PLAN, point_taking, write_plan

FLASH = {"build": {"cores": 1, "code": "flash", "clock": {"wait_states": "2"}}, "board": {"core": "cortex-m4f"}}
CYCLES = 20
"""Of a count: few, so that rounding to whole counts is worth nothing."""


def points_in_placements(benchmark: str, percents: list[float], **config: str) -> list[MeasuredPoint]:
    """One point in as many placements as there are figures, each so many percent over CYCLES."""
    results = []
    for number, item in enumerate(percents):
        point = point_taking(CYCLES * (1 + item / 100), benchmark, **config, placement=str(number))
        results.append(point.model_copy(update={"run_id": f"{benchmark}{config}{number}"}))
    return results


def swept() -> list[MeasuredPoint]:
    """Of `a`, t depends beyond all places and u within them; of `b`, neither does."""
    return [
        *points_in_placements("t", [0, 1, 2], a="0", b="0"),
        *points_in_placements("t", [5, 6, 7], a="1", b="0"),
        *points_in_placements("t", [1, 2, 0], a="0", b="1"),
        *points_in_placements("u", [0, 1, 2], a="0", b="0"),
        *points_in_placements("u", [1, 2.5, 3], a="1", b="0"),
        *points_in_placements("u", [0.5, 1.5, 2.5], a="0", b="1"),
    ]


def test_point_in_several_placements_is_one_point_with_a_band() -> None:
    result = {
        (time.point.benchmark, *time.point.config.items()): time
        for time in main_point_times_in_code_placements(swept())
    }
    assert len(result) == 6
    band = result["t", ("a", "1"), ("b", "0")].seconds
    assert len(band.values) == 3
    assert band.median / band.smallest == pytest.approx(1.06 / 1.05, rel=1e-3)


def test_effect_is_reported_if_no_placement_reverses_it() -> None:
    effects = {
        (effect.option, effect.level): effect for effect in SweepObservations(swept()).effects_of_option_values()
    }
    assert set(effects) == {("a", "1"), ("b", "1")}, "the placement is no option"
    assert effects["a", "1"].benchmarks_with_clear_effect == ["t"]
    assert effects["a", "1"].time_ratios_by_benchmark["t"] == pytest.approx(1.06 / 1.01, rel=1e-3)
    assert effects["a", "1"].ratios["t"].smallest == pytest.approx(1.05 / 1.02, rel=1e-3)
    assert effects["a", "1"].pairs == 2
    assert effects["b", "1"].benchmarks_with_clear_effect == []


def test_every_change_counts_without_wait_states() -> None:
    single = [loop for loop in swept() if loop.point.config["placement"] == "0"]
    assert SweepObservations(single).max_placements == 1
    assert [
        effect.benchmarks_with_clear_effect
        for effect in SweepObservations(single).effects_of_option_values()
        if effect.option == "a"
    ] == [["t", "u"]]


def test_no_effect_is_reported_in_one_placement_with_wait_states(tmp_path: Path) -> None:
    single = [loop for loop in swept() if loop.point.config["placement"] == "0"]
    stored = [StoredMeasurementPoint(Path("x"), loop, FLASH) for loop in single]
    bound = results_depending_on_addresses(stored)
    effects = {effect.option: effect for effect in SweepObservations(single, bound).effects_of_option_values()}
    assert (effects["a"].benchmarks_with_clear_effect, effects["a"].benchmarks_with_unproven_option_effect) == (
        [],
        ["t", "u"],
    )
    document = make_sweep_report("T", stored)
    assert "In one placement each the largest change is that of a 0 to 1: +3.0 % of time on average" in document.summary
    assert "so no effect is reported" in document.summary
    text = report_formats()["md"](document)
    assert "not known: one placement" in text
    assert "in the plan, changes larger than the bands are reported" in text
    costs = {cost.key: cost for cost in configuration_costs_from_points(single, bound)}
    assert (costs["a"].placement, costs["a"].one_placement) == ((), ("t", "u"))
    assert (
        unfairness("a", costs["a"]).unfair_difference_cost_text
        == "k, a: t +5.0 % (one placement), u +1.0 % (one placement)"
    )
    assert costs["a"].cost_of_reverse_configuration_change().one_placement == ("t", "u")
    update_configuration_cost_file([costs["a"]], tmp_path / "costs.toml")
    assert read_validated_toml(tmp_path / "costs.toml", ConfigurationCostFile).cost == (costs["a"],)
    several = make_sweep_report("T", [StoredMeasurementPoint(Path("x"), loop, FLASH) for loop in swept()])
    assert "The option with the largest effect is a 0 to 1" in several.summary


def test_report_names_placement() -> None:
    document = make_sweep_report("T", [StoredMeasurementPoint(Path("x"), loop, {}) for loop in swept()])
    text = report_formats()["md"](document)
    assert "The option with the largest effect is a 0 to 1" in document.summary
    assert "+5.0 % (+2.9 % to +7.0 %) for t" in document.summary
    assert "1 of 2: t" in text
    assert "no: placement" in text
    within = [loop for loop in swept() if loop.point.config["a"] == "0"]
    alike = make_sweep_report("T", [StoredMeasurementPoint(Path("x"), loop, {}) for loop in within])
    assert "No option changes the time by more than the placement of the code does." in alike.summary


def test_costs_list_benchmarks_within_placement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {cost.key: cost for cost in configuration_costs_from_points(swept())}
    assert set(costs) == {"a", "b"}
    assert costs["a"].placement == ("u",)
    assert costs["a"].percent["t"] == pytest.approx(4.95, abs=0.05)
    assert costs["b"].placement == ("u",), "the medians of t are the same: no change to explain"
    assert costs["a"].cost_of_reverse_configuration_change().placement == ("u",)
    assert costs["a"].band["t"] == pytest.approx((2.94, 7.0), abs=0.05)
    turned = costs["a"].cost_of_reverse_configuration_change()
    assert turned.band["t"][0] < turned.percent["t"] < turned.band["t"][1] < 0
    assert (
        unfairness("a", costs["a"]).unfair_difference_cost_text
        == "k, a: t +5.0 % (+2.9 to +7.0), u +1.5 % (-1.0 to +3.0; placement)"
    )
    narrow = costs["a"].model_copy(update={"band": {"t": (4.96, 5.04)}})
    assert unfairness("a", narrow).unfair_difference_cost_text == "k, a: t +5.0 %, u +1.5 % (placement)", (
        "ends that read alike are not shown"
    )
    path = tmp_path / "baselines" / "costs.toml"
    update_configuration_cost_file(list(costs.values()), path)
    monkeypatch.chdir(tmp_path)
    assert read_configuration_change_costs(tmp_path) == tuple(costs.values())


def unfairness(change: str, cost: ConfigurationChangeCost) -> UnfairDifference:
    return UnfairDifference(CONCEPTS[0], "b", {}, ("t", "u"), ((f"k, {change}", cost),))


def squares(extra: float) -> list[MeasuredPoint]:
    """`a` and `b` cost a tenth each; both together `extra` percent more than that; each in three placements."""
    cells = [("0", "0", 0.0), ("0", "1", 10.0), ("1", "0", 10.0), ("1", "1", 21 + 1.21 * extra)]
    return [
        point
        for a, b, percent in cells
        for point in points_in_placements("t", [percent - 0.5, percent, percent + 0.5], a=a, b=b)
    ]


def test_interaction_within_the_bands_is_placement() -> None:
    (inside,), (beyond,) = (SweepObservations(squares(extra)).interactions_of_option_changes() for extra in (1.0, 6.0))
    assert inside.ratio.value == pytest.approx(1.01, rel=1e-3)
    assert (inside.ratio.differs_in_all_code_placements, beyond.ratio.differs_in_all_code_placements) == (False, True)
    texts = [
        report_formats()["md"](
            make_sweep_report("T", [StoredMeasurementPoint(Path("x"), square, {}) for square in squares(extra)])
        )
        for extra in (1.0, 6.0)
    ]
    assert (
        "0 pairs of changes and benchmarks are shown, with a difference of 0.2% or more. 1 more are not shown, because "
        "another choice" in texts[0]
    )
    assert "1 pair of changes is shown, with a difference of 0.2% or more." in texts[1]
    assert re.search(r"\+6\.0 % \(\+[34]\.\d % to \+[78]\.\d %\)", texts[1])


def test_fastest_configuration_lists_equally_fast_ones() -> None:
    seen = SweepObservations(swept())
    assert [seen.count_equally_quick_configurations(target) for target in ("t", "u")] == [1, 2]
    text = report_formats()["md"](
        make_sweep_report("T", [StoredMeasurementPoint(Path("x"), loop, {}) for loop in swept()])
    )
    assert "As quick: the number of other configurations" in text
    single = [loop for loop in swept() if loop.point.config["placement"] == "0"]
    plain = report_formats()["md"](
        make_sweep_report("T", [StoredMeasurementPoint(Path("x"), loop, {}) for loop in single])
    )
    assert "As quick" not in plain


def test_sweep_plan_requests_placements(tmp_path: Path) -> None:
    catalogue = Catalogue(find_checkout_root())
    plan = plan_sweep_points(catalogue, read_sweep_plan(write_plan(tmp_path, f"placements = 3\n{PLAN}")))
    once = plan_sweep_points(catalogue, read_sweep_plan(write_plan(tmp_path)))
    assert len(plan.points) == 3 * len(once.points)
    assert [point.placement for point in plan.points[:4]] == [0, 1, 2, 0]
    for count in ("0", "-1"):
        with pytest.raises(PlanError, match="placements are not possible"):
            plan_sweep_points(catalogue, read_sweep_plan(write_plan(tmp_path, f"placements = {count}\n{PLAN}")))
    with pytest.raises(PlanError, match="leave some out"):
        read_sweep_plan(write_plan(tmp_path, f"placements = 10000\n{PLAN}"))


def test_figures_are_medians_with_bands() -> None:
    points = [*points_in_placements("t", [3, 1, 2, 9], a="0"), point_taking(CYCLES, "u", a="0")]
    first, single = group_points_over_code_placements(points)
    assert first.middle.run_id == points[2].run_id
    assert first.middle.counters == points[2].counters, "of an even number the lower one of the middle"
    assert first.middle.point.config == {"a": "0"}
    ((metric, band),) = first.primary_speed_value_ranges
    assert (metric.id, len(band.values)) == ("cycles_per_count", 4)
    assert band.largest / band.smallest == pytest.approx(1.09 / 1.01, rel=1e-3)
    assert single.middle is points[4]
    assert single.primary_speed_value_ranges == []


def test_reports_and_terminal_have_one_row_for_a_point_in_several_placements() -> None:
    points = [*points_in_placements("t", [3, 1, 2], a="0"), *points_in_placements("u", [0], a="0")]
    document = make_report_document(
        Catalogue(find_checkout_root()), [StoredMeasurementPoint(Path("x"), point, {}) for point in points], None
    )
    sections = {section.id: section for section in document.shown_sections}
    assert len(sections["throughput"].tables[0].rows) == 2
    ((_, name, figure, median, least, most, share, count, middle),) = sections["placements"].tables[0].rows
    assert (name, figure, median, least, most, share, count, middle) == (
        "1 core", "cycles_per_count", "20.4", "20.2", "20.6", "2.0 %", "3", "2",
    )  # fmt: skip
    text = io.StringIO()
    print_point_results(points, Console(file=text, width=200))
    worst, best, middle = (f"{counts_per_second_of_point(point).total_hz:,.0f}" for point in points[:3])
    assert f"{middle} ({worst} to {best})" in text.getvalue()
    assert "4 points measured" in text.getvalue()
    plain = make_report_document(
        Catalogue(find_checkout_root()), [StoredMeasurementPoint(Path("x"), points[3], {})], None
    )
    assert "placements" not in {section.id for section in plain.shown_sections}
