"""A C program that comes to a fault long after its cause: some turn spoils a pointer that a later one uses."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from rtoslab.base.paths import build_folder
from tests.instruments.images import ROOT
from tests.instruments.small_program import CPUS

SPOILT_AT: Final = 5000
"""The turn that spoils it."""
USED_LATER: Final = 300
"""Turns later it is used."""
SOURCE: Final = f"""
int value;
int *volatile where = &value;
volatile unsigned turn;

void fault(void) {{ for (;;) {{ }} }}

__attribute__((noinline)) void spoil(void) {{ where = (int *)0x0f000000; }}

__attribute__((noinline)) void use(void) {{ *where += 1; }}

int main(void)
{{
    where = &value;
    for (;;) {{
        turn = turn + 1;
        if (turn == {SPOILT_AT}) {{
            spoil();
        }}
        if (turn % {USED_LATER} == 200) {{
            use();
        }}
    }}
}}

__attribute__((noreturn)) void reset(void) {{ turn = 0; main(); for (;;) {{ }} }}
__attribute__((section(".vectors"), used)) void (*const vectors[16])(void) = {{
    (void (*)(void))0x20001800, reset, fault, fault, fault, fault, fault
}};
"""


@cache
def spoilt_pointer(board: str) -> Path:
    """The program as an ELF image for an STM32 board."""
    folder = build_folder(ROOT) / "spoilt-pointer"
    folder.mkdir(parents=True, exist_ok=True)
    source, elf = folder / "spoilt.c", folder / f"{board}.elf"
    source.write_text(SOURCE)
    subprocess.run(
        [
            "arm-none-eabi-gcc", f"-mcpu={CPUS[board]}", "-mthumb", "-g", "-O1", "-ffreestanding", "-nostdlib",
            "-Wall", "-Wextra", "-Werror", "-Wl,--build-id=none", "-Wl,--section-start=.vectors=0x08000000",
            "-Wl,-Ttext=0x08000200", "-Wl,-Tdata=0x20002000", "-Wl,-e,reset", "-o", str(elf), str(source), "-lgcc",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return elf
