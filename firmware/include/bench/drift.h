/* Drift: how far behind its tick an operation begins, moved on each time, so that what repeats on the tick is not measured in
 * one locked phase of the loop that the tick interrupts, of the flash's lines, and of the tick's own timer.
 *
 * For benchmarks with the parameter `drift`; 0: right behind the tick, and no instruction of this is there. Otherwise the
 * wait grows by `drift` passes of a loop at a time, up to a prime number of them, and begins anew. A pass takes 11 cycles on
 * a Cortex-M0+ that fetches without waiting, a prime that is longer than the loop of a task that spins. */
#pragma once

#include <stdint.h>

#include "bench_config.h"

/* From here on the wait begins anew; with a prime every residue comes about, whatever the step. */
#define BENCH_DRIFT_PASSES 101u

_Static_assert(BENCH_PARAM_DRIFT < BENCH_DRIFT_PASSES, "parameter drift: 0 to 100 passes");

#if BENCH_PARAM_DRIFT > 0
/* Sets the passes of the next wait. One task alone calls it, once a round. */
static inline void bench_drift_on(volatile uint32_t *passes)
{
    uint32_t next = *passes + BENCH_PARAM_DRIFT;

    *passes = next < BENCH_DRIFT_PASSES ? next : next - BENCH_DRIFT_PASSES;
}

/* Waits for so many passes of the loop, and one more. */
static inline void bench_drift(uint32_t passes)
{
    uint32_t left = passes + 1u;

    __asm volatile(".syntax unified\n\t"
                   ".balign 4\n\t"
                   "1: nop; nop; nop; nop; nop; nop; nop; nop\n\t"
                   "subs %0, %0, #1\n\t"
                   "bne 1b"
                   : "+l"(left)::"cc", "memory");
}
#else
/* Does nothing: the benchmark has no drift. */
static inline void bench_drift_on(volatile uint32_t *passes)
{
    (void)passes;
}

/* Does nothing: the benchmark has no drift. */
static inline void bench_drift(uint32_t passes)
{
    (void)passes;
}
#endif
