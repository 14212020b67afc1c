"""What is switched on as a window opens, by the board's registers, and that nobody notices being asked."""

from pathlib import Path
from typing import Any

import pytest

from rtoslab import _sim, api
from rtoslab.results import MeasuredPoint
from rtoslab.targets.board import make_board_at_reset
from rtoslab.targets.board_state import is_timing_setting_unchanged_by_write, read_board_settings
from tests.targets.test_boards import CATALOGUE

SYSTICK_COUNT = 0xE000_E018
NOWHERE = 0x9000_0000


def state(tmp_path: Path, board: str, **config: str) -> dict[str, Any]:
    (outcome,) = api.run(
        "t4", kernels=["bare"], boards=[board], cores=[1], window_ms=5, config=config, out=tmp_path / str(len(config))
    )
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    return outcome.result.state


def test_point_records_board_state(tmp_path: Path) -> None:
    message = state(tmp_path, "nucleo-f446re")
    assert message["clock_hz"] == 84_000_000
    assert (message["wait_states"], message["feature.prefetch"], message["feature.icache"]) == (2, 1, 1)
    assert message["urgency.irq79"] == message["isr_urgency"] == 0
    assert (message["mpu"], message["float_contexts"]) == (0, 0)
    assert state(tmp_path, "nucleo-f446re", **{"feature.icache": "0"})["feature.icache"] == 0


def test_pico_records_its_flash_cache(tmp_path: Path) -> None:
    message = state(tmp_path, "pico")
    assert (message["xip.cache"], message["xip.divider"]) == (1, 2)


@pytest.mark.parametrize("board", ["pico", "nucleo-f446re", "nucleo-h743zi", "nucleo-l053r8"])
def test_registers_are_read_on_a_copy(board: str) -> None:
    machine = make_board_at_reset(CATALOGUE.find_board(board).facts, cores=1)
    before = machine.cycle()
    first = machine.read_registers(0, [SYSTICK_COUNT, NOWHERE])
    assert first == machine.read_registers(0, [SYSTICK_COUNT, NOWHERE])
    assert first[1] is None, "nothing answers there"
    assert machine.cycle() == before
    assert not machine.warnings()
    assert read_board_settings(machine, CATALOGUE.find_board(board).facts, 1)["mpu"] == 0


def test_core_that_the_board_lacks_is_refused() -> None:
    machine = make_board_at_reset(CATALOGUE.find_board("nucleo-f446re").facts, cores=1)
    with pytest.raises(_sim.SimError, match="core"):
        machine.read_registers(1, [SYSTICK_COUNT])


@pytest.mark.parametrize(
    ("name", "word", "keeps"),
    [
        ("fpu.lazy", 0xC000_0000, True),  # LSPACT is cleared
        ("fpu.lazy", 0xC000_0001, True),
        ("fpu.lazy", 0x8000_0000, False),  # LSPEN is off
        ("core.auxiliary", 0, False),  # nothing of a task is in this register
        ("mpu", 0, False),
    ],
)
def test_write_that_keeps_the_setting(name: str, word: int, keeps: bool) -> None:
    at_open = {"fpu.lazy": 3, "core.auxiliary": 0, "mpu": 0}
    assert is_timing_setting_unchanged_by_write(name, word, at_open) == keeps
    assert not is_timing_setting_unchanged_by_write(name, word, {}), "it was not read as the window opened"
