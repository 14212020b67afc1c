"""PRIMASK, the stack pointers and the barriers in blocks of two cores that are code of the host: values, what an
unprivileged core may not do, and either stack.
"""

from __future__ import annotations

import random

from tests.differential.v6m.rows import ROWS, Rows, anything
from tests.differential.v6m.test_timing_cache import CPSID

CPSIE, ISB, DMB = 0xB662, (0xF3BF, 0x8F6F), (0xF3BF, 0x8F5F)
MSP, PSP, PRIMASK, CONTROL = 8, 9, 16, 20


def mrs(register: int, special: int) -> list[int]:
    return [0xF3EF, 0x8000 | register << 8 | special]


def msr(special: int, register: int) -> list[int]:
    return [0xF380 | register, 0x8800 | special]


MASKS = [
    *(*msr(PRIMASK, 3), *mrs(4, PRIMASK), CPSID, *mrs(5, PRIMASK)),
    *(CPSIE, *mrs(6, PRIMASK), *msr(PRIMASK, 7), *DMB, *mrs(7, PRIMASK), CPSIE),
]
"""r3 and r7 have any value: only their lowest bits count."""
STACKS = [*msr(PSP, 3), *mrs(4, PSP), *mrs(5, MSP), *ISB, *msr(PSP, 6), *mrs(7, PSP)]
"""Of PSP the two lowest bits are zero."""
EITHER = [
    # mov r5, sp; msr psp, r5; movs r6, #2; ands r4, r6; msr control, r4: one row has the other stack, the next one not
    *(0x466D, *msr(PSP, 5), 0x2602, 0x4034, *msr(CONTROL, 4), *ISB),
    # sub sp, #8, so that they differ; mrs r5, psp; mrs r6, msp; add sp, #8; movs r4, #0; msr control, r4
    *(0xB082, *mrs(5, PSP), *mrs(6, MSP), 0xB002, 0x2400, *msr(CONTROL, 4), *ISB),
]
UNPRIVILEGED = [
    # movs r4, #1; msr control, r4: from the first row on
    *(0x2401, *msr(CONTROL, 4), *ISB, 0x3301, *mrs(5, PSP), *msr(PSP, 6), *mrs(6, MSP)),
    *(0x3301, CPSID, *mrs(7, PRIMASK), *msr(PRIMASK, 3), *mrs(4, PRIMASK)),
]


def test_special_registers() -> None:
    rng = random.Random("special registers of two cores")
    rows = Rows()
    for body in (MASKS, STACKS, EITHER, UNPRIVILEGED):
        assert rows.assert_engines_agree(body, [anything(rng), anything(rng)]) > ROWS, [hex(half) for half in body]
