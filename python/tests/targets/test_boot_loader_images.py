"""An STM32 image that is linked behind a boot loader starts from its own vector table."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from rtoslab.base import build_folder, find_checkout_root
from rtoslab.catalogue import find_board
from rtoslab.targets import SimulationResult, SimulationRunOptions, simulate_image
from tests.cli.test_cli import rtoslab

SOURCE: Final = """
#define VTOR (*(volatile unsigned *)0xe000ed08)
#define AIRCR (*(volatile unsigned *)0xe000ed0c)
volatile unsigned starts, table;

__attribute__((noipa)) void first(void) { for (;;) { table = 1; } }
__attribute__((noipa)) void second(void) { for (;;) { table = 2; } }

__attribute__((noreturn)) void reset(void)
{
    table = VTOR;
    starts += 1;
    if (starts == 1) {
        AIRCR = 0x05fa0004;
        for (;;) { }
    }
    if (starts == 2) { second(); }
    first();
    for (;;) { }
}
__attribute__((section(".vectors"), used)) void (*const vectors[16])(void) = {(void (*)(void))0x20001800, reset};
"""
CPUS: Final = {
    "nucleo-l073rz": "cortex-m0plus", "nucleo-f103rb": "cortex-m3", "nucleo-f446re": "cortex-m4",
    "nucleo-f767zi": "cortex-m7", "nucleo-h743zi": "cortex-m7",
}  # fmt: skip


@cache
def build(board: str, table: int, *options: str) -> Path:
    folder = build_folder(find_checkout_root()) / "boot-loader-images"
    folder.mkdir(parents=True, exist_ok=True)
    source, elf = folder / "app.c", folder / f"{board}-{table:x}{''.join(options)}.elf".replace("/", "_")
    source.write_text(SOURCE)
    subprocess.run(
        [
            "arm-none-eabi-gcc", f"-mcpu={CPUS[board]}", "-mthumb", "-O1", "-ffreestanding", "-nostdlib", *options,
            "-Wl,--build-id=none", f"-Wl,--section-start=.vectors={table:#x}", f"-Wl,-Ttext={table + 0x200:#x}",
            "-Wl,-Tdata=0x20000100", "-Wl,-e,reset", "-o", str(elf), str(source),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return elf


def run(image: Path, board: str, until: str = "second") -> SimulationResult:
    return simulate_image(
        image, find_board(find_checkout_root(), board).facts, SimulationRunOptions(until=until, timeout_s=0.01)
    )


@pytest.mark.parametrize("board", CPUS)
def test_image_starts_again_from_its_own_table_after_a_reset(board: str) -> None:
    result = run(build(board, 0x0800_4000), board)
    assert result.reached
    assert [warning.partition(" in cycle")[0] for warning in result.warnings] == ["software reset the board"]
    assert len(result.notes) == 1
    assert "It was started by its vector table at 0x08004000" in result.notes[0]


def test_elf_header_in_a_segment_is_not_loaded() -> None:
    """The linker puts it before the vector table to fill a page."""
    board = "nucleo-f446re"
    image = build(board, 0x0800_4000, "-Wl,-z,max-page-size=0x10000")
    headers = subprocess.run(["arm-none-eabi-readelf", "-lW", image], capture_output=True, text=True, check=True).stdout
    assert "0x000000 0x08000000" in headers, "the segment begins with the ELF header"
    assert run(image, board).reached


def test_image_at_the_start_of_the_flash_has_no_note() -> None:
    board = "nucleo-f446re"
    result = run(build(board, 0x0800_0000), board)
    assert (result.reached, list(result.notes)) == (True, [])


def test_sim_prints_the_note() -> None:
    done = rtoslab("sim", build("nucleo-f446re", 0x0800_4000), "--board", "nucleo-f446re", "--until", "second")
    assert done.returncode == 0
    assert done.stderr.startswith("note: The image leaves the start of the flash empty.")
