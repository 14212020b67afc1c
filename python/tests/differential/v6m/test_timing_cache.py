"""Timing that is remembered is the timing: random loops take the same cycles in slices that are too short for anything
to be remembered, and probes, watched words and the profile tell the same of them.

The loops have conditional branches, inner loops, calls of functions in flash and RAM, stack, multiple transfers,
literals and tables in flash, reads of the running SysTick, accesses to peripherals and to pages that hold code, masked
interrupts, and an interrupt every few hundred cycles; the board stops and goes on at random cycles.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from rtoslab._sim import Machine
from tests.differential.engines import elf
from tests.differential.test_programs import BASE, INDEX, SINGLE, _indexed_access
from tests.differential.v6m.looks import Look, advance, hits, watch

FLASH, SRAM = 0x0800_0000, 0x2000_0000
HANDLER, CODE = FLASH + 0x200, FLASH + 0x400
TICKS, QUICK, DATA, STACK = SRAM + 0x100, SRAM + 0x200, SRAM + 0x1000, SRAM + 0x1C00
SYSTICK_VECTOR = 15
CYCLES = 60_000
HITS = 100
"""Fewer say that memory was hardly asked."""
SLICE = 300
"""Cycles of a run in which nothing is remembered: an event, and the end of the run is one, is near all the time."""
PROGRAMS = 12 * int(os.environ.get("RTOSLAB_SEEDS", "1"))
SETTINGS = (
    {"flash.wait_states": 1, "flash.prefetch": 1},
    {"flash.wait_states": 1, "flash.prefetch": 1, "flash.pre_read": 1},
    {"flash.wait_states": 1, "flash.prefetch": 0, "flash.pre_read": 1},
    {"flash.wait_states": 1, "flash.prefetch": 0},
    {"flash.wait_states": 1, "flash.buffers_off": 1},
)
# What the loop finds in high registers: r8 to r12.
HIGH = (CODE, QUICK | 1, 0x4000_0000, 0x5000_0000, 0xE000_E018)
PLAIN = [item for item in SINGLE if item is not _indexed_access]
CPSID, CPSIE, BX_LR, NOP = 0xB672, 0xB662, 0x4770, 0xBF00


def constant(register: int, value: int) -> list[int]:
    """Byte by byte: MOVS, then LSLS and ADDS three times."""
    top, *rest = value.to_bytes(4, "big")
    halves = [0x2000 | register << 8 | top]
    for byte in rest:
        halves += [0x0200 | register << 3 | register, 0x3000 | register << 8 | byte]
    return halves


def store(address: int, value: int) -> list[int]:
    return [*constant(0, address), *constant(1, value), 0x6001]


def from_high(low: int, high: int) -> int:
    """MOV low, high."""
    return 0x4600 | high << 3 | low


def branch_with_link(halfwords: int) -> list[int]:
    """BL by a number of halfwords from behind it."""
    offset = halfwords & 0xFF_FFFF
    sign = offset >> 23 & 1
    j1, j2 = (offset >> 22 & 1 ^ sign ^ 1), (offset >> 21 & 1 ^ sign ^ 1)
    return [0xF000 | sign << 10 | offset >> 11 & 0x3FF, 0xD000 | j1 << 13 | j2 << 11 | offset & 0x7FF]


class Loop:
    """Functions and, behind them, an endless loop."""

    def __init__(self, rng: random.Random, units: Sequence[Callable[[Loop], list[int]]] | None = None) -> None:
        self.rng = rng
        self.units = units or UNITS
        self.code: list[int] = []
        self.functions: list[int] = []

    def singles(self, most: int) -> list[int]:
        return [self.rng.choice(PLAIN)(self.rng) for _ in range(self.rng.randrange(1, most))]

    def unit(self) -> list[int]:
        """A few halfwords to stand at the end of the code."""
        return self.rng.choice(self.units)(self)

    def straight(self) -> list[int]:
        return [*self.singles(8), _indexed_access(self.rng)]

    def skip(self) -> list[int]:
        skipped = self.singles(6)
        return [0xD000 | self.rng.randrange(14) << 8 | len(skipped) - 1, *skipped]

    def stack(self) -> list[int]:
        mask = self.rng.randrange(1, 1 << BASE)
        return [0xB400 | mask, *self.singles(4), 0xBC00 | mask]

    def literal(self) -> list[int]:
        return [0x4800 | self.rng.randrange(BASE) << 8 | self.rng.randrange(24)]

    def table(self) -> list[int]:
        """A word, halfword or byte of the code, by r5 & 63 words."""
        load = self.rng.choice((0x5800, 0x5A00, 0x5C00, 0x5600, 0x5E00)) | 5 << 6 | 4 << 3 | 4
        return [0x243F, 0x4025, 0x00AD, from_high(4, 8), load]

    def call(self) -> list[int]:
        return branch_with_link(self.rng.choice(self.functions) - len(self.code) - 2) if self.functions else [NOP]

    def call_to_ram(self) -> list[int]:
        return [0x4780 | 9 << 3]

    def systick(self) -> list[int]:
        return [from_high(4, 12), 0x6820 | self.rng.randrange(BASE)]

    def peripheral(self) -> list[int]:
        access = self.rng.choice((0x6000, 0x6800)) | self.rng.choice((0, 4, 6)) << 6 | 4 << 3 | 5
        return [from_high(4, self.rng.choice((10, 11))), access]

    def store_beside_code(self) -> list[int]:
        """Behind the function in RAM, on its page."""
        return [from_high(4, 9), 0x7000 | 31 << 6 | 4 << 3 | self.rng.randrange(BASE)]

    def rewrite(self) -> list[int]:
        """The first instruction of the function in RAM: adds r0, r0, #1 or #2."""
        return [from_high(4, 9), 0x3C01, *constant(5, self.rng.choice((0x1C40, 0x1C80))), 0x8025]

    def masked(self) -> list[int]:
        return [CPSID, *self.singles(5), CPSIE]

    def special(self) -> list[int]:
        """DSB, ISB, MRS; the 32-bit opcodes may straddle words."""
        return self.rng.choice(([0xF3BF, 0x8F4F], [0xF3BF, 0x8F6F], [0xF3EF, 0x8410], [0xF3EF, 0x8400]))

    def multiple(self) -> list[int]:
        """LDMIA or STMIA by r4, which stands in the data."""
        mask = self.rng.randrange(1, 1 << 4)
        return [from_high(4, BASE), self.rng.choice((0xC000, 0xC800)) | 4 << 8 | mask]

    def rounds(self) -> list[int]:
        """An inner loop on r7, whose value is on the stack meanwhile."""
        inner = [half for _ in range(self.rng.randrange(1, 4)) for half in self.singles(8)]
        again = [0x3800 | INDEX << 8 | 1, 0xD100 | -(len(inner) + 3) & 0xFF]
        first = 0x2000 | INDEX << 8 | self.rng.randint(1, 9)
        return [0xB400 | 1 << INDEX, first, *inner, *again, 0xBC00 | 1 << INDEX]

    def extend(self, halfwords: int) -> None:
        end = len(self.code) + halfwords
        while len(self.code) < end:
            self.code += self.unit()

    def function(self) -> None:
        """Calls those before it."""
        start = len(self.code)
        mask = self.rng.randrange(1 << 4)
        if self.rng.getrandbits(1):
            self.code += [0xB500 | mask]
            self.extend(self.rng.randrange(1, 20))
            self.code += [0xBD00 | mask]
        else:
            self.code += [*self.singles(12), BX_LR]
        self.functions.append(start)

    def loop(self, setup: list[int], length: int) -> bytes:
        """Set-up, functions, loop; begins with a branch to the set-up."""
        self.code = [NOP]
        for _ in range(self.rng.randrange(5)):
            self.function()
        self.code[0] = 0xE000 | len(self.code) - 2 & 0x7FF
        self.code += setup
        start = len(self.code)
        self.extend(length)
        self.code.append(0xE000 | start - len(self.code) - 2 & 0x7FF)
        return struct.pack(f"<{len(self.code)}H", *self.code)


UNITS = (
    *(Loop.straight, Loop.skip, Loop.call) * 2,
    *(Loop.stack, Loop.literal, Loop.table, Loop.call_to_ram, Loop.systick, Loop.peripheral),
    *(Loop.store_beside_code, Loop.masked, Loop.special, Loop.multiple, Loop.rounds),
)


def image(rng: random.Random, *, rewrites: bool) -> tuple[int, bytes]:
    """Bytes of the code; a vector table, a tick handler, a function in RAM, the set-up and the loop."""
    setup = [*store(0xE000_E014, rng.randrange(300, 4000)), *store(0xE000_E018, 0), *store(0xE000_E010, 7)]
    for register, value in enumerate(HIGH, 8):
        setup += [*constant(0, value), 0x4680 | register - 8]
    setup += [*constant(BASE, DATA + 0x200), *constant(INDEX, 4 * rng.randrange(64))]
    handler = [*constant(0, TICKS), 0x6801, 0x3101, 0x6001, BX_LR]
    quick = [0x1C40, 0x4041, BX_LR]
    vectors = [STACK, CODE | 1, *(HANDLER | 1 for _ in range(SYSTICK_VECTOR - 1))]
    code = Loop(rng, (*UNITS, Loop.rewrite) if rewrites else UNITS).loop(setup, rng.randrange(60, 800))
    parts = [
        (FLASH, struct.pack(f"<{len(vectors)}I", *vectors)),
        (HANDLER, struct.pack(f"<{len(handler)}H", *handler)),
        (CODE, code),
        (QUICK, struct.pack(f"<{len(quick)}H", *quick)),
    ]
    return len(code), elf(parts, CODE | 1)


def run(
    chip: str, settings: dict[str, int], content: bytes, pauses: list[int], look: Look, after: int | None = None
) -> tuple[int, dict[str, object]]:
    """How many stretches took their time from memory, and what can be seen; translated `after` so many executions, if
    that is said, and how often then."""
    machine = Machine(chip)
    if after is not None:
        machine.translate_after(after)
    for key, value in settings.items():
        machine.set(key, value)
    machine.load(content, "loop.elf")
    watch(machine, look)
    stops = []
    for pause in pauses:
        on_the_way = advance(machine, pause, look)
        stops.append((on_the_way, machine.cycle(), machine.registers(0)["pc"]))
    return hits(machine, (0, 0), anew=bool(look.sliced)), {
        "stops": stops,
        "stats": machine.stats(),
        "registers": machine.registers(0),
        "memory": machine.read(SRAM, 0x1C00),
        "events": machine.take_events(),
        "between": machine.between_result(0) if look.probes else None,
        "profile": machine.take_profile(0) if look.profile else None,
        **({} if after is None else {"translated": machine.native_trace_count()}),
    }


def look_at(rng: random.Random, content: int) -> Look:
    """Probes on some halfwords of the code, instructions or not, and on the tick handler; watched words of data, stack
    and ticks, and one beside the function in RAM."""
    probes = {
        HANDLER + 2 * rng.randrange(8),
        *(CODE + 2 * rng.randrange(content // 2) for _ in range(rng.randrange(40))),
    }
    words = [TICKS, QUICK + 28, *(rng.choice((DATA + 0x200, STACK - 0x80)) + 4 * rng.randrange(32) for _ in range(6))]
    return Look(profile=True, probes=tuple(rng.sample(sorted(probes), len(probes))), words=tuple(words), stops=TICKS)


@pytest.mark.parametrize("chip", ["stm32l053", "stm32l073"])
def test_same_cycles_with_and_without_timing_cache(chip: str) -> None:
    """Cycle and place of every pause, waits, registers and memory at the end, and what the instruments told; ticks were
    counted, and memory was made use of. Where code is overwritten all the time, that is hardly so."""
    result: dict[bool, list[int]] = {False: [], True: []}
    for number in range(PROGRAMS):
        rng = random.Random(f"{chip} {number}")
        rewrites = number % 3 == 2
        length, content = image(rng, rewrites=rewrites)
        settings = SETTINGS[number % len(SETTINGS)]
        pauses = [CYCLES, *(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        for look in (Look(), look_at(rng, length)):
            known, remembered = run(chip, settings, content, pauses, look)
            if not rewrites:
                result[look.profile].append(known)
            _, anew = run(chip, settings, content, pauses, replace(look, sliced=SLICE))
            ticks = struct.unpack_from("<I", anew["memory"], TICKS - SRAM)[0]  # type: ignore[arg-type]
            assert ticks > 5, (chip, number)
            for what, value in anew.items():
                assert remembered[what] == value, (chip, number, settings, look, what)
    assert min(result[False]) > HITS, result
    assert min(result[True]) > HITS, result
