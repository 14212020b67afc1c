"""Firmware for each STM32 family that uses DMA: serial port 2 both ways, SPI1, ADC1, and copies of memory.

Each program is a part of one C file. POLLED makes the core do what DMA does otherwise, to compare both.
"""

import subprocess
from pathlib import Path
from typing import Final

MAIN: Final = r"""
#include <stdint.h>
#define REG(address) (*(volatile uint32_t *)(address))
#define BYTE(address) (*(volatile uint8_t *)(address))
#define HALF(address) (*(volatile uint16_t *)(address))
#define USART 0x40004400u
#define SPI 0x40013000u
#define ADC 0x40012000u
#ifdef FIRST
#define STATUS (USART + 0x00)
#define RECEIVED (USART + 0x04)
#define SENT (USART + 0x04)
#define CR1 (USART + 0x0c)
#define CR3 (USART + 0x14)
#define BRR (USART + 0x08)
#define ENABLE (1u << 13 | 3u << 2)
#else
#define STATUS (USART + 0x1c)
#define RECEIVED (USART + 0x24)
#define SENT (USART + 0x28)
#define CR1 (USART + 0x00)
#define CR3 (USART + 0x08)
#define BRR (USART + 0x0c)
#define ENABLE (1u | 3u << 2)
#endif

#ifdef STREAMS
#define CONTROL(dma, n) REG((dma) + 0x10 + 24 * (n))
#define TO_PERIPHERAL (1u << 6)
#define BETWEEN_MEMORIES (2u << 6 | 1u << 9)
#define MEMORY_INCREMENTS (1u << 10)
#define CIRCULAR (1u << 8)
#define COMPLETE_AND_HALF (3u << 3)
#define HALVES (1u << 11 | 1u << 13)
#define WORDS (2u << 11 | 2u << 13)
#define CHANNEL(n) ((n) << 25)
static const uint8_t shifts[] = {0, 6, 16, 22};
static uint32_t flags(uint32_t dma, uint32_t n) {
    return REG(dma + 4 * (n / 4)) >> shifts[n % 4] & 0x3d; /* complete: 0x20, half: 0x10 */
}
static void clear_flags(uint32_t dma, uint32_t n) { REG(dma + 8 + 4 * (n / 4)) = 0x3du << shifts[n % 4]; }
#define COMPLETE 0x20u
#define HALF_DONE 0x10u
#else
#define CONTROL(dma, n) REG((dma) + 8 + 20 * (n))
#define TO_PERIPHERAL (1u << 4)
#define BETWEEN_MEMORIES (1u << 14 | 1u << 6)
#define MEMORY_INCREMENTS (1u << 7)
#define CIRCULAR (1u << 5)
#define COMPLETE_AND_HALF (3u << 1)
#define HALVES (1u << 8 | 1u << 10)
#define WORDS (2u << 8 | 2u << 10)
#define CHANNEL(n) 0u
static uint32_t flags(uint32_t dma, uint32_t n) { return REG(dma) >> (4 * n) & 15; }
static void clear_flags(uint32_t dma, uint32_t n) { REG(dma + 4) = 15u << (4 * n); }
#define COMPLETE 2u
#define HALF_DONE 4u
#endif
#define LEFT(dma, n) ((&CONTROL(dma, n))[1])

extern uint32_t _stack;
void reset(void);
void on_dma(void);
void on_usart(void);
__attribute__((section(".vectors"), used)) void *const vectors[16 + 100] = {
    &_stack, reset, [16 + RX_LINE] = on_dma, [16 + 38 - USART_BELOW_38] = on_usart,
};
volatile uint32_t done, spins, stage, events, event[64];

static void start(uint32_t dma, uint32_t n, uint32_t peripheral, volatile void *memory, uint32_t count,
                  uint32_t control) {
    volatile uint32_t *stream = &CONTROL(dma, n);
    stream[0] = 0;
    clear_flags(dma, n);
    stream[1] = count;
    stream[2] = peripheral;
    stream[3] = (uint32_t)memory;
#ifdef STREAMS
    if (control & (2u << 6)) stream[5] = 7; /* FIFO, full */
#endif
    stream[0] = control;
    stream[0] = control | 1;
}

static void set_up(void) {
    CLOCKS;
    REG(BRR) = 160;
    REG(CR1) = ENABLE;
}

#ifdef SEND
static const char text[] = "The core is free while DMA sends these bytes at the speed of the line.\n";
volatile uint8_t copy[sizeof text - 1];
static void run(void) {
    for (uint32_t n = 0; n < sizeof copy; n++) copy[n] = text[n];
    stage = 1;
#ifdef POLLED
    for (uint32_t n = 0; n < sizeof copy; n++) {
        while (!(REG(STATUS) & 1u << 7)) {}
        REG(SENT) = copy[n];
    }
#else
#ifdef FIRST
    REG(STATUS) = ~(1u << 6); /* TC, which DMA's writes do not clear */
#endif
    start(DMA1, TX, SENT, copy, sizeof copy, TO_PERIPHERAL | MEMORY_INCREMENTS | CHANNEL(4u));
    REG(CR3) = 1u << 7;
    while (!(flags(DMA1, TX) & COMPLETE)) spins++;
#endif
    stage = 2;
    while (!(REG(STATUS) & 1u << 6)) {}
    stage = 3;
}
#endif

#ifdef RECEIVE
volatile uint8_t ring[16];
static void note(uint32_t kind) {
    event[events++ % 64] = kind << 16 | LEFT(DMA1, RX);
}
void on_dma(void) {
    uint32_t now = flags(DMA1, RX);
    clear_flags(DMA1, RX);
    if (now & HALF_DONE) note(1);
    if (now & COMPLETE) note(2);
}
void on_usart(void) {
    if (REG(STATUS) & 1u << 4) {
#ifdef FIRST
        (void)REG(RECEIVED);
#else
        REG(USART + 0x20) = 1u << 4;
#endif
        note(3);
    }
}
static void run(void) {
    REG(SENT) = '?';
    while (!(REG(STATUS) & 1u << 6)) {}
    start(DMA1, RX, RECEIVED, ring, sizeof ring, MEMORY_INCREMENTS | CIRCULAR | COMPLETE_AND_HALF | CHANNEL(4u));
    REG(CR3) = 1u << 6;
    REG(CR1) = ENABLE | 1u << 4;
    REG(0xe000e100u) = 1u << RX_LINE;
    REG(0xe000e100u + (38 - USART_BELOW_38) / 32 * 4) = 1u << (38 - USART_BELOW_38) % 32;
    done = 1;
    for (;;) __asm volatile("wfi");
}
#endif

#ifdef CONVERT
volatile uint16_t samples[8];
static void run(void) {
    REG(ADC + 0x04) = 1u << 8;
    REG(ADC + 0x10) = 7u << 3 | 7u << 6; /* 480 cycles for PA1 and PA2 */
    REG(ADC + 0x2c) = 1u << 20;
    REG(ADC + 0x34) = 1 | 2u << 5;
    start(DMA2, 0, ADC + 0x4c, samples, 8, MEMORY_INCREMENTS | CIRCULAR | COMPLETE_AND_HALF | HALVES);
    REG(0xe000e104u) = 1u << (56 - 32);
    REG(ADC + 0x08) = 1;
    REG(ADC + 0x08) = 1 | 1u << 1 | 3u << 8;
    REG(ADC + 0x08) = 1 | 1u << 1 | 3u << 8 | 1u << 30;
    for (;;) __asm volatile("wfi");
}
void on_dma(void) {
    uint32_t now = flags(DMA2, 0);
    clear_flags(DMA2, 0);
    if (now & HALF_DONE) events++;
    if (now & COMPLETE) done++;
}
#endif

#ifdef EXCHANGE
volatile uint8_t out[32], in[32];
static void run(void) {
    for (uint32_t n = 0; n < sizeof out; n++) out[n] = 3 * n + 1;
    REG(SPI) = 1u << 9 | 1u << 8 | 1u << 3 | 1u << 2;
    stage = 1;
#ifdef POLLED
    REG(SPI) |= 1u << 6;
    for (uint32_t n = 0; n < sizeof out; n++) {
        while (!(REG(SPI + 8) & 2)) {}
        BYTE(SPI + 0xc) = out[n];
        while (!(REG(SPI + 8) & 1)) {}
        in[n] = BYTE(SPI + 0xc);
    }
#else
    start(DMA2, 0, SPI + 0xc, in, sizeof in, MEMORY_INCREMENTS | CHANNEL(3u) | 2u << 16);
    start(DMA2, 3, SPI + 0xc, out, sizeof out, TO_PERIPHERAL | MEMORY_INCREMENTS | CHANNEL(3u));
    REG(SPI + 4) = 3;
    REG(SPI) |= 1u << 6;
    while (!(flags(DMA2, 0) & COMPLETE)) spins++;
#endif
    stage = 2;
}
#endif

#ifdef COPY
#define WORD_COUNT 200u
static const uint32_t source[WORD_COUNT] = {1, 2, 3, [100] = 0x12345678u, [WORD_COUNT - 1] = 0xdecafbadu};
volatile uint32_t by_dma[WORD_COUNT], by_core[WORD_COUNT];
static void run(void) {
    stage = 1;
    start(COPIER, 3, (uint32_t)source, by_dma, WORD_COUNT, BETWEEN_MEMORIES | MEMORY_INCREMENTS | WORDS);
    while (!(flags(COPIER, 3) & COMPLETE)) {}
    stage = 2;
    for (uint32_t n = 0; n < WORD_COUNT; n++) by_core[n] = source[n];
    stage = 3;
}
#endif

#ifndef RECEIVE
void on_usart(void) {}
#ifndef CONVERT
void on_dma(void) {}
#endif
#endif

void reset(void) {
    set_up();
    run();
    done = 1;
    for (;;) {}
}
"""
SCRIPT: Final = """
ENTRY(reset)
SECTIONS {{
    . = 0x08000000;
    .text : {{ KEEP(*(.vectors)) *(.text*) *(.rodata*) }}
    . = {ram};
    .bss : {{ *(.data*) *(.bss*) *(COMMON) }}
    _stack = 0x20001000;
}}
"""
_F4: Final = {
    "STREAMS": "1", "DMA1": "0x40026000u", "DMA2": "0x40026400u", "COPIER": "DMA2", "TX": "6u", "RX": "5u",
    "RX_LINE": "16", "USART_BELOW_38": "0",
    "CLOCKS": "REG(0x40023830u)|=3u<<21|1;REG(0x40023840u)|=1u<<17;REG(0x40023844u)|=1u<<12|1u<<8",
}  # fmt: skip
_L0: Final = {
    "DMA1": "0x40020000u", "COPIER": "DMA1", "TX": "3u", "RX": "4u", "RX_LINE": "11", "USART_BELOW_38": "10",
    "CLOCKS": "REG(0x40021030u)|=1;REG(0x40021038u)|=1u<<17;REG(0x400200a8u)=4u<<12|4u<<16",
}  # fmt: skip
FAMILIES: Final = {
    "nucleo-f103rb": ("cortex-m3", {
        "FIRST": "1", "DMA1": "0x40020000u", "COPIER": "DMA1", "TX": "6u", "RX": "5u", "RX_LINE": "16",
        "USART_BELOW_38": "0", "CLOCKS": "REG(0x40021014u)|=1;REG(0x4002101cu)|=1u<<17",
    }),
    "stm32f407ig": ("cortex-m4", {**_F4, "FIRST": "1"}),
    "stm32f411ce": ("cortex-m4", {**_F4, "FIRST": "1"}),
    "nucleo-f446re": ("cortex-m4", {**_F4, "FIRST": "1"}),
    "nucleo-f767zi": ("cortex-m7", _F4),
    "nucleo-l053r8": ("cortex-m0plus", _L0),
    "nucleo-l073rz": ("cortex-m0plus", _L0),
    "nucleo-h743zi": ("cortex-m7", {
        **_F4, "DMA1": "0x40020000u", "DMA2": "0x40020400u", "COPIER": "DMA1",
        "CLOCKS": "REG(0x580244d8u)|=3;REG(0x580244e8u)|=1u<<17;REG(0x40020818u)=44;REG(0x40020814u)=43",
    }),
}  # fmt: skip
"""Each board's CPU, and its addresses as definitions of the C preprocessor."""


def build_dma_firmware(board: str, folder: Path, program: str, *, polled: bool = False) -> Path:
    """Compiles a program (SEND, RECEIVE, CONVERT, EXCHANGE, COPY) for a board and returns the ELF file."""
    cpu, definitions = FAMILIES[board]
    definitions = {**definitions, program: "1", **({"POLLED": "1"} if polled else {})}
    # The DMA of the H7 does not reach its DTCM.
    ram = "0x30000000" if board == "nucleo-h743zi" else "0x20000000"
    if program == "CONVERT":
        definitions["RX_LINE"] = "56"
    (folder / "main.c").write_text(MAIN)
    (folder / "fw.ld").write_text(SCRIPT.format(ram=ram))
    elf = folder / f"{board}{'-polled' if polled else ''}.elf"
    flags = [f"-D{name}={value}" for name, value in definitions.items()]
    command = ["arm-none-eabi-gcc", f"-mcpu={cpu}", "-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-Wall", "-Werror"]
    linked = ["-Wno-unused-function", "-Wl,--build-id=none", "-T", str(folder / "fw.ld"), "-o", str(elf)]
    done = subprocess.run(
        [*command, *flags, *linked, str(folder / "main.c"), "-lgcc"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return elf
