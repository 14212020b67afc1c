"""One image onto one board, and what it says: the port is open before the board is reset, so no byte is lost.

While the program that flashes runs, the port is read all the time: it may start the image long before it ends itself.
"""

import os
import shlex
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from rtoslab.base import FlashError, SerialPortError, combine_open_flags
from rtoslab.hardware.choosing import ConnectedBoard
from rtoslab.hardware.flash_tools import BIN, ELF, UF2, Command, FlashJob
from rtoslab.hardware.image_forms import flash_content_as_uf2, flash_content_of_elf
from rtoslab.hardware.listening import SerialPortListener
from rtoslab.hardware.running_programs import end_host_program, last_output_line_clause, start_host_program
from rtoslab.hardware.usb import BOOTSEL, UsbDevice, connected_devices, kind_of_debug_probe

Say = Callable[[str], None]
_DRIVE_PATTERNS: Final = ("/media/*/RPI-RP2", "/run/media/*/RPI-RP2", "/Volumes/RPI-RP2")
_DRIVE_MARK_FILE: Final = "INFO_UF2.TXT"
_POLL_S: Final = 0.2


def flash_board_and_receive_serial_output(
    target: ConnectedBoard, image: Path, run_id: str, window_s: float, say: Say
) -> bytes:
    """Writes an ELF file to a real board's flash, starts it, and returns what it sends over the serial port.

    `run_id` is that of the image, `say` tells the user what to do by hand. Raises FlashError, SerialPortError,
    BoardSilentError, BoardResetError.
    """
    listener = SerialPortListener(target.port, target.board.uart.baud, run_id)
    try:
        with tempfile.TemporaryDirectory(prefix="rtoslab-") as folder:
            _write_image_to_flash(target, image, Path(folder), listener, say)
        listener.note_image_flashed()
        return listener.read_until_run_ends(target.silence_limit_s + window_s)
    finally:
        listener.close()


def flash_commands(target: ConnectedBoard, image: Path) -> tuple[Command, ...]:
    """Returns the commands that flash an image onto a board. Empty for a drive. Raises SerialPortError."""
    return target.tool.make_commands(FlashJob(image, target.board, target.names, target.probe))


def flash_command_texts(target: ConnectedBoard, image: Path) -> list[str]:
    """Returns the commands that flash an image as a person types them. The image need not exist yet.

    Raises SerialPortError.
    """
    form = image if target.tool.image_form == ELF else image.with_suffix(f".{target.tool.image_form}")
    if target.tool.is_drive:
        return [f"cp {shlex.quote(str(form))} {shlex.quote(str(target.drive or 'the drive RPI-RP2'))}"]
    return [shlex.join(command) for command in flash_commands(target, form)]


def _write_image_to_flash(
    target: ConnectedBoard, image: Path, folder: Path, listener: SerialPortListener, say: Say
) -> None:
    """Writes an image to a real board's flash, by a program or a drive. The serial port is read meanwhile."""
    if kind_of_debug_probe(target.probe) == BOOTSEL:
        target = replace(target, probe=_wait_for_bootsel(target, listener, say))
    form = _convert_image_for_flash_tool(target, image, folder)
    if target.tool.is_drive:
        _copy_to_drive(form, _find_boot_loader_drive(target), listener)
        return
    for command in flash_commands(target, form):
        _flash_while_listening(command, target, folder / "reply", listener)


def _convert_image_for_flash_tool(target: ConnectedBoard, image: Path, folder: Path) -> Path:
    """Returns the path of the image in the form that the board's program takes. It is converted into `folder` if
    necessary."""
    if target.tool.image_form == ELF:
        return image
    memory, content = target.board.memory, image.read_bytes()
    data = flash_content_of_elf(content, memory.flash_start, memory.flash_bytes)
    if target.tool.image_form == UF2:
        family = target.board.flash.uf2_family
        if family is None:
            raise FlashError(f"board.toml of {target.board.id} does not name the UF2 family; add flash.uf2_family.")
        data = flash_content_as_uf2(data, memory.flash_start, family)
    form = folder / f"image.{UF2 if target.tool.image_form == UF2 else BIN}"
    form.write_bytes(data)
    return form


def _flash_while_listening(command: Command, target: ConnectedBoard, log: Path, listener: SerialPortListener) -> None:
    """Runs a program that flashes, and reads the serial port meanwhile. Raises FlashError, SerialPortError."""
    ends = time.monotonic() + target.flash_limit_s
    try:
        process = start_host_program(command, log)
    except OSError as cause:
        raise FlashError(f"Cannot start {command[0]} ({cause.strerror}); install it, or name another tool.") from None
    try:
        while process.poll() is None and time.monotonic() < ends:
            listener.receive_bytes()
        late = process.poll() is None
    finally:
        end_host_program(process)
    if late or process.returncode != 0:
        why = f"did not end within {target.flash_limit_s:g} s" if late else f"ended with code {process.returncode}"
        raise FlashError(
            f"{command[0]} {why} while it flashed the {target.board.id} through the "
            f"{target.probe.usb_device_kind_and_serial_number}"
            f"{last_output_line_clause(log)}; check the probe, its wiring and the board's supply."
        )


def _wait_for_bootsel(target: ConnectedBoard, listener: SerialPortListener, say: Say) -> UsbDevice:
    """Waits until the board is in its boot loader. Returns its USB device. Raises SerialPortError if it does not appear
    in time."""
    ends, announced = time.monotonic() + target.flash_limit_s, False
    while time.monotonic() < ends:
        drives = [
            device
            for device in connected_devices()
            if kind_of_debug_probe(device) == BOOTSEL and device.serial == target.probe.serial
        ]
        if drives:
            return drives[0]
        if not announced:
            say(f"Hold BOOTSEL of the {target.board.id} and reset it: the next image is ready.")
            announced = True
        listener.receive_bytes()
        time.sleep(_POLL_S)
    raise SerialPortError(
        f"The {target.board.id} did not appear in BOOTSEL within {target.flash_limit_s:g} s; hold the button while you "
        "reset it, or flash it through a debug probe."
    )


def _find_boot_loader_drive(target: ConnectedBoard) -> Path:
    """Returns the folder where the boot loader's drive is mounted. Raises SerialPortError unless exactly one is."""
    places = [target.drive] if target.drive else [path for form in _DRIVE_PATTERNS for path in Path("/").glob(form[1:])]
    drives = [place for place in places if (place / _DRIVE_MARK_FILE).is_file()]
    if len(drives) != 1:
        where = str(target.drive) if target.drive else " or ".join(_DRIVE_PATTERNS)
        raise SerialPortError(
            f"{len(drives)} UF2 drives are mounted at {where} instead of one; mount only the board's drive, or "
            "name it with `drive` in the hardware map."
        )
    return drives[0]


def _copy_to_drive(form: Path, drive: Path, listener: SerialPortListener) -> None:
    """Copies an image to the boot loader's drive in one piece: after the last block the board starts it. Raises
    FlashError."""
    try:
        descriptor = os.open(drive / form.name, combine_open_flags("O_WRONLY", "O_CREAT", "O_TRUNC"))
        with os.fdopen(descriptor, "wb") as file:
            file.write(form.read_bytes())
            file.flush()
            os.fsync(file.fileno())
    except OSError as cause:
        if drive.exists():
            raise FlashError(f"Cannot copy the image onto {drive} ({cause.strerror}); check the drive.") from None
    listener.receive_bytes()
