"""Builds the images of this folder with the Arm compiler, and runs them on the virtual Pico."""

import atexit
import shutil
import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from rtoslab._sim import Machine
from rtoslab.base.paths import find_checkout_root

IMAGES = Path(__file__).parent / "images"
BOOT2 = find_checkout_root() / "firmware" / "boards" / "pico" / "boot2.S"
FLAGS = ["-mcpu=cortex-m0plus", "-mthumb", "-O1", "-g0", "-std=c11", "-ffreestanding", "-Wall", "-nostartfiles",
         "-fno-tree-loop-distribute-patterns", "-Wextra", "-Werror", "-Wno-array-bounds", "-nostdlib"]  # fmt: skip
UF2_MAGIC = (0x0A324655, 0x9E5D5157, 0x0AB16F30)
RP2040_FAMILY = 0xE48BFF56
CLOCK_HZ = 125_000_000


def needs_compiler() -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed: apt-get install gcc-arm-none-eabi")


def run_tool(*arguments: str | Path) -> None:
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def crc32_of_boot_rom(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x04C11DB7 if crc >> 31 else 0)
            crc &= 0xFFFFFFFF
    return crc


@cache
def boot_block() -> bytes:
    """The project's own boot2, padded and with its check sum."""
    needs_compiler()
    folder = Path(folder_of_this_run())
    run_tool("arm-none-eabi-gcc", "-c", "-DFLASH_CLOCK_DIVIDER=2", "-o", folder / "boot2.o", BOOT2)
    run_tool("arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", folder / "boot2.o", folder / "boot2.bin")
    code = (folder / "boot2.bin").read_bytes().ljust(252, b"\0")
    return code + struct.pack("<I", crc32_of_boot_rom(code))


@cache
def folder_of_this_run() -> str:
    built = tempfile.mkdtemp(prefix="rtoslab-compat-")
    atexit.register(shutil.rmtree, built)
    return built


@cache
def image(name: str, *, script: str = "flash", defines: tuple[str, ...] = ()) -> bytes:
    """The ELF of `images/<name>.c`."""
    needs_compiler()
    folder = Path(folder_of_this_run())
    out = folder / f"{name}-{script}-{'-'.join(defines)}.elf"
    words = struct.unpack("<64I", boot_block())
    block = folder / "boot_block.S"
    block.write_text('.section .boot2, "a", %progbits\n' + "".join(f".word {word}\n" for word in words))
    sources = [IMAGES / f"{item}.c" for item in ("start", "sdk", name)]
    run_tool("arm-none-eabi-gcc", *FLAGS, *(f"-D{define}" for define in defines), "-T", IMAGES / f"{script}.ld",
             "-Wl,--build-id=none", "-o", out, *sources, block, "-lgcc")  # fmt: skip
    return out.read_bytes()


def uf2_of(elf: bytes) -> bytes:
    """The UF2 that a converter makes of an ELF: 256 bytes to a block."""
    offset, count = struct.unpack_from("<I", elf, 28)[0], struct.unpack_from("<H", elf, 44)[0]
    memory: dict[int, int] = {}
    for n in range(count):
        kind, at, _, address, size, *_ = struct.unpack_from("<8I", elf, offset + 32 * n)
        if kind == 1 and size:
            memory |= {address + k: elf[at + k] for k in range(size)}
    pages = sorted({address & ~0xFF for address in memory})
    blocks = []
    for number, page in enumerate(pages):
        payload = bytes(memory.get(page + k, 0) for k in range(256))
        head = struct.pack("<8I", *UF2_MAGIC[:2], 0x2000, page, 256, number, len(pages), RP2040_FAMILY)
        blocks.append(head + payload.ljust(476, b"\0") + struct.pack("<I", UF2_MAGIC[2]))
    return b"".join(blocks)


class Board:
    """A virtual Pico with an image, and what it has printed so far."""

    def __init__(self, data: bytes, *, cores: int = 2, strict: bool = False) -> None:
        self.machine = Machine("rp2040", cores=cores, strict=strict)
        self.machine.load(data, "image.elf")
        self.uart = b""
        self.stop = ""

    def run(self, milliseconds: float) -> "Board":
        stop = self.machine.run(int(milliseconds * CLOCK_HZ / 1000))
        self.stop = stop["reason"]
        self.uart += self.machine.take_uart()
        return self

    @property
    def lines(self) -> list[str]:
        return self.uart.decode().replace("\r", "").splitlines()

    @property
    def fields(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.lines if "=" in line)
