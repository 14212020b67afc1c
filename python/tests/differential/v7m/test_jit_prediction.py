"""While an M7's branch prediction is switched off nothing is executed as code of the host, nor counted towards it.

Random loops switch it off and on, in part or all of it. Again and again a branch that goes another way than before
leads to where that is done, and behind it stand as many instructions as a trace holds. Translated or not, they do the
same in the same time.
"""

from __future__ import annotations

import random

import pytest

from tests.differential.v7m.loops import ACTLR, DSB, ISB, SRAM, constant, wide_branch
from tests.differential.v7m.test_jit import AT_ONCE, NEVER, SEEDS
from tests.differential.v7m.test_jit_paths import LATER, flash_image
from tests.differential.v7m.test_timing_cache import CHIPS, DATA_OFFSET, Watching, run

PROGRAMS = 8 * SEEDS
FACTOR = 1_664_525
"""Of r7: r6 = r6 * r7 + an odd number each round, and its high bits say where branches go."""
PREDICTED, PARTS = 0, (1, 2, 3)
"""By 2 ** 13, in ACTLR: targets are not read, none is noted, both."""


def plain(rng: random.Random, count: int) -> list[int]:
    """ADDS, SUBS, LDR and STR of r1 to r3; words lie from r4 on."""
    sums = [0x3000 | op << 11 | rng.randint(1, 3) << 8 | rng.randrange(256) for op in (0, 1) for _ in range(count)]
    words = [0x6020 | op << 11 | rng.randrange(32) << 6 | rng.randint(1, 3) for op in (0, 1) for _ in range(count)]
    return rng.sample(sums + words, count)


def write_actlr(rng: random.Random, part: int, flags: list[int]) -> list[int]:
    """r5 to ACTLR, behind what sets flags; sometimes with barriers."""
    return [0x2500 | part, 0x036D, *flags, 0x6005, *rng.choice(([], [], [*DSB, *ISB]))]


def piece(rng: random.Random, begin: int) -> list[int]:
    """Prediction is switched on, or off; at once a branch, over instructions in the midst of which it is switched."""
    then = PREDICTED if begin else rng.choice(PARTS)
    side = [*plain(rng, rng.randrange(6)), *write_actlr(rng, then, []), *plain(rng, rng.randint(18, 40))]
    # LSLS r3, r6: C and N are bits of it. Over them by BCS, BCC, BMI or BPL.
    flags, over = [rng.randint(1, 8) << 6 | 6 << 3 | 3], 0xD000 | rng.randint(2, 5) << 8 | len(side) - 1
    return [*write_actlr(rng, begin, flags), over, *side, *plain(rng, rng.randrange(30))]


def toggling(rng: random.Random) -> list[int]:
    """Set-up and an endless loop."""
    setup = [*constant(0, ACTLR), *constant(4, SRAM + DATA_OFFSET + 0x200), *constant(7, FACTOR)]
    loop = [0x437E, 0x3601 | 2 * rng.randrange(64)]
    for number in range(rng.randint(2, 5)):
        loop += piece(rng, rng.choice((PREDICTED, PREDICTED, *PARTS)) if number else PREDICTED)
    return [*setup, *loop, *wide_branch(-len(loop) - 2)]


@pytest.mark.parametrize("chip", sorted(chip for chip, (kind, _) in CHIPS.items() if kind == "m7"))
def test_prediction_switched_off_and_on(chip: str) -> None:
    """Cycles, registers, flags, memory and the profile, with pauses; what is translated at once or later."""
    cached = [item for item in CHIPS[chip][1] if item.get("icache")]
    for number in range(PROGRAMS):
        rng = random.Random(f"prediction {chip} {number}")
        settings, content = rng.choice(cached), flash_image(toggling(rng))
        pauses = [*(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        watching = Watching(profile=number % 2 == 0)
        never, later, at_once = (
            run(chip, settings, content, pauses, SRAM + DATA_OFFSET, watching, translate_after=after)
            for after in (NEVER, LATER, AT_ONCE)
        )
        assert never.translated == 0
        for often in (later, at_once):
            assert often.translated > 100, (chip, number, settings)
            assert often.state == never.state, (chip, number, settings)
            assert often.profile == never.profile, (chip, number, settings)
