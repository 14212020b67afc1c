"""Timers, reboots, the boot ROM and the rest of the board as SDK code uses them."""

import math
import re
import struct

import numpy as np
import pytest

from rtoslab.targets.event_kinds import KIND_PIN
from rtoslab.targets.events import EVENT
from tests.compat.build import Board, image, uf2_of


def single(value: float) -> str:
    return f"{struct.unpack('<I', struct.pack('<f', value))[0]:08x}"


def double(value: float) -> str:
    return f"{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


def test_timers_of_the_pico() -> None:
    board = Board(image("timers")).run(60)
    assert board.fields == {
        "slept": "15", "past": "1", "repeated": "10", "armed": "0", "pended": "1", "core": "10", "reference": "10",
        "counted": "12", "latched": "1", "carried": "8",
    }  # fmt: skip
    assert board.lines[-1] == "end"
    assert board.machine.warnings() == []


@pytest.mark.parametrize("script", ["flash", "ram"])
def test_reboots_by_watchdog_and_reset_request(script: str) -> None:
    board = Board(image("reboot", script=script)).run(60)
    assert board.lines == [
        "boot=1 reason=0 scratch0=0 pll=1", "boot=2 reason=1 scratch0=42 pll=1", "boot=3 reason=2 scratch0=43 pll=1",
        "vector_sp=1", "vector_scratch4=0", "vector_reason=1", "boot=4 reason=1 scratch0=43 pll=1", "end",
    ]  # fmt: skip


def test_roms_reset_vector_boots_again() -> None:
    assert Board(image("again")).run(60).lines == ["boot=1", "boot=2", "boot=3", "end"]


def test_boot_rom_functions() -> None:
    fields = Board(image("rom")).run(60).fields
    assert fields == {
        "magic": "1", "version": "3", "popcount": "17", "clz": "15", "ctz": "16", "reverse": "3", "missing": "0",
        "memory": "xxxxxxxxxxxcopied", "entries": "3232", "fadd": single(4.0), "fdiv": single(1 / 3),
        "fsqrt": single(math.sqrt(2)), "f2i": "fffffffd", "i2f": single(-7), "fix2f": single(1.5),
        "fexp": single(math.e), "atan2f": single(math.pi / 4), "dadd": double(4.0), "dmul": double(1.0),
        "dln": double(math.log(math.e)), "less": "100",
    }  # fmt: skip


def test_board_library_runs() -> None:
    board = Board(image("board")).run(200)
    assert board.fields == {
        "blank": "1", "programmed": "1", "erased": "1", "id": "e6605254", "cache": "1", "temperature": "1",
        "random": "1", "badwrite": "0", "sys_khz": "125000", "usb_khz": "48000", "sio_byte": "0", "dpram": "1",
        "connected": "0", "dma": "sent by channel 0",
    }  # fmt: skip
    assert board.lines[-1] == "end"
    blocks = {re.split(r":| are ", text)[0] for text in board.machine.warnings() if "MPU" not in text}
    assert blocks == {"VREG_AND_CHIP_RESET", "USB and the XIP stream"}


@pytest.mark.parametrize("name", ["hello", "timers", "rom"])
def test_images_in_sram_print_what_those_in_flash_do(name: str) -> None:
    flash, ram = Board(image(name)).run(60), Board(image(name, script="ram")).run(60)
    assert flash.uart == ram.uart != b""
    assert Board(uf2_of(image(name, script="ram"))).run(60).uart == ram.uart


@pytest.mark.parametrize("cores", [1, 2])
def test_pwm_outputs_are_on_their_pins_to_the_cycle(cores: int) -> None:
    board = Board(image("pwm"), cores=cores)
    board.machine.trace_pins(True)
    board.run(100)
    assert board.lines[-1] == "end"
    assert board.machine.warnings() == []
    events = np.frombuffer(board.machine.take_events(), dtype=EVENT)
    events = events[events["kind"] == KIND_PIN]
    servo, copy, led = (
        [(int(event["cycle"]), int(event["value"])) for event in events[events["id"] == pin]] for pin in (0, 16, 25)
    )
    assert servo[-8:] == copy[-8:]
    # High from the moment on at which the pin shows it, then from each wrap.
    falls = [cycle for cycle, level in servo if not level]
    rises = [cycle for cycle, level in servo if level][1:]
    assert np.diff(rises).tolist() == [2_500_000] * 3
    assert [fall - rise for rise, fall in zip(rises, falls[1:], strict=False)] == [187_500, 250_000, 250_000, 250_000]
    edges = [cycle for cycle, _ in led[-101:]]
    assert set(np.diff(edges).tolist()) == {60 * 125, 142 * 125}


def strip_bits(count: int) -> list[int]:
    """The bits that images/pio.c sends, as a WS2812 takes them."""
    colours = [(n * 0x123457 + 0x80FF01) & 0xFFFFFF for n in range(count)]
    return [colour >> bit & 1 for colour in colours for bit in reversed(range(24))]


@pytest.mark.parametrize("cores", [1, 2])
def test_pio_sends_what_dma_brings_and_interrupts_a_core(cores: int) -> None:
    board = Board(image("pio"), cores=cores)
    board.machine.trace_pins(True)
    board.run(60)
    # Fifty flags a hundred microseconds apart.
    assert board.fields == {"left": "0", "stalled": "1", "took": "50"}
    assert board.lines[-1] == "end"
    assert board.machine.warnings() == []
    events = np.frombuffer(board.machine.take_events(), dtype=EVENT)
    edges = events[(events["kind"] == KIND_PIN) & (events["id"] == 3)]
    rises = edges["cycle"][edges["value"] == 1].astype(int)
    falls = edges["cycle"][edges["value"] == 0].astype(int)[-len(rises) :]
    # Ticks of 15.625 cycles: three or seven of them high, ten to a bit, none between the words.
    high = [round(cycles / 15.625) for cycles in (falls - rises).tolist()]
    assert [(ticks - 3) // 4 for ticks in high] == strip_bits(12)
    assert set(high) == {3, 7}
    assert set(np.diff(rises).tolist()) == {156, 157}
    assert abs(int(rises[-1] - rises[0]) - 287 * 156.25) < 1


@pytest.mark.parametrize("profiled", [False, True])
@pytest.mark.parametrize("cores", [1, 2])
def test_caches_counters_count(cores: int, profiled: bool) -> None:
    """Also while the host profiles, which must change nothing that a program reads."""
    board = Board(image("xip"), cores=cores)
    if profiled:
        board.machine.profile(True)
    board.run(100)
    assert board.fields == {"data_accesses": "128", "data_hits": "64", "thousand": "10", "all_are_told": "1"}
    assert board.lines[-1] == "end"
    assert board.machine.warnings() == []
    assert not profiled or board.machine.take_profile(0)


def test_restored_board_counts_as_before() -> None:
    board = Board(image("xip"))
    lines = []
    for milliseconds in (1, 2, 3, 4, 5, 6):
        board.run(milliseconds)
        present = board.machine.snapshot()
        before = board.uart
        lines.append(board.run(50).lines)
        board.machine.restore(present)
        board.uart = before
    assert all(line == lines[0] for line in lines)
    assert lines[0][-1] == "end"
