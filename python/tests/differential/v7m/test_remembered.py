"""Timing that is remembered is the timing: random loops take the same cycles with the profile on, where nothing is.

The loops have conditional branches, IT blocks, divisions, calls, stack, literals and tables in flash, and an interrupt
every few hundred cycles; the board stops and goes on at random cycles.
"""

from __future__ import annotations

import os
import random
import struct

import pytest

from rtoslab._sim import Machine
from tests.differential.engines import elf
from tests.differential.v7m.test_programs import BASE, INDEX, Writer

FLASH, SRAM = 0x0800_0000, 0x2000_0000
CODE, HANDLER, DATA, STACK = FLASH + 0x400, FLASH + 0x200, SRAM + 0x1000, SRAM + 0x4000
TICKS = SRAM + 0x800
SYSTICK_VECTOR = 15
CYCLES = 60_000
PROGRAMS = 12 * int(os.environ.get("RTOSLAB_SEEDS", "1"))
CHIPS = {
    "stm32f103": ("m3", ({}, {"flash.wait_states": 2}, {"flash.wait_states": 1, "flash.prefetch": 0})),
    "stm32f446": (
        "m4",
        (
            {},
            {"flash.wait_states": 5, "flash.prefetch": 1, "flash.icache": 1, "flash.dcache": 1},
            {"flash.wait_states": 3, "flash.icache": 1},
            {"flash.wait_states": 5, "flash.prefetch": 1},
        ),
    ),
}


def constant(register: int, value: int) -> list[int]:
    """MOVW and MOVT."""
    halves = []
    for opcode, half in ((0xF240, value & 0xFFFF), (0xF2C0, value >> 16)):
        halves += [opcode | half >> 12 | (half >> 11 & 1) << 10, (half >> 8 & 7) << 12 | register << 8 | half & 0xFF]
    return halves


def store(address: int, value: int) -> list[int]:
    return [*constant(0, address), *constant(1, value), 0x6001]


class Loop(Writer):
    """An endless loop of what the writer makes, and of what only a loop in flash has."""

    def plain(self) -> list[int]:
        rng = self.rng
        match rng.randrange(12):
            case 0:
                low = rng.sample(range(6), 3)
                return [rng.choice((0xFB90, 0xFBB0)) | low[0], 0xF0F0 | low[1] << 8 | low[2]]
            case 1:
                return [0xF85F, self._free() << 12 | rng.randrange(64)]  # ldr.w rt, [pc, #-n]
            case 2:
                # A table in flash: r4 = word r5 & 15 of the code.
                return [0xF005, 0x050F, 0x00AD, *constant(4, CODE), 0x5964]
        return super().plain()

    def loop(self, length: int) -> list[int]:
        """Ends with a branch to its start; inner loops of their own."""
        body: list[int] = []
        while len(body) < length:
            inner = self.program(self.rng.randrange(8, 30))
            if self.rng.getrandbits(1):
                # r11 rounds; in between it is on the stack.
                kept = [0xF84D, 0xBD04, *inner, 0xF85D, 0xBB04]
                again = [0xF1BB, 0x0B01, *wide_branch_ne(-(len(kept) + 4))]
                body += [0xF04F, 0x0B00 | self.rng.randint(1, 6), *kept, *again]
            else:
                body += inner
        return [*body, *wide_branch(-(len(body) + 2))]


def wide_branch(halfwords: int) -> list[int]:
    """B.W by a number of halfwords from behind the two of the instruction."""
    offset = halfwords & 0xFF_FFFF
    sign = offset >> 23 & 1
    j1, j2 = (offset >> 22 & 1 ^ sign ^ 1), (offset >> 21 & 1 ^ sign ^ 1)
    return [0xF000 | sign << 10 | offset >> 11 & 0x3FF, 0x9000 | j1 << 13 | j2 << 11 | offset & 0x7FF]


def wide_branch_ne(halfwords: int) -> list[int]:
    """BNE.W, likewise."""
    offset = halfwords & 0xF_FFFF
    sign = offset >> 19 & 1
    return [
        0xF040 | sign << 10 | offset >> 11 & 0x3F,
        0x8000 | (offset >> 17 & 1) << 13 | (offset >> 18 & 1) << 11 | offset & 0x7FF,
    ]


def image(kind: str, rng: random.Random) -> bytes:
    """A vector table, a tick handler, the set-up and the loop."""
    setup = [
        *store(0xE000_E014, rng.randrange(300, 4000)),
        *store(0xE000_E018, 0),
        *(store(0xE000_ED88, 0xF << 20) if kind == "m4" else []),
        0xF3BF, 0x8F4F, 0xF3BF, 0x8F6F,
        *constant(BASE, DATA + 0x200),
        *constant(INDEX, 4 * rng.randrange(64)),
        *store(0xE000_E010, 7),
    ]  # fmt: skip
    handler = [*constant(0, TICKS), 0x6801, 0x3101, 0x6001, 0x4770]
    loop = Loop(kind, rng).loop(rng.randrange(100, 900))
    vectors = [STACK, CODE | 1, *(HANDLER | 1 for _ in range(SYSTICK_VECTOR - 1))]
    parts = [
        (FLASH, struct.pack(f"<{len(vectors)}I", *vectors)),
        (HANDLER, struct.pack(f"<{len(handler)}H", *handler)),
        (CODE, struct.pack(f"<{len(setup + loop)}H", *setup, *loop)),
    ]
    return elf(parts, CODE | 1)


def run(chip: str, settings: dict[str, int], content: bytes, pauses: list[int], *, profile: bool) -> dict[str, object]:
    machine = Machine(chip)
    for key, value in settings.items():
        machine.set(key, value)
    machine.load(content, "loop.elf")
    machine.profile(profile)
    for pause in pauses:
        machine.run(pause)
    return {
        "cycle": machine.cycle(),
        "stats": machine.stats(),
        "registers": machine.registers(0),
        "memory": machine.read(SRAM, 0x4000),
    }


@pytest.mark.parametrize("chip", CHIPS)
def test_the_same_cycles_as_without_memory(chip: str) -> None:
    """Cycle, waits, registers and memory after random pauses; ticks were counted."""
    kind, variants = CHIPS[chip]
    for number in range(PROGRAMS):
        rng = random.Random(f"{chip} {number}")
        content = image(kind, rng)
        settings = rng.choice(variants)
        pauses = [CYCLES, *(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        remembered = run(chip, settings, content, pauses, profile=False)
        anew = run(chip, settings, content, pauses, profile=True)
        ticks = struct.unpack_from("<I", anew["memory"], TICKS - SRAM)[0]  # type: ignore[arg-type]
        assert ticks > 5, (chip, number)
        for what, value in anew.items():
            assert remembered[what] == value, (chip, number, settings, what)
