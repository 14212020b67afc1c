"""Exceptions of both cores while their interleaving is remembered: random loops that raise them take the same cycles,
and do the same, in slices that are too short for anything to be remembered.

Both cores pend PendSV and interrupts of all priorities, one or several at once, masked and not, call the supervisor,
take interrupts from each other's FIFO and from their SysTick. Handlers pend others, so that they nest, chain and arrive
late, and return in all ways, to either stack. Each core also reads what the other one stacks, and changes its vectors.
"""

from __future__ import annotations

import os
import random
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.differential.test_programs import BASE, INDEX
from tests.differential.v6m.looks import Look, advance, hits
from tests.differential.v6m.test_timing_cache import (
    BX_LR,
    CPSID,
    CPSIE,
    Loop,
    constant,
    from_high,
    store,
)
from tests.differential.v6m.test_timing_cache_pairs import (
    CYCLES,
    FLASH,
    HITS,
    SHARED,
    SHORT,
    SLICE,
    TICKS,
    Program,
    bank,
    lock_section,
    own_port,
    run,
    shared_word,
)
from tests.timing.bench import NOP, SCS, SIO, SYST_CSR, VTOR, halves
from tests.timing.test_two_cores import Pair

SRAM = 0x2000_0000
TABLES, HANDLERS, COUNTS = SRAM + 0xC000, SRAM + 0xD000, SRAM + 0xC900
STACKS, PROCESS_STACKS = SRAM + 0x1_D000, SRAM + 0x1_F000
ICSR, ISPR, ICPR = SCS + 0xD04, SCS + 0x200, SCS + 0x280
SVC, PENDSV, SYSTICK, FIFO, FREE = 11, 14, 15, 31, 42
"""Exception numbers; of the FIFO core 0's, and of the first interrupt that no block of the chip raises."""
LINES = range(FREE, FREE + 6)
EXCEPTIONS = (SVC, PENDSV, SYSTICK, FIFO, FIFO + 1, *LINES)
STORE, LOAD = 0x6025, 0x6825  # str r5, [r4]; ldr r5, [r4]
UNMASK = [0x2400, 0xF384, 0x8810]  # movs r4, #0; msr primask, r4
SETTLED = 2 << 16
"""Cycles after which it no longer matters that setting up what loops need ended many short visits."""
EVENT_BYTES, EVENT_CORE = 24, 19
RULES = {
    "timing.exception_entry_cycles": range(14, 18),
    "timing.exception_exit_cycles": range(10, 14),
    "timing.tail_chain_cycles": range(6, 10),
    "timing.late_arrival_cycles": range(9, 13),
    "timing.xip_frames_per_fill": (1, 2),
    "timing.xip_overhead_cycles": range(9, 18),
}
"""Timing rules of exceptions and of misses of the flash cache, which decide what happens in the same cycle."""
PAUSED = (1, 7, SLICE - 1)
"""A pause in every cycle meets every tie of the cores; others meet instructions under way."""
PROGRAMS = 24 * int(os.environ.get("RTOSLAB_SEEDS", "1"))


def bit(number: int) -> list[int]:
    """r5 = 1 << number."""
    return [0x2501, number << 6 | 5 << 3 | 5]


def pend(rng: random.Random) -> list[int]:
    """PendSV or interrupts, all at once; sometimes one is taken back."""
    if rng.getrandbits(1):
        return [from_high(4, 12), *bit(27 if rng.randrange(6) == 0 else 28), STORE]
    register = ICPR if rng.randrange(6) == 0 else ISPR
    return [*constant(4, register), *bit(rng.choice(LINES) - 16), STORE]


def pend_one(loop: Loop) -> list[int]:
    return pend(loop.rng)


def pend_while_masked(loop: Loop) -> list[int]:
    """Several pend before they are let in, by CPSIE or MSR."""
    inside = [half for _ in range(loop.rng.randrange(1, 4)) for half in [*pend(loop.rng), *loop.singles(4)]]
    return [CPSID, *inside, *loop.rng.choice(([CPSIE], UNMASK))]


def supervisor_call(loop: Loop) -> list[int]:
    return [0xDF00 | loop.rng.randrange(256)]


def fifo_word(loop: Loop) -> list[int]:
    """A word into the FIFO to the other core, which is interrupted."""
    return [from_high(4, 11), 0x6565]  # str r5, [r4, #0x54]


def read_other_stack(loop: Loop) -> list[int]:
    """Reads a word of the other core's stacks, where its frames are."""
    base = loop.rng.choice((STACKS, PROCESS_STACKS)) + 0x1000 * loop.rng.randrange(2)
    return [*constant(4, base - 4 * loop.rng.randrange(1, 16)), LOAD]


def change_vector(loop: Loop) -> list[int]:
    """Another handler for one of a core's interrupts, if its table is in RAM."""
    core, number = loop.rng.randrange(2), loop.rng.choice((PENDSV, *LINES))
    handler = handler_at(core, loop.rng.choice((PENDSV, LINES[-1])))
    return [*constant(4, TABLES + 0x100 * core + 4 * number), *constant(5, handler | 1), STORE]


RAISING = (pend_one, pend_one, pend_while_masked, pend_while_masked, supervisor_call)
KINDS = (
    (*SHORT, *RAISING),
    (*SHORT, *RAISING, lock_section, own_port, shared_word),
    (*SHORT, *RAISING, read_other_stack, change_vector, shared_word),
    (Loop.straight, *RAISING, fifo_word, read_other_stack, lock_section),
)


def handler_at(core: int, number: int) -> int:
    return HANDLERS + 0x1000 * core + 0x80 * EXCEPTIONS.index(number)


def handler(rng: random.Random, core: int, number: int) -> bytes:
    """Counts, does this and that, raises less urgent or later ones, returns in some way."""
    code = [*constant(0, COUNTS + 0x40 * core + 4 * EXCEPTIONS.index(number)), 0x6801, 0x3101, 0x6001]
    if number in (FIFO, FIFO + 1):
        # ldr r1, [r0, #0x50]; lsrs r1, r1, #1; bcc; ldr r1, [r0, #0x58]; movs r1, #15; str r1, [r0, #0x50]
        code += [*constant(0, SIO), 0x6D01, 0x0849, 0xD300, 0x6D81, 0x210F, 0x6501]
    later = [line for line in LINES if line > number] if number != PENDSV else []
    if later and rng.getrandbits(1):
        code += [*constant(0, ISPR), 0x2101, (rng.choice(later) - 16) << 6 | 1 << 3 | 1, 0x6001]
    if number != PENDSV and rng.getrandbits(1):
        code += [from_high(0, 12), 0x2101, 28 << 6 | 1 << 3 | 1, 0x6001]
    if rng.getrandbits(1):
        code += [from_high(0, 10), 0x6801 | rng.randrange(8) << 6, 0x3101, 0x6001 | rng.randrange(8) << 6]
    if rng.getrandbits(1):
        code = [CPSID, *code, CPSIE]
    code += [NOP] * rng.randrange(3)
    ways = ([0xB5F0, *code, 0xBDF0], [0xB500, *code, 0xBD00], [*code, BX_LR], [*code, 0x4673, 0x4718])
    return halves(*rng.choice(ways))  # push and pop; bx lr; mov r3, lr and bx r3


def setup(rng: random.Random, core: int, code: int, table: int) -> list[int]:
    """Vectors, priorities, SysTick, registers, stacks, as those of `test_timing_cache_pairs`."""
    priorities = [rng.getrandbits(32) & 0xC0C0_C0C0 for _ in range(5)]
    halfwords = [*store(VTOR, table)]
    for register, value in zip((0xD1C, 0xD20, 0x40C, 0x418, 0x41C), priorities, strict=True):
        halfwords += store(SCS + register, value)
    halfwords += store(SCS + 0x100, 0x3F << (FREE - 16) | 1 << (FIFO - 16 + core))
    halfwords += [*store(SCS + 0x14, rng.randrange(2000, 8000)), *store(SCS + 0x18, 0), *store(SYST_CSR, 7)]
    for register, value in enumerate((code, 0, SHARED, SIO, ICSR), 8):
        halfwords += [*constant(0, value), 0x4680 | register - 8]
    if rng.getrandbits(1):
        stack = rng.choice((PROCESS_STACKS + 0x1000 * core, bank(rng) + 0xE00 + 0x100 * core))
        halfwords += [*constant(0, stack), 0xF380, 0x8809, *constant(0, STACKS + 0x1000 * core), 0x4685]
        halfwords += [0x2002, 0xF380, 0x8814, 0xF3BF, 0x8F6F]  # msr psp, r0; mov sp, r0; msr control, r0; isb
    else:
        halfwords += [*constant(0, STACKS + 0x1000 * core - 4 * rng.randrange(2)), 0x4685]
    return [*halfwords, *constant(BASE, SRAM + 0x1_8000 + 0x1000 * core), *constant(INDEX, 4 * rng.randrange(32))]


def program(rng: random.Random) -> Program:
    """Where each core starts, and what is in memory: vectors, handlers, loops."""
    units: tuple[Callable[[Loop], list[int]], ...] = rng.choice(KINDS)
    starts, parts = [], []
    for core in (0, 1):
        code = rng.choice((FLASH + 0x1000 + 0x1000 * core, SRAM + 0x1_0000 + 0x1000 * core))
        table = rng.choice((TABLES, FLASH + 0x4000)) + 0x100 * core
        vectors = [0] * 48
        for number in EXCEPTIONS:
            vectors[number] = handler_at(core, number) | 1
            parts.append((handler_at(core, number), handler(rng, core, number)))
        parts.append((table, struct.pack("<48I", *vectors)))
        starts.append(code)
        parts.append((code, Loop(rng, units).loop(setup(rng, core, code, table), rng.randrange(4, 40))))
    return starts, parts


def look_at(rng: random.Random, built: Program) -> Look:
    """Probes on both loops and on handlers, where they begin and inside; words of frames and of counts."""
    starts, parts = built
    code = [(start, len(dict(parts)[start])) for start in starts]
    probes = [start + 2 * rng.randrange(size // 2) for start, size in code * 3]
    probes += [handler_at(core, number) + 2 * rng.choice((0, 0, 1, 5)) for core in (0, 1) for number in EXCEPTIONS]
    words = [TICKS, SHARED, SHARED + 12, *(COUNTS + 4 * rng.randrange(32) for _ in range(3))]
    words += [STACKS + 0x1000 * rng.randrange(2) - 4 * rng.randrange(1, 16) for _ in range(rng.randrange(3))]
    return Look(profile=True, probes=tuple(rng.sample(probes, rng.randrange(1, 12))), words=tuple(words), stops=TICKS)


def events_by_core(events: Any) -> list[list[bytes]]:
    """Those of each core: which core's come first in one cycle depends on where a run ends."""
    records = [events[start : start + EVENT_BYTES] for start in range(0, len(events), EVENT_BYTES)]
    return [[record for record in records if record[EVENT_CORE] == core] for core in (0, 1)]


def test_same_cycles_with_and_without_timing_cache() -> None:
    """Cycle and place of every pause, waits, registers and memory at the end, exceptions by number, events and profile
    of those that are looked at; all exceptions happened, and memory was made use of."""
    results, taken = [], Counter[int]()
    for number in range(PROGRAMS):
        rng = random.Random(f"exceptions {number}")
        pauses = [SETTLED, CYCLES, *(rng.randint(1, 4_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        built = program(rng)
        look = look_at(rng, built) if number % 3 == 0 else Look()
        known, remembered = run(built, pauses, look=look)
        results.append(known)
        _, anew = run(built, pauses, look=replace(look, sliced=SLICE))
        for seen in (remembered, anew):
            seen["events"] = events_by_core(seen["events"])
        for what, value in anew.items():
            assert remembered[what] == value, (number, what)
        counts = struct.unpack_from("<32I", anew["memory"], COUNTS - SRAM)  # type: ignore[arg-type]
        taken += Counter({item: counts[at] + counts[16 + at] for at, item in enumerate(EXCEPTIONS)})
    assert min(taken[exception] for exception in EXCEPTIONS) > 10, taken
    # Where both send each other words, or write each other's vectors, visits are short.
    assert 5 * sum(item > HITS for item in results) > 3 * len(results), results


def test_pauses_and_timing_cache_change_no_cycle_with_other_settings() -> None:
    """Under random rules a run with cached timing and runs that pause in every cycle, or in every few, do the same."""
    for number in range(PROGRAMS):
        rng = random.Random(f"rules {number}")
        built = program(rng)
        rules = {key: rng.choice(values) for key, values in RULES.items()}
        runs = [
            run(built, [CYCLES], look=Look(words=(TICKS,), sliced=sliced), rules=rules)[1] for sliced in (0, *PAUSED)
        ]
        for seen in runs:
            seen["events"] = events_by_core(seen["events"])
        expected = runs[0]
        for sliced, paused in zip(PAUSED, runs[1:], strict=True):
            for what, value in paused.items():
                assert expected[what] == value, (number, sliced, rules, what)


def test_exceptions_do_not_invalidate_the_timing_cache() -> None:
    """Two short loops that do hardly anything else stay in it: pended by a store, let in by CPSIE, called."""
    # str r7, [r6]; cpsid; str r0, [r1]; cpsie; nop; svc; adds r3, #1; b
    frequent = [0x6037, CPSID, 0x6008, CPSIE, NOP, 0xDF00, 0x3301, 0xE7F8]
    for first, second in ((frequent, [0x3301, 0xE7FD]), (frequent, frequent)):
        seen, known = [], []
        for sliced in (0, SLICE):
            machine = Pair(first, second, r0=1 << 28, r1=ICSR, r3=0, r6=VTOR, r7=TABLES).machine
            machine.write(HANDLERS, halves(0x3201, BX_LR))  # adds r2, #1; bx lr
            machine.write(HANDLERS + 0x20, halves(0xB510, 0xBD10))  # push {r4, lr}; pop {r4, pc}
            vectors = [HANDLERS + 0x20 * (number == SVC) | 1 for number in range(16)]
            machine.write(TABLES, struct.pack("<16I", *vectors))
            before = machine.timing_cache_counts()
            advance(machine, CYCLES, Look(sliced=sliced))
            known.append(hits(machine, before, anew=bool(sliced)))
            seen.append((machine.stats(), [machine.registers(core) for core in (0, 1)]))
        assert seen[0] == seen[1]
        assert known[0] > CYCLES // 10, known
