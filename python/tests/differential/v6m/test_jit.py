"""Instructions as code of the host do what the interpreter does, in the same time: an STM32L0, whose traces are timed
by memory, and a Pico one of whose cores executes alone, where the cycles are those of the code.

Every 16-bit encoding: each instruction stands in a loop over rows of registers and flags, of which the first ones are
interpreted and all others executed as code of the host.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from rtoslab._sim import Machine
from tests.compat.build import boot_block
from tests.differential.engines import elf
from tests.differential.v6m import test_timing_cache
from tests.differential.v6m.test_timing_cache import BX_LR, NOP, constant
from tests.differential.v7m.states import flags, word
from tests.differential.v7m.test_jit import SETTERS, narrow

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
NEVER, AT_ONCE = 0, 1
CHIPS = ("stm32l073", "rp2040")
FLASH = {"stm32l073": 0x0800_0000, "rp2040": 0x1000_0000}
SRAM, QUICK = 0x2000_0000, 0x2000_0800
RAM_BYTES = {"stm32l073": 0x5000, "rp2040": 0x4_2000}
CODE_OFFSET = 0x400
ROWS, ROW_WORDS = 40, 9
"""Each row has the flags and r0 to r7; what becomes of them takes its place."""
TABLE, DATA = SRAM + 0x1000, SRAM + 0x2000
BASE, INDEX, VALUE = 1, 2, 3


def machine_with(chip: str, code: Sequence[int], more: Sequence[tuple[int, bytes]] = ()) -> Machine:
    """A board at the begin of the code, in flash that waits or behind the cache; `more` is in RAM."""
    machine = Machine(chip, cores=1)
    if chip == "stm32l073":
        machine.set("flash.wait_states", 1)
    start = FLASH[chip] + CODE_OFFSET
    vectors = struct.pack("<16I", TABLE, *[start | 1] * 15)
    head = boot_block() + vectors if chip == "rp2040" else vectors
    body = struct.pack(f"<{len(code)}H", *code)
    machine.load(elf([(FLASH[chip], head), (start, body)], start | 1), "rows.elf")
    machine.run(300 if chip == "rp2040" else 1)  # behind the boot ROM, before the first instruction of the code
    assert machine.registers(0)["pc"] in (start, start + 2)
    for address, content in more:
        machine.write(address, content)
    machine.set_register(0, "pc", start)
    return machine


def loop(body: Sequence[int]) -> list[int]:
    """Over the rows: `SP` goes from one to the next."""
    begin = [*constant(0, TABLE), 0x4685, *constant(0, TABLE), 0x4680]  # mov sp, r0; mov r8, r0
    item = [0xBC01, 0xF380, 0x8800, 0xBCFF, *body, 0xB4FF, 0xF3EF, 0x8000, 0xB401, 0xB000 | ROW_WORDS]
    item += [0x4668, *constant(1, TABLE + 4 * ROWS * ROW_WORDS), 0x4288]
    return [*begin, *item, 0xD000, 0xE000 | (-len(item) - 3) & 0x7FF, 0xE7FE]  # beq over the branch back


@dataclass
class After:
    """What can be seen of a run."""

    translated: int
    state: list[object]


def execute(chip: str, body: Sequence[int], rows: Sequence[Sequence[int]], after: int, *, faults: bool) -> After:
    """All rows, translated after so many executions."""
    table = b"".join(struct.pack(f"<{ROW_WORDS}I", *row) for row in rows)
    quick = struct.pack("<2H", 0x3301, BX_LR)  # adds r3, #1
    machine = machine_with(chip, loop(body), [(TABLE, table), (DATA - 0x200, bytes(range(256)) * 4), (QUICK, quick)])
    machine.translate_after(after)
    for ident, watched in enumerate((DATA - 8, DATA + 4)):
        machine.watch_write(watched, ident, False)
    machine.run(25_000)
    registers = machine.registers(0)
    if not faults:
        assert registers["sp"] == TABLE + 4 * ROWS * ROW_WORDS, "all rows were executed"
    memory = machine.read(TABLE, 4 * ROWS * ROW_WORDS), machine.read(DATA - 0x200, 0x400)
    return After(
        machine.native_trace_count(), [machine.cycle(), machine.stats(), registers, machine.take_events(), *memory]
    )


def assert_engines_agree(chip: str, body: Sequence[int], rows: Sequence[Sequence[int]], *, faults: bool = False) -> int:
    """Both ways; how many paths were executed as code of the host."""
    never, at_once = (execute(chip, body, rows, after, faults=faults) for after in (NEVER, AT_ONCE))
    assert never.translated == 0
    assert at_once.state == never.state, [hex(half) for half in body]
    return at_once.translated


def anything(rng: random.Random) -> list[list[int]]:
    """Rows of corner values and random ones."""
    return [[flags(rng) & 0xF000_0000, *(word(rng) for _ in range(ROW_WORDS - 1))] for _ in range(ROWS)]


def encodings() -> list[list[int]]:
    """Data processing, with r8 as the high register, and what SP is added to or set by."""
    low = [[half] for (half,) in narrow() if half >> 10 != 0x11]
    high = [[op | 0x40 | rd] for op in (0x4400, 0x4500, 0x4600) for rd in (0, 5)]  # add, cmp, mov rd, r8
    high += [[0x4688, op | 0xB0] for op in (0x4400, 0x4500, 0x4600)]  # mov r8, r1; add, cmp, mov r8, r6
    stack = [[0xA807], [0xAE07], [0xA209]]  # add r0 and r6, sp, #28; adr r2
    moved = [[0xB082, 0xB002], [0x2600, 0x44B5]]  # sp: -8, +8; movs r6, #0; add sp, r6
    return [*low, *high, *stack, *moved, [NOP]]


@pytest.mark.parametrize("chip", CHIPS)
def test_encodings(chip: str) -> None:
    """Operands and flags at random; alone and two by two, for flags that one leaves and the other reads."""
    rng = random.Random(f"translated {chip}")
    bodies = encodings()
    for body in bodies:
        assert assert_engines_agree(chip, body, anything(rng)) > ROWS / 2, [hex(half) for half in body]
    for _ in range(40 * SEEDS):
        assert_engines_agree(chip, [half for _ in range(4) for half in rng.choice(bodies)], anything(rng))


@pytest.mark.parametrize("chip", CHIPS)
def test_shifts_by_a_register(chip: str) -> None:
    """By 0 to 255 places."""
    rng = random.Random(f"translated shifts {chip}")
    amounts = [*range(36), 39, 40, 41, 63, 64, 65, 255, 256]
    for kind in (0x4080, 0x40C0, 0x4100, 0x41C0):
        for begin in (0, 4):
            rows = anything(rng)
            for row, amount in zip(rows, amounts[begin:], strict=False):
                row[1 + 3] = row[1 + 3] & ~0x1FF | amount
            assert assert_engines_agree(chip, [kind | 3 << 3 | 5], rows) > ROWS / 2


@pytest.mark.parametrize("condition", range(14))
def test_conditional_branches(condition: int) -> None:
    """Behind everything that sets flags: over one instruction or not."""
    rng = random.Random(f"translated branch {condition}")
    for chip in CHIPS:
        for setter in SETTERS:
            assert assert_engines_agree(chip, [setter, 0xD000 | condition << 8, 0x3201], anything(rng)) > ROWS / 2, hex(
                setter
            )


def rows_near(rng: random.Random, near: int, step: int) -> list[list[int]]:
    """Rows whose base is near an address, by a multiple of the step, and whose index is small."""
    rows = anything(rng)
    for row in rows:
        row[1 + BASE], row[1 + INDEX] = near + step * rng.randrange(-8, 8), step * rng.randrange(4)
    return rows


LOADS = {0x6800: 4, 0x7800: 1, 0x8800: 2, 0x5800: 4, 0x5A00: 2, 0x5C00: 1, 0x5600: 1, 0x5E00: 2}
"""LDR, LDRB, LDRH by offset, then LDR, LDRH, LDRB, LDRSB, LDRSH by register: bytes."""
STORES = {0x6000: 4, 0x7000: 1, 0x8000: 2, 0x5000: 4, 0x5200: 2, 0x5400: 1}


def an_access(rng: random.Random, opcode: int) -> list[int]:
    if opcode >> 12 == 5:
        return [opcode | INDEX << 6 | BASE << 3 | VALUE]
    return [opcode | rng.randrange(8) << 6 | BASE << 3 | VALUE]


@pytest.mark.parametrize("opcode", [*LOADS, *STORES], ids=hex)
def test_accesses(opcode: int) -> None:
    """Beside words that are watched, in pages that are not, in code; loads of flash; at the end of the RAM."""
    rng = random.Random(f"translated access {opcode}")
    step = {**LOADS, **STORES}[opcode]
    for chip in CHIPS:
        places = [DATA, DATA - 0x180, QUICK + 0x40, *([FLASH[chip] + 0x200] if opcode in LOADS else [])]
        for near in places:
            assert assert_engines_agree(chip, an_access(rng, opcode), rows_near(rng, near, step)) > ROWS / 4, near
        rows = rows_near(rng, SRAM + RAM_BYTES[chip] - 0x80, step)
        assert assert_engines_agree(chip, an_access(rng, opcode), rows) > ROWS / 2
        for wrong in (SRAM + RAM_BYTES[chip] - 1, SRAM + RAM_BYTES[chip], SRAM - step, DATA + 1):
            rows[-1][1 + BASE] = wrong
            assert_engines_agree(chip, an_access(rng, opcode), rows, faults=True)


MULTIPLES = {"stm": 0xC000 | BASE << 8, "ldm": 0xC800 | BASE << 8}


@pytest.mark.parametrize("chip", CHIPS)
def test_several_words(chip: str) -> None:
    """LDM, STM, the base in the list or not; PUSH and POP, with LR and the PC; into the end of the RAM."""
    rng = random.Random(f"translated multiple {chip}")
    for name, opcode in MULTIPLES.items():
        for near in (DATA, DATA - 0x180, QUICK + 0x40, SRAM + RAM_BYTES[chip] - 0x40):
            for mask in (0x2C, 0xF8, 1 << BASE | 0x21):
                # What a load leaves in r1 is no address any more, but nobody uses it.
                assert (
                    assert_engines_agree(chip, [opcode | mask], rows_near(rng, near, 4), faults=near > DATA) > ROWS / 4
                ), (name, near)
    for mask in (0x01, 0x6C, 0xFF):
        for link in (0, 1):
            push, pop = 0xB400 | link << 8 | mask, 0xBC00 | mask
            after = [0xB001] if link else []  # add sp, #4
            assert_engines_agree(chip, [push, *[0x3101] * 2, pop, *after], anything(rng))
    # bl f; b on; f: push {r2, lr}; adds r3, #1; pop {r2, pc}; on:
    called = [*test_timing_cache.branch_with_link(1), 0xE002, 0xB504, 0x3301, 0xBD04]
    assert assert_engines_agree(chip, called, anything(rng)) > ROWS / 2


@pytest.mark.parametrize("chip", CHIPS)
def test_branches_by_register(chip: str) -> None:
    """To one place or several, back by LR, with ADD and MOV to the PC, without the Thumb bit; to another memory."""
    rng = random.Random(f"translated jumps {chip}")
    # adr r4; adds r4, #1 or #3; bx or blx r4; adds; adds
    for jump in (0x4720, 0x47A0, 0x46A7):
        for distance in (1, 3):
            body = [NOP, 0xA400, 0x3400 | distance + 4, jump, 0x3201, 0x3301, 0x3001]
            assert_engines_agree(chip, body, anything(rng), faults=True)
            assert_engines_agree(chip, [NOP, *body], anything(rng), faults=True)
    # movs r4, #1; ands r4, r2; lsls r4, r4, #1; add pc, r4; nop; adds r3; adds r0
    body = [0x2401, 0x4014, 0x0064, 0x44A7, NOP, 0x3301, 0x3001]
    assert assert_engines_agree(chip, body, anything(rng)) > ROWS / 2
    # r4 = an instruction on or two, by a bit of r2: movs r5, #1; ands r5, r2; lsls r5, r5, #1; mov r4, pc; adds; adds.
    # Then bx r4; blx r4; or push {r4} and pop {pc}. Then adds r3, #1; adds r0, #1.
    for way in ([0x4720], [0x47A0], [0xB410, 0xBD00]):
        forth = [0x2501, 0x4015, 0x006D, 0x467C, 0x1964, 0x3400 | 2 * len(way) + 3]
        assert assert_engines_agree(chip, [*forth, *way, 0x3301, 0x3001], anything(rng)) > ROWS / 2, hex(way[0])
    # blx to the function in RAM, by r7.
    rows = anything(rng)
    for row in rows:
        row[1 + 7] = QUICK | 1
    assert_engines_agree(chip, [0x47B8], rows)
    rows[-1][1 + 7] = QUICK
    assert_engines_agree(chip, [0x47B8], rows, faults=True)
