/* RP2040: the cores have no cycle counter and their SysTick is the kernel's, so a PWM slice whose outputs go nowhere counts
 * clk_sys: 16 bits (RP2040 datasheet, 4.5). */
#pragma once

#include "bench_cpu.h"

#define CYCLE_COUNTER_BITS 16u
#define CYCLE_COUNTER_SLICE(offset) CPU_REGISTER(0x40050000u + 7u * 0x14u + (offset))
#define CYCLE_COUNTER_RESETS 0x4000C000u
#define CYCLE_COUNTER_RESET_PWM (1u << 14)

/* Starts the counter with which intervals are measured. */
static inline void cycle_counter_start(void)
{
    CPU_REGISTER(CYCLE_COUNTER_RESETS + 0x3000u) = CYCLE_COUNTER_RESET_PWM; /* the alias that clears bits */
    while ((CPU_REGISTER(CYCLE_COUNTER_RESETS + 8u) & CYCLE_COUNTER_RESET_PWM) == 0) {
    }
    CYCLE_COUNTER_SLICE(0x04u) = 1u << 4; /* DIV: 1 */
    CYCLE_COUNTER_SLICE(0x10u) = 0xFFFFu; /* TOP */
    CYCLE_COUNTER_SLICE(0x00u) = 1u;      /* CSR: on */
}

/* Returns the counter's value in cycles. */
static inline uint32_t cycle_counter_read(void)
{
    return CYCLE_COUNTER_SLICE(0x08u);
}
