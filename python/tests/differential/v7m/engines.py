"""Runs one piece of Thumb-2 code on a bare virtual core and in unicorn, from the same state, and returns both ends.

unicorn's models of the Cortex-M3, M4 and M7 come without `UC_MODE_MCLASS`: with it, unicorn 2.1 makes an M33 of any.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Any

import unicorn
from unicorn import arm_const

from rtoslab import _sim
from tests.differential.banks import CORE_REGISTERS, Bank

RAM = 0x2000_0000
RAM_BYTES = 0x4_0000
CODE = RAM + 0x1000
CODE_BYTES = 0x800
END = CODE + CODE_BYTES
DATA = RAM + 0x2_0000
DATA_BYTES = 0x400
STACK = DATA + 0x200
# N, Z, C, V, Q and GE.
FLAGS = 0xF80F_0000
# Longer than any test's code takes.
INSTRUCTIONS = 100_000
MODELS = {
    "m3": arm_const.UC_CPU_ARM_CORTEX_M3,
    "m4": arm_const.UC_CPU_ARM_CORTEX_M4,
    "m7": arm_const.UC_CPU_ARM_CORTEX_M7,
}


@dataclass(frozen=True)
class State:
    """r0 to r12, SP, LR; APSR; S0 to S31 and FPSCR; the data area's contents."""

    registers: tuple[int, ...]
    flags: int
    floats: tuple[int, ...]
    fpscr: int
    data: bytes

    def __str__(self) -> str:
        words = " ".join(f"{value:08x}" for value in self.registers)
        floats = " ".join(f"{value:08x}" for value in self.floats)
        return f"registers {words} flags {self.flags:08x} floats {floats} fpscr {self.fpscr:08x}"


class VirtualCore:
    """The core under test; it runs the code at `CODE` until `END`."""

    def __init__(self, kind: str) -> None:
        self.core = _sim.FlatCore(kind)
        self.core.until(END)

    def run(self, code: bytes, start: State, pause: int = 1 << 60) -> State | str:
        """The state at `END`, or why it did not get there."""
        core = self.core
        core.write(CODE, code)
        core.write(DATA, start.data)
        core.set_state([*start.registers, CODE, start.flags, *start.floats, start.fpscr])
        reason = core.run(INSTRUCTIONS, pause)
        if reason != "Stopped":
            return reason
        words = core.state()
        data = core.read(DATA, DATA_BYTES)
        return State(tuple(words[:15]), words[16] & FLAGS, tuple(words[17:49]), words[49], data)


class Unicorn:
    """The reference."""

    def __init__(self, kind: str) -> None:
        # The stub of its Python 2 face knows neither `cpu` nor the batches.
        engine: Any = unicorn.Uc
        self.engine = engine(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB, cpu=MODELS[kind])
        self.engine.mem_map(RAM, RAM_BYTES)
        numbers = [arm_const.UC_ARM_REG_CPSR, *CORE_REGISTERS]
        self.has_floats = kind != "m3"
        if self.has_floats:
            numbers += [*(getattr(arm_const, f"UC_ARM_REG_S{n}") for n in range(32)), arm_const.UC_ARM_REG_FPSCR]
        self.bank = Bank(self.engine, numbers)
        if self.has_floats:
            # The first floating-point instruction begins a new context, which resets FPSCR (ARMv7-M B1.5.7): vadd.
            self.run(assemble([0xEE30, 0x0A00]), State((0,) * 15, 0, (0,) * 32, 0, bytes(DATA_BYTES)))

    def run(self, code: bytes, start: State) -> State | str:
        """The state at `END`, or why it did not get there."""
        engine = self.engine
        engine.mem_write(CODE, code)
        engine.ctl_remove_cache(CODE, CODE + CODE_BYTES)
        engine.mem_write(DATA, start.data)
        floating = (*start.floats, start.fpscr)
        self.bank.write((start.flags, *start.registers, *(floating if self.has_floats else ())))
        try:
            engine.emu_start(CODE | 1, END, count=INSTRUCTIONS)
        except unicorn.UcError as error:
            return str(error)
        words = self.bank.read()
        # SP's bits 1:0 are always zero (ARMv7-M B1.4.1); unicorn lets any value in.
        words[14] &= ~3
        *floats, fpscr = words[16:] if self.has_floats else floating
        data = bytes(engine.mem_read(DATA, DATA_BYTES))
        return State(tuple(words[1:16]), words[0] & FLAGS, tuple(floats), fpscr, data)


class Pair:
    """Both, made once for a core: making one is slower than a thousand cases."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.ours = VirtualCore(kind)
        self.theirs = Unicorn(kind)

    def clear(self) -> None:
        """The same memory around data and code, after runs that ended in different places."""
        for address in (DATA - 0x1000, RAM):
            self.ours.core.write(address, bytes(0x3000))
            self.theirs.engine.mem_write(address, bytes(0x3000))

    def assert_same_end(self, body: list[int], start: State, pause: int = 1 << 60) -> None:
        """Same end from the same start; ours gets no more than `pause` cycles at a time."""
        if self.kind == "m3":
            # It has no GE flags.
            start = replace(start, flags=start.flags & 0xF800_0000)
        code = assemble(body)
        ours, theirs = self.ours.run(code, start, pause), self.theirs.run(code, start)
        assert isinstance(theirs, State), f"{self.kind} {spell(body)}: the reference says {theirs}; ours {ours}"
        assert ours == theirs, f"{self.kind} {spell(body)}\nfrom   {start}\nours   {ours}\ntheirs {theirs}"


def spell(body: list[int]) -> str:
    """The body's halfwords as one writes them."""
    return " ".join(f"{half:04x}" for half in body)


def assemble(body: list[int]) -> bytes:
    """The body's halfwords, then a branch to `END`; the rest of the area is undefined instructions."""
    distance = (CODE_BYTES - 2 * len(body) - 4) // 2
    halves = [*body, 0xE000 | distance & 0x7FF]
    code = b"".join(struct.pack("<H", half) for half in halves)
    return code + b"\x00\xde" * ((CODE_BYTES - len(code)) // 2)
