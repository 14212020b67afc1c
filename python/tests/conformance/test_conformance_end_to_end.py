"""Every check of the conformance suite fails on a port that is broken in the way it looks for."""

import re
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.conformance.examination import (
    ConformanceVerdict,
    check_port_conformance,
    check_whole_port_conformance,
    conformance_suite_points,
)
from rtoslab.conformance.judge import CheckOutcome
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.images.elf import read_elf
from rtoslab.plan.plan import PlanOptions, make_measurement_plan, points_of_conformance_suite
from rtoslab.results.results import FailedMeasurement, MeasuredPoint
from tests.broken_ports import BREAKS
from tests.checkouts import replace_text
from tests.cli.test_cli import rtoslab

BREAKS_OF_TIMEOUTS = {f"{service}_timeout_{end}" for service in ("event", "mailbox") for end in ("expires", "given")}


def test_several_suites_print_one_line_each() -> None:
    done = rtoslab("kernel", "conformance", "--kernel", "bare,freertos")
    *_, table = done.stdout.split("All suites")
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")] for line in table.splitlines() if line.startswith("│")
    ]
    assert [row[:3] for row in rows] == [["bare", "pico", "1"], ["freertos", "pico", "1"]]
    assert {row[4] for row in rows} == {"holds"}
    assert all(re.match(r"\d+ hold", row[3]) for row in rows)
    assert "All suites" not in rtoslab("kernel", "conformance", "--kernel", "bare").stdout


def conformance(root: Path, kernel: str, board: str = "pico", cores: int = 1) -> ConformanceVerdict:
    catalogue = Catalogue(root)
    (point,) = points_of_conformance_suite(catalogue, PlanOptions([kernel], [board], [cores]))
    return check_whole_port_conformance(catalogue, point)


def test_point_is_checked_with_the_optional_services_that_it_needs() -> None:
    """All of them in one image left too little memory for the others on the smallest boards."""
    catalogue = Catalogue(find_checkout_root())
    options = PlanOptions(["freertos"], ["nucleo-l073rz"])
    verdicts = {
        name: check_port_conformance(catalogue, make_measurement_plan(catalogue, [name], options).points[0])
        for name in ("t1_arithmetic", "timer_latency")
    }
    checked = {name: {item.check for item in verdict.findings} for name, verdict in verdicts.items()}
    timers = {"timer_once", "timer_periodic", "timer_stops", "timer_context"}
    assert checked["timer_latency"] - checked["t1_arithmetic"] == timers
    assert not checked["timer_latency"] & {"task_events_wake", "work_calls", "binary_semaphore_fills"}
    assert verdicts["timer_latency"].is_kernel_port_conformant
    assert verdicts["timer_latency"].digest != verdicts["t1_arithmetic"].digest
    suites = conformance_suite_points(catalogue, make_measurement_plan(catalogue, ["timer_latency"], options).points[0])
    images = [read_elf(build_measurement_point_image(catalogue, suite).elf_path) for suite in suites]
    assert [any(symbol.name == "xTimerCreate" for symbol in image.symbols) for image in images] == [False, True]


def failing(verdict: ConformanceVerdict) -> set[str]:
    return {finding.check for finding in verdict.findings if finding.outcome is CheckOutcome.FAILS}


def test_every_check_fails_for_some_broken_port() -> None:
    seen = {check for item in BREAKS.values() for check in item.fails}
    elsewhere = {
        "pointer_queue_wakes",
        "any_core",
        "affinity_moves",
        "signals_arrive",
        "task_joins",
        *BREAKS_OF_TIMEOUTS,
    }
    assert seen | elsewhere == {item.id for item in Catalogue(find_checkout_root()).conformance_suite.check}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_port_offers_the_broken_service(name: str) -> None:
    """The long test below must not be the first to see that a port's text has changed."""
    assert BREAKS[name].old in (find_checkout_root() / "firmware" / BREAKS[name].file).read_text()


@pytest.mark.long
@pytest.mark.parametrize("name", BREAKS)
def test_broken_port_fails(checkout: Path, name: str) -> None:
    what = BREAKS[name]
    replace_text(checkout, what.file, what.old, what.new)
    verdict = conformance(checkout, what.kernel, what.board)
    assert what.fails <= failing(verdict), (verdict.failure, failing(verdict))
    assert not verdict.is_kernel_port_conformant


def test_nonconforming_port_gives_no_figure(checkout: Path, tmp_path: Path) -> None:
    what = BREAKS["a tick too slow"]
    replace_text(checkout, what.file, what.old, what.new)
    (outcome,) = api.run("t7", kernels=["bare"], boards=["pico"], window_ms=10, out=tmp_path / "run")
    assert isinstance(outcome.result, FailedMeasurement)
    assert outcome.result.stage == "conformance"
    assert "so none of its figures is valid: Tick rate by the timer demands that" in outcome.result.message
    assert (outcome.folder / "conformance.json").is_file()
    assert not (outcome.folder / "uart.txt").exists(), "nothing was measured"


@pytest.mark.parametrize(("kernel", "cores"), [("freertos", 1), ("freertos", 2), ("rt", 1), ("bare", 1)])
def test_every_port_conforms_on_the_pico(kernel: str, cores: int) -> None:
    verdict = conformance(find_checkout_root(), kernel, cores=cores)
    verdict.require_port_conforms()
    assert {finding.core for finding in verdict.findings if finding.outcome is CheckOutcome.HOLDS} == set(range(cores))


def test_verdict_is_stored_and_reused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = conformance(find_checkout_root(), "bare")

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("rtoslab.conformance.play.run_virtual_benchmark", never)
    assert conformance(find_checkout_root(), "bare") == first
    (outcome,) = (item for item in api.run("t7", kernels=["bare"], boards=["pico"], window_ms=10, out=tmp_path / "run"))
    assert isinstance(outcome.result, MeasuredPoint), "its own process finds the verdict too"
