"""Two cores whose basic blocks are code of the host, while something changes: probes, watched words and the profile
come and go, the board is put back or opened as another one, code is written anew, places are more than are remembered,
and what a block accesses is not what it was.
"""

from __future__ import annotations

import os
import random
import struct
from dataclasses import dataclass, field
from typing import Any

import pytest

from rtoslab._sim import Machine, Snapshot
from tests.differential.v6m.test_jit_pairs_cache import machine_with_flash_code
from tests.differential.v6m.test_timing_cache import CPSIE, Loop, branch_with_link
from tests.differential.v6m.test_timing_cache_exceptions import events_by_core
from tests.differential.v6m.test_timing_cache_pairs import (
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
    shared_word,
)
from tests.timing.bench import NOP, halves
from tests.timing.test_two_cores import Pair

SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))
WFE, WFI, SEV = 0xBF20, 0xBF30, 0xBF40


@dataclass
class Session:
    """A board that random things happen to: the same ones for each number of executions that it translates after."""

    machine: Machine
    program: Program
    after: int
    rng: random.Random
    stored: Snapshot | None = None
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
        events = events_by_core(self.machine.take_events())
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
        self.stored = self.machine.snapshot()

    def put_back(self) -> None:
        if self.stored is not None:
            self.machine.restore(self.stored)

    def open(self) -> None:
        self.translated += self.machine.native_trace_count()
        self.machine = self.machine.snapshot().open()
        self.machine.translate_after(self.after)
        self.machine.profile(self.profiles)

    def overwrite(self) -> None:
        """The function in RAM, or code of a loop by itself."""
        self.machine.write(QUICK, struct.pack("<I", self.rng.choice((DSB, TWO_NOPS))))
        address, content = self.rng.choice([part for part in self.program[1] if part[0] >> 28 == 2])
        place = 2 * self.rng.randrange(len(content) // 2)
        self.machine.write(address + place, content[place : place + 2])


def test_board_changes_during_compiled_code() -> None:
    """Many random things, one after the other."""
    results = []
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
        results.append(sessions[1].machine.native_trace_count() + sessions[1].translated)
    assert sum(result > 500 for result in results) > len(results) // 2, results


def slept(loop: Loop) -> list[int]:
    """Until an event or an interrupt; wakes the other core before, or not."""
    return loop.rng.choice(([SEV, WFE], [WFE, WFE], [WFI], [SEV, WFI, CPSIE]))


def test_cores_that_sleep_and_are_woken() -> None:
    """By each other's SEV, by their ticks: what one core executes alone, and both together."""
    results = []
    for number in range(10 * SEEDS):
        rng = random.Random(f"sleeps {number}")
        units = (*SHORT * 2, Loop.rounds, Loop.rounds, shared_word, slept)
        program = segments(rng, short=bool(number % 2), others={0: units, 1: units})
        seen = []
        for after in (0, 1, 9):
            machine = board(program, after)
            stops = []
            for pause in (30_000, 5_000, 777, 13):
                machine.run(pause)
                stops.append((machine.cycle(), [machine.registers(core) for core in (0, 1)]))
            seen.append((stops, machine.stats(), machine.read(SRAM + 0xC000, 0x3_6000)))
            results += [machine.native_trace_count()] * (after == 1)
        assert seen[1] == seen[0] == seen[2], number
    assert sum(result > 100 for result in results) > len(results) // 2, results


def test_more_places_than_the_timing_cache_stores() -> None:
    """Long code, most of whose blocks are new each time, around short loops; places come back at which others were."""
    rng = random.Random("places")
    codes = []
    for _ in (0, 1):
        code: list[int] = []
        while len(code) < 24_000:
            # movs r7, ...; subs r7, #1; bne; adds r2, #...; beq; eors r2, r3
            code += [0x2700 | rng.randrange(1, 40), 0x3F01, 0xD1FD, 0x3200 | rng.randrange(256), 0xD000, 0x405A]
        codes.append([*code, *branch_with_link(-len(code) - 2)])
    seen, built = [], []
    for after in (0, 1, 2):
        machine = Pair([NOP], [NOP], r2=0, r3=7).machine
        machine.translate_after(after)
        for core, code in enumerate(codes):
            machine.write(SRAM + 0x1_0000 + 0xC000 * core, halves(*code))
            machine.set_register(core, "pc", SRAM + 0x1_0000 + 0xC000 * core)
        machine.run(8_000_000)
        seen.append((machine.cycle(), [machine.registers(core) for core in (0, 1)], machine.stats()))
        built.append(machine.translation_count())
    assert seen[1] == seen[0] == seen[2]
    assert built[0] == 0 < built[2] <= built[1] == 2048, built


def test_address_belongs_to_another_memory_later() -> None:
    """A load that was of RAM is of flash then, and of RAM again, and so on: it is translated anew, a few times."""
    # adds r0, #1; ldr r3, [r6]; adds r2, r2, r3; subs r7, #1; bne; movs r7, #250; subs r1, #1; bne; swap r6 and r5;
    # movs r1, r4
    body = [0x3001, 0x6833, 0x18D2, 0x3F01, 0xD1FA, 0x27FA, 0x3901, 0xD1F7, 0x4633, 0x462E, 0x461D, 0x0021]
    code = [*body, 0xE000 | -(len(body) + 2) & 0x7FF]
    seen, built = [], []
    for after in (0, 1):
        machine = machine_with_flash_code([code, code], {0x3000: [0x5A5A, 0x0102]}, after)
        for core in (0, 1):
            for name, value in {"r1": 20, "r4": 20, "r7": 9, "r5": FLASH + 0x3000, "r6": SRAM + 0xC000}.items():
                machine.set_register(core, name, value)
        stops = []
        for _ in range(12):
            machine.run(60_000)
            stops.append((machine.translation_count(), [machine.registers(core) for core in (0, 1)], machine.stats()))
        built.append([stop[0] for stop in stops])
        seen.append([stop[1:] for stop in stops])
    assert seen[0] == seen[1]
    assert built[1][0] + 4 < built[1][-1] < 60, built


@pytest.mark.parametrize("comes", ["another word", "the same word"])
def test_watched_store_stops_the_run_later(comes: str) -> None:
    """Of a block that was translated while no word it stored to stopped the run: its base is now and then that of
    such a word, or the word that it always stores to is one from some time on."""
    # adds r0, #1; str r0, [r6]; adds r2, r2, r0; subs r7, #1; bne; movs r7, #20; swap r6 and r5
    body = [0x3001, 0x6030, 0x1812, 0x3F01, 0xD1FA, 0x2714, 0x4633, 0x462E, 0x461D]
    code = [*body, 0xE000 | -(len(body) + 2) & 0x7FF]
    words = SRAM + 0xC000, SRAM + (0xC104 if comes == "another word" else 0xC000)
    seen, translated = [], []
    for after in (0, 1, 7, 500):
        machine = Pair(code, [0x3001, 0x4042, 0xE7FC], r0=0, r2=0, r6=words[0]).machine
        for name, value in {"r5": words[1], "r7": 1_250}.items():
            machine.set_register(0, name, value)
        machine.translate_after(after)
        machine.watch_write(words[0], 1, False)
        if comes == "another word":
            machine.watch_write(words[1], 2, True)
        else:
            machine.run(8_000)
            machine.watch_write(words[0], 1, True)
        stops = []
        for _ in range(50):
            stop = machine.run(20_000)
            assert stop["reason"] == "watch", stop
            registers = [machine.registers(core) for core in (0, 1)]
            stops.append((stop, registers, machine.stats(), machine.take_events(), machine.read(words[0], 0x200)))
        seen.append(stops)
        translated.append(machine.native_trace_count())
    assert seen[1] == seen[0] == seen[2] == seen[3]
    assert translated[0] == 0
    assert min(translated[1:]) > 500, translated
