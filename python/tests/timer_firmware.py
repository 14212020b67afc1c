"""Firmware for each STM32 family: PWM of TIM3 on PA6, measured by TIM2 at PA1 in PWM input mode."""

from pathlib import Path
from typing import Final

from tests.bus_firmware import compile_firmware

MAIN: Final = """
#include <stdint.h>
#define REG(address) (*(volatile uint32_t *)(address))
#define TIM2 0x40000000u
#define TIM3 0x40000400u
extern uint32_t _stack;
void reset(void);
__attribute__((section(".vectors"), used)) void *const vectors[2] = {&_stack, reset};
volatile uint32_t period, width, done;
static void set_pins(void) {
#ifdef CRL
    REG(CRL) = (REG(CRL) & 0xf0ffffffu) | 0xbu << 24;
#else
    REG(GPIOA) = (REG(GPIOA) & ~(3u << 12 | 3u << 2)) | 2u << 12 | 2u << 2;
    REG(GPIOA + 0x20) = 2u << 24 | TIM2_AF << 4;
#endif
}
void reset(void) {
    REG(RCC_GPIO) |= 1u << GPIO_BIT;
    REG(RCC_APB1) |= 3;
    set_pins();
    REG(TIM2 + 0x18) = 0x102;
    REG(TIM2 + 0x20) = 0x13;
    REG(TIM2 + 0x08) = 0x64;
    REG(TIM2) = 5;
    REG(TIM3 + 0x2c) = 999;
    REG(TIM3 + 0x34) = 250;
    REG(TIM3 + 0x18) = 0x68;
    REG(TIM3 + 0x20) = 1;
    REG(TIM3 + 0x14) = 1;
    REG(TIM3) = 0x81;
    for (uint32_t n = 0; n < 3; n++) {
        while (!(REG(TIM2 + 0x10) & 4)) {}
        period = REG(TIM2 + 0x38);
        width = REG(TIM2 + 0x34);
    }
    REG(TIM3 + 0x34) = 600;
    done = 1;
    for (;;) {}
}
"""
_F4: Final = {
    "GPIOA": "0x40020000u", "RCC_GPIO": "0x40023830u", "GPIO_BIT": "0", "RCC_APB1": "0x40023840u", "TIM2_AF": "1u",
}  # fmt: skip
FAMILIES: Final = {
    "nucleo-f103rb": ("cortex-m3", {
        "CRL": "0x40010800u", "RCC_GPIO": "0x40021018u", "GPIO_BIT": "2", "RCC_APB1": "0x4002101cu",
    }),
    "nucleo-f446re": ("cortex-m4", _F4),
    "nucleo-f767zi": ("cortex-m7", _F4),
    "nucleo-l073rz": ("cortex-m0plus", {
        "GPIOA": "0x50000000u", "RCC_GPIO": "0x4002102cu", "GPIO_BIT": "0", "RCC_APB1": "0x40021038u", "TIM2_AF": "2u",
    }),
    "nucleo-h743zi": ("cortex-m7", {
        "GPIOA": "0x58020000u", "RCC_GPIO": "0x580244e0u", "GPIO_BIT": "0", "RCC_APB1": "0x580244e8u", "TIM2_AF": "1u",
    }),
}  # fmt: skip
"""Each board's CPU, and its addresses as definitions of the C preprocessor."""


def build_timer_firmware(board: str, folder: Path) -> Path:
    """Compiles the firmware for a board and returns the ELF file."""
    cpu, definitions = FAMILIES[board]
    return compile_firmware(MAIN, cpu, definitions, folder / f"{board}.elf")
