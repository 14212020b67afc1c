"""Samples of many channels, packed into bytes, taken piece by piece: only where a level changes is anything kept."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError
from rtoslab.captures.capture import Capture, Channel
from rtoslab.captures.tracks import distinct, too_many_changes
from rtoslab.intake import CHANGES

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Samples:
    """`unit` bytes a sample. `channels`: name and bit of each."""

    def __init__(self, name: str, unit: int, channels: Sequence[tuple[str, int]]) -> None:
        """`name` is the file's, for messages."""
        self._name, self._unit, self._channels = name, unit, channels
        self._rest = b""
        self._last: NDArray[np.uint8] | None = None
        self._count = 0
        self._rows = 0
        self._ticks: list[list[NDArray[np.int64]]] = [[] for _ in channels]
        self._levels: list[list[NDArray[np.int8]]] = [[] for _ in channels]

    def add(self, piece: bytes) -> None:
        """Adds the next part, which may be cut anywhere. Raises CaptureError for too many changes."""
        data = self._rest + piece if self._rest else piece
        whole = len(data) // self._unit * self._unit
        self._rest = data[whole:]
        rows = np.frombuffer(data, np.uint8, whole).reshape(-1, self._unit)
        if not len(rows):
            return
        places = _change_rows(rows, self._last)
        ticks, changed = places + self._count, rows[places]
        for number, (_, bit) in enumerate(self._channels):
            levels = (changed[:, bit // 8] >> (bit % 8) & 1).astype(np.int8)
            before = self._levels[number][-1][-1] if self._levels[number] else 1 - levels[:1]
            fresh = np.concatenate((levels[:1] != before, levels[1:] != levels[:-1]))
            if fresh.any():
                self._ticks[number].append(ticks[fresh])
                self._levels[number].append(levels[fresh])
                self._rows += int(fresh.sum())
                if self._rows > CHANGES:
                    raise too_many_changes(self._name)
        self._count += len(rows)
        self._last = rows[-1].copy()

    def capture(self, tick_s: Fraction) -> Capture:
        """All that was added. Raises CaptureError if it does not end with a whole sample."""
        if self._rest:
            total = self._count * self._unit + len(self._rest)
            raise CaptureError(
                f"{self._name}: {total} bytes are no whole number of samples of {self._unit} bytes; copy or save it "
                "again."
            )
        channels = []
        for number, label in enumerate(distinct(self._name, (label for label, _ in self._channels))):
            ticks = np.concatenate([np.zeros(0, np.int64), *self._ticks[number]])
            levels = np.concatenate([np.zeros(0, np.int8), *self._levels[number]])
            channels.append(Channel(label, ticks, levels))
        return Capture(tick_s, tuple(channels), self._count)


def _change_rows(rows: NDArray[np.uint8], last: NDArray[np.uint8] | None) -> NDArray[np.int64]:
    """Places of the rows that differ from the one before."""
    unit = rows.shape[1]
    if unit in _WORDS:
        words = rows.view(_WORDS[unit])[:, 0]
        differ = words[1:] != words[:-1]
    else:
        differ = (rows[1:] != rows[:-1]).any(axis=1)
    first = last is None or bool((rows[0] != last).any())
    return np.flatnonzero(np.concatenate(([first], differ)))
