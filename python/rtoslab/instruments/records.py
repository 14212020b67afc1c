"""The packed records of the virtual board's observer, as numpy arrays. See `_sim.pyi`."""

from typing import Final

import numpy as np

WAYS: Final = ("execute", "bus", "flash", "lock", "sleep", "exception", "stopped")
"""What cycles are spent on: executing; waiting for a bus, for flash, for a spinlock of the other core; asleep; in
exception entry, exit and tail-chaining; held in reset or locked up."""

_COUNTS = [("executions", "<u8"), ("entries", "<u8")]
ROW: Final = np.dtype([("node", "<u4"), ("pc", "<u4"), ("cycles", "<u8", (len(WAYS),)), *_COUNTS])
NODE: Final = np.dtype([("parent", "<u4"), ("entry", "<u4"), ("exception", "<u4")])
_PLACES = [("opener_node", "<u4"), ("opener_pc", "<u4"), ("closer_node", "<u4"), ("closer_pc", "<u4"), ("zero", "<u4")]
_MASKED_HEAD = [("priority", "<i2"), ("core", "u1"), ("zero8", "u1"), *_PLACES]
MASKED: Final = np.dtype([*_MASKED_HEAD, ("count", "<u8"), ("total", "<u8"), ("start", "<u8"), ("end", "<u8")])
"""Sums by opener and closer. `start` and `end` are those of the longest."""
INTERVAL: Final = np.dtype([*_MASKED_HEAD, ("start", "<u8"), ("end", "<u8")])
LOCK: Final = np.dtype(
    [
        *[("waited", "u1"), ("lock", "u1"), ("core", "u1"), ("zero8", "u1")],
        *_PLACES,
        *[("count", "<u8"), ("total", "<u8"), ("longest", "<u8"), ("start", "<u8")],
    ]
)
"""`waited`: 0 for holding a lock, 1 for waiting for it. Of a wait the opener is the read that found it taken, the
closer the one with which its holder had taken it."""

CALL: Final = np.dtype(
    [
        *[("id", "<u2"), ("core", "u1"), ("end", "u1"), ("flags", "<u4"), ("node", "<u4"), ("thread", "<u4")],
        *[
            (name, "<u8")
            for name in ("start", "until", "interrupts", "away", "own", "instructions", "own_instructions")
        ],
        *[("stack", "<u4"), ("interruptions", "<u4")],
    ]
)
"""A measured call. See `Observed.calls`."""
ARRIVAL: Final = np.dtype([("until", "<u8"), ("instructions", "<u8"), ("pc", "<u4"), ("core", "<u4")])
"""An execution of a requested instruction. See `Observed.arrivals`."""
RETURNED: Final = 0
LEFT: Final = 1
LOST: Final = 2
"""How a call ended."""
ENTERED_BY_JUMP: Final = 1
WENT_ON: Final = 2
INSIDE_ITSELF: Final = 4
"""Its flags."""

NO_NODE: Final = 0xFFFF_FFFF
"""Parent of a node that nobody called."""
