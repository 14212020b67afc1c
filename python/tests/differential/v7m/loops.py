"""Endless loops for tests of remembered timing: what a random program has, and what only a loop in flash has."""

import random
import struct

from tests.differential.engines import elf
from tests.differential.v7m.test_programs import BASE, FREE, INDEX, Writer

FLASH, SRAM = 0x0800_0000, 0x2000_0000
HANDLER, STACK = FLASH + 0x200, SRAM + 0x4000
TICKS = SRAM + 0x800
SYSTICK_VECTOR = 15
ACTLR, ICIALLU, DCIMVAC = 0xE000_E008, 0xE000_EF50, 0xE000_EF5C
SHPR3 = 0xE000_ED20
# Nothing; the branch target cache is not read; it takes no entries; both; one instruction a cycle.
ACTLR_VALUES = (0, 0, 0, 1 << 13, 1 << 14, 3 << 13, 1 << 16)
DSB, DMB, ISB = (0xF3BF, 0x8F4F), (0xF3BF, 0x8F5F), (0xF3BF, 0x8F6F)


def constant(register: int, value: int) -> list[int]:
    """MOVW and MOVT."""
    halves = []
    for opcode, half in ((0xF240, value & 0xFFFF), (0xF2C0, value >> 16)):
        halves += [opcode | half >> 12 | (half >> 11 & 1) << 10, (half >> 8 & 7) << 12 | register << 8 | half & 0xFF]
    return halves


def store(address: int, value: int) -> list[int]:
    return [*constant(0, address), *constant(1, value), 0x6001]


class Loop(Writer):
    """An endless loop of what the writer makes, and of what only a loop in flash has; its code begins at `code`."""

    def __init__(self, kind: str, rng: random.Random, code: int) -> None:
        super().__init__(kind, rng)
        self.kind = kind
        self.code = code

    def stored_and_loaded(self) -> list[int]:
        """A store, up to three other instructions, a load around it; any size."""
        rng, offset = self.rng, self.rng.randrange(64)
        between = [half for _ in range(rng.randrange(4)) for half in self._narrow()]
        near = max(0, offset + rng.randrange(-4, 5))
        stored = [rng.choice((0xF880, 0xF8A0, 0xF8C0)) | BASE, self._free() << 12 | offset]
        return [*stored, *between, rng.choice((0xF890, 0xF8B0, 0xF8D0)) | BASE, self._free() << 12 | near]

    def call(self) -> list[int]:
        """BL to a function behind it and a branch over that; it returns by BX or POP."""
        inner = [half for _ in range(self.rng.randrange(1, 6)) for half in super(Loop, self).plain()]
        by_register = [0xF84D, 0xED04, *inner, 0xF85D, 0xEB04, 0x4770]
        function = self.rng.choice((by_register, [0xB503, *inner, 0xBD03]))
        return [0xF000, 0xF802, *wide_branch(len(function)), *function]

    def predicated(self) -> list[int]:
        """IT and a load, a store, or a branch over one instruction."""
        rng = self.rng
        single = [rng.choice((0xF880, 0xF8C0, 0xF890, 0xF8D0)) | BASE, self._free() << 12 | rng.randrange(64)]
        over = self._narrow()
        return [0xBF08 | rng.randrange(14) << 4, *rng.choice((single, [0xE000 | len(over) - 1, *over]))]

    def chain(self) -> list[int]:
        """What waits for the result before it: S0 to S3, or a product of a loaded word."""
        rng = self.rng
        if self.kind == "m3" or rng.randrange(3) == 0:
            low, high = rng.sample(FREE, 2)
            return [0xF8D0 | BASE, low << 12 | 4 * rng.randrange(16), 0xFB00 | low, 0xF000 | high << 8 | low]
        code: list[int] = []
        for _ in range(rng.randint(2, 5)):
            d, n, m = (rng.randrange(4) for _ in range(3))
            # VADD, VMUL, VFMA, VMLA.
            first = rng.choice((0xEE30, 0xEE20, 0xEEA0, 0xEE00)) | (d & 1) << 6 | n >> 1
            code += [first, d >> 1 << 12 | 0xA00 | (n & 1) << 7 | (m & 1) << 5 | m >> 1]
        return code

    def masked(self) -> list[int]:
        """A few instructions under PRIMASK or BASEPRI, as kernels do it; what interrupts them waits."""
        rng, low = self.rng, self._low()
        inner = [half for _ in range(rng.randrange(1, 8)) for half in self._narrow()]
        if rng.getrandbits(1):
            return [0xB672, *inner, 0xB662]
        to_basepri = [0xF380 | low, 0x8811]
        barriers = rng.choice(([], [*ISB, *DSB]))
        return [0x2040 | low << 8, *to_basepri, *barriers, *inner, 0x2000 | low << 8, *to_basepri]

    def special(self) -> list[int]:
        """A barrier, or a special register read or written."""
        rng, low = self.rng, self._low()
        # MRS of APSR, PRIMASK, BASEPRI; MSR to APSR.
        moves = [[0xF3EF, 0x8000 | low << 8 | register] for register in (0, 16, 17)]
        return rng.choice((list(ISB), list(DSB), list(DMB), *moves, [0xF380 | low, 0x8800]))

    def plain(self) -> list[int]:
        """One instruction, or a few that belong together."""
        rng = self.rng
        makers = (
            self.division, self.register, self.table, self.stored_and_loaded, self.predicated, self.chain,
            self.masked, self.special,
        )  # fmt: skip
        choice = rng.randrange(18)
        return makers[choice]() if choice < len(makers) else super().plain()

    def division(self) -> list[int]:
        """SDIV or UDIV."""
        low = self.rng.sample(range(6), 3)
        return [self.rng.choice((0xFB90, 0xFBB0)) | low[0], 0xF0F0 | low[1] << 8 | low[2]]

    def register(self) -> list[int]:
        """LDR.W of a word of the code before."""
        return [0xF85F, self._free() << 12 | self.rng.randrange(64)]

    def table(self) -> list[int]:
        """r4 = word r5 & 15 of the code."""
        return [0xF005, 0x050F, 0x00AD, *constant(4, self.code), 0x5964]

    def branch(self) -> list[int]:
        """A branch over some instructions (one is MOV PC, PC, over a halfword), or a call."""
        makers = (self.call, self.call, lambda: [0x46FF, *self._narrow()])
        choice = self.rng.randrange(6)
        return makers[choice]() if choice < len(makers) else super().branch()

    def loop(self, length: int) -> list[int]:
        """Ends with a branch to its start; inner loops of their own."""
        body: list[int] = []
        while len(body) < length:
            inner = self.program(self.rng.randrange(8, 30))
            if self.rng.getrandbits(1):
                # r11 rounds; in between it is on the stack.
                stored = [0xF84D, 0xBD04, *inner, 0xF85D, 0xBB04]
                again = [0xF1BB, 0x0B01, *wide_branch_ne(-(len(stored) + 4))]
                body += [0xF04F, 0x0B00 | self.rng.randint(1, 6), *stored, *again]
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


def image(kind: str, rng: random.Random, code: int, data: int, tick: int) -> bytes:
    """A vector table, a handler each `tick` cycles, set-up and loop, which is at `code` and writes around `data`."""
    m7 = kind == "m7"
    setup = [
        *store(0xE000_E014, tick),
        *store(0xE000_E018, 0),
        *store(SHPR3, 0x8000_0000),
        *(store(0xE000_ED88, 0xF << 20) if kind != "m3" else []),
        *(store(ACTLR, rng.choice(ACTLR_VALUES)) if m7 else []),
        0xF3BF, 0x8F4F, 0xF3BF, 0x8F6F,
        *constant(BASE, data + 0x200),
        *constant(INDEX, 4 * rng.randrange(64)),
        *store(0xE000_E010, 7),
    ]  # fmt: skip
    emptied = rng.choice(([], [ICIALLU], [DCIMVAC], [ICIALLU, DCIMVAC])) if m7 else []
    empty = [half for register in emptied for half in store(register, code + 4 * rng.randrange(64))]
    handler = [*constant(0, TICKS), 0x6801, 0x3101, 0x6001, *empty, 0x4770]
    loop = Loop(kind, rng, code).loop(rng.randrange(100, 900))
    vectors = [STACK, code | 1, *(HANDLER | 1 for _ in range(SYSTICK_VECTOR - 1))]
    parts = [
        (FLASH, struct.pack(f"<{len(vectors)}I", *vectors)),
        (HANDLER, struct.pack(f"<{len(handler)}H", *handler)),
        (code, struct.pack(f"<{len(setup + loop)}H", *setup, *loop)),
    ]
    return elf(parts, code | 1)
