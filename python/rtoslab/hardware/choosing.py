"""Finds one probe, one port and one program for a board's name and the user's options, or a sentence that says why
there is none.

The trap it prevents: flashing the board beside the one that was meant. The board is always named by the user. A probe
is chosen for them only if it is the only one connected that could be meant."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import PortError, UnknownNameError
from rtoslab.catalogue import Board, FlashNames
from rtoslab.hardware.bench import FLASH_LIMIT_S, SILENCE_LIMIT_S, Bench, BenchTarget
from rtoslab.hardware.flash_tools import TOOLS, FlashTool, is_installed
from rtoslab.hardware.usb import UsbDevice, kind_of, safe_serial

AUTO: Final = "auto"
SHOWN: Final = "`rtoslab targets` shows what is connected"


@dataclass(frozen=True, slots=True)
class Target:
    """One board on the desk."""

    board: Board
    names: FlashNames
    tool: FlashTool
    probe: UsbDevice
    port: str
    drive: Path | None = None
    flash_limit_s: float = FLASH_LIMIT_S
    silence_limit_s: float = SILENCE_LIMIT_S


def fitting(names: FlashNames, device: UsbDevice) -> list[FlashTool]:
    """Tools installed here that flash a board through a device, the first choice first."""
    return [
        tool for tool in TOOLS.values() if kind_of(device) in tool.kinds and tool.knows(names) and is_installed(tool)
    ]


def choose_target(
    requested: str, board: Board, names: FlashNames, devices: Iterable[UsbDevice], port: str | None, bench: Bench | None
) -> Target:
    """`target`: `auto`, a probe's serial number, or a name of the hardware map. `port`: where the user named one.

    Raises PortError where not exactly one probe is meant, or it has no port or no tool."""
    entry = bench.named(requested) if bench is not None else None
    if bench is not None and entry is None:
        if requested != AUTO:
            raise UnknownNameError("target of the hardware map", requested, [target.name for target in bench.target])
        entry = _only_one_for(board, bench)
    if entry is not None:
        return _from_map(entry, board, names, tuple(devices), port)
    probe = _probe(requested, board, names, tuple(devices))
    tools = fitting(names, probe)
    if not tools:
        raise PortError(
            f"No program is installed that flashes the {board.id} through the {probe.label}; install one of "
            f"{_could(names, probe)}."
        )
    return Target(board, names, tools[0], probe, port or _port_of(probe, board))


def _only_one_for(board: Board, bench: Bench) -> BenchTarget:
    meant = [target for target in bench.target if target.board == board.id]
    if len(meant) != 1:
        raise PortError(
            f"The hardware map has {len(meant)} targets with the board {board.id}; name one with --target: "
            f"{', '.join(target.name for target in meant or bench.target)}."
        )
    return meant[0]


def _from_map(
    entry: BenchTarget, board: Board, names: FlashNames, devices: tuple[UsbDevice, ...], port: str | None
) -> Target:
    if entry.board != board.id:
        raise PortError(
            f"The target {entry.name} of the hardware map is a {entry.board}, but --board says {board.id}; name one."
        )
    probe = _by_serial(entry.probe, devices)
    if probe is None:
        raise PortError(f"The probe {entry.probe} of the target {entry.name} is not connected; plug it in ({SHOWN}).")
    tools = fitting(names, probe)
    if entry.tool is not None:
        if entry.tool not in TOOLS:
            raise UnknownNameError("flash tool", entry.tool, TOOLS)
        tools = [tool for tool in tools if tool.name == entry.tool]
    if not tools:
        raise PortError(
            f"The target {entry.name} cannot be flashed through the {probe.label}: "
            f"{entry.tool or _could(names, probe)} is not installed, or does not know it."
        )
    return Target(
        board,
        names,
        tools[0],
        probe,
        port or entry.port or _port_of(probe, board),
        Path(entry.drive) if entry.drive else None,
        entry.flash_limit_s,
        entry.silence_limit_s,
    )


def _probe(target: str, board: Board, names: FlashNames, devices: tuple[UsbDevice, ...]) -> UsbDevice:
    if target != AUTO:
        result = _by_serial(target, devices) if safe_serial(target) else None
        if result is None:
            raise PortError(f"There is no probe with the serial number {target!r}; {SHOWN}.")
        return result
    could = [
        device
        for device in devices
        if any(kind_of(device) in tool.kinds and tool.knows(names) for tool in TOOLS.values())
    ]
    if len(could) == 1:
        return could[0]
    if not could:
        bootsel = ", or hold BOOTSEL while you connect the board" if names.bootsel else ""
        raise PortError(f"No probe is connected that could flash the {board.id}; plug it in{bootsel} ({SHOWN}).")
    serials = ", ".join(usb_device.serial or usb_device.identity for usb_device in could)
    raise PortError(
        f"{len(could)} probes are connected that could be the {board.id}'s; name one with --target: {serials}."
    )


def _by_serial(serial: str, devices: tuple[UsbDevice, ...]) -> UsbDevice | None:
    return next((device for device in devices if device.serial == serial), None)


def _port_of(probe: UsbDevice, board: Board) -> str:
    if len(probe.ports) == 1:
        return probe.ports[0]
    have = f"has the ports {', '.join(probe.ports)}" if probe.ports else "has no serial port"
    raise PortError(
        f"The {probe.label} {have}; name the one that is wired to {board.uart.tx_pin} of the {board.id} with --port."
    )


def _could(names: FlashNames, probe: UsbDevice) -> str:
    return (
        ", ".join(tool.name for tool in TOOLS.values() if kind_of(probe) in tool.kinds and tool.knows(names)) or "none"
    )
