"""A VCD's variable of one bit or more: its value as two integers, so that only changed bits take time."""

from collections.abc import Iterator, Sequence
from typing import Final

from rtoslab.captures.capture import UNKNOWN
from rtoslab.captures.tracks import LogicChannelLevelBuilder

_FEW: Final = 4
_BITS: Final = b"01xXzZ"
_KNOWN: Final = bytes.maketrans(b"xXzZ", b"0000")
_UNKNOWN: Final = bytes.maketrans(b"01xXzZ", b"001111")


def is_vcd_logic_level_value(text: bytes) -> bool:
    """Whether a VCD value consists of levels only: 0, 1, x or z."""
    return bool(text) and not text.translate(None, _BITS)


class VcdBitVector:
    """The channels of a VCD variable's bits, the highest bit first."""

    __slots__ = ("_mask", "_ones", "_unknowns", "tracks", "width")

    def __init__(self, tracks: Sequence[LogicChannelLevelBuilder]) -> None:
        self.tracks = tracks
        self.width = len(tracks)
        self._mask = (1 << self.width) - 1
        self._ones: int | None = None
        self._unknowns = 0

    def set_vcd_variable_value(self, tick: int, text: bytes) -> int:
        """Sets the variable's value from a tick on. Returns how many bits changed. A text that is too short is extended
        on its left: by zeros, or by the x or z that it begins with."""
        ones, unknowns = int(text.translate(_KNOWN), 2), 0
        if not text.isdigit():
            unknowns = int(text.translate(_UNKNOWN), 2)
            if text[0] in b"xXzZ":
                unknowns |= self._mask >> len(text) << len(text)
        ones, unknowns = ones & self._mask, unknowns & self._mask
        changed = self._mask if self._ones is None else (ones ^ self._ones) | (unknowns ^ self._unknowns)
        self._ones, self._unknowns = ones, unknowns
        for place, one, unknown in self._level_changes_of_variable_bits(changed, ones, unknowns):
            self.tracks[place].set_logic_level_from_sample_tick(tick, UNKNOWN if unknown else one)
        return changed.bit_count()

    def _level_changes_of_variable_bits(
        self, changed: int, ones: int, unknowns: int
    ) -> Iterator[tuple[int, int, bool]]:
        """Yields each changed bit: its index from the highest bit on, its level, and whether it is unknown. `changed`,
        `ones` and `unknowns` have a bit for each."""
        if changed.bit_count() <= _FEW:
            while changed:
                bit = changed.bit_length() - 1
                changed ^= 1 << bit
                yield self.width - 1 - bit, ones >> bit & 1, bool(unknowns >> bit & 1)
            return
        rows = (format(vector, f"0{self.width}b") for vector in (changed, ones, unknowns))
        for place, (one_changed, one, unknown) in enumerate(zip(*rows, strict=True)):
            if one_changed == "1":
                yield place, int(one), unknown == "1"
