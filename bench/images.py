"""Builds the workload: for a board with the firmware's own start-up of clocks and caches, and for emulators without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from boards import ROOT, Board

WORKLOAD = Path(__file__).parent / "workload"
FIRMWARE = ROOT / "firmware"
RAM_BYTES = 0x2000
"""The RAM that the workload needs, and that the smallest board has."""
EMULATOR_RAM = 0x2000_0000


def run_tool(*command: str | Path) -> str:
    """Runs a build tool and returns its output. Its failure ends the program with its message."""
    done = subprocess.run([str(argument) for argument in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def build_for_board(folder: Path, board: Board, rounds: int, cores: int = 1) -> Path:
    """Builds the image for the virtual board. unicorn runs it from `workload_start` on."""
    elf = folder / f"{board.name}-{cores}.elf"
    if not board.is_pico:
        compile_and_link(
            elf,
            board,
            rounds,
            code=board.facts["memory"]["flash_start"],
            data=board.data_address,
            more=startup_arguments(folder, board),
        )
        return elf
    two = ["-DTWO_CORES"] if cores == 2 else []
    compile_and_link(
        elf, board, rounds, code=0x1000_0100, data=0x2000_0000, more=[*two, WORKLOAD / "boot.S"], ram=0x4_0000
    )
    block = folder / "boot.bin"
    run_tool("arm-none-eabi-objcopy", "-O", "binary", "--only-section=.boot2", elf, block)
    code = block.read_bytes()[:252]
    block.write_bytes(code + boot_block_crc(code).to_bytes(4, "little"))
    run_tool("arm-none-eabi-objcopy", "--update-section", f".boot2={block}", elf)
    return elf


def build_for_qemu(folder: Path, board: Board, rounds: int) -> Path:
    """Builds the workload for the QEMU machine with such a core, without clocks, which it does not model.

    It ends by semihosting.
    """
    elf = folder / f"{board.name}-qemu-{rounds}.elf"
    compile_and_link(elf, board, rounds, code=board.core.qemu_code, data=EMULATOR_RAM, more=["-DWORKLOAD_SEMIHOSTING"])
    return elf


def startup_arguments(folder: Path, board: Board) -> list[str | Path]:
    """Returns sources and flags of the firmware's start-up, with the headers that the firmware's build generates."""
    build_folder = folder / f"{board.name}-headers"
    options = ["-DBENCH=t1_arithmetic", "-DKERNEL=bare", f"-DBOARD={board.name}"]
    run_tool("cmake", "-S", FIRMWARE, "-B", build_folder, "-G", "Ninja", *options)
    folders = [FIRMWARE / "chips" / fact for fact in board.facts["support"]]
    sources = [path for item in folders for path in (item / "clocks.c", item / "flash.c") if path.is_file()]
    includes = [
        build_folder / "generated",
        *folders,
        FIRMWARE / "cpus" / board.facts["cpu"],
        FIRMWARE / "cpus" / "cortexm",
    ]
    return ["-DWORKLOAD_CLOCKS", *(f"-I{include}" for include in includes), *sources]


def compile_and_link(
    elf: Path, board: Board, rounds: int, *, code: int, data: int, more: list[str | Path], ram: int = RAM_BYTES
) -> None:
    """Compiles and links the workload in one step."""
    flags = [*board.facts["gcc_flags"].split(), "-O2", "-std=gnu11", "-ffreestanding", "-nostdlib"]
    flags += ["-Wall", "-Wextra", "-Werror", f"-DWORKLOAD_ROUNDS={rounds}", f"-DWORKLOAD_CLOCK_HZ={board.clock_hz}u"]
    symbols = {"CODE_ORIGIN": code, "DATA_ORIGIN": data, "stack_top": data + ram}
    flags += [f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items()]
    files = ("-T", WORKLOAD / "link.ld", "-o", elf, WORKLOAD / "mixed.c")
    run_tool("arm-none-eabi-gcc", *flags, *files, *more, "-lgcc")


def boot_block_crc(block: bytes) -> int:
    """Returns the checksum of a boot block: polynomial 0x04c11db7, start 0xffffffff, not reflected, not inverted."""
    crc = 0xFFFF_FFFF
    for byte in block:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C1_1DB7 if crc >> 31 else crc << 1) & 0xFFFF_FFFF
    return crc
