"""Images whose own hardware raises the swept interrupt: its name, the span, and which arrivals are counted apart."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.base.errors import PlanError, SymbolError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import Board, Catalogue
from rtoslab.reports.formats.html import render_report
from rtoslab.targets.vector_table import find_exception_number
from rtoslab.worst_case.arrivals import (
    MOST_CHOSEN_ARRIVALS,
    MOST_CHOSEN_CYCLES,
    InterruptSweepCycleRange,
    inject_interrupt_at_every_cycle,
    parse_sweep_cycle_range,
)
from rtoslab.worst_case.document import worst_case_latency_report
from rtoslab.worst_case.own_interrupts import (
    FirmwareRaisedInterrupt,
    HandlerExecution,
    arrivals_during_firmware_requests_mask,
    find_firmware_interrupt_requests,
)
from rtoslab.worst_case.scenario import InterruptSweepScenario, InterruptSweepTarget, prepare_elf_image_sweep_scenario
from rtoslab.worst_case.worst_case import WorstCaseLatencyResult, find_worst_case_interrupt_latency
from tests.cli.test_cli import rtoslab
from tests.worst_case.own_timer import BOARD, PERIOD, own_timer_image

TIM2 = 16 + 28


@cache
def board() -> Board:
    return Catalogue(find_checkout_root()).find_board(BOARD).facts


@cache
def scenario(*defines: str, task: str | None = None) -> InterruptSweepScenario:
    return prepare_elf_image_sweep_scenario(
        own_timer_image(*defines), board(), InterruptSweepTarget("TIM2_IRQHandler", task, start="loop")
    )


def swept(of: InterruptSweepScenario, span: InterruptSweepCycleRange) -> WorstCaseLatencyResult:
    return find_worst_case_interrupt_latency(of, span, inject_interrupt_at_every_cycle(of, span, threads=2))


def test_interrupt_is_found_by_its_handler_in_the_vector_table() -> None:
    machine: Any = scenario("RUNS").snapshot.open()
    for name, number in (
        ("TIM2_IRQHandler", TIM2),
        ("irq28", TIM2),
        ("28", TIM2),
        ("systick", 15),
        (hex(machine.symbol("TIM2_IRQHandler")), TIM2),
    ):
        assert find_exception_number(machine, board(), 0, name) == number
    for name, error, says in (
        (
            "EXTI0_IRQHandler",
            PlanError,
            "is the handler of 3 interrupts (nmi, irq6, irq7), as a default handler is; give",
        ),
        ("on_served", PlanError, "is in no entry of the vector table at 0x00000000 where the sweep begins, perhaps"),
        ("irq97", PlanError, "has no interrupt 'irq97'; give irq0 to irq96"),
        ("TIM3_IRQHandler", SymbolError, "no symbol 'TIM3_IRQHandler'; did you mean 'TIM2_IRQHandler'?"),
    ):
        with pytest.raises(error) as caught:
            find_exception_number(machine, board(), 0, name)
        assert says in str(caught.value)


def test_requests_are_where_the_timer_raises_them() -> None:
    """The core recognises some late, because the background masks interrupts; the timer is never late."""
    of = scenario("RUNS")
    own = of.interrupts[TIM2]
    assert own.period_cycles == PERIOD
    requests = find_firmware_interrupt_requests(of.snapshot, 0, own)
    assert len(requests) == 64
    assert set(np.diff(requests).tolist()) == {PERIOD}
    late = [handling.recognised - request for handling, request in zip(own.handlings, requests.tolist(), strict=False)]
    assert min(late) <= 1
    assert 100 < max(late) < 250


def with_interrupts(of: InterruptSweepScenario, tick: int | None, **periods: int) -> InterruptSweepScenario:
    """The scenario, had it interrupts of these periods (`irq28=…`)."""
    interrupts = {
        16 + int(name[3:]): FirmwareRaisedInterrupt(
            16 + int(name[3:]),
            tuple(HandlerExecution(at * length, at * length + 12, at * length + 30) for at in range(5)),
        )
        for name, length in periods.items()
    }
    names = {name: getattr(of, name) for name in InterruptSweepScenario.__slots__}
    return InterruptSweepScenario(**{**names, "interrupts": interrupts, "tick_cycles": tick})


def test_span_is_a_period_of_the_image_if_nobody_chooses_one() -> None:
    of = scenario("RUNS")
    for scene, cycles, says in (
        (
            with_interrupts(of, 16_000, irq28=5000, irq3=90_000),
            5000,
            "the image itself raises irq28 every 5,000 cycles.",
        ),
        (with_interrupts(of, 16_000, irq3=90_000), 16_000, "The span is one tick, because SysTick comes every 16,000"),
        (with_interrupts(of, None, irq3=900, irq4=7000), 7000, "irq4, the slowest of the image's periodic interrupts,"),
    ):
        span = parse_sweep_cycle_range(scene, None)
        assert (span.cycles, span.offsets) == (cycles, None)
        assert says in span.reason
    long = parse_sweep_cycle_range(with_interrupts(of, None, irq28=MOST_CHOSEN_CYCLES + 1), None)
    assert len(long.offsets or ()) == MOST_CHOSEN_ARRIVALS
    assert long.reason.endswith("That is long, so 100,000 cycles of it were drawn.")
    assert parse_sweep_cycle_range(with_interrupts(of, None, irq28=5000), None, samples=10).offsets is not None
    with pytest.raises(PlanError, match="raises no interrupt periodically where the sweep begins"):
        parse_sweep_cycle_range(scenario(), None)
    irregular = FirmwareRaisedInterrupt(
        TIM2, tuple(HandlerExecution(at, at + 12, at + 30) for at in (0, 100, 900, 1000, 4000))
    )
    assert irregular.period_cycles is None


def test_arrivals_that_meet_the_own_request_are_counted_apart() -> None:
    """All but a few of a period are as in the same image whose timer stands still."""
    of, still = scenario("RUNS"), scenario()
    span = parse_sweep_cycle_range(of, None)
    assert span.cycles == PERIOD
    finding = swept(of, span)
    alone = swept(still, InterruptSweepCycleRange(PERIOD, "the same"))
    assert alone.own_latency is None
    assert alone.apart == {}
    assert finding.handler.maximum_cycles == alone.handler.maximum_cycles > 200
    assert 5 < finding.apart["handler"].arrivals < 60
    assert "counted separately, with at most" in finding.claim
    assert "The image itself raises this interrupt there, 1 time" in finding.claim
    own = finding.own_latency
    assert own is not None
    assert (own.requests, own.measured, own.period_cycles) == (199, 64, PERIOD)
    assert own.minimum_cycles == 12
    assert 100 < own.maximum_cycles <= finding.handler.maximum_cycles
    page = render_report(worst_case_latency_report(finding, inject_interrupt_at_every_cycle(of, span)))
    assert "Without the sweep, the image itself raises the interrupt 199 times in 0.25 s, every 20,000 cycles." in page


def test_handler_that_needs_the_hardwares_flag_is_reported() -> None:
    of = scenario("RUNS", "TESTS_FLAG", task="on_served")
    span = InterruptSweepCycleRange(PERIOD, "some of a period", tuple(range(0, PERIOD, 997)))
    finding = swept(of, span)
    assert finding.apart["task"].arrivals == len(span.offsets or ())
    assert "Every arrival met the image's own request or handler before the task began" in finding.claim
    served = swept(scenario("RUNS", task="on_served"), span)
    assert served.apart["task"].arrivals < 3
    assert served.task is not None
    assert served.task.maximum_cycles < 1500


@given(
    st.lists(st.integers(1, 40), max_size=12),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 60)), min_size=1, max_size=30),
)
def test_meeting_is_an_overlap_of_two_intervals(gaps: list[int], arrivals: list[tuple[int, int]]) -> None:
    edges = np.cumsum(gaps[: len(gaps) // 3 * 3]).tolist()
    handlings = [HandlerExecution(*edges[at : at + 3]) for at in range(0, len(edges), 3)]
    requests = np.array([handling.recognised for handling in handlings[:2]], np.int64)
    offsets, latencies = (np.array(column, np.int64) for column in zip(*arrivals, strict=True))
    expected = [
        any(handling.recognised <= at + length and at <= handling.end for handling in handlings)
        for at, length in arrivals
    ]
    assert arrivals_during_firmware_requests_mask(handlings, requests, offsets, latencies).tolist() == expected


def test_command_names_the_span_and_the_own_latency(tmp_path: Path) -> None:
    image = own_timer_image("RUNS")
    words = (
        "worst-case",
        image,
        "--board",
        BOARD,
        "--interrupt",
        "TIM2_IRQHandler",
        "--from",
        "loop",
        "--samples",
        "50",
    )
    done = rtoslab(*words, "--out", tmp_path / "sweep")
    assert done.returncode == 0, done.stderr
    assert "The span is one period of irq28, because the image itself raises irq28 every 20,000 cycles." in done.stdout
    assert "The handler begins 12 to 215 cycles after the request, median 12 (the first 64 requests)." in done.stdout
    stored = json.loads((tmp_path / "sweep" / "result.json").read_text())
    assert stored["own_latency"]["period_cycles"] == PERIOD
