"""The programs that flash a board: for which probes each is, and its command line by its own documentation.

A command is a tuple of words that is started as it is. No shell reads it. OpenOCD's `-c` is a script of its own, so
what goes into it has only characters that mean nothing there.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import SerialPortError
from rtoslab.catalogue import Board, FlashToolChipNames
from rtoslab.hardware.usb import BOOTSEL, CMSIS_DAP, JLINK, STLINK, UsbDevice, kind_of_debug_probe

Command = tuple[str, ...]
ELF: Final = "elf"
BIN: Final = "bin"
UF2: Final = "uf2"
_TCL_PLAIN: Final = re.compile(r"[A-Za-z0-9_./+,:@=~ -]+")
_OPENOCD_INTERFACE: Final = {STLINK: "stlink", CMSIS_DAP: "cmsis-dap", JLINK: "jlink"}


@dataclass(frozen=True, slots=True)
class FlashJob:
    """An image to write to a board's flash, with the board and the probe."""

    image: Path
    """In the tool's `form`."""
    board: Board
    names: FlashToolChipNames
    probe: UsbDevice


@dataclass(frozen=True, slots=True)
class FlashTool:
    """A program that writes images to a board's flash, or the copy to a boot loader's drive."""

    name: str
    probe_kinds: frozenset[str]
    """The kinds of probes and of boards in a boot loader that it supports."""
    image_form: str
    supports: Callable[[FlashToolChipNames], bool]
    """Whether flash.toml has the names that the program needs."""
    make_commands: Callable[[FlashJob], tuple[Command, ...]]
    """Returns the commands that flash and reset the board. Raises SerialPortError for names that the program
    refuses."""
    is_drive: bool = False
    """Whether the image is copied onto a drive, without a program."""


def _probe_rs_commands(order: FlashJob) -> tuple[Command, ...]:
    """Returns the commands by which probe-rs writes an image to flash and starts it."""
    # https://probe.rs/docs/tools/probe-rs/ and the options of probe-rs-tools (`ProbeOptions`, `BinaryDownloadOptions`):
    # `download` leaves the core halted, `reset` starts it.
    probe = order.probe.vid_pid_text + (f":{order.probe.serial}" if order.probe.serial else "")
    which = ("--non-interactive", "--chip", str(order.names.probe_rs), "--probe", probe)
    return (("probe-rs", "download", *which, "--verify", str(order.image)), ("probe-rs", "reset", *which))


def _pyocd_commands(order: FlashJob) -> tuple[Command, ...]:
    """Returns the command by which pyOCD writes an image to flash and starts it. Raises SerialPortError."""
    # https://pyocd.io/docs/command_reference.html, `load`: resets when it has written, unless told --no-reset.
    which = ("--uid", _require_probe_serial(order, "pyocd"), "--target", str(order.names.pyocd))
    return (("pyocd", "load", "--no-wait", *which, "--format", "elf", str(order.image)),)


def _openocd_commands(order: FlashJob) -> tuple[Command, ...]:
    """Returns the command by which OpenOCD writes an image to flash and starts it. Raises SerialPortError for a path
    that it would misread."""
    # https://openocd.org/doc/html/Flash-Programming.html (`program FILE verify reset exit`) and
    # https://openocd.org/doc/html/Debug-Adapter-Configuration.html (`adapter serial`, since 0.12).
    image = str(order.image)
    if not _TCL_PLAIN.fullmatch(image):
        raise SerialPortError(
            f"OpenOCD cannot use the path {image!r}, because it has characters with a meaning in Tcl; "
            "put the build folder where its path has only letters, digits and `/._-`."
        )
    interface = f"interface/{_OPENOCD_INTERFACE[kind_of_debug_probe(order.probe) or STLINK]}.cfg"
    serial = ("-c", f"adapter serial {order.probe.serial}") if order.probe.serial else ()
    script = f"program {{{image}}} verify reset exit"
    return (("openocd", "-f", interface, *serial, "-f", str(order.names.openocd), "-c", script),)


def _st_flash_commands(order: FlashJob) -> tuple[Command, ...]:
    """Returns the command by which st-flash writes an image to flash and starts it. Raises SerialPortError."""
    # man st-flash (stlink-tools 1.7): st-flash [OPTIONS] write FILE ADDR; --reset: both before and after flashing.
    start = f"{order.board.memory.flash_start:#x}"
    which = ("--serial", _require_probe_serial(order, "st-flash"))
    return (("st-flash", *which, "--reset", "--format", "binary", "write", str(order.image), start),)


def _picotool_commands(order: FlashJob) -> tuple[Command, ...]:
    """Returns the command by which picotool writes an image to flash and starts it."""
    # `picotool help load`: -v verifies, -x executes what was loaded; --bus and --address choose a board in BOOTSEL.
    bus, address = order.probe.bus, order.probe.address
    which = ("--bus", str(bus), "--address", str(address)) if bus is not None and address is not None else ()
    return (("picotool", "load", "-v", "-x", str(order.image), "-t", "elf", *which),)


def _require_probe_serial(order: FlashJob, tool: str) -> str:
    """Returns the serial number of the probe. Raises SerialPortError if it has none that a command can contain."""
    if not order.probe.serial:
        raise SerialPortError(
            f"The {order.probe.usb_device_kind_and_serial_number} has no serial number, which {tool} needs to "
            f"select it; use "
            "another tool or probe."
        )
    return order.probe.serial


_SWD: Final = frozenset({STLINK, CMSIS_DAP, JLINK})
TOOLS: Final[Mapping[str, FlashTool]] = {
    tool.name: tool
    for tool in (
        FlashTool("probe-rs", _SWD, ELF, lambda names: names.probe_rs is not None, _probe_rs_commands),
        FlashTool("pyocd", _SWD, ELF, lambda names: names.pyocd is not None, _pyocd_commands),
        FlashTool("openocd", _SWD, ELF, lambda names: names.openocd is not None, _openocd_commands),
        FlashTool("st-flash", frozenset({STLINK}), BIN, lambda names: names.st_flash, _st_flash_commands),
        FlashTool("picotool", frozenset({BOOTSEL}), ELF, lambda names: names.bootsel, _picotool_commands),
        FlashTool("uf2", frozenset({BOOTSEL}), UF2, lambda names: names.bootsel, lambda _: (), is_drive=True),
    )
}
"""Keyed by name, in the order of preference."""


def is_flash_tool_installed(tool: FlashTool) -> bool:
    """Whether a program that flashes is installed on this machine. The copy to a drive needs none."""
    return tool.is_drive or shutil.which(tool.name) is not None
