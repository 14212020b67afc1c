/* ARMv7-M: the cycle counter of the trace unit (DWT) is the ruler; no kernel needs it, so it can run all the time. */
#pragma once

#include "bench_cortexm.h"

#define CPU_DEMCR CPU_REGISTER(0xE000EDFCu)
#define CPU_DEMCR_TRCENA (1u << 24)
#define CPU_DWT_CTRL CPU_REGISTER(0xE0001000u)
#define CPU_DWT_CTRL_CYCCNTENA (1u << 0)
#define CPU_DWT_CTRL_NOCYCCNT (1u << 25)
#define CPU_DWT_CYCCNT CPU_REGISTER(0xE0001004u)
/* Cortex-M7: the unit ignores writes until this key has been written; on the other cores nobody listens here. */
#define CPU_DWT_LAR CPU_REGISTER(0xE0001FB0u)
#define CPU_DWT_KEY 0xC5ACCE55u

/* Starts the core's cycle counter (DWT). Returns false if the core was made without it. */
static inline bool cpu_ruler_start(void)
{
    CPU_DEMCR |= CPU_DEMCR_TRCENA;
    CPU_DWT_LAR = CPU_DWT_KEY;
    if ((CPU_DWT_CTRL & CPU_DWT_CTRL_NOCYCCNT) != 0) {
        return false;
    }
    CPU_DWT_CYCCNT = 0;
    CPU_DWT_CTRL |= CPU_DWT_CTRL_CYCCNTENA;
    return true;
}

/* Returns a reading of the core's cycle counter, whose direction cpu_ruler_cycles knows. */
static inline uint32_t cpu_ruler_read(void)
{
    return CPU_DWT_CYCCNT;
}

/* Returns the cycles between two readings of cpu_ruler_read. */
static inline uint32_t cpu_ruler_cycles(uint32_t from, uint32_t to)
{
    return to - from; /* counts up, 32 bits */
}

/* Stops the counter that cpu_ruler_read reads. */
static inline void cpu_ruler_stop(void)
{
    /* It may run on: it disturbs nobody, and a debugger may want it. */
}
