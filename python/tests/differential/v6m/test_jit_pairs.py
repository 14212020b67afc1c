"""Two cores whose basic blocks are code of the host do what the interpreter does, in the same time: random loops,
translated never, at once or later; short loops that meet in bytes and words.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

from tests.compat.build import boot_block
from tests.differential.v6m import test_timing_cache_exceptions, test_timing_cache_pairs
from tests.differential.v6m.looks import Look
from tests.differential.v6m.test_timing_cache import constant
from tests.differential.v6m.test_timing_cache_exceptions import events_by_core
from tests.differential.v6m.test_timing_cache_pairs import FLASH, KINDS, KINDS_OF_SHORT, SRAM, Loop, Program, run
from tests.timing.bench import CODE, NOP
from tests.timing.test_two_cores import Pair

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
PROGRAMS = 24 * SEEDS
CYCLES = 40_000
SHARED = SRAM + 0x1_9000
FOLDED = 63 * 4, 64 * 63 * 4 + 256, 64 * 256
"""As far apart are words that have one bit in the logs, of 64."""


def assert_engines_agree(program: Program, pauses: list[int], look: Look, afters: list[int], name: object) -> list[int]:
    """How many blocks were translations, in turn for each number of executions after which they are made."""
    translated = []
    _, never = run(program, pauses, look=look, after=0)
    assert never.pop("translated") == 0
    never["events"] = events_by_core(never["events"])
    for after in afters:
        _, seen = run(program, pauses, look=look, after=after)
        translated.append(int(str(seen.pop("translated"))))
        seen["events"] = events_by_core(seen["events"])
        for what, value in never.items():
            assert seen[what] == value, (name, after, what)
    return translated


def pauses(rng: random.Random, *first: int) -> list[int]:
    return [*first, *(rng.randint(1, 4_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]


def test_loops_of_two_cores_with_and_without_jit() -> None:
    """Those of `test_timing_cache_pairs`: stops, waits, registers, memory; of every other two events and profile."""
    results = []
    for number in range(PROGRAMS):
        rng = random.Random(f"translated pair {number}")
        program = test_timing_cache_pairs.segments(rng, short=number % 4 != 3)
        look = Look()
        if number // 2 % 2:
            probes, words = test_timing_cache_pairs.addresses(rng, program)
            look = Look(profile=True, probes=probes, words=words, stops=test_timing_cache_pairs.TICKS)
        translated = assert_engines_agree(program, pauses(rng, CYCLES), look, [1, rng.randrange(2, 20)], number)
        results += [translated] * (number % 4 != 3)
    assert 3 * sum(min(result) > 1000 for result in results) > 2 * len(results), results


def test_loops_with_exceptions_with_and_without_jit() -> None:
    """Those of `test_timing_cache_exceptions`."""
    results = []
    for number in range(PROGRAMS // 2):
        rng = random.Random(f"translated exceptions {number}")
        program = test_timing_cache_exceptions.program(rng)
        look = test_timing_cache_exceptions.look_at(rng, program) if number % 2 else Look()
        results += assert_engines_agree(
            program, pauses(rng, test_timing_cache_exceptions.SETTLED), look, [1, rng.randrange(2, 20)], number
        )
    assert sum(result > 100 for result in results) > len(results) // 2, results


def set_bus_priority(loop: Loop) -> list[int]:
    """One of the cores comes first on the bus from now on, or neither."""
    return [*constant(4, 0x4003_0000), *constant(5, loop.rng.choice((0, 1, 0x10, 0x11))), 0x6025]  # str r5, [r4]


def flush_cache(loop: Loop) -> list[int]:
    """The cache of the code loses all that it holds; or it is switched off or on."""
    if loop.rng.getrandbits(1):
        return [*constant(4, 0x1400_0000), 0x2501, 0x6065]  # movs r5, #1; str r5, [r4, #4]
    return [*constant(4, 0x1400_0000), 0x2500 | loop.rng.choice((1, 1, 3, 0)), 0x6025]


def seldom(unit: Callable[[Loop], list[int]]) -> Callable[[Loop], list[int]]:
    """Once in 64 times: r12 counts. r4 and r5 are lost."""

    def counted_loop(loop: Loop) -> list[int]:
        inner = unit(loop)
        # movs r4, #1; add r12, r4; mov r4, r12; lsls r4, r4, #26; bne over
        return [0x2401, 0x44A4, 0x4664, 0x06A4, 0xD100 | len(inner) - 1, *inner]

    return counted_loop


def test_loops_that_sometimes_change_bus_or_cache() -> None:
    """Which core comes first; what the cache of the code holds."""
    results = []
    for number in range(PROGRAMS // 2):
        rng = random.Random(f"translated changes {number}")
        units = (*rng.choice((*KINDS[:2], *KINDS_OF_SHORT[:2])), seldom((set_bus_priority, flush_cache)[number % 2]))
        program = test_timing_cache_pairs.segments(rng, short=number % 3 != 0, others={0: units, 1: units})
        results += assert_engines_agree(program, pauses(rng, CYCLES), Look(), [1, rng.randrange(2, 20)], number)
    assert sum(result > 500 for result in results) > len(results) // 2, results


LOADS = {0x6800: 4, 0x8800: 2, 0x7800: 1}
STORES = {0x6000: 4, 0x8000: 2, 0x7000: 1}


FLASH_PARTS = (FLASH, boot_block() + struct.pack("<2I", SRAM + 0xA000, SRAM | 1)), (FLASH + 0x400, bytes(range(16)))
WAITS = [0x271E, 0x3F01, 0xD1FD]
"""movs r7, #30; subs r7, #1; bne."""


def meeting(rng: random.Random) -> list[int]:
    """A loop of loads and stores of all widths of the two words at r6 and others; r2 is a sum of what was loaded, r0
    what is stored. A few NOPs let the cores drift, a loop in it makes it rare that they meet."""
    body: list[int] = []
    for _ in range(rng.randrange(1, 6)):
        opcode, step = rng.choice([*LOADS.items(), *STORES.items()])
        place = rng.randrange(8 // step) << 6
        if opcode in STORES:
            body += [0x3000 | rng.randrange(1, 256, 2), opcode | place | 6 << 3]  # adds r0; str r0, [r6, ...]
            body += rng.choice(([], [], [0x41C0]))  # rors r0, r0
        else:
            body += [opcode | place | 6 << 3 | 1, 0x1852]  # ldr r1, [r6, ...]; adds r2, r2, r1
        # ldm or stm r5!, of two words or three, or over an instruction by what was loaded.
        several = [0x4635, rng.choice((0xC500, 0xCD00, 0xCD00)) | rng.choice((0x3, 0xA, 0xB)), 0x18D2]
        constant_load = [0x6823 | rng.randrange(4) << 6]  # ldr r3, [r4, ...]
        body += rng.choice(([], several, several, constant_load, [0x0849, 0xD300, 0x3301], [NOP] * 6))
    if rng.getrandbits(1):
        body += [0x2700 | rng.randrange(1, 60), 0x3F01, 0xD1FD]  # movs r7; subs r7, #1; bne
    body += [NOP] * rng.randrange(4)
    return [*body, 0xE000 | -(len(body) + 2) & 0x7FF]


def meet(loops: tuple[list[int], list[int]], bases: list[int], after: int) -> tuple[int, dict[str, Any]]:
    """How many blocks were translations, and what is seen."""
    first, second = loops
    machine = Pair(first, second, *FLASH_PARTS, r0=3, r1=0, r2=0, r3=0, r4=FLASH + 0x400).machine
    machine.translate_after(after)
    for core, base in enumerate(bases):
        machine.set_register(core, "r6", base)
    stops = []
    for pause in (CYCLES, 1_001, 777, 12, 7):
        machine.run(pause)
        stops.append([machine.cycle(), *(machine.registers(core) for core in (0, 1))])
    seen = {"stops": stops, "stats": machine.stats(), "memory": machine.read(SHARED - 0x100, 0x5000)}
    return machine.native_trace_count(), seen


def test_bytes_and_words_that_both_cores_access() -> None:
    """Who reads what, and what is left of stores that are undone beside the other core's; of words that are the same,
    neighbours, or have only their bit in common."""
    results = []
    for number in range(200 * SEEDS):
        rng = random.Random(f"meeting {number}")
        loops = meeting(rng), meeting(rng)
        other = rng.choice((0, 0, 4, 8, *FOLDED))
        base = SHARED + 4 * rng.randrange(64)
        bases = [base, base + other] if rng.getrandbits(1) else [base + other, base]
        _, never = meet(loops, bases, 0)
        for after in (1, rng.randrange(2, 600)):
            translated, seen = meet(loops, bases, after)
            results += [translated] * (after == 1)
            assert seen == never, (number, after)
    assert sum(result > 100 for result in results) > len(results) // 2, results


def test_accesses_that_sometimes_collide() -> None:
    """The same instructions access the same words as the other core's in one round and others in the next: their bases
    walk through 16 places of the same bank. What was stored is read later, in a block by itself."""
    results = []
    for number in range(60 * SEEDS):
        rng = random.Random(f"walking {number}")
        loops = []
        for _ in (0, 1):
            # adds r7, #...; lsls r5, r7, #24; lsrs r5, r5, #24; add r5, r9; adds r0, #...; accesses, most of one kind
            body = [0x3700 | rng.randrange(1, 16) << 4, 0x063D, 0x0E2D, 0x444D, 0x3000 | rng.randrange(256)]
            kinds = rng.choice(([*LOADS], [*STORES], [*STORES], [*LOADS, *STORES]))
            for _ in range(rng.randrange(1, 4)):
                body += [NOP] * rng.choice((0, 0, 3, 6))
                opcode = rng.choice(kinds)
                body += [opcode | rng.randrange(4 // (LOADS | STORES)[opcode]) << 6 | 5 << 3 | (opcode in LOADS)]
            # adds r2, r2, r1; movs r6; subs r6, #1; bne; ldr r1, [r5]; adds r2, r2, r1; b
            body += [0x1852, 0x2600 | rng.randrange(1, 12), 0x3E01, 0xD1FD, 0x6829, 0x1852]
            body += [0xE000 | -(len(body) + 2) & 0x7FF]
            loops.append(body)
        seen = []
        for after in (0, 1, 9):
            machine = Pair(loops[0], loops[1], r0=3, r1=0, r2=0, r7=0, r9=SHARED).machine
            machine.translate_after(after)
            stops = []
            for pause in (6_000, *[701 + number] * 10):
                machine.run(pause)
                stops.append(([machine.registers(core) for core in (0, 1)], machine.read(SHARED, 0x100)))
            seen.append((stops, machine.stats()))
        assert seen[1] == seen[0] == seen[2], number
        results.append(machine.native_trace_count())
    assert sum(result > 200 for result in results) > len(results) // 2, results


@pytest.mark.parametrize("width", ["word", "half", "byte"])
def test_literal_that_the_other_core_writes(width: str) -> None:
    """In another page of RAM than code is, or in the same one."""
    for distance in (200, 20):
        # Long after its block has begun: nops; ldr r1, [pc, ...]; adds r2, r2, r1; b
        reads = [0x3001, *WAITS, *[NOP] * 8, 0x4900 | distance, 0x1852, 0xE7F0]
        place = (CODE + 0x118 & ~3) + 4 + 4 * distance
        for wait in range(5, 12):
            store, more = {"word": (0x6020, 0), "half": (0x8020, 2), "byte": (0x7020, 3)}[width]
            writes = [0x3001, *WAITS, store, *[NOP] * wait, 0xE000 | -(wait + 7) & 0x7FF]
            seen, translated = [], 0
            for after in (0, 1):
                machine = Pair(reads, writes, r0=0, r1=0, r2=0, r4=place + more).machine
                machine.translate_after(after)
                machine.run(20_000)
                seen.append((machine.registers(0), machine.registers(1), machine.stats()))
                translated = machine.native_trace_count()
            assert seen[0] == seen[1], (distance, wait)
            assert translated > 10 or distance == 20
