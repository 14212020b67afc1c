"""An image on a virtual board under gdb: `rtoslab gdb`. The server is the simulator's (`sim/gdb`)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rtoslab.base import DebuggerError, SymbolError
from rtoslab.catalogue import Board
from rtoslab.intake import read_image
from rtoslab.targets.board import apply_settings, find_address, load_image, make_machine, simulator_errors


def serve_gdb(
    image: Path,
    board: Board,
    listen: str,
    *,
    cores: int | None = None,
    settings: Mapping[str, int] | None = None,
    strict: bool = False,
    until: str | None = None,
    ready: Callable[[str], None] = lambda _: None,
    on_uart: Callable[[bytes], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> None:
    """Serves gdb on `listen` ("HOST:PORT") until gdb kills the board.

    With `until`, a symbol or a 0x address, the board runs up to there before the server waits for gdb. `ready` gets the
    address on which the server listens, `on_uart` the firmware's output, `note` sentences for the user. Raises
    DebuggerError, ImageFileError, SymbolError.
    """
    machine: Any = make_machine(board, cores=cores or board.cores, strict=strict)
    apply_settings(machine, settings or {})
    load_image(machine, read_image(image), image.name)
    if until is not None:
        with simulator_errors(SymbolError):
            machine.until(find_address(machine, until))
        limit = 10 * board.clock.sys_hz
        stop = machine.run(limit)
        on_uart(machine.take_uart())
        if stop["reason"] != "until":
            raise DebuggerError(
                f"{image.name} does not come to {until} within {limit:,} cycles (it stops by {stop['reason']}); name "
                "another place, or leave --until out."
            )
    with simulator_errors(DebuggerError):
        machine.debug(listen, ready, on_uart, note)
