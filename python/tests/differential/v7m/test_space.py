"""The encoding space as a whole: what is undefined, and that nothing else differs.

Random opcodes: where unicorn refuses one, the core must fault; where both execute it, they must agree. The other way
round nothing is asked: an encoding that the manual calls UNPREDICTABLE is undefined here, unicorn executes many.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.differential.v7m.engines import DATA, Pair, State, assemble, spell
from tests.differential.v7m.states import RMODE, state

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
# B, BL, BLX, BX and the loads of PC leave the code; MSR and CPS change what cannot be compared.
REFUSED = ("Fault(Undefined)", "Fault(NoCoprocessor)")


@pytest.fixture(scope="module", params=["m3", "m4", "m7"])
def pair(request: pytest.FixtureRequest) -> Pair:
    """Both engines."""
    return Pair(request.param)


def _near(rng: random.Random) -> State:
    """Registers that make addresses in the data area of themselves, and small offsets."""
    fixed = {f"r{n}": DATA + 0x180 + 4 * rng.randrange(32) if n % 2 else rng.randrange(32) for n in range(13)}
    start = state(rng, **fixed, lr=DATA + 0x200)
    return State(start.registers, start.flags & 0xF800_0000, start.floats, start.fpscr & ~RMODE, start.data)


def _assert_engines_agree(pair: Pair, body: list[int], start: State) -> str:
    code = assemble(body)
    theirs, ours = pair.theirs.run(code, start), pair.ours.run(code, start)
    if isinstance(theirs, str) and "Invalid instruction" in theirs:
        assert ours in REFUSED, f"{spell(body)}: undefined, but ours went on: {ours}"
        return "undefined"
    if isinstance(theirs, str) or isinstance(ours, str):
        # One may have stored more than the other before it stopped.
        pair.clear()
        return "elsewhere"
    assert ours == theirs, f"{spell(body)}\nfrom   {start}\nours   {ours}\ntheirs {theirs}"
    return "same"


def _leaves(half: int) -> bool:
    """16-bit encodings that branch, trap or sleep, or open an IT block."""
    return (
        half >> 12 in (0xD, 0xE)
        or half >> 8 in (0x47, 0xBD, 0xBE, 0xBF)
        or half & 0xFF87 in (0x4487, 0x4687)
        or half & 0xF500 == 0xB100
    )


def test_16_bit_encodings(pair: Pair) -> None:
    """Each that goes on to the next instruction, from a state of its own."""
    rng, seen = random.Random(pair.kind), {"same": 0, "undefined": 0, "elsewhere": 0}
    for half in range(rng.randrange(16 // min(SEEDS, 16)), 0xE000, 16 // min(SEEDS, 16)):
        if not _leaves(half):
            seen[_assert_engines_agree(pair, [half], _near(rng))] += 1
    assert seen["same"] > 1500


def _comparable(first: int, second: int) -> bool:
    """Not a branch, not MSR, MRS, hints or barriers; no load of PC; no coprocessor transfer to it."""
    branch = first >> 11 == 0b11110 and second & 0x8000
    multiple_with_pc = first >> 9 == 0b1110100 and second & 0x8000
    single_to_pc = first >> 9 == 0b1111100 and second >> 12 == 15
    table = first & 0xFFF0 == 0xE8D0 and second & 0xE0 == 0
    return not (branch or multiple_with_pc or single_to_pc or table)


def test_32_bit_encodings(pair: Pair) -> None:
    """Random ones of each group, refused or executed alike."""
    rng, seen = random.Random(pair.kind), {"same": 0, "undefined": 0, "elsewhere": 0}
    for _ in range(6000 * SEEDS):
        first, second = rng.randrange(0xE800, 0x10000), rng.getrandbits(16)
        if _comparable(first, second):
            seen[_assert_engines_agree(pair, [first, second], _near(rng))] += 1
    assert seen["same"] > 400
    assert seen["undefined"] > 400
