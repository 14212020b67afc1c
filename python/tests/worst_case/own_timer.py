"""Firmware for the NUCLEO-F446RE whose own timer raises an interrupt: every 20,000 cycles of 16 MHz, over a background
that masks interrupts for a while in each round."""

import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from tests.bus_firmware import SCRIPT

PERIOD: Final = 20_000
BOARD: Final = "nucleo-f446re"
SOURCE: Final = """
#include <stdint.h>
#define REG(address) (*(volatile uint32_t *)(address))
#define TIM2 0x40000000u
extern uint32_t _stack;
void reset(void);
volatile uint32_t ticks, rounds, served;
volatile uint32_t wanted;
__attribute__((noinline)) void on_served(void) { served++; }
void TIM2_IRQHandler(void) {
#ifdef TESTS_FLAG
    if (!(REG(TIM2 + 0x10) & 1)) return;
#endif
    REG(TIM2 + 0x10) = 0;
    wanted = 1;
    ticks++;
}
void Default_Handler(void) { for (;;) {} }
void EXTI0_IRQHandler(void) __attribute__((alias("Default_Handler")));
__attribute__((section(".vectors"), used)) void *const vectors[16 + 40] = {
    [0] = &_stack, [1] = reset, [2] = Default_Handler, [3] = Default_Handler, [11] = Default_Handler,
    [16 + 6] = EXTI0_IRQHandler, [16 + 7] = Default_Handler, [16 + 28] = TIM2_IRQHandler, [16 + 29] = 0,
};
void loop(void) {
    for (;;) {
        __asm volatile("cpsid i");
        for (volatile uint32_t n = 0; n < 20; n++) {}
        __asm volatile("cpsie i");
        for (volatile uint32_t n = 0; n < 100; n++) {}
        if (wanted) { wanted = 0; on_served(); }
        rounds++;
    }
}
void reset(void) {
    REG(0x40023840u) |= 1;          /* RCC_APB1ENR: TIM2 */
    (void)REG(0x40023840u);
    REG(TIM2 + 0x2c) = PERIOD - 1;  /* ARR */
#ifdef RUNS
    REG(TIM2 + 0xc) = 1;            /* DIER: UIE */
    REG(TIM2) = 1;
#endif
    REG(0xe000e100u) = 1u << 28;    /* NVIC */
    loop();
}
"""


@cache
def own_timer_image(*defines: str) -> Path:
    """Returns the ELF file. RUNS: the timer counts; TESTS_FLAG: the handler looks at the timer's flag."""
    folder = Path(mkdtemp(prefix="rtoslab-timer-"))
    (folder / "timer.c").write_text(SOURCE)
    (folder / "timer.ld").write_text(SCRIPT)
    elf = folder / "timer.elf"
    subprocess.run(
        [
            "arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib", "-Wall",
            "-Werror", "-Wl,--build-id=none", f"-DPERIOD={PERIOD}u", *(f"-D{name}" for name in defines),
            "-T", str(folder / "timer.ld"), "-o", str(elf), str(folder / "timer.c"),
        ],
        check=True,
    )  # fmt: skip
    return elf
