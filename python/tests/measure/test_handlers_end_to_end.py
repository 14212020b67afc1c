"""The kernel's handlers on the virtual NUCLEO-F446RE: what miranda2021 measured, held against what it says."""

from itertools import permutations

import pytest

from rtoslab.analyses.tick_cost import cycles_by_released_tasks, fit_tick_cost_model
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.measure.evaluation import decode_and_judge_output
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.virtual_job import make_virtual_benchmark_job
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.results.results import MeasuredPoint
from rtoslab.targets.virtual import run_virtual_benchmark

CATALOGUE = Catalogue(find_checkout_root())
BOARD = "nucleo-f446re"


def measure(
    benchmark: str, window_ms: int, kernel: str = "freertos", board_id: str = BOARD, **config: str
) -> MeasuredPoint:
    """One point without the port's conformance, which has tests of its own."""
    chosen = {key.replace("param_", "param.").replace("feature_", "feature."): value for key, value in config.items()}
    (point,) = make_measurement_plan(
        CATALOGUE, [benchmark], PlanOptions([kernel], [board_id], None, window_ms, chosen)
    ).points
    built = build_measurement_point_image(CATALOGUE, point)
    job = make_virtual_benchmark_job(CATALOGUE, point, built.elf_path.read_bytes(), "image.elf")
    result = decode_and_judge_output(
        CATALOGUE, identity_of_point(CATALOGUE, point), "0" * 16, run_virtual_benchmark(job), built.expected
    )
    assert isinstance(result, MeasuredPoint), result
    return result


def test_tick_costs_a_base_plus_a_cost_per_task() -> None:
    """300 ms with the coincidence of all ten periods in the middle."""
    result = measure("tick_handler", 300, opt="-O0", param_phase_ms="41250")
    assert result.clock_hz == 84_000_000
    results = cycles_by_released_tasks(result)
    assert len(results[10]) == 1
    assert sum(map(len, results.values())) == 299
    model = fit_tick_cost_model(results)
    assert model is not None
    assert (model.worst, model.worst_count) == (max(results[10]), 10)
    assert 100 < model.per_task < 500, "hundreds of cycles without optimisation, as the paper found"
    assert model.rms < 0.1 * model.per_task, "nothing but the number of tasks moves it"


def test_search_takes_one_step_per_priority() -> None:
    """The golden loop counts: by the paper's own rule B to IDLE takes 5 and A to IDLE 6, not 4 and 5."""
    result = measure("switch_pairs", 840, opt="-O0", configUSE_PORT_OPTIMISED_TASK_SELECTION="0")
    series = {samples.id: samples for samples in result.series}
    down = {
        "A_B": 1,
        "B_C": 1,
        "C_D": 1,
        "A_C": 2,
        "B_D": 2,
        "A_D": 3,
        "D_IDLE": 3,
        "C_IDLE": 4,
        "B_IDLE": 5,
        "A_IDLE": 6,
    }
    pairs = [f"{one}_{two}" for one, two in permutations(["A", "B", "C", "D", "IDLE"], 2)]
    assert {pair: series[f"select.{pair}"].steps for pair in pairs} == {**dict.fromkeys(pairs, 0), **down}
    longest = {pair: max(series[f"select.{pair}"].cycles) for pair in pairs}
    assert longest["D_IDLE"] < longest["C_IDLE"] < longest["B_IDLE"] < longest["A_IDLE"] == max(longest.values())


def test_counting_leading_zeros_makes_all_switches_equal() -> None:
    result = measure("switch_pairs", 840, opt="-O0", configUSE_PORT_OPTIMISED_TASK_SELECTION="1")
    choices = [samples for samples in result.series if samples.id.startswith("select.")]
    assert len(choices) == 20
    assert {choice.steps for choice in choices} == {None}
    every = [value for choice in choices for value in choice.cycles]
    assert max(every) - min(every) < 16, "flash lines in the accelerator or not, but no loop"


def test_tasks_work_for_their_stated_time_without_a_cache() -> None:
    """Not optimised, their loop once lay across two lines of flash: some worked 1.3 times as long, some 0.8 times."""
    result = measure("switch_pairs", 840, opt="-O0", feature_icache="0")
    assert next(proof.verdict for proof in result.proofs if proof.rule == "runs_for") == "holds"


@pytest.mark.parametrize("benchmark", ["tick_handler", "switch_pairs"])
def test_handlers_of_another_kernel_are_measured(benchmark: str) -> None:
    """rt wakes tasks in its switch handler, so its tick does not grow with them; and it searches no list."""
    result = measure(benchmark, 840, kernel="rt", opt="-O2")
    assert all(samples.steps is None for samples in result.series)
    assert all(samples.cycles for samples in result.series)


def test_handlers_on_two_cores_are_not_applicable() -> None:
    (point,) = make_measurement_plan(
        CATALOGUE, ["tick_handler"], PlanOptions(["freertos"], ["pico"], (2,), 840, {})
    ).points
    assert point.not_applicable == "the kernel's handlers are timed on one core"


@pytest.mark.long
@pytest.mark.parametrize("board", sorted(CATALOGUE.boards))
@pytest.mark.parametrize("benchmark", ["tick_handler", "switch_pairs"])
@pytest.mark.parametrize("kernel", ["freertos", "rt"])
def test_handlers_are_measured_on_every_board(kernel: str, benchmark: str, board: str) -> None:
    result = measure(benchmark, 840, kernel, board, opt="-O2")
    assert all(samples.cycles for samples in result.series)


@pytest.mark.long
def test_all_periods_coincide_six_times_in_250_s() -> None:
    result = measure("tick_handler", 250_000, opt="-O3", param_phase_ms="0")
    assert len(cycles_by_released_tasks(result)[10]) == 6
