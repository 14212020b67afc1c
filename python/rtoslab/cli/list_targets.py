"""`rtoslab list targets`: probes and boards that are connected, and what can flash which board through them."""

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.hardware import (
    TOOLS,
    UsbDevice,
    connected_devices,
    installed_flash_tools,
    is_flash_tool_installed,
    kind_of_debug_probe,
    read_hardware_map,
)


def print_connected_targets(catalogue: Catalogue, bench: Path | None, *, as_json: bool) -> None:
    """Prints the connected probes and boards, and the installed programs that can flash through them.

    `bench`: a hardware map. Then each of its targets is shown, with whether it is connected.
    """
    devices = connected_devices()
    listing: dict[str, Any] = {
        "connected": [_connected_device_as_json(catalogue, device) for device in devices],
        "tools": {tool.name: is_flash_tool_installed(tool) for tool in TOOLS.values()},
    }
    if bench is not None:
        present = {device.serial for device in devices}
        listing["bench"] = [
            {**target.model_dump(mode="json"), "connected": target.probe in present}
            for target in read_hardware_map(bench).target
        ]
    if as_json:
        print_json_answer(listing, indent=2)
        return
    _print_connected_devices_and_boards(listing)


def _connected_device_as_json(catalogue: Catalogue, device: UsbDevice) -> dict[str, Any]:
    """Returns a connected device as a JSON object, with the boards that can be flashed through it."""
    flashes = {
        name: [tool.name for tool in installed_flash_tools(catalogue.chip_names_in_flash_programs(name), device)]
        for name in catalogue.boards
    }
    return {
        "kind": kind_of_debug_probe(device),
        "usb": device.vid_pid_text,
        "serial": device.serial,
        "title": device.title,
        "ports": list(device.ports),
        "flashes": {name: tools for name, tools in flashes.items() if tools},
    }


def _print_connected_devices_and_boards(listing: dict[str, Any]) -> None:
    """Prints the connected devices, the programs that flash, and the boards in the hardware map if one is given."""
    console = PlainConsole()
    rows = listing["connected"]
    table = Table("kind", "USB", "serial number", "serial ports", "can be flashed through it, by")
    for row in rows:
        by = sorted({tool for tools in row["flashes"].values() for tool in tools}, key=list(TOOLS).index)
        boards = f"{', '.join(row['flashes'])}: {', '.join(by)}" if by else "no program for it is installed"
        table.add_row(row["kind"], row["usb"], row["serial"] or "-", ", ".join(row["ports"]) or "-", boards)
    if rows:
        console.print(table)
    else:
        click.echo("No probe and no board in BOOTSEL is connected.")
    click.echo(
        "Installed programs that flash: "
        f"{', '.join(name for name, is_present in listing['tools'].items() if is_present)}."
    )
    if "bench" in listing:
        table = Table("target", "board", "probe", "port", "there")
        for row in listing["bench"]:
            table.add_row(
                row["name"], row["board"], row["probe"], row["port"] or "-", "yes" if row["connected"] else "no"
            )
        console.print(table)
