"""Reads packed samples of many channels piece by piece, and keeps only the changes of levels."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import CaptureError
from rtoslab.captures.capture import LogicChannel, LogicLevelCapture
from rtoslab.captures.tracks import append_numbers_to_repeated_labels, too_many_level_changes_error
from rtoslab.intake import CHANGES

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class PackedSampleReader:
    """Reads packed samples of `unit` bytes each. `channels` are the name and the bit of each channel."""

    def __init__(self, name: str, unit: int, channels: Sequence[tuple[str, int]]) -> None:
        """`name` is the file's, for messages."""
        self._name, self._sample_bytes, self._channels = name, unit, channels
        self._partial_sample = b""
        self._last_sample: NDArray[np.uint8] | None = None
        self._count = 0
        self._change_count = 0
        self._ticks: list[list[NDArray[np.int64]]] = [[] for _ in channels]
        self._levels: list[list[NDArray[np.int8]]] = [[] for _ in channels]

    def add_logic_sample_bytes(self, piece: bytes) -> None:
        """Adds the next bytes of the file, which may end inside a sample. Raises CaptureError for too many changes."""
        data = self._partial_sample + piece if self._partial_sample else piece
        whole = len(data) // self._sample_bytes * self._sample_bytes
        self._partial_sample = data[whole:]
        rows = np.frombuffer(data, np.uint8, whole).reshape(-1, self._sample_bytes)
        if not len(rows):
            return
        places = _level_change_indices(rows, self._last_sample)
        ticks, changed = places + self._count, rows[places]
        for number, (_, bit) in enumerate(self._channels):
            levels = (changed[:, bit // 8] >> (bit % 8) & 1).astype(np.int8)
            before = self._levels[number][-1][-1] if self._levels[number] else 1 - levels[:1]
            fresh = np.concatenate((levels[:1] != before, levels[1:] != levels[:-1]))
            if fresh.any():
                self._ticks[number].append(ticks[fresh])
                self._levels[number].append(levels[fresh])
                self._change_count += int(fresh.sum())
                if self._change_count > CHANGES:
                    raise too_many_level_changes_error(self._name)
        self._count += len(rows)
        self._last_sample = rows[-1].copy()

    def to_capture(self, tick_s: Fraction) -> LogicLevelCapture:
        """Returns the capture in all pieces, with this time from sample to sample. Raises CaptureError if a sample is
        incomplete."""
        if self._partial_sample:
            total = self._count * self._sample_bytes + len(self._partial_sample)
            raise CaptureError(
                f"{self._name}: {total} bytes are not a whole number of samples of {self._sample_bytes} bytes; "
                "copy or save it again."
            )
        channels = []
        for number, label in enumerate(
            append_numbers_to_repeated_labels(self._name, (label for label, _ in self._channels))
        ):
            ticks = np.concatenate([np.zeros(0, np.int64), *self._ticks[number]])
            levels = np.concatenate([np.zeros(0, np.int8), *self._levels[number]])
            channels.append(LogicChannel(label, ticks, levels))
        return LogicLevelCapture(tick_s, tuple(channels), self._count)


def _level_change_indices(rows: NDArray[np.uint8], last: NDArray[np.uint8] | None) -> NDArray[np.int64]:
    """Returns the indices of the samples that differ from the one before. `last` is the one before the first."""
    unit = rows.shape[1]
    if unit in _WORDS:
        words = rows.view(_WORDS[unit])[:, 0]
        differ = words[1:] != words[:-1]
    else:
        differ = (rows[1:] != rows[:-1]).any(axis=1)
    first = last is None or bool((rows[0] != last).any())
    return np.flatnonzero(np.concatenate(([first], differ)))
