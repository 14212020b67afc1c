"""Paths that code of the host goes on by, traces that it leaves, and what a pipeline with foresight logs on the way.

Random loops as in test_timing_cache.py, translated soon or never; loops that are longer than a cache; stores long ago.
"""

from __future__ import annotations

import random
import struct

import pytest

from tests.differential.engines import elf
from tests.differential.v7m.loops import FLASH, SRAM, image, store, wide_branch
from tests.differential.v7m.test_jit import (
    AT_ONCE,
    BASE,
    CODE,
    INDEX,
    NEVER,
    ROWS,
    SEEDS,
    TABLE,
    TRANSLATED,
    assert_engines_agree,
    board,
    rows_near,
)
from tests.differential.v7m.test_timing_cache import CHIPS, CODE_OFFSET, DATA_OFFSET, Watching, run

PROGRAMS = 6 * SEEDS
LATER = 12
"""Executions before what is rare in a program is translated."""


def flash_image(code: list[int]) -> bytes:
    """An image of code that begins at once."""
    vectors, content = struct.pack("<2I", TABLE, CODE | 1), struct.pack(f"<{len(code)}H", *code)
    return elf([(FLASH, vectors), (CODE, content)], CODE | 1)


@pytest.mark.parametrize("chip", CHIPS)
def test_loops_with_and_without_jit(chip: str) -> None:
    """Cycles, waits, registers, memory and events, with pauses, interrupts, probes and watched words."""
    kind, variants = CHIPS[chip]
    translated, programs = 0, PROGRAMS * (2 if kind == "m7" else 1)
    for number in range(programs):
        rng = random.Random(f"translated {chip} {number}")
        settings, code, data = rng.choice(variants), FLASH + CODE_OFFSET, SRAM + DATA_OFFSET
        if kind == "m7" and not settings.get("icache"):
            # In flash without a cache time is not remembered.
            code = CODE_OFFSET
        content = image(kind, rng, code, data, rng.randrange(1500, 4000))
        pauses = [*(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        probes = tuple(sorted(code + 2 * rng.randrange(400) for _ in range(6))) if number % 2 else ()
        watching = Watching(number % 3 == 0, probes=probes, words=(data + 0x200,) if number % 2 else ())
        never = run(chip, settings, content, pauses, data, watching, translate_after=NEVER)
        # Later, some of what a path goes on to is not translated yet.
        after = LATER if number % 4 > 1 else AT_ONCE
        often = run(chip, settings, content, pauses, data, watching, translate_after=after)
        assert often.state == never.state, (chip, number, settings)
        assert often.profile == never.profile, (chip, number, settings)
        translated += often.translated > 100
    # On the M7 some programs switch branch prediction off, and nothing is executed as code of the host then.
    assert translated >= (programs // 4 if kind == "m7" else programs)


LINES, LINE = 64, 16
"""The F4's instruction cache."""


def calls(rng: random.Random) -> list[int]:
    """An endless loop of loops that call functions, a few of them each; all together take more lines than there are."""
    functions = [[0x3001 | rng.randrange(6) << 8] * (LINE // 2 * rng.randint(3, 6) - 1) + [0x4770] for _ in range(15)]
    starts = [sum(map(len, functions[:n])) for n in range(len(functions))]
    main: list[int] = []
    body = starts[-1] + len(functions[-1])
    for _ in range(12):
        loop: list[int] = []
        for start in rng.sample(starts, rng.randint(2, 4)):
            # Each BL is a B.W with another bit.
            first, second = wide_branch(start - (body + len(main) + 1 + len(loop) + 2))
            loop += [first, second | 0x4000]
        # r7 rounds.
        main += [0x2700 | rng.randint(2, 12), *loop, 0x3F01, 0xD100 | (-len(loop) - 3) & 0xFF]
    return [
        *wide_branch(body),
        *[half for function in functions for half in function],
        *main,
        *wide_branch(-len(main) - 2),
    ]


@pytest.mark.parametrize("kind", sorted(TRANSLATED))
def test_functions_called_from_many_places(kind: str) -> None:
    """Where each return goes is predicted (M7); which line of the F4's cache goes for a new one says when each was used
    last."""
    for number in range(PROGRAMS):
        code = calls(random.Random(f"lines {number}"))
        content = flash_image(code)
        assert 2 * len(code) > LINES * LINE
        seen = []
        for after in (NEVER, LATER, AT_ONCE):
            machine = board(kind)
            if kind == "m4":
                machine.set("flash.wait_states", 5)
                machine.set("flash.icache", 1)
            machine.translate_after(after)
            machine.load(content, "lines.elf")
            for _ in range(4):
                machine.run(50_000)
            seen.append((machine.cycle(), machine.stats(), machine.registers(0)))
        assert machine.native_trace_count() > 1000
        assert seen[0] == seen[1] == seen[2], number


@pytest.mark.parametrize("kind", sorted(TRANSLATED))
def test_path_with_many_exits_is_compiled_once(kind: str) -> None:
    """Stores beside a watched word leave what is translated: each rest of a path is translated once at most, and not
    anew each time it is left."""
    body = [*store(TABLE - 0x40, 1), *[0x6001, 0x3101] * 6]  # str r1, [r0]; adds r1, #1
    machine = board(kind)
    machine.translate_after(2)
    code = [*body, 0xE000 | (-len(body) - 2) & 0x7FF]
    machine.load(flash_image(code), "left.elf")
    machine.watch_write(TABLE - 0x80, 1, False)
    machine.run(400_000)
    assert 0 < machine.translation_count() <= len(code)
    assert machine.native_trace_count() > 1000


def store_then_load(rng: random.Random, ago: int) -> list[int]:
    """A word is stored, others are so often, and it is loaded."""
    # In other places of the table of doublewords that were stored.
    others = [0x6000 | rng.randrange(1, 8) << 7 | BASE << 3 for _ in range(ago - 1)]
    # STR and LDR of r3 and r4, [r1].
    return [0x6003 | BASE << 3, *others, 0x6804 | BASE << 3]


@pytest.mark.parametrize("ago", [1, 5, 6, 7, 8, 9, 15, 16, 17, 18, 19, 32, 40])
def test_words_stored_some_stores_earlier(ago: int) -> None:
    """Also longer ago than matters."""
    rng = random.Random(f"stored {ago}")
    for kind in TRANSLATED:
        rows = rows_near(rng, SRAM + 0x1_0000 if kind == "m7" else SRAM + 0x2800, 8)
        assert assert_engines_agree(kind, store_then_load(rng, ago), rows) > ROWS / 2


@pytest.mark.parametrize("pairs", [2, 5, 7, 8, 9])
def test_many_recently_stored_words(pairs: int) -> None:
    """More than a log has room for."""
    rng = random.Random(f"many stored {pairs}")
    for kind in TRANSLATED:
        for back in (0, 1, 3):
            places = [rng.randrange(8) for _ in range(pairs + back)]
            body: list[int] = []
            for number in range(pairs):
                # STR of r3, LDR of r4, what was stored some pairs before.
                body += [0x6003 | places[number + back] << 6 | BASE << 3, 0x6804 | places[number] << 6 | BASE << 3]
            rows = rows_near(rng, SRAM + 0x1_0000 if kind == "m7" else SRAM + 0x2800, 8)
            assert assert_engines_agree(kind, body, rows) > ROWS / 2


@pytest.mark.parametrize("loads", [6, 9, 10, 11, 12, 16])
def test_recently_stored_word_loaded_often(loads: int) -> None:
    """Each load logs how long ago that was, until the log is full."""
    rng = random.Random(f"loaded {loads}")
    for kind in TRANSLATED:
        rows = rows_near(rng, SRAM + 0x1_0000 if kind == "m7" else SRAM + 0x2800, 8)
        assert assert_engines_agree(kind, [0x6003 | BASE << 3, *[0x6804 | BASE << 3] * loads], rows) > ROWS / 2


def test_words_at_a_changing_base_register() -> None:
    """LDR r3, r4, [r1]; MOV r1, r2; LDR r5, [r1, #4]: at last from another memory."""
    rng = random.Random("changed base")
    for kind in TRANSLATED:
        rows = rows_near(rng, SRAM + 0x1_0000 if kind == "m7" else SRAM + 0x2800, 4)
        for number, row in enumerate(rows):
            row[1 + INDEX] = FLASH + 0x40 if number > ROWS / 2 else row[1 + BASE]
        assert assert_engines_agree(kind, [0x680B, 0x684C, 0x4611, 0x684D], rows) > ROWS / 4


@pytest.mark.parametrize("condition", range(14))
def test_branches_in_it_blocks(condition: int) -> None:
    """IT, B over the next instruction, two ADDS: as the flags say, another way than before."""
    rng = random.Random(f"branch in a block {condition}")
    for kind in TRANSLATED:
        rows = rows_near(rng, SRAM + 0x2800, 8)
        assert assert_engines_agree(kind, [0xBF08 | condition << 4, 0xE000, 0x3201, 0x3301], rows) > ROWS / 4
