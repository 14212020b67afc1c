"""Waits for a register that are passed over are the waits: the same cycles as with the profile on, where each
instruction is executed.

Programs send bytes through a serial port and wait before each one, in loops of many forms: with a limit that is
reached or is not, that begin with the load or end with it, that do more than wait. SysTick interrupts them, and the
board stops and goes on at random cycles.
"""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from rtoslab._sim import Machine

if TYPE_CHECKING:
    from pathlib import Path

CYCLES: Final = 400_000
PROGRAMS: Final = 4 * int(os.environ.get("RTOSLAB_SEEDS", "1"))


@dataclass(frozen=True)
class Chip:
    """Where its serial port is, and how it is switched on."""

    name: str
    cpu: str
    vectors: int
    status: int
    data: int
    busy_if: str
    """Condition behind TST of the status with the mask: it cannot take a byte."""
    mask: int
    setup: tuple[tuple[int, int], ...]
    divided: tuple[int, int]
    """What makes the port's bus slower than the core, if it can be."""


def stm32(name: str, cpu: str, base: int, enable: tuple[int, int], divided: tuple[int, int], *, later: bool) -> Chip:
    """USART1 at 16 cycles a bit or so."""
    brr, cr1, on = (0x0C, 0x00, 0xD) if later else (0x08, 0x0C, 0x200C)
    status, data = (0x1C, 0x28) if later else (0x00, 0x04)
    cache = ((0xE000_EF50, 0), (0xE000_ED14, 0x0002_0200)) if "m7" in cpu else ()
    setup = (*cache, enable, (base + brr, 0x90), (base + cr1, on))
    return Chip(name, cpu, 0x0800_0000, base + status, base + data, "eq", 0x80, setup, divided)


CHIPS: Final = (
    Chip("rp2040", "cortex-m0plus", 0x2000_0000, 0x4003_4018, 0x4003_4000, "ne", 0x20,
         ((0xE000_ED08, 0x2000_0000), (0x4000_F000, 1 << 22), (0x4000_8048, 1 << 11),
          (0x4003_4024, 5), (0x4003_402C, 0x60), (0x4003_4030, 0x301)), (0xE000_ED08, 0x2000_0000)),
    stm32("stm32l073", "cortex-m0plus", 0x4001_3800, (0x4002_1034, 1 << 14), (0x4002_100C, 5 << 11), later=True),
    stm32("stm32f103", "cortex-m3", 0x4001_3800, (0x4002_1018, 1 << 14), (0x4002_1004, 5 << 11), later=False),
    stm32("stm32f446", "cortex-m4", 0x4001_1000, (0x4002_3844, 1 << 4), (0x4002_3808, 5 << 13), later=False),
    stm32("stm32f767", "cortex-m7", 0x4001_1000, (0x4002_3844, 1 << 4), (0x4002_3808, 5 << 13), later=True),
    stm32("stm32h743", "cortex-m7", 0x4001_1000, (0x5802_44F0, 1 << 4), (0x5802_401C, 5 << 8), later=True),
)  # fmt: skip

FORMS: Final = {
    # What may be passed over. r1 the status register, r4 the mask; r2, r3 are free.
    "plain": "1: ldr r2,[r1]; tst r2,r4; b{busy} 1b",
    "limited": "ldr r3,={limit}; 1: subs r3,#1; cmp r3,#0; beq 2f; ldr r2,[r1]; tst r4,r2; b{busy} 1b; 2:",
    "limited at the end": "ldr r3,={limit}; 1: ldr r2,[r1]; tst r2,r4; b{free} 2f; subs r3,r3,#1; bne 1b; 2:",
    "limit beyond the sign": "ldr r3,=0x80000040; 1: ldr r2,[r1]; tst r2,r4; b{free} 2f; subs r3,#1; bmi 1b; 2:",
    "counted up": "movs r3,#0; ldr r0,={limit}; 1: cmp r3,r0; beq 2f; adds r3,#1; {read}; b{busy} 1b; 2:",
    "counted up over the sign": "ldr r3,=0x7fffff80; 1: adds r3,#1; bmi 2f; ldr r2,[r1]; tst r2,r4; b{busy} 1b; 2:",
    "constant limit": "movs r3,#200; 1: subs r3,#1; cmp r3,#77; bls 2f; ldr r2,[r1]; tst r2,r4; b{busy} 1b; 2:",
    "signed limit": "movs r3,#0; ldr r0,=-20; 1: subs r3,#1; cmp r3,r0; ble 2f; ldr r2,[r1]; tst r2,r4; b{busy} 1b; 2:",
    "limit less counter": "movs r3,#0; movs r0,#150; 1: adds r3,#1; cmp r0,r3; bcc 2f; {read}; b{busy} 1b; 2:",
    "entered in the middle": "movs r2,#0; b 2f; .align 2; 1: nop; 2: ldr r2,[r1]; tst r2,r4; b{busy} 1b",
    "other register": "1: ldr r2,[r1]; movs r3,r2; ands r3,r4; uxtb r3,r3; cmp r3,#0; b{busy} 1b",
    # What is no mere wait.
    "counts": "1: adds r6,#1; ldr r2,[r1]; tst r2,r4; b{busy} 1b",
    "stores": "1: ldr r2,[r1]; str r2,[r5]; tst r2,r4; b{busy} 1b",
    "reads the tick": "1: ldr r2,[r1]; ldr r3,[r5]; adds r6,r6,r3; tst r2,r4; b{busy} 1b",
    "counter used": "ldr r3,={limit}; 1: subs r3,#1; eors r6,r3; ldr r2,[r1]; tst r2,r4; b{busy} 1b",
    "calls": "push {{r1,lr}}; 1: bl nothing; ldr r2,[r1]; tst r2,r4; b{busy} 1b; pop {{r1,r2}}; mov lr,r2",
}
WIDE: Final = {
    "cbz": "1: ldr.w r2,[r1,#0]; ands r2,r4; {cb} r2,2f; b 1b; 2:",
    "byte": "1: ldrb.w r2,[r1,#0]; tst.w r2,#{mask}; b{busy} 1b",
}


def program(rng: random.Random, chip: Chip) -> str:
    """Sets the chip up and sends for ever, each byte behind another form of wait."""
    forms = {**FORMS, **({} if "m0" in chip.cpu else WIDE)}
    free, cb = ("eq", "cbz") if chip.busy_if == "ne" else ("ne", "cbnz")
    lines = [".syntax unified", f".cpu {chip.cpu}", ".thumb", ".word 0x20001800, start+1"]
    lines += [".rept 13", ".word other+1", ".endr", ".word tick+1", ".global start", ".thumb_func", "start:"]
    divided = (chip.divided,) * rng.randrange(2)
    for address, value in (
        *divided,
        *chip.setup,
        (0xE000_E014, rng.randrange(900, 9000)),
        (0xE000_E018, 0),
        (0xE000_E010, 7),
    ):
        lines += [f"ldr r0,={address:#x}", f"ldr r1,={value:#x}", "str r1,[r0]"]
    lines += ["ldr r5,=0x20001000", f"movs r4,#{chip.mask}", "movs r6,#0", "cpsie i", "again:"]
    for form in rng.sample(sorted(forms), len(forms)):
        limit = rng.choice((3, 30, 300, 100_000))
        text = forms[form].format(
            busy=chip.busy_if, free=free, cb=cb, read="ldr r2,[r1]; tst r2,r4", limit=limit, mask=chip.mask
        )
        lines += [f"ldr r1,={chip.status:#x}", *["nop"] * rng.randrange(4), text]
        lines += [f"ldr r1,={chip.data:#x}", "adds r6,#1", "str r6,[r1]", "b 3f", ".ltorg", ".align 2", "3:"]
    lines += ["ldr r0,=again+1", "bx r0", ".ltorg", ".thumb_func", "nothing: bx lr", ".thumb_func"]
    lines += ["tick: ldr r0,=0x20001000", "ldr r1,[r0]", "adds r1,#1", "str r1,[r0]", "bx lr", "other: b other"]
    return "\n".join(line.replace("; ", "\n") for line in lines) + "\n"


def image(folder: Path, chip: Chip, text: str) -> bytes:
    """The program as ELF, its vectors where the chip looks for them."""
    source, linked = folder / "wait.s", folder / "wait.elf"
    source.write_text(text)
    command = ["arm-none-eabi-gcc", "-nostdlib", f"-mcpu={chip.cpu}", "-mthumb", f"-Wl,-Ttext={chip.vectors:#x}"]
    subprocess.run([*command, "-Wl,-e,start", "-o", linked, source], check=True)
    return linked.read_bytes()


def run(
    chip: Chip, elf: bytes, pauses: list[int], probes: list[int], *, profile: bool
) -> tuple[int, dict[str, object]]:
    """Cycles that were passed over, and what can be seen."""
    machine = Machine(chip.name, cores=1) if chip.name == "rp2040" else Machine(chip.name)
    machine.load(elf, "waits")
    machine.profile(profile)
    for number, offset in enumerate(probes):
        machine.watch_exec(chip.vectors + offset, number)
    stops = []
    for pause in pauses:
        stop = machine.run(pause)
        stops.append((stop["reason"], machine.cycle(), machine.registers(0), machine.stats()))
    sent = b"".join(machine.take_uart(port) for port in range(2 if "rp" in chip.name else 1))
    seen: dict[str, object] = {
        "stops": stops,
        "sent": sent,
        "memory": machine.read(0x2000_0000, 0x1800),
        "events": machine.take_events(),
    }
    return machine.passed_over(), seen


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.name)
def test_fast_forwarded_waits_take_the_same_cycles(chip: Chip, tmp_path: Path) -> None:
    """At every pause the same registers, statistics and bytes; and a good part of the time was passed over."""
    passed = []
    for number in range(PROGRAMS):
        rng = random.Random(f"waits {chip.name} {number}")
        elf = image(tmp_path, chip, program(rng, chip))
        pauses = [*(rng.randint(1, 9_000) for _ in range(20)), CYCLES, *(rng.randint(1, 60) for _ in range(60))]
        # In half of the programs some places have probes: what is told of those must not be passed over.
        probes = rng.sample(range(0x40, 0x200, 2), 20 * (number % 2))
        cycles, quick = run(chip, elf, pauses, probes, profile=False)
        none, slow = run(chip, elf, pauses, probes, profile=True)
        assert none == 0
        assert len(slow["sent"]) > 20, slow["sent"]  # type: ignore[arg-type]
        for what, value in slow.items():
            assert quick[what] == value, (number, what)
        passed.append(cycles)
    assert sum(passed[::2]) > len(passed[::2]) * CYCLES // 40, passed
