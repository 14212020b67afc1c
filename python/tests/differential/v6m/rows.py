"""Both cores of a Pico execute one instruction or a few again and again, on rows of registers and flags: translated
never, at once or later.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence

from rtoslab._sim import Machine
from tests.compat.build import boot_block
from tests.differential.engines import SRAM
from tests.differential.v7m.states import word
from tests.timing.bench import NOP, halves
from tests.timing.test_two_cores import Pair

BASE, INDEX = 1, 2
WFI = 0xBF30
FLASH = 0x1000_0000
ROWS, ROW_WORDS, FIRST = 24, 10, 2
"""Each row has two words, whose sum sets the flags, and r0 to r7; what becomes of them takes its place."""
SUMMANDS = (
    (0, 0), (1, 1), (1 << 31, 1 << 31), (0xFFFF_FFFF, 1), (0x7FFF_FFFF, 1), (1 << 31, 0xFFFF_FFFF),
    (0xFFFF_FFFF, 0xFFFF_FFFF), (1 << 31, 0),
)  # fmt: skip
AFTER = (1, 5)
"""Executions of a block before it is translated: at once, when only its own way was decoded; when others were, too."""
ROUNDS = 128
"""Of a loop before the rows."""
APART = 48
"""Instructions from row to row: where the cores meet in words, so much between them is worth remembering."""
CODES = (SRAM + 0x5000, SRAM + 0x6000)
TABLES = (SRAM + 0x1_0000, SRAM + 0x1_1004)
"""In steps of 40 bytes, the cores' words are in different banks, and sometimes not."""
DATA, FUNCTION, SCRATCH = SRAM + 0x1_8000, SRAM + 0x1_A000, SRAM + 0x4_0000
CONSTANTS = FLASH + 0x400
HIGH = {"r10": 0, "r11": 1, "r12": 0x8765_4321}
WATCHED = (DATA + 0x200, DATA + 0x20C, SCRATCH + 0x80C)
CYCLES = 12_000
MEMORY = range(0x1_0000, 0x4_2000)
"""Offsets of what is compared: what a row writes elsewhere is code."""
Table = list[list[int]]


def loop(body: Sequence[int]) -> list[int]:
    """Over the rows: SP goes from one to the next, r9 is behind the last. No instruction of it is timed apart."""
    # pop {r0, r1}; adds r0, r0, r1; pop {r0-r7}; ...; push {r0-r7}
    item = [0xBC03, 0x1840, 0xBCFF, *body, 0xB4FF]
    # r0 = the flags: mov r0, r10; four times add r0, r0; b<cond>; add r0, r11. Then sub sp, #8; str r0; add sp, #40.
    item += [0x4650, *(half for condition in (5, 1, 3, 7) for half in (0x4400, 0xD000 | condition << 8, 0x4458))]
    item += [0xB082, 0x9000, 0xB00A, *[NOP] * APART, 0x4668, 0x4548]  # mov r0, sp; cmp r0, r9; beq over the branch back
    # Some rounds of a loop (movs r0; subs r0, #1; bne), so that nobody backs off.
    return [0x2000 | ROUNDS, 0x3801, 0xD1FD, *item, 0xD000, 0xE000 | (-len(item) - 3) & 0x7FF, WFI]


def anything(rng: random.Random) -> Table:
    """Rows of corner values and random ones."""
    return [[*rng.choice(SUMMANDS), *(word(rng) for _ in range(ROW_WORDS - FIRST))] for _ in range(ROWS)]


def rows_near(rng: random.Random, near: int, step: int, *, base: int = BASE, index: int = INDEX) -> Table:
    """Rows whose base is near an address, by a multiple of the step, and whose index is small."""
    rows = anything(rng)
    for row in rows:
        row[FIRST + base], row[FIRST + index] = near + step * rng.randrange(-8, 8), step * rng.randrange(4)
    return rows


class Rows:
    """A board that stands where both cores are about to begin, and whatever is executed on it."""

    def __init__(self, *, watched: Iterable[int] = WATCHED, profile: bool = False) -> None:
        function = halves(0x3301, 0x4770)  # adds r3, #1; bx lr
        constants = function.rjust(0x84, b"\x93") + bytes(range(0x80, 0x100))
        boot = (FLASH, boot_block() + struct.pack("<2I", SRAM + 0xA000, SRAM | 1))
        self.machine: Machine = Pair([NOP], [NOP], boot, (CONSTANTS, constants)).machine
        self.machine.write(DATA - 0x200, bytes(range(256)) * 4)
        for place in (FUNCTION, SCRATCH + 0x100):
            self.machine.write(place, function)
        for ident, address in enumerate(watched):
            self.machine.watch_write(address, ident, False)
        self.machine.profile(profile)
        self.profiles = profile
        self.begin = self.machine.snapshot()

    def execute(self, body: Sequence[int], rows: Sequence[Table], after: int) -> tuple[int, list[object]]:
        """How many blocks were translations, and what can be seen."""
        machine = self.machine
        machine.restore(self.begin)
        machine.translate_after(after)
        before = machine.native_trace_count()
        for core, (code, table) in enumerate(zip(CODES, TABLES, strict=True)):
            machine.write(code, halves(*loop(body)))
            machine.write(table, b"".join(struct.pack(f"<{ROW_WORDS}I", *row) for row in rows[core]))
            for name, value in {
                "pc": code,
                "sp": table,
                "r8": 5 + core,
                **HIGH,
                "r9": table + 4 * ROWS * ROW_WORDS,
            }.items():
                machine.set_register(core, name, value)
        stop = machine.run(CYCLES)
        memory = machine.read(SRAM + MEMORY.start, len(MEMORY))
        registers = [machine.registers(core) for core in (0, 1)]
        profiles = [machine.take_profile(core) for core in (0, 1)] if self.profiles else []
        seen = [stop, machine.cycle(), machine.stats(), *registers, machine.take_events(), *profiles, memory]
        return machine.native_trace_count() - before, seen

    def assert_engines_agree(self, body: Sequence[int], rows: Sequence[Table], *, faults: bool = False) -> int:
        """All ways to execute it; how many blocks of rows, and between them, were translations at least."""
        none, never = self.execute(body, rows, 0)
        assert none == 0
        least = len(rows) * ROWS
        for after in AFTER:
            translated, seen = self.execute(body, rows, after)
            if translated <= ROWS + 2 * ROUNDS:
                # Once it was judged that too much is new, all goes on without memory for long.
                self.machine = self.begin.open()
                self.machine.profile(self.profiles)
                translated, seen = self.execute(body, rows, after)
            least = min(least, translated - 2 * ROUNDS)
            for first, second in zip(seen, never, strict=True):
                assert first == second, ([hex(half) for half in body], after)
        if not faults:
            ends = [registers["sp"] for registers in never[3:5]]  # type: ignore[index]
            assert ends == [table + 4 * ROWS * ROW_WORDS for table in TABLES], "all rows were executed"
        return least
