"""An image's records, whole: where bytes were lost on the way, the image is started once more."""

from pathlib import Path
from typing import Final

from rtoslab.base import DecodeError, LineNoiseError, OverrideReceivedError
from rtoslab.hardware.choosing import Target
from rtoslab.hardware.flashing import Say, measure_once
from rtoslab.records import ExpectedIdentity, WireConstants, decode

TRIES: Final = 3
"""How often an image is started whose records come damaged, before that is given up."""


def measure_whole(
    target: Target, image: Path, expected: ExpectedIdentity, wire: WireConstants, window_s: float, say: Say
) -> bytes:
    """Returns what `measure_once` gives, if the decoder takes it, or if it is the image's own last word.

    Raises LineNoiseError, and what `measure_once` raises."""
    for _ in range(TRIES):
        heard = measure_once(target, image, expected.run, window_s, say)
        try:
            decode(heard, wire, expected)
        except OverrideReceivedError:
            return heard
        except DecodeError as cause:
            defect = str(cause).rstrip(".")
        else:
            return heard
        say(f"The records came damaged ({defect}); the image is started once more.")
    raise LineNoiseError(
        f"What the {target.board.id} sends on {target.port} came damaged {TRIES} times, at last: {defect}; check the "
        f"cable, ground and the baud rate of {target.board.uart.baud}."
    )
