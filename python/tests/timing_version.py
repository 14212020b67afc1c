"""What a version of the virtual boards' timing stands for: digests of programs of which every cycle is recorded.

    cd python && python -m tests.timing_version    # writes timing_version.toml anew

The version of each chip is in `sim/timing/src/lib.rs`. Stored results name it. A change of the simulator that moves a
cycle of one of a chip's programs must raise the chip's version, and one that moves none must not.

The programs are random loops with interrupts, in every memory and with every setting of caches and wait states, the
accesses to peripherals of each chip, and on the RP2040 two cores that meet in memory and at locks.
"""

import hashlib
import random
import struct
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rtoslab import _sim
from rtoslab.base.paths import find_checkout_root
from rtoslab.base.toml_text import toml_value
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.targets.board import timing_settings
from tests.differential.engines import elf
from tests.differential.v6m import test_timing_cache as v6m
from tests.differential.v6m import test_timing_cache_pairs as pairs
from tests.differential.v7m import test_timing_cache as v7m
from tests.differential.v7m.loops import constant as wide_constant
from tests.differential.v7m.loops import image as v7m_image

STORED: Final = Path(__file__).with_suffix(".toml")
_PROGRAMS: Final = 5
"""Random programs of each setting."""
_CYCLES: Final = 12_000
_PAUSES: Final = (1, 2, 3, 5, 7, 11, 64, 500, 1_000)
_M4_VARIANTS: Final = v7m.CHIPS["stm32f446"]
_V7M: Final = {**v7m.CHIPS, "stm32f407": _M4_VARIANTS, "stm32f411": _M4_VARIANTS}
_REGISTERS: Final = {
    # A register of a port, of a timer, of a UART and of the clocks: one of each bus.
    "stm32f103": (0x4001_0800, 0x4001_080C, 0x4000_0024, 0x4000_4404, 0x4002_1000),
    "stm32f407": (0x4002_0000, 0x4002_0014, 0x4000_0024, 0x4001_1004, 0x4002_3800),
    "stm32f411": (0x4002_0000, 0x4002_0014, 0x4000_0024, 0x4001_1004, 0x4002_3800),
    "stm32f446": (0x4002_0000, 0x4002_0014, 0x4000_0024, 0x4001_1004, 0x4002_3800),
    "stm32f767": (0x4002_0000, 0x4002_0014, 0x4000_0024, 0x4001_1004, 0x4002_3800),
    "stm32h743": (0x5802_0000, 0x5802_0014, 0x4000_0024, 0x4001_1004, 0x5802_4400),
    "stm32l053": (0x5000_0000, 0x5000_0014, 0x4000_0024, 0x4000_4404, 0x4002_1000),
    "stm32l073": (0x5000_0000, 0x5000_0014, 0x4000_0024, 0x4000_4404, 0x4002_1000),
}
_STORE, _LOAD = 0x6001, 0x6801


def chips() -> list[str]:
    """Every chip that a board of the catalogue has."""
    return sorted({board.facts.chip for board in Catalogue(find_checkout_root()).boards.values()})


def digests(chip: str) -> dict[str, str]:
    """Returns the digest of the programs and the digest of their cycles, and of the default of every timing rule."""
    programs, cycles = hashlib.sha256(), hashlib.sha256()
    for content, machine in _pairs() if chip == "rp2040" else machines(chip):
        programs.update(content)
        cycles.update(times(machine).encode())
    cycles.update(repr([(key, default) for key, default, _, _ in timing_settings(chip)]).encode())
    return {"programs": programs.hexdigest()[:16], "times": cycles.hexdigest()[:16]}


def machines(chip: str) -> Iterator[tuple[bytes, _sim.Machine]]:
    """Programs for a chip of one core, each on a board at reset with the settings that belong to it."""
    variants = v6m.SETTINGS if chip not in _V7M else ({}, *_V7M[chip][1])
    for variant, settings in enumerate(variants):
        for number in range(_PROGRAMS):
            rng = random.Random(f"timing {variant} {number}")
            content = _random_loop(chip, rng) if number else _register_loop(chip)
            machine = _sim.Machine(chip)
            for key, value in settings.items():
                machine.set(key, value)
            machine.load(content, "loop.elf")
            yield content, machine


def _random_loop(chip: str, rng: random.Random) -> bytes:
    if chip not in _V7M:
        return v6m.image(rng, rewrites=rng.random() < 0.3)[1]
    code = rng.choice(v7m.CODE_BASES.get(chip, (v7m.FLASH,))) + v7m.CODE_OFFSET
    data = rng.choice(v7m.DATA_BASES.get(chip, (v7m.SRAM,))) + v7m.DATA_OFFSET
    return v7m_image(_V7M[chip][0], rng, code, data, rng.randrange(300, 4000))


def _register_loop(chip: str) -> bytes:
    """Loads and stores of each register, alone and in pairs, again and again."""
    constant = wide_constant if chip in _V7M else v6m.constant
    body: list[int] = []
    for address in _REGISTERS[chip]:
        body += [*constant(0, address), _LOAD, _STORE, _STORE, _LOAD, _LOAD, 0xBF00, _STORE]
    body += [0xE000 | -(len(body) + 2) & 0x7FF]
    vectors = struct.pack("<2I", v6m.STACK, v6m.CODE | 1)
    return elf([(v6m.FLASH, vectors), (v6m.CODE, struct.pack(f"<{len(body)}H", *body))], v6m.CODE | 1)


def _pairs() -> Iterator[tuple[bytes, _sim.Machine]]:
    for number in range(6 * _PROGRAMS):
        program = pairs.segments(random.Random(f"timing {number}"), short=number % 2 == 0)
        yield repr(program).encode(), pairs.board(program)


def times(machine: _sim.Machine) -> str:
    """When which core is where: at every pause, at every exception, and where cycles were lost."""
    machine.trace_exceptions(True)
    seen: list[object] = []
    for pause in (_CYCLES, *_PAUSES * 4, _CYCLES):
        stop = machine.run(pause)
        seen.append((stop["reason"], machine.cycle(), machine.stats()["cores"], machine.registers(0)["pc"]))
    return repr([seen, machine.take_events()])


def main() -> None:
    """Writes the file; refuses where times moved and the version did not."""
    before, now = stored_version()["chips"], {chip: digests(chip) for chip in chips()}
    versions = {chip: _sim.timing_version(chip) for chip in now}
    moved = [
        chip for chip, report in now.items() if chip in before and {**report, "version": versions[chip]} != before[chip]
    ]
    forgotten = [chip for chip in moved if before[chip]["version"] == versions[chip]]
    if forgotten:
        sys.exit(
            f"The timing of {', '.join(forgotten)} moved; raise the versions of these chips in sim/timing/src/lib.rs, "
            f"build, and try again. If the programs alone are others, remove {STORED.name} first."
        )
    lines: list[str] = []
    for chip, report in now.items():
        lines += [f"[chips.{chip}]", f"version = {versions[chip]}"]
        lines += [*(f"{name} = {toml_value(value)}" for name, value in report.items()), ""]
    STORED.write_text("\n".join(lines[:-1]) + "\n")


def stored_version() -> dict[str, Any]:
    """What the file holds; nothing if there is none."""
    if not STORED.is_file():
        return {"chips": {}}
    return tomllib.loads(STORED.read_text())


if __name__ == "__main__":
    main()
