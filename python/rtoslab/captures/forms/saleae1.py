"""Saleae's digital CSV as Logic 1 wrote it. `saleae` reads both."""

from fractions import Fraction
from typing import Final

from rtoslab.captures.capture import (
    UNKNOWN,
    LogicLevelCapture,
    merge_logic_channel_level_changes,
    require_known_logic_levels,
)
from rtoslab.captures.forms import saleae

SUFFIX: Final = ".csv"
ABOUT: Final = "Saleae CSV of Logic 1"
PLACES: Final = 15
decode_capture = saleae.decode_capture


def recognises_format(head: bytes) -> bool:
    """Whether the first bytes of a file are those of Saleae's digital CSV, in the form of Logic 1 or 2."""
    return saleae.recognises_format(head)


def encode_capture(capture: LogicLevelCapture) -> bytes:
    """Returns a CSV as Saleae's Logic 1 wrote it, with changes only. It does not store the end of the capture."""
    require_known_logic_levels(capture, ABOUT)
    ticks, levels = merge_logic_channel_level_changes(capture)
    rows = [", ".join(["Time[s]", *(channel.name for channel in capture.channels)])]
    scale: Fraction = capture.tick_s * 10**PLACES
    for tick, row in zip(ticks.tolist(), levels.tolist(), strict=True):
        whole, part = divmod(round(tick * scale), 10**PLACES)
        rows.append(
            ", ".join([f"{whole}.{part:0{PLACES}d}", *("0" if level == UNKNOWN else str(level) for level in row)])
        )
    return "\n".join(rows).encode() + b"\n"
