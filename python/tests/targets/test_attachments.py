"""Devices on a command's line: what they are, what is refused, and what firmware sees of them."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NoReturn

import pytest

from rtoslab.base.errors import PlanError, RunError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue import Board, Catalogue
from rtoslab.devices import Eeprom, PinLoopback, TemperatureSensor
from rtoslab.targets.attachments import parse_device_request
from rtoslab.targets.debugging import serve_gdb
from tests.bus_firmware import build_bus_firmware
from tests.cli.test_cli import rtoslab

BOARD = "nucleo-f446re"
EEPROM = ("--attach", "i2c1:0x50=eeprom:24c02")
BOTH = (*EEPROM, "--attach", "spi1:PA4=loopback")


@cache
def image() -> Path:
    return build_bus_firmware(BOARD, Path(mkdtemp(prefix="rtoslab-bus-")))


@cache
def board() -> Board:
    return Catalogue(find_checkout_root()).find_board(BOARD).facts


class FakeMachine:
    """Notes what is attached."""

    def attach(self, device: Any, bus: str, number: int, *, address: int | None, select: int | None) -> None:
        self.device, self.place = device, (bus, number, address, select)


def attached(text: str) -> FakeMachine:
    machine = FakeMachine()
    parse_device_request(text).attach_device(machine, board())
    return machine


def test_text_names_bus_place_and_device() -> None:
    assert attached("i2c1:0x50=eeprom").place == ("i2c", 1, 0x50, None)
    assert attached("I2C3:72=lm75:-21.5").place == ("i2c", 3, 72, None)
    assert attached("spi1:PA4=loopback").place == ("spi", 1, None, 4)
    assert attached("spi2=loopback").place == ("spi", 2, None, None)
    assert attached("usart2=loopback").place == attached("uart2=loopback").place == ("uart", 2, None, None)
    assert attached("lpuart1=loopback").place == ("uart", 0, None, None)
    assert attached("pins=loopback:PA0:PB3").place == ("pins", 0, None, None)
    assert attached("pins=loopback:PA0:PB3").device.change(0, True, 0) == [(19, True)]


def test_each_board_gets_its_own_device() -> None:
    request = parse_device_request("i2c1:0x48=lm75:21.5")
    sensors = [request.make_device(board()) for _ in range(2)]
    assert sensors[0] is not sensors[1]
    assert all(isinstance(sensor, TemperatureSensor) and sensor.celsius == 21.5 for sensor in sensors)
    eeproms = {
        part: parse_device_request(f"i2c1:0x50=eeprom:{part}").make_device(board()) for part in ("24LC02", "24c512")
    }
    assert [len(eeprom.memory) for eeprom in eeproms.values() if isinstance(eeprom, Eeprom)] == [256, 65536]
    assert isinstance(parse_device_request("pins=loopback:PA0:PB3").make_device(board()), PinLoopback)


REFUSED = {
    "eeprom": "'eeprom' is not a device on a bus; write i2c1:0x50=eeprom, ",
    "i2c1:0x50": "'i2c1:0x50' is not a device on a bus",
    "can1=loopback": "'can1=loopback' is not a device on a bus",
    "i2c1=eeprom": "'i2c1=eeprom' needs the device's 7-bit address; write i2c1:0x50=",
    "i2c1:0x80=eeprom": "needs the device's 7-bit address",
    "i2c1:PA4=eeprom": "needs the device's 7-bit address",
    "i2c1:0x50=flash": "there is no device 'flash'; give eeprom, lm75, loopback, or your own as file.py:Class.",
    "spi1=eeprom": "eeprom is a device for i2c, not for spi.",
    "i2c1:0x50=loopback": "loopback is a device for spi and uart and pins, not for i2c.",
    "i2c1:0x50=eeprom:8k": "there is no EEPROM '8k'; give 24c02, 24c32,",
    "i2c1:0x48=lm75:warm": "the temperature 'warm' is not a number.",
    "i2c1:0x48=lm75:126": "an LM75 measures from -55 to 125 degrees Celsius, not 126.",
    "uart2:PA4=loopback": "uart2 takes no 'PA4'; write uart2=loopback.",
    "uart2=loopback:1": "a loopback on uart takes no '1'; leave it out.",
    "pins=loopback:PA0": "does not name the two pins; write pins=loopback:PA0:PA1.",
    "pins=loopback:PA0:PZ1": "has no pin 'PZ1'; use names such as PB0.",
    "spi1:PA99=loopback": "has no pin 'PA99'; use names such as PB0.",
    "i2c1:0x50=nowhere.py:Device": "there is no file nowhere.py; check the path.",
}


@pytest.mark.parametrize("text", REFUSED)
def test_other_texts_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(PlanError) as caught:
        attached(text)
    assert REFUSED[text] in str(caught.value)


OWN = """
from rtoslab.devices import Eeprom
class Spy(Eeprom):
    def __init__(self, size="256"):
        super().__init__(int(size), page=8, address_bytes=1)
    def stop(self, now_ns):
        super().stop(now_ns)
        print("stored", bytes(self.memory[16:19]))
class Broken(Spy):
    def write(self, byte, now_ns):
        return 1 // (byte - byte)
class Locked(Spy):
    def __init__(self):
        super().__init__()
        self.lock = open(__file__)
class Nothing: pass
text = "no class"
"""


def test_own_class_is_loaded_with_its_argument(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN)
    spy = parse_device_request(f"i2c1:0x50={file}:Spy:64").make_device(board())
    assert isinstance(spy, Eeprom)
    assert len(spy.memory) == 64
    for text, says in [
        (f"i2c1:0x50={file}:Other", "own.py has no class Other; check the name after the colon."),
        (f"i2c1:0x50={file}:text", "own.py has no class text"),
        (f"i2c1:0x50={file}:Nothing", "own.py has no method for i2c (start, write, read, stop)"),
        (f"spi1={file}:Spy", "has no method for spi (exchange, select), so it would do nothing."),
        (
            f"i2c1:0x50={file}:Spy:big",
            "own.py cannot be made: ValueError: invalid literal for int() with base 10: 'big'",
        ),
    ]:
        with pytest.raises(PlanError) as caught:
            attached(text)
        assert says in str(caught.value)
    for content, says in [
        ("x =", "cannot be loaded: SyntaxError: invalid syntax (line 1 of own.py)."),
        ("import os\nos.nothing", "AttributeError: module 'os' has no attribute 'nothing' (line 2 of own.py)."),
        ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3 (line 1 of own.py)."),
    ]:
        file.write_text(content)
        with pytest.raises(PlanError) as caught:
            parse_device_request(f"i2c1:0x50={file}:Spy")
        assert says in str(caught.value)


def test_an_error_of_a_device_names_it_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN)
    device = attached(f"i2c1:0x50={file}:Broken").device
    assert device.start(False, 0) is True
    assert not hasattr(device, "exchange")
    with pytest.raises(RunError) as caught:
        device.write(1, 0)
    assert str(caught.value) == (
        f"The device i2c1:0x50={file}:Broken failed in write: ZeroDivisionError: integer division or modulo by zero "
        "(line 11 of own.py)."
    )


def test_simulated_firmware_reaches_its_devices() -> None:
    ends = ("--board", BOARD, "--until", "finished", "--max-cycles", "2000000", "--json")
    alone = rtoslab("sim", image(), *ends)
    assert (alone.returncode, json.loads(alone.stdout)["stop"]) == (3, "cycles")
    done = rtoslab("sim", image(), *ends, *BOTH)
    assert (done.returncode, json.loads(done.stdout)["stop"]) == (0, "until"), done.stderr


def test_trace_measure_and_diagnose_attach_devices_too() -> None:
    traced = rtoslab("trace", image(), "--board", BOARD, "--max-cycles", "500000", *BOTH)
    assert "PA4" in traced.stdout, traced.stderr
    assert "PA4" not in rtoslab("trace", image(), "--board", BOARD, "--max-cycles", "500000").stdout
    interval = ("measure", "--image", image(), "--board", BOARD, "--interval", "reset", "finished")
    assert rtoslab(*interval, "--for", "30ms").returncode == 3
    assert rtoslab(*interval, "--for", "30ms", *BOTH).returncode == 0
    assert rtoslab("diagnose", image(), "--board", BOARD, "--for", "30ms", *BOTH).returncode == 0
    for command in (("diagnose",), ("trace",)):
        refused = rtoslab(*command, image(), "--board", BOARD, "--attach", "i2c9:0x50=eeprom")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "i2c9:0x50=eeprom cannot be attached to the nucleo-f446re: The chip has no i2c9." in refused.stderr


def test_debugged_firmware_reaches_its_devices() -> None:
    class Ready(Exception):  # noqa: N818 (no error)
        pass

    def ready(_: str) -> NoReturn:
        raise Ready

    devices = [parse_device_request("i2c1:0x50=eeprom:24c02"), parse_device_request("spi1:PA4=loopback")]
    with pytest.raises(Ready):
        serve_gdb(image(), board(), "127.0.0.1:0", until="finished", devices=devices, ready=ready)


def test_own_class_takes_part_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    ends = ("--board", BOARD, "--until", "finished", "--max-cycles", "2000000")
    done = rtoslab("sim", image(), *ends, "--attach", f"i2c1:0x50={tmp_path}/own.py:Spy", *BOTH[2:])
    assert "stored b'abc'" in done.stdout
    broken = rtoslab("sim", image(), *ends, "--attach", f"i2c1:0x50={tmp_path}/own.py:Broken")
    assert broken.returncode != 0
    assert "own.py:Broken failed in write: ZeroDivisionError" in broken.stderr
    assert "Traceback" not in broken.stderr
    assert broken.stderr.count("\n") == 1


def test_devices_go_with_images_only(tmp_path: Path) -> None:
    refused = rtoslab("trace", "t4", *EEPROM)
    assert "A benchmark uses no device; give --attach only with an image." in refused.stderr
    twice = rtoslab("sim", image(), "--board", BOARD, *EEPROM, *EEPROM)
    assert "another device has the address 0x50 already" in twice.stderr.lower()
