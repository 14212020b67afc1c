"""States to start from: corner values and random ones."""

from __future__ import annotations

import random
import struct

from tests.differential.v7m.engines import DATA_BYTES, STACK, State

CORNERS = (
    0, 1, 2, 0x1F, 0x20, 0x21, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_8000, 0x8000_7FFF,
    0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF,
)  # fmt: skip
SINGLES = (
    0, 1, 0x0080_0000, 0x007F_FFFF, 0x3F80_0000, 0x3F80_0001, 0x3FC0_0000, 0x4F00_0000, 0x4F80_0000, 0x7F7F_FFFF,
    0x7F80_0000, 0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF, 0x3300_0000, 0x0000_3C00, 0x7C01_7E01, 0x7BFF_0001,
)  # fmt: skip
DOUBLES = (
    0, 1, 0x0010_0000_0000_0000, 0x000F_FFFF_FFFF_FFFF, 0x3FF0_0000_0000_0000, 0x3FF8_0000_0000_0000,
    0x41E0_0000_0000_0000, 0x47EF_FFFF_F000_0000, 0x3690_0000_0000_0000, 0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000, 0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0000,
)  # fmt: skip
# Rounding modes, flush-to-zero, default NaN, alternative half precision; cumulative flags and N Z C V besides.
FPSCR_BITS = 0xF7C0_009F
RMODE = 3 << 22


def flags(rng: random.Random) -> int:
    """N, Z, C, V, Q and GE."""
    return rng.getrandbits(5) << 27 | rng.getrandbits(4) << 16


def word(rng: random.Random) -> int:
    """A corner value or a random one."""
    return rng.choice(CORNERS) if rng.random() < 0.5 else rng.getrandbits(32)


def _floats(rng: random.Random) -> tuple[int, ...]:
    words: list[int] = []
    while len(words) < 32:
        sign = rng.getrandbits(1)
        match rng.getrandbits(2):
            case 0:
                words += [rng.choice(SINGLES) | sign << 31, rng.choice(SINGLES) | rng.getrandbits(1) << 31]
            case 1:
                words += struct.unpack("<II", struct.pack("<Q", rng.choice(DOUBLES) | sign << 63))
            case 2:
                # Close enough to each other that sums and products neither vanish nor overflow.
                exponent = 120 + rng.getrandbits(4)
                words += [rng.getrandbits(23) | exponent << 23 | sign << 31 for _ in range(2)]
            case _:
                words += [rng.getrandbits(32), rng.getrandbits(20) | rng.randrange(0x3E8, 0x418) << 20 | sign << 31]
    return tuple(words)


def state(rng: random.Random, **fixed: int) -> State:
    """A random state; r0 to r12 and lr as given."""
    registers = [word(rng) for _ in range(13)] + [STACK, word(rng)]
    for name, value in fixed.items():
        registers[14 if name == "lr" else int(name[1:])] = value
    fpscr = rng.getrandbits(32) & FPSCR_BITS
    if rng.random() < 0.5:
        fpscr &= 0xF000_009F
    return State(tuple(registers), flags(rng), _floats(rng), fpscr, rng.randbytes(DATA_BYTES))
