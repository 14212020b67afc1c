"""Timer outputs and inputs of the STM32 families at their pins."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from rtoslab import board as make_board
from tests.cli.test_cli import rtoslab
from tests.timer_firmware import FAMILIES, build_timer_firmware


class PinWire:
    """A wire from PA6 to PA1."""

    def change(self, pin: int, level: int, _now_ns: int) -> list[tuple[int, int]]:
        return [(1, level)] if pin == 6 else []


@pytest.mark.parametrize("name", FAMILIES)
def test_one_timer_measures_the_pwm_of_another(name: str, tmp_path: Path) -> None:
    board = make_board(name, build_timer_firmware(name, tmp_path))
    board.attach(PinWire(), "pins")
    board.trace(pins=True)
    board.run(12_000)
    assert board.warnings() == []
    assert (board.word("done"), board.word("period"), board.word("width")) == (1, 1000, 250)
    edges = [edge for edge in board.edges("PA6") if edge.cycle < 12_000]
    spans = [later.cycle - earlier.cycle for earlier, later in pairwise(edges)]
    # The first pulse is longer by the time before the counter starts. The new duty is in force after an update.
    assert spans[1:6] == [750, 250, 750, 250, 750], edges[:8]
    assert set(spans[6:]) <= {250, 750, 600, 400}
    assert spans[-4:] in ([600, 400, 600, 400], [400, 600, 400, 600])
    assert [edge.cycle for edge in board.edges("PA1")] == [edge.cycle for edge in board.edges("PA6")]


def test_driven_pin_is_captured(tmp_path: Path) -> None:
    name = "nucleo-f446re"
    board = make_board(name, build_timer_firmware(name, tmp_path))
    for cycle in range(2_000, 8_000, 800):
        board.drive("PA1", 1, at=cycle)
        board.drive("PA1", 0, at=cycle + 100)
    board.run(8_000)
    assert (board.word("done"), board.word("period"), board.word("width")) == (1, 800, 100)


def test_profile_and_cycles_are_the_same_whoever_looks(tmp_path: Path) -> None:
    name = "nucleo-f446re"
    image = build_timer_firmware(name, tmp_path)
    cycles = []
    for looks in (False, True):
        board = make_board(name, image)
        board.attach(PinWire(), "pins")
        board.trace(pins=looks)
        probe = board.watch("done")
        board.run(12_000)
        cycles.append([hit.cycle for hit in probe.hits])
    assert cycles[0] == cycles[1] != []


def test_a_timer_is_stimulated_from_the_command(tmp_path: Path) -> None:
    image = build_timer_firmware("nucleo-f446re", tmp_path)
    drives = [f"--drive=PA1={n % 2}@{n}ms" for n in range(2, 9)]
    done = rtoslab("sim", image, "--board", "nucleo-f446re", "--for", "10ms", "--strict", *drives)
    assert done.returncode == 0, done.stderr
    assert "not modelled" not in done.stdout + done.stderr


def test_a_trace_shows_the_edges(tmp_path: Path) -> None:
    image, vcd = build_timer_firmware("nucleo-f446re", tmp_path), tmp_path / "pins.vcd"
    done = rtoslab("trace", image, "--board", "nucleo-f446re", "--for", "1ms", "-o", vcd)
    assert done.returncode == 0, done.stderr
    text = vcd.read_text()
    assert "PA6" in text
    rises = [int(time) for time in re.findall(r"^#(\d+)\n1", text, re.MULTILINE)]
    # 1000 cycles at 16 MHz, in picoseconds. Nothing drives PA1, so the duty stays.
    assert {later - earlier for earlier, later in pairwise(rises[1:])} == {62_500_000}
