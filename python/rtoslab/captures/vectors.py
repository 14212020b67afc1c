"""A VCD's variable of one bit or more: its value as two integers, so that only bits that change cost anything."""

from collections.abc import Sequence
from typing import Final

from rtoslab.captures.capture import UNKNOWN
from rtoslab.captures.tracks import Track

_BITS: Final = b"01xXzZ"
_KNOWN: Final = bytes.maketrans(b"xXzZ", b"0000")
_UNKNOWN: Final = bytes.maketrans(b"01xXzZ", b"001111")


def is_value(text: bytes) -> bool:
    """Whether a text is nothing but levels."""
    return bool(text) and not text.translate(None, _BITS)


class Vector:
    """Its tracks, the highest bit first. `set` wants what `is_value`."""

    __slots__ = ("_mask", "_ones", "_unknowns", "tracks", "width")

    def __init__(self, tracks: Sequence[Track]) -> None:
        self.tracks = tracks
        self.width = len(tracks)
        self._mask = (1 << self.width) - 1
        self._ones: int | None = None
        self._unknowns = 0

    def set(self, tick: int, text: bytes) -> int:
        """The value from a tick on; a shorter text is extended on its left: by zeros, or by an x or z that it begins
        with. How many rows more there are."""
        ones, unknowns = int(text.translate(_KNOWN), 2), 0
        if not text.isdigit():
            unknowns = int(text.translate(_UNKNOWN), 2)
            if text[0] in b"xXzZ":
                unknowns |= self._mask >> len(text) << len(text)
        ones, unknowns = ones & self._mask, unknowns & self._mask
        changed = self._mask if self._ones is None else (ones ^ self._ones) | (unknowns ^ self._unknowns)
        self._ones, self._unknowns = ones, unknowns
        rows = 0
        while changed:
            bit = changed.bit_length() - 1
            changed ^= 1 << bit
            level = UNKNOWN if unknowns >> bit & 1 else ones >> bit & 1
            rows += self.tracks[self.width - 1 - bit].set(tick, level)
        return rows
