"""Real images on every virtual board: they set up their clock through its registers, run, and their proofs hold."""

from pathlib import Path
from typing import Final

import pytest

from rtoslab import api
from rtoslab.base.errors import RtoslabError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.schemas import Board
from rtoslab.results.results import MeasuredPoint
from rtoslab.targets.board import make_board_at_reset

CATALOGUE: Final = Catalogue(find_checkout_root())


def _has_machine(board: Board) -> bool:
    try:
        make_board_at_reset(board, cores=1)
    except RtoslabError:
        return False
    return True


BOARDS: Final = [name for name, entry in CATALOGUE.boards.items() if entry.facts.clocks and _has_machine(entry.facts)]
"""Boards with a clock tree to set up, of those that have a virtual one."""
OF_EACH_CORE: Final = {"nucleo-l053r8", "nucleo-f103rb", "nucleo-f446re", "nucleo-h743zi"}
"""One with each kind of core; the others' turn comes with the long tests."""
ANOTHER_KERNEL: Final = {"nucleo-l053r8": "rt", "nucleo-f103rb": "rt", "nucleo-h743zi": "bare"}
"""FreeRTOS takes longest to build: on the M7 `test_placements.py` measures it, on every board the long test does."""
NOT_FREERTOS: Final = {"contention", "p5_signal_wait", "pointer_message", "tm8_allocation"}
"""For which FreeRTOS lacks a service, or which need two cores."""
COUNTING: Final = [
    name for name, item in CATALOGUE.benchmarks.items() if item.facts.kind == "counts" and name not in NOT_FREERTOS
]
"""Measured as one point; those of latencies are one for each instrument, and have tests of their own."""


def _measure(
    out: Path, benchmark: str, board: str, window_ms: int, kernel: str = "freertos", **config: str
) -> MeasuredPoint:
    (outcome,) = api.run(
        benchmark, kernels=[kernel], boards=[board], cores=[1], window_ms=window_ms, config=config, out=out, jobs=1
    )
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    return outcome.result


def _assert_board(result: MeasuredPoint, clock_hz: int, window_ms: int) -> None:
    assert result.clock_hz == clock_hz
    assert result.timer_hz == 1_000_000
    assert sum(counter.count for counter in result.counters) > 0
    assert result.virtual is not None
    # The kernel's tick (core clock), the board's timer (bus clock) and the cycle counter agree on the window, but for
    # what runs between the tick and the stamp: a hundred microseconds at 8 MHz, far less at full speed.
    slack_us = 100 * 8_000_000 / clock_hz + 1
    assert abs(result.window_ticks - window_ms * 1000) <= slack_us
    assert abs(result.virtual.cores[0].cycles / clock_hz * 1e6 - window_ms * 1000) <= slack_us


def test_boards_of_the_simulator() -> None:
    assert len(BOARDS) >= 6
    assert set(BOARDS) >= OF_EACH_CORE


@pytest.mark.parametrize(
    "name", [pytest.param(board, marks=() if board in OF_EACH_CORE else pytest.mark.long) for board in BOARDS]
)
def test_benchmark_with_an_interrupt_is_measured_and_proved(name: str, tmp_path: Path) -> None:
    kernel = ANOTHER_KERNEL.get(name, "freertos")
    benchmark = "t5" if kernel == "freertos" else "t4"
    result = _measure(tmp_path / "run", benchmark, name, 20, kernel)
    _assert_board(result, CATALOGUE.find_board(name).facts.clock.sys_hz, 20)


@pytest.mark.parametrize(
    ("kernel", "name", "config"),
    [
        pytest.param(kernel, name, config, marks=pytest.mark.long if is_long else ())
        for kernel, name, config, is_long in [
            ("bare", "stm32f407ig", {"data": "ccm"}, False),
            ("freertos", "stm32f407ig", {"data": "ccm"}, True),
            ("bare", "nucleo-f767zi", {"code": "flash_itcm"}, False),
            ("freertos", "nucleo-f767zi", {"code": "flash_itcm"}, True),
            ("freertos", "nucleo-h743zi", {"data": "sram", "clock_hz": "480000000"}, True),
            ("freertos", "nucleo-f446re", {"code": "sram", "wait_states": "7", "feature.dcache": "0"}, False),
        ]
        if name in BOARDS
    ],
)
def test_code_and_data_in_other_memories(kernel: str, name: str, config: dict[str, str], tmp_path: Path) -> None:
    """Where they lie is the board's and the scripts' business: without long tests a kernel stands in one of them."""
    clock_hz = int(config.get("clock_hz", CATALOGUE.find_board(name).facts.clock.sys_hz))
    _assert_board(
        _measure(tmp_path / "run", "t2" if kernel == "freertos" else "t7", name, 10, kernel, **config), clock_hz, 10
    )


def test_wait_states_and_caches_have_their_documented_cost(tmp_path: Path) -> None:
    """More wait states are never quicker, and switching the accelerator off is slower."""
    plain = _measure(tmp_path / "plain", "t1", "nucleo-f446re", 10)
    waits = _measure(tmp_path / "waits", "t1", "nucleo-f446re", 10, wait_states="9")
    bare = {f"feature.{name}": "0" for name in CATALOGUE.find_board("nucleo-f446re").facts.features}
    slow = _measure(tmp_path / "slow", "t1", "nucleo-f446re", 10, wait_states="9", **bare)
    counts = [result.counters[0].count for result in (plain, waits, slow)]
    assert counts[0] >= counts[1] > counts[2], counts


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "hz"), [(name, hz) for name in BOARDS for hz in CATALOGUE.find_board(name).facts.clocks]
)
@pytest.mark.parametrize("benchmark", COUNTING)
def test_every_benchmark_at_every_clock(name: str, hz: int, benchmark: str, tmp_path: Path) -> None:
    window_ms = CATALOGUE.find_benchmark(benchmark).facts.window_ms or 50
    _assert_board(_measure(tmp_path / "run", benchmark, name, window_ms, clock_hz=str(hz)), hz, window_ms)
