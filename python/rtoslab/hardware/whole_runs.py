"""Measures again if bytes were lost on the way: the image is started once more."""

from pathlib import Path
from typing import Final

from rtoslab.base import DecodeError, LineNoiseError, VoidRunError
from rtoslab.hardware.choosing import ConnectedBoard
from rtoslab.hardware.flashing import Say, flash_board_and_receive_serial_output
from rtoslab.records import ExpectedImageIdentity, WireFormatConstants, decode_records

TRIES: Final = 3
"""The most starts of an image whose records arrive damaged."""


def measure_real_board_with_retries(
    target: ConnectedBoard,
    image: Path,
    expected: ExpectedImageIdentity,
    wire: WireFormatConstants,
    window_s: float,
    say: Say,
) -> bytes:
    """Measures on a real board, and again as long as bytes are lost on the way. Returns the first output that can be
    decoded.

    An output in which the firmware declares its run void is returned too. Raises LineNoiseError after TRIES starts, and
    what `flash_board_and_receive_serial_output` raises.
    """
    for _ in range(TRIES):
        output = flash_board_and_receive_serial_output(target, image, expected.run, window_s, say)
        try:
            decode_records(output, wire, expected)
        except VoidRunError:
            return output
        except DecodeError as cause:
            defect = str(cause).rstrip(".")
        else:
            return output
        say(f"The received records are damaged ({defect}); the image is started again.")
    raise LineNoiseError(
        f"The data from the {target.board.id} on {target.port} was damaged {TRIES} times, the last time because "
        f"of: {defect}; check the cable, the ground connection and the baud rate of {target.board.uart.baud}."
    )
