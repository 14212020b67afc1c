"""Loads, stores, multiple transfers, exclusives and table branches against unicorn.

Every addressing form with offsets in both directions; unaligned where that may be; multiple transfers also stopped and
continued between any two words.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.differential.v7m.encodings import Encoding
from tests.differential.v7m.engines import CODE, DATA, Pair, State, assemble
from tests.differential.v7m.states import state

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
CASES = 60 * SEEDS
MIDDLE = DATA + 0x200


@pytest.fixture(scope="module", params=["m3", "m4", "m7"])
def pair(request: pytest.FixtureRequest) -> Pair:
    """Both engines."""
    return Pair(request.param)


@pytest.fixture(scope="module", params=["m4", "m7"])
def float_pair(request: pytest.FixtureRequest) -> Pair:
    """Both engines, with an FPU."""
    return Pair(request.param)


# Name to (sign, size, load) as the first halfword has them.
ACCESSES = {
    "strb": "000000", "strh": "000010", "str": "000100", "ldrb": "000001", "ldrh": "000011", "ldr": "000101",
    "ldrsb": "010001", "ldrsh": "010011",
}  # fmt: skip
FORMS = {
    "offset": ("1111100{s}1{z}{l}nnnn", "ttttiiiiiiiiiiii"),
    "negative": ("1111100{s}0{z}{l}nnnn", "tttt1100iiiiiiii"),
    "unprivileged": ("1111100{s}0{z}{l}nnnn", "tttt1110iiiiiiii"),
    "pre-indexed": ("1111100{s}0{z}{l}nnnn", "tttt11v1iiiiiiii"),
    "post-indexed": ("1111100{s}0{z}{l}nnnn", "tttt10v1iiiiiiii"),
    "register": ("1111100{s}0{z}{l}nnnn", "tttt000000yymmmm"),
}


def _row(name: str, form: str) -> Encoding:
    bits = ACCESSES[name]
    first, second = FORMS[form]
    first = first.format(s=bits[1], z=bits[3:5], l=bits[5])
    return Encoding(f"{name} {form}", f"{first} {second}", holds=lambda f: f["n"] not in (f["t"], f.get("m")))


def _state_with_base(rng: random.Random, base: int, address: int, **others: int) -> State:
    return state(rng, **{"lr" if base == 14 else f"r{base}": address}, **others)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ACCESSES)
def test_single_accesses(pair: Pair, name: str, form: str) -> None:
    """Addresses all over the data area, unaligned ones among them."""
    rng, row = random.Random(name + form), _row(name, form)
    for _ in range(CASES):
        if form == "offset":
            offset = rng.choice((0, 1, rng.randrange(0x1F0), 0xFFF))
            base = rng.randrange(13)
            start = _state_with_base(
                rng, base, MIDDLE - 0x1FC + rng.randrange(8) if offset < 0x200 else MIDDLE - offset
            )
            pair.assert_same_end(row.draw(rng, n=base, i=offset), start)
        elif form == "register":
            base, index, shift = *rng.sample(range(13), 2), rng.randrange(4)
            offset = rng.randrange(0x180 >> shift)
            start = _state_with_base(rng, base, DATA + rng.randrange(64), **{f"r{index}": offset})
            pair.assert_same_end(row.draw(rng, n=base, m=index, y=shift), start)
        else:
            base = rng.randrange(13)
            pair.assert_same_end(row.draw(rng, n=base), _state_with_base(rng, base, MIDDLE + rng.randrange(-200, 200)))


@pytest.mark.parametrize("name", ["ldrb", "ldrh", "ldr", "ldrsb", "ldrsh"])
def test_literals(pair: Pair, name: str) -> None:
    """Before and behind the instruction, at both halfword alignments; the code itself is what is read."""
    rng, bits = random.Random(name), ACCESSES[name]
    row = Encoding(name, f"1111100{bits[1]}U{bits[3:5]}11111 ttttiiiiiiiiiiii")
    for index in range(CASES):
        pair.assert_same_end([*[0xBF00] * (index % 2), *row.draw(rng, i=rng.randrange(0x180))], state(rng))


@pytest.mark.parametrize("load", [0, 1])
def test_double_words(pair: Pair, load: int) -> None:
    """LDRD and STRD in all addressing forms, LDRD literal."""
    rng = random.Random(load)

    def predictable(f: dict[str, int]) -> bool:
        return f["n"] not in (f["t"], f["u"]) and f["t"] != f["u"] and f["p"] | f["w"] == 1

    row = Encoding("dual", f"1110100pv1w{load}nnnn ttttuuuuiiiiiiii", holds=predictable)
    for _ in range(2 * CASES):
        base = rng.randrange(13)
        start = _state_with_base(rng, base, MIDDLE + 4 * rng.randrange(-8, 8))
        pair.assert_same_end(row.draw(rng, n=base, i=rng.randrange(64)), start)
    literal = Encoding("literal", "11101001v1011111 ttttuuuuiiiiiiii", holds=lambda f: f["t"] != f["u"])
    for _ in range(CASES if load else 0):
        pair.assert_same_end(literal.draw(rng, i=rng.randrange(64)), state(rng))


@pytest.mark.parametrize("pause", [1 << 60, 1, 2, 5])
def test_multiple_transfers(pair: Pair, pause: int) -> None:
    """LDM and STM in both directions, PUSH and POP, 16 and 32 bits wide, at once or in parts."""
    rng = random.Random(pause)
    for index in range(2 * CASES):
        mask = rng.getrandbits(13) | rng.getrandbits(1) << 14
        base, load, writes_back = rng.randrange(13), index & 1, rng.getrandbits(1)
        if mask.bit_count() < 2 or (writes_back and mask >> base & 1):
            continue
        direction = rng.choice((0x080, 0x100))
        halves = [0xE800 | direction | writes_back << 5 | load << 4 | base, mask]
        pair.assert_same_end(halves, _state_with_base(rng, base, MIDDLE + 4 * rng.randrange(-16, 16)), pause)
        low = mask & 0xFF or 1
        pair.assert_same_end([0xB400 | rng.getrandbits(1) << 8 | low, 0xBC00 | low], state(rng), pause)
        base = rng.randrange(8)
        start = _state_with_base(rng, base, MIDDLE)
        pair.assert_same_end([0xC800 | base << 8 | low], start, pause)
        # Stored base: the lowest register of the list, otherwise its value is not defined.
        if not low >> base & 1 or low & -low == 1 << base:
            pair.assert_same_end([0xC000 | base << 8 | low], start, pause)
        pair.assert_same_end([0xE92D, mask, 0xE8BD, mask], state(rng), pause)


def test_exclusives(pair: Pair) -> None:
    """STREX succeeds behind LDREX, once, and not behind CLREX."""
    rng = random.Random("exclusive")
    for _ in range(CASES):
        start = state(rng, r1=DATA + 4 * rng.randrange(64))
        offset = rng.randrange(32)
        word = [[0xE851, 0x2F00 | offset], [0xE841, 0x4300 | offset]]
        byte = [[0xE8D1, 0x2F4F], [0xE8C1, 0x4F43]]
        half = [[0xE8D1, 0x2F5F], [0xE8C1, 0x4F53]]
        for load, store in (word, byte, half):
            pair.assert_same_end([*load, *store], start)
            pair.assert_same_end(store, start)
            pair.assert_same_end([*load, 0xF3BF, 0x8F2F, *store], start)
            pair.assert_same_end([*load, *store, 0x461D, *store], start)


@pytest.mark.parametrize("half", [0, 1])
def test_table_branches(pair: Pair, half: int) -> None:
    """Each entry of a table behind the instruction leads to its own instruction."""
    rng = random.Random(half)
    for entry in range(4):
        # Four entries, then four times ADDS r0, #1; the branch skips `entry` of them.
        words = [4 + n for n in range(4)] if half else [2 | 3 << 8, 4 | 5 << 8]
        body = [0xE8DF, 0xF000 | half << 4 | 1, *words, *(0x3001 for _ in range(4))]
        pair.assert_same_end(body, state(rng, r1=entry))
        indirect = [0xE8D2, 0xF000 | half << 4 | 1, *words, *(0x3001 for _ in range(4))]
        pair.assert_same_end(indirect, state(rng, r1=entry, r2=CODE + 4))


@pytest.mark.parametrize("pause", [1 << 60, 1, 3])
def test_float_transfers(float_pair: Pair, pause: int) -> None:
    """VLDR, VSTR, VLDM, VSTM, VPUSH, VPOP of S and D registers, at once or in parts."""
    rng = random.Random(pause)
    for index in range(2 * CASES):
        double, load, base = index & 1, index >> 1 & 1, rng.randrange(13)
        extra = 0 if double else rng.getrandbits(1) << 6
        start = _state_with_base(rng, base, MIDDLE + 4 * rng.randrange(-16, 16))
        register = rng.randrange(16)
        single = [0xED00 | rng.getrandbits(1) << 7 | extra | load << 4 | base, register << 12 | 0xA00 | double << 8]
        single[1] |= rng.randrange(64)
        float_pair.assert_same_end(single, start, pause)
        number = register << 1 | extra >> 6
        words = 2 * rng.randint(1, 16 - register) if double else rng.randint(1, 32 - number)
        for form in (0xEC80, 0xECA0, 0xED20):
            halves = [form | extra | load << 4 | base, register << 12 | 0xA00 | double << 8 | words]
            float_pair.assert_same_end(halves, start, pause)
        float_pair.assert_same_end([0xED2D | extra, register << 12 | 0xA00 | double << 8 | words], start, pause)
    literal = Encoding("vldr literal", "11101101Ue011111 DDDD1010iiiiiiii")
    for _ in range(CASES):
        float_pair.assert_same_end(literal.draw(rng, i=rng.randrange(64)), state(rng))


@pytest.mark.parametrize(
    ("body", "address"),
    [
        ([0xE891, 0x000C], 2),  # ldm
        ([0xE881, 0x000C], 1),  # stm
        ([0xE9D1, 0x2300], 2),  # ldrd
        ([0xE9C1, 0x2300], 1),  # strd
        ([0xE851, 0x2F00], 2),  # ldrex
        ([0xE8D1, 0x2F5F], 1),  # ldrexh
        ([0xE841, 0x4300], 2),  # strex
    ],
)
def test_transfers_that_must_be_aligned(pair: Pair, body: list[int], address: int) -> None:
    """They fault whatever CCR.UNALIGN_TRP says (ARMv7-M A3.2.1); no reference: unicorn has no such fault."""
    rng = random.Random("unaligned")
    result = pair.ours.run(assemble(body), state(rng, r1=DATA + address))
    assert result == "Fault(Unaligned)"


def test_unaligned_accesses_can_be_trapped(pair: Pair) -> None:
    """CCR.UNALIGN_TRP turns every unaligned LDR into a fault (ARMv7-M A3.2.1)."""
    rng = random.Random("trap")
    body = [0x680A]  # ldr r2, [r1]
    pair.assert_same_end(body, state(rng, r1=DATA + 1))
    pair.ours.core.set_ccr(1 << 3)
    try:
        assert pair.ours.run(assemble(body), state(rng, r1=DATA + 1)) == "Fault(Unaligned)"
        assert isinstance(pair.ours.run(assemble(body), state(rng, r1=DATA)), State)
    finally:
        pair.ours.core.set_ccr(0)
