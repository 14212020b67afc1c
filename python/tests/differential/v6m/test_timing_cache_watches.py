"""Short loops on both cores that meet in words, locks and code: what is remembered of them is what happens, and what
probes, watched words and the profile tell of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.differential.v6m.looks import Look, advance, hits, watch
from tests.differential.v6m.test_timing_cache import BX_LR
from tests.differential.v6m.test_timing_cache_pairs import (
    CYCLES,
    DSB,
    HITS,
    QUICK,
    SHARED,
    SLICE,
    TWO_NOPS,
)
from tests.timing.bench import CODE, NOP, SIO, halves
from tests.timing.test_two_cores import CORE1, Pair


def outcome(
    first: list[int], second: list[int], look: Look, which: slice | None = None, **registers: int
) -> tuple[object, ...]:
    """What can be seen of two short loops, with probes on some of their instructions."""
    pair = Pair(first, second, **registers)
    machine = pair.machine
    machine.write(QUICK, halves(NOP, NOP, BX_LR))
    if which is not None:
        programs = ((CODE + 0x100, first), (CORE1 + 6, second))
        look = replace(look, probes=tuple(start + 2 * at for start, code in programs for at in range(len(code))[which]))
    watch(machine, look)
    before = machine.timing_cache_counts()
    advance(machine, CYCLES, look)
    seen = [machine.registers(core) for core in (0, 1)]
    known = hits(machine, before, anew=bool(look.sliced))
    assert known > 0 or look.sliced or look.profile
    profile = [machine.take_profile(core) for core in (0, 1)]
    return *seen, machine.take_events(), profile, machine.stats()


def assert_same_outcome(first: list[int], second: list[int], **registers: int) -> Any:
    """What can be seen, which is the same whether it is remembered or not: plain; with probes on all instructions, on
    the first one, on the second one; with watched words and without."""
    words = (SHARED, SHARED + 0x20)
    looks = (
        (None, Look()),
        (slice(None), Look(profile=True, words=words)),
        (slice(1), Look(profile=True, words=words)),
        (slice(1, 2), Look(profile=True)),
    )
    for which, look in looks:
        remembered, anew = (
            outcome(first, second, replace(look, sliced=slice_), which, **registers) for slice_ in (0, SLICE)
        )
        assert remembered == anew, which
    return remembered


def test_word_that_one_core_writes_and_the_other_reads() -> None:
    """The sum of all values that the reader saw tells what it saw when."""
    write = [0x3001, 0x6008, 0xE7FC]  # adds r0, #1; str r0, [r1]; b
    read = [0x189B, 0x3401, 0x680A, 0xE7FB]  # adds r3, r3, r2; adds r4, #1; ldr r2, [r1]; b
    assert_same_outcome(write, read, r1=SHARED, r2=0, r3=0, r4=0)


def round_and_round(body: list[int]) -> list[int]:
    """The same again for ever."""
    return [*body, 0xE000 | -(len(body) + 2) & 0x7FF]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_one_of_several_words_that_one_core_writes(first: int) -> None:
    """The other one reads three with one instruction, and adds them up, at many distances between the cores."""
    read = [0x4632, 0xCA38, 0x18C0, 0x1900, 0x1940, 0xE7F9]  # mov r2, r6; ldm r2!, {r3-r5}; adds r0, r0, r3 to r5; b
    words = SHARED + 0x80
    for wait in (0, 4, 5, 21):
        write = round_and_round([0x3001, *[NOP] * wait, 0x6008])  # adds r0, #1; str r0, [r1]
        assert_same_outcome(write, read, r0=0, r1=words + 4 * first, r6=words)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_one_of_several_words_that_one_core_reads(first: int) -> None:
    """The other one stores three with one instruction, of one value."""
    read = [0x680B, 0x18C0, 0xE7FC]  # ldr r3, [r1]; adds r0, r0, r3; b
    words = SHARED + 0x80
    for wait in (0, 5):
        write = [0x3001, 0x0003, 0x0004, 0x4632, 0xC219]  # adds r0, #1; movs r3, r0; movs r4, r0; mov r2, r6; stm r2!
        assert_same_outcome(round_and_round([*write, *[NOP] * wait]), read, r0=0, r1=words + 4 * first, r6=words)


def test_words_that_are_watched_among_others() -> None:
    """Core 0 stores several words with one instruction, the second of which is watched; the other core reads it."""
    write = [0x3001, 0x4632, 0xC20F, 0xB40F, 0xBC0F, 0xE7F9]  # adds r0, #1; mov r2, r6; stm r2!, {r0-r3}; push; pop; b
    read = [0x687A, 0x189B, 0x3401, 0xE7FB]  # ldr r2, [r7, #4]; adds r3, r3, r2; adds r4, #1; b
    assert_same_outcome(write, read, r6=SHARED - 4, r7=SHARED - 4, r3=0, r4=0)


def test_code_that_is_overwritten() -> None:
    """Core 0 calls a function 90 times, then puts DSB where it has two NOPs or the other way round, and so on."""
    inner = [0x47B8, 0x3E01, 0xD1FC]  # blx r7; subs r6, #1; bne
    swap = [0x6022, 0x4610, 0x461A, 0x4603]  # str r2, [r4]; mov r0, r2; mov r2, r3; mov r3, r0
    caller = [0x265A, *inner, *swap, 0xE7F6]  # movs r6, #90; ...; b
    registers = {"r2": DSB, "r3": TWO_NOPS, "r4": QUICK, "r7": QUICK | 1}
    assert_same_outcome(caller, [0x3001, 0x3001, 0xE7FC], **registers)


def taking(held: int, free: int) -> list[int]:
    """Takes the lock at r1, counts in r0 and in the word at r2, holds the lock for a few more, and so on."""
    wait = [0x680B, 0x2B00, 0xD0FC]  # ldr r3, [r1]; cmp r3, #0; beq
    count = [0x3001, 0x6814, 0x3401, 0x6014]  # adds r0, #1; ldr r4, [r2]; adds r4, #1; str r4, [r2]
    return round_and_round([*wait, *count, *[NOP] * held, 0x6009, *[NOP] * free])  # str r1, [r1]


@pytest.mark.parametrize("held", [0, 1, 4, 7, 10])
def test_lock_that_both_cores_wait_for(held: int) -> None:
    """Who gets it when, and how often it was read in vain, at many distances between the cores."""
    registers: Any = {"r0": 0, "r1": SIO + 0x100, "r2": SHARED}
    in_vain = 0
    for free in (0, 1, 2, 5, 11):
        seen = assert_same_outcome(taking(held, free), taking(3 * held % 7, 2 * free), **registers)
        in_vain += sum(item["failed_reads"] for item in seen[-1]["locks"])
    assert in_vain > HITS


@pytest.mark.parametrize("lead", range(4))
def test_two_paths_of_equal_length(lead: int) -> None:
    """By turns: NOP, NOP, B or DSB, NOP. Both begin and end in the same places, and take other times."""
    ways = [0x3001, 0x07C3, 0xD002, NOP, NOP, 0xE002, 0xF3BF, 0x8F4F, NOP]  # adds r0, #1; lsls r3, r0, #31; beq; ...
    assert_same_outcome(round_and_round(ways), round_and_round([*[NOP] * lead, *ways]), r0=0)


def dividing(wait: int, *ends: int) -> list[int]:
    """Counts in r0, divides by r2, waits, and adds up remainder, quotient and the state before and behind them."""
    begin = [0x3007, 0x6608, 0x664A]  # adds r0, #7; str r0, [r1, #0x60]; str r2, [r1, #0x64]
    remainder, state, quotient = [0x6F4B, 0x18E4], [0x6F8B, 0x18F6], [0x6F0B, 0x18E4]  # ldr r3, ...; adds r4 or r6
    return round_and_round([*begin, *[NOP] * wait, *remainder, *state, *quotient, *ends, *state])


@pytest.mark.parametrize("wait", range(0, 12, 2))
def test_division_in_progress_or_finished(wait: int) -> None:
    """Its registers are read sooner and later than it ends, beside another one and by a core whose words are read."""
    registers: Any = {"r0": 0, "r1": SIO, "r2": 5, "r4": 0, "r6": 0, "r7": SHARED}
    assert_same_outcome(dividing(wait), dividing(5 * wait % 11), **registers)
    assert_same_outcome(
        dividing(wait, 0x603C), [0x3001, 0x683A, 0xE7FC], **registers
    )  # str r4, [r7]; adds r0, #1; ldr r2, [r7]; b
