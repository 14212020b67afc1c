"""I2C and SPI of the STM32 families, with devices attached by Python."""

from pathlib import Path

import pytest

from rtoslab import board as make_board
from rtoslab.base.errors import RunError
from rtoslab.devices import Eeprom, SpiLoopback, UartLoopback
from tests.bus_firmware import FAMILIES, build_bus_firmware
from tests.cli.test_cli import rtoslab


class CountingLoopback(SpiLoopback):
    """A wire that notes when a frame was sent."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []
        self.selections: list[bool] = []

    def select(self, selected: bool, _now_ns: int) -> None:
        self.selections.append(selected)

    def exchange(self, frame: int, _bits: int, now_ns: int) -> int:
        self.times_ns.append(now_ns)
        return frame


@pytest.mark.parametrize("name", FAMILIES)
def test_firmware_reaches_its_devices(name: str, tmp_path: Path) -> None:
    board = make_board(name, build_bus_firmware(name, tmp_path))
    eeprom, wire = Eeprom(256, page=8, address_bytes=1), CountingLoopback()
    board.attach(eeprom, "i2c1", address=0x50)
    board.attach(wire, "spi1", select="PA4")
    board.set_voltage("PA1", 1.1)
    has_second = "ADC_V4" in FAMILIES[name][1]
    if has_second:
        board.set_voltage("PA6", 2.2)
    board.run(2_000_000)
    assert board.word("done") == 1
    assert eeprom.memory[0x10:0x14] == b"abc\xff"
    assert board.read("back", 3) == b"abc"
    assert board.word("refused") == 1
    # Some 5 ms of polls at about 100 kHz.
    assert 10 < board.word("polls") < 400
    assert (board.word("alone"), board.word("selected")) == (0, 55)
    assert wire.selections[-2:] == [True, False]
    assert len(wire.times_ns) == 10
    assert board.word("level") == 1365
    if has_second:
        assert (board.word("second"), board.word("calibrated")) == (2730, 1)
    assert board.warnings() == []


def test_spi_frames_take_their_bits(tmp_path: Path) -> None:
    board = make_board("nucleo-f446re", build_bus_firmware("nucleo-f446re", tmp_path))
    wire = CountingLoopback()
    board.attach(Eeprom(256, page=8, address_bytes=1), "i2c1", address=0x50)
    board.attach(wire, "spi1", select="PA4")
    board.run(2_000_000)
    # Eight bits of 16 MHz / 16, and the polling between two frames.
    periods = [later - earlier for earlier, later in zip(wire.times_ns, wire.times_ns[1:], strict=False)]
    assert all(8_000 <= period < 12_000 for period in periods), periods


def test_a_voltage_from_the_command(tmp_path: Path) -> None:
    image = build_bus_firmware("nucleo-f446re", tmp_path)
    ends = ("--board", "nucleo-f446re", "--max-cycles", "100000", "--until", "high")
    for volts, code in [("0.5", 3), ("2.9", 0)]:
        done = rtoslab("sim", image, *ends, "--voltage", f"PA1={volts}")
        assert done.returncode == code, done.stdout
    assert "write PA1=1.2" in rtoslab("sim", image, *ends, "--voltage", "PA1").stderr
    assert "no input of the ADC" in rtoslab("sim", image, *ends, "--voltage", "PB5=1").stderr


def test_what_cannot_be_attached() -> None:
    board = make_board("nucleo-h743zi")
    for bus, message in [
        ("spi8", "no spi8"),
        ("uart9", "no serial port 9"),
    ]:
        with pytest.raises(RunError, match=message):
            board.attach(UartLoopback(), bus)
    with pytest.raises(RunError, match="no i2c7"):
        board.attach(Eeprom(), "i2c7", address=1)
    with pytest.raises(RunError, match="no input of an ADC"):
        board.set_voltage("PG0", 1)
