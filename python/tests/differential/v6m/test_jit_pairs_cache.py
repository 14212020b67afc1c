"""Two cores whose basic blocks are code of the host, in flash behind the cache: lines of it go, one by one or all, and
come back, with probes on the code or without.
"""

from __future__ import annotations

import struct

import pytest

from rtoslab._sim import Machine
from tests.compat.build import boot_block
from tests.differential.v6m.test_timing_cache import BX_LR, branch_with_link
from tests.differential.v6m.test_timing_cache_exceptions import events_by_core
from tests.differential.v6m.test_timing_cache_pairs import FLASH, SRAM
from tests.timing.bench import NOP, halves
from tests.timing.test_two_cores import Pair

WAY = 0x2000
"""Bytes of one way of the cache of the code."""


def machine_with_flash_code(codes: list[list[int]], parts: dict[int, list[int]], after: int) -> Machine:
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


@pytest.mark.parametrize("probed", [False, True])
@pytest.mark.parametrize("kind", EVICTED)
def test_code_and_constants_that_miss_the_cache(kind: str, probed: bool) -> None:
    """Two functions, which each core calls again and again, and then what takes the place of one of their lines. Probes
    may sit where core 0's begin."""
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
        machine = machine_with_flash_code(codes, parts, after)
        for core in (0, 1):
            machine.set_register(core, "r4", FLASH + 0x3880 + 0x200 * core)
        for ident, place in enumerate([0x3800, 0x3800 + WAY] if probed else []):
            machine.watch_exec(FLASH + place, ident)
        stops = []
        for pause in (200_000, 1_000, 77):
            machine.run(pause)
            registers = [machine.registers(core) for core in (0, 1)]
            stops.append((machine.cycle(), registers, events_by_core(machine.take_events()), machine.stats()))
        seen.append(stops)
        translated = machine.native_trace_count()
    assert seen[1] == seen[0] == seen[2]
    misses = sum(core["xip_misses"] for core in seen[0][-1][-1]["cores"])
    assert (misses > 300) == (kind != "nothing"), misses
    assert translated > 100


CHANGES = {"flush": [0x2001, 0x6070], "off": [0x2000, 0x6030, 0x2001, 0x6030], "store": [0x6020]}
"""movs r0, #1; str r0, [r6, #4]. Or movs r0, #0; str r0, [r6]; movs r0, #1; str r0, [r6]. Or str r0, [r4], to code."""


@pytest.mark.parametrize("kind", CHANGES)
def test_cache_lines_invalidated_by_a_store(kind: str) -> None:
    """All of them, or one; or it is off for a moment. Behind short loops, which are at hand soon, is straight code."""
    # movs r7, #25; subs r7, #1; bne; adds r2, #...
    code = [half for count in range(6) for half in [0x2719, 0x3F01, 0xD1FD, *[0x3201 + count] * 13]]
    # subs r5, #1; bne; movs r5, #20
    change = [0x3D01, 0xD100 | len(CHANGES[kind]), 0x2514, *CHANGES[kind]]
    codes = [[*item, 0xE000 | (-len(item) - 2) & 0x7FF] for item in ([*code, NOP], [*code, *change])]
    seen = []
    for after in (0, 1, 5):
        machine = machine_with_flash_code(codes, {}, after)
        for name, value in {"r4": FLASH + 0x1050, "r5": 20, "r6": 0x1400_0000}.items():
            machine.set_register(1, name, value)
        machine.run(200_000)
        seen.append((machine.stats(), [machine.registers(core) for core in (0, 1)]))
    assert seen[1] == seen[0] == seen[2]
    assert sum(core["xip_misses"] for core in seen[0][0]["cores"]) > 60
    assert machine.native_trace_count() > 1000


def test_board_restored_to_an_empty_cache() -> None:
    """What is translated is not in the cache any more."""
    seen = []
    for after in (0, 1):
        code = [*[0x3001, 0x4041] * 20, 0xE000 | -42 & 0x7FF]  # adds r0, #1; eors r1, r0; b
        machine = machine_with_flash_code([code, code], {}, after)
        start = machine.snapshot()
        stops = []
        for cycles in (9_000, 700, 3_000):
            machine.run(cycles)
            stops.append(([machine.registers(core) for core in (0, 1)], machine.stats()))
            assert machine.native_trace_count() > 100 or after == 0
            machine.restore(start)
        seen.append(stops)
    assert seen[0] == seen[1]
