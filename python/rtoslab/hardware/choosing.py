"""Finds one probe, one port and one program for a board's name and the user's options, or a sentence that says why
there is none.

The command must not flash another board than the intended one. So the user always names the board. A probe is chosen
automatically only if no other connected probe fits the board."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import SerialPortError, UnknownNameError
from rtoslab.catalogue import Board, FlashToolChipNames
from rtoslab.hardware.bench import FLASH_LIMIT_S, SILENCE_LIMIT_S, HardwareMap, HardwareMapBoard
from rtoslab.hardware.flash_tools import TOOLS, FlashTool, is_flash_tool_installed
from rtoslab.hardware.usb import UsbDevice, kind_of_debug_probe, shell_safe_device_serial_number

AUTO: Final = "auto"
TARGETS_HINT: Final = "`rtoslab list targets` shows what is connected"


@dataclass(frozen=True, slots=True)
class ConnectedBoard:
    """A connected board with its debug probe, serial port and flash tool."""

    board: Board
    names: FlashToolChipNames
    tool: FlashTool
    probe: UsbDevice
    port: str
    drive: Path | None = None
    flash_limit_s: float = FLASH_LIMIT_S
    silence_limit_s: float = SILENCE_LIMIT_S


def installed_flash_tools(names: FlashToolChipNames, device: UsbDevice) -> list[FlashTool]:
    """Returns the installed programs that can flash a board through a connected device, the preferred one first."""
    return [
        tool
        for tool in TOOLS.values()
        if kind_of_debug_probe(device) in tool.probe_kinds and tool.supports(names) and is_flash_tool_installed(tool)
    ]


def find_connected_board(
    requested: str,
    board: Board,
    names: FlashToolChipNames,
    devices: Iterable[UsbDevice],
    port: str | None,
    bench: HardwareMap | None,
) -> ConnectedBoard:
    """Returns a real board with the probe, serial port and program for it.

    `requested` is `auto`, a probe's serial number, or a name in the hardware map. `port` is the user's, if any. Raises
    SerialPortError if not exactly one probe is meant, or it has no port or no program.
    """
    entry = bench.find_board_in_hardware_map(requested) if bench is not None else None
    if bench is not None and entry is None:
        if requested != AUTO:
            raise UnknownNameError("target of the hardware map", requested, [target.name for target in bench.target])
        entry = _find_hardware_map_entry(board, bench)
    if entry is not None:
        return _connected_board_of_hardware_map_entry(entry, board, names, tuple(devices), port)
    probe = _choose_probe(requested, board, names, tuple(devices))
    tools = installed_flash_tools(names, probe)
    if not tools:
        raise SerialPortError(
            f"No installed program can flash the {board.id} through the "
            f"{probe.usb_device_kind_and_serial_number}; install one of "
            f"{_flash_tool_names(names, probe)}."
        )
    return ConnectedBoard(board, names, tools[0], probe, port or _serial_port_of_probe(probe, board))


def _find_hardware_map_entry(board: Board, bench: HardwareMap) -> HardwareMapBoard:
    """Returns the entry for a board in the hardware map. Raises SerialPortError if there is not exactly one."""
    candidates = [target for target in bench.target if target.board == board.id]
    if len(candidates) != 1:
        raise SerialPortError(
            f"The hardware map has {len(candidates)} targets with the board {board.id}; name one with --target: "
            f"{', '.join(target.name for target in candidates or bench.target)}."
        )
    return candidates[0]


def _connected_board_of_hardware_map_entry(
    entry: HardwareMapBoard, board: Board, names: FlashToolChipNames, devices: tuple[UsbDevice, ...], port: str | None
) -> ConnectedBoard:
    """Returns the real board that an entry of the hardware map describes, with its probe and port.

    Raises SerialPortError if the entry is for another board, or lacks a connected probe, a tool or a port.
    """
    if entry.board != board.id:
        raise SerialPortError(
            f"The target {entry.name} of the hardware map is a {entry.board}, but --board is {board.id}; change "
            "one of them."
        )
    probe = _device_by_serial(entry.probe, devices)
    if probe is None:
        raise SerialPortError(
            f"The probe {entry.probe} of the target {entry.name} is not connected; plug it in ({TARGETS_HINT})."
        )
    tools = installed_flash_tools(names, probe)
    if entry.tool is not None:
        if entry.tool not in TOOLS:
            raise UnknownNameError("flash tool", entry.tool, TOOLS)
        tools = [tool for tool in tools if tool.name == entry.tool]
    if not tools:
        raise SerialPortError(
            f"The target {entry.name} cannot be flashed through the {probe.usb_device_kind_and_serial_number}: "
            f"{entry.tool or _flash_tool_names(names, probe)} is not installed or does not support this probe; "
            "install it."
        )
    return ConnectedBoard(
        board,
        names,
        tools[0],
        probe,
        port or entry.port or _serial_port_of_probe(probe, board),
        Path(entry.drive) if entry.drive else None,
        entry.flash_limit_s,
        entry.silence_limit_s,
    )


def _choose_probe(requested: str, board: Board, names: FlashToolChipNames, devices: tuple[UsbDevice, ...]) -> UsbDevice:
    """Returns the probe with this serial number. With `auto`, it is the only one that can flash the board. Raises
    SerialPortError."""
    if requested != AUTO:
        result = _device_by_serial(requested, devices) if shell_safe_device_serial_number(requested) else None
        if result is None:
            raise SerialPortError(f"There is no probe with the serial number {requested!r}; {TARGETS_HINT}.")
        return result
    candidates = [
        device
        for device in devices
        if any(kind_of_debug_probe(device) in tool.probe_kinds and tool.supports(names) for tool in TOOLS.values())
    ]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        bootsel = ", or hold BOOTSEL while you connect the board" if names.bootsel else ""
        raise SerialPortError(
            f"No probe is connected that could flash the {board.id}; plug it in{bootsel} ({TARGETS_HINT})."
        )
    serials = ", ".join(usb_device.serial or usb_device.vid_pid_text for usb_device in candidates)
    raise SerialPortError(
        f"{len(candidates)} probes are connected that could be the {board.id}'s; name one with --target: {serials}."
    )


def _device_by_serial(serial: str, devices: tuple[UsbDevice, ...]) -> UsbDevice | None:
    """Returns the USB device with this serial number. None if there is none."""
    return next((device for device in devices if device.serial == serial), None)


def _serial_port_of_probe(probe: UsbDevice, board: Board) -> str:
    """Returns the serial port of a probe. Raises SerialPortError if it does not have exactly one."""
    if len(probe.ports) == 1:
        return probe.ports[0]
    ports_text = f"has the ports {', '.join(probe.ports)}" if probe.ports else "has no serial port"
    raise SerialPortError(
        f"The {probe.usb_device_kind_and_serial_number} {ports_text}; add --port with the serial port that is "
        f"connected to "
        f"{board.uart.tx_pin} of the {board.id}."
    )


def _flash_tool_names(names: FlashToolChipNames, probe: UsbDevice) -> str:
    """Returns the names of the programs that can flash a board through a probe, as text for a sentence."""
    return (
        ", ".join(
            tool.name
            for tool in TOOLS.values()
            if kind_of_debug_probe(probe) in tool.probe_kinds and tool.supports(names)
        )
        or "none"
    )
