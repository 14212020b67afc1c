"""A bare virtual board with code and a vector table of the test's own in SRAM."""

from __future__ import annotations

import struct

from rtoslab import _sim
from tests.differential.engines import SRAM, elf

VECTORS = SRAM
CODE = SRAM + 0x1000
HANDLER = SRAM + 0x2000
OTHER_HANDLER = SRAM + 0x2100
DATA = SRAM + 0x8000
STACK = SRAM + 0xA000
NOP, SELF = 0xBF00, 0xE7FE
SIO, SCS = 0xD000_0000, 0xE000_E000
ISER, ISPR, VTOR, SYST_CSR = SCS + 0x100, SCS + 0x200, SCS + 0xD08, SCS + 0x010
PRIORITIES = SCS + 0x400


def halves(*values: int) -> bytes:
    """Little-endian halfwords."""
    return b"".join(struct.pack("<H", value) for value in values)


class Board:
    """One or two cores; code at `CODE`, vectors at `VECTORS` once `use_vectors` was called."""

    def __init__(self, cores: int = 1) -> None:
        self.machine = _sim.Machine("rp2040", cores=cores)
        self.machine.load(elf([(SRAM, halves(SELF) * 0x8000)], SRAM), "bare.elf")
        self.machine.set_register(0, "sp", STACK)

    def code(self, *values: int, at: int = CODE) -> None:
        """Writes code."""
        self.machine.write(at, halves(*values))

    def start(self, **registers: int) -> None:
        """Sets registers and the PC to `CODE`."""
        for name, value in registers.items():
            self.machine.set_register(0, name, value)
        self.machine.set_register(0, "pc", CODE)

    def vectors(self, handlers: dict[int, int]) -> None:
        """Exception number -> handler address; every other vector is an endless loop at `VECTORS` + 0x800."""
        words = [(handlers.get(number, VECTORS + 0x800)) | 1 for number in range(48)]
        words[0] = STACK
        self.machine.write(VECTORS, struct.pack("<48I", *words))

    def poke(self, writes: list[tuple[int, int]]) -> None:
        """Executes stores to registers: the only way in, as for firmware."""
        for address, value in writes:
            self.code(0x6001, NOP, SELF)  # str r1, [r0]
            self.start(r0=address, r1=value)
            self.machine.run(40)

    def between(self, start: int, end: int) -> int:
        """Runs from `CODE` until `end` and returns the cycles from `start` to there."""
        index = self.machine.between(start, end)
        self.machine.until(end)
        stop = self.machine.run(100_000)
        assert stop["reason"] == "until", stop
        cycles = self.machine.between_result(index)["max_cycles"]
        assert cycles is not None
        return cycles
