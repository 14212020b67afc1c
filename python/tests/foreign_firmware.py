"""A repository of somebody else's: bare-metal firmware for the NUCLEO-F446RE, its Makefile, and its rtoslab.toml."""

from pathlib import Path
from typing import Final

MAIN: Final = """
#include <stdint.h>
extern uint32_t _stack;
static volatile uint32_t ticks;
volatile uint32_t sink;
void reset(void);
void systick(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {&_stack, reset, [15] = systick};
void systick(void) { ticks++; }
#ifdef EARLY
__attribute__((noinline, used)) uint32_t early(uint32_t x) { return x * EARLY; }
#endif
#ifndef TURNS
#define TURNS 8
#endif
__attribute__((noinline)) uint32_t filter(uint32_t x) {
    for (int i = 0; i < TURNS; i++) x = x * 1664525u + 1013904223u;
    return x;
}
__attribute__((noinline)) void control_step(void) {
#ifdef NOPS
    __asm volatile(".rept %c0\\n nop\\n .endr" : : "i"(NOPS));
#endif
    sink = filter(sink) ^ ticks;
}
__attribute__((noinline)) void work_done(void) { sink++; }
void reset(void) {
    *(volatile uint32_t *)0x40023C00 = 5; /* flash: five wait states, no cache, no prefetch */
    *(volatile uint32_t *)0xE000E014 = 15999;
    *(volatile uint32_t *)0xE000E018 = 0;
    *(volatile uint32_t *)0xE000E010 = 7;
    for (;;) {
        control_step();
        work_done();
    }
}
"""
SCRIPT: Final = """
ENTRY(reset)
SECTIONS {
    . = 0x08000000;
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
    . = 0x20000000;
    .data : { *(.data*) }
    .bss : { *(.bss*) *(COMMON) }
    _stack = 0x20008000;
}
"""
MAKEFILE: Final = """
CFLAGS := -mcpu=cortex-m4 -mthumb -O2 -falign-functions=4 -g -ffreestanding
LDFLAGS := -nostdlib -Wl,--build-id=none -T fw.ld
.PHONY: all
all:
\tarm-none-eabi-gcc $(CFLAGS) $(LDFLAGS) $(MORE) -o fw.elf $(RTOSLAB_PLACEMENT_SOURCE) main.c
"""
PROJECT: Final = """
[image.app]
elf = "fw.elf"
board = "nucleo-f446re"
build = ["make", "-s"]
for_ms = 3

[[function]]
image = "app"
name = "control_step"

[[interval]]
image = "app"
name = "step to done"
start = "control_step"
until = "work_done"

[gate]
limits = { "*_bytes" = "never" }
"""


def foreign_repository(folder: Path, project: str = PROJECT) -> Path:
    """Lays its files there."""
    files = {"main.c": MAIN, "fw.ld": SCRIPT, "Makefile": MAKEFILE, "rtoslab.toml": project}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder
