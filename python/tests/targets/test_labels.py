"""Routines in assembly, timed between their labels: what somebody with a routine and no firmware does."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.targets.simulation import SimulationRunOptions, simulate_image

ROUTINE: Final = """
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word 0x20001000, reset + 1
    .text
    .thumb_func
    .global reset
reset:
    ldr r0, =0x20000100
    movs r1, #0
    b sums
    .balign 16
sums:
    .rept 10
    adds r1, #1
    .endr
loads:
    ldr r2, [r0]
    ldr r3, [r0, #4]
    ldr r4, [r0, #8]
loads_end:
    nop
done:
    b done
    .ltorg
"""
# Ten additions; three loads from zero-wait RAM: two cycles each on the M0+, pipelined on the M3 and M4.
BOARDS: Final = {"nucleo-l053r8": ("m0plus", 10, 6), "nucleo-f103rb": ("m3", 10, 4), "nucleo-f446re": ("m4", 10, 4)}


@pytest.mark.parametrize("board", BOARDS)
def test_labels_of_an_assembly_source_bound_an_interval(board: str, tmp_path: Path) -> None:
    core, sums, loads = BOARDS[board]
    source, image = tmp_path / "routine.S", tmp_path / "routine.elf"
    source.write_text(ROUTINE)
    places = ["-Wl,-Ttext=0x08000008", "-Wl,--section-start=.vectors=0x08000000", "-Wl,-ereset"]
    command: list[str | Path] = [
        "arm-none-eabi-gcc",
        f"-mcpu=cortex-{core}",
        "-mthumb",
        "-nostdlib",
        *places,
        "-o",
        image,
        source,
    ]
    subprocess.run(command, check=True)
    facts = Catalogue(find_checkout_root()).find_board(board).facts
    request = SimulationRunOptions(until="done", between=[("sums", "loads"), ("loads", "loads_end")])
    result = simulate_image(image, facts, request)
    assert result.reached, result.detail
    assert [(between.count, between.total_cycles) for between in result.between] == [(1, sums), (1, loads)]
