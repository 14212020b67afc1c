"""Devices on a command's line: `i2c1:0x50=eeprom`, `spi1:PA4=loopback`, `i2c1:0x20=file.py:Class`.

An error in a user's class must not end a command with a traceback. So each call of a device reports its error with the
device's text and the line of the class.
"""

import copy
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtoslab.base import PlanError, RunError
from rtoslab.catalogue import Board
from rtoslab.devices import Eeprom, PinLoopback, SpiLoopback, TemperatureSensor, UartLoopback
from rtoslab.intake import is_file_or_pipe, parse_exact_decimal, parse_integer, printable_path, quote_text
from rtoslab.targets.board import convert_simulator_errors, parse_pin_number

_BUS: Final = re.compile(r"(pins|spi|i2c|us?art|lpuart)([0-9]?)")
_METHODS: Final = {
    "i2c": ("start", "write", "read", "stop"),
    "spi": ("exchange", "select"),
    "uart": ("receive",),
    "pins": ("change",),
}
"""The methods of a device, by its bus."""
EEPROMS: Final = {"24c02": (256, 8, 1), "24c32": (4096, 32, 2), "24c64": (8192, 32, 2), "24c128": (16384, 64, 2),
                  "24c256": (32768, 64, 2), "24c512": (65536, 128, 2)}  # fmt: skip
"""Bytes, bytes of a page, and bytes of an address, by the part's number."""
_OWN_CLASS: Final = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)(?::(?P<argument>.*))?", re.DOTALL)
_LONGEST_I2C_ADDRESS: Final = 0x7F
_EXAMPLES: Final = "i2c1:0x50=eeprom, spi1:PA4=loopback, uart2=loopback, i2c1:0x48=lm75:21.5 or i2c1:0x20=file.py:Class"


@dataclass(frozen=True, slots=True)
class BoardBus:
    """A bus or port of a board: its kind (spi, i2c, uart, pins), and its number in the manual. An LPUART is UART 0."""

    kind: str
    number: int


def parse_board_bus(text: str) -> BoardBus | None:
    """Returns the bus of a board that a text such as `i2c1` or `lpuart1` names. None if it names none."""
    match = _BUS.fullmatch(text.lower())
    if match is None:
        return None
    kind = "uart" if match[1] in {"uart", "usart", "lpuart"} else match[1]
    return BoardBus(kind, 0 if match[1] == "lpuart" else int(match[2] or 0))


@dataclass(frozen=True, slots=True)
class BusDeviceRequest:
    """A user's request to attach a device to a bus. Each board gets a device object of its own."""

    text: str
    """As it was written, for messages."""
    bus: BoardBus
    address: int | None
    """Of a device on I2C."""
    select: str | None
    """The pin that selects a device on SPI."""
    make_device: Callable[[Board], object]

    def attach_device(self, machine: Any, board: Board) -> None:
        """Makes the requested device and attaches it to a virtual board. Raises PlanError for an unsuitable pin, bus or
        address, or an error of the device's class."""
        select = None if self.select is None else parse_pin_number(board, self.select)
        device = _NamedBusDevice(self.make_device(board), self.text)
        try:
            with convert_simulator_errors(PlanError):
                machine.attach(device, self.bus.kind, self.bus.number, address=self.address, select=select)
        except PlanError as cause:
            raise PlanError(
                f"{self.text} cannot be attached to the {board.id}: {_error_message_without_full_stop(str(cause))}."
            ) from None


def parse_device_request(text: str, folder: Path = Path()) -> BusDeviceRequest:
    """Returns the device that a text such as `i2c1:0x50=eeprom` requests. `folder` is the base of relative file names
    in it. Raises PlanError."""
    where, sign, what = text.partition("=")
    name, colon, place = where.strip().partition(":")
    bus = parse_board_bus(name)
    if bus is None or not sign or not what.strip():
        raise PlanError(f"{quote_text(text)} is not a device on a bus; write {_EXAMPLES}.")
    address = _parse_i2c_address(text, place) if bus.kind == "i2c" else None
    if colon and bus.kind not in {"i2c", "spi"}:
        raise PlanError(f"{quote_text(text)}: {name} takes no {quote_text(place)}; write {name}={what.strip()}.")
    select = place.strip() if bus.kind == "spi" and colon else None
    return BusDeviceRequest(text, bus, address, select, _find_device_constructor(text, bus, what.strip(), folder))


def _parse_i2c_address(text: str, place: str) -> int:
    """Returns the 7-bit I2C address in `place`. Raises PlanError, which quotes `text`."""
    try:
        return parse_integer(place, 0, _LONGEST_I2C_ADDRESS)
    except ValueError:
        raise PlanError(f"{quote_text(text)} needs the device's 7-bit address; write i2c1:0x50=….") from None


def _find_device_constructor(text: str, bus: BoardBus, what: str, folder: Path) -> Callable[[Board], object]:
    """Returns the function that makes the requested device. `what` is the text after `=`, such as `lm75:21.5`. Raises
    PlanError for a device that the bus cannot have."""
    own = _OWN_CLASS.fullmatch(what)
    if own is not None:
        return _load_user_device_class(text, bus, folder / own["file"], own["name"], own["argument"])
    name, _, argument = what.partition(":")
    kinds = {"eeprom": ("i2c",), "lm75": ("i2c",), "loopback": ("spi", "uart", "pins")}.get(name)
    if kinds is None:
        raise PlanError(
            f"{quote_text(text)}: there is no device {quote_text(name)}; give eeprom, lm75, loopback, or your own as "
            "file.py:Class."
        )
    if bus.kind not in kinds:
        raise PlanError(f"{quote_text(text)}: {name} is a device for {' and '.join(kinds)}, not for {bus.kind}.")
    if name == "loopback":
        return _loopback_device_factory(text, bus, argument)
    device = _make_eeprom if name == "eeprom" else _make_temperature_sensor
    try:
        device(argument)
    except ValueError as cause:
        raise PlanError(f"{quote_text(text)}: {cause}.") from None
    return lambda _: device(argument)


def _make_eeprom(argument: str) -> Eeprom:
    """Returns an EEPROM by its part number, such as `24c256`. Raises ValueError for an unknown part."""
    part = argument.lower().replace("lc", "c").replace("aa", "c") or "24c256"
    if part not in EEPROMS:
        raise ValueError(f"there is no EEPROM {quote_text(argument)}; give {', '.join(EEPROMS)}")
    size, page, address_bytes = EEPROMS[part]
    return Eeprom(size, page=page, address_bytes=address_bytes)


def _make_temperature_sensor(argument: str) -> TemperatureSensor:
    """Returns an LM75 sensor with a fixed temperature in degrees Celsius, 25 if the text is empty. Raises
    ValueError."""
    try:
        celsius = float(parse_exact_decimal(argument or "25"))
    except ValueError as cause:
        raise ValueError(f"the temperature {cause}") from None
    if not -55 <= celsius <= 125:
        raise ValueError(f"an LM75 measures from -55 to 125 degrees Celsius, not {argument}")
    return TemperatureSensor(celsius)


def _loopback_device_factory(text: str, bus: BoardBus, argument: str) -> Callable[[Board], object]:
    """Returns the function that makes a loopback device: a wire from output to input. `argument` names the two pins of
    a loopback on pins. Raises PlanError."""
    if bus.kind != "pins":
        if argument:
            raise PlanError(
                f"{quote_text(text)}: a loopback on {bus.kind} takes no {quote_text(argument)}; leave it out."
            )
        return (lambda _: SpiLoopback()) if bus.kind == "spi" else (lambda _: UartLoopback())
    source, colon, destination = argument.partition(":")
    if not colon:
        raise PlanError(f"{quote_text(text)} does not name the two pins; write pins=loopback:PA0:PA1.")
    return lambda board: PinLoopback(parse_pin_number(board, source), parse_pin_number(board, destination))


def _load_user_device_class(
    text: str, bus: BoardBus, file: Path, name: str, argument: str | None
) -> Callable[[Board], object]:
    """Returns the function that makes an object of a user's device class. Raises PlanError if the file has no such
    class, or the class no method for this bus."""
    if not is_file_or_pipe(file):
        raise PlanError(f"{quote_text(text)}: there is no file {printable_path(file)}; check the path.")
    spec = importlib.util.spec_from_file_location(f"_rtoslab_device_{file.stem}", file)
    assert spec is not None and spec.loader is not None  # noqa: PT018 (its name ends in .py)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as cause:  # noqa: BLE001 (what a user's file raises)
        raise PlanError(f"{printable_path(file)} cannot be loaded: {_device_error_text(cause, file)}.") from None
    finally:
        sys.path.remove(folder)
    made = getattr(module, name, None)
    if not callable(made):
        raise PlanError(f"{printable_path(file)} has no class {name}; check the name after the colon.")
    methods = _METHODS[bus.kind]
    if not any(hasattr(made, method) for method in methods):
        raise PlanError(
            f"{name} of {printable_path(file)} has no method for {bus.kind} ({', '.join(methods)}), so it would do "
            "nothing."
        )

    def make_device(_: Board) -> object:
        """Returns an object of the user's class. Raises PlanError if its constructor fails."""
        try:
            return made() if argument is None else made(argument)
        except Exception as cause:  # noqa: BLE001 (what a user's class raises)
            raise PlanError(
                f"{name} of {printable_path(file)} cannot be made: {_device_error_text(cause, file)}."
            ) from None

    return make_device


class _NamedBusDevice:
    """A device object whose errors name the device, in one sentence."""

    def __init__(self, device: object, text: str) -> None:
        self._device, self._text = device, text

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Returns a method of the device that raises RunError in place of the method's own error."""
        if name.startswith("_"):
            raise AttributeError(name)
        method, text = getattr(self._device, name), self._text

        def call_device_and_convert_errors(*arguments: Any) -> Any:
            """Calls the device's method. Raises RunError in place of the method's own error."""
            try:
                return method(*arguments)
            except Exception as cause:
                file = Path(getattr(sys.modules.get(type(self._device).__module__), "__file__", None) or "")
                raise RunError(f"The device {text} failed in {name}: {_device_error_text(cause, file)}.") from cause

        return call_device_and_convert_errors

    def __deepcopy__(self, memo: dict[int, Any]) -> "_NamedBusDevice":
        """Returns a copy for a snapshot. Raises RunError if the device cannot be copied."""
        try:
            return _NamedBusDevice(copy.deepcopy(self._device, memo), self._text)
        except Exception as cause:
            raise RunError(
                f"The device {self._text} cannot be copied for a snapshot: "
                f"{_error_message_without_full_stop(str(cause))}; give its "
                "class a "
                "method __deepcopy__."
            ) from cause


def _device_error_text(cause: BaseException, file: Path) -> str:
    """Returns an error as text: its kind, its message, and the line of `file` in which it was raised."""
    lines = [frame for frame in traceback.extract_tb(cause.__traceback__) if Path(frame.filename) == file]
    lines = lines or [
        item for item in traceback.extract_tb(cause.__traceback__) if Path(item.filename).name == file.name
    ]
    line = cause.lineno if isinstance(cause, SyntaxError) else lines[-1].lineno if lines else None
    message = cause.msg if isinstance(cause, SyntaxError) else str(cause)
    where = f" (line {line} of {file.name})" if line is not None else ""
    return f"{type(cause).__name__}: {_error_message_without_full_stop(message)}{where}"


def _error_message_without_full_stop(message: str) -> str:
    """Returns an error message in one line, without the full stop."""
    return " ".join(message.split()).removesuffix(".")
