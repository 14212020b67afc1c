"""Every data-processing and floating-point encoding of the tables against unicorn, on each core that has it.

Generated: all pairs of corner values as operands in both orders; every flag setting; random registers, which overlap,
and random values; then the same inside an IT block, under every condition.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.differential.v7m.encodings import DATA_PROCESSING, FLOATING_POINT, Encoding
from tests.differential.v7m.engines import Pair
from tests.differential.v7m.states import CORNERS, RMODE, state

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
# One corner value in two, unless there is time for all.
SPARSE = 2 if SEEDS == 1 else 1
PAIRS: dict[str, Pair] = {}


def _pair(kind: str) -> Pair:
    if kind not in PAIRS:
        PAIRS[kind] = Pair(kind)
    return PAIRS[kind]


def _on_each_core(rows: list[Encoding]) -> Sequence[object]:
    """Rows of all three cores are the same code in the executor: each is tried on one core, in turn."""
    chosen = []
    for index, row in enumerate(rows):
        kinds = row.cores.split()
        chosen.append(pytest.param(kinds[index % len(kinds)], row, id=f"{row.name}-{kinds[index % len(kinds)]}"))
    return chosen


@pytest.mark.parametrize(("kind", "row"), _on_each_core(DATA_PROCESSING))
def test_data_processing(kind: str, row: Encoding) -> None:
    """Corner operands, then anything."""
    pair, rng = _pair(kind), random.Random(row.name)
    if row.operands() == 2:
        for a, b in itertools.product(CORNERS[::SPARSE], repeat=2):
            pair.assert_same_end(row.draw(rng, d=0, n=1, m=2, a=3), state(rng, r1=a, r2=b))
    for _ in range(80 * SEEDS):
        pair.assert_same_end(row.draw(rng), state(rng))


@pytest.mark.parametrize(("kind", "row"), _on_each_core(FLOATING_POINT))
def test_floating_point(kind: str, row: Encoding) -> None:
    """Registers, values and FPSCR at random, corner values among them."""
    pair, rng = _pair(kind), random.Random(row.name)
    for _ in range(150 * SEEDS):
        start = state(rng)
        pair.assert_same_end(row.draw(rng), replace(start, fpscr=start.fpscr & ~RMODE) if row.nearest else start)


@pytest.mark.parametrize("condition", range(15))
def test_conditional_execution(condition: int) -> None:
    """Rows of the tables in IT blocks of every shape, under every setting of the flags."""
    pair, rng = _pair("m7"), random.Random(condition)
    for flags, mask in itertools.product(range(16), range(1, 16)):
        if condition == 14 and mask.bit_count() != 1:
            continue
        # Else-branches are marked by the condition's low bit turned.
        shape = mask if condition & 1 == 0 else _turned(mask)
        length = 4 - (mask & -mask).bit_length() + 1
        body = [0xBF00 | condition << 4 | shape]
        for _ in range(length):
            row = rng.choice((rng.choice(DATA_PROCESSING), rng.choice(FLOATING_POINT)))
            body += row.draw(rng)
        start = state(rng)
        pair.assert_same_end(body, replace(start, flags=flags << 28, fpscr=start.fpscr & ~RMODE))


def _turned(mask: int) -> int:
    lowest = mask & -mask
    return (~mask & 15 & ~(lowest * 2 - 1)) | lowest
