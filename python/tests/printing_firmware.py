"""Small firmware that prints by SEGGER RTT, faults in several ways, and stops in none that rtoslab knows."""

import subprocess
from pathlib import Path
from typing import Final

MAIN: Final = """
#include <stdint.h>
extern uint32_t _stack;
void reset(void), hard(void), other(void), usage(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {
    &_stack, reset, other, hard, other, other, usage, [15] = other};
__attribute__((naked)) void hard(void) {
#ifdef SKIP
    __asm volatile("ldr r0, [sp, #24]\\n adds r0, #2\\n str r0, [sp, #24]\\n bx lr");
#else
    __asm volatile("b .");
#endif
}
void other(void) { for (;;) {} }
void usage(void) { for (;;) {} }
struct buffer { const char *name; char *at; unsigned size; volatile unsigned write, read; unsigned flags; };
struct { volatile char id[16]; int ups, downs; struct buffer up, down; } _SEGGER_RTT;
static char up[48], down[8];
static void print(const char *text) {
    struct buffer *b = &_SEGGER_RTT.up;
    while (*text) {
        unsigned next = (b->write + 1) % b->size;
        while (next == b->read) {}
        b->at[b->write] = *text++;
        b->write = next;
    }
}
static volatile int sink, zero;
__attribute__((noipa)) static int inner(uintptr_t at) {
    volatile int place[3] = {1, 2, 3};
#ifdef DIVIDE
    return place[at & 1] / zero;
#else
    int found = *(volatile int *)at;
    return found + place[at & 1];
#endif
}
__attribute__((noipa)) static int middle(uintptr_t at) { int found = inner(at + 1); sink = found; return found + 1; }
__attribute__((noipa)) void ended(void) { for (;;) {} }
__attribute__((noipa, used)) void task(void) { sink = middle(0x0fffffff); sink++; }
void reset(void) {
    static const char id[] = "SEGGER RTT";
    _SEGGER_RTT.ups = _SEGGER_RTT.downs = 1;
    _SEGGER_RTT.up.name = "Terminal", _SEGGER_RTT.up.at = up, _SEGGER_RTT.up.size = sizeof up;
    _SEGGER_RTT.down.at = down, _SEGGER_RTT.down.size = sizeof down;
    for (unsigned i = 0; i < sizeof id; i++) _SEGGER_RTT.id[i] = id[i];
    for (int i = 0; i < 5; i++) print("a line that fills the buffer\\n");
#ifdef DIVIDE
    *(volatile uint32_t *)0xE000ED14 |= 1 << 4;
    *(volatile uint32_t *)0xE000ED24 |= 1 << 18;
#endif
#ifdef PROCESS_STACK
    __asm volatile("msr psp, %0\\n movs r0, #2\\n msr control, r0\\n isb\\n bl task" : : "r"(0x20003000) : "r0");
#endif
#ifdef AS_TASK /* with a return address that no call left, as a kernel begins it */
    __asm volatile("msr psp, %0\\n movs r0, #2\\n msr control, r0\\n isb\\n mov lr, %1\\n b task"
                   : : "r"(0x20003000), "r"(ended) : "r0");
#endif
#if defined(FAULT) || defined(DIVIDE)
    task();
#endif
#ifdef TWICE
    task();
#endif
#ifdef WAIT_FOR_PIN
    *(volatile uint32_t *)0x40023830 |= 7; /* the clocks of ports A to C */
    while (*(volatile uint32_t *)0x40020810 & 1 << 13) {}
    print("pressed\\n");
    while (!(*(volatile uint32_t *)0x40020810 & 1 << 13)) {}
    print("released\\n");
#endif
#ifdef PARK
    __asm volatile("bkpt 0");
#endif
    for (int i = 0; i < 20; i++) {
        char text[2] = {0, 0};
        while (_SEGGER_RTT.down.read == _SEGGER_RTT.down.write) {}
        text[0] = down[_SEGGER_RTT.down.read];
        _SEGGER_RTT.down.read = (_SEGGER_RTT.down.read + 1) % sizeof down;
        print(text);
    }
    print("\\nPASSED\\n");
    for (;;) {}
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
    _stack = 0x20002000;
}
"""


def build(folder: Path, *defines: str, cpu: str = "cortex-m4") -> Path:
    """The image, with debug information."""
    (folder / "main.c").write_text(MAIN)
    (folder / "fw.ld").write_text(SCRIPT)
    flags = [f"-mcpu={cpu}", "-mthumb", "-O2", "-g", "-ffreestanding", "-nostdlib", "-T", "fw.ld"]
    given = [f"-D{define}" for define in defines]
    subprocess.run(["arm-none-eabi-gcc", *flags, *given, "main.c", "-lgcc", "-o", "fw.elf"], cwd=folder, check=True)
    return folder / "fw.elf"
