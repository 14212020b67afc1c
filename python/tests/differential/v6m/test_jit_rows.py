"""Every 16-bit encoding on both cores as code of the host, each beside the other core's: registers, flags, memory,
waits, cycles, what is told of watched words.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import pytest

from tests.differential.engines import SRAM
from tests.differential.v6m.rows import (
    CONSTANTS,
    DATA,
    FIRST,
    FUNCTION,
    ROWS,
    SCRATCH,
    WATCHED,
    Rows,
    anything,
    rows_near,
)
from tests.differential.v6m.test_jit import BASE, LOADS, STORES, an_access, encodings
from tests.differential.v6m.test_timing_cache import branch_with_link
from tests.differential.v7m.test_jit import SETTERS
from tests.timing.bench import NOP, SIO

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
RAM_END = SRAM + 0x4_2000
BORDERS = (SRAM + 0x4_0000, SRAM + 0x4_1000)
"""Of the striped memory to the first bank, of that to the second one."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows()


def two_lists(rng: random.Random) -> list[list[list[int]]]:
    return [anything(rng), anything(rng)]


def test_encodings(rows: Rows) -> None:
    """Operands and flags at random; alone and several, for flags that one leaves and the other reads."""
    rng = random.Random("encodings of two cores")
    bodies = encodings()
    for body in bodies:
        assert rows.assert_engines_agree(body, two_lists(rng)) > ROWS, [hex(half) for half in body]
    for _ in range(40 * SEEDS):
        assert rows.assert_engines_agree([half for _ in range(4) for half in rng.choice(bodies)], two_lists(rng)) > ROWS


def test_shifts_by_a_register(rows: Rows) -> None:
    """By 0 to 256 places."""
    rng = random.Random("shifts of two cores")
    amounts = [*range(36), 39, 40, 41, 63, 64, 65, 255, 256]
    for kind in (0x4080, 0x40C0, 0x4100, 0x41C0):
        tables = two_lists(rng)
        for table, part in zip(tables, (amounts[:ROWS], amounts[-ROWS:]), strict=True):
            for row, amount in zip(table, part, strict=True):
                row[FIRST + 3] = row[FIRST + 3] & ~0x1FF | amount
        assert rows.assert_engines_agree([kind | 3 << 3 | 5], tables) > ROWS


@pytest.mark.parametrize("condition", range(14))
def test_conditional_branches(rows: Rows, condition: int) -> None:
    """Behind what sets flags, and of flags that were set long ago: over some instructions, or back, or not."""
    rng = random.Random(f"branch of two cores {condition}")
    for setter in rng.choices([*SETTERS, NOP], k=3 + SEEDS):
        over = [setter, 0xD000 | condition << 8 | 1, 0x3201, 0x4053, 0x1C5B]  # adds r2; eors r3, r2; adds r3
        assert rows.assert_engines_agree(over, two_lists(rng)) > ROWS, hex(setter)
    # movs r7, #3; again: adds r2; subs r7, #1; beq on; cmp r2, r3; b<cond> again; on:
    back = [0x2703, 0x3201, 0x3F01, 0xD001, 0x429A, 0xD000 | condition << 8 | 0xFA]
    assert rows.assert_engines_agree(back, two_lists(rng)) > ROWS


def test_flags_at_the_end_of_a_path(rows: Rows) -> None:
    """One way ends behind something that sets flags, the other one begins with a branch by those of before."""
    rng = random.Random("ends of two cores")
    for _ in range(40 * SEEDS):
        first, last = rng.choice(SETTERS), rng.choice(SETTERS)
        # b<cond>; adds r3; ...; add pc, r10, which is not translated; nop; b<cond>; adds r2; b<cond>; adds r5
        body = [first, 0xD000 | rng.randrange(14) << 8 | 3, 0x3301, last, 0x44D7, NOP]
        body += [0xD000 | rng.randrange(14) << 8, 0x1C52, 0xD000 | rng.randrange(14) << 8, 0x3501]
        assert rows.assert_engines_agree(body, two_lists(rng)) > ROWS, [hex(half) for half in body]


def test_many_branches(rows: Rows) -> None:
    """By bits of a register: all ways together have more instructions than one translation. Some lead far ahead."""
    rng = random.Random("many branches of two cores")
    for step in (2, 3, 4):
        # lsls r1, r1, #1; bcc or bmi over one to three adds r2, #...
        body: list[int] = []
        for _ in range(6):
            skipped = [0x3200 | rng.randrange(256) for _ in range(step - 1)]
            body += [0x0049, rng.choice((0xD300, 0xD400, 0xD500)) | len(skipped) - 1, *skipped]
        assert rows.assert_engines_agree(body, two_lists(rng)) > ROWS
        # Among them a branch over all the rest.
        ahead = [0x0049, 0xD200 | len(body) - 1, *body]
        assert rows.assert_engines_agree(ahead, two_lists(rng)) > ROWS
        assert rows.assert_engines_agree([0xE000, 0x3201, *ahead], two_lists(rng)) > ROWS


def test_registers_changed_on_one_path(rows: Rows) -> None:
    """More of them than the host has, loaded, changed and stored on one way, and others on the other one."""
    rng = random.Random("ways of two cores")
    changes = [[0x3000 | register << 8 | rng.randrange(256)] for register in range(8)]
    changes += [[0x4080 | rng.getrandbits(6)], [0x4688], [0x4684], [0x4663], [0x4494], [0x46F4 & 0xFF00 | 0x84]]
    for _ in range(60 * SEEDS):
        ways = [[half for _ in range(rng.randrange(1, 5)) for half in rng.choice(changes)] for _ in range(3)]
        first, one, other = ways
        branch = 0xD000 | rng.randrange(14) << 8 | len(one)
        body = [*first, branch, *one, 0xE000 | len(other) - 1, *other, 0x4060, *rng.choice(changes)]
        assert rows.assert_engines_agree(body, two_lists(rng)) > ROWS / 2


def near(rng: random.Random, places: Sequence[int], step: int) -> list[list[list[int]]]:
    return [rows_near(rng, place, step) for place in places]


@pytest.mark.parametrize("opcode", [*LOADS, *STORES], ids=hex)
def test_accesses(rows: Rows, opcode: int) -> None:
    """By both cores to the same words or others: around the borders of memories, beside watched words and code, of
    flash, ROM and registers, and where nothing is, or not aligned."""
    rng = random.Random(f"access of two cores {opcode}")
    step = {**LOADS, **STORES}[opcode]
    places = [(DATA, DATA), (DATA, DATA + 0x800), (WATCHED[0], DATA), (WATCHED[1], WATCHED[0]), (FUNCTION + 0x40, DATA)]
    places += [(BORDERS[0], BORDERS[0]), (BORDERS[0], BORDERS[1]), (BORDERS[1], SCRATCH + 0x800)]
    places += [(RAM_END - 16 * step, DATA)]
    if opcode in LOADS:
        places += [(CONSTANTS + 0x40, CONSTANTS + 0x80), (CONSTANTS + 0x40, DATA)]
    for pair in places:
        for _ in range(SEEDS):
            assert rows.assert_engines_agree(an_access(rng, opcode), near(rng, pair, step)) > ROWS / 4, pair
    if opcode in LOADS:
        rows.assert_engines_agree(an_access(rng, opcode), near(rng, (0x100, DATA), step))
    if opcode in (0x6800, 0x6000):
        # A quotient that nobody awaits.
        tables = two_lists(rng)
        for row in (row for table in tables for row in table):
            row[FIRST + BASE] = SIO + 0x70
        rows.assert_engines_agree([opcode | BASE << 3 | 3], tables)
    for wrong in (RAM_END - 1, RAM_END, SRAM - step, DATA + 1, DATA + 2, BORDERS[1] + 3):
        tables = near(rng, (DATA, DATA + 0x400), step)
        tables[rng.randrange(2)][-3][FIRST + BASE] = wrong
        rows.assert_engines_agree(an_access(rng, opcode), tables, faults=True)


def test_words_at_one_base_register(rows: Rows) -> None:
    """Several by one register, of which the first instruction checks for all; some lie behind a border."""
    rng = random.Random("words of two cores")
    for place in (DATA, WATCHED[0], *BORDERS, RAM_END - 0x9C):
        for _ in range(24 * SEEDS):
            body = [
                rng.choice((0x6000, 0x6800)) | rng.randrange(32) << 6 | BASE << 3 | rng.choice((0, 3, 4, 5))
                for _ in range(rng.randrange(3, 8))
            ]
            for at in range(rng.randrange(3)):
                body[2 + at : 2 + at] = [0xD000 | rng.randrange(14) << 8 | rng.randrange(len(body) - 2 - at)]
            assert rows.assert_engines_agree(body, near(rng, (place, rng.choice((place, DATA))), 4)) > ROWS / 4, hex(
                place
            )


def test_words_checked_on_one_path(rows: Rows) -> None:
    """Both ways access the same words, behind the border or not, which none did before."""
    rng = random.Random("checks of two cores")
    for _ in range(24 * SEEDS):
        kind, far = rng.choice((0x6000, 0x6800)) | BASE << 3 | 3, rng.randrange(8, 24)
        # ldr r3, [r1]; ldr r3, [r1, #4]; b<cond> to the last; b<cond> over the next; b to the end; two; b; one
        body = [0x680B, 0x684B, 0xD004 | rng.randrange(14) << 8, 0xD000 | rng.randrange(14) << 8, 0xE003]
        body += [kind | far << 6, kind | far + 1 << 6, 0xE000, kind | far + rng.randrange(2) << 6]
        place = BORDERS[0] - 4 * far - 8
        assert rows.assert_engines_agree(body, near(rng, (place, rng.choice((place, place - 0x80))), 4)) > ROWS / 4


@pytest.mark.parametrize("opcode", [0xC000, 0xC800], ids=["stm", "ldm"])
def test_several_words(rows: Rows, opcode: int) -> None:
    """Any number of registers, the base among them or not, over borders and watched words."""
    rng = random.Random(f"multiple of two cores {opcode}")
    for place in (DATA, WATCHED[0], FUNCTION + 0x40, *BORDERS, *([CONSTANTS + 0x40] if opcode & 0x800 else [])):
        for mask in (0x01, 0x2C, 0xF8, 0xFD, 1 << BASE | 0x21):
            assert rows.assert_engines_agree([opcode | BASE << 8 | mask], near(rng, (place, place), 4)) > ROWS / 4, hex(
                place
            )
    for mask in (0x01, 0xFD):
        tables = near(rng, (DATA, DATA + 0x400), 4)
        tables[0][-3][FIRST + BASE] = rng.choice((RAM_END - 4 * mask.bit_count() + 4, RAM_END, DATA + 2))
        rows.assert_engines_agree([opcode | BASE << 8 | mask], tables, faults=True)


def test_stacks(rows: Rows) -> None:
    """PUSH and POP of any number of registers, with LR and the PC, on stacks around borders and beside watched words;
    the block changes to them and back."""
    rng = random.Random("stacks of two cores")
    for place in (DATA, WATCHED[0] + 0x10, *BORDERS, BORDERS[0] + 8, SCRATCH + 0x800):
        for mask in (0x00, 0x01, 0x6C, 0xFF):
            for link in (0, 1) if mask else (1,):
                push, pop = 0xB400 | link << 8 | mask, 0xBC00 | mask
                # mov r12, sp; mov sp, r1; push; adds r2; pop; add sp, #4; mov sp, r12
                body = [0x46EC, 0x468D, push, 0x3201, *([pop] if mask else []), *[0xB001] * link, 0x46E5]
                assert rows.assert_engines_agree(body, near(rng, (place, place), 4)) > ROWS / 4, (hex(place), hex(mask))
    for mask in (0x00, 0x04, 0xFC):
        # bl f; b on; f: push {..., lr}; adds r3; pop {..., pc}; on:
        called = [*branch_with_link(1), 0xE002, 0xB500 | mask, 0x3301, 0xBD00 | mask]
        assert rows.assert_engines_agree(called, two_lists(rng)) > ROWS
        for place in (*BORDERS, WATCHED[0]):
            assert rows.assert_engines_agree([0x46EC, 0x468D, *called, 0x46E5], near(rng, (place, DATA), 4)) > ROWS / 4


def test_branches_by_register(rows: Rows) -> None:
    """To one place or several, back by LR and POP, to other memories, to where no instruction is."""
    rng = random.Random("jumps of two cores")
    # adr r4; adds r4, #1 or #3; bx or blx r4, or add or mov to the pc; adds; adds: aligned or not.
    for jump in (0x4720, 0x47A0, 0x46A7):
        for distance in (1, 3):
            body = [NOP, 0xA400, 0x3400 | distance + 4, jump, 0x3201, 0x3301, 0x3001]
            rows.assert_engines_agree(body, two_lists(rng), faults=True)
            rows.assert_engines_agree([NOP, *body], two_lists(rng), faults=True)
    # r4 = an instruction on or two, by a bit of r2; then bx r4; blx r4; or push {r4} and pop {pc}; adds r3; adds r0.
    for way in ([0x4720], [0x47A0], [0xB410, 0xBD00]):
        forth = [0x2501, 0x4015, 0x006D, 0x467C, 0x1964, 0x3400 | 2 * len(way) + 3]
        assert rows.assert_engines_agree([*forth, *way, 0x3301, 0x3001], two_lists(rng)) > ROWS, hex(way[0])
        # The Thumb bit is missing once.
        tables = two_lists(rng)
        rows.assert_engines_agree([*forth[:-1], 0x3400 | 2 * len(way) + 2, *way, 0x3301, 0x3001], tables, faults=True)
    # blx to a function in the same memory, in another one, in flash, to an even address, to nowhere; some by turns.
    targets = (FUNCTION | 1, (SCRATCH + 0x100) | 1, (CONSTANTS + 0x80) | 1)
    for choice in ([targets[0]], [targets[1]], [targets[2]], targets[:2], targets):
        tables = two_lists(rng)
        for row in (row for table in tables for row in table):
            row[FIRST + 7] = rng.choice(choice)
        for body in ([0x47B8], [0x3201, 0x47B8, 0x3301], [0xB480, *branch_with_link(0), 0xBC80, 0x47B8]):
            assert rows.assert_engines_agree(body, tables) > ROWS / 2
    # bl f; b on; f: push {r2, r4}; pop {r2, pc}; on: r2 would do for an address, too.
    for several in (targets[:1], targets):
        for row in (row for table in tables for row in table):
            row[FIRST + 2], row[FIRST + 4] = FUNCTION + 0x20 | 1, rng.choice(several)
        assert rows.assert_engines_agree([*branch_with_link(1), 0xE001, 0xB414, 0xBD04], tables) > ROWS
    for wrong in (FUNCTION, 0x3000_0001, RAM_END | 1):
        tables[0][-2][FIRST + 7] = wrong
        rows.assert_engines_agree([0x3201, 0x47B8], tables, faults=True)


def test_literals(rows: Rows) -> None:
    """Words of the code itself, alone and among accesses; between what sets flags and a branch by them."""
    rng = random.Random("literals of two cores")
    for condition in range(14):
        for setter in rng.sample(SETTERS, 3):
            # ldr r3, [pc, ...]; b<cond>; adds r2
            assert (
                rows.assert_engines_agree(
                    [setter, 0x4B00 | rng.randrange(8), 0xD000 | condition << 8, 0x3201], two_lists(rng)
                )
                > ROWS
            )
    for _ in range(20 * SEEDS):
        body = [0x4800 | rng.choice((0, 3, 5)) << 8 | rng.randrange(8) for _ in range(rng.randrange(1, 4))]
        body += [an_access(rng, rng.choice([*LOADS, *STORES]))[0] for _ in range(2)]
        rng.shuffle(body)
        assert rows.assert_engines_agree(body, near(rng, (DATA, DATA), 4)) > ROWS / 2
