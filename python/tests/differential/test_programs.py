"""Random programs on both engines: straight-line code, forward branches, memory, stack."""

from __future__ import annotations

import os
import random

import pytest

from tests.differential.engines import DATA, DATA_BYTES, STACK, State, Unicorn, VirtualBoard, assemble

PROGRAMS = 60 * int(os.environ.get("RTOSLAB_SEEDS", "1"))
# r6 holds the data area, r7 an index into it; nothing else writes them.
BASE, INDEX = 6, 7


def _low(rng: random.Random) -> int:
    return rng.randrange(BASE)


def _register_form(rng: random.Random) -> int:
    return 0x4000 | rng.randrange(16) << 6 | rng.randrange(8) << 3 | _low(rng)


def _shift(rng: random.Random) -> int:
    return rng.choice((0x0000, 0x0800, 0x1000)) | rng.randrange(32) << 6 | rng.randrange(8) << 3 | _low(rng)


def _sum(rng: random.Random) -> int:
    return rng.choice((0x1800, 0x1A00, 0x1C00, 0x1E00)) | rng.getrandbits(6) << 3 | _low(rng)


def _immediate(rng: random.Random) -> int:
    return rng.choice((0x2000, 0x2800, 0x3000, 0x3800)) | _low(rng) << 8 | rng.getrandbits(8)


def _extend(rng: random.Random) -> int:
    opcode = rng.choice((0xB200, 0xB240, 0xB280, 0xB2C0, 0xBA00, 0xBA40, 0xBAC0))
    return opcode | rng.randrange(8) << 3 | _low(rng)


def _access(rng: random.Random) -> int:
    opcode = rng.choice((0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800))
    return opcode | rng.randrange(32) << 6 | BASE << 3 | _low(rng)


def _indexed_access(rng: random.Random) -> int:
    return 0x5000 | rng.randrange(8) << 9 | INDEX << 6 | BASE << 3 | _low(rng)


SINGLE = [*[_register_form] * 4, _shift, _sum, _immediate, _extend, _access, _indexed_access]


def _instruction(rng: random.Random, left: int) -> list[int]:
    kind = rng.randrange(len(SINGLE) + 2)
    if kind < len(SINGLE):
        return [SINGLE[kind](rng)]
    if kind == len(SINGLE) and left > 6:
        return [0xD000 | rng.randrange(14) << 8 | rng.randrange(4)]
    mask = rng.randrange(1, 1 << BASE)
    return [0xB400 | mask, 0xBC00 | mask]


def _program(rng: random.Random, length: int) -> list[int]:
    body: list[int] = []
    while len(body) < length:
        body += _instruction(rng, length - len(body))
    return [*body, *[0xBF00] * 8]


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int) -> None:
    """Same registers, flags and memory at the end of every program."""
    ours, theirs = VirtualBoard(), Unicorn()
    for number in range(part, PROGRAMS, 4):
        rng = random.Random(number)
        body = _program(rng, rng.randrange(20, 400))
        registers = [rng.getrandbits(32) for _ in range(15)]
        registers[BASE], registers[INDEX], registers[13] = DATA, 4 * rng.randrange(DATA_BYTES // 8), STACK
        start = State(tuple(registers), rng.getrandbits(4) << 28, rng.randbytes(DATA_BYTES))
        code = assemble(body)
        assert ours.run(code, start) == theirs.run(code, start), f"program {number}"
