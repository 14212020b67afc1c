"""Random programs on both engines: straight-line code, forward branches, IT blocks, calls, memory, stack.

Ours also stop and go on in the middle: with a limit of a few cycles at a time the end must be the same.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.differential.v7m.encodings import DATA_PROCESSING, FLOATING_POINT, Encoding
from tests.differential.v7m.engines import CODE_BYTES, DATA, Pair
from tests.differential.v7m.states import state

PROGRAMS = 50 * int(os.environ.get("RTOSLAB_SEEDS", "1"))
# r6 holds the middle of the data area, r7 an index into it; nothing else writes them.
BASE, INDEX = 6, 7
FREE = (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12)


class Writer:
    """Makes instructions that any core of this kind executes."""

    def __init__(self, kind: str, rng: random.Random) -> None:
        self.rng = rng
        self.data = [row for row in DATA_PROCESSING if kind in row.cores]
        # VMSR may change the rounding, which unicorn takes for conversions that have their own.
        self.floats = [row for row in FLOATING_POINT if kind in row.cores and not row.nearest]

    def _low(self) -> int:
        return self.rng.randrange(BASE)

    def _free(self) -> int:
        return self.rng.choice(FREE)

    def _row(self, rows: list[Encoding]) -> list[int]:
        row = self.rng.choice(rows)
        low, high = self.rng.sample(FREE, 2)
        return row.draw(self.rng, d=low, a=high, t=low, u=high)

    def _narrow(self) -> list[int]:
        rng = self.rng
        return [
            rng.choice(
                (
                    0x4000 | rng.randrange(16) << 6 | rng.randrange(8) << 3 | self._low(),
                    rng.choice((0x0800, 0x1000)) | rng.randrange(32) << 6 | rng.randrange(8) << 3 | self._low(),
                    rng.choice((0x1800, 0x1A00, 0x1C00, 0x1E00)) | rng.getrandbits(6) << 3 | self._low(),
                    rng.choice((0x2000, 0x2800, 0x3000, 0x3800)) | self._low() << 8 | rng.getrandbits(8),
                    rng.choice((0xB200, 0xB240, 0xB280, 0xB2C0, 0xBA00)) | rng.randrange(8) << 3 | self._low(),
                    0x4600 | rng.randrange(13) << 3 | self._low(),
                )
            )
        ]

    def _access(self) -> list[int]:
        rng = self.rng
        opcode = rng.choice((0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800))
        wide = rng.choice((0xF880, 0xF8A0, 0xF8C0, 0xF890, 0xF8B0, 0xF8D0, 0xF990, 0xF9B0))
        single = rng.choice(
            (
                [opcode | rng.randrange(32) << 6 | BASE << 3 | self._low()],
                [0x5000 | rng.randrange(8) << 9 | INDEX << 6 | BASE << 3 | self._low()],
                [wide | BASE, self._free() << 12 | rng.randrange(200)],
            )
        )
        mask = rng.getrandbits(6) | rng.getrandbits(5) << 8
        several = rng.choice(
            (
                [0xE880 | rng.getrandbits(1) << 4 | BASE, mask | 3],
                [0xE910 | BASE, mask | 3],
                [0xE9D0 | BASE, 1 << 12 | 2 << 8 | rng.randrange(32)],
                [0xB401 | mask & 0x3F, 0xBC01 | mask & 0x3F],
            )
        )
        return rng.choice((single, several))

    def plain(self) -> list[int]:
        """One instruction (or PUSH and POP) that goes on to the next."""
        kind = self.rng.randrange(10)
        if kind < 4:
            return self._row(self.data)
        if kind < 7:
            return self._narrow()
        return self._access() if kind < 9 or not self.floats else self._row(self.floats)

    def block(self) -> list[int]:
        """An IT block."""
        rng, condition, length = self.rng, self.rng.randrange(14), self.rng.randint(1, 4)
        shape = (rng.getrandbits(4) << (5 - length) | 1 << (4 - length)) & 15
        if length == 1:
            shape = 8
        body = [0xBF00 | condition << 4 | shape]
        for _ in range(length):
            body += self._narrow() if rng.getrandbits(1) else self._row(self.data)
        return body

    def branch(self) -> list[int]:
        """A branch over some instructions, in one of its encodings."""
        rng = self.rng
        over = [half for _ in range(rng.randrange(1, 4)) for half in self.plain()]
        length = len(over)
        match rng.randrange(4):
            case 0:
                return [0xD000 | rng.randrange(14) << 8 | length - 1, *over]
            case 1:
                return [rng.choice((0xB100, 0xB900)) | (length - 1) << 3 | rng.randrange(8), *over]
            case 2:
                return [0xF000 | rng.randrange(14) << 6, 0x8000 | length, *over]
            case _:
                # BL; the return address stays in LR.
                return [0xF000, 0xF800 | length, *over]

    def program(self, length: int) -> list[int]:
        """At least `length` halfwords."""
        body: list[int] = []
        while len(body) < length:
            kind = self.rng.randrange(8)
            body += self.block() if kind == 0 else self.branch() if kind == 1 else self.plain()
        return body


@pytest.mark.parametrize("kind", ["m3", "m4", "m7"])
def test_random_programs(kind: str) -> None:
    """Same registers, flags and memory at the end of every program, however often ours stops."""
    pair = Pair(kind)
    for number in range(PROGRAMS):
        rng = random.Random(f"{kind} {number}")
        body = Writer(kind, rng).program(rng.randrange(20, CODE_BYTES // 2 - 100))
        start = state(rng, r6=DATA + 0x200, r7=4 * rng.randrange(64))
        for pause in (1 << 60, rng.randint(1, 4)):
            pair.assert_same_end(body, start, pause)
