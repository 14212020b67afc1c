"""A program of few instructions whose cycles can be counted by hand, for any board: calls, tail calls, recursion."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from rtoslab.base.paths import build_folder
from tests.instruments.images import ROOT

SOURCE: Final = """
    .syntax unified
    .thumb
vectors:
    .word stack_top
    .word reset + 1
    .rept 14
    .word handler + 1
    .endr
    .rept 32
    .word handler + 1
    .endr

    .macro function name
    .globl \\name
    .type \\name, %function
    .thumb_func
\\name:
    .endm
    .macro over name
    .size \\name, . - \\name
    .endm

    function reset
    ldr r0, =stack_top
    mov sp, r0
    movs r7, #CALLS
again:
    bl leaf
behind_leaf:
    bl outer
behind_outer:
    bl jumping
behind_jumping:
    movs r0, #3
    bl recursive
behind_recursive:
    subs r7, #1
    bne again
    bl endless
    over reset

    function leaf
    .rept 10
    nop
    .endr
    bx lr
    over leaf

    function outer
    push {r4, lr}
    .rept 5
    nop
    .endr
    bl leaf
    pop {r4, pc}
    over outer

    function jumping
    b leaf
    over jumping

    function recursive
    push {lr}
    subs r0, #1
    beq last
    bl recursive
last:
    pop {pc}
    over recursive

    function handler
    .rept 20
    nop
    .endr
    bx lr
    over handler

    function endless
    b endless
    over endless

    function never_called
    bx lr
    over never_called

    .globl leaf_too
    .type leaf_too, %function
    .thumb_set leaf_too, leaf
    .ltorg
    .data
value:
    .globl value
    .type value, %object
    .size value, 4
    .word 1
"""
CALLS: Final = 20
CPUS: Final = {"pico": "cortex-m0plus", "nucleo-l073rz": "cortex-m0plus", "nucleo-f103rb": "cortex-m3",
               "nucleo-f446re": "cortex-m4", "nucleo-f767zi": "cortex-m7"}  # fmt: skip


@cache
def small_program(board: str) -> Path:
    """The program as an ELF image for a board."""
    folder = build_folder(ROOT) / "small-program"
    folder.mkdir(parents=True, exist_ok=True)
    source, elf = folder / "small.s", folder / f"{board}.elf"
    source.write_text(SOURCE)
    code = 0x2000_0000 if board == "pico" else 0x0800_0000
    subprocess.run(
        [
            "arm-none-eabi-gcc", f"-mcpu={CPUS[board]}", "-mthumb", "-g", "-nostdlib", "-Wl,--build-id=none",
            f"-Wa,--defsym,CALLS={CALLS}", f"-Wl,-Ttext={code:#x}", "-Wl,-Tdata=0x20002000", "-Wl,-e,reset",
            "-Wl,--defsym,stack_top=0x20001800", "-o", str(elf), str(source),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return elf


def line_of(text: str) -> int:
    """The number of the line that holds a text."""
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)
