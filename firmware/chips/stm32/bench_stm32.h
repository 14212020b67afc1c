/* What the STM32 support files share. A family's folder adds bench_family.h: its addresses and its clock set-up. */
#pragma once

#include <stdint.h>

#include "bench_board_facts.h"
#include "bench_pin_facts.h"
#include "bench_clock_facts.h" /* CLOCK_*: the section of board.toml that CLOCK_HZ chose */

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* The words of board.toml. */
enum { CLOCK_SOURCE_HSI, CLOCK_SOURCE_HSE, CLOCK_SOURCE_PLL };
enum { CLOCK_PLL_INPUT_HSI, CLOCK_PLL_INPUT_HSE };

#define CLOCK_NEEDS_HSE \
    (CLOCK_SOURCE == CLOCK_SOURCE_HSE || (CLOCK_SOURCE == CLOCK_SOURCE_PLL && CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE))

/* Prescaler fields of RCC, the same codes in every family: AHB divides by 1, 2, 4, 8, 16, APB by 1, 2, 4, 8, 16. */
#define AHB_CODE(div) ((div) == 1 ? 0u : (div) == 2 ? 8u : (div) == 4 ? 9u : (div) == 8 ? 10u : 11u)
#define APB_CODE(div) ((div) == 1 ? 0u : (div) == 2 ? 4u : (div) == 4 ? 5u : (div) == 8 ? 6u : 7u)

/* Frequencies below the core's. Timers run at twice their bus's clock unless that bus runs undivided. */
#define AHB_HZ (BOARD_CLOCK_SYS_HZ / CLOCK_AXI_DIV)
#define APB1_HZ (AHB_HZ / CLOCK_APB1_DIV)
#define APB2_HZ (AHB_HZ / CLOCK_APB2_DIV)
#define TIMER_HZ_OF(apb_hz, apb_div) ((apb_div) == 1 ? (apb_hz) : 2u * (apb_hz))

/* Waits until the masked bits of a register are `value`. */
static inline void wait_for(uint32_t address, uint32_t mask, uint32_t value)
{
    while ((REGISTER(address) & mask) != value) {
    }
}

/* Sets the masked bits of a register to `value`. */
static inline void change_bits(uint32_t address, uint32_t mask, uint32_t value)
{
    REGISTER(address) = (REGISTER(address) & ~mask) | value;
}

/* Switches a block's clock on, and reads the register back: the block answers only some cycles after the write. */
static inline void enable_clock(uint32_t address, uint32_t bit)
{
    REGISTER(address) |= 1u << bit;
    (void)REGISTER(address);
}
