/* Rows of a Cortex-M7: what its caches, its branch prediction and its store buffer do not have. */
#include "../bench_calibration.h"
#include "bench_caches.h"
#include "bench_rows.h"

#if BENCH_PARAM_LINE_RAM

#define ACTLR CPU_REGISTER(0xE000E008u)
#define ACTLR_DISBTACREAD (1u << 13)
#define DCIMVAC CPU_REGISTER(0xE000EF5Cu)
#define LINE_BYTES 32u

/* With the branch target cache unread each branch is one that it does not know. */
void row_branch_unknown(uint32_t *values)
{
    uint32_t from, to, before = ACTLR;

    ACTLR = before | ACTLR_DISBTACREAD;
    cpu_barrier();
    __asm volatile(ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(16, "b.w 71f\n\t.balign 16\n\t71:") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&RULER)
                   : SAVED);
    ACTLR = before;
    cpu_barrier();
    values[0] = to - from;
}

/* A load from the doubleword of a store, behind 0 to 7 additions that depend on each other. */
#define DISTANT(n)                                                                                              \
    __asm volatile("movs r1, #0\n\t" ALIGN_LINE "ldr %0, [%2]\n\t"                                              \
                   TIMES(8, "str r1, [%3]\n\t.rept " #n "\n\tadds r2, #1\n\t.endr\n\tldr r3, [%3]\n\tadd r2, r3") \
                   "ldr %1, [%2]"                                                                               \
                   : "=&r"(from), "=&r"(to)                                                                     \
                   : "r"(&RULER), "r"(doubleword)                                                               \
                   : SAVED);                                                                                    \
    values[n] = to - from;

void row_store_to_load(uint32_t *values)
{
    static uint32_t doubleword[2] __attribute__((aligned(8)));
    uint32_t from, to;

    DISTANT(0) DISTANT(1) DISTANT(2) DISTANT(3) DISTANT(4) DISTANT(5) DISTANT(6) DISTANT(7)
}

/* Straight code that the instruction cache does not hold. */
static uint32_t emptied(void)
{
    uint32_t from, to;

    CPU_SCB_ICIALLU = 0;
    cpu_barrier();
    __asm volatile(".balign 32\n\tldr %0, [%2]\n\t" TIMES(96, "add.w r0, r0, r1") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&RULER)
                   : SAVED);
    return to - from;
}

/* As the flash is set up, and with one wait state more, which takes a clock of the flash. */
void row_flash_line(uint32_t *values)
{
    uint32_t before = CPU_REGISTER(BENCH_PARAM_FLASH_ACR);

    values[0] = emptied();
    CPU_REGISTER(BENCH_PARAM_FLASH_ACR) = before + 1u; /* LATENCY is the lowest field */
    while (CPU_REGISTER(BENCH_PARAM_FLASH_ACR) != before + 1u) {
    }
    values[1] = emptied();
    CPU_REGISTER(BENCH_PARAM_FLASH_ACR) = before;
    cpu_barrier();
}

/* Loads from memory where nothing of the image lies, of a line each that the data cache does not hold. */
void row_ram_line(uint32_t *values)
{
    uint32_t from, to;

    for (uint32_t line = 0; line < 8; line++) {
        DCIMVAC = BENCH_PARAM_LINE_RAM + line * LINE_BYTES;
    }
    cpu_barrier();
    __asm volatile("mov r1, %3\n\t" ALIGN_LINE "ldr %0, [%2]\n\t" TIMES(8, "ldr r0, [r1], #32\n\tadd r2, r0") "ldr %1, [%2]"
                   : "=&r"(from), "=&r"(to)
                   : "r"(&RULER), "r"(BENCH_PARAM_LINE_RAM)
                   : SAVED);
    values[0] = to - from;
}
#endif
