/* A row's body on an ARMv6-M core: one piece of assembler between two readings of SysTick, which counts down. It begins on
 * 16 bytes, so that the compiler has no say in where its instructions lie. */
#pragma once

#include "../bench_calibration.h"

#define UNIFIED ".syntax unified\n\t" /* the compiler leaves an older one in force */
#define ALIGN_LINE ".balign 16\n\t"
#define TIMES(n, what) ".rept " #n "\n\t" what "\n\t.endr\n\t"
#define SAVED "r0", "r1", "r2", "cc", "memory"

/* Cycles of `body`, where %3 is `operand`; `before` prepares registers outside the interval. */
#define MEASURED(value, before, body, operand)                                          \
    do {                                                                                \
        uint32_t from_, to_;                                                            \
                                                                                        \
        __asm volatile(UNIFIED before ALIGN_LINE "ldr %0, [%2]\n\t" body "ldr %1, [%2]"         \
                       : "=&l"(from_), "=&l"(to_)                                       \
                       : "l"(&CPU_SYST_CVR), "l"(operand)                               \
                       : SAVED);                                                        \
        (value) = cpu_ruler_cycles(from_, to_);                                         \
    } while (0)
