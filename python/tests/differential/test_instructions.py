"""Every ARMv6-M data-processing, shift, extend, load, store and branch encoding against unicorn.

Generated, not exemplified: each encoding with corner values in both operand orders, all sixteen flag settings and
random values; register fields drawn over their whole range.
"""

from __future__ import annotations

import itertools
import os
import random

import pytest

from tests.differential.engines import DATA, DATA_BYTES, STACK, State, Unicorn, VirtualBoard, assemble

CORNERS = (0, 1, 2, 0x1F, 0x20, 0x21, 0xFF, 0x100, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF)
SEEDS = int(os.environ.get("RTOSLAB_SEEDS", "1"))

# In the order of their opcodes.
DATA_PROCESSING = (
    "and", "eor", "lsl", "lsr", "asr", "adc", "sbc", "ror",
    "tst", "rsb", "cmp", "cmn", "orr", "mul", "bic", "mvn",
)  # fmt: skip
# Name -> halfword builder from (rd, rn or rm, immediate); registers r0-r7.
TWO_REGISTERS = {
    name: 0x4000 | number << 6 for number, name in enumerate(DATA_PROCESSING)
} | {
    "movs": 0x0000, "sxth": 0xB200, "sxtb": 0xB240, "uxth": 0xB280, "uxtb": 0xB2C0,
    "rev": 0xBA00, "rev16": 0xBA40, "revsh": 0xBAC0,
}  # fmt: skip
THREE_REGISTERS = {"add": 0x1800, "sub": 0x1A00}
SHIFTS_BY_IMMEDIATE = {"lsl": 0x0000, "lsr": 0x0800, "asr": 0x1000}
IMMEDIATE_3 = {"add": 0x1C00, "sub": 0x1E00}
IMMEDIATE_8 = {"mov": 0x2000, "cmp": 0x2800, "add": 0x3000, "sub": 0x3800}
HIGH_REGISTERS = {"add": 0x4400, "cmp": 0x4500, "mov": 0x4600}
LOADS_AND_STORES = {
    "str": (0x5000, 4), "strh": (0x5200, 2), "strb": (0x5400, 1), "ldrsb": (0x5600, 1),
    "ldr": (0x5800, 4), "ldrh": (0x5A00, 2), "ldrb": (0x5C00, 1), "ldrsh": (0x5E00, 2),
}  # fmt: skip
IMMEDIATE_ACCESSES = {
    "str": (0x6000, 4), "ldr": (0x6800, 4), "strb": (0x7000, 1),
    "ldrb": (0x7800, 1), "strh": (0x8000, 2), "ldrh": (0x8800, 2),
}  # fmt: skip


@pytest.fixture(scope="module")
def engines() -> tuple[VirtualBoard, Unicorn]:
    """Both engines, made once: making one is slower than a thousand cases."""
    return VirtualBoard(), Unicorn()


def _state(rng: random.Random, flags: int, **fixed: int) -> State:
    registers = [rng.choice(CORNERS) if rng.random() < 0.5 else rng.getrandbits(32) for _ in range(13)]
    registers += [STACK, rng.getrandbits(32)]
    for name, value in fixed.items():
        registers[int(name[1:])] = value
    return State(tuple(registers), flags << 28, rng.randbytes(DATA_BYTES))


def _assert_same_result(engines: tuple[VirtualBoard, Unicorn], body: list[int], start: State) -> None:
    code = assemble(body)
    ours, theirs = (engine.run(code, start) for engine in engines)
    assert ours == theirs, f"{[hex(half) for half in body]} from {start.registers}, flags {start.flags:#x}"


@pytest.mark.parametrize("name", TWO_REGISTERS)
def test_two_register_forms(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """All pairs of corner values in both orders; flags in rotation; then random values and registers."""
    rng = random.Random(name)
    for index, (a, b) in enumerate(itertools.product(CORNERS, repeat=2)):
        _assert_same_result(engines, [TWO_REGISTERS[name] | 1 << 3 | 0], _state(rng, index % 16, r0=a, r1=b))
    for flags in itertools.chain(range(16), (rng.getrandbits(4) for _ in range(100 * SEEDS))):
        halfword = TWO_REGISTERS[name] | rng.randrange(8) << 3 | rng.randrange(8)
        _assert_same_result(engines, [halfword], _state(rng, flags))


@pytest.mark.parametrize("name", ["lsl", "lsr", "asr", "ror"])
def test_shift_amounts_by_register(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Every amount from 0 to 255, and a larger register whose low byte counts alone."""
    rng = random.Random(name)
    for amount in range(256):
        start = _state(rng, amount % 16, r0=rng.choice(CORNERS), r1=amount | rng.getrandbits(24) << 8)
        _assert_same_result(engines, [TWO_REGISTERS[name] | 1 << 3], start)


@pytest.mark.parametrize("name", SHIFTS_BY_IMMEDIATE)
def test_shift_amounts_by_immediate(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Every encoded amount with every corner value."""
    rng = random.Random(name)
    for amount, value in itertools.product(range(32), CORNERS):
        _assert_same_result(
            engines, [SHIFTS_BY_IMMEDIATE[name] | amount << 6 | 1 << 3], _state(rng, amount % 16, r1=value)
        )


@pytest.mark.parametrize("name", THREE_REGISTERS)
def test_three_register_forms(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Corner pairs in both orders, then random registers."""
    rng = random.Random(name)
    for index, (a, b) in enumerate(itertools.product(CORNERS, repeat=2)):
        _assert_same_result(engines, [THREE_REGISTERS[name] | 2 << 6 | 1 << 3], _state(rng, index % 16, r1=a, r2=b))
    for _ in range(100 * SEEDS):
        halfword = THREE_REGISTERS[name] | rng.getrandbits(9)
        _assert_same_result(engines, [halfword], _state(rng, rng.getrandbits(4)))


@pytest.mark.parametrize("name", IMMEDIATE_8)
def test_immediate_8_forms(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Every immediate, corner values in turn."""
    rng = random.Random(name)
    for immediate in range(256):
        register = rng.randrange(8)
        start = _state(rng, immediate % 16, **{f"r{register}": CORNERS[immediate % len(CORNERS)]})
        _assert_same_result(engines, [IMMEDIATE_8[name] | register << 8 | immediate], start)


@pytest.mark.parametrize("name", IMMEDIATE_3)
def test_immediate_3_forms(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Every immediate with every corner value."""
    rng = random.Random(name)
    for immediate, value in itertools.product(range(8), CORNERS):
        _assert_same_result(engines, [IMMEDIATE_3[name] | immediate << 6 | 1 << 3], _state(rng, immediate, r1=value))


@pytest.mark.parametrize("name", HIGH_REGISTERS)
def test_high_register_forms(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """All pairs of r0 to r14 but SP as destination of an arbitrary value."""
    rng = random.Random(name)
    for rd, rm in itertools.product(range(15), repeat=2):
        if rd == 13 and name != "cmp":
            continue
        halfword = HIGH_REGISTERS[name] | (rd & 8) << 4 | rm << 3 | rd & 7
        _assert_same_result(engines, [halfword], _state(rng, rng.getrandbits(4)))


def test_pc_and_sp_as_operands(engines: tuple[VirtualBoard, Unicorn]) -> None:
    """ADR, MOV and ADD from PC, ADD and SUB of SP, at both halfword alignments."""
    rng = random.Random("pc and sp")
    for pad in ([], [0xBF00]):
        for halfword in [0x467B, 0x447B, 0xA307, 0xA3FF, 0xAB03, 0xABFF, 0xB001, 0xB07F, 0xB081, 0xB0FF, 0x4485]:
            _assert_same_result(engines, [*pad, halfword], _state(rng, rng.getrandbits(4), r0=8))


@pytest.mark.parametrize("name", LOADS_AND_STORES)
def test_register_offset_accesses(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Random aligned addresses over the data area, base and index in both orders."""
    rng = random.Random(name)
    opcode, size = LOADS_AND_STORES[name]
    for index in range(64 * SEEDS):
        offset = rng.randrange(DATA_BYTES // size) * size
        base, other = (DATA, offset) if index % 2 else (offset, DATA)
        _assert_same_result(engines, [opcode | 2 << 6 | 1 << 3 | 0], _state(rng, index % 16, r1=base, r2=other))


@pytest.mark.parametrize("name", IMMEDIATE_ACCESSES)
def test_immediate_offset_accesses(engines: tuple[VirtualBoard, Unicorn], name: str) -> None:
    """Every offset, every destination."""
    rng = random.Random(name)
    opcode, _ = IMMEDIATE_ACCESSES[name]
    for offset, register in itertools.product(range(32), (0, 3, 7)):
        _assert_same_result(engines, [opcode | offset << 6 | 1 << 3 | register], _state(rng, offset % 16, r1=DATA))


def test_sp_relative_and_multiple_accesses(engines: tuple[VirtualBoard, Unicorn]) -> None:
    """LDR and STR by SP; PUSH and POP, LDM and STM of every low-register list."""
    rng = random.Random("multiple")
    for offset in range(64):
        _assert_same_result(engines, [0x9000 | rng.randrange(8) << 8 | offset], _state(rng, 0))
        _assert_same_result(engines, [0x9800 | rng.randrange(8) << 8 | offset], _state(rng, 0))
    for mask in range(1, 256):
        _assert_same_result(engines, [0xB400 | rng.getrandbits(1) << 8 | mask, 0xBC00 | mask], _state(rng, 0))
        base = rng.randrange(8)
        _assert_same_result(engines, [0xC800 | base << 8 | mask], _state(rng, 0, **{f"r{base}": DATA}))
        # A stored base must be the lowest register of the list; otherwise its value is not defined.
        first = (mask & -mask).bit_length() - 1
        base = first if rng.random() < 0.5 else next((n for n in range(8) if not mask >> n & 1), first)
        _assert_same_result(engines, [0xC000 | base << 8 | mask], _state(rng, 0, **{f"r{base}": DATA}))


@pytest.mark.parametrize("condition", range(14))
def test_conditional_branches(engines: tuple[VirtualBoard, Unicorn], condition: int) -> None:
    """Taken or not by all sixteen flag settings: the skipped instruction tells."""
    rng = random.Random(condition)
    for flags in range(16):
        _assert_same_result(engines, [0xD000 | condition << 8, 0x3001, 0x3102], _state(rng, flags))


def test_calls_and_returns(engines: tuple[VirtualBoard, Unicorn]) -> None:
    """BL forwards and back, BX, BLX, POP of PC, MRS and MSR of the flags."""
    rng = random.Random("calls")
    bodies = [
        [0xF000, 0xF802, 0x3001, 0xE001, 0x3205, 0x4770],  # bl +; adds; b; adds r2; bx lr
        [0xBF00, 0xF000, 0xF802, 0x3001, 0xE001, 0x3205, 0x4770],
        [0xA301, 0x3301, 0x4798, 0xE002, 0x3407, 0x4770, 0xBF00],  # adr r3; adds #1; blx r3
        [0xF000, 0xF801, 0xE001, 0xB500, 0xBD00],  # bl to push {lr}; pop {pc}
        [0xF3EF, 0x8300, 0x43DB, 0xF383, 0x8800],  # mrs r3, apsr; mvns; msr apsr, r3
    ]
    for body, flags in itertools.product(bodies, range(16)):
        _assert_same_result(engines, body, _state(rng, flags))
