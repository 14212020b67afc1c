/* STM32L0: the core has no cycle counter and its SysTick is the kernel's, so TIM2 counts the core's clock: 16 bits (RM0367,
 * 21). It hangs on APB1, which runs undivided in every clock of the boards here. */
#pragma once

#include "bench_clock_facts.h"
#include "bench_cpu.h"

#define CYCLE_COUNTER_BITS 16u
#define CYCLE_COUNTER_TIM2(offset) CPU_REGISTER(0x40000000u + (offset))
#define CYCLE_COUNTER_APB1ENR CPU_REGISTER(0x40021038u)

_Static_assert(CLOCK_APB1_DIV == 1, "TIM2 would not count the core's clock");

/* Starts TIM2, which counts the core's cycles on this chip. */
static inline void cycle_counter_start(void)
{
    CYCLE_COUNTER_APB1ENR |= 1u;
    (void)CYCLE_COUNTER_APB1ENR;
    CYCLE_COUNTER_TIM2(0x28u) = 0;       /* PSC */
    CYCLE_COUNTER_TIM2(0x2Cu) = 0xFFFFu; /* ARR */
    CYCLE_COUNTER_TIM2(0x14u) = 1u;      /* EGR: both take effect */
    CYCLE_COUNTER_TIM2(0x00u) = 1u;      /* CR1: on */
}

/* Returns the present reading of the cycle counter, 16 bits. */
static inline uint32_t cycle_counter_read(void)
{
    return CYCLE_COUNTER_TIM2(0x24u);
}
