"""A benchmark whose number of tasks is a parameter: the tasks of its metric and of its proofs follow it."""

from pathlib import Path
from typing import Any

import pytest

from rtoslab.base import PlanError, find_checkout_root
from rtoslab.catalogue import Benchmark, Catalogue
from rtoslab.catalogue.benchmark import TASK_LIMITS
from rtoslab.measure import identity_of_point
from rtoslab.measure.pipeline import measure_and_store_point
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.store import RunDirectory

ROOT = find_checkout_root()
TN2 = "tn2_cooperative"
FACTS: dict[str, Any] = {
    "id": "ring",
    "title": "Ring",
    "question": "?",
    "tasks_per_core": "BENCH_PARAM_TASKS",
    "stack_bytes": 512,
    "inside": "-",
    "outside": "-",
    "services": [],
    "params": {"tasks": 3},
    "metric": {"id": "ring.switch", "unit": "switches", "tasks": "all"},
    "proof": [
        {"rule": "rotation", "tasks": "all"},
        {"rule": "course", "round_each_task": ["{task} yield", "switch {task} {next}"]},
        {"rule": "priorities", "of_each_task": [1]},
        {"rule": "busy"},
    ],
}


def proofs(benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    return {table["rule"]: table for table in benchmark.proof}


def test_metric_and_proofs_are_those_of_the_default_number() -> None:
    benchmark = Benchmark.model_validate(FACTS)
    assert (benchmark.tasks_per_core, benchmark.metric.tasks) == (3, (0, 1, 2))
    assert proofs(benchmark)["rotation"]["tasks"] == [0, 1, 2]


def test_metric_and_proofs_follow_the_parameter() -> None:
    benchmark = Benchmark.model_validate(FACTS).with_task_count_from_parameters({"tasks": "2"})
    assert (benchmark.tasks_per_core, benchmark.metric.tasks) == (2, (0, 1))
    assert proofs(benchmark) == {
        "rotation": {"rule": "rotation", "tasks": [0, 1]},
        "course": {"rule": "course", "round": ["0 yield", "switch 0 1", "1 yield", "switch 1 0"]},
        "priorities": {"rule": "priorities", "of": [1, 1]},
        "busy": {"rule": "busy"},
    }


def test_other_parameters_change_nothing() -> None:
    benchmark = Benchmark.model_validate(FACTS)
    assert benchmark.with_task_count_from_parameters({"pinned": "0"}) is benchmark
    fixed = Catalogue(ROOT).find_benchmark("t2_cooperative").facts
    assert fixed.with_task_count_from_parameters({"tasks": "2"}) is fixed


@pytest.mark.parametrize("number", ["1", "11", "many"])
def test_number_out_of_range_is_refused(number: str) -> None:
    with pytest.raises(PlanError, match=f"ring has 2 to 10 tasks on each core, not '{number}'"):
        Benchmark.model_validate(FACTS).with_task_count_from_parameters({"tasks": number})


def test_runner_names_as_many_tasks_as_the_limit_says() -> None:
    runner = (ROOT / "firmware" / "core" / "run" / "tasks" / "program.c").read_text()
    assert f"BENCH_TASKS_PER_CORE <= {TASK_LIMITS[1]}," in runner


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("tasks_per_core", "many", "tasks_per_core must be a number, or BENCH_PARAM_ and the name of a parameter"),
        ("params", {"jobs": 3}, "tasks_per_core must be a number, or BENCH_PARAM_ and the name of a parameter"),
        ("metric", {"id": "ring.switch", "unit": "switches", "tasks": [0, 1, 2]}, 'metric.tasks must be "all"'),
    ],
)
def test_incomplete_table_is_refused(key: str, value: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Benchmark.model_validate({**FACTS, key: value})


def test_five_tasks_take_turns_as_fast_as_those_of_t2(tmp_path: Path) -> None:
    t2, five, two = (
        task_counts(tmp_path / name, *what)
        for name, what in (("a", ("t2_cooperative", {})), ("b", (TN2, {})), ("c", (TN2, {"param.tasks": "2"})))
    )
    assert t2 == five
    assert [len(t2), len(two)] == [5, 2]


def task_counts(folder: Path, benchmark: str, config: dict[str, str]) -> list[int]:
    """The counts of each task in a window. All proofs hold, or there would be no figure."""
    catalogue = Catalogue(ROOT)
    options = PlanOptions(["freertos"], ["nucleo-f446re"], [1], 20, config)
    (point,) = make_measurement_plan(catalogue, [benchmark], options).points
    run = RunDirectory.create_run_directory(folder, None, [identity_of_point(catalogue, point)])
    result = measure_and_store_point(catalogue, point, run).result
    assert isinstance(result, MeasuredPoint), result
    assert result.metric_tasks == tuple(range(len(result.counters)))
    return [counter.count for counter in result.counters]
