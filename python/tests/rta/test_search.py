"""Sets that once broke their bound, sets of the shapes that did, and a search that must be able to find something."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.bound_search import (
    BoundSearchResult,
    TaskSetTestBench,
    search_violated_bounds,
    shrink_violating_task_set,
)
from rtoslab.rta.findings import (
    read_response_bound_violation_file,
    summarise_bound_violation_search,
    write_bound_violation,
)
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.randomsets import SHAPES, random_task_set_in_ranges
from rtoslab.rta.system import IntegerTimeTaskSet
from tests.rta.benches import search_bench
from tests.rta.systems import task

FINDINGS = [
    pytest.param(path, id=path.stem, marks=() if path.stem.startswith("rt-nucleo-l053r8") else pytest.mark.long)
    for path in sorted((Path(__file__).parent / "findings").glob("*.toml"))
]
"""What needs another kernel, board or configuration measured is a long test."""
SLICING = "configUSE_TIME_SLICING=1"
"""`rt` has its equals take turns too: that one stands for both but in long tests."""
BOARD = "nucleo-f446re"
RT_BOARD = "nucleo-l053r8"
"""Of the short tests of `rt`."""


def assert_no_finding(of: TaskSetTestBench, system: IntegerTimeTaskSet) -> BoundSearchResult:
    """The set's run, with nothing found; the shape says nothing."""
    result = of.run_task_set_against_bounds(system, (0,) * len(system.tasks))
    assert result.findings == (), system
    assert result.ratios
    return result


@pytest.mark.parametrize("board", [*(pytest.param(name, marks=pytest.mark.long) for name in (BOARD, "pico")), RT_BOARD])
def test_job_of_many_ticks_stays_below_its_bound(board: str) -> None:
    """A kernel that enters its switch handler at every tick is charged for it at every tick, not once a job."""
    of = search_bench("rt", board)
    tick = of.firmware.tick_cycles
    result = assert_no_finding(
        of, IntegerTimeTaskSet((task("A", 100 * tick, 40 * tick, 1),), units_per_second=of.firmware.clock_hz)
    )
    assert max(result.ratios.values()) < 1.01


@pytest.mark.parametrize(
    ("of", "equals"),
    [
        (("rt", RT_BOARD), "slices"),
        *(pytest.param(("freertos", BOARD, SLICING), name, marks=pytest.mark.long) for name in ("any", "slices")),
    ],
)
def test_equal_priorities_and_a_lower_task_meet_their_bounds(of: tuple[str, ...], equals: str) -> None:
    built = search_bench(*of)
    tick = built.firmware.tick_cycles
    assert built.overheads.equals == "slices"
    tasks = [task(name, 100 * tick, 20 * tick, 1) for name in "ABC"]
    low = task("D", 100 * tick, 5 * tick, 0)
    system = IntegerTimeTaskSet((*tasks, low), equals=equals, units_per_second=built.firmware.clock_hz)  # type: ignore[arg-type]
    assert_no_finding(built, system)
    plain = compute_response_time_bounds(system, built.overheads.model_copy(update={"equals": "any"}))
    without, charged = (
        plain.find_response_bound("D").response,
        compute_response_time_bounds(system, built.overheads).find_response_bound("D").response,
    )
    assert without is not None
    assert charged is not None
    assert equals == "slices" or without < charged


def test_order_of_equal_priorities_is_measured() -> None:
    assert search_bench("freertos", BOARD).overheads.equals == "any"
    assert search_bench("rt", RT_BOARD).overheads.equals == "slices"


@pytest.mark.parametrize("path", FINDINGS)
def test_earlier_findings_meet_their_bounds(path: Path) -> None:
    finding = read_response_bound_violation_file(path)
    config = (f"{name}={value}" for name, value in finding.config.items())
    of = search_bench(finding.kernel, finding.board, *config, events=finding.events, cores=finding.cores)
    assert of.run_task_set_against_bounds(*finding.task_set_and_first_start_times(of)).findings == ()


@pytest.mark.parametrize(
    "of",
    [("freertos", BOARD), pytest.param(("freertos", BOARD, SLICING), marks=pytest.mark.long), ("rt", RT_BOARD)],
)
def test_short_search_finds_nothing(of: tuple[str, ...]) -> None:
    built = search_bench(*of)
    tried = list(search_violated_bounds(built, 24, 20261122))
    assert len(tried) == 24
    assert {attempt.shape.removeprefix("near: ") for attempt in tried} > set(SHAPES) - {"one", "every tick"}
    assert [attempt.findings for attempt in tried if attempt.findings] == []


def test_search_finds_and_shrinks_a_broken_bound(tmp_path: Path) -> None:
    """Overheads that forget what a tick costs: found at once, shrunk to two tasks at most, kept in a file."""
    good = search_bench("freertos", BOARD)
    tick = good.overheads.tick.model_copy(update={"switch_cycles": 0, "base_cycles": 0})
    wrong = TaskSetTestBench(
        good.firmware, good.work, KernelOverheads.model_copy(good.overheads, update={"tick": tick})
    )
    result = next(item for item in search_violated_bounds(wrong, 50, 3) if item.findings)
    small = wrong.run_task_set_against_bounds(*shrink_violating_task_set(wrong, result.system, result.starts))
    assert small.findings
    assert len(small.system.tasks) <= 2
    write_bound_violation(wrong, small, tmp_path / "found.toml")
    read = read_response_bound_violation_file(tmp_path / "found.toml")
    assert read.task_set_and_first_start_times(wrong) == (small.system, small.starts)
    assert summarise_bound_violation_search(wrong, [small]).findings == 1
    assert good.run_task_set_against_bounds(*read.task_set_and_first_start_times(good)).findings == ()


def test_search_without_a_ratio_is_reported_as_null() -> None:
    """Sets that all lack a bound have no median; JSON has no word for that but null."""
    result = summarise_bound_violation_search(search_bench("freertos", BOARD), [])
    assert "no task has both a bound and a response" in result.bound_search_statistics_as_line()
    report = json.loads(json.dumps(result.search_statistics_as_json(), allow_nan=False))
    assert (report["median"], report["least"], report["largest"], report["cores"]) == (None, None, None, 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_sets_have_their_shape(shape: str) -> None:
    expected = SHAPES[shape]
    for seed in range(50):
        system = random_task_set_in_ranges(Random(seed), expected, 1_000_000, 1000)
        assert expected.tasks[0] <= len(system.tasks) <= expected.tasks[1]
        assert len({task.priority for task in system.tasks}) <= expected.priority_levels
        assert all(task.period % 1000 == 0 and task.period // 1000 in expected.periods_ticks for task in system.tasks)
