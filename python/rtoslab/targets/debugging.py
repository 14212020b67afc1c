"""An image on a virtual board under gdb: `rtoslab gdb`. The server is the simulator's (`sim/gdb`)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtoslab.base import DebuggerError, SymbolError
from rtoslab.catalogue import Board
from rtoslab.intake import read_program_image
from rtoslab.targets.attachments import BusDeviceRequest
from rtoslab.targets.board import (
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
)

if TYPE_CHECKING:
    from rtoslab._sim import Snapshot

TaskRow = tuple[int, str, int | None, list[tuple[str, int]]]
"""A task of the image's kernel: control block, name and state, the core that executes it, registers."""


def serve_gdb(
    image: Path,
    board: Board,
    listen: str,
    *,
    cores: int | None = None,
    settings: Mapping[str, int] | None = None,
    strict: bool = False,
    until: str | None = None,
    devices: Sequence[BusDeviceRequest] = (),
    ready: Callable[[str], None] = lambda _: None,
    on_text: Callable[[str, bytes], None] = lambda *_: None,
    note: Callable[[str], None] = lambda _: None,
    tasks: Callable[["Snapshot"], Sequence[TaskRow]] = lambda _: (),
) -> None:
    """Runs an image on a virtual board and serves gdb on `listen` ("HOST:PORT") until gdb kills the board. Raises
    DebuggerError, ImageFileError, PlanError, SymbolError.

    With `until`, a symbol or a 0x address, the board runs up to there before the server waits for gdb. `ready` gets the
    address on which the server listens, `on_text` the firmware's output and its channel (empty for a UART), `note`
    sentences for the user. `devices` are attached to the board. `tasks` returns the kernel's tasks in a given state of
    the board.
    """
    machine: Any = make_board_at_reset(board, cores=cores or board.cores, strict=strict)
    apply_timing_settings_to_virtual_board(machine, settings or {})
    machine.serve_semihosting(True)
    load_image_into_board(machine, read_program_image(image), image.name)
    for device in devices:
        device.attach_device(machine, board)
    if until is not None:
        with convert_simulator_errors(SymbolError):
            machine.until(find_symbol_address(machine, until))
        limit = 10 * board.clock.sys_hz
        stop = machine.run(limit)
        on_text("", machine.take_uart())
        if stop["reason"] != "until":
            raise DebuggerError(
                f"{image.name} does not reach {until} within {limit:,} cycles (it stopped because of "
                f"{stop['reason']}); give another place, or leave --until out."
            )
    with convert_simulator_errors(DebuggerError):
        machine.debug(listen, ready, on_text, note, tasks)
