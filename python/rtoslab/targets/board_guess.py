"""Guesses the board of an image: on which of the boards that it fits it starts without a fault and without a warning.

Addresses and build attributes alone fit several boards, because STM32 chips share the addresses of flash and RAM. But
an image sets up the clocks and pins of its own chip first. On another chip it soon uses a block that is absent, a
block whose clock is off, or a clock beyond the limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.base import find_root
from rtoslab.catalogue import Board, Catalogue
from rtoslab.targets.board import load_image, make_machine

_TRIED_S: Final = 0.05
_CHUNKS: Final = 5


@dataclass(frozen=True, slots=True)
class BoardTrial:
    """The start of an image on a board."""

    board: str
    is_clean: bool
    """Whether there was neither a fault nor a warning."""
    output_bytes: int


def likely_boards(image: bytes, name: str, boards: Sequence[str]) -> list[str]:
    """Returns those of the boards on which the image starts cleanly. If it prints on some of them, those alone.

    `boards` are those that it can be loaded into. Empty if it starts cleanly on none."""
    catalogue = Catalogue(find_root())
    trials = [_try_board(image, name, catalogue.board(board).facts) for board in boards]
    clean = [trial for trial in trials if trial.is_clean]
    printing = [trial for trial in clean if trial.output_bytes]
    return [trial.board for trial in printing or clean]


def _try_board(image: bytes, name: str, board: Board) -> BoardTrial:
    """Runs the image on a board for a short virtual time."""
    machine = make_machine(board, cores=board.cores)
    load_image(machine, image, name)
    output = 0
    for _ in range(_CHUNKS):
        stop = machine.run(int(_TRIED_S * board.clock.sys_hz) // _CHUNKS)
        output += len(machine.take_uart())
        if machine.warnings() or stop["reason"] not in {"cycles", "watch"}:
            return BoardTrial(board.id, is_clean=False, output_bytes=output)
    return BoardTrial(board.id, is_clean=True, output_bytes=output)
