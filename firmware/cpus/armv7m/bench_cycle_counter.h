/* ARMv7-M: the cycle counter of the trace unit. No kernel needs it, so it runs from start-up on (see bench_cpu.h). */
#pragma once

#include "bench_cpu.h"

#define CYCLE_COUNTER_BITS 32u

/* Starts the cycle counter of the core (DWT). */
static inline void cycle_counter_start(void)
{
    (void)cpu_ruler_start();
}

/* Returns the present reading of the cycle counter. */
static inline uint32_t cycle_counter_read(void)
{
    return cpu_ruler_read();
}
