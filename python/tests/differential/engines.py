"""Runs one piece of Thumb code on the virtual board and in unicorn, from the same state, and returns both ends."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import unicorn
from unicorn import arm_const

from rtoslab import _sim
from tests.differential.banks import CORE_REGISTERS, Bank

SRAM = 0x2000_0000
SRAM_BYTES = 0x4_0000
CODE = SRAM + 0x1000
CODE_BYTES = 0x800
END = CODE + CODE_BYTES
DATA = SRAM + 0x2_0000
DATA_BYTES = 0x400
STACK = DATA + 0x200
FLAGS = 0xF000_0000
NAMES = [*(f"r{n}" for n in range(13)), "sp", "lr"]


@dataclass(frozen=True)
class State:
    """r0 to r12, SP and LR, the flags N Z C V in bits 31:28, and the data area's contents."""

    registers: tuple[int, ...]
    flags: int
    data: bytes


def elf(segments: list[tuple[int, bytes]], entry: int) -> bytes:
    """A minimal ELF32 for Arm with these load segments."""
    header_bytes = 52 + 32 * len(segments)
    offset = header_bytes
    headers, contents = b"", b""
    for address, content in segments:
        size = len(content)
        headers += struct.pack("<8I", 1, offset, address, address, size, size, 7, 4)
        contents += content
        offset += size
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    counts = (52, 32, len(segments), 0, 0, 0)
    return ident + struct.pack("<HHIIIII6H", 2, 40, 1, entry, 52, 0, 0, *counts) + headers + contents


class VirtualBoard:
    """The machine under test; it runs the code at `CODE` until `END`."""

    def __init__(self) -> None:
        self.machine = _sim.Machine("rp2040", cores=1)
        self.machine.load(elf([(SRAM, bytes(SRAM_BYTES))], SRAM), "blank.elf")
        self.machine.until(END)

    def run(self, code: bytes, start: State) -> State:
        """The state at `END`."""
        self.machine.write(CODE, code)
        self.machine.write(DATA, start.data)
        for name, value in zip(NAMES, start.registers, strict=True):
            self.machine.set_register(0, name, value)
        self.machine.set_register(0, "apsr", start.flags)
        self.machine.set_register(0, "pc", CODE)
        stop = self.machine.run(1_000_000)
        assert stop["reason"] == "until", stop
        left = self.machine.registers(0)
        registers = tuple(left[name] for name in NAMES)
        return State(registers, left["xpsr"] & FLAGS, self.machine.read(DATA, DATA_BYTES))


class Unicorn:
    """The reference."""

    def __init__(self) -> None:
        self.engine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self.engine.ctl_set_cpu_model(arm_const.UC_CPU_ARM_CORTEX_M0)
        self.engine.mem_map(SRAM, SRAM_BYTES)
        self.bank = Bank(self.engine, (*CORE_REGISTERS, arm_const.UC_ARM_REG_CPSR))

    def run(self, code: bytes, start: State) -> State:
        """The state at `END`."""
        engine = self.engine
        engine.mem_write(CODE, code)
        engine.ctl_remove_cache(CODE, CODE + CODE_BYTES)
        engine.mem_write(DATA, start.data)
        self.bank.write((*start.registers, start.flags))
        engine.emu_start(CODE | 1, END)
        *registers, flags = self.bank.read()
        return State(tuple(registers), flags & FLAGS, bytes(engine.mem_read(DATA, DATA_BYTES)))


def assemble(body: list[int]) -> bytes:
    """The body's halfwords, then a branch to `END`; the rest of the area is undefined instructions."""
    distance = (CODE_BYTES - 2 * len(body) - 4) // 2
    halves = [*body, 0xE000 | distance & 0x7FF]
    code = b"".join(struct.pack("<H", half) for half in halves)
    return code + b"\x00\xde" * ((CODE_BYTES - len(code)) // 2)
