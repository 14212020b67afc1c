"""Sweeps: plans, effects, interactions, reports."""

import math
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from rtoslab.base.errors import CatalogueError, PlanError, ReportError, RtoslabError, ToolMissingError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.measure.pipeline import MeasureOptions
from rtoslab.reports import report_formats
from rtoslab.results.results import MeasuredPoint, NotApplicableMeasurement
from rtoslab.store.stored_point import StoredMeasurementPoint
from rtoslab.sweep.cluster import _digests_to_match_on_worker, _receive_point_from_worker, measure_point_on_worker
from rtoslab.sweep.effects import SweepObservations
from rtoslab.sweep.plan import plan_sweep_points, read_sweep_plan
from rtoslab.sweep.report import make_sweep_report
from tests.cli.test_cli import ROOT, command_error, rtoslab
from tests.fakes import measured_point, point
from tests.processes import start_process

PLAN = """
title = "T"
benchmarks = ["t2", "t7"]
kernels = ["freertos"]
boards = ["pico"]
window_ms = 10
[grid]
opt = ["-O2", "-Os"]
configUSE_TIME_SLICING = [0, 1]
"""


def write_plan(folder: Path, text: str = PLAN) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def test_grid_is_every_combination(tmp_path: Path) -> None:
    sweep = read_sweep_plan(write_plan(tmp_path, PLAN + '[[point]]\nopt = "-O3"\n'))
    plan = plan_sweep_points(Catalogue(find_checkout_root()), sweep)
    assert len(plan.points) == 2 * (4 + 1)
    assert [(point.opt, point.kernel_config["configUSE_TIME_SLICING"]) for point in plan.points[::2]] == [
        ("-O2", "0"), ("-O2", "1"), ("-Os", "0"), ("-Os", "1"), ("-O3", "0"),
    ]  # fmt: skip


def test_plan_with_a_list_only_is_a_sweep(tmp_path: Path) -> None:
    text = PLAN.partition("[grid]")[0] + '[[point]]\nopt = "-O1"\n[[point]]\ncode = "sram"\nopt = "-O1"\n'
    plan = plan_sweep_points(Catalogue(find_checkout_root()), read_sweep_plan(write_plan(tmp_path, text)))
    assert [(point.opt, point.code) for point in plan.points[::2]] == [("-O1", "flash"), ("-O1", "sram")]


def test_skipped_point_has_its_reason(tmp_path: Path) -> None:
    skip = '[[skip]]\nwhen = { benchmark = "t2_cooperative", configUSE_TIME_SLICING = 1 }\nreason = "it switches"\n'
    plan = plan_sweep_points(Catalogue(find_checkout_root()), read_sweep_plan(write_plan(tmp_path, PLAN + skip)))
    reasons = [(item.benchmark[:2], item.not_applicable) for item in plan.points if item.not_applicable]
    assert reasons == [("t2", "it switches"), ("t2", "it switches")]


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ('benchmarks = ["t2", "t7"]', CatalogueError, "benchmarks"),
        ('opt = ["-O2", "-Os"]', PlanError, "grid.opt has no value"),
        ('title = "T"', CatalogueError, "nonsense"),
    ],
)
def test_invalid_plan_is_reported(tmp_path: Path, change: str, kind: type[Exception], words: str) -> None:
    new = {"opt": "opt = []", "titl": 'title = "T"\nnonsense = 1', "benc": ""}[change[:4].strip()]
    with pytest.raises(kind, match=words):
        read_sweep_plan(write_plan(tmp_path, PLAN.replace(change, new)))


def point_taking(cycles: float, benchmark: str = "t2", **config: str) -> MeasuredPoint:
    plain = measured_point(1, 1000)
    where = plain.point.model_copy(update={"benchmark": benchmark, "title": f"{benchmark} test", "config": config})
    total = plain.window_s * plain.clock_hz / cycles
    first, *others = plain.counters
    counters = [
        first.model_copy(update={"count": round(total)}),
        *(other.model_copy(update={"count": 0}) for other in others),
    ]
    return plain.model_copy(update={"point": where, "counters": tuple(counters)})


GRID = [(a, b) for a in ("0", "1") for b in ("0", "1", "2")]


def example_points() -> list[MeasuredPoint]:
    """`a` doubles the time, `b` adds a tenth a level; on u both together cost half as much again."""
    points = []
    for a, b in GRID:
        plain = 1000 * 2 ** int(a) * 1.1 ** int(b)
        points += [
            point_taking(plain, "t", a=a, b=b, c="same"),
            point_taking(plain * (1.5 if (a, b) == ("1", "2") else 1), "u", a=a, b=b, c="same"),
        ]
    return points


def test_effects_are_ratios_of_otherwise_equal_points() -> None:
    result = SweepObservations(example_points()).effects_of_option_values()
    assert (result[0].option, result[0].level, result[0].pairs) == ("a", "1", 6)
    by_name = {(effect.option, effect.level): effect.time_ratios_by_benchmark for effect in result}
    assert by_name["a", "1"]["t"] == pytest.approx(2, rel=1e-2)
    assert by_name["b", "1"]["t"] == pytest.approx(1.1, rel=1e-2)
    assert by_name["b", "2"]["t"] == pytest.approx(1.21, rel=1e-2)
    assert by_name["a", "1"]["u"] == pytest.approx(2 * 1.5 ** (1 / 3), rel=1e-2)
    assert {option for option, _ in by_name} == {"a", "b"}, "what never changes has no effect"


def test_pairs_that_interact_are_found() -> None:
    first, second, *_ = SweepObservations(example_points()).interactions_of_option_changes()
    assert (first.first, first.second, first.target) == (("a", "0", "1"), ("b", "0", "2"), "u")
    assert first.ratio.value == pytest.approx(1.5, rel=1e-2)
    assert abs(math.log(second.ratio.value)) < 0.02


def test_missing_grid_point_is_tolerated() -> None:
    points = [item for item in example_points() if item.point.config["b"] != "0" or item.point.config["a"] != "1"]
    assert {effect.option for effect in SweepObservations(points).effects_of_option_values()} == {"a", "b"}


def test_report_has_ranking_interactions_and_small_multiples() -> None:
    absent = NotApplicableMeasurement(run_id="0", point=point(), reason="it cannot be")
    results: list[MeasuredPoint | NotApplicableMeasurement] = [*example_points(), absent]
    stored = [StoredMeasurementPoint(Path("x"), result, {}) for result in results]
    document = make_sweep_report("T", stored)
    text = report_formats()["md"](document)
    assert text.index("| a 0 to 1 | +1") < text.index("| b 0 to 2 |")
    assert "it cannot be" in text
    assert "12 of 13 points were measured" in document.summary
    html = report_formats()["html"](document)
    assert html.count("<svg") == 2
    with pytest.raises(ReportError, match="nothing can be ranked"):
        make_sweep_report("T", stored[:1])


@pytest.mark.long
def test_sweep_measures_skips_and_resumes(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path, PLAN.replace('["t2", "t7"]', '["t2"]').replace('opt = ["-O2", "-Os"]', 'code = ["flash", "itcm"]')
    )
    done = rtoslab("sweep", plan, "--out", tmp_path / "run")
    assert done.returncode == 3, "time slicing breaks the rotation, which its proof sees"
    assert "no placement CODE" not in done.stderr
    assert "skipped (2): " in done.stdout
    assert "Board pico has no placement CODE=itcm" in done.stdout
    assert str(ROOT) not in done.stdout, "the reason is the same on every machine"
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("result.json")}
    assert rtoslab("sweep", plan, "--out", tmp_path / "run").returncode == 3
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("result.json")}


def test_worker_with_other_sources_measures_nothing(tmp_path: Path) -> None:
    (first, *_) = plan_sweep_points(Catalogue(find_checkout_root()), read_sweep_plan(write_plan(tmp_path))).points
    shipped = measure_point_on_worker(
        first, (*_digests_to_match_on_worker(find_checkout_root(), first)[:-1], "of other firmware"), MeasureOptions()
    )
    assert shipped.files is None
    assert "update both to the same revision" in str(shipped.error)
    assert shipped.worker, "which worker it is"


def test_worker_that_cannot_measure_is_named(tmp_path: Path) -> None:
    (first, *_) = plan_sweep_points(Catalogue(find_checkout_root()), read_sweep_plan(write_plan(tmp_path))).points
    shipped = measure_point_on_worker(first, ("other", "sources", "here"), MeasureOptions())
    shipped = replace(shipped, error=ToolMissingError("arm-none-eabi-gcc is not installed."), worker="tcp://a:1 on b")
    future = SimpleNamespace(status="finished", result=lambda: shipped, release=lambda: None)
    with pytest.raises(RtoslabError, match=r"The worker tcp://a:1 on b did not measure .*: arm-none-eabi-gcc is not"):
        _receive_point_from_worker(future, first, "tcp://c:1")
    for status in ("cancelled", "lost"):
        with pytest.raises(RtoslabError, match=r"The Dask scheduler at tcp://c:1 was lost"):
            _receive_point_from_worker(SimpleNamespace(status=status, exception=lambda: None), first, "tcp://c:1")


QUICK_LIMITS = """
import sys
from rtoslab.sweep import cluster
from rtoslab.cli import main
cluster.WORKERS_LIMIT_S, cluster.LOOK_S = 2, 0.5
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("is_killed", "says"),
    [(False, "has had no worker for 2 s; start some with"), (True, "was lost; the received points are stored")],
)
def test_cluster_without_workers_or_scheduler_is_reported(is_killed: bool, says: str, tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--host", address]
    limits = QUICK_LIMITS.replace("= 2, 0.5", "= 600, 0.5") if is_killed else QUICK_LIMITS
    sweep = [
        sys.executable,
        "-c",
        limits,
        "sweep",
        write_plan(tmp_path),
        "--out",
        tmp_path / "run",
        "--scheduler",
        address,
    ]
    with start_process(command, stderr=subprocess.PIPE) as scheduler:
        assert scheduler.stderr is not None
        assert any("Scheduler at" in line for line in scheduler.stderr)
        with start_process([str(word) for word in sweep], cwd=ROOT, stderr=subprocess.PIPE) as asking:
            assert asking.stderr is not None
            assert asking.stderr.readline().startswith("Plan: ")
            if is_killed:
                assert any("Receive client connection" in line for line in scheduler.stderr)
                scheduler.kill()
            output = asking.stderr.read()
            assert asking.wait(60) == 1
    assert says in output
    assert "Traceback" not in output
    assert output.count("\n") == 1


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def test_plan_without_options_is_measured(tmp_path: Path) -> None:
    done = rtoslab("sweep", write_plan(tmp_path, PLAN.partition("[grid]")[0]), "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "nothing can be ranked" in done.stdout
    assert "2 points: 2 measured." in done.stdout


def test_missing_cluster_package_is_reported(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, PLAN)
    output = command_error(rtoslab("sweep", plan, "--out", tmp_path / "run", "--scheduler", "tcp://localhost:1"), 1)
    assert "No Dask scheduler answers at tcp://localhost:1" in output
