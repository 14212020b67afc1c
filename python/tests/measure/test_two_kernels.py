"""Two kernels on one board, from the names to the stored points: both proved, both measured at the same time."""

import json
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.images import IMAGE, build_measurement_point_image, read_elf
from rtoslab.measure import build_pair_images, make_virtual_benchmark_job, measure_points_of_plan
from rtoslab.plan import MeasurementPlan, PlanOptions, make_measurement_plan
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement
from rtoslab.results.finding import ProofVerdict
from rtoslab.store import RunDirectory
from rtoslab.targets import run_virtual_benchmark
from rtoslab.verify import verify_run_or_sweep_folder

ROOT = find_checkout_root()
CATALOGUE = Catalogue(ROOT)


def pair_plan(kernels: str, benchmark: str, **config: str) -> MeasurementPlan:
    return make_measurement_plan(
        CATALOGUE, [benchmark], PlanOptions(kernels=[kernels], boards=["pico"], window_ms=40, config=config)
    )


@pytest.mark.parametrize("ram", ["striped", "banks"])
@pytest.mark.parametrize(
    ("kernels", "benchmark"), [("freertos+freertos", "t2"), ("freertos+rt", "t3"), ("freertos+bare", "t4")]
)
def test_both_kernels_are_measured_and_proved(tmp_path: Path, kernels: str, benchmark: str, ram: str) -> None:
    outcomes = measure_points_of_plan(ROOT, pair_plan(kernels, benchmark, ram=ram), tmp_path / "run", jobs=1)
    results = [outcome.result for outcome in outcomes]
    assert [result.point.kernel for result in results] == kernels.split("+")
    for result in results:
        assert isinstance(result, MeasuredPoint), result
        overlap = next(proof for proof in result.proofs if proof.rule == "windows_overlap")
        assert overlap.verdict is ProofVerdict.HOLDS
        assert sum(counter.count for counter in result.counters) > 1000
    assert [point.differences for point in verify_run_or_sweep_folder(CATALOGUE, tmp_path / "run")] == [(), ()]


@pytest.mark.parametrize("kernels", ["freertos+freertos", "freertos+rt", "freertos+bare"])
def test_messages_go_both_ways(tmp_path: Path, kernels: str) -> None:
    options = PlanOptions(kernels=[kernels], boards=["pico"], config={"samples": "200", "code": "sram"})
    plan = make_measurement_plan(CATALOGUE, ["pair_message"], options)
    for outcome in measure_points_of_plan(ROOT, plan, tmp_path / "run", jobs=1):
        assert isinstance(outcome.result, MeasuredPoint), outcome.result
        series = {item.id: item for item in outcome.result.series}
        fifo, memory = series["pair.message.fifo"], series["pair.message.memory"]
        assert len(fifo.cycles) == len(memory.cycles) == 200
        for item in (fifo, memory):
            assert all(0 <= mark - stamp < 2000 for mark, stamp in zip(item.mark_cycles, item.cycles, strict=True))
        assert min(memory.cycles) < min(fifo.cycles)
    assert [point.differences for point in verify_run_or_sweep_folder(CATALOGUE, tmp_path / "run")] == [(), ()]


def test_messages_of_one_kernel_on_both_cores(tmp_path: Path) -> None:
    options = PlanOptions(kernels=["freertos"], boards=["pico"], cores=[2], window_ms=40)
    plan = make_measurement_plan(CATALOGUE, ["core_message"], options)
    (outcome,) = measure_points_of_plan(ROOT, plan, tmp_path / "run", jobs=1)
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert {item.id: item.instrument for item in outcome.result.series} == {
        "core.message.queue": "probe",
        "core.message.notify": "probe",
    }
    assert all(len(item.cycles) > 100 and min(item.cycles) > 500 for item in outcome.result.series)
    assert [point.differences for point in verify_run_or_sweep_folder(CATALOGUE, tmp_path / "run")] == [()]


@pytest.mark.parametrize(("cores", "own_core"), [(1, 0), (2, 1), (2, 0)])
def test_wake_ups_on_one_core_and_from_another(tmp_path: Path, cores: int, own_core: int) -> None:
    config = {"param.own_core": str(own_core)}
    options = PlanOptions(kernels=["freertos"], boards=["pico"], cores=[cores], window_ms=40, config=config)
    plan = make_measurement_plan(CATALOGUE, ["core_wake"], options)
    (outcome,) = measure_points_of_plan(ROOT, plan, tmp_path / "run", jobs=1)
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert [item.id for item in outcome.result.series] == ["core.wake.handler", "core.wake.task"]
    shortest = min(min(item.cycles) for item in outcome.result.series)
    assert (shortest < 700) == (cores == 1), "FreeRTOS takes locks and asks for the core if it is built for two cores"
    (finding,) = (item for item in outcome.result.proofs if item.rule == "switched_to")
    assert f"tasks 2 of core {0 if cores == 1 or own_core else 1} " in finding.demands


def test_a_test_of_two_kernels_is_none_of_one() -> None:
    (point,) = make_measurement_plan(
        CATALOGUE, ["pair_message"], PlanOptions(kernels=["freertos"], boards=["pico"])
    ).points
    assert "is a test of two kernels: --kernel" in (point.not_applicable or "")


def test_the_manifest_names_the_other_image_and_the_map(tmp_path: Path) -> None:
    measure_points_of_plan(ROOT, pair_plan("freertos+rt", "t1"), tmp_path / "run", jobs=1)
    stored = RunDirectory.open_run_directory(tmp_path / "run").read_measured_points()
    by_kernel = {point.result.point.kernel: json.loads(json.dumps(point.manifest)) for point in stored}
    for kernel, other in (("freertos", "rt"), ("rt", "freertos")):
        beside = by_kernel[kernel]["beside"]
        assert beside["build"]["kernel"] == other
        assert beside["elf_sha256"] == by_kernel[other]["elf_sha256"]
        assert beside["started_sha256"] == by_kernel["freertos"]["elf_sha256"]
        assert beside["map"]["core1"]["flash_start"] == 0x1010_0000
        assert by_kernel[kernel]["target"]["cores"] == 2


def test_one_elf_contains_both_images() -> None:
    one, other = pair_plan("freertos+rt", "t1").points
    whole, second = (
        build_measurement_point_image(CATALOGUE, one).elf_path,
        build_measurement_point_image(CATALOGUE, other).elf_path,
    )
    contents = whole.read_bytes()
    text = {symbol.name: symbol.address for symbol in read_elf(second).symbols}
    assert 0x1010_0000 <= text["bench_done"] < 0x1020_0000
    assert read_elf(whole).symbols
    assert b"core1_bench_done" in contents


def test_images_that_end_early_say_why(tmp_path: Path) -> None:
    """The heap is too small for the tasks: both images end with an error, and neither waits for the other for ever."""
    plan = pair_plan("freertos+freertos", "t2", configTOTAL_HEAP_SIZE="2048")
    results = [outcome.result for outcome in measure_points_of_plan(ROOT, plan, tmp_path / "run", jobs=1)]
    for result in results:
        assert isinstance(result, FailedMeasurement)
        assert "heap is used up" in result.message


def test_a_pair_that_is_not_possible_is_stored_with_its_reason(tmp_path: Path) -> None:
    results = [
        outcome.result
        for outcome in measure_points_of_plan(ROOT, pair_plan("freertos+bare", "t2"), tmp_path / "run", jobs=1)
    ]
    assert all(
        isinstance(result, NotApplicableMeasurement) and "no tasks service" in result.reason for result in results
    )


def test_figures_do_not_depend_on_the_run_id() -> None:
    """The images send their run ids before they start, and the time that this takes depends on the digits."""
    options = PlanOptions(kernels=["freertos+freertos"], boards=["pico"], config={"samples": "100"})
    point = make_measurement_plan(CATALOGUE, ["pair_message"], options).points[0]
    built = build_measurement_point_image(CATALOGUE, point)
    pair = build_pair_images(CATALOGUE, point, built)
    assert pair is not None
    run_ids = [
        built.expected.run,
        build_measurement_point_image(CATALOGUE, point.measurement_on_other_core()).expected.run,
    ]
    samples: set[bytes] = set()
    for new in (b"0" * 16, b"a" * 16, b"0" * 9 + b"f" * 7, b"5a" * 8):
        images = [built.elf_path.read_bytes(), *pair.bytes_of_both_images()]
        for run_id in run_ids:
            assert run_id.encode() in images[0], "the image of core 0 contains both"
            images = [image.replace(run_id.encode(), new) for image in images]
        output = run_virtual_benchmark(
            make_virtual_benchmark_job(CATALOGUE, point, images[0], IMAGE, (images[1], images[2]))
        )
        lines = [line for line in output.uart.splitlines() if b" sample metric=pair.message." in line]
        assert len(lines) >= 4, "each kernel sends the samples of both ways"
        samples.add(b"\n".join(lines))
    assert len(samples) == 1
