"""One row per ARMv6-M instruction class: ARM DDI0484C table 3-1 and RP2040 data sheet 2.1."""

from __future__ import annotations

import pytest

from tests.timing.bench import CODE, DATA, NOP, SCS, SIO, Board

TIMER_RAW, UART_CR, RESETS, BUSCTRL = 0x4005_4028, 0x4003_4030, 0x4000_C000, 0x4003_0000
Z, C, N, V = 1 << 30, 1 << 29, 1 << 31, 1 << 28

# name, halfwords, cycles, registers before
SINGLE: list[tuple[str, list[int], int, dict[str, int]]] = [
    (name, [opcode], 1, {})
    for name, opcode in {
        "movs imm": 0x2000, "movs reg": 0x0008, "mov hi": 0x4648, "adds reg": 0x1880, "adds imm3": 0x1C40,
        "adds imm8": 0x3001, "add hi": 0x4448, "adcs": 0x4148, "subs reg": 0x1A80, "sbcs": 0x4188, "rsbs": 0x4248,
        "cmp imm": 0x2800, "cmp reg": 0x4288, "cmp hi": 0x4548, "cmn": 0x42C8, "tst": 0x4208, "ands": 0x4008,
        "orrs": 0x4308, "eors": 0x4048, "bics": 0x4388, "mvns": 0x43C8, "lsls imm": 0x0048, "lsls reg": 0x4088,
        "lsrs imm": 0x0848, "lsrs reg": 0x40C8, "asrs imm": 0x1048, "asrs reg": 0x4108, "rors": 0x41C8,
        "muls": 0x4348, "sxtb": 0xB248, "sxth": 0xB208, "uxtb": 0xB2C8, "uxth": 0xB288, "rev": 0xBA08,
        "rev16": 0xBA48, "revsh": 0xBAC8, "adr": 0xA001, "add rd, sp": 0xA801, "add sp": 0xB001, "sub sp": 0xB081,
        "nop": NOP, "yield": 0xBF10, "sev": 0xBF40, "cpsid": 0xB672, "cpsie": 0xB662,
    }.items()
]  # fmt: skip
MEMORY: list[tuple[str, list[int], int, dict[str, int]]] = [
    (f"{name} {where}", [opcode], cycles, {"r1": base, "r2": 0})
    for name, opcode, narrow in [
        ("ldr imm", 0x6808, False), ("ldr reg", 0x5888, False), ("str imm", 0x6008, False), ("str reg", 0x5088, False),
        ("ldrb imm", 0x7808, True), ("ldrh imm", 0x8808, True), ("strb imm", 0x7008, True), ("strh imm", 0x8008, True),
        ("ldrsb", 0x5688, True), ("ldrsh", 0x5E88, True), ("ldrb reg", 0x5C88, True), ("strh reg", 0x5288, True),
    ]
    for where, base, cycles in [("sram", DATA, 2), ("sio", SIO + 0x10, 1), ("ppb", SCS + 0xD08, 2)]
    if where == "sram" or not narrow
]  # fmt: skip
MULTIPLE: list[tuple[str, list[int], int, dict[str, int]]] = [
    (f"{name} {count}", [opcode | (1 << count) - 1], 1 + count, {"r7": DATA, "sp": DATA + 64})
    for name, opcode in [("push", 0xB400), ("pop", 0xBC00), ("ldm", 0xCF00), ("stm", 0xC700)]
    for count in range(1, 8)
]
OTHERS: list[tuple[str, list[int], int, dict[str, int]]] = [
    ("push 8 and lr", [0xB5FF], 10, {"sp": DATA + 64}),
    ("pop 8", [0xBCFF], 9, {"sp": DATA}),
    ("ldm 8", [0xC8FF], 9, {"r0": DATA}),
    ("ldr literal", [0x4801], 2, {}),
    ("ldr sp", [0x9801], 2, {"sp": DATA}),
    ("str sp", [0x9001], 2, {"sp": DATA}),
    ("mrs", [0xF3EF, 0x8010], 3, {}),
    ("msr", [0xF380, 0x8810], 3, {"r0": 0}),
    ("dmb", [0xF3BF, 0x8F5F], 3, {}),
    ("dsb", [0xF3BF, 0x8F4F], 3, {}),
    ("isb", [0xF3BF, 0x8F6F], 3, {}),
    ("ldr apb", [0x6808], 4, {"r1": TIMER_RAW}),
    ("str apb", [0x6008], 5, {"r1": BUSCTRL}),
    ("str apb set alias without interposer", [0x6008], 5, {"r1": BUSCTRL + 0x2000, "r0": 0}),
    ("ldr uart", [0x6808], 4, {"r1": UART_CR}),
    ("ldr uart alias", [0x6808], 6, {"r1": UART_CR + 0x2000}),
    ("str uart alias", [0x6008], 7, {"r1": UART_CR + 0x2000, "r0": 0}),
    ("wfe with the event set", [0xBF40, 0xBF20], 1 + 2, {}),
]
# name, halfwords, offset of the end in bytes, cycles, registers before
BRANCHES: list[tuple[str, list[int], int, int, dict[str, int]]] = [
    ("b forwards", [0xE001, NOP, NOP, NOP], 6, 2, {}),
    ("b to an upper halfword", [0xE000, NOP, NOP], 4, 2, {}),
    ("bl", [0xF000, 0xF802, NOP, NOP, NOP], 8, 3, {}),
    ("bl from an upper halfword", [NOP, 0xF000, 0xF802, NOP, NOP, NOP], 10, 4, {}),
    ("bx", [0x4700, NOP, NOP, NOP], 6, 2, {"r0": CODE + 7}),
    ("blx", [0x4780, NOP, NOP, NOP], 6, 2, {"r0": CODE + 7}),
    ("mov pc", [0x4687, NOP, NOP, NOP], 6, 2, {"r0": CODE + 6}),
    ("add pc", [0x4487, NOP, NOP, NOP], 6, 2, {"r0": 2}),
    *(
        (f"pop {{{count} and pc}}", [0xB400 | 0xFF >> 8 - count | 0x100, 0xBD00 | 0xFF >> 8 - count, NOP, NOP], 6,
         2 + count + 4 + count, {"sp": DATA + 64, "lr": CODE + 7})
        for count in range(9)
        if count
    ),
    *(
        (f"b{condition} {'taken' if taken else 'not taken'}", [0xD000 | condition << 8, NOP, NOP], 4 if taken else 2,
         2 if taken else 1, {"apsr": flags})
        for condition, (yes, no) in enumerate([
            (Z, 0), (0, Z), (C, 0), (0, C), (N, 0), (0, N), (V, 0), (0, V), (C, C | Z), (Z, C), (N | V, N), (N, N | V),
            (0, Z), (Z, 0),
        ])
        for taken, flags in [(True, yes), (False, no)]
    ),
]  # fmt: skip


def _prepared_board() -> Board:
    board = Board()
    board.poke([(RESETS, 0)])
    return board


@pytest.mark.parametrize(("name", "code", "cycles", "before"), [*SINGLE, *MEMORY, *MULTIPLE, *OTHERS])
def test_instruction_takes_its_cycles(name: str, code: list[int], cycles: int, before: dict[str, int]) -> None:
    """From its issue to the next instruction's."""
    board = _prepared_board()
    board.code(*code, NOP, NOP, NOP)
    board.start(**before)
    assert board.between(CODE, CODE + 2 * len(code)) == cycles, name


@pytest.mark.parametrize(("name", "code", "end", "cycles", "before"), BRANCHES)
def test_branch_takes_its_cycles(name: str, code: list[int], end: int, cycles: int, before: dict[str, int]) -> None:
    """From its issue to the target's, or to the next instruction's if it is not taken."""
    board = _prepared_board()
    board.code(*code, NOP, NOP)
    board.start(**before)
    assert board.between(CODE, CODE + end) == cycles, name


def test_block_takes_the_sum_of_its_instructions() -> None:
    """No hazard of any kind between neighbours."""
    rows = [row for row in [*SINGLE, *MEMORY] if not row[3] or row[3].get("r1") == DATA]
    code = [half for _, halves, _, _ in rows for half in halves]
    board = _prepared_board()
    # r0 becomes arbitrary, r1 stays the base: every row addresses through r1 and r2 = 0.
    board.code(*code, NOP)
    board.start(r1=DATA, r2=0, r9=0, sp=DATA + 256)
    assert board.between(CODE, CODE + 2 * len(code)) == sum(cycles for _, _, cycles, _ in rows)
