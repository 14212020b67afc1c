/* ARMv6-M: no cycle counter of its own, so SysTick is the short ruler while no kernel's tick has it. */
#pragma once

#include "bench_cortexm.h"

/* 24 bits, counting down at the core's clock. */
#define CPU_RULER_MASK 0x00FFFFFFu

/* Starts SysTick as the core's cycle counter. Returns false if somebody (a kernel's tick) already
 * owns SysTick on this core. */
static inline bool cpu_ruler_start(void)
{
    if ((CPU_SYST_CSR & 1u) != 0) {
        return false;
    }
    CPU_SYST_RVR = CPU_RULER_MASK;
    CPU_SYST_CVR = 0;
    CPU_SYST_CSR = 5u; /* core clock, no interrupt */
    return true;
}

/* Returns a reading of the core's cycle counter, whose direction cpu_ruler_cycles knows. */
static inline uint32_t cpu_ruler_read(void)
{
    return CPU_SYST_CVR;
}

/* Returns the cycles between two readings of cpu_ruler_read. */
static inline uint32_t cpu_ruler_cycles(uint32_t from, uint32_t to)
{
    return (from - to) & CPU_RULER_MASK; /* counts down */
}

/* Stops the counter that cpu_ruler_read reads. */
static inline void cpu_ruler_stop(void)
{
    CPU_SYST_CSR = 0;
    CPU_SYST_RVR = 0;
    CPU_SYST_CVR = 0;
}
