"""Devices on the buses of the virtual Pico, as drivers reach them."""

from pathlib import Path

import pytest

import rtoslab
from rtoslab.base.errors import PlanError, RunError
from rtoslab.devices import Eeprom, PinLoopback, SpiLoopback, TemperatureSensor, UartLoopback
from rtoslab.targets.virtual_board import VirtualBoard
from tests.compat.build import image


@pytest.fixture
def board(tmp_path: Path) -> VirtualBoard:
    path = tmp_path / "buses.elf"
    path.write_bytes(image("buses"))
    return rtoslab.board("pico", path)


def attach_all(board: VirtualBoard) -> Eeprom:
    eeprom = Eeprom()
    board.attach(eeprom, "i2c0", address=0x50)
    board.attach(TemperatureSensor(-10.25), "i2c0", address=0x48)
    board.attach(SpiLoopback(), "spi0", select="GP17")
    board.attach(UartLoopback(), "uart1")
    board.attach(PinLoopback(2, 3), "pins")
    board.set_voltage("GP27", 1.65)
    return eeprom


def fields(board: VirtualBoard) -> dict[str, str]:
    board.run(20_000_000)
    return dict(line.split("=", 1) for line in board.output().decode().splitlines() if "=" in line)


def test_devices_answer_in_the_time_of_their_bus(board: VirtualBoard) -> None:
    eeprom = attach_all(board)
    found = fields(board)
    # Seven bytes and the address, START and STOP at 378 kHz: the block adds SPKLEN + 8 cycles to what the SDK counts.
    write_us = int(found.pop("write_us"))
    assert 74 * 2.648 <= write_us <= 74 * 2.648 * 1.1, write_us
    assert found == {
        "nobody": "1", "written": "7", "stored_ms": "5", "polled": "1", "read": "hello",
        "eighths": str(-82 & 0x7FF), "alone": "0", "selected": "210", "alone_us": "17", "selected_us": "17",
        "conversions_us": "11", "volts": "2048", "uart": "1", "wire": "1", "wire_low": "0",
    }  # fmt: skip
    assert eeprom.memory[0x100:0x106] == b"hello\xff"
    assert board.warnings() == []


def test_a_restored_board_repeats_what_its_devices_did(board: VirtualBoard) -> None:
    eeprom = attach_all(board)
    board.run_until("main")
    before = board.snapshot()
    first = fields(board)
    assert first["read"] == "hello"
    board.restore(before)
    eeprom.memory[0x100] = 0
    assert fields(board) == first


def test_an_exception_of_a_device_ends_the_run(board: VirtualBoard) -> None:
    class Broken:
        def start(self, reads: bool, now_ns: int) -> bool:
            raise ValueError(f"no {reads} {now_ns}")

    board.attach(Broken(), "i2c0", address=0x33)
    with pytest.raises(ValueError, match="no False"):
        board.run(20_000_000)


def test_what_cannot_be_attached(board: VirtualBoard) -> None:
    board.attach(Eeprom(), "i2c1", address=0x50)
    for arguments, message in [
        (("can0", {}), "no bus 'can0'"),
        (("i2c0", {}), "needs an address"),
        (("i2c2", {"address": 1}), "no i2c2"),
        (("spi9", {}), "no spi9"),
        (("uart5", {}), "no uart5"),
        (("i2c1", {"address": 0x50}), "Another device"),
    ]:
        with pytest.raises(RunError, match=message):
            board.attach(Eeprom(), arguments[0], **arguments[1])
    with pytest.raises(PlanError, match="no pin"):
        board.attach(SpiLoopback(), "spi0", select="GP40")
    with pytest.raises(RunError, match="no input of the ADC"):
        board.set_voltage("GP2", 1)
