"""The facts about boards that `make bench` needs: board.toml, the bars, the emulators of their cores."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BOARDS = ROOT / "firmware" / "boards"


@dataclass(frozen=True)
class Core:
    """A core's emulators and bars, under the name that board.toml gives it."""

    qemu_machine: str
    qemu_code: int
    """Where that machine has its code memory. All have RAM at 0x20000000."""
    unicorn_model: str
    mips_bar: float


CORES = {
    "cortex-m0plus": Core("microbit", 0, "CORTEX_M0", 250.0),
    "cortex-m3": Core("stm32vldiscovery", 0x0800_0000, "CORTEX_M3", 180.0),
    "cortex-m4f": Core("netduinoplus2", 0x0800_0000, "CORTEX_M4", 180.0),
    "cortex-m7": Core("mps2-an500", 0, "CORTEX_M7", 90.0),
}


@dataclass(frozen=True)
class Board:
    """One board, from its folder."""

    name: str

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Returns the parsed board.toml."""
        return tomllib.loads((BOARDS / self.name / "board.toml").read_text())

    @property
    def chip(self) -> str:
        """Returns the name of the virtual chip."""
        return str(self.facts["chip"])

    @property
    def is_pico(self) -> bool:
        """Whether the board is a Pico: two cores, a boot block, flash behind XIP."""
        return self.chip == "rp2040"

    @property
    def core(self) -> Core:
        """Returns the core's emulators and bars."""
        return CORES[self.facts["core"]]

    @property
    def clock_hz(self) -> int:
        """Returns the clock of the workload: the board's default."""
        return int(self.facts["clock"]["sys_hz"])

    @property
    def data_address(self) -> int:
        """Returns the address where the board's firmware places its data by default."""
        memory = self.facts["memory"]
        return int(memory[f"{memory['data']}_start"])


def board_names() -> list[str]:
    """Returns the name of every board that has a folder, the Pico first."""
    return sorted((path.parent.name for path in BOARDS.glob("*/board.toml")), key=lambda name: (name != "pico", name))
