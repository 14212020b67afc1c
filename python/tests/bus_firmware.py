"""Firmware for each STM32 family: reads an EEPROM on I2C1, exchanges frames on SPI1, converts the voltage at PA1."""

import subprocess
from pathlib import Path
from typing import Final

MAIN: Final = """
#include <stdint.h>
#define REG(address) (*(volatile uint32_t *)(address))
#define BYTE(address) (*(volatile uint8_t *)(address))
#define I2C 0x40005400u
#define SPI 0x40013000u
extern uint32_t _stack;
void reset(void);
__attribute__((section(".vectors"), used)) void *const vectors[2] = {&_stack, reset};
volatile uint8_t back[4];
volatile uint32_t alone, selected, polls, refused, done;
#ifdef FIRST
static void stop(void) {
    REG(I2C) |= 1u << 9;
    while (REG(I2C + 0x18) & 2) {}
}
static int address(uint32_t byte) {
    REG(I2C) |= 1u << 8;
    while (!(REG(I2C + 0x14) & 1)) {}
    REG(I2C + 0x10) = byte;
    while (!(REG(I2C + 0x14) & 2)) {
        if (REG(I2C + 0x14) & 1u << 10) {
            REG(I2C + 0x14) = ~(1u << 10);
            stop();
            return 0;
        }
    }
    return 1;
}
static int send(uint32_t target, const uint8_t *data, uint32_t count, int stops) {
    if (!address(target << 1)) return 0;
    (void)REG(I2C + 0x18);
    for (uint32_t n = 0; n < count; n++) {
        while (!(REG(I2C + 0x14) & 1u << 7)) {}
        REG(I2C + 0x10) = data[n];
    }
    while (!(REG(I2C + 0x14) & 1u << 2)) {}
    if (stops) stop();
    return 1;
}
static void receive(uint32_t target, volatile uint8_t *data, uint32_t count) {
    REG(I2C) |= 1u << 10;
    address(target << 1 | 1);
    (void)REG(I2C + 0x18);
    for (uint32_t n = 0; n < count; n++) {
        if (n == count - 1) {
            REG(I2C) = (REG(I2C) & ~(1u << 10)) | 1u << 9;
        }
        while (!(REG(I2C + 0x14) & 1u << 6)) {}
        data[n] = REG(I2C + 0x10);
    }
}
static void set_up_i2c(void) {
    REG(I2C + 4) = 8;
    REG(I2C + 0x1c) = 40; /* 100 kHz from 8 MHz */
    REG(I2C) = 1;
}
#else
static int send(uint32_t target, const uint8_t *data, uint32_t count, int stops) {
    REG(I2C + 4) = target << 1 | count << 16 | (stops ? 1u << 25 : 0) | 1u << 13;
    for (uint32_t n = 0; n < count; n++) {
        while (!(REG(I2C + 0x18) & (1u << 1 | 1u << 4))) {}
        if (REG(I2C + 0x18) & 1u << 4) break;
        REG(I2C + 0x28) = data[n];
    }
    while (!(REG(I2C + 0x18) & (stops ? 1u << 5 : 1u << 6 | 1u << 5))) {}
    int acknowledged = !(REG(I2C + 0x18) & 1u << 4);
    REG(I2C + 0x1c) = 1u << 4 | 1u << 5;
    return acknowledged;
}
static void receive(uint32_t target, volatile uint8_t *data, uint32_t count) {
    REG(I2C + 4) = target << 1 | count << 16 | 1u << 25 | 1u << 10 | 1u << 13;
    for (uint32_t n = 0; n < count; n++) {
        while (!(REG(I2C + 0x18) & 1u << 2)) {}
        data[n] = REG(I2C + 0x24);
    }
    while (!(REG(I2C + 0x18) & 1u << 5)) {}
    REG(I2C + 0x1c) = 1u << 5;
}
static void set_up_i2c(void) {
    REG(I2C + 0x10) = 37u << 8 | 37u;
    REG(I2C) = 1;
}
#endif
static void use_i2c(void) {
    static const uint8_t data[] = {0x10, 'a', 'b', 'c'};
    set_up_i2c();
    refused = !send(0x33, data, 1, 1);
    send(0x50, data, sizeof data, 1);
    while (!send(0x50, data, 1, 0)) polls++;
    receive(0x50, back, 3);
}
#ifdef SPI_CR2
static uint32_t exchange(uint8_t byte) {
    while (!(REG(SPI + 8) & 2)) {}
    BYTE(SPI + 0xc) = byte;
    while (!(REG(SPI + 8) & 1)) {}
    return BYTE(SPI + 0xc);
}
static void use_spi(void) {
    REG(SPI + 4) = SPI_CR2;
    REG(SPI) = 1u << 9 | 1u << 8 | 3u << 3 | 1u << 6 | 1u << 2;
    REG(GPIOA + BSRR) = 1u << 4;
    alone = exchange(0x5a);
    REG(GPIOA + BSRR) = 1u << 20;
    for (uint32_t n = 1; n <= 10; n++) selected += exchange(n);
    REG(GPIOA + BSRR) = 1u << 4;
}
#endif
#ifdef SPI_H7
static uint32_t exchange(uint8_t byte) {
    while (!(REG(SPI + 0x14) & 2)) {}
    BYTE(SPI + 0x20) = byte;
    while (!(REG(SPI + 0x14) & 1)) {}
    return BYTE(SPI + 0x30);
}
static void use_spi(void) {
    REG(0x58024450u) = 4u << 12; /* HSI */
    REG(SPI + 8) = 5u << 28 | 7u;
    REG(SPI + 0xc) = 1u << 26 | 1u << 22;
    REG(SPI) = 1u << 12 | 1u;
    REG(SPI) = 1u << 12 | 1u << 9 | 1u;
    REG(GPIOA + BSRR) = 1u << 4;
    alone = exchange(0x5a);
    REG(GPIOA + BSRR) = 1u << 20;
    for (uint32_t n = 1; n <= 10; n++) selected += exchange(n);
    REG(GPIOA + BSRR) = 1u << 4;
}
#endif
#ifdef ADC
volatile uint32_t level;
__attribute__((noinline, used)) void high(void) { level++; }
static void use_adc(void) {
    REG(ADC + 8) = 1;
    REG(ADC + 0x34) = 1; /* PA1 */
#ifdef ADC_CALIBRATES
    REG(ADC + 8) = 1 | 1u << 2;
    while (REG(ADC + 8) & 1u << 2) {}
    REG(ADC + 8) = 1 | 15u << 17;
    REG(ADC + 8) = 1 | 15u << 17 | 1u << 22;
#else
    REG(ADC + 8) = 1 | 1u << 30;
#endif
    while (!(REG(ADC) & 2)) {}
    level = REG(ADC + 0x4c);
    if (level > 3000) high();
}
#endif
#ifdef ADC_V4
volatile uint32_t level, second, calibrated;
__attribute__((noinline, used)) void high(void) { level++; }
static uint32_t convert(void) {
    while (!(REG(ADC_V4) & 4)) {}
    return REG(ADC_V4 + 0x40);
}
static void use_adc(void) {
#ifdef SPI_H7
    REG(0x580244d8u) |= 1u << 5;
    REG(0x58024458u) = 2u << 16; /* HSI */
    REG(ADC_V4 + 8) = 1u << 28;
    while (!(REG(ADC_V4) & 1u << 12)) {}
    REG(ADC_V4 + 0xc) = 6u << 2 | 1u << 14 | 1u << 31; /* 12 bits, each when the last is read */
    REG(ADC_V4 + 0x1c) = 1u << 17 | 1u << 3;
    REG(ADC_V4 + 0x30) = 3u << 12 | 17u << 6 | 1u; /* PA1, PA6 */
#else
    REG(ADC_V4 + 0x10) = 1u << 30;
    REG(ADC_V4 + 0x28) = 1u << 6 | 1u << 1; /* PA1, PA6 */
    REG(ADC_V4 + 0xc) = 1u << 14;
#endif
    REG(ADC_V4 + 8) |= 1u << 31;
    while (REG(ADC_V4 + 8) & 1u << 31) {}
    calibrated = 1;
    REG(ADC_V4 + 8) |= 1;
    while (!(REG(ADC_V4) & 1)) {}
    REG(ADC_V4 + 8) |= 4;
    level = convert();
    second = convert();
    if (level > 3000) high();
}
#endif
__attribute__((noinline)) void finished(void) { done = 1; }
void reset(void) {
    REG(RCC_GPIO) |= 1u << GPIO_BIT;
    REG(RCC_APB1) |= 1u << 21;
    REG(RCC_APB2) |= 1u << 12 | APB2_ADC;
    PIN_4_IS_OUTPUT;
#if defined(ADC) || defined(ADC_V4)
    use_adc();
#endif
    use_i2c();
#if defined(SPI_CR2) || defined(SPI_H7)
    use_spi();
#endif
    finished();
    for (;;) {}
}
"""
SCRIPT: Final = """
ENTRY(reset)
SECTIONS {
    . = 0x08000000;
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
    . = 0x20000000;
    .bss : { *(.data*) *(.bss*) *(COMMON) }
    _stack = 0x20001000;
}
"""
_MODER: Final = "REG(GPIOA)=(REG(GPIOA)&~(3u<<8))|1u<<8"
_F4: Final = {
    "GPIOA": "0x40020000u", "BSRR": "0x18", "RCC_GPIO": "0x40023830u", "GPIO_BIT": "0", "RCC_APB1": "0x40023840u",
    "RCC_APB2": "0x40023844u", "PIN_4_IS_OUTPUT": _MODER, "ADC": "0x40012000u", "APB2_ADC": "1u<<8",
}  # fmt: skip
FAMILIES: Final = {
    "nucleo-f103rb": ("cortex-m3", {
        "FIRST": "1", "GPIOA": "0x40010800u", "BSRR": "0x10", "RCC_GPIO": "0x40021018u", "GPIO_BIT": "2",
        "RCC_APB1": "0x4002101cu", "RCC_APB2": "0x40021018u", "SPI_CR2": "0",
        "ADC": "0x40012400u", "ADC_CALIBRATES": "1", "APB2_ADC": "1u<<9",
        "PIN_4_IS_OUTPUT": "REG(GPIOA)=(REG(GPIOA)&~(15u<<16))|3u<<16",
    }),
    "nucleo-f446re": ("cortex-m4", {**_F4, "FIRST": "1", "SPI_CR2": "0"}),
    "nucleo-f767zi": ("cortex-m7", {**_F4, "SPI_CR2": "(7u<<8|1u<<12)"}),
    "nucleo-l073rz": ("cortex-m0plus", {
        "GPIOA": "0x50000000u", "BSRR": "0x18", "RCC_GPIO": "0x4002102cu", "GPIO_BIT": "0", "SPI_CR2": "0",
        "RCC_APB1": "0x40021038u", "RCC_APB2": "0x40021034u", "PIN_4_IS_OUTPUT": _MODER,
        "ADC_V4": "0x40012400u", "APB2_ADC": "1u<<9",
    }),
    "nucleo-h743zi": ("cortex-m7", {
        "GPIOA": "0x58020000u", "BSRR": "0x18", "RCC_GPIO": "0x580244e0u", "GPIO_BIT": "0", "SPI_H7": "1",
        "RCC_APB1": "0x580244e8u", "RCC_APB2": "0x580244f0u", "PIN_4_IS_OUTPUT": _MODER, "APB2_ADC": "0",
        "ADC_V4": "0x40022000u",
    }),
}  # fmt: skip
"""Each board's CPU, and its addresses as definitions of the C preprocessor."""


def build_bus_firmware(board: str, folder: Path) -> Path:
    """Compiles the firmware for a board and returns the ELF file."""
    cpu, definitions = FAMILIES[board]
    return compile_firmware(MAIN, cpu, definitions, folder / f"{board}.elf")


def compile_firmware(source: str, cpu: str, definitions: dict[str, str], elf: Path) -> Path:
    """Compiles a C source that needs nothing else, links it to the start of flash and RAM, and returns the ELF file."""
    main, script = elf.with_name("main.c"), elf.with_name("fw.ld")
    main.write_text(source)
    script.write_text(SCRIPT)
    flags = [f"-D{name}={value}" for name, value in definitions.items()]
    command = ["arm-none-eabi-gcc", f"-mcpu={cpu}", "-mthumb", "-O1", "-ffreestanding", "-nostdlib", "-Wall", "-Werror"]
    linked = ["-Wno-unused-function", "-Wl,--build-id=none", "-T", str(script), "-o", str(elf)]
    done = subprocess.run([*command, *flags, *linked, str(main)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return elf
