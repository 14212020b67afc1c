"""Timing that is remembered is the timing: random loops take the same cycles while an observer is at work, where
nothing is remembered. So do they with the profile on, which then is what the observer saw, and with probes and watched
words.

The loops have conditional branches, IT blocks, divisions, calls, stack, literals and tables in flash, loads of what was
just stored, masks, barriers, and an interrupt every few hundred cycles; the board stops and goes on at random cycles,
and goes back to a snapshot from where it takes another way. On the M7 code and data lie in any of the memories, caches
are on or off and emptied now and then, branch prediction and dual issue are switched off in some programs.
"""

from __future__ import annotations

import os
import random
import struct
from dataclasses import dataclass, replace

import pytest

from rtoslab._sim import Machine
from tests.differential.v7m.loops import FLASH, HANDLER, SRAM, TICKS, image

CODE_OFFSET, DATA_OFFSET = 0x400, 0x1000
CYCLES = 60_000
HITS = 300
"""Fewer say that memory was hardly asked."""
PROGRAMS = 12 * int(os.environ.get("RTOSLAB_SEEDS", "1"))
M7_VARIANTS: tuple[dict[str, int], ...] = (
    {"flash.wait_states": 7, "icache": 1, "dcache": 1},
    {"flash.wait_states": 4, "icache": 1, "dcache": 1, "timing.store_to_load_cycles": 8},
    {"flash.wait_states": 3, "icache": 1, "dcache": 0, "timing.store_to_load_cycles": 0},
    {"flash.wait_states": 2, "icache": 0, "dcache": 1, "timing.decoded_branch_cycles": 0},
    {},
)
CHIPS = {
    "stm32f103": ("m3", ({}, {"flash.wait_states": 2}, {"flash.wait_states": 1, "flash.prefetch": 0})),
    "stm32f446": (
        "m4",
        (
            {},
            {"flash.wait_states": 5, "flash.prefetch": 1, "flash.icache": 1, "flash.dcache": 1},
            {"flash.wait_states": 3, "flash.icache": 1},
            {"flash.wait_states": 5, "flash.prefetch": 1},
            {"flash.icache": 1},
        ),
    ),
    "stm32f767": ("m7", M7_VARIANTS),
    "stm32h743": ("m7", M7_VARIANTS),
}
ITCM_FLASH = 0x0020_0000
# Where code and data lie: mostly in flash and TCM. On the F767 also in flash over the ITCM bus, ITCM RAM, SRAM1; on the
# H743 in ITCM RAM and AXI SRAM.
CODE_BASES = {"stm32f767": (FLASH, FLASH, ITCM_FLASH, 0, 0x2002_0000), "stm32h743": (FLASH, FLASH, 0, 0x2400_0000)}
DATA_BASES = {"stm32f767": (SRAM, SRAM, 0x2002_4000), "stm32h743": (SRAM, SRAM, 0x2400_4000)}


@dataclass(frozen=True)
class Watching:
    """How a loop is looked at: the profile on; an observer at work; addresses with probes, words that are watched."""

    profile: bool = False
    observer: bool = False
    probes: tuple[int, ...] = ()
    words: tuple[int, ...] = ()


@dataclass
class Seen:
    """What can be seen of a run, and how often time was taken from memory."""

    known: int
    learnt: int
    translated: int
    state: dict[str, object]
    profile: dict[int, tuple[int, int]]
    """Address -> cycles, executions in the first stretch."""


def cost_by_address(machine: Machine, watching: Watching) -> dict[int, tuple[int, int]]:
    """Cycles and executions by address, as the profile or the observer tells them."""
    if watching.profile:
        cells = struct.iter_unpack("<IIQQQ", machine.take_profile(0))
        return {address: (cycles, executions) for address, _, cycles, executions, _ in cells}
    if not watching.observer:
        return {}
    result: dict[int, tuple[int, int]] = {}
    for _, pc, *ways, executions, _ in struct.iter_unpack("<II9Q", machine.observed()["cores"][0]["rows"]):
        cycles, before = result.get(pc, (0, 0))
        # Executing, waiting for a bus, for flash.
        result[pc] = cycles + sum(ways[:3]), before + executions
    return {pc: cost for pc, cost in result.items() if any(cost)}


def run(
    chip: str,
    settings: dict[str, int],
    content: bytes,
    pauses: list[int],
    data: int,
    watching: Watching,
    translate_after: int | None = None,
) -> Seen:
    """The loop, looked at in a way."""
    machine = Machine(chip)
    if translate_after is not None:
        machine.translate_after(translate_after)
    for key, value in settings.items():
        machine.set(key, value)
    machine.load(content, "loop.elf")
    machine.observe(watching.observer)
    machine.profile(watching.profile)
    for ident, address in enumerate(watching.probes):
        machine.watch_exec(address, ident)
    for ident, word in enumerate(watching.words):
        machine.watch_write(word, ident, word == TICKS)
    machine.between(watching.probes[0], watching.probes[-1]) if watching.probes else None
    while machine.cycle() < CYCLES:
        machine.run(CYCLES - machine.cycle())
    cost = cost_by_address(machine, watching)
    snapshot = machine.snapshot()
    seen: list[object] = [machine.cycle()]
    for way in range(3):
        seen += [machine.run(pause)["reason"] for pause in pauses]
        seen += [machine.cycle(), *machine.registers(0).values(), machine.take_events()]
        machine.restore(snapshot)
        if watching.observer:
            machine.observe(True)
        machine.write(data + 0x200, struct.pack("<64I", *(way * n * 0x0100_0007 & 0xFFFF_FFFF for n in range(64))))
    for pause in pauses:
        machine.run(pause)
    known, learnt = machine.timing_cache_counts()
    state: dict[str, object] = {
        "seen": seen,
        "cycle": machine.cycle(),
        "stats": machine.stats(),
        "registers": machine.registers(0),
        "memory": machine.read(SRAM, 0x4000),
        "data": machine.read(data, 0x800),
        "events": machine.take_events(),
        "between": machine.between_result(0) if watching.probes else None,
    }
    return Seen(known, learnt, machine.native_trace_count(), state, cost)


@pytest.mark.parametrize("chip", CHIPS)
def test_same_cycles_with_and_without_timing_cache(chip: str) -> None:
    """Cycle, waits, registers, memory, events and profile after random pauses; ticks were counted, memory was used."""
    kind, variants = CHIPS[chip]
    for number in range(PROGRAMS):
        rng = random.Random(f"{chip} {number}")
        # Two programs of three are of a kind that is remembered: on the M7, from TCM or through the instruction cache.
        usual = number % 3 != 2
        settings = rng.choice([variant for variant in variants if kind != "m7" or not usual or variant.get("icache")])
        bases = CODE_BASES.get(chip, (FLASH,))
        code = rng.choice([base for base in bases if not usual or base != ITCM_FLASH]) + CODE_OFFSET
        data = rng.choice(DATA_BASES.get(chip, (SRAM,))) + DATA_OFFSET
        # Where the next tick is always near, hardly anything is remembered.
        content = image(kind, rng, code, data, rng.randrange(1500 if usual else 300, 4000))
        pauses = [*(rng.randint(1, 2_000) for _ in range(8)), *(rng.randint(1, 30) for _ in range(30))]
        looked_at = Watching()
        if number % 2:
            # Some of the addresses are no instruction's, and some words are never written.
            addresses = sorted(code + 2 * rng.randrange(400) for _ in range(12))
            words = (TICKS, *(data + 0x200 + 4 * rng.randrange(-8, 24) for _ in range(4)))
            looked_at = Watching(probes=(HANDLER, *addresses), words=words)
        remembered = run(chip, settings, content, pauses, data, looked_at)
        assert remembered.known > HITS or not usual, (chip, number, settings, hex(code), remembered.known)
        profiled = run(chip, settings, content, pauses, data, replace(looked_at, profile=True))
        assert profiled.known == remembered.known
        anew = run(chip, settings, content, pauses, data, replace(looked_at, observer=True))
        assert (anew.known, anew.learnt) == (0, 0), "while an observer is at work nothing is remembered"
        ticks = struct.unpack_from("<I", anew.state["memory"], TICKS - SRAM)[0]  # type: ignore[arg-type]
        assert ticks > 5, (chip, number)
        for what, value in anew.state.items():
            assert remembered.state[what] == value, (chip, number, settings, hex(code), hex(data), what)
            assert profiled.state[what] == value, (chip, number, settings, hex(code), hex(data), what, "profiled")
        addresses_seen = anew.profile.keys() | profiled.profile.keys()
        differ = {hex(at) for at in addresses_seen if anew.profile.get(at) != profiled.profile.get(at)}
        # The observer's account begins with the reset and ends with the cycle, the profile with whole instructions.
        assert len(differ - {hex(code)}) <= 1, (chip, number, differ)
