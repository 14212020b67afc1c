"""The location of an instruction: function, source line, disassembly."""

import shutil
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import cross_compiler_tool_name, program_output
from rtoslab.images import SourceLines


@dataclass(frozen=True, slots=True)
class InstructionLocation:
    """The place of one instruction: address, function, source line, disassembly."""

    address: int
    function: str
    """Its name, with the offset unless it is the first instruction. Empty: no symbol covers it."""
    source: tuple[str, ...]
    """`file:line`, of inlined code also where it was called, innermost first. Empty: the image has no line numbers."""
    text: str
    """The disassembly. Empty: no disassembler is installed."""

    def __str__(self) -> str:
        """Returns the place for a person, on one line."""
        source = f"({' in '.join(self.source)})" if self.source else ""
        parts = [f"{self.address:#010x}", self.function, source, f"`{self.text}`" if self.text else ""]
        return " ".join(part for part in parts if part)


class InstructionNames:
    """Finds function, source line and disassembly of one image's instructions."""

    def __init__(self, elf: Path, symbols: Sequence[tuple[int, int, str]]) -> None:
        """`symbols`: (address, size in bytes, name) by address."""
        self._elf = elf
        self._lines = SourceLines(elf)
        self._symbols = symbols

    def locate_instruction(self, address: int) -> InstructionLocation:
        """Returns the place of the instruction at an address."""
        return InstructionLocation(
            address,
            self.function_name_at(address, offset=True),
            self._lines.source_lines_at(address),
            self._disassemble(address),
        )

    def function_name_at(self, address: int, *, offset: bool = False) -> str:
        """Returns the name of the function that contains an address, with the offset in it if requested. Empty if there
        is none."""
        place = bisect_right(self._symbols, address, key=lambda row: row[0]) - 1
        while place >= 0 and self._symbols[place][0] + 0x10000 > address:
            start, size, name = self._symbols[place]
            if start <= address < start + max(size, 2):
                return f"{name}+{address - start:#x}" if offset and address != start else name
            place -= 1
        return ""

    def _disassemble(self, address: int) -> str:
        """Returns the disassembly of the instruction at an address. Empty without a disassembler."""
        tool = shutil.which(cross_compiler_tool_name("objdump"))
        if tool is None:
            return ""
        span = [f"--start-address={address:#x}", f"--stop-address={address + 4:#x}"]
        answer = program_output([tool, "-d", "--no-show-raw-insn", *span, self._elf])
        lines = [line for line in answer.splitlines() if line.strip().startswith(f"{address:x}:")]
        return " ".join(lines[0].partition(":")[2].partition(";")[0].split()) if lines else ""
