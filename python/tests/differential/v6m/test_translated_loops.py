"""Random loops as in test_remembered.py, translated at once or never; code and words that change or are not at hand."""

from __future__ import annotations

import random
import struct

import pytest

from rtoslab._sim import Machine
from tests.compat.build import boot_block
from tests.differential.engines import elf
from tests.differential.v6m import test_remembered, test_remembered_pairs
from tests.differential.v6m.looks import Look
from tests.differential.v6m.test_pairs_exceptions import by_core
from tests.differential.v6m.test_remembered import BX_LR, NOP, SETTINGS, Loop, constant
from tests.differential.v6m.test_translated import (
    AT_ONCE,
    CHIPS,
    CODE_OFFSET,
    FLASH,
    NEVER,
    SEEDS,
    TABLE,
    machine_with,
)

PROGRAMS = 12 * SEEDS
WFI = 0xBF30


@pytest.mark.parametrize("chip", CHIPS)
def test_a_path_that_is_left_again_and_again_is_translated_once(chip: str) -> None:
    """Stores to a watched word leave what is translated: each rest of a path is translated once at most, and not anew
    each time it is left."""
    body = [*constant(0, TABLE - 0x40), *[0x6001, 0x3101] * 6]  # str r1, [r0]; adds r1, #1
    code = [*body, 0xE000 | (-len(body) - 2) & 0x7FF]
    machine = machine_with(chip, code)
    machine.translate_after(2)
    machine.watch_write(TABLE - 0x40, 1, False)
    machine.run(400_000)
    assert 0 < machine.translations() <= len(code)
    assert machine.translated() > 1000


def test_loops_of_an_l0_translated_or_not() -> None:
    """Cycles, waits, registers, memory, profile and events, with pauses, interrupts, probes, watched words and code
    that is written anew."""
    found = []
    for number in range(PROGRAMS):
        rng = random.Random(f"translated l0 {number}")
        length, content = test_remembered.image(rng, rewrites=number % 3 == 2)
        pauses = [20_000, *(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        for look in (Look(), test_remembered.look_at(rng, length)):
            settings = SETTINGS[number % len(SETTINGS)]
            run = [test_remembered.run("stm32l073", settings, content, pauses, look, after) for after in (0, 1)]
            (_, never), (_, at_once) = run
            assert never.pop("translated") == 0
            found.append(int(str(at_once.pop("translated"))))
            assert at_once == never, (number, settings, look)
    assert sorted(found)[len(found) // 2] > 100, found


def test_code_and_literals_that_the_cache_of_a_pico_does_not_hold() -> None:
    """Three functions and their literals, a cache way apart: each is translated, and brought again for each call."""
    way, start = 0x2000, FLASH["rp2040"] + CODE_OFFSET
    # ldr r3, [pc, #n]; adds; adds; bx lr: the literal lies in the next line, and in its last word.
    function = [0x4B00 | 3, 0x3101, 0x3201, BX_LR, *[NOP] * 4, 0x1234, 0x5678, NOP, NOP]
    bodies = {way * number + CODE_OFFSET + 0x200: function for number in range(3)}
    calls: list[int] = []
    for place in bodies:
        calls += test_remembered.branch_with_link((place - CODE_OFFSET) // 2 - len(calls) - 2)
    code = [*calls, 0xE000 | (-len(calls) - 2) & 0x7FF]
    seen = []
    for after in (NEVER, AT_ONCE):
        machine = Machine("rp2040", cores=1)
        machine.translate_after(after)
        parts = [(FLASH["rp2040"] + place, struct.pack(f"<{len(body)}H", *body)) for place, body in bodies.items()]
        head = (FLASH["rp2040"], boot_block() + struct.pack("<2I", TABLE, start | 1))
        machine.load(elf([head, (start, struct.pack(f"<{len(code)}H", *code)), *parts], start | 1), "ways.elf")
        machine.run(50_000)
        stats = machine.stats()["cores"][0]
        assert stats["xip_misses"] > 100, stats
        seen.append((machine.cycle(), stats, machine.registers(0)))
        assert machine.registers(0)["r3"] == 0x5678_1234
    assert machine.translations() > 3
    assert seen[0] == seen[1]


def rests(_: Loop) -> list[int]:
    """Sleeps until the tick."""
    return [WFI, WFI]


def works(loop: Loop) -> list[int]:
    """What the core that sleeps does when it is woken."""
    return loop.straight()


def test_loops_of_one_core_of_a_pico_translated_or_not() -> None:
    """One core executes while the other one sleeps, and both when that is woken, and the other way round: the same is
    seen."""
    found = []
    for number in range(2 * PROGRAMS):
        rng = random.Random(f"translated pico {number}")
        program = test_remembered_pairs.segments(rng, short=bool(number % 2), others={number // 2 % 2: (rests, works)})
        pauses = [20_000, *(rng.randint(1, 4_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        probes, words = test_remembered_pairs.addresses(rng, program)
        for look in (Look(), Look(profile=True, probes=probes, words=words)):
            runs = [test_remembered_pairs.run(program, pauses, look=look, after=after) for after in (0, 1)]
            (_, never), (_, at_once) = runs
            assert never.pop("translated") == 0
            found.append(int(str(at_once.pop("translated"))))
            assert by_core(at_once.pop("events")) == by_core(never.pop("events")), (number, look)
            assert at_once == never, (number, look)
    assert sorted(found)[len(found) // 4] > 100, found
