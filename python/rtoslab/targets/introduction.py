"""An image's report on itself before it measures anything: its begin record and its parameters."""

from collections.abc import Mapping
from typing import Final

from rtoslab.base import RunError
from rtoslab.catalogue import Board
from rtoslab.records import DecodedRun, WireFormatConstants, decode_unfinished_run
from rtoslab.targets.board import (
    apply_timing_settings_to_virtual_board,
    boards_that_fit_image,
    convert_simulator_errors,
    load_image_into_board,
    make_board_at_reset,
)

LIMIT_S: Final = 5.0
"""The limit of the board's time, until the parameters are over."""
CHUNK_CYCLES: Final = 2_000_000
_FIRST_LINES: Final = (b" begin ", b" param ")


def run_until_image_identified(
    image: bytes, name: str, board: Board, settings: Mapping[str, int], constants: WireFormatConstants
) -> DecodedRun:
    """Runs an image until it has sent its begin record and its parameters, and returns these records. Raises RunError
    for an image that sends no begin record of rtoslab's runner."""
    machine = make_board_at_reset(board, cores=board.cores)
    apply_timing_settings_to_virtual_board(machine, settings)
    load_image_into_board(machine, image, name)
    output = b""
    with convert_simulator_errors(RunError):
        while machine.cycle() < LIMIT_S * board.clock.sys_hz and not _has_all_param_records(output):
            stop = machine.run(CHUNK_CYCLES)
            output += machine.take_uart()
            if stop["reason"] != "cycles":
                break
    known = decode_unfinished_run(output, constants, None)
    if known is None:
        start = output[:40].decode("ascii", "replace")
        raise RunError(
            f"{name} does not contain rtoslab's runner, or is for another board than {board.id}: within {LIMIT_S:g} s "
            + (f"it sent no begin record but {start!r}" if output else "it sent nothing")
            + f"; the boards that it fits are {', '.join(boards_that_fit_image(image, name))}."
        )
    return known


def _has_all_param_records(output: bytes) -> bool:
    """Whether the serial output contains all `param` records of the image, which is so if another record follows
    them."""
    lines = output.split(b"\n")[:-1]
    return any(not any(word in line for word in _FIRST_LINES) for line in lines if line.startswith(b"@"))
