"""Comparisons: exact figures to the cycle, noisy ones by their samples, manifests first."""

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rtoslab.analyses.named_figures import NamedMetricValue
from rtoslab.base import StoreError
from rtoslab.compare.attribution import cycle_differences_by_function
from rtoslab.compare.comparison import ChangeVerdict, compare_runs_or_baselines
from rtoslab.compare.document import comparison_document, comparison_summary_text, fastest_and_slowest_sentence
from rtoslab.compare.machines import comparisons_as_json, comparisons_as_junit
from rtoslab.compare.noise import (
    ALPHA,
    are_median_shifts_significant,
    has_shift_test_too_few_samples,
    median_shift_between_samples,
)
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues, read_runs_for_comparison
from rtoslab.reports import report_formats
from rtoslab.results.results import MeasuredPoint
from rtoslab.results.virtual_result import CoreCycles, FunctionExecutionCycles, VirtualBoardObservations
from rtoslab.store import UART
from rtoslab.store.store import RunDirectory
from tests.cli.test_cli import command_error, rtoslab
from tests.fakes import STEADY, measured_point, point

VIRTUAL = {**STEADY, "build": {**STEADY["build"], "compiler": {"banner": "gcc 12"}, "kernel_config": {"configX": "0"}}}
REAL = {"target": {"kind": "serial"}}


def figures(
    cycles: float, *, kernel: str = "k", manifest: dict[str, str] | None = None, **config: str
) -> MeasuredPointValues:
    where = point().model_copy(update={"kernel": kernel, "config": config})
    metric = NamedMetricValue("cycles_per_count", "cycles", cycles)
    return MeasuredPointValues(where, {metric.id: metric}, True, manifest or {}, manifest_tree=STEADY)


def noisy(samples: list[float], name: str = "t2") -> MeasuredPointValues:
    where = point().model_copy(update={"benchmark": name})
    metric = NamedMetricValue("take.median", "cycles", float(np.median(samples)), samples)
    return MeasuredPointValues(where, {"take.median": metric}, False, {})


def test_run_compared_with_itself_has_no_difference(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run = RunDirectory.create_run_directory(tmp_path / name, None, [point(1), point(2)])
        run.add_measurement_point_to_store("t2-1", measured_point(1, 5000), VIRTUAL, {})
        run.add_measurement_point_to_store("t2-2", measured_point(2, 7000), VIRTUAL, {})
    result = compare_runs_or_baselines(
        read_runs_for_comparison([tmp_path / "a"]), read_runs_for_comparison([tmp_path / "b"])
    )
    assert len(result.changes) == 4
    assert result.changes_in_all_placements == []
    assert result.differences == []
    assert {change.verdict for change in result.changes} == {ChangeVerdict.SAME}
    done = rtoslab("compare", tmp_path / "a", tmp_path / "b", "--format", "json")
    assert {load["verdict"] for load in json.loads(done.stdout)["comparisons"][0]["changes"]} == {"same"}


def test_one_cycle_is_a_difference_and_the_largest_comes_first() -> None:
    before = ComparedMeasurementSet("a", [figures(100.0, opt="1"), figures(200.0, opt="2"), figures(300.0, opt="3")])
    after = ComparedMeasurementSet("b", [figures(101.0, opt="1"), figures(190.0, opt="2"), figures(300.0, opt="3")])
    result = compare_runs_or_baselines(before, after)
    assert [(change.change_in_unit, change.verdict) for change in result.changes] == [
        (-10.0, ChangeVerdict.BETTER),
        (1.0, ChangeVerdict.WORSE),
        (0.0, ChangeVerdict.SAME),
    ]
    assert "1 of 3 figures is worse and 1 better" in comparison_summary_text(result)


def test_runs_that_differ_in_one_axis_are_paired_over_it() -> None:
    before = ComparedMeasurementSet("a", [figures(1.0, kernel="x", window="1"), figures(2.0, kernel="x", window="2")])
    after = ComparedMeasurementSet("b", [figures(3.0, kernel="y", window="1"), figures(2.0, kernel="y", window="3")])
    result = compare_runs_or_baselines(before, after).matching
    assert result.over == {"kernel": ("x", "y")}
    assert [pair.before.point.config for pair in result.pairs] == [{"window": "1"}]
    assert (len(result.only_before), len(result.only_after)) == (1, 1)
    strict = compare_runs_or_baselines(before, after, is_gate=True).matching
    assert (list(strict.pairs), len(strict.only_before)) == ([], 2)


def test_figures_are_shown_before_manifest_differences() -> None:
    mine = {"build.compiler.banner": "gcc 12", "build.sources.a.c": "1", "elf_sha256": "2", "board.title": "B"}
    other = {"build.compiler.banner": "gcc 13", "build.sources.a.c": "3", "elf_sha256": "4", "board.title": "B"}
    result = compare_runs_or_baselines(
        ComparedMeasurementSet("a", [figures(1.0, manifest=mine)]),
        ComparedMeasurementSet("b", [figures(1.0, manifest=other)]),
    )
    assert [(difference.key, difference.before, difference.after) for difference in result.differences] == [
        ("build.compiler.banner", "gcc 12", "gcc 13"),
        ("build.sources.a.c", "1", "3"),
    ]
    assert [section.title for section in comparison_document([result]).sections] == ["Worse and better", "What differs"]


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        (
            [(10, 5), (10, 8), (9, 12)],
            "y is up to 2.00 times as fast as x (t1, time) and takes up to 1.33 times as long (t3, time).",
        ),
        ([(10, 5), (7, 7)], "y is up to 2.00 times as fast as x (t1, time)."),
        ([(10, 15), (10, 20)], "y takes up to 2.00 times as long as x (t2, time)."),
        ([(10, 10)], "No difference in time between x and y is certain."),
    ],
)  # fmt: skip
def test_last_line_states_the_faster_side_and_exceptions(pairs: list[tuple[float, float]], sentence: str) -> None:
    def side(name: str, place: int) -> ComparedMeasurementSet:
        built = [figures(pair[place], kernel="xy"[place], test=f"t{n}") for n, pair in enumerate(pairs, start=1)]
        return ComparedMeasurementSet(name, built)

    result = fastest_and_slowest_sentence(compare_runs_or_baselines(side("a", 0), side("b", 1)))
    assert re.sub(r"\([^)]*?(t\d)?, cycles_per_count\)", r"(\1, time)", result) == sentence


def test_settings_of_one_kernel_are_listed_last() -> None:
    mine = {"build.kernel_config.A": "1", "build.kernel_config.S": "1", "target.kind": "virtual"}
    other = {"build.kernel_config.B": "2", "build.kernel_config.S": "2", "target.kind": "real"}
    result = compare_runs_or_baselines(
        ComparedMeasurementSet("a", [figures(1.0, manifest=mine)]),
        ComparedMeasurementSet("b", [figures(1.0, manifest=other)]),
    )
    keys = [difference.key for difference in result.differences]
    assert keys == ["build.kernel_config.S", "target.kind", "build.kernel_config.A", "build.kernel_config.B"]


def profiled_point(counts: int, functions: dict[str, tuple[int, int]]) -> MeasuredPoint:
    """A point of one core that counted `counts`; name -> (cycles, calls)."""
    plain = measured_point(1)
    counters = [
        counter.model_copy(update={"count": counts if counter is plain.counters[0] else 0})
        for counter in plain.counters
    ]
    core = CoreCycles(
        core=0, cycles=1, instructions=1, sleep_cycles=0, bus_wait_cycles=0, flash_wait_cycles=0, xip_misses=0,
        exception_cycles=0, exceptions={},
    )  # fmt: skip
    uses = [
        FunctionExecutionCycles(core=0, name=name, kind="kernel", cycles=cycles, wait_cycles=0, entries=calls)
        for name, (cycles, calls) in functions.items()
    ]
    virtual = VirtualBoardObservations(
        cores=(core,), locks=(), functions=tuple(uses), event_count=0, event_digest="", warnings=()
    )  # fmt: skip
    return plain.model_copy(update={"counters": tuple(counters), "virtual": virtual})


def test_cycles_are_attributed_to_functions() -> None:
    before = profiled_point(1000, {"give": (40_000, 1000), "take": (10_000, 1000)})
    after = profiled_point(500, {"give": (20_500, 500), "take": (5_000, 500)})
    sides = [
        ComparedMeasurementSet(name, [MeasuredPointValues(one.point, {}, True, {}, one)])
        for name, one in (("a", before), ("b", after))
    ]
    (pair,) = compare_runs_or_baselines(*sides).matching.pairs
    (only,) = cycle_differences_by_function(pair)
    assert (only.function, only.before, only.after, only.additional_cycles_per_call) == ("give", 40.0, 41.0, 1.0)


def noise(generator: np.random.Generator, number: int, factor: float = 1.0) -> list[float]:
    """Latencies as boards give them: skewed, in whole cycles, now and then one that a tick fell into."""
    samples = 1000 * factor * (1 + np.abs(generator.normal(0, 0.03, number)))
    late = generator.random(number) < 0.02
    return [float(round(value)) for value in samples + late * generator.integers(200, 900, number)]


def test_noise_without_effect_raises_fewer_alarms_than_stated() -> None:
    generator = np.random.default_rng(1)
    trials = 1000
    together = [median_shift_between_samples(noise(generator, 40), noise(generator, 40)) for _ in range(trials)]
    assert sum(are_median_shifts_significant([item])[0] for item in together) < ALPHA * trials
    families = [are_median_shifts_significant(together[start : start + 20]) for start in range(0, trials, 20)]
    assert sum(any(family) for family in families) <= 1, "half of fifty families is what was stated"


def test_shift_of_three_percent_is_found() -> None:
    generator = np.random.default_rng(2)
    results = [median_shift_between_samples(noise(generator, 200), noise(generator, 200, 1.03)) for _ in range(200)]
    assert sum(are_median_shifts_significant([result])[0] for result in results) >= 198
    inside = sum(result.interval[0] <= 30 <= result.interval[1] for result in results)
    assert inside >= 190, "the interval holds the true shift"


def test_too_few_samples_give_no_verdict() -> None:
    report = median_shift_between_samples([1.0, 2.0, 3.0], [101.0, 102.0, 103.0])
    assert has_shift_test_too_few_samples(report, 1)
    assert not has_shift_test_too_few_samples(median_shift_between_samples([1.0] * 6, [2.0] * 6), 1)
    assert has_shift_test_too_few_samples(median_shift_between_samples([1.0] * 6, [2.0] * 6), 100), (
        "many comparisons need more"
    )
    result = compare_runs_or_baselines(
        ComparedMeasurementSet("a", [noisy([1, 2, 3])]), ComparedMeasurementSet("b", [noisy([101, 102, 103])])
    )
    assert [change.verdict for change in result.changes] == [ChangeVerdict.TOO_FEW]
    assert "Warning: 1 of these comparisons have fewer than 20 samples" in report_formats()["md"](
        comparison_document([result])
    )


def test_no_sample_is_discarded() -> None:
    report = median_shift_between_samples([10.0] * 30 + [9999.0] * 3, [10.0] * 33)
    assert report.counts == (33, 33)


def test_repeats_of_a_real_board_are_pooled(tmp_path: Path) -> None:
    for index, counts in enumerate((1000, 1010, 1020)):
        RunDirectory.create_run_directory(tmp_path / str(index), None, [point(1)]).add_measurement_point_to_store(
            "t2-1", measured_point(1, counts), REAL, {}
        )
    (pooled,) = read_runs_for_comparison([tmp_path / str(index) for index in range(3)]).figures
    assert len(pooled.metrics["cycles_per_count"].samples) == 3
    result = compare_runs_or_baselines(ComparedMeasurementSet("a", [pooled]), ComparedMeasurementSet("b", [pooled]))
    assert {change.verdict for change in result.changes if change.before.unit == "cycles"} == {ChangeVerdict.TOO_FEW}


def test_same_run_of_a_real_board_is_no_repeat(tmp_path: Path) -> None:
    for index in range(2):
        RunDirectory.create_run_directory(tmp_path / str(index), None, [point(1)]).add_measurement_point_to_store(
            "t2-1", measured_point(1, 1000), REAL, {UART: b"records" if index else b"other records"}
        )
    shutil.copytree(tmp_path / "0", tmp_path / "copy")
    (same,) = read_runs_for_comparison([tmp_path / "0", tmp_path / "1"]).figures
    assert len(same.metrics["cycles_per_count"].samples) == 2
    with pytest.raises(StoreError, match="given twice"):
        read_runs_for_comparison([tmp_path / "0", tmp_path / "1" / ".." / "0"])
    with pytest.raises(StoreError, match=r"copy is a copy of .*0; measure again"):
        read_runs_for_comparison([tmp_path / "0", tmp_path / "copy"])


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    for name, counts in (("a", 5000), ("b", 4900)):
        RunDirectory.create_run_directory(tmp_path / name, None, [point(1)]).add_measurement_point_to_store(
            "t2-1", measured_point(1, counts), VIRTUAL, {}
        )
    return tmp_path / "a", tmp_path / "b"


def test_every_format_contains_the_same_comparison(two: tuple[Path, Path], tmp_path: Path) -> None:
    names = [tmp_path / f"out.{suffix}" for suffix in ("html", "md", "json", "xml")]
    done = rtoslab("compare", *two, *(part for name in names for part in ("-o", name)))
    assert done.returncode == 0, done.stderr
    html, md, as_object, xml = (name.read_text() for name in names)
    assert "<h2>Worse and better</h2>" in html
    assert "| t2 | cycles_per_count |" in md
    changes = json.loads(as_object)["comparisons"][0]["changes"]
    worse = [change for change in changes if change["verdict"] == "worse"]
    assert [item["metric"] for item in worse] == ["cycles_per_count"]
    suite = ET.fromstring(xml).find("testsuite")  # noqa: S314 (our own file)
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == (str(len(changes)), "1")
    terminal = rtoslab("compare", *two).stdout
    assert "cycles_per_count" in terminal


def test_nothing_to_compare_exits_with_an_error(two: tuple[Path, Path], tmp_path: Path) -> None:
    another = point().model_copy(update={"benchmark": "t3"})
    other = RunDirectory.create_run_directory(tmp_path / "c", None, [another])
    other.add_measurement_point_to_store("t3-1", measured_point().model_copy(update={"point": another}), VIRTUAL, {})
    done = rtoslab("compare", two[0], tmp_path / "c", "--format", "xml")
    assert done.returncode == 3
    assert "Nothing was compared" in done.stderr
    assert rtoslab("compare", *two).returncode == 0


def test_wrong_use_is_reported_in_one_sentence(two: tuple[Path, Path], tmp_path: Path) -> None:
    assert "is not a run directory" in command_error(rtoslab("compare", tmp_path / "none", two[0]), 1)
    assert "let it end in .html, .md, .json or .xml" in command_error(rtoslab("compare", *two, "-o", "x.pdf"), 1)


def test_point_that_failed_is_an_error_in_junit() -> None:
    lost = MeasuredPointValues(point(), {}, True, {}, missing_reason="failed: no proof")
    result = compare_runs_or_baselines(ComparedMeasurementSet("a", [figures(1.0)]), ComparedMeasurementSet("b", [lost]))
    assert 'errors="1"' in comparisons_as_junit([result])
    assert json.loads(comparisons_as_json([result]))["comparisons"][0]["without_figures"] == ["t2"]
