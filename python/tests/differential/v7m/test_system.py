"""What faults, priorities, returns, protection and lazy stacking look like from inside, against QEMU.

The image in `sim/cpu/tests/v7m_system` runs on the model's core in `cargo test`, which compares with the stored words,
a line for each case. Here the stored image is what its source assembles to, and the stored words are what QEMU says.
The M7 gives those of the M4.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root

FOLDER = find_checkout_root() / "sim" / "cpu" / "tests" / "v7m_system"
SECONDS_MAX = 20.0


@dataclass(frozen=True)
class Core:
    """A core: how its image is assembled, and QEMU's board that has it."""

    name: str
    stored: str
    """The name of its stored image and words."""
    flags: tuple[str, ...]
    board: str


CORES = (
    Core("m3", "m3", ("-mcpu=cortex-m3",), "mps2-an385"),
    Core("m4", "m4", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-DFLOAT"), "mps2-an386"),
    Core("m7", "m4", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard", "-DFLOAT"), "mps2-an500"),
)


def _need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def _link(core: Core, folder: Path) -> Path:
    _need("arm-none-eabi-gcc", "arm-none-eabi-ld", "arm-none-eabi-objcopy")
    code, elf = folder / "system.o", folder / "system.elf"
    source = str(FOLDER / "system.S")
    assembler = ["arm-none-eabi-gcc", "-c", *core.flags, "-x", "assembler-with-cpp", source, "-o", str(code)]
    subprocess.run(assembler, check=True)
    subprocess.run(["arm-none-eabi-ld", "-Ttext=0", str(code), "-o", str(elf)], check=True)
    return elf


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_image_equals_its_source(core: Core, tmp_path: Path) -> None:
    """A changed source with `RTOSLAB_UPDATE=1` becomes the stored image."""
    elf = _link(core, tmp_path)
    binary = tmp_path / "system.bin"
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(elf), str(binary)], check=True)
    digits = re.sub(r"(.{64})", r"\1\n", binary.read_bytes().hex()).rstrip("\n") + "\n"
    stored = FOLDER / f"{core.stored}.hex"
    if os.environ.get("RTOSLAB_UPDATE"):
        stored.write_text(digits)
    assert stored.read_text() == digits


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_qemu_records_the_same(core: Core, tmp_path: Path) -> None:
    """QEMU idles at the end, after a line with a full stop."""
    _need("qemu-system-arm")
    elf, lines = _link(core, tmp_path), tmp_path / "lines.txt"
    serial = ["-display", "none", "-monitor", "none", "-serial", f"file:{lines}"]
    with subprocess.Popen(["qemu-system-arm", "-M", core.board, "-kernel", str(elf), *serial]) as qemu:
        end = time.monotonic() + SECONDS_MAX
        while time.monotonic() < end and qemu.poll() is None:
            if lines.exists() and lines.read_text().endswith(".\n"):
                break
            time.sleep(0.05)
        qemu.kill()
    stored = FOLDER / f"{core.stored}.txt"
    if os.environ.get("RTOSLAB_UPDATE"):
        stored.write_text(re.sub(r"\s+", " ", lines.read_text()).strip().replace(" ca5e", "\nca5e") + "\n")
    assert lines.read_text().split() == stored.read_text().split()
