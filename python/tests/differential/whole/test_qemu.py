"""Whole images: what one prints on the virtual board is what it prints on QEMU's machine of the same chip family."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtoslab._sim import Machine

HERE = Path(__file__).parent
CYCLES = 50_000_000
QEMU = "qemu-system-arm"
FLAGS = ["-mthumb", "-O2", "-std=gnu11", "-ffreestanding", "-nostdlib", "-nostartfiles", "-Wall", "-Wextra", "-Werror"]


@dataclass(frozen=True)
class Pair:
    """A virtual chip and QEMU's machine whose memories and USART1 lie at the same addresses."""

    chip: str
    machine: str
    flags: tuple[str, ...]
    lines: int


M4F = ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
F4 = (*M4F, "-DUSART=0x40011000u", "-DRCC_APB2ENR=0x40023844u", "-DUSART_CLOCK=(1u<<4)")
F1 = ("-mcpu=cortex-m3", "-DUSART=0x40013800u", "-DRCC_APB2ENR=0x40021018u", "-DUSART_CLOCK=(1u<<14)")
PAIRS = [Pair("stm32f103", "stm32vldiscovery", F1, 5), Pair("stm32f407", "netduinoplus2", F4, 7)]


def build(pair: Pair, folder: Path) -> Path:
    elf = folder / "image.elf"
    files = ["-T", str(HERE / "image.ld"), "-o", str(elf), str(HERE / "image.c")]
    command = ["arm-none-eabi-gcc", *pair.flags, *FLAGS, *files, "-lgcc"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return elf


def on_board(pair: Pair, elf: Path) -> list[str]:
    machine = Machine(pair.chip, console_port=1)
    machine.load(elf.read_bytes(), elf.name)
    start = machine.symbol("reset")
    assert start is not None
    machine.run(100)
    machine.until(start)  # the image ends with a reset, which QEMU is told to end with
    stop = machine.run(CYCLES)
    text = machine.take_uart().decode()
    assert stop["reason"] == "until", (stop, machine.warnings(), text)
    return text.splitlines()


def in_qemu(pair: Pair, elf: Path) -> list[str]:
    quiet = ["-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot"]
    command = [QEMU, "-M", pair.machine, "-kernel", str(elf), *quiet]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


@pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"{QEMU} is not installed: apt-get install {QEMU}")
@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.chip)
def test_output_equals_qemu(pair: Pair, tmp_path: Path) -> None:
    elf = build(pair, tmp_path)
    expected = in_qemu(pair, elf)
    assert len(expected) == pair.lines
    assert on_board(pair, elf) == expected
