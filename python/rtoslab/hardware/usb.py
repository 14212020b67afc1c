"""Lists devices on USB: probes and boards that wait to be flashed, with their serial ports.

On Linux all of it is in sysfs, also what has no serial port (a Pico in BOOTSEL, an ST-LINK/V2). Elsewhere only
devices with a port are seen. A device's own strings are untrusted: a serial number goes into a command only if it is
made of letters, digits and `._:-`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from serial.tools import list_ports

from rtoslab.base import SerialPortError
from rtoslab.intake import escape_to_one_line, read_text

STLINK: Final = "stlink"
CMSIS_DAP: Final = "cmsis-dap"
JLINK: Final = "jlink"
BOOTSEL: Final = "bootsel"
_STM: Final = 0x0483
_RASPBERRY: Final = 0x2E8A
# Sources: ST's own table of product ids in TN1235; Raspberry Pi's list of USB product ids; Arm's DAPLink; SEGGER.
_KIND_BY_ID: Final = {
    **{
        (_STM, product): STLINK
        for product in (
            0x3744, 0x3748, 0x374A, 0x374B, 0x374D, 0x374E, 0x374F, 0x3752, 0x3753, 0x3754, 0x3755, 0x3757,
        )
    },
    (_RASPBERRY, 0x0003): BOOTSEL,
    (_RASPBERRY, 0x000C): CMSIS_DAP,
    (0x0D28, 0x0204): CMSIS_DAP,
}  # fmt: skip
_SEGGER: Final = 0x1366
_SAFE_SERIAL: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,63}")
_ATTRIBUTE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class UsbDevice:
    """A USB device: a debug probe, or a board in its boot loader."""

    vendor: int
    product: int
    serial: str
    """Empty if it has none, or none that may go into a command."""
    title: str = ""
    ports: tuple[str, ...] = ()
    """Devices of its serial ports."""
    bus: int | None = None
    address: int | None = None

    @property
    def vid_pid_text(self) -> str:
        """Returns the USB identity VID:PID, four hexadecimal digits each."""
        return f"{self.vendor:04x}:{self.product:04x}"

    @property
    def usb_device_kind_and_serial_number(self) -> str:
        """Returns the device's kind and serial number as text for a sentence."""
        return f"{kind_of_debug_probe(self) or 'device'} {self.serial or self.vid_pid_text}"


def kind_of_debug_probe(device: UsbDevice) -> str | None:
    """Returns the kind of debug probe or boot loader of a USB device, such as `stlink`. None if it is neither."""
    if device.vendor == _SEGGER:
        return JLINK
    known = _KIND_BY_ID.get((device.vendor, device.product))
    # Of a CMSIS-DAP probe the standard demands these words in its product string.
    return known or (CMSIS_DAP if "CMSIS-DAP" in device.title else None)


def shell_safe_device_serial_number(text: str) -> str:
    """Returns a device's serial number. Empty if it has characters that must not be part of a command."""
    return text if _SAFE_SERIAL.fullmatch(text) else ""


def connected_devices(sysfs: Path | None = None) -> tuple[UsbDevice, ...]:
    """Returns the connected debug probes and boards in a boot loader, by identity and serial number.
    `sysfs` is /sys by default, or the folder that SYSFS_PATH names.
    """
    place = (sysfs or Path(os.environ.get("SYSFS_PATH", "/sys"))) / "bus" / "usb" / "devices"
    devices = _usb_devices_in_sysfs(place) if place.is_dir() else _serial_port_devices()
    probes = [device for device in devices if kind_of_debug_probe(device) is not None]
    return tuple(
        sorted(probes, key=lambda device: (device.vid_pid_text, device.serial, device.bus or 0, device.address or 0))
    )


def _usb_devices_in_sysfs(place: Path) -> list[UsbDevice]:
    """Returns the USB devices that Linux lists in the folder `place` of sysfs."""
    devices = []
    for folder in sorted(place.iterdir()):
        vendor, product = _read_sysfs_hexadecimal(folder / "idVendor"), _read_sysfs_hexadecimal(folder / "idProduct")
        if vendor is None or product is None:
            continue  # an interface, or pulled this moment
        ports = sorted(f"/dev/{path.name}" for path in folder.glob(f"{folder.name}:*/**/tty/*"))
        devices.append(
            UsbDevice(
                vendor,
                product,
                shell_safe_device_serial_number(_read_sysfs_text(folder / "serial")),
                escape_to_one_line(_read_sysfs_text(folder / "product")[:80]),
                tuple(ports),
                _read_sysfs_decimal(folder / "busnum"),
                _read_sysfs_decimal(folder / "devnum"),
            )
        )
    return devices


def _serial_port_devices() -> list[UsbDevice]:
    """Returns the USB devices that have a serial port, for systems without sysfs."""
    devices: dict[tuple[int, int, str], UsbDevice] = {}
    for port in list_ports.comports():
        if port.vid is None or port.pid is None:
            continue
        key = port.vid, port.pid, shell_safe_device_serial_number(port.serial_number or "")
        others = devices[key].ports if key in devices else ()
        devices[key] = UsbDevice(*key, escape_to_one_line((port.product or "")[:80]), (*others, port.device))
    return list(devices.values())


def _read_sysfs_text(path: Path) -> str:
    """Returns the text of a sysfs file without space around it. Empty if it cannot be read."""
    try:
        return read_text(path, "the USB attribute", SerialPortError, _ATTRIBUTE_BYTES).strip()
    except SerialPortError:
        return ""


def _read_sysfs_hexadecimal(path: Path) -> int | None:
    """Returns the hexadecimal number in a sysfs file. None if there is none."""
    text = _read_sysfs_text(path)
    return int(text, 16) if re.fullmatch(r"[0-9a-f]{4}", text) else None


def _read_sysfs_decimal(path: Path) -> int | None:
    """Returns the decimal number in a sysfs file. None if there is none."""
    text = _read_sysfs_text(path)
    return int(text) if re.fullmatch(r"[0-9]{1,4}", text) else None
