"""The real thing: firmware built, run on the virtual board, decoded, proved, stored, reported."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.pipeline import MeasurementPointOutcome, measure_and_store_point
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.reference import make_stored_row_of_code_placements
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from rtoslab.store.store import RunDirectory
from tests.checkouts import build_apart, copy_checkout, replace_text
from tests.cli.test_cli import HANG_S, ROOT, command_error, rtoslab
from tests.conformance_fakes import examine_nothing
from tests.processes import start_process

T1 = "benchmarks/t1_arithmetic/t1_arithmetic.c"
T2 = "benchmarks/t2_cooperative/t2_cooperative.c"
T3 = "benchmarks/t3_preemptive/t3_preemptive.c"
CONTENTION = "benchmarks/contention/contention.c"
WIRE = "core/wire.c"
BROKEN = (T1, T2, T3, CONTENTION, WIRE)


@pytest.fixture(scope="module")
def built_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With what was built of it: each test breaks one file, and the rest, conformance among it, stays as it was."""
    folder = tmp_path_factory.mktemp("whole")
    build_apart(folder / "build")
    return copy_checkout(folder / "checkout")


@pytest.fixture
def checkout(built_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The copy, in which a test may break these files."""
    monkeypatch.setenv("RTOSLAB_ROOT", str(built_checkout))
    monkeypatch.setenv("RTOSLAB_BUILD", str(built_checkout.with_name("build")))
    yield built_checkout
    for name in BROKEN:
        shutil.copyfile(ROOT / "firmware" / name, built_checkout / "firmware" / name)


def break_source(checkout: Path, file: str, old: str, new: str) -> None:
    assert file in BROKEN, "nobody would mend it for the next test"
    replace_text(checkout, file, old, new)


def measure(name: str, cores: int, window_ms: int, out: Path, **options: object) -> list[MeasurementPointOutcome]:
    """One kernel on one board: every other kernel and board would be measured too."""
    fixed = {"kernels": ["freertos"], "boards": ["pico"], "cores": [cores], "window_ms": window_ms, "out": out}
    return api.run(name, **{**fixed, **options})  # type: ignore[arg-type]


def single_result(outcomes: list[MeasurementPointOutcome]) -> object:
    (outcome,) = outcomes
    return outcome.result


def test_point_is_measured_and_proved(tmp_path: Path) -> None:
    result = single_result(measure("t7", 2, 20, tmp_path / "run"))
    assert isinstance(result, MeasuredPoint), result
    assert [counter.core for counter in result.counters] == [0, 1]
    assert all(counter.count > 100 for counter in result.counters)
    assert result.virtual is not None
    assert result.virtual.locks, "SMP takes spinlocks"
    for core in result.virtual.cores:
        used = sum(function.cycles for function in result.virtual.functions if function.core == core.core)
        assert abs(core.cycles - used - core.exception_cycles - core.sleep_cycles) <= 20, "every cycle has a cause"


def test_same_point_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an image from kept objects and of one made from nothing; neither knows the other's verdicts and results."""
    for name, build in (("one", build_apart(tmp_path / "kept")), ("two", tmp_path / "nothing")):
        monkeypatch.setenv("RTOSLAB_BUILD", str(build))
        measure("t7", 1, 10, tmp_path / name, kernels=["bare"])
    (first,), (second,) = (sorted((tmp_path / name / "points").iterdir()) for name in ("one", "two"))
    assert first.name == second.name, "same manifest, same run id"
    for file in ("result.json", "manifest.json", "uart.txt"):
        assert (first / file).read_bytes() == (second / file).read_bytes()


def test_interrupted_run_keeps_what_is_finished_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTOSLAB_CACHE", str(tmp_path / "cache"))  # known points would be over before the interruption
    out = tmp_path / "run"
    request = ("run", "t2", "t7", "--cores", "1,2", "--window", "20ms")
    command = [sys.executable, "-m", "rtoslab", *request, "--out", str(out)]
    with start_process(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        deadline = time.monotonic() + HANG_S
        while running.poll() is None and not list((out / "points").glob("[!.]*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, output = running.communicate(timeout=HANG_S)
    assert running.returncode == 130, output
    assert "what was finished is kept" in output
    finished = {path.name: (path / "result.json").stat().st_mtime_ns for path in (out / "points").glob("[!.]*")}
    assert finished
    assert not list((out / "points").glob(".*"))
    done = rtoslab(*request, "--out", out)
    assert done.returncode == 0, done.stderr + done.stdout
    assert re.search(r"points? (was|were) already in the folder", done.stderr)
    for name, stamp in finished.items():
        assert (out / "points" / name / "result.json").stat().st_mtime_ns == stamp
    assert len(RunDirectory.open_run_directory(out).read_measured_points()) == 4


def measure_failure(tmp_path: Path, name: str, **options: object) -> FailedMeasurement:
    result = single_result(measure(name, 1, 10, tmp_path / "run", **options))
    assert isinstance(result, FailedMeasurement), result
    return result


def test_missing_yield_is_an_error(checkout: Path, tmp_path: Path) -> None:
    break_source(checkout, T2, "port_yield();", "if (self->count % 7u != 0) { port_yield(); }")
    failed = measure_failure(tmp_path, "t2")
    assert failed.stage == "proof"
    assert {"switches_per_count", "calls_per_count"} <= {
        proof.rule for proof in failed.proofs if proof.verdict == "fails"
    }
    assert "did not do what its name says" in failed.message


STRESS = {"config": {"param.stress_percent": "50"}}


def test_collisions_are_counted_from_outside(tmp_path: Path) -> None:
    # Either core has the semaphore to itself for some ten milliseconds before the other one wins it.
    result = single_result(measure("contention", 2, 60, tmp_path / "run", **STRESS))
    assert isinstance(result, MeasuredPoint), result
    assert result.metric_cores == (0,)
    assert result.virtual is not None
    assert sum(wait.failed for wait in result.virtual.waits) > 100
    for core, use in enumerate(result.virtual.critical):
        held = sum(lock.hold_cycles for lock in result.virtual.locks if lock.core == core)
        assert use.sections > 1000
        assert 0 < use.cycles < held, "the kernel counts itself inside once it has its locks"


@pytest.mark.long  # `test_mutants` has others of its kind
def test_missing_stress_is_an_error(checkout: Path, tmp_path: Path) -> None:
    break_source(checkout, CONTENTION, "access_semaphore(self);\n            tallies", "tallies")
    failed = single_result(measure("contention", 2, 10, tmp_path / "run", **STRESS))
    assert isinstance(failed, FailedMeasurement), failed
    broken_rules = {proof.rule for proof in failed.proofs if proof.verdict == "fails"}
    assert broken_rules == {"stress_share", "object_shared", "collisions", "course"}


@pytest.mark.long  # `test_mutants` has others of its kind
def test_proof_refuses_equal_priorities_in_preemption(checkout: Path, tmp_path: Path) -> None:
    break_source(checkout, T3, ".priority = {0, 1, 2, 3, 4}", ".priority = {2, 2, 2, 2, 2}")
    failed = measure_failure(tmp_path, "t3")
    assert failed.stage in {"proof", "run"}
    assert "preempt" in failed.message or failed.stage == "run"


def test_fault_is_reported_with_its_address(checkout: Path, tmp_path: Path) -> None:
    break_source(checkout, T2, "port_yield();", '__asm volatile("udf #1");')
    failed = measure_failure(tmp_path, "t2")
    assert failed.error == "VoidRunError"
    assert re.search(r"reported a fault .*pc=0x", failed.message)


def test_hang_is_reported_with_its_place(checkout: Path, tmp_path: Path) -> None:
    break_source(
        checkout, T2, "    (void)self;\n    return true;", "    while (self->count == 0) {\n    }\n    return true;"
    )
    failed = measure_failure(tmp_path, "t2")
    assert failed.stage == "run"
    assert "did not complete its set-up within 5 s of virtual time; core 0 was at" in failed.message


def test_stack_overflow_is_reported_or_faults(checkout: Path, tmp_path: Path) -> None:
    eater = (
        "    volatile unsigned char eaten[1500];\n    for (unsigned i = 0; i < sizeof eaten; i++) { eaten[i] = 1; }\n"
    )
    break_source(checkout, T2, "    (void)self;\n    return true;", eater + "    return self->count == eaten[0] - 1u;")
    failed = measure_failure(tmp_path, "t2")
    assert failed.stage == "run"


def test_garbage_is_an_error_that_names_its_line(checkout: Path, tmp_path: Path) -> None:
    break_source(checkout, WIRE, "*byte++;", "(*byte++ ^ 1u);")
    failed = measure_failure(tmp_path, "t2")
    assert failed.stage == "conformance", "the first image to speak"
    assert "line 1 of the board's output: the check sum" in failed.message


def test_compile_error_is_reported_with_its_log(checkout: Path, tmp_path: Path) -> None:
    break_source(checkout, T2, "port_yield();", "port_yeild();")
    failed = measure_failure(tmp_path, "t2")
    assert failed.stage == "build"
    assert "port_yeild" in failed.message
    assert "The complete log is" in failed.message
    (reason,) = {make_stored_row_of_code_placements(failed.point, "freertos", (), failed.message).reason}
    assert reason == failed.message.partition(" The complete log is ")[0], "a stored row names no path of this machine"


def test_unknown_kernel_setting_is_refused_by_name(tmp_path: Path) -> None:
    failed = measure_failure(tmp_path, "t1", config={"configNO_SUCH": "1"})
    assert failed.stage == "build"
    assert "configNO_SUCH" in failed.message


def test_run_does_not_mix_builds(checkout: Path, tmp_path: Path) -> None:
    measure("t1", 1, 10, tmp_path / "run")
    break_source(checkout, T1, "INCREMENT 1013904223u", "INCREMENT 1013904225u")
    done = rtoslab(
        "run",
        "t1",
        "--board",
        "pico",
        "--kernel",
        "freertos",
        "--cores",
        "1",
        "--window",
        "10ms",
        "--out",
        tmp_path / "run",
        **dict(os.environ),
    )
    assert "was measured with another build" in command_error(done, 1)


def test_kernels_settings_reach_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examine_nothing(monkeypatch)
    catalogue, chosen = Catalogue(ROOT), {"configTICK_RATE_HZ": "500", "opt": "-O3"}
    (request,) = make_measurement_plan(catalogue, ["t1"], PlanOptions(["freertos"], ["pico"], [1], 10, chosen)).points
    run = RunDirectory.create_run_directory(tmp_path / "run", None, [identity_of_point(catalogue, request)])
    outcome = measure_and_store_point(catalogue, request, run)
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    (point,) = RunDirectory.open_run_directory(tmp_path / "run").read_measured_points()
    text = json.dumps(point.manifest)
    assert '"configTICK_RATE_HZ": "500"' in text
    assert '"-O3"' in text
    build = point.manifest["build"]
    assert isinstance(build, dict)
    assert re.fullmatch(r"[0-9a-f]{64}", build["kernel_package"]["sha256"])
    assert str(find_checkout_root()) not in text, "no path of this machine"


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "Cannot make the run directory" in command_error(rtoslab("run", "t1", "--out", tmp_path / "file" / "run"), 1)


def test_sim_runs_a_benchmark_image() -> None:
    image = api.build_image("t7", kernel="freertos", board="pico", window_ms=10)
    done = rtoslab(
        "sim", image, "--until", "bench_done", "--between", "xQueueSemaphoreTake", "xQueueGenericSend", "--json"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["stop"] == "until"
    assert "@0 begin" in result["uart"]
    assert len(result["cycles"]) == 2
    (pair,) = result["between"]
    assert pair["count"] > 100
    assert 0 < pair["min_cycles"] <= pair["total_cycles"] / pair["count"] <= pair["max_cycles"]
    again = json.loads(rtoslab("sim", image, "--until", "bench_done", "--json").stdout)
    assert again["uart"] == result["uart"], "watching costs the image nothing"
    assert again["cycles"] == result["cycles"]
    unknown = rtoslab("sim", image, "--until", "bench_dome")
    assert "did you mean 'bench_done'" in command_error(unknown, 1)
    missed = rtoslab("sim", image, "--until", "bench_done", "--max-cycles", "1000", "--json")
    assert missed.returncode == 3
    assert json.loads(missed.stdout)["stop"] == "cycles"
    assert json.loads(rtoslab("sim", image, "--until", "20000", "--json").stdout)["cycle"] == 20000
