"""Traces as code of the host do what the interpreter does, in the same time.

Every encoding of the tables, and loads and stores in every form: each instruction stands in a loop over rows of
registers and flags, of which the first ones are interpreted and all others executed as code of the host.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from rtoslab._sim import Machine
from tests.differential.engines import elf
from tests.differential.v7m.encodings import DATA_PROCESSING, FLOATING_POINT, Encoding
from tests.differential.v7m.loops import FLASH, SRAM, constant, store
from tests.differential.v7m.states import SINGLES, flags, word
from tests.differential.v7m.test_memory import ACCESSES, FORMS, _row
from tests.differential.v7m.test_timing_cache import CODE_OFFSET
from tests.memory import freed_memory_kept

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
ROWS, ROW_WORDS = 40, 15
"""Each row has the flags, r0 to r12 and LR; what becomes of them takes its place."""
TABLE = SRAM + 0x1000
CODE = FLASH + CODE_OFFSET
CPACR = 0xE000_ED88
TRANSLATED = {"m3": "stm32f103", "m4": "stm32f446", "m7": "stm32f767"}
SETTINGS = {"m7": {"flash.wait_states": 7, "icache": 1, "dcache": 1}}
SPLIT = {"m3": SRAM + 0x3000, "m4": SRAM + 0x1_C000, "m7": SRAM + 0x2_0000}
"""On the F446 the second block of the main RAM begins here, on the F767 what is not TCM."""
NEVER, AT_ONCE = 0, 1


@pytest.fixture(scope="module", autouse=True)
def _memory() -> Iterator[None]:
    with freed_memory_kept():
        yield


@dataclass
class After:
    """What can be seen of a run."""

    translated: int
    state: list[object]


def program(kind: str, body: list[int]) -> bytes:
    """A loop over the rows."""
    masks = 0x8800 if kind == "m3" else 0x8C00
    setup = [] if kind == "m3" else store(CPACR, 0xF << 20)
    begin = [0xBC01, 0xF380, masks, 0xE8BD, 0x5FFF]
    end = [0xE92D, 0x5FFF, 0xF3EF, 0x8000, 0xB401, 0xB00F, 0x4668, *constant(1, TABLE + 4 * ROWS * ROW_WORDS), 0x4288]
    loop = [*begin, *body, *end]
    code = [*setup, *loop, 0xD100 | (-len(loop) - 2) & 0xFF, 0xE7FE]
    return elf([(FLASH, struct.pack("<2I", TABLE, CODE | 1)), (CODE, struct.pack(f"<{len(code)}H", *code))], CODE | 1)


def board(kind: str) -> Machine:
    """A board with that core, on which time is remembered."""
    machine = Machine(TRANSLATED[kind])
    for key, value in SETTINGS.get(kind, {}).items():
        machine.set(key, value)
    return machine


def execute(kind: str, content: bytes, rows: Sequence[Sequence[int]], after: int, *, faults: bool) -> After:
    """All rows, translated after so many executions."""
    machine = board(kind)
    machine.translate_after(after)
    machine.load(content, "rows.elf")
    machine.write(TABLE, b"".join(struct.pack(f"<{ROW_WORDS}I", *row) for row in rows))
    machine.write(SPLIT[kind] - 0x200, bytes(range(256)) * 4)
    for ident, watched in enumerate((SPLIT[kind] - 8, SPLIT[kind] + 4)):
        machine.watch_write(watched, ident, False)
    machine.run(20_000)
    registers = machine.registers(0)
    if not faults:
        assert registers["sp"] == TABLE + 4 * ROWS * ROW_WORDS, "all rows were executed"
    memory = machine.read(TABLE, 4 * ROWS * ROW_WORDS), machine.read(SPLIT[kind] - 0x200, 0x400)
    state = [machine.cycle(), machine.stats(), registers, machine.take_events(), *memory]
    return After(machine.native_trace_count(), state)


def assert_engines_agree(kind: str, body: list[int], rows: Sequence[Sequence[int]], *, faults: bool = False) -> int:
    """Both ways; how many loops were executed as code of the host."""
    content = program(kind, body)
    never, at_once = (execute(kind, content, rows, after, faults=faults) for after in (NEVER, AT_ONCE))
    assert never.translated == 0
    assert at_once.state == never.state, [hex(half) for half in body]
    return at_once.translated


def anything(rng: random.Random) -> list[list[int]]:
    """Rows of corner values and random ones."""
    return [[flags(rng), *(word(rng) for _ in range(ROW_WORDS - 1))] for _ in range(ROWS)]


def on_each_core(rows: list[Encoding]) -> list[object]:
    """Each on a core that has it and whose traces are translated."""
    kinds = [[kind for kind in row.cores.split() if kind in TRANSLATED] for row in rows]
    chosen = [(item[index % len(item)], row) for index, (item, row) in enumerate(zip(kinds, rows, strict=True)) if item]
    return [pytest.param(kind, row, id=f"{row.name}-{kind}") for kind, row in chosen]


@pytest.mark.parametrize(("kind", "row"), on_each_core([*DATA_PROCESSING, *FLOATING_POINT]))
def test_encodings(kind: str, row: Encoding) -> None:
    """Fields, operands and flags at random, in and outside an IT block."""
    rng = random.Random(f"translated {row.name}")
    for _ in range(6 * SEEDS):
        body = row.draw(rng)
        assert assert_engines_agree(kind, body, anything(rng)) > ROWS / 2
    assert_engines_agree(kind, [0xBF08 | rng.randrange(14) << 4, *row.draw(rng)], anything(rng))


@pytest.mark.parametrize("kind", TRANSLATED)
def test_instructions_in_sequence(kind: str) -> None:
    """Four data processing instructions: flags that the next one reads or writes, results that it reads."""
    rng = random.Random(f"translated sequences {kind}")
    carry = [row for row in DATA_PROCESSING if row.name.split()[0] in {"adc", "sbc", "add", "sub", "mov", "rsb"}]
    known = [row for row in DATA_PROCESSING if kind in row.cores.split()]
    for number in range(60 * SEEDS):
        chosen = [rng.choice(carry if number % 2 else known) for _ in range(4)]
        body = [half for row in chosen for half in row.draw(rng)]
        assert_engines_agree(kind, body, anything(rng))


SETTERS = (
    0x1840,
    0x1A40,
    0x4008,
    0x0048,
    0x0848,
    0x1048,
    0x4288,
    0x42C8,
    0x4208,
    0x0008,
    0x4148,
    0x4188,
    0x4248,
    0x4348,
)
"""Of r0 by r1: ADDS, SUBS, ANDS, LSLS, LSRS, ASRS, CMP, CMN, TST, MOVS, ADCS, SBCS, RSBS, MULS."""


@pytest.mark.parametrize("condition", range(14))
def test_conditional_branches(condition: int) -> None:
    """Behind everything that sets flags: over one instruction or not."""
    rng = random.Random(f"translated branch {condition}")
    for kind in TRANSLATED:
        for setter in SETTERS:
            assert assert_engines_agree(kind, [setter, 0xD000 | condition << 8, 0x3201], anything(rng)) > ROWS / 2, hex(
                setter
            )


def narrow() -> list[list[int]]:
    """16-bit data processing: a sample of each operation with low registers, and those with high ones."""
    rng = random.Random("narrow")
    shifts = [op << 11 | rng.getrandbits(11) for op in (0, 1, 2) for _ in range(4)]
    sums = [0x1800 | rng.getrandbits(11) for _ in range(8)]
    constants = [0x2000 | op << 11 | rng.getrandbits(11) for op in range(4) for _ in range(2)]
    registers = [0x4000 | op << 6 | rng.getrandbits(6) for op in range(16) for _ in range(2)]
    # Those of high registers, one of them one.
    high = [op | 0x80 | rng.getrandbits(6) for op in (0x4400, 0x4500, 0x4600) for _ in range(4)]
    extends = [0xB200 | rng.getrandbits(8) for _ in range(4)]
    reverses = [0xBA00 | op << 6 | rng.getrandbits(6) for op in (0, 1, 3)]
    # Neither SP nor PC.
    high = [half for half in high if (half >> 4 & 8 | half & 7) < 13 and half >> 3 & 15 < 13]
    return [[half] for half in (*shifts, *sums, *constants, *registers, *high, *extends, *reverses)]


@pytest.mark.parametrize("kind", TRANSLATED)
def test_narrow_encodings(kind: str) -> None:
    """16-bit instructions."""
    rng = random.Random(f"translated narrow {kind}")
    for body in narrow():
        assert assert_engines_agree(kind, body, anything(rng)) > ROWS / 2, [hex(half) for half in body]


BASE, INDEX = 1, 2


def rows_near(rng: random.Random, near: int, step: int, unaligned: float = 0.0) -> list[list[int]]:
    """Rows whose base is near an address, a multiple of the step but for a share of them, and whose index is small."""
    rows = anything(rng)
    for row in rows:
        offset = step * rng.randrange(-8, 8) + (rng.randrange(4) if rng.random() < unaligned else 0)
        row[1 + BASE], row[1 + INDEX] = near + offset, rng.randrange(4) * (1 if rng.random() < unaligned else step)
    return rows


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ACCESSES)
def test_accesses(name: str, form: str) -> None:
    """Loads and stores around the border of two blocks of RAM, at any alignment; loads of flash."""
    rng = random.Random(f"translated {name} {form}")
    step = {"b": 1, "h": 2}.get(name[-1], 4)
    row = _row(name, form)
    for kind in TRANSLATED:
        places = [SPLIT[kind], SPLIT[kind] - 0x80, *([FLASH + 0x100] if name.startswith("ldr") else [])]
        for near in places:
            body = row.draw(rng, n=BASE, m=INDEX, t=rng.choice((0, 3, 7, 12)), i=step * rng.randrange(16))
            assert assert_engines_agree(kind, body, rows_near(rng, near, step, 0.1)) > ROWS / 4, (
                near,
                [hex(half) for half in body],
            )


DOUBLES = [
    Encoding(f"{name} {form}", f"1110100{p}v1{w}{load}nnnn ttttaaaaiiiiiiii", holds=lambda f: f["t"] != f["a"])
    for name, load in (("strd", 0), ("ldrd", 1))
    for form, p, w in (("offset", 1, 0), ("pre-indexed", 1, 1), ("post-indexed", 0, 1))
]
MULTIPLES = [
    Encoding(
        f"{name}{way}{'!' if w else ''}",
        f"1110100{'10' if way == 'db' else '01'}0{w}{load}nnnn 0i0iiiiiiiiiiiii",
        holds=lambda f: f["i"].bit_count() >= 2,
    )
    for name, load in (("stm", 0), ("ldm", 1))
    for way in ("ia", "db")
    for w in (0, 1)
]


@pytest.mark.parametrize("row", [*DOUBLES, *MULTIPLES], ids=lambda row: row.name)
def test_several_words(row: Encoding) -> None:
    """LDRD, STRD, LDM, STM around the border of two blocks of RAM."""
    rng = random.Random(f"translated {row.name}")
    for kind in TRANSLATED:
        for near in (SPLIT[kind], SPLIT[kind] - 0x80, SPLIT[kind] + 0x80):
            if "d " in row.name:
                fixed = {"t": 0, "a": rng.choice((3, 5)), "i": rng.randrange(8)}
            else:
                mask = rng.getrandbits(14)
                fixed = {"i": (mask | 0x21) & ~(1 << BASE)}
            body = row.draw(rng, n=BASE, **fixed)
            assert assert_engines_agree(kind, body, rows_near(rng, near, 4)) > ROWS / 4, [hex(half) for half in body]


ENDS = [[0x680B], [0x880B], [0xE9D1, 0x3400], [0xC938], [0x600B], [0xE9C1, 0x3400], [0xC138]]
# Two words 64 bytes apart by one base, the first one or the second first.
ENDS += [[0x680B, 0x6C0C], [0x6C0C, 0x680B], [0x600B, 0x640C], [0x640C, 0x600B]]


@pytest.mark.parametrize("body", ENDS)
def test_accesses_at_the_end_of_ram(body: list[int]) -> None:
    """Behind it there is a fault, and nothing of the host."""
    rng = random.Random("translated end")
    for kind, end in (("m3", SRAM + 0x5000), ("m4", SRAM + 0x2_0000)):
        rows = rows_near(rng, end - 0x80, 4)
        assert assert_engines_agree(kind, body, rows) > ROWS / 2
        for behind in (end - 4, end, end + 4, SRAM - 4):
            rows[-1][1 + BASE] = behind
            assert_engines_agree(kind, body, rows, faults=True)


def test_float_accesses() -> None:
    """VLDR, VSTR and moves of S registers: what they left is stored and compared."""
    rng = random.Random("translated floats")
    bodies = [
        [0xED00 | v << 7 | d << 6 | load << 4 | BASE, s << 12 | 0xA00 | rng.randrange(16)]
        for v in (0, 1)
        for d in (0, 1)
        for load in (0, 1)
        for s in (0, 9)
    ]
    bodies += [[0xEE00 | to_core << 4 | rng.randrange(16), 0x3A10 | n << 7] for to_core in (0, 1) for n in (0, 1)]
    for body in bodies:
        content = [0xEE00, 0x2A10 | rng.randrange(2) << 7, *body, 0xEC81, 0x0A20]
        for near in (SPLIT["m4"], SPLIT["m4"] - 0x90, SPLIT["m4"] + 0x90):
            rows = rows_near(rng, near, 4)
            for row in rows:
                row[1 + 2] = rng.choice(SINGLES)
            assert_engines_agree("m4", content, rows)
