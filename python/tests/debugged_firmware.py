"""Small firmware that talks to a debugger: semihosting, ITM, and defmt over RTT with tables laid out by hand."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

MAIN: Final = r"""
#include <stdint.h>
extern uint32_t _stack;
void reset(void), other(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {
    &_stack, reset, other, other, other, other, other, [15] = other};
void other(void) { for (;;) {} }
volatile uint32_t results[32], code_cycles;
static unsigned used;
__attribute__((noipa)) static uint32_t call(uint32_t operation, const volatile void *parameter) {
    register uint32_t r0 __asm("r0") = operation;
    register const volatile void *r1 __asm("r1") = parameter;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    results[used++] = r0;
    return r0;
}
static uint32_t open(const char *name, uint32_t mode, uint32_t length) {
    volatile uint32_t block[3];
    block[0] = (uint32_t)name, block[1] = mode, block[2] = length;
    return call(1, block);
}
static uint32_t transfer(uint32_t operation, uint32_t handle, const void *buffer, uint32_t length) {
    volatile uint32_t block[3];
    block[0] = handle, block[1] = (uint32_t)buffer, block[2] = length;
    return call(operation, block);
}
static void exit_with(uint32_t code) {
    volatile uint32_t block[2];
    block[0] = 0x20026, block[1] = code;
    call(0x20, block);
}
#define AT(address) (*(volatile uint32_t *)(address))
#define STOP for (;;) {}

#ifdef SEMIHOSTING
static char line[32];
void run(void) {
    call(4, "begin\n");
    call(3, "!");
    uint32_t out = open(":tt", 4, 3), error = open(":tt", 8, 3), in = open(":tt", 0, 3);
    transfer(5, out, "to stdout\n", 10);
    transfer(5, error, "to stderr\n", 10);
    uint32_t left = transfer(6, in, line, sizeof line);
    transfer(5, out, line, sizeof line - left);
    open("host.txt", 0, 8);
    open("host.txt", 4, 8);
    call(0x10, 0);
    exit_with(CODE);
    call(4, "after the exit\n");
    STOP
}
#endif

#ifdef CYCLES
void run(void) {
    AT(0xE000EDFC) |= 1 << 24;
    AT(0xE0001000) |= 1;
    uint32_t began = AT(0xE0001004);
    __asm volatile("movs r0, #0x31\n bkpt 0xab\n" : : : "r0");
    code_cycles = AT(0xE0001004) - began;
    exit_with(0);
    STOP
}
#endif

#ifdef IN_BLOCK
void run(void) {
    uint32_t odd = 0, even = 0;
    for (uint32_t i = 0; i < 4; i++) {
        __asm volatile(
            "tst %2, #1\n"
            "itete ne\n"
            "addne %0, #1\n"
            "addeq %1, #1\n"
            "movne r0, #0x31\n"
            "moveq r0, #0x31\n"
            "tst %2, #1\n"
            "itet ne\n"
            "addne %0, #16\n"
            "bkpt 0xab\n"
            "addne %0, #16\n"
            : "+r"(odd), "+r"(even) : "r"(i) : "r0", "cc");
    }
    results[30] = odd, results[31] = even;
    exit_with(0);
    STOP
}
#endif

#ifdef ITM
static void send(const char *text) {
    while (*text) {
        if (AT(0xE0000E80) & 1 && AT(0xE0000E00) & 1) {
            while (!AT(0xE0000000)) {}
            *(volatile uint8_t *)0xE0000000 = *text;
        }
        text++;
    }
}
void run(void) {
#ifdef OPENS
    AT(0xE000EDFC) |= 1 << 24;
    AT(0xE0000FB0) = 0xC5ACCE55;
    AT(0xE0000E80) = 0x00010005;
    AT(0xE0000E00) = 0x5;
#endif
    send("hello\n");
    AT(0xE0000008) = 0x0a636261;
    AT(0xE000000C) = 0x0a646564;
    exit_with(0);
    STOP
}
#endif

#ifdef DEFMT
struct buffer { const char *name; char *at; unsigned size; volatile unsigned write, read; unsigned flags; };
struct { volatile char id[16]; int ups, downs; struct buffer up; } _SEGGER_RTT;
static char up[256];
static const char frames[] = {FRAMES};
void run(void) {
    static const char id[] = "SEGGER RTT";
    _SEGGER_RTT.ups = 1;
    _SEGGER_RTT.up.name = "defmt", _SEGGER_RTT.up.at = up, _SEGGER_RTT.up.size = sizeof up;
    for (unsigned i = 0; i < sizeof id; i++) _SEGGER_RTT.id[i] = id[i];
    for (unsigned i = 0; i < sizeof frames; i++) {
        unsigned next = (_SEGGER_RTT.up.write + 1) % sizeof up;
        while (next == _SEGGER_RTT.up.read) {}
        up[_SEGGER_RTT.up.write] = frames[i];
        __asm volatile("" : : : "memory");
        _SEGGER_RTT.up.write = next;
    }
    STOP
}
#endif

void reset(void) { run(); }
"""
SCRIPT: Final = """
ENTRY(reset)
SECTIONS {
    . = BASE;
    .boot : { KEEP(*(.boot)) }
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
    . = 0x20000000;
    .data : { *(.data*) }
    .bss : { *(.bss*) *(COMMON) }
    _stack = 0x20002000;
    .defmt 1 (INFO) : { KEEP(*(.defmt.0)) KEEP(*(.defmt.1)) KEEP(*(.defmt.2)) KEEP(*(.defmt.3)) }
}
"""


def build(folder: Path, *defines: str, cpu: str = "cortex-m4", base: int = 0x0800_0000) -> Path:
    """The image, with debug information."""
    (folder / "main.c").write_text(MAIN)
    (folder / "fw.ld").write_text(SCRIPT.replace("BASE", hex(base)))
    flags = [f"-mcpu={cpu}", "-mthumb", "-O2", "-g", "-ffreestanding", "-nostdlib", "-T", "fw.ld"]
    given = [f"-D{define}" for define in defines]
    sources = ["main.c", *(name for name in ("log.s",) if (folder / name).exists())]
    subprocess.run(["arm-none-eabi-gcc", *flags, *given, *sources, "-o", "fw.elf"], cwd=folder, check=True)
    return folder / "fw.elf"


STRINGS: Final = {
    1: ("defmt_timestamp", "{=u32:us}"),
    2: ("defmt_info", "step {=u8}"),
    3: ("defmt_error", "{=str} failed"),
    4: ("defmt_println", "plain"),
}
"""Index of a frame, its kind, its format."""


def build_log(folder: Path, frames: bytes, encoding: str, strings: Mapping[int, tuple[str, str]] = STRINGS) -> Path:
    """An image that sends these frames by defmt, with `strings` in its table, one byte each from address 1 on."""
    lines = [".globl version, encoding", "version = 0", "encoding = 0"]
    names = {"version": "_defmt_version_ = 4", "encoding": f"_defmt_encoding_ = {encoding}"}
    for place, (index, (tag, text)) in enumerate(strings.items()):
        assert index == place + 1
        lines += [f'.section .defmt.{place},"",%progbits', f".globl log{index}", f"log{index}: .byte 0"]
        names[f"log{index}"] = json.dumps(
            {"package": "app", "tag": tag, "data": text, "disambiguator": str(index), "crate_name": "app"}
        )
    (folder / "log.s").write_text("\n".join(lines) + "\n")
    image = build(folder, "DEFMT", "FRAMES=" + ",".join(map(str, frames)))
    renames = [f"--redefine-sym={old}={new}" for old, new in names.items()]
    subprocess.run(["arm-none-eabi-objcopy", *renames, image], check=True)
    return image


def rzcobs(frame: bytes) -> bytes:
    """One frame as defmt sends it: without zeros, then a zero. Seven bytes at most."""
    assert len(frame) <= 7
    padded = frame.ljust(7, b"\0")
    mask = sum((byte == 0) << place for place, byte in enumerate(padded))
    return bytes(byte for byte in padded if byte) + bytes([mask, 0])
