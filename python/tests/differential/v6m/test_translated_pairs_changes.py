"""Two cores whose basic blocks are code of the host, while something changes: probes, watched words and the profile
come and go, the board is put back or opened as another one, code is written anew or has gone from the cache, places are
more than are remembered, and what a block accesses is not what it was.
"""

from __future__ import annotations

import os
import random
import struct
from dataclasses import dataclass, field
from typing import Any

import pytest

from rtoslab._sim import Machine, Snapshot
from tests.compat.build import boot_block
from tests.differential.v6m.test_pairs_exceptions import by_core
from tests.differential.v6m.test_remembered import BX_LR, CPSIE, Loop, branch_with_link
from tests.differential.v6m.test_remembered_pairs import (
    DSB,
    FLASH,
    QUICK,
    SHORT,
    SRAM,
    TWO_NOPS,
    Program,
    addresses,
    board,
    segments,
    shared,
)
from tests.timing.bench import NOP, halves
from tests.timing.test_two_cores import Pair

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
WFE, WFI, SEV = 0xBF20, 0xBF30, 0xBF40
WAY = 0x2000
"""Bytes of one way of the cache of the code."""


@dataclass
class Session:
    """A board that random things happen to: the same ones for each number of executions that it translates after."""

    machine: Machine
    program: Program
    after: int
    rng: random.Random
    kept: Snapshot | None = None
    profiles: bool = False
    translated: int = 0
    seen: list[Any] = field(default_factory=list)

    def act(self) -> None:
        """Something happens, and the board goes on."""
        self.rng.choice(
            (
                self.look,
                self.watch,
                self.toggle_profile,
                self.keep,
                self.put_back,
                self.open,
                self.overwrite,
                self.go_on,
            )
        )()
        self.go_on()

    def go_on(self) -> None:
        stop = self.machine.run(self.rng.choice((10, 700, 3_000, 9_000)))
        registers = [self.machine.registers(core) for core in (0, 1)]
        events = by_core(self.machine.take_events())
        self.seen.append((stop, self.machine.stats(), registers, events, self.machine.read(SRAM + 0xC000, 0x3_6000)))

    def look(self) -> None:
        probes, _ = addresses(self.rng, self.program)
        for ident, address in enumerate(probes[: self.rng.randrange(3)]):
            self.machine.watch_exec(address, ident)

    def watch(self) -> None:
        _, words = addresses(self.rng, self.program)
        self.machine.watch_write(self.rng.choice(words), 100, False)

    def toggle_profile(self) -> None:
        if self.profiles:
            self.seen.append([self.machine.take_profile(core) for core in (0, 1)])
        self.profiles = not self.profiles
        self.machine.profile(self.profiles)

    def keep(self) -> None:
        self.kept = self.machine.snapshot()

    def put_back(self) -> None:
        if self.kept is not None:
            self.machine.restore(self.kept)

    def open(self) -> None:
        self.translated += self.machine.translated()
        self.machine = self.machine.snapshot().open()
        self.machine.translate_after(self.after)
        self.machine.profile(self.profiles)

    def overwrite(self) -> None:
        """The function in RAM, or code of a loop by itself."""
        self.machine.write(QUICK, struct.pack("<I", self.rng.choice((DSB, TWO_NOPS))))
        address, content = self.rng.choice([part for part in self.program[1] if part[0] >> 28 == 2])
        place = 2 * self.rng.randrange(len(content) // 2)
        self.machine.write(address + place, content[place : place + 2])


def test_what_happens_to_a_board() -> None:
    """Many random things, one after the other."""
    found = []
    for number in range(10 * SEEDS):
        program = segments(random.Random(f"happens {number}"), short=number % 4 != 3)
        sessions = []
        for after in (0, 1, 7):
            session = Session(board(program, after), program, after, random.Random(number))
            session.go_on()
            for _ in range(25):
                session.act()
            sessions.append(session)
            for one, other in zip(session.seen, sessions[0].seen, strict=True):
                assert one == other, (number, after)
        found.append(sessions[1].machine.translated() + sessions[1].translated)
    assert sum(each > 500 for each in found) > len(found) // 2, found


def slept(loop: Loop) -> list[int]:
    """Until an event or an interrupt; wakes the other core before, or not."""
    return loop.rng.choice(([SEV, WFE], [WFE, WFE], [WFI], [SEV, WFI, CPSIE]))


def test_cores_that_sleep_and_are_woken() -> None:
    """By each other's SEV, by their ticks: what one core executes alone, and both together."""
    found = []
    for number in range(10 * SEEDS):
        rng = random.Random(f"sleeps {number}")
        units = (*SHORT * 2, Loop.rounds, Loop.rounds, shared, slept)
        program = segments(rng, short=bool(number % 2), others={0: units, 1: units})
        seen = []
        for after in (0, 1, 9):
            machine = board(program, after)
            stops = []
            for pause in (30_000, 5_000, 777, 13):
                machine.run(pause)
                stops.append((machine.cycle(), [machine.registers(core) for core in (0, 1)]))
            seen.append((stops, machine.stats(), machine.read(SRAM + 0xC000, 0x3_6000)))
            found += [machine.translated()] * (after == 1)
        assert seen[1] == seen[0] == seen[2], number
    assert sum(each > 100 for each in found) > len(found) // 2, found


def in_flash(codes: list[list[int]], parts: dict[int, list[int]], after: int) -> Machine:
    """Both cores are about to execute code of their own in flash, at 0x1000 and 0x1400; other parts by offset."""
    boot = (FLASH, boot_block() + struct.pack("<2I", SRAM + 0xA000, SRAM | 1))
    own = {0x1000 + 0x400 * core: code for core, code in enumerate(codes)}
    segments = [(FLASH + place, halves(*code)) for place, code in (own | parts).items()]
    machine = Pair([NOP], [NOP], boot, *segments, r0=0, r1=0, r2=0, r3=0).machine
    machine.translate_after(after)
    for core, place in enumerate(own):
        machine.set_register(core, "pc", FLASH + place)
    return machine


# mov r8, lr; ldr r3, [pc, #20]; adds r2, r2, r3; bl over the rest of the line that its second half is in;
# ldr r7, [r4]; adds r2, r2, r7; bx r8; the literal, three lines on.
FUNCTION = [0x46F0, 0x4B05, 0x18D2, *branch_with_link(3), NOP, NOP, NOP, 0x6827, 0x19D2, 0x4740, NOP, 0x1234, 0x5678]


EVICTED = {"nothing": None, "code": 0, "half": 8, "more": 16, "literal": 24, "table": 0x80}


@pytest.mark.parametrize("kind", EVICTED)
def test_code_and_constants_that_the_cache_does_not_hold(kind: str) -> None:
    """Two functions, which each core calls again and again, and then what takes the place of one of their lines."""
    evicted = EVICTED[kind]
    codes, parts = [], dict[int, list[int]]()
    for core in (0, 1):
        start, first = 0x1000 + 0x400 * core, 0x3800 + 0x200 * core
        functions = [first, first + WAY]
        parts |= dict.fromkeys(functions, FUNCTION) | {first + 0x80: [0x5A5A, 0x0101 + core]}
        others = (
            [] if evicted is None else [first + way * WAY + evicted for way in ((1, 2) if evicted == 0x80 else (2,))]
        )
        parts |= {place: [0x3201, BX_LR] for place in others}
        code: list[int] = []
        for place in [*functions * (30 + core), *others]:
            code += [*[NOP] * core, *branch_with_link((place - start) // 2 - len(code) - core - 2)]
        codes.append([*code, 0xE000 | (-len(code) - 2) & 0x7FF])
    seen, translated = [], 0
    for after in (0, 1, 5):
        machine = in_flash(codes, parts, after)
        for core in (0, 1):
            machine.set_register(core, "r4", FLASH + 0x3880 + 0x200 * core)
        stops = []
        for pause in (200_000, 1_000, 77):
            machine.run(pause)
            stops.append((machine.cycle(), [machine.registers(core) for core in (0, 1)], machine.stats()))
        seen.append(stops)
        translated = machine.translated()
    assert seen[1] == seen[0] == seen[2]
    misses = sum(core["xip_misses"] for core in seen[0][-1][2]["cores"])
    assert (misses > 300) == (kind != "nothing"), misses
    assert translated > 100


CHANGES = {"flush": [0x2001, 0x6070], "off": [0x2000, 0x6030, 0x2001, 0x6030], "store": [0x6020]}
"""movs r0, #1; str r0, [r6, #4]. Or movs r0, #0; str r0, [r6]; movs r0, #1; str r0, [r6]. Or str r0, [r4], to code."""


@pytest.mark.parametrize("kind", CHANGES)
def test_lines_that_the_cache_loses_by_a_store(kind: str) -> None:
    """All of them, or one; or it is off for a moment. Behind short loops, which are at hand soon, is straight code."""
    # movs r7, #25; subs r7, #1; bne; adds r2, #...
    code = [half for count in range(6) for half in [0x2719, 0x3F01, 0xD1FD, *[0x3201 + count] * 13]]
    # subs r5, #1; bne; movs r5, #20
    change = [0x3D01, 0xD100 | len(CHANGES[kind]), 0x2514, *CHANGES[kind]]
    codes = [[*each, 0xE000 | (-len(each) - 2) & 0x7FF] for each in ([*code, NOP], [*code, *change])]
    seen = []
    for after in (0, 1, 5):
        machine = in_flash(codes, {}, after)
        for name, value in {"r4": FLASH + 0x1050, "r5": 20, "r6": 0x1400_0000}.items():
            machine.set_register(1, name, value)
        machine.run(200_000)
        seen.append((machine.stats(), [machine.registers(core) for core in (0, 1)]))
    assert seen[1] == seen[0] == seen[2]
    assert sum(core["xip_misses"] for core in seen[0][0]["cores"]) > 60
    assert machine.translated() > 1000


def test_more_places_than_are_remembered() -> None:
    """Long code, most of whose blocks are new each time, around short loops; places come back at which others were."""
    rng = random.Random("places")
    codes = []
    for _ in (0, 1):
        code: list[int] = []
        while len(code) < 24_000:
            # movs r7, ...; subs r7, #1; bne; adds r2, #...; beq; eors r2, r3
            code += [0x2700 | rng.randrange(1, 40), 0x3F01, 0xD1FD, 0x3200 | rng.randrange(256), 0xD000, 0x405A]
        codes.append([*code, *branch_with_link(-len(code) - 2)])
    seen, made = [], []
    for after in (0, 1, 2):
        machine = Pair([NOP], [NOP], r2=0, r3=7).machine
        machine.translate_after(after)
        for core, code in enumerate(codes):
            machine.write(SRAM + 0x1_0000 + 0xC000 * core, halves(*code))
            machine.set_register(core, "pc", SRAM + 0x1_0000 + 0xC000 * core)
        machine.run(8_000_000)
        seen.append((machine.cycle(), [machine.registers(core) for core in (0, 1)], machine.stats()))
        made.append(machine.translations())
    assert seen[1] == seen[0] == seen[2]
    assert made[0] == 0 < made[2] <= made[1] == 2048, made


def test_what_is_accessed_is_something_else_later() -> None:
    """A load that was of RAM is of flash then, and of RAM again, and so on: it is translated anew, a few times."""
    # adds r0, #1; ldr r3, [r6]; adds r2, r2, r3; subs r7, #1; bne; movs r7, #250; subs r1, #1; bne; swap r6 and r5;
    # movs r1, r4
    body = [0x3001, 0x6833, 0x18D2, 0x3F01, 0xD1FA, 0x27FA, 0x3901, 0xD1F7, 0x4633, 0x462E, 0x461D, 0x0021]
    code = [*body, 0xE000 | -(len(body) + 2) & 0x7FF]
    seen, made = [], []
    for after in (0, 1):
        machine = in_flash([code, code], {0x3000: [0x5A5A, 0x0102]}, after)
        for core in (0, 1):
            for name, value in {"r1": 20, "r4": 20, "r7": 9, "r5": FLASH + 0x3000, "r6": SRAM + 0xC000}.items():
                machine.set_register(core, name, value)
        stops = []
        for _ in range(12):
            machine.run(60_000)
            stops.append((machine.translations(), [machine.registers(core) for core in (0, 1)], machine.stats()))
        made.append([stop[0] for stop in stops])
        seen.append([stop[1:] for stop in stops])
    assert seen[0] == seen[1]
    assert made[1][0] + 4 < made[1][-1] < 60, made


def test_a_board_that_is_put_back_to_where_its_cache_was_empty() -> None:
    """What is translated is not in the cache any more."""
    seen = []
    for after in (0, 1):
        code = [*[0x3001, 0x4041] * 20, 0xE000 | -42 & 0x7FF]  # adds r0, #1; eors r1, r0; b
        machine = in_flash([code, code], {}, after)
        start = machine.snapshot()
        stops = []
        for cycles in (9_000, 700, 3_000):
            machine.run(cycles)
            stops.append(([machine.registers(core) for core in (0, 1)], machine.stats()))
            assert machine.translated() > 100 or after == 0
            machine.restore(start)
        seen.append(stops)
    assert seen[0] == seen[1]
