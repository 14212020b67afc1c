"""The interleaving of two cores that is remembered is the interleaving: random loops on both take the same cycles, and
do the same, in slices that are too short for anything to be remembered.

The loops are those of `test_timing_cache`, in flash behind the cache, in striped and in unstriped SRAM; data and stacks
too. Both cores read and write some of the same words, are interrupted by their SysTick, and some run into what ends
remembering for a while (SIO, code that is overwritten, masked interrupts, calls from flash into RAM); the board stops
and goes on at random cycles. Every other program is also looked at: probes on its code, watched words, the profile.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rtoslab._sim import Machine
from tests.compat.build import boot_block
from tests.differential.engines import SRAM
from tests.differential.test_programs import BASE, INDEX
from tests.differential.v6m.looks import Look, advance, hits, watch
from tests.differential.v6m.test_timing_cache import BX_LR, CPSID, UNITS, Loop, constant, from_high, store
from tests.timing.bench import NOP, SCS, SIO, SYST_CSR, VTOR, halves
from tests.timing.test_two_cores import Pair

FLASH = 0x1000_0000
SCRATCH, SCRATCH_BYTES = SRAM + 0x4_0000, 0x1000
VECTORS = SRAM + 0xC000
HANDLERS = SRAM + 0xC400
TICKS, QUICK, SHARED = SRAM + 0xC600, SRAM + 0xC700, SRAM + 0xC800
SYSTICK_VECTOR = 15
DSB, TWO_NOPS = 0x8F4F_F3BF, 0xBF00_BF00
CYCLES = 40_000
HITS = 1000
"""Fewer say that memory was hardly asked."""
SLICE = 600
"""Cycles of a run in which nothing is remembered: an event, and the end of the run is one, is near all the time."""
PROGRAMS = 32 * int(os.environ.get("RTOSLAB_SEEDS", "1"))


def shared_word(loop: Loop) -> list[int]:
    """A word that both cores read and write."""
    return [from_high(4, 10), loop.rng.choice((0x6000, 0x6800)) | loop.rng.randrange(8) << 6 | 4 << 3 | 5]


def rewritten(loop: Loop) -> list[int]:
    """The first word of the function in RAM: DSB or two NOPs, which take other times."""
    word = loop.rng.choice((DSB, TWO_NOPS))
    return [from_high(4, 9), 0x3C01, *constant(5, word), 0x6025]  # subs r4, #1; str r5, [r4]


def lock_word(number: int, load: bool) -> int:
    """LDR or STR r5 of spinlock `number` by r4, which `locks` gives."""
    return (0x6800 if load else 0x6000) | number << 6 | 4 << 3 | 5


LOCKS = [from_high(4, 11), 0x2501, 0x022D, 0x1964]
"""r4 = SIO + 0x100, the first spinlock; r5 is lost."""


def lock_section(loop: Loop) -> list[int]:
    """Waits for a lock, does something, often with a word of both cores, and releases it. The wait's loop may have more
    instructions than load, comparison and branch: then no two of its rounds are alike, or it is longer."""
    number = loop.rng.choice((0, 0, 0, 1))
    more = loop.rng.choice(([], [], [], [0x3301], [NOP], [0x462B], [0xF3BF, 0x8F5F]))  # adds r3, #1; mov r3, r5; dmb
    wait = [lock_word(number, True), *more, 0x2D00, 0xD000 | -(len(more) + 4) & 0xFF]
    inside = [*loop.singles(12), *(shared_word(loop) if loop.rng.getrandbits(1) else loop.stack())]
    return [*LOCKS, *wait, *inside, *LOCKS, lock_word(number, False)]


def try_lock(loop: Loop) -> list[int]:
    """Reads a lock that nobody waits for, or releases one, whoever has it."""
    load = bool(loop.rng.getrandbits(1))
    return [*LOCKS, lock_word(loop.rng.randrange(2 if load else 0, 4), load)]


def own_port(loop: Loop) -> list[int]:
    """CPUID, the locks' state, or the divider: dividend, divisor, quotient, remainder, CSR."""
    accesses = (0x6825, 0x6DE5, 0x6623, 0x6663, 0x6F25, 0x6F65, 0x6FA5)
    return [from_high(4, 11), *loop.rng.choices(accesses, k=loop.rng.randrange(1, 4))]


def special(loop: Loop) -> list[int]:
    """PRIMASK set and cleared by MSR; PSP, which nobody uses, written and read."""
    masked = [CPSID, *loop.singles(5), 0x2400, 0xF384, 0x8810]  # movs r4, #0; msr primask, r4
    return loop.rng.choice((masked, [0xF385, 0x8809], [0xF3EF, 0x8509]))  # msr psp, r5; mrs r5, psp


def constants(loop: Loop) -> list[int]:
    """LDM of words of the code."""
    return [from_high(4, 8), 0xC800 | 4 << 8 | loop.rng.randrange(1, 1 << 4)]


PLAIN = (
    *(Loop.straight, Loop.skip, Loop.call) * 2,
    *(Loop.stack, Loop.literal, Loop.table, Loop.special, Loop.multiple, Loop.rounds),
)
# What is executed ahead of its time, then with words of both cores, then everything.
ORDERED = (*(lock_section,) * 4, try_lock, own_port, own_port, special, constants)
KINDS = (PLAIN, (*PLAIN, *(shared_word,) * 3), (*UNITS, shared_word, rewritten), (*PLAIN, *ORDERED), (*UNITS, *ORDERED))
# Of short loops: what comes back to the same instructions on both cores, again and again.
SHORT = (*(Loop.straight, Loop.skip) * 2, Loop.stack, Loop.literal, Loop.multiple, Loop.rounds)
KINDS_OF_SHORT = (SHORT, SHORT, (*SHORT, *ORDERED), (Loop.straight, Loop.skip, lock_section, own_port))


def bank(rng: random.Random) -> int:
    """One of the two banks of SRAM that are not striped."""
    return SCRATCH + SCRATCH_BYTES * rng.randrange(2)


def loop(
    rng: random.Random, core: int, units: Sequence[Callable[[Loop], list[int]]], *, short: bool
) -> tuple[int, bytes]:
    """Start and code of one core's loop, with what sets it up: vectors, SysTick, registers."""
    code = rng.choice((FLASH + 0x1000 + 0x1000 * core, SRAM + 0x1_0000 + 0x1000 * core, bank(rng) + 0x680 * core))
    data = rng.choice((SRAM + 0x1_8000, SRAM + 0x1_8000 + 0x1000 * core, bank(rng) + 0xD00))
    stack = rng.choice((SRAM + 0x1_C000 + 0x1000 * core, bank(rng) + 0xF00 + 0x100 * core))
    setup = [*store(VTOR, VECTORS + 0x100 * core)]
    setup += [
        *store(SCS + 0x14, rng.randrange(4000 if short else 700, 8000)),
        *store(SCS + 0x18, 0),
        *store(SYST_CSR, 7),
    ]
    for register, value in enumerate((code, QUICK | 1, SHARED, SIO, SCS + 0x18), 8):
        setup += [*constant(0, value), 0x4680 | register - 8]
    setup += [*constant(0, stack), 0x4685]  # mov sp, r0
    setup += [*constant(BASE, data), *constant(INDEX, 4 * rng.randrange(32))]
    return code, Loop(rng, units).loop(setup, rng.randrange(4, 20) if short else rng.randrange(40, 400))


Units = Sequence[Callable[[Loop], list[int]]]
Program = tuple[list[int], list[tuple[int, bytes]]]
"""Where each core starts, and what is in memory."""


def segments(rng: random.Random, *, short: bool, others: Mapping[int, Units] | None = None) -> Program:
    """Where each core starts, and what is in memory: vectors, tick handlers, a function in RAM, the loops, of which a
    core's may be made of `others` than usual."""
    units = rng.choice(KINDS_OF_SHORT if short else KINDS)
    loops = [loop(rng, core, (others or {}).get(core, units), short=short) for core in (0, 1)]
    parts = [*loops, (QUICK, halves(NOP, NOP, 0x1C40, 0x4041, BX_LR))]
    for core in (0, 1):
        handler = HANDLERS + 0x40 * core
        vectors = [0, *(handler | 1 for _ in range(SYSTICK_VECTOR))]
        parts.append((VECTORS + 0x100 * core, struct.pack("<16I", *vectors)))
        parts.append((handler, halves(*constant(0, TICKS + 4 * core), 0x6801, 0x3101, 0x6001, BX_LR)))
    return [start for start, _ in loops], parts


def board(program: Program, after: int | None = None, rules: Mapping[str, int] | None = None) -> Machine:
    """Both cores stand where they start, under other timing `rules` than usual if there are any; what they execute is
    translated `after` so many times, if that is said."""
    starts, parts = program
    # The image holds what lies in flash, the rest is written once core 1 runs.
    boot = (FLASH, boot_block() + struct.pack("<2I", SRAM + 0xA000, SRAM | 1))
    machine = Pair([NOP], [NOP], boot, *(part for part in parts if part[0] >> 28 == 1)).machine
    if after is not None:
        machine.translate_after(after)
    for key, cycles in (rules or {}).items():
        machine.set(key, cycles)
    for address, content in parts:
        if address >> 28 == 2:
            machine.write(address, content)
    for core, start in enumerate(starts):
        machine.set_register(core, "pc", start)
    return machine


def run(
    program: Program,
    pauses: list[int],
    *,
    look: Look,
    after: int | None = None,
    rules: Mapping[str, int] | None = None,
) -> tuple[int, dict[str, object]]:
    """How many stretches took their time from memory, and what can be seen; translated `after` so many executions, if
    that is said, and how often then."""
    machine = board(program, after, rules)
    watch(machine, look)
    before = machine.timing_cache_counts()
    stops = []
    for pause in pauses:
        on_the_way = advance(machine, pause, look)
        stops.append((on_the_way, machine.cycle(), [machine.registers(core)["pc"] for core in (0, 1)]))
    return hits(machine, before, anew=bool(look.sliced)), {
        "stops": stops,
        "stats": machine.stats(),
        "registers": [machine.registers(core) for core in (0, 1)],
        "memory": machine.read(SRAM, 0x4_2000),
        "events": machine.take_events(),
        "between": machine.between_result(0) if look.probes else None,
        "profile": [machine.take_profile(core) for core in (0, 1)] if look.profile else None,
        **({} if after is None else {"translated": machine.native_trace_count()}),
    }


def addresses(rng: random.Random, program: Program) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of the code of both loops, some of no instruction; of words that they or their handlers write, or nobody."""
    starts, parts = program
    code = [(start, len(dict(parts)[start])) for start in starts]
    probes = [start + 2 * rng.randrange(size // 2) for start, size in code * rng.randrange(1, 6)]
    words = [TICKS, TICKS + 4, *(SHARED + 4 * rng.randrange(8) for _ in range(3))]
    words += [base + 4 * rng.randrange(0x40) for base in (SRAM + 0x1_8000, SRAM + 0x1_9000, SCRATCH + 0xD00)]
    return (*probes, HANDLERS, QUICK, *probes[:1]), tuple(words)


def test_same_cycles_with_and_without_timing_cache() -> None:
    """Cycle and places of every pause, waits, registers and memory at the end, events and profile of those that are
    looked at; both cores' ticks were counted, and memory was made use of."""
    results = []
    for number in range(PROGRAMS):
        rng = random.Random(f"pauses {number}")
        pauses = [CYCLES, *(rng.randint(1, 4_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        # Long loops make most stretches meet in a way that is new, and rewrite each other; short ones come back.
        short = number % 2 == 0
        program = segments(random.Random(f"pair {number}"), short=short)
        look = Look()
        if number // 2 % 2:
            probes, words = addresses(rng, program)
            look = Look(profile=True, probes=probes, words=words, stops=TICKS)
        known, remembered = run(program, pauses, look=look)
        results += [known] * short
        _, anew = run(program, pauses, look=replace(look, sliced=SLICE))
        ticks = struct.unpack_from("<2I", anew["memory"], TICKS - SRAM)  # type: ignore[arg-type]
        assert min(ticks) > 5, (number, ticks)
        for what, value in anew.items():
            assert remembered[what] == value, (number, what)
    # Where both wait for each other's words, or one calls into a memory that is not striped, visits are short.
    assert 4 * sum(result > HITS for result in results) > 3 * len(results), results


def test_core_that_branches_to_itself() -> None:
    """It does so for ever: as many blocks as wanted, each of which ends where it began."""
    for number in range(4):
        (start, other), parts = segments(random.Random(f"itself {number}"), short=True)
        program = ([start, other], [(at, halves(0xE7FE) if at == other else content) for at, content in parts])
        known, remembered = run(program, [CYCLES], look=Look())
        _, anew = run(program, [CYCLES], look=Look(sliced=SLICE))
        assert remembered == anew, number
        assert known > HITS // 2, (number, known)
        assert remembered["stats"]["cores"][1]["instructions"] > CYCLES // 4  # type: ignore[index]
