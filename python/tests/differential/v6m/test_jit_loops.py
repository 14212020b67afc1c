"""Loops of one core, with and without JIT compilation, on an L053 and on a Pico."""

from __future__ import annotations

import random
import struct

import pytest

from rtoslab._sim import Machine
from tests.compat.build import boot_block
from tests.differential.engines import elf
from tests.differential.v6m import test_timing_cache, test_timing_cache_pairs
from tests.differential.v6m.looks import Look
from tests.differential.v6m.test_jit import (
    AT_ONCE,
    CHIPS,
    CODE_OFFSET,
    FLASH,
    NEVER,
    SEEDS,
    TABLE,
    machine_with,
)
from tests.differential.v6m.test_timing_cache import BX_LR, NOP, SETTINGS, Loop, constant
from tests.differential.v6m.test_timing_cache_exceptions import events_by_core

PROGRAMS = 12 * SEEDS
WFI = 0xBF30


@pytest.mark.parametrize("chip", CHIPS)
def test_path_with_many_exits_is_compiled_once(chip: str) -> None:
    """Stores to a watched word leave what is translated: each rest of a path is translated once at most, and not anew
    each time it is left."""
    body = [*constant(0, TABLE - 0x40), *[0x6001, 0x3101] * 6]  # str r1, [r0]; adds r1, #1
    code = [*body, 0xE000 | (-len(body) - 2) & 0x7FF]
    machine = machine_with(chip, code)
    machine.translate_after(2)
    machine.watch_write(TABLE - 0x40, 1, False)
    machine.run(400_000)
    assert 0 < machine.translation_count() <= len(code)
    assert machine.native_trace_count() > 1000


def test_loops_of_an_l0_with_and_without_jit() -> None:
    """Cycles, waits, registers, memory, profile and events, with pauses, interrupts, probes, watched words and code
    that is written anew."""
    results = []
    for number in range(PROGRAMS):
        rng = random.Random(f"translated l0 {number}")
        length, content = test_timing_cache.image(rng, rewrites=number % 3 == 2)
        pauses = [20_000, *(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        for look in (Look(), test_timing_cache.look_at(rng, length)):
            settings = SETTINGS[number % len(SETTINGS)]
            run = [test_timing_cache.run("stm32l073", settings, content, pauses, look, after) for after in (0, 1)]
            (_, never), (_, at_once) = run
            assert never.pop("translated") == 0
            results.append(int(str(at_once.pop("translated"))))
            assert at_once == never, (number, settings, look)
    assert sorted(results)[len(results) // 2] > 100, results


@pytest.mark.parametrize(
    "evicting", [(), (0x200,), (0x210,), (0x200, 0x210)], ids=["nothing", "code", "literal", "both"]
)
def test_code_and_literals_that_miss_the_xip_cache(evicting: tuple[int, ...]) -> None:
    """Two functions, each with a literal, are called four times, then others that stand two ways of the cache behind
    the functions or behind their literals: what is translated has gone from the cache then."""
    way, start = 0x2000, FLASH["rp2040"] + CODE_OFFSET
    # ldr r3, [pc, #12]; adds r1; adds r2; bx lr: the literal lies two lines on.
    function = [0x4B03, 0x3101, 0x3201, BX_LR, *[NOP] * 4, 0x1234, 0x5678, NOP, NOP]
    parts = {CODE_OFFSET + way * number + 0x200: function for number in range(2)}
    parts |= {CODE_OFFSET + way * (2 + number) + place: [0x3201, BX_LR] for number, place in enumerate(evicting)}
    called = [*list(parts)[:2] * 4, *list(parts)[2:]]
    calls: list[int] = []
    for place in called:
        calls += test_timing_cache.branch_with_link((place - CODE_OFFSET) // 2 - len(calls) - 2)
    code = [*calls, 0xE000 | (-len(calls) - 2) & 0x7FF]
    seen = []
    for after in (NEVER, AT_ONCE):
        machine = Machine("rp2040", cores=1)
        machine.translate_after(after)
        placed = [(FLASH["rp2040"] + place, struct.pack(f"<{len(body)}H", *body)) for place, body in parts.items()]
        head = (FLASH["rp2040"], boot_block() + struct.pack("<2I", TABLE, start | 1))
        machine.load(elf([head, (start, struct.pack(f"<{len(code)}H", *code)), *placed], start | 1), "ways.elf")
        machine.run(50_000)
        stats = machine.stats()["cores"][0]
        assert (stats["xip_misses"] > 100) == bool(evicting), stats
        assert machine.registers(0)["r3"] == 0x5678_1234
        seen.append((machine.cycle(), stats, machine.registers(0)))
    assert machine.native_trace_count() > 100
    assert seen[0] == seen[1]


@pytest.mark.parametrize("chip", CHIPS)
def test_probes_and_watched_words_added_after_jit_compilation(chip: str) -> None:
    """Each is told of from then on."""
    # movs r0, ...; then over and over: str r1, [r0]; adds r1, #1; adds r2, #1; eors r3, r1
    loop = [0x6001, 0x3101, 0x3201, 0x404B]
    code = [*constant(0, TABLE - 0x400), *loop * 6, 0xE000 | (-len(loop * 6) - 2) & 0x7FF]
    start = FLASH[chip] + CODE_OFFSET
    seen = []
    for after in (NEVER, AT_ONCE):
        machine = machine_with(chip, code)
        machine.translate_after(after)
        machine.run(2_000)
        report = [len(machine.take_events())]
        for ident, place in enumerate((13, 20, 34)):
            machine.watch_exec(start + 2 * place, ident)
            machine.run(1_000)
            report.append(len(machine.take_events()))
        machine.watch_write(TABLE - 0x400, 9, False)
        machine.run(1_000)
        seen.append((report, machine.cycle(), machine.stats(), machine.registers(0), machine.take_events()))
        assert report[0] == 0 < min(report[1:]), report
    assert machine.native_trace_count() > 50
    assert seen[0] == seen[1]


def rests(_: Loop) -> list[int]:
    """Sleeps until the tick."""
    return [WFI, WFI]


def works(loop: Loop) -> list[int]:
    """What the core that sleeps does when it is woken."""
    return loop.straight()


def test_loops_of_one_pico_core_with_and_without_jit() -> None:
    """One core executes while the other one sleeps, and both when that is woken, and the other way round: the same is
    seen."""
    results = []
    for number in range(2 * PROGRAMS):
        rng = random.Random(f"translated pico {number}")
        program = test_timing_cache_pairs.segments(
            rng, short=bool(number % 2), others={number // 2 % 2: (rests, works)}
        )
        pauses = [20_000, *(rng.randint(1, 4_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        probes, words = test_timing_cache_pairs.addresses(rng, program)
        for look in (Look(), Look(profile=True, probes=probes, words=words)):
            runs = [test_timing_cache_pairs.run(program, pauses, look=look, after=after) for after in (0, 1)]
            (_, never), (_, at_once) = runs
            assert never.pop("translated") == 0
            results.append(int(str(at_once.pop("translated"))))
            assert events_by_core(at_once.pop("events")) == events_by_core(never.pop("events")), (number, look)
            assert at_once == never, (number, look)
    assert sorted(results)[len(results) // 4] > 100, results
