/* The L1 caches of a Cortex-M7 (its manual, 4.3, and the architecture's, B2.2): emptied, then on. */
#pragma once

#include "bench_cortexm.h"

#define CPU_SCB_CCR CPU_REGISTER(0xE000ED14u)
#define CPU_SCB_CCR_DC (1u << 16)
#define CPU_SCB_CCR_IC (1u << 17)
#define CPU_SCB_CCSIDR CPU_REGISTER(0xE000ED80u)
#define CPU_SCB_CSSELR CPU_REGISTER(0xE000ED84u)
#define CPU_SCB_ICIALLU CPU_REGISTER(0xE000EF50u)
#define CPU_SCB_DCISW CPU_REGISTER(0xE000EF60u)

/* Waits until all memory accesses are complete, and drops the instructions read ahead (DSB, ISB). */
static inline void cpu_barrier(void)
{
    __asm volatile("dsb\n\tisb" ::: "memory");
}

/* Empties the data cache without writing it back, one set and way after the other. A register of the core tells how
 * many there are. In the word that is written, the way stands in the topmost bits, and the set from bit 5 on. */
static inline void cpu_invalidate_dcache(void)
{
    uint32_t id, last_set, last_way, way_shift;

    CPU_SCB_CSSELR = 0;
    cpu_barrier();
    id = CPU_SCB_CCSIDR;
    last_set = (id >> 13) & 0x7FFFu;
    last_way = (id >> 3) & 0x3FFu;
    way_shift = last_way == 0 ? 0u : (uint32_t)__builtin_clz(last_way);
    for (uint32_t set = 0; set <= last_set; set++) {
        for (uint32_t way = 0; way <= last_way; way++) {
            CPU_SCB_DCISW = (way << way_shift) | (set << 5);
        }
    }
    cpu_barrier();
}

/* Empties and enables the instruction cache, the data cache, or both. */
static inline void cpu_start_caches(bool instructions, bool data)
{
    if (instructions) {
        cpu_barrier();
        CPU_SCB_ICIALLU = 0;
        cpu_barrier();
        CPU_SCB_CCR |= CPU_SCB_CCR_IC;
        cpu_barrier();
    }
    if (data) {
        cpu_invalidate_dcache();
        CPU_SCB_CCR |= CPU_SCB_CCR_DC;
        cpu_barrier();
    }
}
